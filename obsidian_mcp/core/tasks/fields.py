"""The fields in a task's line, read and written in both formats (TASK-20 to TASK-25)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from obsidian_mcp.core.calendar.iso import DAY
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.text.table_file import read_rows
from obsidian_mcp.core.text.text import Span

from .settings import ReadNotation

Notation = Literal["emoji", "dataview"]

PRIORITIES = ("highest", "high", "medium", "none", "low", "lowest")
"""From the most to the least urgent."""

_FIELDS = {
    name: (key, symbols, DAY if values == "YYYY-MM-DD" else values)
    for name, key, symbols, values in read_rows(__file__, "fields")
}
"""By name: the key of Dataview's format, the emoji, of which the first is written, and an
expression for the values."""

_PRIORITY_SYMBOLS = dict(
    zip((name for name in PRIORITIES if name != "none"), _FIELDS["priority"][1], strict=True)
)

_PRIORITY_OF_SYMBOL = {symbol: name for name, symbol in _PRIORITY_SYMBOLS.items()}

ORDER = tuple(_FIELDS)
"""The fields in the order in which a canonical line has them."""

RANK = {name: rank for rank, name in enumerate(ORDER)}
"""Of each field in that order."""

DATES = ("created", "start", "scheduled", "due", "cancelled", "done")

_READING_ORDER = (
    *("priority", "done", "cancelled", "due", "scheduled", "start", "created"),
    *("recurrence", "on_completion", "tag", "id", "depends_on"),
)
"""The fields in the order in which the plugin looks for each at the end of the line."""

_READING_RANK = {name: rank for rank, name in enumerate(_READING_ORDER)}

_MAX_PASSES = 21
"""How often the plugin goes through the fields in reading order.

When the turn of a field comes, the plugin takes it if it stands at the end of the line. What it has
not taken after the last pass stays part of the description.
"""

_EMOJI = rf"(?P<priority>[{''.join(_PRIORITY_OF_SYMBOL)}])\ufe0f?|" + "|".join(
    rf"[{symbols}]\ufe0f? *(?P<{name}>{values})"
    for name, (_, symbols, values) in _FIELDS.items()
    if name != "priority"
)

_VALUES = "|".join(rf"{key}:: *(?P<{name}>{values})" for name, (key, _, values) in _FIELDS.items())

_DATAVIEW = rf"(?:(?P<square>\[)|\() *(?:{_VALUES}) *(?(square)\]|\))(?: *,)?"

_find_emoji = re.compile(_EMOJI).finditer

_find_dataview = re.compile(_DATAVIEW).finditer

_is_tag = re.compile(r'#[^ !@#$%^&*(),.?":{}|<>]+').fullmatch


class Field(NamedTuple):
    """One field in a line. Spans are code points of the line."""

    name: str
    """One of ORDER, or `tag`."""
    value: str
    """As written; of a priority its name."""
    notation: Notation
    span: Span
    """The symbol with its value, or the brackets with a comma behind them."""
    value_span: Span
    """What is replaced by another value: of an emoji priority the symbol."""


def read_fields(line: str, start: int, end: int, notation: ReadNotation) -> list[Field]:
    """Return the fields and tags at the end of `line[start:end]`, from right to left (TASK-21).

    The plugin reads them so, in passes; which fields it gets depends on the order of its passes,
    which is followed here.
    """
    pending = _candidates(line, start, end, notation)
    has_tags = line.find("#", start, end) >= 0
    fields: list[Field] = []
    passes, last_rank = 1, -1
    while pending or has_tags:
        end = trim_end(line, start, end)
        while pending and pending[-1].span.end > end:
            pending.pop()
        at_end = [pending[-1]] if pending and pending[-1].span.end == end else []
        tag = _tag(line, start, end) if has_tags else None
        if tag is not None:
            at_end.append(tag)
        if not at_end:
            break
        # the field whose turn comes first after the last one that was read
        field = min(at_end, key=lambda field: (_rank(field) - last_rank - 1) % len(_READING_RANK))
        passes += _rank(field) <= last_rank
        if passes > _MAX_PASSES:
            break
        last_rank = _rank(field)
        fields.append(field)
        end = field.span.start
    return fields


def _rank(field: Field) -> int:
    return _READING_RANK[field.name]


def trim_end(line: str, start: int, end: int) -> int:
    """Return where `line[start:end]` ends without the spaces at its end."""
    while end > start and line[end - 1] in SPACES:
        end -= 1
    return end


def _candidates(line: str, start: int, end: int, notation: ReadNotation) -> list[Field]:
    """Return everything in the text that looks like a field, by position."""
    fields: list[Field] = []
    if notation != "dataview":
        fields += (_field(match, "emoji") for match in _find_emoji(line, start, end))
    if notation != "emoji" and "::" in line:
        fields += (_field(match, "dataview") for match in _find_dataview(line, start, end))
        fields.sort(key=lambda field: field.span.end)
    return fields


def _field(match: re.Match[str], notation: Notation) -> Field:
    name = match.lastgroup or ""
    span = Span(*match.span())
    if notation == "emoji" and name == "priority":
        return Field(name, _PRIORITY_OF_SYMBOL[match[name]], notation, span, span)
    return Field(name, match[name], notation, span, Span(*match.span(name)))


def _tag(line: str, start: int, end: int) -> Field | None:
    at = line.rfind("#", start, end)
    if at < 0 or (at > start and line[at - 1] not in SPACES) or not _is_tag(line, at, end):
        return None
    span = Span(at, end)
    return Field("tag", line[at:end], "emoji", span, span)


def write_field(name: str, value: str, notation: Notation) -> str:
    """Return a field as a canonical line has it, with the spaces before it (TASK-25)."""
    if notation == "dataview":
        key, _, _ = _FIELDS[name]
        return f"  [{key}:: {value}]"
    if name == "priority":
        return f" {_PRIORITY_SYMBOLS[value]}"
    _, symbols, _ = _FIELDS[name]
    return f" {symbols[0]} {value}"


def write_value(name: str, value: str, notation: Notation) -> str:
    """Return what stands at the `value_span` of a field with this value."""
    return _PRIORITY_SYMBOLS[value] if name == "priority" and notation == "emoji" else value
