"""Edit one table of a note: cells, rows and columns, every other cell byte for byte (TABLE rules in specs/edits.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, pairwise, repeat
from typing import Literal, NamedTuple

from obsidian_mcp.core.text.text import Lines, Span, printable, split_lines
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, TextNotFound

from . import sections
from .parser import Note, parse

Align = Literal["left", "center", "right", "none"]
RowName = int | str | Mapping[str, str]
"""A row by its number from 1 below the header, by the text of its first cell, or by some of its cells by header."""
ColumnName = int | str
"""A column by its number from 1, or by its header."""

SHOWN = 10
_DELIMITERS: dict[str, str] = {"left": ":---", "center": ":---:", "right": "---:", "none": "---"}
_NUMBER = re.compile(r"[-+]?[\d., '_]*\d(?:[.,]\d+)?\s*%?")


class Row(NamedTuple):
    """One line of a table: text before the first cell, the cells between the pipes as written, and the end."""

    lead: str
    cells: tuple[str, ...]
    tail: str

    def cell(self, index: int) -> str:
        """Return what a cell says; empty where the row is too short for it."""
        return shown(self.cells[index]) if index < len(self.cells) else ""

    @property
    def line(self) -> str:
        """The cells with pipes between them; an empty cell at an end needs one there too, or the others would move."""
        text = self.lead + "|".join(self.cells) + self.tail
        if len(self.cells) > 1:
            text = text if "|" in self.lead or self.cells[0].strip() else f"|{text}"
            text = text if "|" in self.tail or self.cells[-1].strip() else f"{text}|"
        return text


class Table(NamedTuple):
    """A table: header, delimiter row, and the rows below."""

    header: Row
    delimiters: Row
    rows: tuple[Row, ...]

    @property
    def columns(self) -> list[str]:
        return [shown(cell) for cell in self.header.cells]

    @property
    def lines(self) -> list[str]:
        return [self.header.line, self.delimiters.line, *(row.line for row in self.rows)]

    def set_cell(self, row: RowName, column: ColumnName, value: str) -> Table:
        at, index = self.row(row), self.column(column)
        delimiter = self.delimiters.cells[index].strip() if index < len(self.delimiters.cells) else ""
        to_right = delimiter.endswith(":") and not delimiter.startswith(":")
        made = _replace_cell(self.rows[at], index, value, to_right=to_right)
        return self._replace(rows=(*self.rows[:at], made, *self.rows[at + 1 :]))

    def add_row(self, values: Sequence[str] | dict[str, str], at: int | None = None) -> Table:
        """A row before the row of number `at`, or last. `values` are in the order of the columns, or by header."""
        texts = [""] * len(self.columns)
        for key, value in values.items() if isinstance(values, dict) else enumerate(values, 1):
            texts[self.column(key)] = value
        widths = [len(cell) for cell in self.header.cells]
        cells = tuple(_pad(" " * width, text) for width, text in zip(widths, texts, strict=True))
        made = Row(self.header.lead, cells, self.header.tail)
        place = len(self.rows) if at is None else _check_number(at, len(self.rows) + 1, "at") - 1
        return self._replace(rows=(*self.rows[:place], made, *self.rows[place:]))

    def remove_row(self, row: RowName) -> Table:
        at = self.row(row)
        return self._replace(rows=self.rows[:at] + self.rows[at + 1 :])

    def move_row(self, row: RowName, at: int) -> Table:
        number = self.row(row)
        rest = [*self.rows[:number], *self.rows[number + 1 :]]
        rest.insert(_check_number(at, len(self.rows), "at") - 1, self.rows[number])
        return self._replace(rows=tuple(rest))

    def sort(self, column: ColumnName, *, descending: bool = False) -> Table:
        """Rows by the values of a column: numbers by size, before text in any case; empty cells last."""
        index = self.column(column)

        def key(row: Row) -> tuple[int, float, str]:
            number = number_of(row.cell(index))
            return (0, number, "") if number is not None else (1, 0.0, row.cell(index).casefold())

        filled = sorted((row for row in self.rows if row.cell(index)), key=key, reverse=descending)
        return self._replace(rows=(*filled, *(row for row in self.rows if not row.cell(index))))

    def add_column(self, name: str, value: str = "", at: int | None = None, align: Align = "none") -> Table:
        place = len(self.columns) if at is None else _check_number(at, len(self.columns) + 1, "at") - 1

        def added(row: Row, text: str) -> Row:
            cells = [*row.cells, *[" "] * (place - len(row.cells))]
            spaced = f" {_escape(text)} " if text else " " * (len(name) + 2)
            if place == len(row.cells) and not row.tail.startswith("|"):
                spaced = spaced.rstrip()
                cells[-1] = f"{cells[-1].rstrip()} " if cells else ""
            cells.insert(place, spaced)
            return row._replace(cells=tuple(cells))

        rows = tuple(added(row, value) for row in self.rows)
        return Table(added(self.header, name), added(self.delimiters, _DELIMITERS[align]), rows)

    def remove_column(self, column: ColumnName) -> Table:
        index = self.column(column)
        if len(self.columns) == 1:
            raise InvalidArguments("The last column of a table cannot be removed.", argument="column")

        alone = len(self.columns) == 2

        def without(row: Row) -> Row:
            lead, tail = row.lead, row.tail
            if alone:  # only its outer pipes make lines of one cell a table
                lead, tail = lead if "|" in lead else f"{lead}|", tail if "|" in tail else f"|{tail}"
            return Row(lead, row.cells[:index] + row.cells[index + 1 :], tail)

        return Table(without(self.header), without(self.delimiters), tuple(map(without, self.rows)))

    def move_column(self, column: ColumnName, at: int) -> Table:
        index = self.column(column)
        place = _check_number(at, len(self.columns), "at") - 1

        def moved(row: Row) -> Row:
            cells = [*row.cells, *[" "] * (max(index, place) + 1 - len(row.cells))]
            cells.insert(place, cells.pop(index))
            return row._replace(cells=tuple(cells))

        return Table(moved(self.header), moved(self.delimiters), tuple(map(moved, self.rows)))

    def rename_column(self, column: ColumnName, to: str) -> Table:
        return self._replace(header=_replace_cell(self.header, self.column(column), to))

    def column(self, name: ColumnName) -> int:
        """The place of a column. Raises: InvalidArguments with the columns there are."""
        columns = self.columns
        if isinstance(name, int):
            return _check_number(name, len(columns), "column") - 1
        for wanted in (name.strip(), name.strip().casefold()):
            found = [at for at, column in enumerate(columns) if wanted in (column, column.casefold())]
            if found:
                return found[0]
        if name.strip().isdecimal():
            return _check_number(int(name), len(columns), "column") - 1
        raise InvalidArguments(
            f"The table has no column {name!r}. Its columns are {', '.join(map(repr, columns))}.", argument="column"
        )

    def row(self, name: RowName) -> int:
        """The place of a row. Raises: InvalidArguments, AmbiguousName."""
        if isinstance(name, int):
            return _check_number(name, len(self.rows), "row") - 1
        by_cells = name if isinstance(name, Mapping) else {1: name}
        wanted = {self.column(key): value.strip().casefold() for key, value in by_cells.items()}
        found = [
            at
            for at, row in enumerate(self.rows)
            if all(row.cell(index).casefold() == value for index, value in wanted.items())
        ]
        has = f"begin with {name!r}" if isinstance(name, str) else f"have {dict(name)}"
        if len(found) > 1:
            numbers = ", ".join(str(at + 1) for at in found[:SHOWN])
            raise AmbiguousName(f"{len(found)} rows {has}: {numbers}. Give the number of the one you mean.")
        if found:
            return found[0]
        if isinstance(name, str) and name.strip().isdecimal():
            return _check_number(int(name), len(self.rows), "row") - 1
        known = ", ".join(repr(row.cell(0)) for row in self.rows[:SHOWN])
        raise InvalidArguments(f"No rows of the table {has}. Rows begin with {known}.", argument="row")


class LocatedTable(NamedTuple):
    """A table and where it is in a note; `line` counts from 1."""

    table: Table
    span: Span
    line: int

    def number_at(self, line: int) -> int:
        """Return the number of the row at a line of the note, from 1. Raises: InvalidArguments."""
        first, last = self.line + 2, self.line + 1 + len(self.table.rows)
        if not first <= line <= last:
            raise InvalidArguments(
                f"Line {line} is no row of the table, whose rows are the lines {first} to {last}.", argument="line"
            )
        return line - first + 1


def read_tables(parsed: Note) -> list[LocatedTable]:
    """Return the tables of a note that are no part of a quote or a list."""
    lines = Lines(parsed.body)
    found = []
    for section in parsed.sections:
        if section.kind == "table":
            rows = [read_row(line.rstrip("\r\n")) for line in split_lines(section.span.slice(parsed.body))]
            table = Table(rows[0], rows[1], tuple(rows[2:]))
            found.append(LocatedTable(table, section.span, lines.line(section.span.start) + 1))
    return found


def locate(body: str, number: int = 0, section: str = "", line: int = 0) -> LocatedTable:
    """Return the only table, or that of a number from 1, in the note or a section, or that of a line. Raises:
    TextNotFound, AmbiguousName, SectionNotFound."""
    parsed = parse(body)
    found = read_tables(parsed)
    if section:
        within = sections.find(parsed, section).span
        found = [entry for entry in found if within.start <= entry.span.start < within.end]
    place = f" below {section!r}" if section else ""
    if not found:
        raise TextNotFound(f"The note has no table{place}. Tables inside quotes and lists are not edited.")
    if line and not number:
        found = [entry for entry in found if entry.line <= line < entry.line + len(entry.table.lines)] or found
    if number == 0 and len(found) > 1:
        known = "; ".join(
            f"{n}: line {entry.line}, {' | '.join(entry.table.columns)}" for n, entry in enumerate(found, 1)
        )
        raise AmbiguousName(f"The note has {len(found)} tables{place}. Give the number of the one you mean: {known}.")
    if number > len(found):
        raise TextNotFound(f"The note has {len(found)} tables{place}, and no table {number}.")
    return found[max(number, 1) - 1]


def written(body: str, located: LocatedTable, table: Table) -> str:
    """Return the note with its table replaced; line ends stay."""
    newline = "\r\n" if "\r\n" in body else "\n"
    ends = [line[len(line.rstrip("\r\n")) :] for line in split_lines(located.span.slice(body))]
    text = "".join(line + (end or newline) for line, end in zip(table.lines, chain(ends, repeat("")), strict=False))
    return body[: located.span.start] + text.rstrip("\r\n") + body[located.span.end :]


def read_row(line: str) -> Row:
    """Return a line of a table in its parts; joined again they are the line."""
    start = len(line) - len(line.lstrip())
    start += line.startswith("|", start)
    bars = [found.start() for found in re.finditer(r"\\.|\|", line[start:]) if found[0] == "|"]
    end = len(line)
    tail = ""
    if bars and not line[start + bars[-1] + 1 :].strip():
        end = start + bars.pop()
        tail = line[end:]
    edges = [start - 1, *(start + bar for bar in bars), end]
    cells = tuple(line[first + 1 : last] for first, last in pairwise(edges))
    return Row(line[:start], cells, tail)


def shown(cell: str) -> str:
    """Return what a cell says, without the blanks around it and with its pipes plain."""
    return printable(cell).strip().replace("\\|", "|")


def _escape(value: str) -> str:
    """A value as a cell can hold it: pipes escaped, lines parted by `<br>`."""
    value = "<br>".join(value.strip().splitlines())
    return re.sub(r"(\\.)|\|", lambda found: found[1] or "\\|", value)


def _replace_cell(row: Row, index: int, value: str, *, to_right: bool = False) -> Row:
    cells = [*row.cells, *[" "] * (index + 1 - len(row.cells))]
    if shown(cells[index]) != value.strip():
        cells[index] = _pad(cells[index], value, to_right=to_right)
    return row._replace(cells=tuple(cells))


def _pad(cell: str, value: str, *, to_right: bool = False) -> str:
    """A value with the blanks of the cell it takes the place of, as wide as that one where it fits."""
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


def _check_number(number: int, most: int, argument: str) -> int:
    if not 1 <= number <= most:
        raise InvalidArguments(f"{argument} must be from 1 to {most}, not {number}.", argument=argument)
    return number


def number_of(text: str) -> float | None:
    """Return the number that a cell says, with marks of thousands and per cent left out; None for other texts."""
    if not _NUMBER.fullmatch(text):
        return None
    plain = re.sub(r"[ '_%]", "", text)
    if re.search(r",\d{1,2}$", plain):
        plain = plain.replace(".", "").replace(",", ".")
    try:
        return float(plain.replace(",", ""))
    except ValueError:
        return None
