"""One task of a vault, with everything that its line and its note say (TASK-20 to TASK-27)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import NamedTuple

from obsidian_mcp.core.calendar.iso import calendar_day

from .fields import DATES
from .line import Line, read_line
from .recurrence import Rule, parse_rule
from .rule_text import write_rule
from .settings import TaskSettings
from .statuses import TaskStatus

find_tags = re.compile(r'(?:^|(?<=[\s\ufeff]))#[^ !@#$%^&*(),.?":{}|<>]+').findall
"""Return the tags in a text, with their `#`."""


ON_COMPLETION = ("keep", "delete")
"""What the plugin can do with a task when it is completed."""
NOTHING: Mapping[str, str] = MappingProxyType({})


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
    status: TaskStatus
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
        day: date | None = getattr(self, name)
        return day

    def has_date(self, name: str) -> bool:
        """Return whether a date is written, be it a calendar day or not."""
        return getattr(self, name) is not None or name in self.invalid


def read_task(
    text: str, place: TaskPlace, settings: TaskSettings, file_date: date | None = None
) -> Task | None:
    """Return the task in a line; None for a checkbox that is no task of the plugin (TASK-02).

    `file_date` is the date in the note's name, which a task without start, scheduled and due date
    takes as its scheduled date (TASK-27).
    """
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
    is_inferred = file_date is not None and not {"start", "scheduled", "due"} & values.keys()
    if is_inferred:
        days["scheduled"] = file_date
    return Task(
        place=place,
        text=line.text,
        indentation=line.indentation,
        status=settings.statuses.get(line.symbol),
        description=line.description,
        tags=_tags(line.description, settings.global_filter),
        priority=values.get("priority", "none"),
        **days,
        rule=rule,
        on_completion=action if action in ON_COMPLETION else None,
        id=values.get("id"),
        depends_on=_ids(values["depends_on"]) if "depends_on" in values else (),
        block_id=line.block_id,
        invalid=invalid or NOTHING,
        scheduled_inferred=is_inferred,
    )


def _tags(description: str, global_filter: str) -> tuple[str, ...]:
    if "#" not in description:  # most tasks have none, and a vault may have 100 000 tasks
        return ()
    return tuple(tag for tag in find_tags(description) if tag != global_filter)


def _ids(written: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in written.split(","))


def _rule(
    values: Mapping[str, str],
    days: Mapping[str, date | None],
    invalid: dict[str, str],
    settings: TaskSettings,
) -> Rule | None:
    """Return the rule of a task that has one (TASK-24).

    None where the rule, or the date that it counts from, cannot be read: the rule is then noted in
    `invalid`.
    """
    written = values["recurrence"]
    rule = parse_rule(written)
    if rule is not None and not rule.when_done:
        reference = next((name for name in reference_order(settings) if name in values), None)
        if reference is not None and days[reference] is None:
            rule = None
    if rule is None:
        invalid["recurrence"] = written
    return rule


def reference_order(settings: TaskSettings) -> tuple[str, str, str]:
    """Return the dates that a recurring task may count from (TASK-45).

    The first of them that the task has is its reference date.
    """
    if settings.remove_scheduled_date_on_recurrence:
        return ("due", "start", "scheduled")
    return ("due", "scheduled", "start")
