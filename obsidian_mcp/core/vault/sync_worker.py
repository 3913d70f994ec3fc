"""Follows what other programs change in a vault, so that the next call finds little left to do (WATCH-07)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from obsidian_mcp.errors import AppError

log = logging.getLogger(__name__)

PAUSE = 0.02
"""Seconds from the first report to the look, and between two looks: what is reported meanwhile is looked at at once."""
GIVE_WAY = 0.01
"""Seconds until work goes on that a question has stopped."""
PATIENCE = 2.0
"""Seconds that the end waits for it."""
DISTURBED = 2.0
"""Seconds after a look that failed: the disk is gone, and every call says so."""


class Follower:
    """A thread. `changed` is set with the first report after a look; `look` takes in what was reported, or raises
    AppError; `prepare` makes ready what questions will need and says whether that is all.
    """

    def __init__(self, changed: threading.Event, look: Callable[[], object], prepare: Callable[[], bool]) -> None:
        self._changed = changed
        self._look = look
        self._prepare = prepare
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """End it, but do not wait long for a file that cannot be read."""
        self._stopped.set()
        end = time.monotonic() + PATIENCE
        while self.is_alive and time.monotonic() < end:
            self._changed.set()  # again: a call may have looked in the meantime
            self._thread.join(PAUSE)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._changed.wait()
            if self._stopped.wait(PAUSE):
                return
            try:
                self._look()
                while not self._prepare() and not self._changed.is_set():
                    self._stopped.wait(GIVE_WAY)
            except AppError as error:
                log.warning("%s", error.message)
                self._stopped.wait(DISTURBED)
            except Exception:
                if not self._stopped.is_set():
                    log.exception("What changed is looked at with the next call.")
                self._stopped.wait(DISTURBED)
