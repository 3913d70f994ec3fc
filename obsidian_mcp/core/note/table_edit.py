"""Change one table by several operations (TABLE rules in specs/edits.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.errors import InvalidArguments

from .table import HEAD_LINES, OverlongRow, Row, Table, escape_pipes, number_of, show_cell
from .table_names import ColumnName, ColumnNames, RowName, RowNames
from .table_places import Places

Align = Literal["left", "center", "right", "none"]
_DELIMITERS: dict[str, str] = {
    "left": ":---",
    "center": ":---:",
    "right": "---:",
    "none": "---",
}


class _TableLine:
    """The cells of one line of the table while it changes."""

    __slots__ = ("cells", "surplus", "written")

    def __init__(self, written: Row, width: int) -> None:
        """`written` is the line as it was read, `width` the number of columns of the table."""
        self.written: Final = written
        self.cells: list[str | None] = [*written.cells[:width]]
        """By the number of the column less 1; None where the row is too short to have the cell."""
        self.surplus: Final = written.cells[width:]
        """Cells behind the last column, which no operation is about."""

    def put(self, column: int, cell: str) -> None:
        """Set the source of a cell. A row that is too short gets the cell."""
        self.cells += [None] * (column - len(self.cells))
        self.cells[column - 1] = cell

    def cell(self, column: int) -> str | None:
        """Return the source of a cell, if the row is long enough to have it."""
        return self.cells[column - 1] if column <= len(self.cells) else None

    def replace(self, column: int, value: str, *, to_right: bool = False) -> None:
        """Let a cell say `value`; one that says so already keeps its bytes (TABLE-2)."""
        source = self.cell(column) or " "
        if show_cell(source) != value.strip():
            self.put(column, _pad(source, value, to_right=to_right))

    def row(self, columns: Sequence[int], first_added: int) -> Row:
        """Return the line with these columns; those from `first_added` on are new."""
        sources = [self.cell(column) for column in columns]
        while sources and sources[-1] is None and not self.surplus:
            sources.pop()
        lead, tail = self.written.lead, self.written.tail
        cells = [" " if source is None else source for source in sources]
        if "|" not in tail and not self.surplus:
            _end_without_pipe(cells, columns, first_added)
        written = (*cells, *self.surplus)
        if len(written) < 2 and written != self.written.cells:
            # One cell is a line of a table only between pipes (TABLE-4).
            lead = lead if "|" in lead else f"{lead}|"
            tail = tail if "|" in tail else f"|{tail}"
        return Row(lead, written, tail, self.written.prefix)


def _end_without_pipe(cells: list[str], columns: Sequence[int], first_added: int) -> None:
    """Let a line that ends without a pipe do so where new columns are its last ones.

    The cell that was last ended where the line did: a blank parts it from the pipe behind it.
    """
    added = 0
    while added < len(cells) and columns[len(cells) - 1 - added] >= first_added:
        added += 1
    if added:
        cells[-1] = cells[-1].rstrip()
        if added < len(cells):
            cells[-1 - added] = f"{cells[-1 - added].rstrip()} "


class TableEdit:
    """A table, and what the operations of one call have made of it so far.

    The operations name rows and columns of the table as it was read; see `table_names`. A loop
    over rows asks the limit of the call, and none is made for one cell or row (SAFE-17).
    """

    def __init__(self, table: Table, line: int = 1) -> None:
        """`line` is that of the table in its note, from 1, for messages."""
        width = len(table.columns)
        self._columns = Places(width)
        self._rows = Places(len(table.rows))
        self._column_names = ColumnNames(table.columns, self._columns)
        self._row_names = RowNames(
            [row.align_cells(width) for row in check_each(table.rows)],
            self._column_names,
            self._rows,
        )
        self._header = _TableLine(table.header, width)
        self._delimiters = _TableLine(table.delimiters, width)
        self._as_read = table
        self._line_of_table = line
        self._changed: dict[int, _TableLine] = {}
        """The rows that an operation has added or changed, by number."""

    @property
    def table(self) -> Table:
        """The table as it is now."""
        columns, first_added = self._columns.order(), self._columns.count + 1
        keeps_columns = columns == list(range(1, first_added))

        def row(number: int) -> Row:
            if keeps_columns and number not in self._changed:
                return self._as_read.rows[number - 1]
            return self._line(number).row(columns, first_added)

        header = self._header.row(columns, first_added)
        delimiters = self._delimiters.row(columns, first_added)
        return Table(header, delimiters, tuple(row(n) for n in check_each(self._rows.order())))

    def _line(self, number: int) -> _TableLine:
        """Return a row that an operation is to change, or did."""
        if number not in self._changed:
            row = self._as_read.rows[number - 1]
            self._changed[number] = _TableLine(row, self._columns.count)
        return self._changed[number]

    def _cell(self, row: int, column: int) -> str:
        """Return what a cell says now."""
        if row in self._changed:
            return show_cell(self._changed[row].cell(column) or "")
        return self._as_read.rows[row - 1].align_cells(self._columns.count).cell(column - 1)

    def _check_row(self, number: int) -> None:
        """Refuse to change cells of a row that has more than there are columns (TABLE-9).

        Raises: InvalidArguments.
        """
        if number > len(self._as_read.rows):
            return
        row, width = self._as_read.rows[number - 1], self._columns.count
        if row.is_overlong(width):
            overlong = OverlongRow(self._line_of_table + HEAD_LINES + number - 1, row, width)
            message = f"{overlong.describe()} Correct it first, with obsidian_edit_note."
            raise InvalidArguments(message, line=overlong.line)

    def _check_rows(self) -> None:
        """Refuse to change the columns of rows that do not have these (TABLE-9).

        Raises: InvalidArguments.
        """
        for number in check_each(self._rows.order()):
            self._check_row(number)

    def set_cell(self, row: RowName, column: ColumnName, value: str) -> None:
        """Let a cell say something else.

        Raises: InvalidArguments, AmbiguousName.
        """
        number = self._row_names.find(row)
        self._check_row(number)
        line = self._line(number)
        column_number = self._column_names.find(column)
        delimiter = (self._delimiters.cell(column_number) or "").strip()
        to_right = delimiter.endswith(":") and not delimiter.startswith(":")
        line.replace(column_number, value, to_right=to_right)

    def add_row(self, values: Sequence[str] | Mapping[str, str], at: int | None = None) -> None:
        """Put a row before the place `at`, or last.

        Raises: InvalidArguments.

        `values` are by header, or in the order of the columns.
        """
        texts = self._values_by_column(values)
        header, prefix = self._header.written, self._delimiters.written.prefix
        line = _TableLine(Row(header.lead, (), header.tail, prefix), 0)
        for column in self._columns.order():
            blank = " " * len(self._header.cell(column) or "")
            line.put(column, _pad(blank, texts.get(column, "")))
        self._changed[self._rows.add(at)] = line

    def _values_by_column(self, values: Sequence[str] | Mapping[str, str]) -> dict[int, str]:
        """Return values by the number of their column.

        Raises: InvalidArguments.

        The order of the columns is that of the table as it was read; those that were added by the
        same call come last.
        """
        if isinstance(values, Mapping):
            return {self._column_names.find(name): value for name, value in values.items()}
        texts = dict(enumerate(values, 1))
        for number in texts:
            if not self._columns.has(number):
                message = f"The table has no column {number} for {values[number - 1]!r}. Name the "
                message += "values by the headers of their columns."
                raise InvalidArguments(message, argument="values")
        return texts

    def remove_row(self, row: RowName) -> None:
        """Take out a row.

        Raises: InvalidArguments, AmbiguousName.
        """
        self._rows.remove(self._row_names.find(row))

    def move_row(self, row: RowName, at: int) -> None:
        """Let a row take the place `at`.

        Raises: InvalidArguments, AmbiguousName.
        """
        self._rows.move(self._row_names.find(row), at)

    def sort(self, column: ColumnName, *, descending: bool = False) -> None:
        """Order the rows by a column.

        Raises: InvalidArguments.

        Numbers come by size, before text in any case; empty cells are last (TABLE-5).
        """
        column_number = self._column_names.find(column)
        numbers = self._rows.order()
        texts = {number: self._cell(number, column_number) for number in check_each(numbers)}

        def key(number: int) -> tuple[int, float, str]:
            value = number_of(texts[number])
            return (0, value, "") if value is not None else (1, 0.0, texts[number].casefold())

        keys = {number: key(number) for number in check_each(numbers) if texts[number]}
        filled = sorted(keys, key=keys.__getitem__, reverse=descending)
        self._rows.arrange([*filled, *(number for number in numbers if not texts[number])])

    def add_column(
        self,
        name: str,
        value: str = "",
        at: int | None = None,
        align: Align = "none",
    ) -> None:
        """Put a column before the place `at`, or last.

        Raises: InvalidArguments.
        """
        self._check_rows()
        column = self._columns.add(at)
        self._column_names.set_new(column, name.strip())
        blank = " " * (len(name) + 2)

        def put(line: _TableLine, text: str) -> None:
            line.put(column, f" {_escape(text)} " if text else blank)

        put(self._header, name)
        put(self._delimiters, _DELIMITERS[align])
        for number in check_each(self._rows.order()):
            put(self._line(number), value)

    def remove_column(self, column: ColumnName) -> None:
        """Take out a column, but for the last one.

        Raises: InvalidArguments.
        """
        number = self._column_names.find(column)
        if self._columns.size == 1:
            message = "The last column of a table cannot be removed."
            raise InvalidArguments(message, argument="column")
        self._check_rows()
        self._columns.remove(number)

    def move_column(self, column: ColumnName, at: int) -> None:
        """Let a column take the place `at`.

        Raises: InvalidArguments.
        """
        number = self._column_names.find(column)
        self._check_rows()
        self._columns.move(number, at)

    def rename_column(self, column: ColumnName, to: str) -> None:
        """Let a column have another header.

        Raises: InvalidArguments.
        """
        number = self._column_names.find(column)
        self._header.replace(number, to)
        self._column_names.set_new(number, to.strip())


def _escape(value: str) -> str:
    """Return a value as a cell can hold it: pipes escaped, lines parted by `<br>`."""
    return escape_pipes("<br>".join(value.strip().splitlines()))


def _pad(cell: str, value: str, *, to_right: bool = False) -> str:
    """Return a value with the blanks of the cell whose place it takes, as wide where it fits."""
    text = _escape(value)
    if not cell.strip():
        return f" {text} ".ljust(len(cell)) if text else cell
    left = cell[: len(cell) - len(cell.lstrip())]
    right = cell[len(cell.rstrip()) :]
    if text.endswith("\\") and not right:  # a backslash before the pipe would escape it
        right = " "
    if to_right:
        return f"{left[:1]}{text}{right}".rjust(len(cell))
    return f"{left}{text}{right[:1]}".ljust(len(cell))
