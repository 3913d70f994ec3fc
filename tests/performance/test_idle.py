"""What a server costs while nobody asks for anything (specs/index.md INDEX-58)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.idle import wakes_by_thread
from benchmarks.servers import ours
from benchmarks.turns import settle
from tests.generate import generate

SECONDS = 6.0
FEW = 3
"""Wakes that other things than a timer may cause in that time."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts how often threads wake")
def test_an_idle_server_does_not_wake(tmp_path: Path) -> None:
    """INDEX-58: a timer that looks around once a second would wake it six times."""
    vault = generate(tmp_path / "vault", 40)
    with ours(vault).start() as wire:
        wire.initialize()
        wire.call("obsidian_search", query="anything")
        wire.call("obsidian_list_tasks")
        settle([wire], quiet=3.0)
        wakes = wakes_by_thread(wire.process.pid, SECONDS)
        print(wakes)
        assert sum(wakes.values()) <= FEW, wakes
