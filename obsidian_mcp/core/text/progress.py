"""How far the call that runs now has come, for whoever asked to be told."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from . import deadline

Report = Callable[[int, int, str], None]
"""Told how much is done, of how much, and what is being done. May be called often: the front thins it out."""

current: ContextVar[Report | None] = ContextVar("progress", default=None)


def report(done: int, total: int, what: str) -> None:
    """Call in long loops; it is a checkpoint too. Raises: OperationTimeout when the call's time is over."""
    deadline.checkpoint()
    told = current.get()
    if told is not None:
        told(done, total, what)
