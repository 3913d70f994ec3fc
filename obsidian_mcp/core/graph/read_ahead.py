"""Which files are read from the index together, when a query asks for one after the other
(EXPR-42)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")

LONGEST_RUN: Final = 2_000
"""Files that are read at once where they are asked for in order."""
SINGLE_FILES: Final = 300
"""Files that are asked for in no order and read one by one; then all that are left are read."""


class FileOrder:
    """The files that a query is going to ask for, in the order in which it does."""

    def __init__(self, files: Sequence[str] = ()) -> None:
        self.files = files

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each file stands among them."""
        return {path: place for place, path in enumerate(self.files)}


class IndexColumn(Generic[T]):
    """What the index has of one kind, by path, as far as it was asked for.

    Files that are asked for in their order are read in runs that double: little for a query that
    ends soon, such as one for a page of rows, and few statements for one that goes through all.
    """

    def __init__(
        self,
        read: Callable[[Any], Iterable[tuple[Any, T]]],
        find_numbers: Callable[[Sequence[str]], Mapping[str, int]] | None = None,
        numbers: dict[str, int] | None = None,
    ) -> None:
        """`read` returns path and cell of some files, those of one file in their order.

        With `find_numbers`, which returns the numbers of files, `read` takes and returns these;
        columns share the `numbers` that were found.
        """
        self._read = read
        self._find_numbers = find_numbers
        self._numbers: dict[str, int] = {} if numbers is None else numbers
        self._cells: dict[str, list[T]] = {}
        self._length = 1
        self._next = 0
        """Where in the order the last run ended."""
        self._single_count = 0

    def cells(self, path: str, order: FileOrder) -> Sequence[T]:
        """Return the cells of one file."""
        own_cells = self._cells.get(path)
        if own_cells is not None:
            return own_cells
        files = self._files_with(path, order)
        cells: dict[Any, list[T]] = {file: [] for file in files}
        self._cells.update(cells)
        if self._find_numbers is not None:
            unnumbered = [file for file in files if file not in self._numbers]
            self._numbers.update(self._find_numbers(unnumbered) if unnumbered else ())
            cells = {self._numbers[file]: cells[file] for file in files if file in self._numbers}
        for file, cell in self._read(cells.keys()):
            cells[file].append(cell)
        return self._cells[path]

    def _files_with(self, path: str, order: FileOrder) -> Sequence[str]:
        """Return the files to be read with one that was not read yet, itself among them."""
        place = order.places.get(path)
        if place is None:
            return [path]
        if place == self._next:
            files = order.files[place : place + self._length]
            self._next = place + self._length
            self._length = min(2 * self._length, LONGEST_RUN)
        else:
            self._single_count += 1
            self._length, self._next = 1, place + 1
            files = [path] if self._single_count <= SINGLE_FILES else order.files
        return [file for file in files if file not in self._cells]
