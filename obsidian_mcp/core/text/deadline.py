"""The time limit of the call that runs now, so that long loops in the core can stop when nobody waits any more."""

from __future__ import annotations

import time
from contextvars import ContextVar

from obsidian_mcp.errors import OperationTimeout


class Deadline:
    """A limit in seconds from now on; also cancelled when the client gives up. Safe to share between threads."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._cancelled = False

    def cancel(self) -> None:
        self._cancelled = True

    @property
    def passed(self) -> bool:
        return self._cancelled or time.monotonic() >= self._end

    @property
    def remaining(self) -> float:
        """Seconds, not below 0."""
        return 0.0 if self.passed else max(self._end - time.monotonic(), 0.0)

    def error(self) -> OperationTimeout:
        return OperationTimeout(
            f"The operation took longer than {self.seconds:g} s and was stopped. Nothing is half done; "
            "try again, with a narrower question if it was a search.",
            seconds=self.seconds,
        )


current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def checkpoint() -> None:
    """Call in loops and right before a write. Raises: OperationTimeout when the call's time is over."""
    deadline = current.get()
    if deadline is not None and deadline.passed:
        raise deadline.error()
