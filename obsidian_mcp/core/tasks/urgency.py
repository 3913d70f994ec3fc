"""How urgent a task is, as a number (TASK-116)."""

from __future__ import annotations

from datetime import date

from .task import Task

_PRIORITY = {"highest": 9.0, "high": 6.0, "medium": 3.9, "none": 1.95, "low": 0.0, "lowest": -1.8}
_DUE = 12.0
_SCHEDULED = 5.0
_NOT_STARTED = -3.0
_MOST_DAYS_OVERDUE = 7
_MOST_DAYS_AHEAD = 14
_LEAST_SHARE = 0.2


def urgency(task: Task, today: date) -> float:
    """Return the urgency of a task on a day; the higher, the sooner it should be done."""
    found = _PRIORITY[task.priority]
    if task.due is not None:
        found += _DUE * _due_share((today - task.due).days)
    if task.scheduled is not None and task.scheduled <= today:
        found += _SCHEDULED
    if task.start is not None and task.start > today:
        found += _NOT_STARTED
    return found


def _due_share(days_overdue: int) -> float:
    if days_overdue >= _MOST_DAYS_OVERDUE:
        return 1.0
    if days_overdue < -_MOST_DAYS_AHEAD:
        return _LEAST_SHARE
    return (days_overdue + _MOST_DAYS_AHEAD) * (1 - _LEAST_SHARE) / (
        _MOST_DAYS_AHEAD + _MOST_DAYS_OVERDUE
    ) + _LEAST_SHARE
