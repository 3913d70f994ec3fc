"""The time limit of a call, and the commit phase in which it no longer applies (SAFE-19)."""

from __future__ import annotations

import math
import threading
import time

from obsidian_mcp.errors import OperationTimeout


class Deadline:
    """A limit in seconds from now on, also cancelled when the client gives up; for all threads. A call and its front
    agree here: it is stopped before its commit begins, or the commit begins and the front waits for its answer."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = self._stops_at = time.monotonic() + seconds
        self._committing = False
        self._lock = threading.Lock()

    def cancel(self) -> bool:
        """Stop the call at its next checkpoint; False once its commit has begun, because it is then finished."""
        with self._lock:
            if not self._committing:
                self._stops_at = -math.inf
            return not self._committing

    def begin_commit(self) -> None:
        """Enter the commit phase: from now on nothing stops the call. Raises: OperationTimeout when time is over."""
        with self._lock:
            if self.passed:
                raise self.error()
            self._committing, self._stops_at = True, math.inf

    @property
    def passed(self) -> bool:
        """Return whether the call has to stop. Never true once the commit phase has begun."""
        return time.monotonic() >= self._stops_at

    @property
    def remaining(self) -> float:
        """Return the remaining seconds, not below 0; infinite in the commit phase."""
        return max(self._stops_at - time.monotonic(), 0.0)

    @property
    def overrun(self) -> float:
        """Return the seconds by which a committing call exceeds its limit; 0 for all other calls."""
        return max(time.monotonic() - self._end, 0.0) if self._committing else 0.0

    @property
    def late_note(self) -> str | None:
        """Return the sentence for the answer of a call that committed after its limit; None for all other calls."""
        if not self.overrun:
            return None
        return (
            f"This took {self.seconds + self.overrun:.1f} s, longer than the limit of {self.seconds:g} s: the change "
            "had begun when the limit was reached, so it was finished. It is complete."
        )

    def error(self) -> OperationTimeout:
        return OperationTimeout(
            f"The operation took longer than {self.seconds:g} s and was stopped before it changed anything. "
            "Try again, with a narrower question or fewer notes if you can. Where a call needs longer each time, the "
            "user can raise the limit: OBSIDIAN_MCP_TIMEOUT, in seconds.",
            seconds=self.seconds,
        )
