"""The short way of watchdog's events on Linux: a checkout makes four for each file (specs/watching.md, WATCH-08).

What they cost is not only their time: each takes the interpreter's lock from a question that runs meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

FLOOD = 400
"""Events in WINDOW seconds, from which on they are read in portions. Whoever asks after each of his own changes makes
fewer: four for a file, and two milliseconds for an answer."""
WINDOW = 0.1
PORTION = 0.01
"""Seconds between two portions."""
MOST_HELD = 0.05
"""Seconds that a portion waits at most for a question to end."""


def lighten(observer: BaseObserver, report: Callable[[str], None], is_asked: Callable[[], bool]) -> None:
    """Have the paths of events reported as soon as watchdog knows them, and floods of them read in `Portions`.

    For observers of watchdog 7.1 that are not started yet; others stay as they are. Should its events look otherwise
    one day, the thread that brings them dies, which the watcher sees (WATCH-06).
    """
    reader = getattr(observer, "_inotify_fd", None)
    if reader is not None:
        reader.read_events = Portions(reader.read_events, is_asked)
    for emitter in observer.emitters:
        build = getattr(emitter, "build_and_queue_event", None)
        if build is not None:
            emitter.build_and_queue_event = partial(_told, report, build)  # type: ignore[attr-defined]


def _told(report: Callable[[str], None], build: Callable[[Any], None], event: Any) -> None:
    """`event` is one of the system with its path, or the two of a move; `build` makes an object for handlers of it."""
    for each in event if type(event) is tuple else (event,):
        if each.ev.is_delete_self:  # watchdog ends its thread when that was the root
            build(event)
        elif not each.ev.is_attrib:
            report(os.fsdecode(each.path))


class Portions:
    """`read`, which waits for events and gives them, called in a loop: in a flood not more often than it must be.

    The system keeps what is not read (16 384 events), and thousands are read as quickly as one: in a flood PORTION
    seconds pass before the next reading, and the time that a question takes. Other events are read at once.
    """

    def __init__(
        self,
        read: Callable[[], list[Any]],
        is_asked: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._read = read
        self._is_asked = is_asked
        self._clock = clock
        self._sleep = sleep
        self._recent = 0.0
        """Events of the last WINDOW seconds, about."""
        self._last = clock()

    def __call__(self) -> list[Any]:
        if self._recent >= FLOOD:
            self._sleep(PORTION)
            end = self._clock() + MOST_HELD
            while self._is_asked() and self._clock() < end:
                self._sleep(PORTION)
        found = self._read()
        now = self._clock()
        self._recent = self._recent * max(0.0, 1 - (now - self._last) / WINDOW) + len(found)
        self._last = now
        return found
