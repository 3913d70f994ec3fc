"""Find and read one table of a note, and write it back (TABLE rules in specs/edits.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise, repeat
from typing import NamedTuple

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import Lines, Span, split_lines, to_printable
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, TextNotFound

from . import sections
from .parser import Note, parse

TABLES_SHOWN = 20
"""Tables that a message lists."""
_NUMBER = re.compile(r"[-+]?[\d., '_]*\d(?:[.,]\d+)?\s*%?")


class Row(NamedTuple):
    """One line of a table in its parts, which joined again are the line.

    `lead` is the text before the first cell, `tail` that behind the last one; the cells are as
    they stand between the pipes.
    """

    lead: str
    cells: tuple[str, ...]
    tail: str

    def cell(self, index: int) -> str:
        """Return the text of a cell; empty where the row is too short for it."""
        return show_cell(self.cells[index]) if index < len(self.cells) else ""

    @property
    def line(self) -> str:
        """The cells with pipes between them.

        An empty cell at an end needs a pipe there, or the other cells would move.
        """
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
        return [show_cell(cell) for cell in self.header.cells]

    @property
    def lines(self) -> Iterator[str]:
        """The lines of the note that the table stands on, without their ends."""
        return (row.line for row in (self.header, self.delimiters, *self.rows))


class LocatedTable(NamedTuple):
    """A table and where it is in a note; `line` counts from 1."""

    table: Table
    span: Span
    line: int

    def has_line(self, line: int) -> bool:
        """Return whether a line of the note, from 1, is one of the table, its header too."""
        return self.line <= line < self.line + 2 + len(self.table.rows)

    def number_at(self, line: int) -> int:
        """Return the number of the row at a line of the note, from 1.

        Raises: InvalidArguments.
        """
        first, last = self.line + 2, self.line + 1 + len(self.table.rows)
        if not first <= line <= last:
            message = (
                f"Line {line} is no row of the table, whose rows are the lines {first} to {last}."
            )
            raise InvalidArguments(message, argument="line")
        return line - first + 1


def read_tables(parsed: Note) -> list[LocatedTable]:
    """Return the tables of a note that are no part of a quote or a list."""
    lines = Lines(parsed.body)
    tables = []
    for section in parsed.sections:
        if section.kind == "table":
            lines_of_table = check_each(split_lines(section.span.slice(parsed.body)))
            rows = [read_row(line.rstrip("\r\n")) for line in lines_of_table]
            table = Table(rows[0], rows[1], tuple(rows[2:]))
            first_line = lines.line(section.span.start) + 1
            tables.append(LocatedTable(table, section.span, first_line))
    return tables


def locate(body: str, number: int = 0, section: str = "", line: int = 0) -> LocatedTable:
    """Return the only table, or the table of a number from 1, or the table at a line of the note.

    The number counts in the note, or in a `section`.
    Raises: TextNotFound, AmbiguousName with the tables there are, SectionNotFound.
    """
    parsed = parse(body)
    tables = read_tables(parsed)
    if section:
        within = sections.find(parsed, section).span
        tables = [table for table in tables if within.start <= table.span.start < within.end]
    place = f" below {section!r}" if section else ""
    if not tables:
        message = f"The note has no table{place}. Tables inside quotes and lists are not edited."
        raise TextNotFound(message)
    if line and not number:
        tables = [table for table in tables if table.has_line(line)] or tables
    if number == 0 and len(tables) > 1:
        raise AmbiguousName(_describe_choice(tables, place))
    if number > len(tables):
        raise TextNotFound(f"The note has {len(tables)} tables{place}, and no table {number}.")
    return tables[max(number, 1) - 1]


def _describe_choice(tables: Sequence[LocatedTable], place: str) -> str:
    choices = name_first(
        list(enumerate(tables, 1)),
        TABLES_SHOWN,
        "; ",
        lambda numbered: (
            f"{numbered[0]}: line {numbered[1].line}, {' | '.join(numbered[1].table.columns)}"
        ),
    )
    return f"The note has {len(tables)} tables{place}. Give the number of one: {choices}."


def write_table(body: str, located: LocatedTable, table: Table) -> str:
    """Return the note with its table replaced; line ends stay."""
    newline = "\r\n" if "\r\n" in body else "\n"
    old_lines = split_lines(located.span.slice(body))
    ends = (line[len(line.rstrip("\r\n")) :] for line in old_lines)
    lines = zip(check_each(table.lines), chain(ends, repeat("")), strict=False)
    text = "".join(line + (end or newline) for line, end in lines)
    return body[: located.span.start] + text.rstrip("\r\n") + body[located.span.end :]


def read_row(line: str) -> Row:
    """Return a line of a table in its parts; joined again they are the line."""
    start = len(line) - len(line.lstrip())
    start += line.startswith("|", start)
    bars = [mark.start() for mark in re.finditer(r"\\.|\|", line[start:]) if mark[0] == "|"]
    end = len(line)
    tail = ""
    if bars and not line[start + bars[-1] + 1 :].strip():
        end = start + bars.pop()
        tail = line[end:]
    edges = [start - 1, *(start + bar for bar in bars), end]
    cells = tuple(line[first + 1 : last] for first, last in pairwise(edges))
    return Row(line[:start], cells, tail)


def show_cell(cell: str) -> str:
    """Return the text of a cell without the blanks around it and with its pipes plain."""
    return to_printable(cell).strip().replace("\\|", "|")


def number_of(text: str) -> float | None:
    """Return the number in a cell, without marks of thousands and per cent; None for other text."""
    if not _NUMBER.fullmatch(text):
        return None
    plain = re.sub(r"[ '_%]", "", text)
    if re.search(r",\d{1,2}$", plain):
        plain = plain.replace(".", "").replace(",", ".")
    try:
        return float(plain.replace(",", ""))
    except ValueError:
        return None
