"""Where files and folders are before and after moves that are made one after the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from .operation import Move


class Moves:
    """Moves of files and folders in their order.

    A path is looked up by its folders, not in every move: a change may move thousands of files, and
    asks for each.
    """

    def __init__(self, moves: Iterable[Move] = ()) -> None:
        self._moves: list[Move] = []
        self._by_source: dict[str, list[int]] = {}
        self._by_target: dict[str, list[int]] = {}
        for move in moves:
            self.append(move)

    def __iter__(self) -> Iterator[Move]:
        return iter(self._moves)

    def __len__(self) -> int:
        return len(self._moves)

    def append(self, move: Move) -> None:
        """Add a move that is made after the others."""
        number = len(self._moves)
        self._moves.append(move)
        self._by_source.setdefault(move.disk, []).append(number)
        self._by_target.setdefault(move.target, []).append(number)

    def place_after(self, disk: str, first: int = 0) -> str:
        """Return where a file or folder is after the moves from number `first` on."""
        while True:
            numbers = [
                _next_number(self._by_source.get(place, ()), first) for place in _with_folders(disk)
            ]
            number = min((number for number in numbers if number is not None), default=None)
            if number is None:
                return disk
            move, first = self._moves[number], number + 1
            disk = move.target + disk[len(move.disk) :]

    def place_before(self, disk: str) -> str | None:
        """Return where a file or folder was before the moves.

        None for a place that they have emptied.
        """
        end = len(self._moves)
        while True:
            places = list(_with_folders(disk))
            arrived = max(
                (_last_number(self._by_target.get(place, ()), end) for place in places), default=-1
            )
            departed = max(
                (_last_number(self._by_source.get(place, ()), end) for place in places), default=-1
            )
            if departed > arrived:
                return None
            if arrived < 0:
                return disk
            move, end = self._moves[arrived], arrived
            disk = move.disk + disk[len(move.target) :]


def _with_folders(disk: str) -> Iterator[str]:
    """Yield a path and the folders above it."""
    place = disk
    while place:
        yield place
        place = place.rpartition("/")[0]


def _next_number(numbers: Sequence[int], first: int) -> int | None:
    """Return the first number that is not below `first`."""
    at = bisect_left(numbers, first)
    return numbers[at] if at < len(numbers) else None


def _last_number(numbers: Sequence[int], end: int) -> int:
    """Return the last number below `end`, -1 where there is none."""
    at = bisect_left(numbers, end)
    return numbers[at - 1] if at else -1
