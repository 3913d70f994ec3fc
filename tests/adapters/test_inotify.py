"""Events of Linux are read at once, and a flood of them in portions (specs/watching.md, WATCH-08)."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from obsidian_mcp.adapters.inotify import FLOOD, MOST_HELD, PORTION, WINDOW, Portions
from obsidian_mcp.adapters.watcher import Watcher

from .test_watcher import eventually


class Flow:
    """A clock, and events that are there at some moments; whoever reads waits for the next ones."""

    def __init__(self, *batches: tuple[float, int]) -> None:
        self.now = 0.0
        self.batches = list(batches)
        self.slept: list[float] = []
        self.asked_until = 0.0

    def read(self) -> list[int]:
        at, count = self.batches.pop(0)
        self.now = max(self.now, at)
        return [0] * count

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def portions(self) -> Portions:
        return Portions(self.read, lambda: self.now < self.asked_until, lambda: self.now, self.sleep)


def test_events_of_single_changes_are_read_at_once_also_while_a_question_runs() -> None:
    """As of somebody who changes a note and asks for it, again and again."""
    flow = Flow(*((0.002 * number, 4) for number in range(1_000)))
    flow.asked_until = 5
    read = flow.portions()

    assert sum(len(read()) for _ in range(1_000)) == 4_000
    assert flow.slept == []


def test_a_flood_is_read_in_portions() -> None:
    flow = Flow((0, 2 * FLOOD), (0.001, 5), (0.02, 5))
    read = flow.portions()

    assert [len(read()) for _ in range(3)] == [2 * FLOOD, 5, 5]
    assert flow.slept == [PORTION, PORTION]


def test_a_flood_waits_for_the_end_of_a_question_but_not_for_long() -> None:
    flow = Flow((0, 2 * FLOOD), (0, FLOOD), (0, FLOOD))
    read = flow.portions()
    read()

    flow.asked_until = 0.03
    read()
    assert flow.now == pytest.approx(0.03)
    flow.asked_until = 100
    read()
    assert flow.now == pytest.approx(0.03 + PORTION + MOST_HELD)


def test_after_a_lull_events_are_read_at_once_again() -> None:
    flow = Flow((0, 2 * FLOOD), (WINDOW, 1), (2 * WINDOW, 1), (2 * WINDOW, 1))
    read = flow.portions()
    read()
    read()
    flow.slept.clear()

    read()
    read()
    assert flow.slept == []


@pytest.mark.skipif(sys.platform != "linux", reason="the events of Linux")
def test_every_file_of_a_flood_is_reported(tmp_path: Path) -> None:
    watcher = Watcher(tmp_path)
    watcher.start()
    eventually(lambda: watcher.mode == "events")
    watcher.drain()
    watcher.scanned()
    watcher.is_asked = lambda: True
    names = {f"{number}.md" for number in range(10 * FLOOD)}
    seen: set[str] = set()

    def all_seen() -> bool:
        seen.update(watcher.drain() or ())
        return seen >= names

    for name in sorted(names):
        (tmp_path / name).write_bytes(b"x")
    try:
        eventually(all_seen, watcher.changed)
    finally:
        watcher.stop()
    assert seen == names


@pytest.mark.skipif(sys.platform != "linux", reason="the events of Linux")
def test_where_the_folder_itself_goes_away_scans_tell_what_changes(tmp_path: Path) -> None:
    """WATCH-06."""
    root = tmp_path / "vault"
    root.mkdir()
    watcher = Watcher(root)
    watcher.start()
    try:
        eventually(lambda: watcher.mode == "events")
        shutil.rmtree(root)
        eventually(lambda: watcher.mode == "scans")

        assert watcher.drain() is None
    finally:
        watcher.stop()
