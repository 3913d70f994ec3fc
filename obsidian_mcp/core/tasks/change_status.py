"""Change the status of a task (TASK-40 to TASK-48).

With it come dates of completion, new occurrences, and actions on completion.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from .fields import ORDER, write_field
from .line import Line, choose_notation, read_line, set_fields, set_symbol
from .next_date import next_date
from .rule_text import write_rule
from .settings import TaskSettings
from .statuses import TaskStatus
from .task import Task, TaskPlace, parse_line, reference_order

_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's categories of what cannot stand between brackets.

These are control characters, marks of direction, halves of characters and separators of lines.
"""


@dataclass(frozen=True, slots=True)
class StatusChange:
    """The lines that stand in place of a task's line, without line ends."""

    changed: str | None
    """None where the task is deleted."""
    next: str | None = None
    """The new occurrence of a recurring task."""
    next_below: bool = False
    """Whether the new occurrence stands below the changed line."""
    warnings: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """In the order of the note (TASK-43)."""
        pair = (self.changed, self.next) if self.next_below else (self.next, self.changed)
        return [line for line in pair if line is not None]


def follows_core(text: str, settings: TaskSettings) -> bool:
    """Return whether only the app's own rule holds for a checkbox (TASK-03, TASK-40).

    It does where its line is no task of the plugin, or the plugin is off and the line has no field.
    """
    line = read_line(text, settings.notation)
    if line is None or not settings.is_task(line.body):
        return True
    return not settings.plugin_enabled and all(field.name == "tag" for field in line.fields)


def read_status(
    name: str, current: TaskStatus, settings: TaskSettings, *, core: bool
) -> TaskStatus | None:
    """Return the status with this name; None for other words (TASK-41).

    A name is `toggle`, a type in any case, or one printable character other than a bracket. `core`
    is what `follows_core` returns.
    """
    if name == "toggle":
        if core:
            return settings.statuses.get("x" if current.symbol == " " else " ")
        return settings.statuses.toggle(current)
    if len(name) == 1:
        if name in "[]" or unicodedata.category(name) in _UNPRINTABLE:
            return None
        return settings.statuses.get(name)
    return settings.statuses.first_of_type(name.upper())


def change_status(
    text: str,
    status: TaskStatus,
    settings: TaskSettings,
    today: date,
    *,
    has_children: bool = False,
) -> StatusChange:
    """Return what becomes of a task's line.

    `has_children` says whether lines or items are indented below it: then it is never deleted,
    since these would lose the item above them (TASK-47).
    """
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
            "Only the status and its dates were changed, so as not to lose text that cannot be "
            f"read: {'; '.join(losses)}."
        )
    if task.rule and not task.rule.is_complete:
        warnings.append(
            f"Only {write_rule(task.rule)!r} of the recurrence rule is understood; the rest of it "
            "is ignored."
        )
    following = None
    if upcoming is not None and completes:
        following = _next_line(line, task, status, settings, today=today, upcoming=upcoming)
    deletes = completes and task.on_completion == "delete"
    if deletes and has_children:
        warnings.append(
            "The task was not deleted on completion, because lines or items are indented below it."
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
    """Return the date that a recurring task counts from (TASK-45)."""
    days = (task.day(name) for name in reference_order(settings))
    return next((day for day in days if day is not None), None)


def _losses(line: Line, task: Task, *, has_next: bool) -> list[str]:
    """Return what the plugin's form of the line would lose (TASK-46)."""
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
    line: Line,
    task: Task,
    status: TaskStatus,
    settings: TaskSettings,
    today: date,
    *,
    canonical: bool,
) -> str:
    """Return the line with the new status and its dates of completion (TASK-42)."""
    dates: dict[str, str | None] = {}
    for name, status_type, is_set in (
        ("done", "DONE", settings.set_done_date),
        ("cancelled", "CANCELLED", settings.set_cancelled_date),
    ):
        if status.type != status_type:
            dates[name] = None
        elif task.status.type != status_type:
            dates[name] = today.isoformat() if is_set else None
    if not canonical:
        return set_fields(set_symbol(line, status.symbol), dates, settings.notation)
    fields = {**_values(line, task), **dates}
    values = {name: value for name, value in fields.items() if value is not None}
    return _canonical_line(line, status, values, settings)


def _next_line(
    line: Line,
    task: Task,
    completed: TaskStatus,
    settings: TaskSettings,
    *,
    today: date,
    upcoming: date,
) -> str:
    """Return the line of the new occurrence, whose reference date is `upcoming` (TASK-44).

    Every other date moves by as many days as the reference date.
    """
    values = _values(line, task)
    for name in ("id", "depends_on", "created", "start", "scheduled", "due", "cancelled", "done"):
        values.pop(name, None)
    if settings.set_created_date:
        values["created"] = today.isoformat()
    reference = _reference(task, settings)
    shift = timedelta() if reference is None else upcoming - reference
    drops_scheduled = settings.remove_scheduled_date_on_recurrence and (task.start or task.due)
    for name in ("start", "scheduled", "due"):
        day = task.day(name)
        if day is not None and not (name == "scheduled" and drops_scheduled):
            values[name] = (day + shift).isoformat()
    status = settings.statuses.reopen(completed)
    return _canonical_line(line, status, values, settings, keeps_block_id=False)


def _values(line: Line, task: Task) -> dict[str, str]:
    """Return the fields that can be read, as the plugin writes them."""
    values = {name: field.value for name, field in line.by_name.items() if name not in task.invalid}
    if task.rule is not None:
        values["recurrence"] = write_rule(task.rule)
    if task.on_completion is not None:
        values["on_completion"] = task.on_completion
    if task.depends_on:
        values["depends_on"] = ",".join(task.depends_on)
    return values


def _canonical_line(
    line: Line,
    status: TaskStatus,
    values: Mapping[str, str],
    settings: TaskSettings,
    *,
    keeps_block_id: bool = True,
) -> str:
    """Return the line in the plugin's canonical form (TASK-26).

    `values` are the fields as they are written, by name.
    """
    notation = choose_notation(line, settings.notation)
    fields = "".join(write_field(name, values[name], notation) for name in ORDER if name in values)
    block = f" ^{line.block_id}" if line.block_id and keeps_block_id else ""
    item = f"{line.indentation}{line.marker} [{status.symbol}]"
    return f"{item} {line.description}{fields}{block}{line.hard_break}"
