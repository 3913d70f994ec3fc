"""`make bench`: this server, a bare SDK server, ripgrep and peers, side by side on generated vaults; no network.

python -m benchmarks [--sizes 1000,10000,50000] [--only start,read] [--rounds 3] [--no-peers] [--vaults DIR]

With all sizes and parts it writes results.md, results.json, results.svg, search.md and search.json beside this file and
the figures in the README; otherwise it only prints, unless `--keep` says so.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from obsidian_mcp.errors import AppError

from . import calling, changing, commands, gate, lasting, peers, plot, querying, report, search, starting, vaults
from .figures import OURS, Figure, Figures, Samples, plain, read
from .servers import Server, bare, ours
from .turns import reason
from .wire import FAILURES

HERE = Path(__file__).parent
ROOT = HERE.parent
SIZES = (1_000, 10_000, 50_000)
GROWTH_AT = 10_000
"""The size of the vault on which memory is followed over a hundred thousand calls."""
GROWTH_CALLS = 100_000


@dataclass(frozen=True, slots=True)
class Bench:
    """What the parts are given: one vault and who is measured on it."""

    size: int
    ours: Server
    bare: Server
    peers: Sequence[Server]
    rounds: int
    notes: Sequence[str]
    samples: Samples

    @property
    def everyone(self) -> list[Server]:
        return [self.ours, self.bare, *self.peers]


def growth(bench: Bench) -> None:
    if bench.size == GROWTH_AT:
        lasting.growth(bench.ours, bench.notes, GROWTH_CALLS, bench.samples)


def checkout(bench: Bench) -> None:
    many = vaults.paths(bench.size, changing.MANY)
    changing.checkout(bench.ours, bench.bare, many, bench.samples)


CALLS: dict[str, Callable[[calling.Session, int], None]] = {
    "read": calling.reads,
    "flight": calling.flight,
    "search": calling.searches,
}
"""Measured with the same processes, between the start and the rest."""
PARTS: dict[str, Callable[[Bench], None]] = {
    "ways": lambda bench: starting.every_way(bench.ours, bench.bare, bench.rounds + 2, bench.samples),
    "lull": lambda bench: starting.lull(bench.ours, bench.notes[0], bench.rounds, bench.samples),
    "memory": lambda bench: lasting.memory(bench.everyone, bench.notes, bench.samples),
    "growth": growth,
    "large": lambda bench: calling.large(bench.ours, bench.bare, bench.rounds, bench.samples),
    "change": lambda bench: changing.one(bench.ours, bench.notes, bench.rounds, bench.samples),
    "checkout": checkout,
    "command": lambda bench: commands.one_shots(bench.ours, bench.notes, bench.rounds, bench.samples),
    "query": lambda bench: querying.tables(bench.ours, bench.rounds, bench.samples),
}
NAMES = ("build", "start", *CALLS, *PARTS, "rg")


def main() -> int:
    chosen = options().parse_args()
    if chosen.render:
        write(gate.kept_document()["facts"], gate.kept_results(), gate.kept_searches())
        return 0
    sizes = [int(size) for size in chosen.sizes.split(",")]
    parts = chosen.only.split(",") if chosen.only else [*NAMES]
    if unknown := set(parts) - set(NAMES):
        sys.stderr.write(f"No such part: {', '.join(unknown)}. There are {', '.join(NAMES)}.\n")
        return 2
    keep = chosen.keep or (not chosen.only and sizes == list(SIZES))
    if (HERE.parent / "obsidian_mcp").is_dir():  # as pip does when it installs: nothing is compiled at each start
        compileall.compile_dir(str(ROOT / "obsidian_mcp"), quiet=2)
    load = _load()
    results: dict[int, Figures] = {}
    for size in sizes:
        figures = of_vault(chosen.vaults, size, parts, chosen.rounds, with_peers=not chosen.no_peers)
        results[size] = read(plain(figures))  # rounded: the tables say what is kept
        say("\n".join(["", *report.ways_table(results[size]), *report.side_by_side(results[size]), ""]))
    found: list[search.Row] = []
    if "rg" in parts:
        beside = [size for size in sizes if size > 1000] or sizes
        attempt("rg", lambda: found.extend(search.rows(chosen.vaults, beside, say=say)), Samples())
    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {_processor()}, {platform.system()}",
        "python": platform.python_version(),
        "peers": ", ".join(peers.NPM[:2] + peers.PYPI) if others_are_in(results) else "none",
        "load": f"{load} at the start, {_load()} at the end",
    }
    sys.stdout.write(report.document(facts, results, found))
    if found:
        sys.stdout.write(search.table(search.facts_of_machine(), found))
    if keep:
        write(facts, results, found)
        if found:
            search.keep(search.facts_of_machine(), found)
    return 0


def others_are_in(results: dict[int, Figures]) -> bool:
    return any(name in row for figures in results.values() for row in figures.values() for name in peers.NAMES)


def write(facts: dict[str, str], results: dict[int, Figures], searches: Sequence[search.Row]) -> None:
    """Everything that is kept in the repository."""
    figures = {str(size): plain(result) for size, result in results.items()}
    kept = {"facts": facts, "searches": [asdict(row) for row in searches], "results": figures}
    (HERE / "results.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    text = report.document(facts, results, searches)
    (HERE / "results.md").write_text(text, encoding="utf-8")
    (HERE / "results.svg").write_text(plot.svg(curves(results)), encoding="utf-8")
    readme = ROOT / "README.md"
    wanted = report.section(facts, results)
    readme.write_text(report.into_readme(readme.read_text(encoding="utf-8"), wanted), encoding="utf-8")


def of_vault(folder: Path, size: int, parts: Sequence[str], rounds: int, *, with_peers: bool) -> Figures:
    """The parts that are asked for, on a vault of one size."""
    say(f"vault of {size} notes")
    vault = vaults.prepared(folder, size)
    samples = Samples()
    this, plain_server = ours(vault), bare(vault)
    if "build" in parts or not Path(this.env["OBSIDIAN_MCP_CACHE"]).exists():
        attempt("build", lambda: starting.build(this, size, max(1, min(3, 20_000 // size)), samples), samples)
    others: list[Server] = []
    if with_peers and {"start", "memory", *CALLS} & set(parts):
        found, missing = peers.installed(vault)
        for name, why in missing.items():
            samples.fail(starting.STARTS, name, why)
        say(f"  peers: {', '.join(server.name for server in found) or 'none'}")
        others = starting.indexed(found, size, samples)
    bench = Bench(size, this, plain_server, others, rounds, vaults.paths(size), samples)
    if "start" in parts:
        attempt("catch up", lambda: starting.catch_up(this), samples)
        attempt("start", lambda: starting.start(bench.everyone, rounds + 2, samples), samples)
    if wanted := [name for name in CALLS if name in parts]:
        attempt("calls", lambda: calls(bench, wanted), samples)
    for name, part in PARTS.items():
        if name in parts:
            attempt(name, lambda: part(bench), samples)  # noqa: B023  called at once
    return samples.figures()


def calls(bench: Bench, parts: Sequence[str]) -> None:
    with calling.session(bench.everyone, bench.notes, bench.samples) as session:
        for name in parts:
            attempt(name, lambda: CALLS[name](session, bench.rounds), bench.samples)  # noqa: B023  called at once


def attempt(name: str, part: Callable[[], None], samples: Samples) -> None:
    """A part that fails, of ours or the bare server, is noted: the others are worth having all the same."""
    say(f"  {name}")
    try:
        part()
    except (*FAILURES, AppError, ValueError, LookupError) as error:
        samples.fail([name], OURS, reason(error))
        say(f"  {name} FAILED: {reason(error)}")


def options() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, print and keep a table.")
    found.add_argument("--sizes", default=",".join(map(str, SIZES)), help="notes in the vaults")
    found.add_argument("--only", default="", metavar="PARTS", help=f"of {', '.join(NAMES)}; keeps nothing")
    found.add_argument("--rounds", type=int, default=3, help="more are steadier and take longer")
    found.add_argument("--no-peers", action="store_true", help="leave other servers out")
    found.add_argument("--vaults", type=Path, default=ROOT / "build" / "vaults", help="where vaults are kept")
    found.add_argument("--render", action="store_true", help="only write the documents anew from results.json")
    found.add_argument("--keep", action="store_true", help="write the files of results in any case")
    return found


def curves(results: dict[int, Figures]) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """For the plot: what -> server -> points."""
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for what in ("first search", calling.READ, calling.SEARCH, lasting.MEMORY):
        for size, figures in results.items():
            for name, figure in figures.get(what, {}).items():
                if isinstance(figure, Figure):
                    scaled = figure.median / 1e6 if what == lasting.MEMORY else figure.median * 1e3
                    found.setdefault(what, {}).setdefault(name, []).append((size, scaled))
    return found


def _processor() -> str:
    """Its name where the system tells it."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "?"


def say(what: object) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {what}\n")


if __name__ == "__main__":
    sys.exit(main())
