"""The fields in a task's line: how both formats write them, and how they are read (TASK-20 to TASK-25)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
"""By name: the key of Dataview's format, the emoji, of which the first is written, and an expression for the values."""
_PRIORITY_SYMBOLS = dict(zip((name for name in PRIORITIES if name != "none"), _FIELDS["priority"][1], strict=True))
_PRIORITY_OF_SYMBOL = {symbol: name for name, symbol in _PRIORITY_SYMBOLS.items()}
_FIELD_OF_KEY = {key: name for name, (key, _, _) in _FIELDS.items()}

ORDER = tuple(_FIELDS)
"""The fields in the order in which a canonical line has them."""
RANK = {name: rank for rank, name in enumerate(ORDER)}
DATES = ("created", "start", "scheduled", "due", "cancelled", "done")
_READING_ORDER = (
    *("priority", "done", "cancelled", "due", "scheduled", "start", "created", "recurrence", "on_completion"),
    *("tag", "id", "depends_on"),
)
_READING_RANK = {name: rank for rank, name in enumerate(_READING_ORDER)}
_MAX_PASSES = 21
"""The plugin goes through the fields in this order so often, and takes what stands at the end when its turn comes."""

_EMOJI = rf"(?P<priority>[{''.join(_PRIORITY_OF_SYMBOL)}])\ufe0f?|" + "|".join(
    rf"[{symbols}]\ufe0f? *(?P<{name}>{values})" for name, (_, symbols, values) in _FIELDS.items() if name != "priority"
)


def _bracket_pattern(opening: str, closing: str) -> str:
    values = "|".join(rf"{key}:: *(?:{values})" for key, _, values in _FIELDS.values())
    return rf"\{opening} *(?:{values}) *\{closing}(?: *,)?"


_find_emoji = re.compile(_EMOJI).finditer
_find_dataview = re.compile(f"{_bracket_pattern('[', ']')}|{_bracket_pattern('(', ')')}").finditer
_dataview_parts = re.compile(r". *([A-Za-z]+):: *(.*?) *[\])](?: *,)?").fullmatch
_is_tag = re.compile(r'#[^ !@#$%^&*(),.?":{}|<>]+').fullmatch
find_tags = re.compile(r'(?:^|(?<=[\s\ufeff]))#[^ !@#$%^&*(),.?":{}|<>]+').findall
"""Return the tags in a text, with their `#`."""


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
    """Return the fields and tags at the end of `line[start:end]`, from right to left (TASK-21)."""
    pending = _candidates(line, start, end, notation)
    has_tags = line.find("#", start, end) >= 0
    found: list[Field] = []
    passes, last = 1, -1
    while pending or has_tags:
        end = trim_end(line, start, end)
        while pending and pending[-1].span.end > end:
            pending.pop()
        at_end = [pending[-1]] if pending and pending[-1].span.end == end else []
        if has_tags and (tag := _tag(line, start, end)) is not None:
            at_end.append(tag)
        if not at_end:
            break
        taken = min(at_end, key=lambda field: (_READING_RANK[field.name] - last - 1) % len(_READING_RANK))
        rank = _READING_RANK[taken.name]
        passes += rank <= last
        if passes > _MAX_PASSES:
            break
        last = rank
        found.append(taken)
        end = taken.span.start
    return found


def trim_end(line: str, start: int, end: int) -> int:
    """Return where `line[start:end]` ends without the spaces at its end."""
    while end > start and line[end - 1] in SPACES:
        end -= 1
    return end


def _candidates(line: str, start: int, end: int, notation: ReadNotation) -> list[Field]:
    """Everything in the text that looks like a field, by position."""
    found: list[Field] = []
    if notation != "dataview":
        found += (
            Field(
                match.lastgroup or "",
                _PRIORITY_OF_SYMBOL.get(match[match.lastgroup or 0], match[match.lastgroup or 0]),
                "emoji",
                Span(*match.span()),
                Span(*match.span(0 if match.lastgroup == "priority" else match.lastgroup or 0)),
            )
            for match in _find_emoji(line, start, end)
        )
    if notation != "emoji" and "::" in line:
        found += (_dataview(line, Span(*match.span())) for match in _find_dataview(line, start, end))
        found.sort(key=lambda field: field.span.end)
    return found


def _dataview(line: str, span: Span) -> Field:
    parts = _dataview_parts(line, span.start, span.end)
    if parts is None:
        raise AssertionError("a field in brackets has a key and a value")  # pragma: no cover
    return Field(_FIELD_OF_KEY[parts[1]], parts[2], "dataview", span, Span(*parts.span(2)))


def _tag(line: str, start: int, end: int) -> Field | None:
    at = line.rfind("#", start, end)
    if at < 0 or (at > start and line[at - 1] not in SPACES) or not _is_tag(line, at, end):
        return None
    span = Span(at, end)
    return Field("tag", line[at:end], "emoji", span, span)


def write_field(name: str, value: str, notation: Notation) -> str:
    """Return a field as a canonical line has it, with the spaces before it (TASK-25)."""
    if notation == "dataview":
        return f"  [{_FIELDS[name][0]}:: {value}]"
    if name == "priority":
        return " " + _PRIORITY_SYMBOLS[value]
    return f" {_FIELDS[name][1][0]} {value}"


def write_value(name: str, value: str, notation: Notation) -> str:
    """Return what stands at the `value_span` of a field with this value."""
    return _PRIORITY_SYMBOLS[value] if name == "priority" and notation == "emoji" else value


def leftmost(fields: Sequence[Field]) -> Iterator[Field]:
    """Yield of fields that stand from right to left those that count: the leftmost of each name (TASK-22)."""
    seen: set[str] = set()
    for field in reversed(fields):
        if field.name != "tag" and field.name not in seen:
            seen.add(field.name)
            yield field
