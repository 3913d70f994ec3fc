"""`make bench SIZE=300000`: what our server costs on vaults of 1 000, 10 000, 100 000 notes and so on, up to SIZE.

python -m benchmarks.scale 300000 [--vaults DIR] [--questions orphans,tags] [--idle SECONDS] [--keep]

Of each vault: the first build, the size of the index, each question cold and warm, memory, and how often an idle server
wakes. From 300 000 notes on, or with `--keep`, scale.md, scale.json and scale.svg beside this file are written.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path

from . import plot, vaults
from .figures import OURS
from .idle import peak_memory, wake_ups
from .questions import AS_MUCH, questions
from .servers import Call, Server, ours
from .turns import settle
from .wire import FAILURES

HERE = Path(__file__).parent
SIZES = (1_000, 10_000, 100_000, 300_000)
KEPT_FROM = 300_000
"""Notes from which on the figures are kept in the repository."""
BUILD_SECONDS = 3_600.0
ANSWER_SECONDS = 120.0
COLD_ROUNDS, WARM_ROUNDS = 3, 5
REST_SECONDS = 75.0
"""After so long without a call a server has given back what it keeps for the next one."""
IDLE_SECONDS = 60.0
Curve = dict[str, list[tuple[int, float]]]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one question; NaN where it failed."""

    cold: float
    """From the spawn of a process of which it is the first question."""
    warm: float


@dataclass(frozen=True, slots=True)
class Scale:
    """What one vault costs."""

    size: int
    build: float
    """Seconds of the first index."""
    text: int
    index: int
    """Bytes, journal included."""
    costs: Mapping[str, Cost]
    peak: int
    """Most bytes that were resident at once while all questions were asked."""
    rest: int
    """Resident bytes a while after the last question."""
    wakes: float | None
    """Times a minute that an idle server wakes; None where the system does not tell."""


def main() -> int:
    chosen = _options().parse_args()
    names = [name for name in chosen.questions.split(",") if name]
    if unknown := set(names) - questions().keys():
        sys.stderr.write(f"No such question: {', '.join(unknown)}. There are {', '.join(questions())}.\n")
        return 2
    sizes = [*takewhile(lambda size: size < chosen.size, SIZES), chosen.size]
    scales = []
    for size in [chosen.size] if chosen.alone else sizes:
        scales.append(_measure(chosen.vaults, size, names or [*questions()], chosen.idle))
        sys.stdout.write("\n".join(["", *_table(scales[-1:]), ""]))
    sys.stdout.write("\n".join(["", *_table(scales), ""]))
    if chosen.keep or (not names and chosen.size >= KEPT_FROM):
        _write(scales)
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description="Measure what grows with a vault.")
    parser.add_argument("size", type=int, help="notes of the largest vault")
    parser.add_argument("--alone", action="store_true", help="leave the smaller vaults out")
    parser.add_argument("--vaults", type=Path, default=HERE.parent / "build" / "vaults", help="where vaults are kept")
    parser.add_argument("--questions", default="", metavar="NAMES", help=f"of {', '.join(questions())}; keeps nothing")
    parser.add_argument("--idle", type=float, default=IDLE_SECONDS, help="seconds for which wake-ups are counted")
    parser.add_argument("--keep", action="store_true", help="write the files of results in any case")
    return parser


def _measure(folder: Path, size: int, names: Sequence[str], idle: float) -> Scale:
    _say(f"vault of {size} notes")
    vault = vaults.prepared(folder, size)
    server = ours(vault)
    build = _build(server)
    asked = {name: questions()[name] for name in names}
    cold = {name: _cold(server, call) for name, call in asked.items()}
    with server.start(ANSWER_SECONDS) as wire:
        wire.initialize()
        wire.call("obsidian_search", query="anything")
        settle([wire])
        costs = {}
        for name, (tool, arguments) in asked.items():
            try:
                wire.timed(tool, arguments)
                times = [wire.timed(tool, arguments) for _ in range(WARM_ROUNDS)]
            except FAILURES as error:
                _say(f"  {name} FAILED: {error}")
                times = [float("nan")]
            costs[name] = Cost(cold[name], statistics.median(times))
            _say(f"  {name}: cold {costs[name].cold:.2f} s, warm {costs[name].warm * 1e3:.1f} ms")
        peak = peak_memory(wire.process.pid)
        time.sleep(REST_SECONDS if idle else 0)
        wakes = wake_ups(wire.process.pid, idle) if idle else None
        rest = wire.memory()
    text = sum(path.stat().st_size for path in vault.rglob("*.md"))
    return Scale(size, build, text, _index_bytes(server), costs, peak, rest, wakes)


def _build(server: Server) -> float:
    """Return the seconds of a first index, made by the command; the start of its process is in it."""
    shutil.rmtree(server.env["OBSIDIAN_MCP_CACHE"], ignore_errors=True)
    begun = time.perf_counter()
    subprocess.run(  # noqa: S603  ours
        [*server.command, "index", "rebuild"],
        env={**os.environ, **server.env},
        capture_output=True,
        check=True,
        timeout=BUILD_SECONDS,
    )
    seconds = time.perf_counter() - begun
    _say(f"  build: {seconds:.1f} s")
    with server.start(ANSWER_SECONDS) as wire:  # what a server does with a new index is done before others are measured
        wire.initialize()
        wire.call("obsidian_search", query="anything")
        settle([wire], quiet=3.0)
    return seconds


def _cold(server: Server, call: Call) -> float:
    """Return the seconds from the spawn of a server to its answer to one question, its first."""
    tool, arguments = call
    times = []
    for _ in range(COLD_ROUNDS):
        with server.start(ANSWER_SECONDS) as wire:
            try:
                wire.initialize()
                wire.call(tool, **arguments)
            except FAILURES as error:
                _say(f"  {tool} {arguments} FAILED: {error}")
                return float("nan")
            times.append(wire.since_start())
    return statistics.median(times)


def _index_bytes(server: Server) -> int:
    folder = Path(server.env["OBSIDIAN_MCP_CACHE"])
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _write(scales: Sequence[Scale]) -> None:
    facts = f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, Python {sys.version.split()[0]}"
    kept = {"facts": facts, "scales": [asdict(scale) for scale in scales]}
    (HERE / "scale.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    lines = [
        "# What grows with the vault",
        "",
        f"Made by `make bench SIZE={scales[-1].size}` on {facts}. Cold is from the spawn of a process to its answer to",
        "the question, which is its first; warm is a repeated call. Answers are as long in a vault of any size for:",
        f"{', '.join(AS_MUCH)}.",
        "",
        *_table(scales),
        "",
        "![Cost against the size of the vault, both logarithmic](scale.svg)",
        "",
    ]
    (HERE / "scale.md").write_text("\n".join(lines), encoding="utf-8")
    (HERE / "scale.svg").write_text(plot.svg(_curves(scales)), encoding="utf-8")


def _table(scales: Sequence[Scale]) -> list[str]:
    """Return the figures of some vaults, one in each column."""
    heads = [f"{scale.size:,} notes".replace(",", " ") for scale in scales]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "--:|" * len(scales)]

    def add(name: str, cells: Iterable[str]) -> None:
        lines.append(f"| {name} | " + " | ".join(cells) + " |")

    add("first index, notes a second", (f"{scale.size / scale.build:.0f}" for scale in scales))
    add("text, MB", (f"{scale.text / 1e6:.1f}" for scale in scales))
    add("index, MB", (f"{scale.index / 1e6:.1f}" for scale in scales))
    add("index by text", (f"{scale.index / scale.text:.2f} ×" for scale in scales))
    add("most memory, MB", (f"{scale.peak / 1e6:.0f}" for scale in scales))
    add(f"memory after {REST_SECONDS:.0f} s of rest, MB", (f"{scale.rest / 1e6:.0f}" for scale in scales))
    add("wake-ups a minute", ("?" if scale.wakes is None else f"{scale.wakes:.1f}" for scale in scales))
    for name in scales[0].costs:
        costs = [scale.costs[name] for scale in scales]
        add(f"{name}: cold, warm", (f"{cost.cold:.2f} s, {cost.warm * 1e3:.1f} ms" for cost in costs))
    return lines


def _curves(scales: Sequence[Scale]) -> Mapping[str, Curve]:
    """Return panel -> curve -> points, as `plot.svg` takes them."""
    panels: dict[str, Curve] = {"cold": {}, "warm": {}, "memory": {}}
    for scale in scales:
        for name, cost in scale.costs.items():
            panels["cold"].setdefault(name, []).append((scale.size, cost.cold * 1e3))
            panels["warm"].setdefault(name, []).append((scale.size, cost.warm * 1e3))
        panels["memory"].setdefault(OURS, []).append((scale.size, scale.peak / 1e6))
    return panels


def _say(what: object) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {what}\n")


if __name__ == "__main__":
    sys.exit(main())
