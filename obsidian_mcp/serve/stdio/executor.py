"""Threads that work off a queue: one after the other while each piece is quick, side by side where one takes long.

Threads that run Python at the same time only get in each other's way: two of them answer fewer short calls a second
than one. But nobody shall wait behind a search of a second or an app that does not answer. So one thread at a time has
the turn; who keeps it too long works on without it, and the next thread goes on with the queue.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 0.005
MOST: Final = 40
"""Threads."""


class Crew:
    """`submit` is for the event loop's thread. The threads are daemons: whatever hangs does not keep the process."""

    def __init__(self, loop: asyncio.AbstractEventLoop, patience: float = PATIENCE) -> None:
        """`patience`: seconds that a piece of work may keep the turn."""
        self._loop = loop
        self._patience = patience
        self._queue: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._turn = threading.Lock()
        """Passed from thread to thread; who takes it need not be who gives it back."""
        self._lock = threading.Lock()
        self._holder: object | None = None
        """Stands for the work that has the turn."""
        self._threads = 0
        self._waiting = 0
        """Threads that wait for the turn or, one of them, for work."""
        self._watched: object | None = None
        self._watching = False

    def submit(self, work: Callable[[], None]) -> None:
        """Have `work` done in a thread, after all that was submitted before has begun. It must not raise."""
        self._queue.put(work)
        if not self._threads:
            self._hire()
        if not self._watching:
            self._watch()

    def _watch(self) -> None:
        self._watching = True
        self._watched = self._holder
        self._loop.call_later(self._patience, self._look)

    def _look(self) -> None:
        self._watching = False
        if self._queue.empty():
            return
        with self._lock:
            stuck = self._holder is not None and self._holder is self._watched
            if stuck and self._threads - self._waiting < MOST:
                self._holder = None
                self._turn.release()
                if not self._waiting:
                    self._hire()
        self._watch()

    def _hire(self) -> None:
        self._threads += 1
        threading.Thread(target=self._run, name=f"call {self._threads}", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                self._waiting += 1
            self._turn.acquire()
            work = self._queue.get()
            mine = object()
            with self._lock:
                self._waiting -= 1
                self._holder = mine
            work()
            with self._lock:
                if self._holder is mine:
                    self._holder = None
                    self._turn.release()
