"""The progress of the current call, for clients that requested it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from . import deadline

Report = Callable[[int, int, str], None]
"""Receives the number of steps done, their total, and the current activity. Called often; the front limits the rate."""

current: ContextVar[Report | None] = ContextVar("progress", default=None)


def report(done: int, total: int, activity: str) -> None:
    """Report progress from a long loop; also a checkpoint. Raises: OperationTimeout when the call's time is over."""
    deadline.checkpoint()
    receive = current.get()
    if receive is not None:
        receive(done, total, activity)
