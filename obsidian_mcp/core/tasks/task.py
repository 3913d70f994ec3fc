"""One task of a vault: the fields in its line, how both formats write them, and what its line and its note say; single
fields of the line set and removed, with no other character changed (TASK-20 to TASK-27, TASK-60 to TASK-66)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, NamedTuple

from obsidian_mcp.core.calendar.iso import DAY, calendar_day
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.text.table_file import read_rows
from obsidian_mcp.core.text.text import Span

from . import recurrence
from .recurrence import Rule, write_rule
from .settings import ReadNotation, Status, TaskSettings

Notation = Literal["emoji", "dataview"]

PRIORITIES = ("highest", "high", "medium", "none", "low", "lowest")
"""From the most to the least urgent."""
_FIELDS = {
    name: (key, symbols, DAY if values == "YYYY-MM-DD" else values)
    for name, key, symbols, values in read_rows(__file__, "fields")
}
"""By name: the key of Dataview's format, the emoji, of which the first is written, and an expression for the values."""
_PRIORITY_SYMBOLS = dict(
    zip((name for name in PRIORITIES if name != "none"), _FIELDS["priority"][1], strict=True)
)
_PRIORITY_OF_SYMBOL = {symbol: name for name, symbol in _PRIORITY_SYMBOLS.items()}

ORDER = tuple(_FIELDS)
"""The fields in the order in which a canonical line has them."""
RANK = {name: rank for rank, name in enumerate(ORDER)}
DATES = ("created", "start", "scheduled", "due", "cancelled", "done")
_READING_ORDER = (
    *(
        "priority",
        "done",
        "cancelled",
        "due",
        "scheduled",
        "start",
        "created",
        "recurrence",
        "on_completion",
    ),
    *("tag", "id", "depends_on"),
)
_READING_RANK = {name: rank for rank, name in enumerate(_READING_ORDER)}
_MAX_PASSES = 21
"""The plugin goes through the fields in this order so often, and takes what stands at the end when its turn comes."""

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
        taken = min(
            at_end, key=lambda field: (_READING_RANK[field.name] - last - 1) % len(_READING_RANK)
        )
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
        found += (_field(match, "emoji") for match in _find_emoji(line, start, end))
    if notation != "emoji" and "::" in line:
        found += (_field(match, "dataview") for match in _find_dataview(line, start, end))
        found.sort(key=lambda field: field.span.end)
    return found


def _field(match: re.Match[str], notation: Notation) -> Field:
    name = match.lastgroup or ""
    is_symbol = notation == "emoji" and name == "priority"
    value = _PRIORITY_OF_SYMBOL[match[name]] if is_symbol else match[name]
    return Field(
        name, value, notation, Span(*match.span()), Span(*match.span(0 if is_symbol else name))
    )


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
    return (
        f" {_PRIORITY_SYMBOLS[value]}" if name == "priority" else f" {_FIELDS[name][1][0]} {value}"
    )


def write_value(name: str, value: str, notation: Notation) -> str:
    """Return what stands at the `value_span` of a field with this value."""
    return _PRIORITY_SYMBOLS[value] if name == "priority" and notation == "emoji" else value


_LINE = re.compile(r"([\s\ufeff>]*)([-*+]|[0-9]+[.)]) +\[(.)\] *([^\n\r\u2028\u2029]*)")
_BLOCK_ID = re.compile(r" \^([a-zA-Z0-9-]+)\Z")

ON_COMPLETION = ("keep", "delete")
NOTHING: Mapping[str, str] = MappingProxyType({})


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
    """Take a line apart, without its line end; None where it is not written as the plugin needs it (TASK-02)."""
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


class TaskPlace(NamedTuple):
    """Where a task stands."""

    path: str
    """Path of the note in the vault, with `.md`."""
    line: int
    """1-based."""
    heading: str | None = None
    """Source of the nearest heading above."""


class Task(NamedTuple):
    """A task. Dates that are no calendar day are None and stand in `invalid`."""

    place: TaskPlace
    text: str
    """The whole line without its line end."""
    indentation: str
    status: Status
    description: str
    tags: tuple[str, ...]
    """With `#`, without the global filter's own."""
    priority: str
    """One of PRIORITIES."""
    created: date | None
    start: date | None
    scheduled: date | None
    due: date | None
    cancelled: date | None
    done: date | None
    rule: Rule | None
    on_completion: str | None
    """keep or delete."""
    id: str | None
    depends_on: tuple[str, ...]
    block_id: str | None
    invalid: Mapping[str, str]
    """By field, text that cannot be read."""
    scheduled_inferred: bool = False
    """Whether the scheduled date is that of the note's name (TASK-27)."""

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def recurrence(self) -> str:
        """The rule's text, or nothing."""
        return write_rule(self.rule) if self.rule else ""

    def day(self, name: str) -> date | None:
        """Return one of the dates; `happens` is the earliest of start, scheduled and due."""
        if name == "happens":
            return min(filter(None, (self.start, self.scheduled, self.due)), default=None)
        found: date | None = getattr(self, name)
        return found

    def has_date(self, name: str) -> bool:
        """Whether a date is written, be it a calendar day or not."""
        return getattr(self, name) is not None or name in self.invalid


def read_task(
    text: str, place: TaskPlace, settings: TaskSettings, file_date: date | None = None
) -> Task | None:
    """The task in a line; None for others (TASK-02). `file_date` is the date of the note's name (TASK-27)."""
    line = read_line(text, settings.notation)
    if line is None or not settings.is_task(line.body):
        return None
    return parse_line(line, place, settings, file_date)


def parse_line(
    line: Line, place: TaskPlace, settings: TaskSettings, file_date: date | None = None
) -> Task:
    """Return the task in a line that is known to hold one."""
    values = {name: field.value for name, field in line.by_name.items()} if line.fields else NOTHING
    invalid = dict(NOTHING)
    days: dict[str, date | None] = dict.fromkeys(DATES)
    for name in DATES:
        if name in values:
            days[name] = calendar_day(values[name])
            if days[name] is None:
                invalid[name] = values[name]
    rule = _rule(values, days, invalid, settings) if "recurrence" in values else None
    action = values.get("on_completion", "").lower()
    if action and action not in ON_COMPLETION:
        invalid["on_completion"] = values["on_completion"]
    inferred = file_date is not None and not {"start", "scheduled", "due"} & values.keys()
    if inferred:
        days["scheduled"] = file_date
    has_tags = "#" in line.description
    return Task(
        place=place,
        text=line.text,
        indentation=line.indentation,
        status=settings.statuses.get(line.symbol),
        description=line.description,
        tags=tuple(tag for tag in find_tags(line.description) if tag != settings.global_filter)
        if has_tags
        else (),
        priority=values.get("priority", "none"),
        **days,
        rule=rule,
        on_completion=action if action in ON_COMPLETION else None,
        id=values.get("id"),
        depends_on=tuple(part.strip() for part in values["depends_on"].split(","))
        if "depends_on" in values
        else (),
        block_id=line.block_id,
        invalid=invalid or NOTHING,
        scheduled_inferred=inferred,
    )


def _rule(
    values: Mapping[str, str],
    days: Mapping[str, date | None],
    invalid: dict[str, str],
    settings: TaskSettings,
) -> Rule | None:
    """The rule of a task that has one, unless it or its reference date cannot be read (TASK-24)."""
    written = values["recurrence"]
    rule = recurrence.parse(written)
    if rule is not None and not rule.when_done:
        reference = next((name for name in reference_order(settings) if name in values), None)
        if reference is not None and days[reference] is None:
            rule = None
    if rule is None:
        invalid["recurrence"] = written
    return rule


def reference_order(settings: TaskSettings) -> tuple[str, str, str]:
    """Return the dates of which the first that is there says when a recurring task is due next (TASK-45)."""
    return (
        ("due", "start", "scheduled")
        if settings.remove_scheduled_date_on_recurrence
        else ("due", "scheduled", "start")
    )


def notation_of(line: Line, notation: ReadNotation) -> Notation:
    """Return the notation for new fields of a line: where both are read, that of its fields, else emoji (TASK-03)."""
    if notation != "both":
        return notation
    written = {field.notation for field in line.fields if field.name != "tag"}
    return "dataview" if written == {"dataview"} else "emoji"


def set_symbol(line: Line, symbol: str) -> str:
    """Return the line with another character between the brackets."""
    return line.text[: line.symbol_at] + symbol + line.text[line.symbol_at + 1 :]


def set_fields(text: str, values: Mapping[str, str | None], notation: ReadNotation) -> str:
    """Return a task's line with each of the fields set, or removed where the value is None (TASK-60 to TASK-63)."""
    for name in ORDER:
        if name in values:
            text = _set_field(_line(text, notation), name, values[name], notation)
    return text


def set_description(text: str, description: str, global_filter: str, notation: ReadNotation) -> str:
    """Replace the description with all tags in it; the fields stay, but for those that the new one brings (TASK-64)."""
    brought = _line(f"- [ ] {description}", notation).fields
    text = set_fields(
        text, dict.fromkeys(field.name for field in brought if field.name != "tag"), notation
    )
    line = _line(text, notation)
    for tag in line.fields:  # from right to left, so that places to the left stay true
        if tag.name == "tag":
            text = _without(text, tag, line.body_start)
    rest = text[line.description_end :]
    gap = "" if rest[:1] in ("", *SPACES) else " "
    return text[: line.body_start] + with_global_filter(description, global_filter) + gap + rest


def with_global_filter(description: str, global_filter: str) -> str:
    """Return a description that contains the global filter."""
    return description if global_filter in description else f"{global_filter} {description}"


def _line(text: str, notation: ReadNotation) -> Line:
    line = read_line(text, notation)
    if line is None:
        raise AssertionError("a task stays a task when a field of it changes")  # pragma: no cover
    return line


def _set_field(line: Line, name: str, value: str | None, notation: ReadNotation) -> str:
    text = line.text
    if value is None:
        for field in line.fields:
            if field.name == name:
                text = _without(text, field, line.body_start)
        return text
    if (counting := line.by_name.get(name)) is not None:
        span = counting.value_span
        return text[: span.start] + write_value(name, value, counting.notation) + text[span.end :]
    at = _insertion_point(line, name)
    new = write_field(name, value, notation_of(line, notation))
    if (
        at == line.body_start and line.fields
    ):  # there is no description whose end the new field could follow
        new = new.lstrip() + new[: len(new) - len(new.lstrip())]
    return text[:at] + new + text[at:]


def _insertion_point(line: Line, name: str) -> int:
    fields = [field for field in reversed(line.fields) if field.name != "tag"]
    lower = [field.span.end for field in fields if RANK[field.name] < RANK[name]]
    if lower:
        return max(lower)
    return trim_end(line.text, line.body_start, fields[0].span.start) if fields else line.body_end


def _without(text: str, field: Field, body_start: int) -> str:
    return text[: trim_end(text, body_start, field.span.start)] + text[field.span.end :]
