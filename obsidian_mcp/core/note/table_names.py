"""What the operations of one call mean by the names of rows and columns (TABLE-7, TABLE-8).

A number of a row, its cells, and the number of a column name what had them when the table was
read, before the first operation: a client has seen no other table, and a row that is removed would
otherwise let the next operation hit the row below the one that was named. A header names a column
as read, too, and where none has it one that an operation before has added or renamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.typed_text import typed_key
from obsidian_mcp.errors import AmbiguousName, InvalidArguments

from .table import Row
from .table_places import Places, check_number

RowName = int | str | Mapping[str, str]
"""A row by its number from 1 below the header, by the text of its first cell, or by some of its
cells by header."""
ColumnName = int | str
"""A column by its number from 1, or by its header."""

CHOICES_SHOWN = 10
_LONGEST_NUMBER = 9
"""Digits; no table has more rows or columns."""


def _number_in(text: str) -> int | None:
    """Return the number that a text says; it names a row or column where no cell has the text."""
    is_number = text.isdecimal() and len(text) <= _LONGEST_NUMBER
    return int(text) if is_number else None


def _check_is_there(places: Places, number: int, noun: str) -> int:
    """Return a number that is in the table now.

    Raises: InvalidArguments.
    """
    if not places.has(number):
        message = f"The {noun} of number {number} was removed by an operation before this one."
        raise InvalidArguments(message, argument=noun)
    return number


def _require_one(numbers: Sequence[int], name: str) -> int:
    """Return the number of the one column of a name.

    Raises: AmbiguousName with the numbers of several.
    """
    if len(numbers) == 1:
        return numbers[0]
    called = "have no name" if not name.strip() else f"are called {name.strip()!r}"
    listed = ", ".join(map(str, numbers[:CHOICES_SHOWN]))
    raise AmbiguousName(
        f"{len(numbers)} columns {called}: {listed}. Give the number of the one you mean.",
        columns=list(numbers[:CHOICES_SHOWN]),
    )


class ColumnNames:
    """The numbers of columns by their headers.

    A header in other case counts where no header has the very letters. A name that several headers
    have is refused with their numbers.
    """

    def __init__(self, headers: Sequence[str], places: Places) -> None:
        """`headers` are those of the table as it was read."""
        self._headers = headers
        self._places = places
        self._exact: dict[str, list[int]] = {}
        self._folded: dict[str, list[int]] = {}
        for number, header in enumerate(headers, 1):
            self._exact.setdefault(header, []).append(number)
            self._folded.setdefault(typed_key(header), []).append(number)
        self._new_headers: dict[int, str] = {}

    def set_new(self, number: int, header: str) -> None:
        """Note the header of a column that an operation adds or renames."""
        self._new_headers[number] = header

    def find(self, name: ColumnName) -> int:
        """Return the number of a column that is in the table now.

        Raises: InvalidArguments, AmbiguousName.
        """
        if isinstance(name, str):
            text = name.strip()
            present = [n for n in self._exact.get(text, ()) if self._places.has(n)]
            number = _require_one(present, name) if present else self._find_new(text)
            if number is not None:
                return number
        return _check_is_there(self._places, self.find_as_read(name), "column")

    def find_as_read(self, name: ColumnName) -> int:
        """Return the number of a column of the table as it was read.

        Raises: InvalidArguments, AmbiguousName.
        """
        number: int | None
        if isinstance(name, str):
            text = name.strip()
            equal = self._exact.get(text) or self._folded.get(typed_key(text))
            number = _require_one(equal, name) if equal else _number_in(text)
        else:
            number = name
        if number is None:
            headers = ", ".join(map(repr, self._headers))
            message = f"The table has no column {name!r}. Its columns are {headers}."
            raise InvalidArguments(message, argument="column")
        return check_number(number, len(self._headers), "column")

    def _find_new(self, text: str) -> int | None:
        """Return the number of a column that was added or renamed, unless one as read is nearer."""
        new = [(n, header) for n, header in self._new_headers.items() if self._places.has(n)]
        exact = next((number for number, header in new if header == text), None)
        folded = typed_key(text)
        if exact is not None or folded in self._folded:
            return exact
        return next((number for number, header in new if typed_key(header) == folded), None)


class RowNames:
    """The numbers of rows by their cells."""

    def __init__(self, rows: Sequence[Row], columns: ColumnNames, places: Places) -> None:
        """`rows` are those of the table as it was read."""
        self._rows = rows
        self._columns = columns
        self._places = places
        self._by_cell: dict[int, dict[str, list[int]]] = {}

    def find(self, name: RowName) -> int:
        """Return the number of a row.

        Raises: InvalidArguments, AmbiguousName.
        """
        number = name if isinstance(name, int) else self._find_by_cells(name)
        number = check_number(number, len(self._rows), "row")
        return _check_is_there(self._places, number, "row")

    def _find_by_cells(self, name: str | Mapping[str, str]) -> int:
        cells: Mapping[str, str] | dict[int, str] = {1: name} if isinstance(name, str) else name
        texts = {self._columns.find_as_read(column): text for column, text in cells.items()}
        numbers = self._with_cells(texts)
        says = f"begin with {name!r}" if isinstance(name, str) else f"have {dict(name)}"
        if len(numbers) > 1:
            choices = name_first(numbers, CHOICES_SHOWN)
            message = f"{len(numbers)} rows {says}: {choices}. Give the number of the one you mean."
            raise AmbiguousName(message)
        if numbers:
            return numbers[0]
        if isinstance(name, str) and (number := _number_in(name.strip())) is not None:
            return number
        first_cells = name_first(self._rows, CHOICES_SHOWN, write=lambda row: repr(row.cell(0)))
        message = f"No rows of the table {says}. Rows begin with {first_cells}."
        raise InvalidArguments(message, argument="row")

    def _with_cells(self, texts: Mapping[int, str]) -> list[int]:
        """Return the numbers of the rows whose columns have these texts, in any case.

        Where none has the very letters, they are those that look as they are typed (NAME-18).
        """
        numbers: Iterable[int] = range(1, len(self._rows) + 1)
        for column, text in texts.items():
            alike = self._numbers_by_cell(column).get(typed_key(text), [])
            equal = [number for number in alike if self._has_cell(number, column, text)] or alike
            numbers = equal if isinstance(numbers, range) else sorted({*numbers} & {*equal})
        return [*numbers]

    def _has_cell(self, number: int, column: int, text: str) -> bool:
        """Return whether a row has this very text in a column, in any case."""
        return self._rows[number - 1].cell(column - 1).casefold() == text.strip().casefold()

    def _numbers_by_cell(self, column: int) -> dict[str, list[int]]:
        """Return the rows by what they have in a column, noted once for all operations."""
        if column not in self._by_cell:
            by_cell: dict[str, list[int]] = {}
            for number, row in enumerate(check_each(self._rows), 1):
                by_cell.setdefault(typed_key(row.cell(column - 1)), []).append(number)
            self._by_cell[column] = by_cell
        return self._by_cell[column]
