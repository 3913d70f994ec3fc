"""What changes between two calls is looked at without being asked for (specs/watching.md, WATCH-07)."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from obsidian_mcp.core.vault import sync_worker
from obsidian_mcp.core.vault.sync_worker import Follower
from obsidian_mcp.errors import StorageFailed

WITHIN = 10.0
"""Seconds that a busy machine may take."""


class Told:
    """What a follower has done."""

    def __init__(self, answers: list[bool | Exception]) -> None:
        self.changed = threading.Event()
        self.steps: queue.Queue[str] = queue.Queue()
        self._answers = answers

    def look(self) -> None:
        self.changed.clear()
        self.steps.put("look")

    def prepare(self) -> bool:
        answer = self._answers.pop(0) if self._answers else True
        self.steps.put("prepare")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def next(self) -> str:
        return self.steps.get(timeout=WITHIN)


@contextmanager
def following(*answers: bool | Exception) -> Iterator[Told]:
    told = Told(list(answers))
    running = Follower(told.changed, told.look, told.prepare)
    running.start()
    try:
        yield told
    finally:
        running.stop()


def test_every_report_is_followed_by_a_look() -> None:
    with following() as told:
        for _ in range(3):
            told.changed.set()
            assert [told.next(), told.next()] == ["look", "prepare"]
        assert told.steps.empty()


def test_what_a_question_interrupts_goes_on_after_it() -> None:
    with following(False, False, True) as told:
        told.changed.set()
        assert [told.next() for _ in range(4)] == ["look", "prepare", "prepare", "prepare"]


@pytest.mark.parametrize("problem", [StorageFailed("The disk is gone."), RuntimeError("a mistake of ours")])
def test_a_look_that_fails_is_not_the_last_one(monkeypatch: pytest.MonkeyPatch, problem: Exception) -> None:
    monkeypatch.setattr(sync_worker, "DISTURBED", 0.01)
    with following(problem) as told:
        for _ in range(2):
            told.changed.set()
            assert [told.next(), told.next()] == ["look", "prepare"]


def test_it_ends_when_it_is_stopped_though_a_call_looks_in_that_moment() -> None:
    class Looked(threading.Event):
        """The first report is taken by a call before the follower sees it."""

        is_taken = False

        def set(self) -> None:
            if self.is_taken:
                super().set()
            self.is_taken = True

    running = Follower(Looked(), lambda: None, lambda: True)
    running.start()
    running.stop()
    assert not running.is_alive
