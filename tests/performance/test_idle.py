"""What a server costs while nobody asks for anything (specs/index.md INDEX-58)."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.idle import wakes_by_thread
from benchmarks.servers import ours
from benchmarks.turns import settle
from tests.generate import generate

SECONDS = 10.0
FEW = 3
"""Wakes that other things than a timer may cause in that time."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts how often threads wake")
def test_an_idle_server_does_not_wake(tmp_path: Path) -> None:
    """INDEX-58, WATCH-14: a timer that looks around every two seconds would wake it five times. One of two servers of a
    vault tells the other one of changes, of which a client wants to know."""
    vault = generate(tmp_path / "vault", 40)
    with ours(vault).start() as leader, ours(vault).start() as follower:
        for wire in (leader, follower):
            wire.initialize()
            wire.call("obsidian_search", query="anything")
            wire.call("obsidian_list_tasks")
        follower.ask("resources/subscribe", {"uri": "obsidian://recent"})
        settle([leader, follower], quiet=3.0)
        with ThreadPoolExecutor() as pool:
            pids = [wire.process.pid for wire in (leader, follower)]
            for wakes in pool.map(wakes_by_thread, pids, [SECONDS] * 2):
                print(wakes)
                assert sum(wakes.values()) <= FEW, wakes
