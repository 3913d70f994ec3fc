"""A task's line taken apart, and single fields of it set and removed (TASK-20, TASK-60 to TASK-66).

Whatever sets or removes a field changes no other character of the line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from obsidian_mcp.core.expressions.javascript import SPACES

from .fields import ORDER, RANK, Field, Notation, read_fields, trim_end, write_field, write_value
from .settings import ReadNotation

LINE_ENDS = frozenset("\n\r\u2028\u2029")
"""Characters that end a line for the plugin, whose expressions are JavaScript's.

None of them can stand in a task.
"""

_LINE = re.compile(r"([\s\ufeff>]*)([-*+]|[0-9]+[.)]) +\[(.)\] *([^\n\r\u2028\u2029]*)")

_BLOCK_ID = re.compile(r" \^([a-zA-Z0-9-]+)\Z")


class Line(NamedTuple):
    """A line with a checkbox, taken apart. Places are code points of the line."""

    text: str
    """Without its line end."""
    indentation: str
    """With the marks of quotes."""
    marker: str
    symbol: str
    """The code point between the brackets."""
    symbol_at: int
    body_start: int
    body_end: int
    """Without a block id and the spaces before it."""
    description_end: int
    """Where the first field or tag of the end begins, without the spaces before it."""
    description: str
    """With the tags that stand between fields behind it."""
    fields: tuple[Field, ...]
    """From right to left, tags among them."""
    block_id: str | None

    @property
    def by_name(self) -> dict[str, Field]:
        """The fields that count: the leftmost of each name (TASK-22)."""
        return {field.name: field for field in self.fields if field.name != "tag"}

    @property
    def body(self) -> str:
        return self.text[self.body_start :].strip(SPACES)

    @property
    def hard_break(self) -> str:
        """Two or more spaces at the end of the line, else nothing."""
        spaces = self.text[len(self.text.rstrip(" ")) :]
        return spaces if len(spaces) > 1 else ""


@lru_cache(maxsize=4096)
def read_line(text: str, notation: ReadNotation) -> Line | None:
    """Take a line apart, given without its line end (TASK-02).

    None for a line that is not written as the plugin needs it.
    """
    match = _LINE.match(text)
    if match is None:
        return None
    start, end = match.span(4)
    body_end = trim_end(text, start, end)
    block = _BLOCK_ID.search(text[start:body_end])
    if block is not None:
        body_end = trim_end(text, start, start + block.start())
    fields = tuple(read_fields(text, start, body_end, notation))
    first = fields[-1].span.start if fields else body_end
    words = text[start:first].strip(SPACES)
    tags = [field.value for field in reversed(fields) if field.name == "tag"]
    return Line(
        text=text,
        indentation=match[1],
        marker=match[2],
        symbol=match[3],
        symbol_at=match.start(3),
        body_start=start,
        body_end=body_end,
        description_end=trim_end(text, start, first),
        description=" ".join([words, *tags]) if tags and words else words or " ".join(tags),
        fields=fields,
        block_id=block[1] if block else None,
    )


def choose_notation(line: Line, notation: ReadNotation) -> Notation:
    """Return the notation for new fields of a line (TASK-03).

    Where both notations are read, it is that of the line's own fields, or emoji.
    """
    if notation != "both":
        return notation
    written = {field.notation for field in line.fields if field.name != "tag"}
    return "dataview" if written == {"dataview"} else "emoji"


def set_symbol(line: Line, symbol: str) -> str:
    """Return the line with another character between the brackets."""
    return line.text[: line.symbol_at] + symbol + line.text[line.symbol_at + 1 :]


def set_fields(text: str, values: Mapping[str, str | None], notation: ReadNotation) -> str:
    """Return a task's line with each of the fields set (TASK-60 to TASK-63).

    A field whose value is None is removed.
    """
    for name in ORDER:
        if name in values:
            text = _set_field(_line(text, notation), name, values[name], notation)
    return text


def set_description(text: str, description: str, global_filter: str, notation: ReadNotation) -> str:
    """Replace the description with all tags in it (TASK-64).

    The fields stay, but for those that the new description brings: of two fields with one name only
    the leftmost would count.
    """
    new_fields = _line(f"- [ ] {description}", notation).fields
    new_names = [field.name for field in new_fields if field.name != "tag"]
    text = set_fields(text, dict.fromkeys(new_names), notation)
    line = _line(text, notation)
    for tag in line.fields:  # from right to left, so that places to the left stay true
        if tag.name == "tag":
            text = _remove_field(text, tag, line.body_start)
    behind = text[line.description_end :]
    gap = "" if behind[:1] in ("", *SPACES) else " "
    return text[: line.body_start] + with_global_filter(description, global_filter) + gap + behind


def with_global_filter(description: str, global_filter: str) -> str:
    """Return a description with the global filter, without which it is no task (TASK-02)."""
    return description if global_filter in description else f"{global_filter} {description}"


def _line(text: str, notation: ReadNotation) -> Line:
    line = read_line(text, notation)
    if line is None:
        raise AssertionError("a task stays a task when a field of it changes")  # pragma: no cover
    return line


def _set_field(line: Line, name: str, value: str | None, notation: ReadNotation) -> str:
    """Return the text of a line with a field set, or removed where `value` is None.

    A field that is there keeps its place and notation; only a new one is put where it belongs.
    """
    text = line.text
    if value is None:
        for field in line.fields:
            if field.name == name:
                text = _remove_field(text, field, line.body_start)
        return text
    present = line.by_name.get(name)
    if present is not None:
        span = present.value_span
        return text[: span.start] + write_value(name, value, present.notation) + text[span.end :]
    at = _insertion_point(line, name)
    written = write_field(name, value, choose_notation(line, notation))
    if at == line.body_start and line.fields:
        # there is no description that the field could follow: its spaces go behind it
        bare = written.lstrip()
        written = bare + written[: len(written) - len(bare)]
    return text[:at] + written + text[at:]


def _insertion_point(line: Line, name: str) -> int:
    """Return where a new field goes: behind those that a canonical line has before it (TASK-61)."""
    fields = [field for field in reversed(line.fields) if field.name != "tag"]
    lower = [field.span.end for field in fields if RANK[field.name] < RANK[name]]
    if lower:
        return max(lower)
    return trim_end(line.text, line.body_start, fields[0].span.start) if fields else line.body_end


def _remove_field(text: str, field: Field, body_start: int) -> str:
    return text[: trim_end(text, body_start, field.span.start)] + text[field.span.end :]
