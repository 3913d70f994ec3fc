"""The first index, and from the spawn of a process to its first answers."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from .figures import Samples
from .servers import Server
from .turns import in_turns, reason, settle, until
from .vaults import RARE
from .wire import FAILURES, INITIALIZE

FIRST_BUILD = "first index"
INDEXING = 240.0
"""Seconds that a peer has for its first index."""
STARTS = ("initialize", "tools/list", "first search")
AFTER_LULL = "reads in the two seconds after the start"


def build(ours: Server, size: int, rounds: int, samples: Samples) -> None:
    """Notes a second of the first index of a vault, by the command; the start of its process is in it."""
    for _ in range(rounds):
        shutil.rmtree(Path(ours.env["OBSIDIAN_MCP_CACHE"]), ignore_errors=True)
        begun = time.perf_counter()
        subprocess.run(  # noqa: S603  ours
            [*ours.command, "index", "rebuild"],
            env={**os.environ, **ours.env},
            capture_output=True,
            check=True,
            timeout=600,
        )
        samples.add(FIRST_BUILD, ours.name, size / (time.perf_counter() - begun))


def catch_up(ours: Server) -> None:
    """The index knows the vault as it is: a measurement before may have changed notes and put them back."""
    with ours.start() as wire:
        wire.initialize()
        wire.call("obsidian_search", query="anything")
        settle([wire])


def indexed(peers: Sequence[Server], size: int, samples: Samples) -> list[Server]:
    """Those that can be measured: an index that a peer keeps is complete, or there is none. What came of it is noted
    beside the index, for the next run.
    """
    found = []
    for peer in peers:
        try:
            _first_index(peer, size)
        except FAILURES as error:
            samples.fail(STARTS, peer.name, reason(error))
        else:
            found.append(peer)
    return found


def _first_index(peer: Server, size: int) -> None:
    """Raises: TimeoutError, also where it was raised in an earlier run."""
    kept = peer.kept
    if kept is None:
        return
    mark = kept.path.with_name(f"{kept.path.name}.state")
    if not mark.exists():
        with peer.start(INDEXING) as wire:
            wire.initialize()
            in_time = until(wire, kept, lambda answer: kept.has_all(answer, size), INDEXING)
        mark.write_text("" if in_time else f"its first index took longer than {INDEXING:.0f} s", encoding="utf-8")
    if said := mark.read_text(encoding="utf-8"):
        raise TimeoutError(said)


def lull(ours: Server, note: str, rounds: int, samples: Samples) -> None:
    """Reads, some of them while the server loads what it has not needed yet: it does a second after it began."""
    tool, given = ours.read(note)
    for _ in range(rounds):
        with ours.start() as wire:
            wire.initialize()
            wire.ask("tools/list")
            wire.call(tool, **given)
            end = time.perf_counter() + 2
            while time.perf_counter() < end:
                time.sleep(0.02)
                samples.add(AFTER_LULL, ours.name, wire.timed(tool, given))


def start(servers: Sequence[Server], rounds: int, samples: Samples) -> None:
    """From the spawn to the answers of initialize, tools/list and a first search (the bare server: a first call)."""

    def once(server: Server) -> None:
        tool, given = server.search(RARE) if server.search else ("echo", {})
        with server.start() as wire:
            wire.ask("initialize", INITIALIZE)
            moments = [wire.since_start()]
            wire.notify_initialized()
            wire.ask("tools/list")
            moments.append(wire.since_start())
            wire.call(tool, **given)
            moments.append(wire.since_start())
        for what, moment in zip(STARTS, moments, strict=True):
            samples.add(what, server.name, moment)

    in_turns(servers, rounds, once, samples, STARTS)
