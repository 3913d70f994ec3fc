"""The measurements. Each gives seconds, calls a second or bytes, and is taken in turns, so that noise falls on all."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from tests.generate import folder_of, name_of, words

from .servers import Server
from .wire import INITIALIZE, Refused, Wire

Figures = dict[str, dict[str, float]]
"""What -> server -> median."""

IN_FLIGHT = 32
RARE = "quetzalcoatl400"


def paths(count: int, most: int = 200) -> list[str]:
    """Paths of some notes of a generated vault."""
    vocabulary = words()
    some = range(0, count, max(1, count // most))
    return [f"{folder_of(number)}/{name_of(number, vocabulary)}.md" for number in some]


def percentile(figures: Sequence[float], part: float) -> float:
    return sorted(figures)[min(len(figures) - 1, int(len(figures) * part))]


def start(servers: Sequence[Server], note: str, rounds: int) -> Figures:
    """From the spawn to the answers of initialize, tools/list, a first read and a first search."""
    seen: dict[str, dict[str, list[float]]] = {}
    for _ in range(rounds):
        for server in servers:
            tool, given = server.search(RARE) if server.search else server.read(note)
            with server.start() as wire:
                moments = {}
                wire.ask("initialize", INITIALIZE)
                moments["initialize"] = wire.since_start()
                wire.send("notifications/initialized", notification=True)
                wire.ask("tools/list")
                moments["tools/list"] = wire.since_start()
                wire.call(tool, **given)
                moments["first search"] = wire.since_start()
            for what, moment in moments.items():
                seen.setdefault(what, {}).setdefault(server.name, []).append(moment)
    return {what: {name: statistics.median(each) for name, each in of.items()} for what, of in seen.items()}


def calls(servers: Sequence[Server], notes: Sequence[str], rounds: int) -> Figures:
    """One call after the other: reading notes (and the bare server's echo), searching; then many at once; memory."""
    wires = [server.start() for server in servers]
    seen: dict[str, dict[str, list[float]]] = {}

    def note_down(server: Server, what: str, figure: float) -> None:
        seen.setdefault(what, {}).setdefault(server.name, []).append(figure)

    try:
        for wire, server in zip(wires, servers, strict=True):
            wire.__enter__()
            wire.initialize()
            for note in notes[:50]:
                tool, given = server.read(note)
                with contextlib.suppress(Refused):
                    wire.call(tool, **given)
        settle(wires)
        for _ in range(rounds):
            for wire, server in zip(wires, servers, strict=True):
                with contextlib.suppress(Refused):  # some peers limit the rate of calls
                    _round(wire, server, notes, partial(note_down, server))
        for wire, server in zip(wires, servers, strict=True):
            with contextlib.suppress(Refused):
                for note in list(notes) * max(1, 1000 // len(notes) - 6 * rounds):
                    tool, given = server.read(note)
                    wire.call(tool, **given)
            note_down(server, "memory", wire.memory())
    finally:
        for wire in wires:
            wire.__exit__(None, None, None)
    figures = {what: {name: statistics.median(each) for name, each in of.items()} for what, of in seen.items()}
    figures["read, p99"] = {name: percentile(each, 0.99) for name, each in seen["read"].items()}
    return figures


def _round(wire: Wire, server: Server, notes: Sequence[str], note_down: Callable[[str, float], None]) -> None:
    for note in notes:
        tool, given = server.read(note)
        note_down("read", timed(lambda: wire.call(tool, **given)))  # noqa: B023
    if server.name == "bare SDK":
        for _ in notes:
            note_down("echo of 60 characters", timed(lambda: wire.call("echo")))
    note_down("reads a second, 32 in flight", in_flight(wire, [server.read(note) for note in notes], 5 * len(notes)))
    if server.search is not None:
        tool, given = server.search(RARE)
        note_down("search", timed(lambda: wire.call(tool, **given)))


def large(ours: Server, bare: Server, vault: Path, rounds: int) -> Figures:
    """Answers of 400 KB: our largest answers are pages of 40 000 characters, so ten of them are in flight at once."""
    name = "Large.md"
    (vault / name).write_text("日本語 " * 10_000, encoding="utf-8")
    medians: Figures = {}
    try:
        for server in (ours, bare):
            with server.start() as wire:
                wire.initialize()
                tool, given = ("echo", {"length": 400_000}) if server is bare else server.read(name)
                times = 1 if server is bare else 4  # 120 KB of UTF-8 each
                figures = []
                wire.call(tool, **given)
                for _ in range(rounds):
                    begun = time.perf_counter()
                    numbers = [wire.send("tools/call", {"name": tool, "arguments": dict(given)}) for _ in range(times)]
                    for _number in numbers:
                        wire.line()
                    figures.append(time.perf_counter() - begun)
            medians.setdefault("400 KB, p50", {})[server.name] = statistics.median(figures)
            medians.setdefault("400 KB, p99", {})[server.name] = percentile(figures, 0.99)
    finally:
        (vault / name).unlink()
    return medians


def timed(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def in_flight(wire: Wire, asked: Sequence[tuple[str, Mapping[str, object]]], count: int) -> float:
    """Calls a second with IN_FLIGHT of them under way at any time."""
    begun = time.perf_counter()
    for number in range(count + IN_FLIGHT):
        if number >= IN_FLIGHT and b'"error"' in wire.line()[:60]:
            raise Refused
        if number < count:
            tool, given = asked[number % len(asked)]
            wire.send("tools/call", {"name": tool, "arguments": given})
    return count / (time.perf_counter() - begun)


def settle(wires: Sequence[Wire], quiet: float = 0.5, patience: float = 120.0) -> None:
    """Wait until no server computes any more: an index may still be under construction."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        before = sum(wire.seconds() for wire in wires)
        time.sleep(quiet)
        if sum(wire.seconds() for wire in wires) - before < quiet * 0.05:
            return


def build(ours: Server) -> float:
    """Seconds that the first index of a vault takes, in one process."""
    shutil.rmtree(Path(ours.env["OBSIDIAN_MCP_CACHE"]), ignore_errors=True)
    command = [*ours.command, "index", "rebuild"]
    return timed(lambda: subprocess.run(command, env={**os.environ, **ours.env}, capture_output=True, check=True))  # noqa: S603  ours


def event(ours: Server, vault: Path, note: str, rounds: int) -> float:
    """Seconds from the change of a note by another program to the answer that knows it."""
    figures = []
    path = vault / note
    original = path.read_bytes()
    try:
        with ours.start() as wire:
            wire.initialize()
            tool, given = ours.read(note)
            wire.call(tool, **given)
            settle([wire])
            for number in range(rounds):
                word = f"fresh{number}x{time.monotonic_ns()}"
                path.write_bytes(original + f"\n#{word}\n".encode())
                begun = time.perf_counter()
                while note.encode() not in wire.ask(
                    "tools/call", {"name": "obsidian_tags", "arguments": {"tag": word}}
                ):
                    pass
                figures.append(time.perf_counter() - begun)
    finally:
        path.write_bytes(original)
    return statistics.median(figures)


def checkout(ours: Server, vault: Path, notes: Sequence[str]) -> dict[str, float]:
    """Many notes change at once, as by a git checkout: how long calls take until all is taken in."""
    originals = {note: (vault / note).read_bytes() for note in notes}
    figures = []
    try:
        with ours.start() as wire:
            wire.initialize()
            tool, given = ours.read(notes[0])
            wire.call(tool, **given)
            settle([wire])
            for note, data in originals.items():
                (vault / note).write_bytes(data + b"\nchanged\n")
            begun = time.perf_counter()
            while time.perf_counter() - begun < 8:
                figures.append(timed(lambda: wire.call(tool, **given)))
    finally:
        for note, data in originals.items():
            (vault / note).write_bytes(data)
    return {"worst": max(figures), "p50": statistics.median(figures), "p99": percentile(figures, 0.99)}


def growth(ours: Server, notes: Sequence[str], count: int) -> list[int]:
    """Resident bytes after each tenth of so many mixed calls."""
    mixed: list[tuple[str, Mapping[str, object]]] = []
    for note in notes:
        mixed += [
            ours.read(note),
            ("obsidian_get_links", {"name": note}),
            ("obsidian_list_files", {"folder": note.split("/")[0]}),
            ("obsidian_read_note", {"name": "no such note"}),
        ]
    seen = []
    with ours.start() as wire:
        wire.initialize()
        for _ in range(10):
            for number in range(count // 10 + IN_FLIGHT):
                if number >= IN_FLIGHT:
                    wire.line()
                if number < count // 10:
                    tool, given = mixed[number % len(mixed)]
                    wire.send("tools/call", {"name": tool, "arguments": given})
            seen.append(wire.memory())
    return seen


def ripgrep(vault: Path, rounds: int) -> float | None:
    """Seconds that ripgrep needs for the word that the servers are asked for; None where it is not installed."""
    program = shutil.which("rg")
    if program is None:
        return None
    command = [program, "--files-with-matches", "--fixed-strings", "--ignore-case", RARE, str(vault)]
    return statistics.median(
        timed(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=False))  # noqa: S603  ours
        for _ in range(rounds)
    )
