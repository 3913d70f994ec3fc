"""Who is told when something has happened, such as a change that was made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from obsidian_mcp import logger

T = TypeVar("T")


class Observers(Generic[T]):
    """Functions that are called, in the order in which they were added, with what has happened.

    They only look on: an error of one is logged and keeps nobody else from being called. What they
    observe has happened already, so there is nothing that an error could take back.
    """

    def __init__(self) -> None:
        self._observers: list[Callable[[T], object]] = []

    def add(self, observer: Callable[[T], object]) -> None:
        """Call this function from now on."""
        self._observers.append(observer)

    def notify(self, event: T) -> None:
        """Call every function."""
        for observer in self._observers:
            try:
                observer(event)
            except Exception:  # noqa: BLE001  whatever it is, the change is made
                logger(__name__).exception("an observer failed")
