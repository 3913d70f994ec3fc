"""Find and read one table of a note, and write it back (TABLE rules in specs/edits.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise, repeat
from typing import NamedTuple

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.fit import cut_text, name_first
from obsidian_mcp.core.text.text import Span, split_lines, to_printable
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, NotText, TextNotFound

from . import sections
from .elements import Region
from .inline import read_inlines
from .parser import Note, parse

TABLES_SHOWN = 20
"""Tables that a message lists."""
HEAD_LINES = 2
"""Lines of a table before its first row: the names of its columns, and the line below them."""
OVERLONG_ROWS_SHOWN = 5
CHARACTERS_SHOWN = 80
"""Characters of a row in a message."""
_DELIMITERS = re.compile(r"[ \t>]*+\|?+(?:[ \t]*+:?-++:?[ \t]*+\|)++(?:[ \t]*+:?-++:?)?[ \t\r]*+")
_NUMBER = re.compile(r"[-+]?[\d., '_]*\d(?:[.,]\d+)?\s*%?")


class Row(NamedTuple):
    """One line of a table in its parts, which joined again are the line.

    `lead` is the text before the first cell, `tail` that behind the last one; the cells are as
    they stand between the pipes. `prefix` is the mark or indent of the quote, list item or
    footnote that the line is in.
    """

    lead: str
    cells: tuple[str, ...]
    tail: str
    prefix: str = ""

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
        return self.prefix + text

    def align_cells(self, width: int) -> Row:
        """Return the row with its cells below their columns, of which there are `width`.

        Where it has more cells, a pipe of a link, code or math may be taken for the end of a cell:
        if these pipes are all that is too much, they are escaped (TABLE-9).
        """
        if len(self.cells) <= width:
            return self
        text = self.line[len(self.prefix) :]
        parts, copied_to = [], 0
        for span in _whole_parts(text):
            parts += [text[copied_to : span.start], escape_pipes(span.slice(text))]
            copied_to = span.end
        row = read_row("".join([*parts, text[copied_to:]]), self.prefix)
        return row if len(row.cells) == width else self

    def is_overlong(self, width: int) -> bool:
        """Return whether cells are behind the last column, or below a wrong one (TABLE-9).

        Empty cells at the end of a row are no text that could be lost.
        """
        if len(self.cells) <= width:
            return False
        return any(cell.strip() for cell in self.cells[width:]) or self.align_cells(width) != self


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


class OverlongRow(NamedTuple):
    """A row with more cells than its table has columns; `line` counts from 1."""

    line: int
    row: Row
    width: int
    """Columns of the table."""

    def describe(self) -> str:
        """Return what is wrong with the row, and how it is written right if that can be told."""
        aligned = self.row.align_cells(self.width)
        columns = "1 column" if self.width == 1 else f"{self.width} columns"
        text = cut_text(to_printable(self.row.line), CHARACTERS_SHOWN)
        advice = "Escape a pipe that is text as \\|, or take out what is too much."
        if aligned != self.row:
            written = cut_text(to_printable(aligned.line), CHARACTERS_SHOWN)
            advice = f"A pipe in a link, code or math is written \\|: {written}."
        return (
            f"Line {self.line} has {len(self.row.cells)} cells, but its table has {columns}: "
            f"{text}. {advice}"
        )


class LocatedTable(NamedTuple):
    """A table and where it is in a note; `line` counts from 1."""

    table: Table
    span: Span
    line: int

    def has_line(self, line: int) -> bool:
        """Return whether a line of the note, from 1, is one of the table, its header too."""
        return self.line <= line < self.line + HEAD_LINES + len(self.table.rows)

    @property
    def overlong_rows(self) -> list[OverlongRow]:
        """Return the rows with more cells than there are columns (TABLE-9)."""
        width = len(self.table.header.cells)
        return [
            OverlongRow(self.line + HEAD_LINES + number, row, width)
            for number, row in enumerate(check_each(self.table.rows))
            if row.is_overlong(width)
        ]

    def number_at(self, line: int) -> int:
        """Return the number of the row at a line of the note, from 1.

        Raises: InvalidArguments.
        """
        first, last = self.line + HEAD_LINES, self.line + 1 + len(self.table.rows)
        if not first <= line <= last:
            message = (
                f"Line {line} is no row of the table, whose rows are the lines {first} to {last}."
            )
            raise InvalidArguments(message, argument="line")
        return line - first + 1


def read_tables(parsed: Note) -> list[LocatedTable]:
    """Return the tables of a note in its order, also those in quotes, callouts and list items."""
    body, starts = parsed.body, parsed.lines.starts
    tables = []
    for entry in sorted(parsed.tables):
        rows, end = [], 0
        for line, at in enumerate(check_each(entry.starts), entry.first):
            newline = body.find("\n", at)
            text = body[at : newline if newline >= 0 else len(body)].rstrip("\r")
            end = at + len(text)
            rows.append(read_row(text, body[starts[line] : at]))
        table = Table(rows[0], rows[1], tuple(rows[HEAD_LINES:]))
        tables.append(LocatedTable(table, Span(starts[entry.first], end), entry.first + 1))
    return tables


def warn_of_overlong_rows(body: str) -> list[str]:
    """Return warnings of the rows in a note's tables that have too many cells (TABLE-9).

    A note without such a line is not parsed.
    """
    if not _may_have_overlong_rows(body):
        return []
    rows = [row for located in read_tables(parse(body)) for row in located.overlong_rows]
    return describe_overlong_rows(rows)


def describe_overlong_rows(rows: Sequence[OverlongRow]) -> list[str]:
    """Return a sentence for each of the first rows, and how many more there are."""
    more = len(rows) - OVERLONG_ROWS_SHOWN
    sentences = [row.describe() for row in rows[:OVERLONG_ROWS_SHOWN]]
    return [*sentences, f"So have {more} more rows."] if more > 0 else sentences


def _may_have_overlong_rows(body: str) -> bool:
    """Return whether a line below a row of delimiters has more cells than that row."""
    width = 0
    for line in check_each(body.split("\n")):
        if "|" not in line:
            width = 0
        elif _DELIMITERS.fullmatch(line):
            width = len(read_row(line.lstrip(" \t>")).cells)
        elif 0 < width <= line.count("|") and len(read_row(line.lstrip(" \t>")).cells) > width:
            return True
    return False


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
        raise TextNotFound(f"The note has no table{place}.")
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
    """Return the note with its table replaced; line ends stay.

    Raises: NotText for a table in a quote or list item that would not be one any more (TABLE-6).
    """
    newline = "\r\n" if "\r\n" in body else "\n"
    old_lines = split_lines(located.span.slice(body))
    ends = (line[len(line.rstrip("\r\n")) :] for line in old_lines)
    lines = zip(check_each(table.lines), chain(ends, repeat("")), strict=False)
    text = "".join(line + (end or newline) for line, end in lines).rstrip("\r\n")
    after = body[: located.span.start] + text + body[located.span.end :]
    if located.table.delimiters.prefix:
        _check_is_read_again(after, located.line, table)
    return after


def _check_is_read_again(body: str, line: int, table: Table) -> None:
    """Refuse a change after which a table would not be one inside its quote or list item.

    Raises: NotText.
    """
    tables = read_tables(parse(body))
    if any(located.line == line and located.table == table for located in tables):
        return
    raise NotText(
        f"The table of line {line} is in a quote or list item, whose marks and indents "
        f"({table.delimiters.prefix!r}) this change would not keep. Nothing was written. Edit its "
        "lines with obsidian_edit_note."
    )


def read_row(line: str, prefix: str = "") -> Row:
    """Return a line of a table in its parts; joined again they are the line, behind `prefix`."""
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
    return Row(line[:start], cells, tail, prefix)


def escape_pipes(text: str) -> str:
    """Return a text as a cell can hold it: with its pipes escaped."""
    return re.sub(r"(\\.)|\|", lambda mark: mark[1] or "\\|", text)


def _whole_parts(text: str) -> list[Span]:
    """Return the links, code and math of a line: a person writes each as one thing.

    None is in another, and they are in order.
    """
    elements = read_inlines(text, [Region(0, len(text))])
    areas = [area.span for area in elements.areas if area.kind in ("code", "math")]
    links = [link.span for link in elements.links]
    spans: list[Span] = []
    for span in sorted([*areas, *links, *elements.external_links]):
        if not spans or span.start >= spans[-1].end:
            spans.append(span)
    return spans


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
