"""Work that is due later, for the one thread that waits (specs/stdio.md)."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable

from obsidian_mcp.light_typing import Final

STALE: Final = 1000
"""Timers that may stand in the queue although they were cancelled."""


class Timer:
    """One piece of work; `cancel` takes it back."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], None]) -> None:
        self.work: Callable[[], None] | None = work

    def cancel(self) -> None:
        self.work = None


class Timers:
    """The work that is due. The caller's lock is held for every method."""

    def __init__(self, wake: Callable[[], None]) -> None:
        """`wake` is called when work is due earlier than the waiting thread knows."""
        self._wake = wake
        self._number = itertools.count()
        self._queue: list[tuple[float, int, Timer]] = []
        self._most = STALE

    def after(self, seconds: float, work: Callable[[], None]) -> Timer:
        """Have work done so many seconds from now."""
        timer = Timer(work)
        moment = time.monotonic() + seconds
        if len(self._queue) > self._most:
            self._queue = [entry for entry in self._queue if entry[2].work is not None]
            heapq.heapify(self._queue)
            self._most = STALE + 2 * len(self._queue)
        heapq.heappush(self._queue, (moment, next(self._number), timer))
        if self._queue[0][2] is timer:
            self._wake()
        return timer

    def run(self) -> float | None:
        """Do what is due. Return the seconds until something else is, None where nothing is."""
        while self._queue:
            moment, _, timer = self._queue[0]
            rest = moment - time.monotonic()
            if rest > 0:
                return rest
            heapq.heappop(self._queue)
            if timer.work is not None:
                timer.work()
        return None
