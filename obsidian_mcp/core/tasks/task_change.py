"""What is to become of a task, and how its new fields are written (TASK-60 to TASK-65, TASK-80)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from obsidian_mcp.core.calendar.days import FORMS, read_coming_day, read_shifted_day
from obsidian_mcp.core.calendar.iso import calendar_day
from obsidian_mcp.errors import InvalidArguments

from .fields import PRIORITIES
from .line import LINE_ENDS
from .recurrence import parse_rule
from .rule_text import write_rule
from .task import NOTHING, ON_COMPLETION

_MARKS = re.compile(r"[-*+][ \t]+\[(.)\](?:[ \t]+|\Z)")
"""Of a task in a list; the symbol is group 1."""

_is_id = re.compile("[A-Za-z0-9_-]+").fullmatch


@dataclass(frozen=True, slots=True)
class TaskChange:
    """What is to become of a task. None keeps a field; an empty text or list removes it."""

    status: str = ""
    """toggle, a type in any case, one character, or nothing."""
    due: str | None = None
    scheduled: str | None = None
    start: str | None = None
    created: str | None = None
    priority: str | None = None
    recurrence: str | None = None
    on_completion: str | None = None
    new_id: str | None = None
    depends_on: Sequence[str] | None = None
    text: str | None = None


def checked_text(text: str) -> str:
    """Return the text of a task, without the marks of an open one.

    Raises: InvalidArguments for none, for several lines, or with the marks of another status.
    """
    text = text.strip()
    marks = _MARKS.match(text)
    if marks and marks[1] != " ":
        raise InvalidArguments(
            f"`text` begins with {marks[0].strip()!r}. Give it without; `status` sets that.",
            argument="text",
        )
    text = text[marks.end() :] if marks else text
    if not text:
        raise InvalidArguments("`text` is empty: a task needs a text.", argument="text")
    if not LINE_ENDS.isdisjoint(text):
        raise InvalidArguments("`text` has several lines: a task is one line.", argument="text")
    return text


def field_values(
    change: TaskChange, today: date, own: Mapping[str, str] = NOTHING
) -> dict[str, str | None]:
    """Return the fields of a change as they are written, None for one to remove.

    `own` are the fields that the task has: a date such as `+1 week` counts from the one it has.
    Raises: InvalidArguments.
    """
    arguments: dict[str, tuple[str | None, Callable[[str], str]]] = {
        "id": (change.new_id, _id),
        "depends_on": (None if change.depends_on is None else ",".join(change.depends_on), _ids),
        "priority": (change.priority, _priority),
        "recurrence": (change.recurrence, _rule),
        "on_completion": (change.on_completion, _action),
    }
    for name in ("created", "start", "scheduled", "due"):
        own_day = calendar_day(own.get(name, ""))
        arguments[name] = (getattr(change, name), partial(_day, name, today, own_day))
    values = {
        name: write(text.strip()) if text.strip() else None
        for name, (text, write) in arguments.items()
        if text is not None
    }
    if values.get("priority") == "none":  # a task has this priority by having no field for it
        values["priority"] = None
    return values


def _day(name: str, today: date, own: date | None, text: str) -> str:
    day = read_shifted_day(text, own or today) or read_coming_day(text, today)
    if day is None:
        raise InvalidArguments(
            f"`{name}`: {text!r} is no day. Expected {FORMS}, or `+1 week`, which is from the date "
            "that the task has.",
            argument=name,
        )
    return day.isoformat()


def _priority(text: str) -> str:
    if text.lower() not in PRIORITIES:
        raise InvalidArguments(
            f"`priority` must be one of {', '.join(PRIORITIES)}, but {text!r} came.",
            argument="priority",
        )
    return text.lower()


def _rule(text: str) -> str:
    rule = parse_rule(text)
    if rule is None or not rule.is_complete:
        understood = f" Only {write_rule(rule)!r} of it is understood." if rule else ""
        raise InvalidArguments(
            f"`recurrence` {text!r} is not understood.{understood} Expected a rule such as every "
            "day, every 2 weeks on Monday, every month on the last Friday, every January on the "
            "15th; add `when done` to count from the day of completion.",
            argument="recurrence",
        )
    return write_rule(rule)


def _action(text: str) -> str:
    if text.lower() not in ON_COMPLETION:
        raise InvalidArguments(
            f"`on_completion` must be keep or delete, but {text!r} came.", argument="on_completion"
        )
    return text.lower()


def _id(text: str) -> str:
    if not _is_id(text):
        raise InvalidArguments(
            f"An id has letters, digits, - and _ only, but {text!r} came.", argument="new_id"
        )
    return text


def _ids(text: str) -> str:
    return ",".join(_id(part.strip()) for part in text.split(","))
