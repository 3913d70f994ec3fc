"""The record of the current call: how long it may take, whose it is, and what it may do.

A front sets the record where a call begins, and the layers below read the part that they need. One
context variable holds it, so a new fact about a call needs no new argument on the way down.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from obsidian_mcp.errors import OperationTimeout

ProgressReport = Callable[[int, int, str], None]
"""Receives the number of steps done, their total, and the current activity.

It is called often; `throttle` limits how many of these calls reach the client.
"""
T = TypeVar("T")

UNCHECKED = 1_000
"""Lines or other small parts of a text that are worked on between two checkpoints."""
FIRST_UNCHECKED = 10
REPORT_SECONDS = 0.2
"""Shortest time between two reports about one call to its client."""


class Client(NamedTuple):
    """The client of a call.

    `name` is the name under which it introduced itself. Where one process serves several clients at
    once, `session` tells them apart.
    """

    name: str = ""
    session: str = ""


UNNAMED = Client()


class Deadline:
    """A limit in seconds from now on; also cancelled when the client gives up.

    It is safe between threads.

    The call's thread and the front that waits for it agree here on one outcome: either the call is
    stopped before its commit begins, or the commit begins and the front waits for its answer.
    Otherwise a client could be told that nothing changed while its change is being written.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = self._stops_at = time.monotonic() + seconds
        self._committing = False
        self._lock = threading.Lock()

    def cancel(self) -> bool:
        """Stop the call at its next checkpoint.

        Return False once its commit has begun, because the call is then finished.
        """
        with self._lock:
            if not self._committing:
                self._stops_at = -math.inf
            return not self._committing

    def begin_commit(self) -> None:
        """Enter the commit phase: from now on nothing stops the call.

        Raises: OperationTimeout when the time is over.
        """
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
        """Return the seconds by which a committing call exceeds its limit.

        It is 0 for all other calls.
        """
        return max(time.monotonic() - self._end, 0.0) if self._committing else 0.0

    @property
    def late_note(self) -> str | None:
        """Return the sentence for the answer of a call that committed after its limit, else
        None."""
        if not self.overrun:
            return None
        return (
            f"This took {self.seconds + self.overrun:.1f} s, longer than the limit of "
            f"{self.seconds:g} s: the change had begun when the limit was reached, so it was "
            "finished. It is complete."
        )

    def error(self) -> OperationTimeout:
        return OperationTimeout(
            f"The operation took longer than {self.seconds:g} s and was stopped before it changed "
            "anything. Try again, with a narrower question or fewer notes if you can. Where a "
            "call needs longer each time, the user can raise the limit: OBSIDIAN_MCP_TIMEOUT, in "
            "seconds.",
            seconds=self.seconds,
        )


def throttle(report: ProgressReport, deadline: Deadline) -> ProgressReport:
    """Return `report` limited to growing values, one per REPORT_SECONDS, none after the deadline.

    The protocol wants values of progress that only grow (TOOL-10).
    """
    latest = 0.0
    highest = -1

    def limit(steps: int, total: int, activity: str) -> None:
        nonlocal latest, highest
        now = time.monotonic()
        if now - latest < REPORT_SECONDS or steps <= highest or deadline.passed:
            return
        latest, highest = now, steps
        report(steps, total, activity)

    return limit


class CallRecord(NamedTuple):
    """What the layers below a front know of a call.

    The defaults are those of a call by nobody, without limits.
    """

    limit: Deadline | None = None
    """When the call has to stop."""
    progress: ProgressReport | None = None
    """Shows progress to the client; None where it did not ask for it."""
    client: Client = UNNAMED
    """Whose call it is; the journal records it with every change (SAFE-20)."""
    key: str = ""
    """Name of the API key with which the call came; empty without one. The journal records it."""
    has_consent: bool = False
    """A person has agreed to the call's change (POL-04)."""
    hidden_text: Callable[[], str] = str
    """Returns the path of a note with hidden text that the client has read; empty where it has read
    none (POL-13)."""
    is_planning: bool = False
    """The call only plans its change: a commit raises `Planned` in place of writing."""
    made: list[Any] | None = None
    """Collects every change that the call has made (`Committed` of core/vault/changes.py)."""
    planned: list[Any] | None = None
    """Collects what a dry run would have changed (`Planned` of core/vault/planned_change.py)."""
    unchanged: list[Any] | None = None
    """Collects the operations that would write what is there already."""
    page_order: Any = None
    """The order of the lists of the answer (`PageOrder` of page_order.py); None for a call without
    pages."""
    wants_all: bool = False
    """A person reads the answer on the command line: nothing is cut or paged (CLI-10)."""


current_call: ContextVar[CallRecord] = ContextVar(
    "call",
    default=CallRecord(),  # noqa: B039 - named tuples do not change
)
"""The record of the current call."""


def set_call(**changes: Any) -> None:
    """Change fields of the record for the rest of this context, which is a call's own."""
    current_call.set(current_call.get()._replace(**changes))


@contextmanager
def call_with(**changes: Any) -> Iterator[None]:
    """Change fields of the record inside the block."""
    token = current_call.set(current_call.get()._replace(**changes))
    try:
        yield
    finally:
        current_call.reset(token)


def note_unchanged(operation: Any) -> None:
    """Note for the answer of the current call that a change leaves a file as it is."""
    unchanged = current_call.get().unchanged
    if unchanged is not None:
        unchanged.append(operation)


@contextmanager
def limit_call(seconds: float) -> Iterator[None]:
    """Give a call without a limit this one inside the block; a call with a limit keeps its own."""
    with call_with(limit=current_call.get().limit or Deadline(seconds)):
        yield


def checkpoint() -> None:
    """Check the limit. Long loops call this.

    Raises: OperationTimeout when the call's time is over before it commits.
    """
    limit = current_call.get().limit
    if limit is not None and limit.passed:
        raise limit.error()


SHARE_FOR_ANSWER = 0.4
"""Part of a call's time that is left for the answer when a look at many notes is ended early."""


def may_go_on() -> bool:
    """Return whether a look at many notes may go on, or is to end with what it has so far.

    A call that looks at everything and runs out of time would answer nothing. Its answer says what
    was left out (`left_out`).
    """
    limit = current_call.get().limit
    return limit is None or limit.remaining > limit.seconds * SHARE_FOR_ANSWER


def check_each(items: Iterable[T]) -> Iterator[T]:
    """Yield items, and check the limit of the call every so many of them.

    For loops over the lines, rows or words of a text, which take less time for one of them than a
    checkpoint does. The first few cost nothing, because most loops end with them. Raises:
    OperationTimeout.
    """
    remaining = iter(items)
    size = FIRST_UNCHECKED
    while some := list(islice(remaining, size)):
        yield from some
        checkpoint()
        size = min(2 * size, UNCHECKED)


def report_progress(steps: int, total: int, activity: str) -> None:
    """Report progress from a long loop; also a checkpoint.

    Raises: OperationTimeout when the call's time is over.
    """
    checkpoint()
    if (report := current_call.get().progress) is not None:
        report(steps, total, activity)
