"""Changes by other programs while the server runs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle

from .figures import Samples
from .servers import Server
from .turns import settle
from .vaults import changing
from .wire import Wire

ONE = "one changed note, to the search that finds it"
READS = "reads while {count} notes are checked out"
SEARCHES = "searches while {count} notes are checked out"
ABSORBED = "{count} notes checked out, to the search that finds all"
MANY = 5_000
PAUSE = 0.002
"""Seconds between calls: a client that asks without a pause would only measure how three processes share two cores."""
LIMIT = 60.0


def one(ours: Server, notes: Sequence[str], rounds: int, samples: Samples) -> None:
    """Seconds from the end of a write by another program to the end of the first search that knows it."""
    some = notes[: 4 * rounds]
    with changing(ours.vault, *some) as before, ours.start() as wire:
        wire.initialize()
        wire.call("obsidian_search", query="anything")
        settle([wire])
        for number, note in enumerate(some):
            word = f"fresh{number}x{time.monotonic_ns()}"
            (ours.vault / note).write_bytes(before[note] + f"\n{word}\n".encode())
            begun = time.perf_counter()
            while note.encode() not in wire.call("obsidian_search", query=word, match="exact"):
                if time.perf_counter() - begun > LIMIT:
                    raise TimeoutError(f"{note} was not found by its new word")
            samples.add(ONE, ours.name, time.perf_counter() - begun)
            time.sleep(0.1)


def checkout(ours: Server, bare: Server, notes: Sequence[str], samples: Samples) -> None:
    """Many notes change at once: what reads and searches cost until all is taken in; then the same for the bare server,
    whose echo shows what the machine does meanwhile.
    """
    count = len(notes)
    reads, searches = READS.format(count=_grouped(count)), SEARCHES.format(count=_grouped(count))
    with changing(ours.vault, *notes):
        with ours.start() as wire:
            wire.initialize()
            wire.call("obsidian_search", query="anything")
            wire.call("obsidian_read_note", name=notes[0])
            settle([wire])
            word = f"branch{time.monotonic_ns()}"
            notes_to_read = cycle(notes[:: max(1, count // 500)])
            with _writer(ours, notes, word):
                begun = last = time.perf_counter()
                absorbed = 0.0
                while not absorbed or time.perf_counter() - absorbed < 1:
                    # a file may be gone just then: it is removed before it is made anew
                    seconds = wire.timed("obsidian_read_note", {"name": next(notes_to_read)}, may_fail=True)
                    samples.add(reads, ours.name, seconds)
                    time.sleep(PAUSE)
                    if time.perf_counter() - last > 0.05:
                        seconds, total = _search(wire, word)
                        samples.add(searches, ours.name, seconds)
                        last = time.perf_counter()
                        if total == count and not absorbed:
                            absorbed = last
                            samples.add(ABSORBED.format(count=_grouped(count)), ours.name, absorbed - begun)
                    if time.perf_counter() - begun > LIMIT:
                        raise TimeoutError(f"{count} changed notes were not taken in within {LIMIT:.0f} s")
        with bare.start() as wire:
            wire.initialize()
            wire.call("echo")
            with _writer(ours, notes, "other") as is_writing:
                while is_writing():
                    samples.add(reads, bare.name, wire.timed("echo", {"length": 5_000}))
                    time.sleep(PAUSE)


@contextmanager
def _writer(ours: Server, notes: Sequence[str], word: str) -> Iterator[Callable[[], bool]]:
    """A process that changes the notes; gives whether it still does."""
    command = [sys.executable, "-m", "benchmarks.checkout", str(ours.vault), word]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as writer:  # noqa: S603  ours
        if writer.stdin is None:
            raise OSError("no pipe")
        writer.stdin.write("\n".join(notes).encode())
        writer.stdin.close()
        try:
            yield lambda: writer.poll() is None
            writer.wait(LIMIT)
        finally:
            writer.kill()


def _search(wire: Wire, word: str) -> tuple[float, int]:
    """Seconds of a search, and how many notes it finds."""
    begun = time.perf_counter()
    answer = wire.call("obsidian_search", query=word, match="exact", show="paths", limit=1)
    seconds = time.perf_counter() - begun
    return seconds, int(json.loads(answer)["result"]["structuredContent"]["data"]["total"])


def _grouped(count: int) -> str:
    return f"{count:,}".replace(",", " ")
