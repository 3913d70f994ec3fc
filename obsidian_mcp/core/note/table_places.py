"""The order of the rows, or of the columns, of a table while several operations change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from obsidian_mcp.errors import InvalidArguments

_BEFORE, _AT, _BEHIND = range(3)
"""The sides of a place of the table as it was read."""


def check_number(number: int, highest: int, argument: str) -> int:
    """Return a number that is from 1 to `highest`.

    Raises: InvalidArguments.
    """
    if not 1 <= number <= highest:
        message = f"{argument} must be from 1 to {highest}, not {number}."
        raise InvalidArguments(message, argument=argument)
    return number


class Places:
    """Rows or columns by number, each with its place.

    Those of the table as it was read have the numbers from 1, and keep them whatever is added,
    moved or removed; what is added gets the next number. A place is numbered as the table was
    read, too: where a row was removed, its place stays, and what is added at 3 stands before the
    row that was the third one (TABLE-8). What comes to the same place stands there in the order of
    the operations. All methods but `order` and `arrange` take the same time for a table of any
    length.
    """

    def __init__(self, count: int) -> None:
        self.count: Final = count
        """How many the table had when it was read."""
        self._highest = count
        self._steps = 0
        self._places = {number: (number, _AT, 0) for number in range(1, count + 1)}

    @property
    def size(self) -> int:
        """How many are in the table now."""
        return len(self._places)

    def has(self, number: int) -> bool:
        """Return whether this number is in the table now."""
        return number in self._places

    def order(self) -> list[int]:
        """Return the numbers in their present order."""
        return sorted(self._places, key=self._places.__getitem__)

    def add(self, at: int | None = None) -> int:
        """Add one before the place `at` or last, and return its number.

        Raises: InvalidArguments.
        """
        place = self.count + 1
        if at is not None:
            place = check_number(at, self.count + 1, "at")
        self._highest += 1
        self._put(self._highest, place, _BEFORE)
        return self._highest

    def move(self, number: int, at: int) -> None:
        """Let one that is there take the place `at`.

        Raises: InvalidArguments.

        It passes the one whose place that is: from above it comes behind that, from below before
        it. One that has come to this place already stays.
        """
        place = check_number(at, self.count, "at")
        present = self._places[number]
        if present[0] != place:
            self._put(number, place, _BEHIND if present < (place, _AT, 0) else _BEFORE)

    def remove(self, number: int) -> None:
        """Take out one that is there; its place stays."""
        del self._places[number]

    def arrange(self, numbers: Sequence[int]) -> None:
        """Share out the places that are in use among the same numbers in another order."""
        self._places = dict(zip(numbers, sorted(self._places.values()), strict=True))

    def _put(self, number: int, place: int, side: int) -> None:
        self._steps += 1
        self._places[number] = (place, side, self._steps)
