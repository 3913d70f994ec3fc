"""Change the status of a task: dates of completion, new occurrences, actions on completion (TASK-40 to TASK-48)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from dateutil import rrule

from .recurrence import Rule, write_rule
from .settings import Status, TaskSettings
from .task import (
    ORDER,
    Line,
    Task,
    TaskPlace,
    notation_of,
    parse_line,
    read_line,
    reference_order,
    set_fields,
    set_symbol,
    write_field,
)

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of control characters, marks of direction, halves of characters and separators of lines."""


class StatusChange(NamedTuple):
    """The lines that stand in place of a task's line, without line ends."""

    changed: str | None
    """None where the task is deleted."""
    next: str | None = None
    """The new occurrence of a recurring task."""
    next_below: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """In the order of the note (TASK-43)."""
        pair = (self.changed, self.next) if self.next_below else (self.next, self.changed)
        return [line for line in pair if line is not None]


def follows_core(text: str, settings: TaskSettings) -> bool:
    """Whether only the app's own rule holds for a checkbox: its line is no task of the plugin, or the plugin is off
    and the line has no field (TASK-03, TASK-40)."""
    line = read_line(text, settings.notation)
    if line is None or not settings.is_task(line.body):
        return True
    return not settings.plugin_enabled and all(field.name == "tag" for field in line.fields)


def new_status(
    wanted: str, current: Status, settings: TaskSettings, *, core: bool
) -> Status | None:
    """The status of `toggle`, a type or one printable character other than a bracket; None for other words. `core` is
    what `follows_core` says."""
    if wanted == "toggle":
        if core:
            return settings.statuses.get("x" if current.symbol == " " else " ")
        return settings.statuses.toggled(current)
    if len(wanted) == 1:
        if wanted in "[]" or unicodedata.category(wanted) in _UNSEEN:
            return None
        return settings.statuses.get(wanted)
    return settings.statuses.first_of_type(wanted.upper())


def change_status(
    text: str, status: Status, settings: TaskSettings, today: date, *, has_children: bool = False
) -> StatusChange:
    """Return what becomes of a task's line; `has_children` says whether items are indented below it (TASK-41)."""
    line = read_line(text, settings.notation)
    if line is None:
        raise ValueError(f"not a task: {text!r}")
    task = parse_line(line, TaskPlace("", 0), settings)
    if status.symbol == line.symbol:
        return StatusChange(text)
    completes = status.type == "DONE" and task.status.type != "DONE"
    upcoming = next_occurrence(task, settings, today)
    losses = _losses(line, task, has_next=upcoming is not None)
    changed = _rewrite(line, task, status, settings, today, canonical=not losses)
    warnings = []
    if losses:
        warnings.append(
            "Only the status and its dates were changed, so as not to lose text that cannot be read: "
            f"{'; '.join(losses)}."
        )
    if task.rule and not task.rule.is_complete:
        warnings.append(
            f"Only {write_rule(task.rule)!r} of the recurrence rule is understood; the rest of it is ignored."
        )
    following = None
    if upcoming is not None and completes:
        following = _next_line(line, task, status, settings, today, upcoming)
    deletes = completes and task.on_completion == "delete"
    if deletes and has_children:
        warnings.append(
            "The task was not deleted on completion, because other items are indented below it."
        )
        deletes = False
    return StatusChange(
        None if deletes else changed, following, settings.recurrence_on_next_line, tuple(warnings)
    )


def next_occurrence(task: Task, settings: TaskSettings, today: date) -> date | None:
    """Return the next reference date of a recurring task, None where there is none (TASK-45)."""
    if task.rule is None:
        return None
    base = None if task.rule.when_done else _reference(task, settings)
    return next_date(task.rule, base or today)


def _reference(task: Task, settings: TaskSettings) -> date | None:
    return next(
        (day for name in reference_order(settings) if (day := task.day(name)) is not None), None
    )


def _losses(line: Line, task: Task, *, has_next: bool) -> list[str]:
    """What the plugin's form of the line would lose (TASK-46)."""
    losses = [f"{name.replace('_', ' ')} {value!r}" for name, value in task.invalid.items()]
    if task.rule is not None and not has_next:
        losses.append(f"recurrence {write_rule(task.rule)!r}, which has no further date")
    fields = [field for field in line.fields if field.name != "tag"]
    if len(line.by_name) < len(fields):
        losses.append("a field that is written twice")
    if len({field.notation for field in fields}) > 1:
        losses.append("fields in two notations")
    return losses


def _rewrite(
    line: Line, task: Task, status: Status, settings: TaskSettings, today: date, *, canonical: bool
) -> str:
    """The line with the new status and its dates of completion (TASK-42)."""
    dates: dict[str, str | None] = {}
    for name, kind, is_set in (
        ("done", "DONE", settings.set_done_date),
        ("cancelled", "CANCELLED", settings.set_cancelled_date),
    ):
        if status.type != kind:
            dates[name] = None
        elif task.status.type != kind:
            dates[name] = today.isoformat() if is_set else None
    if not canonical:
        return set_fields(set_symbol(line, status.symbol), dates, settings.notation)
    values = {**_values(line, task), **dates}
    return _canonical(
        line, status, {name: value for name, value in values.items() if value is not None}, settings
    )


def _next_line(
    line: Line, task: Task, done: Status, settings: TaskSettings, today: date, upcoming: date
) -> str:
    """The new occurrence: every date moves by as many days as the reference date (TASK-44)."""
    values = _values(line, task)
    for name in ("id", "depends_on", "created", "start", "scheduled", "due", "cancelled", "done"):
        values.pop(name, None)
    if settings.set_created_date:
        values["created"] = today.isoformat()
    reference = _reference(task, settings)
    moved = timedelta() if reference is None else upcoming - reference
    drops_scheduled = settings.remove_scheduled_date_on_recurrence and (task.start or task.due)
    for name in ("start", "scheduled", "due"):
        if (day := task.day(name)) is not None and not (name == "scheduled" and drops_scheduled):
            values[name] = (day + moved).isoformat()
    return _canonical(
        line, settings.statuses.recurring(done), values, settings, keeps_block_id=False
    )


def _values(line: Line, task: Task) -> dict[str, str]:
    """The fields that can be read, as the plugin writes them."""
    values = {name: field.value for name, field in line.by_name.items() if name not in task.invalid}
    if task.rule is not None:
        values["recurrence"] = write_rule(task.rule)
    if task.on_completion is not None:
        values["on_completion"] = task.on_completion
    if task.depends_on:
        values["depends_on"] = ",".join(task.depends_on)
    return values


def _canonical(
    line: Line,
    status: Status,
    values: Mapping[str, str],
    settings: TaskSettings,
    *,
    keeps_block_id: bool = True,
) -> str:
    """The line in the plugin's canonical form; `values` are the fields as written, by name (TASK-26)."""
    notation = notation_of(line, settings.notation)
    fields = "".join(write_field(name, values[name], notation) for name in ORDER if name in values)
    block = f" ^{line.block_id}" if line.block_id and keeps_block_id else ""
    return f"{line.indentation}{line.marker} [{status.symbol}] {line.description}{fields}{block}{line.hard_break}"


_LONGEST_MONTH_DAYS = 31
_MONTH_WEEKS = 5
_YEAR_WEEKS = 53
_DAY_HOURS = 24
"""How often a weekday can be in a month or year, and hours of a day; dateutil fails for more."""


def next_date(rule: Rule, base: date) -> date | None:
    """The first date of a rule after the day `base`, clamped to the ends of short months; or None (TASK-57)."""
    found = _after(rule, base)
    if rule.months or rule.frequency not in ("MONTHLY", "YEARLY"):
        return found
    if rule.frequency == "MONTHLY" and " on " in write_rule(rule):
        return found
    while found is not None and _units_between(rule, base, found) > rule.interval:
        base -= timedelta(days=1)
        found = _after(rule, base)
    return found


def _units_between(rule: Rule, first: date, last: date) -> int:
    years = last.year - first.year
    return years if rule.frequency == "YEARLY" else years * 12 + last.month - first.month


def _after(rule: Rule, base: date) -> date | None:
    """The first occurrence after the day `base` of the rule that starts on it."""
    if rule.month_days and all(abs(day) > _LONGEST_MONTH_DAYS for day in rule.month_days):
        return None
    most = _MONTH_WEEKS if rule.months or rule.frequency == "MONTHLY" else _YEAR_WEEKS
    weekdays = [rrule.weekday(day, nth or None) for day, nth in rule.weekdays if abs(nth) <= most]
    if rule.weekdays and not weekdays:
        return None
    occurrences = rrule.rrule(
        getattr(rrule, rule.frequency),
        dtstart=datetime.combine(base, time.min),
        interval=rule.interval,
        wkst=rrule.MO,
        until=None if rule.until is None else datetime.combine(rule.until, time.min),
        count=rule.count,
        bymonth=rule.months or None,
        bymonthday=rule.month_days or None,
        byweekno=rule.weeks or None,
        byweekday=weekdays or None,
        byhour=[hour for hour in rule.hours if hour < _DAY_HOURS] or None,
    )
    found = occurrences.after(datetime.combine(base, time.max))
    return None if found is None else found.date()
