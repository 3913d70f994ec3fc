"""The urgency of a task, by which a list is sorted (TASK-116)."""

from __future__ import annotations

from datetime import date

from .task import Task

_PRIORITY = {"highest": 9.0, "high": 6.0, "medium": 3.9, "none": 1.95, "low": 0.0, "lowest": -1.8}
_DUE = 12.0
"""For a task that is overdue by `_MOST_DAYS_OVERDUE` or more; others get a share of it."""
_SCHEDULED = 5.0
_NOT_STARTED = -3.0

_MOST_DAYS_OVERDUE = 7
_MOST_DAYS_AHEAD = 14
_LEAST_SHARE = 0.2


def urgency(task: Task, today: date) -> float:
    """Return the urgency of a task on a day; the higher, the sooner it should be done.

    It is a sum of points, which are those of the plugin.
    """
    points = _PRIORITY[task.priority]
    if task.due is not None:
        points += _DUE * _due_share((today - task.due).days)
    if task.scheduled is not None and task.scheduled <= today:
        points += _SCHEDULED
    if task.start is not None and task.start > today:
        points += _NOT_STARTED
    return points


def _due_share(days_overdue: int) -> float:
    """Return which share of the points for a due date counts: it grows evenly from day to day."""
    if days_overdue >= _MOST_DAYS_OVERDUE:
        return 1.0
    if days_overdue < -_MOST_DAYS_AHEAD:
        return _LEAST_SHARE
    days = _MOST_DAYS_AHEAD + _MOST_DAYS_OVERDUE
    return (days_overdue + _MOST_DAYS_AHEAD) * (1 - _LEAST_SHARE) / days + _LEAST_SHARE
