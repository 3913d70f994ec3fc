"""`make bench`: this server, a bare SDK server, ripgrep and peers, side by side on generated vaults; no network.

python -m benchmarks [--sizes 1000,10000,50000] [--rounds 5] [--vaults DIR] [--peers DIR] [--growth CALLS]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.generate import generate

from . import measure, plot
from .servers import bare, ours, peers
from .wire import Refused

HERE = Path(__file__).parent

Results = dict[str, dict[str, dict[str, float]]]
"""Size of the vault -> what -> server -> figure."""


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, print and keep a table.")
    options.add_argument("--sizes", default="1000,10000,50000", help="notes in the vaults")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--vaults", type=Path, default=HERE.parent / "build" / "vaults", help="where vaults are kept")
    options.add_argument("--peers", type=Path, help="folder with node_modules or bin of other servers")
    options.add_argument("--growth", type=int, default=0, metavar="CALLS", help="only memory over so many calls")
    options.add_argument("--only-print", action="store_true", help="leave the files of results as they are")
    asked = options.parse_args()

    sizes = [int(size) for size in asked.sizes.split(",")]
    if asked.growth:
        vault = generate(asked.vaults.resolve() / f"vault{sizes[0]}", sizes[0])
        seen = measure.growth(ours(vault), measure.paths(sizes[0]), asked.growth)
        say("MB after each tenth: " + ", ".join(f"{each / 1e6:.1f}" for each in seen))
        return
    load = [os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0]
    results: Results = {}
    for size in sizes:
        results[str(size)] = of_vault(asked.vaults, size, asked.rounds, asked.peers)
    load.append(os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0)

    facts = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}",
        "python": platform.python_version(),
        "load": f"{load[0]:.1f} at the start, {load[1]:.1f} at the end",
    }
    text = table(facts, results)
    sys.stdout.write(text)
    if not asked.only_print:
        (HERE / "results.md").write_text(text, encoding="utf-8")
        kept = json.dumps({"facts": facts, "results": results}, indent=1) + "\n"
        (HERE / "results.json").write_text(kept, encoding="utf-8")
        (HERE / "results.svg").write_text(plot.svg(curves(results)), encoding="utf-8")


def of_vault(folder: Path, size: int, rounds: int, peer_folder: Path | None) -> dict[str, dict[str, float]]:
    """Every measurement on a vault of one size."""
    say(f"vault of {size} notes")
    vault = generate(folder.resolve() / f"vault{size}", size)
    this, plain = ours(vault), bare(vault)
    notes = measure.paths(size)
    say("  index")
    seconds = measure.build(this)
    figures: dict[str, dict[str, float]] = {"notes indexed a second": {this.name: size / seconds}}
    others = peers(peer_folder, vault)
    for server in list(others):
        try:
            with server.start() as wire:
                wire.initialize()
                tool, given = server.read(notes[0])
                wire.call(tool, **given)
                measure.settle([wire], 1.0, 60.0)
        except (EOFError, Refused, OSError) as error:
            say(f"  {server.name} is left out: {str(error)[:200]}")
            others.remove(server)
    servers = [plain, this, *others]
    say("  start")
    figures |= measure.start(servers, notes[0], rounds)
    say("  calls")
    figures |= measure.calls(servers, notes, rounds)
    say("  large answers, changes")
    figures |= measure.large(this, plain, vault, 20 * rounds)
    figures["change to answer"] = {this.name: measure.event(this, vault, notes[0], rounds)}
    many = measure.paths(size, 5000)
    for what, figure in measure.checkout(this, vault, many).items():
        figures[f"read while {len(many)} files change, {what}"] = {this.name: figure}
    if (found := measure.ripgrep(vault, rounds)) is not None:
        figures["search"]["ripgrep"] = found
    return figures


def table(facts: dict[str, str], results: Results) -> str:
    """All figures with their ratio to the bare SDK server's, as Markdown."""
    lines = ["# Measured side by side", "", ". ".join(f"{what}: {fact}" for what, fact in facts.items()) + ".", ""]
    lines += ["Medians, in milliseconds unless said otherwise; in brackets the ratio to the bare SDK server.", ""]
    for size, figures in results.items():
        names = list(dict.fromkeys(name for of in figures.values() for name in of))
        lines += [f"## {int(size):,} notes".replace(",", " "), "", "| | " + " | ".join(names) + " |"]
        lines += ["|---" * (len(names) + 1) + "|"]
        for what, of in figures.items():
            base = of.get("bare SDK")
            if what == "first search":
                what = "first search (bare: first call)"
            cells = [shown(what, of[name], base) if name in of else "" for name in names]
            lines.append(f"| {what} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def shown(what: str, figure: float, base: float | None) -> str:
    if what == "memory":
        text = f"{figure / 1e6:.0f} MB"
    elif "a second" in what:
        text = f"{figure:,.0f}".replace(",", " ")
    else:
        text = f"{figure * 1e3:.2f}" if figure < 0.01 else f"{figure * 1e3:.0f}"
    return text if not base or base == figure else f"{text} ({figure / base:.2f})"


def curves(results: Results) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """For the plot: what -> server -> points."""
    found: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for what in ("first search", "read", "search", "memory"):
        for size, figures in results.items():
            for name, figure in figures.get(what, {}).items():
                scaled = figure / 1e6 if what == "memory" else figure * 1e3
                found.setdefault(what, {}).setdefault(name, []).append((int(size), scaled))
    return found


def say(what: Any) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {what}\n")


if __name__ == "__main__":
    main()
