"""Values as text, and rows of them: aligned, CSV, TSV, Markdown (specs/cli.md CLI-08, CLI-11)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from obsidian_mcp.core.text.fit import mark_excerpt
from obsidian_mcp.core.text.text import to_printable

Marks = Sequence[tuple[int, int]]
"""Start and end of parts of a text."""
RESET: Final = "\x1b[0m"
"""Ends a colour on a terminal."""
_SIZES: Final = frozenset({"size", "bytes"})
_SPLITTING: Final = re.compile(r"[\t\r\n]+")
_PIPE: Final = re.compile(r"(?<!\\)(\\*+)\|")
"""A pipe with the backslashes before it, which would escape it or be taken for its escape."""
_CONTROLS: Final[dict[int, int | str]] = {
    **{code: 0x2400 + code for code in range(0x20)},  # the pictures that Unicode has of them
    **dict.fromkeys((0x09, 0x0A, 0x0D, 0x2028, 0x2029), " "),
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd"),
}


def mask_controls(text: str) -> str:
    """Return a text of the same length without what moves the cursor, changes colours or the
    direction of writing."""
    return text if text.isprintable() else to_printable(text.translate(_CONTROLS))


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(width, text))


def width(char: str) -> int:
    """Return how many columns of a terminal a character takes."""
    if char.isascii():
        return 1
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fit_columns(text: str, marks: Marks, room: int) -> tuple[str, Marks]:
    """Return the part of a line that fits so many columns, with the first mark in it; and the marks
    in that part.

    A sign of one column stands for what is cut off at either end.
    """
    widths = [width(char) for char in text]
    if sum(widths) <= room:
        return text, marks
    start, columns_left = 0, room - 1
    if marks and sum(widths[: marks[0][1]]) > columns_left:
        # the first mark is cut off: begin before it, with a third of the room for what precedes it,
        # more where little follows it, and less where it is long
        start, columns_left = marks[0][0], room - 2
        before = min(
            max(room // 3, columns_left - sum(widths[start:])),
            columns_left - sum(widths[slice(*marks[0])]),
        )
        while start and widths[start - 1] <= before:
            start -= 1
            before -= widths[start]
    end = start
    while end < len(text) and widths[end] <= columns_left:
        columns_left -= widths[end]
        end += 1
    excerpt = mark_excerpt(text[start:end], cut_before=start > 0, cut_after=end < len(text))
    sign = int(start > 0)  # the marks stand behind the sign at the beginning
    moved = start - sign
    return excerpt, [
        (max(sign, first - moved), min(end - moved, last - moved))
        for first, last in marks
        if last > start and first < end
    ]


def cell_text(value: Any) -> str:
    """Return a value as a program reads it: nothing for null, the items of a list with commas
    between them."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case list():
            return ", ".join(map(cell_text, value))
        case {"error": message}:
            return f"error: {message}"
        case dict():
            return compact_json(value)
        case float():
            from obsidian_mcp.core.expressions.javascript import number_text  # no note needs it

            return number_text(value)
    return str(value)


def compact_json(value: Any) -> str:
    """Return JSON on one line, without blanks."""
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def person_text(value: Any, key: str = "") -> str:
    """Return a value as a person reads it: yes and no, times of the local zone, sizes in units."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    if isinstance(value, int) and key in _SIZES:
        return _size_text(value)
    if isinstance(value, list):
        return ", ".join(map(person_text, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {person_text(member)}" for name, member in value.items())
    text = mask_controls(str(value))
    return _local_time(text) if text.endswith("Z") else text


def _size_text(count: int) -> str:
    """Return a number of bytes with the unit in which it has at most three digits before the
    point."""
    if count < 1000:
        return f"{count} bytes"
    amount, unit = float(count), ""
    for unit in ("kB", "MB", "GB", "TB"):  # noqa: B007  the last one is used
        amount /= 1000
        if amount < 1000:
            break
    return f"{amount:.1f} {unit}"


def _local_time(text: str) -> str:
    """Return a moment of UTC as the local time; any other text as it is."""
    from datetime import datetime

    from obsidian_mcp.core.calendar import clock, iso

    if not iso.read_iso(text):
        return text
    return clock.to_local_time(clock.instant(datetime.fromisoformat(text))).isoformat(
        " ", "minutes"
    )


def align(cells: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """Yield a line for each row of cells, columns as wide as their widest cell; those of `right`
    end at the right."""
    widths = [max(map(columns, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  ".join(
            " " * (room - columns(cell)) + cell if to_right else cell + " " * (room - columns(cell))
            for cell, room, to_right in zip(line, widths, right, strict=True)
        ).rstrip()


def align_objects(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table for people: titles, then the rows."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[key.replace("_", " ").upper() for key in keys]]
    cells += [[person_text(row.get(key, ""), key) for key in keys] for row in rows]
    return align(
        cells, [all(isinstance(row.get(key, 0), int | float) for row in rows) for key in keys]
    )


def separate(rows: Iterable[Iterable[object]], form: str) -> str:
    """Return rows as `csv` (RFC 4180), or with tabs; a tab or line break in a cell is a space
    there."""
    if form == "csv":
        return "\n".join(",".join(_quote(cell_text(cell)) for cell in row) for row in rows)
    return "\n".join(
        "\t".join(_SPLITTING.sub(" ", cell_text(cell)) for cell in row) for row in rows
    )


def _quote(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(char in cell for char in ',"\n\r') else cell


def markdown(titles: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Return rows as a Markdown table."""
    lines = [titles, ["---"] * len(titles), *rows]
    escaped = ([_PIPE.sub(r"\1\1\|", cell_text(cell)) for cell in line] for line in lines)
    return "\n".join(
        f"| {' | '.join(cell.replace(chr(13), '').replace(chr(10), '<br>') for cell in line)} |"
        for line in escaped
    )
