"""What searches have found out about one state of the index, kept for the next ones (specs/search.md)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sized
from typing import Any, TypeVar, cast

T = TypeVar("T", bound=Sized)

SMALL = 50
"""What everything counts at least that is kept."""


class Remembered:
    """Values by what they answer, the ones used last. May be used from any thread; values must not be changed."""

    def __init__(self, room: int) -> None:
        """`room` is how much the values may count together, each by its length."""
        self._room = room
        self._lock = threading.Lock()
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._counted = 0

    def known(self, key: Hashable) -> Any:
        """What is kept for a key, or None."""
        with self._lock:
            return self._values.get(key)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What is kept for a key, or else what `make` gives. One key has one type of value."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return cast("T", self._values[key])
        made = make()
        with self._lock:
            if key not in self._values:
                self._values[key] = made
                self._counted += SMALL + len(made)
            while self._counted > self._room:
                self._counted -= SMALL + len(self._values.popitem(last=False)[1])
        return made
