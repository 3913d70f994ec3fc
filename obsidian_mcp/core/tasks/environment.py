"""What filters, sorters and groupers of a query know besides a task (TASK-106)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from .settings import TaskSettings
from .task import Task


@dataclass(frozen=True)
class Dependencies:
    """Which ids the tasks of the vault that are not done have and wait for."""

    open_ids: frozenset[str]
    awaited_ids: frozenset[str]

    @staticmethod
    def collect(tasks: Iterable[Task]) -> Dependencies:
        """Return the dependencies between all tasks of a vault (TASK-106)."""
        still_open = [task for task in tasks if not task.status.is_done]
        return Dependencies(
            frozenset(task.id for task in still_open if task.id),
            frozenset(id_ for task in still_open for id_ in task.depends_on),
        )

    def blocks(self, task: Task) -> bool:
        """Return whether a task that is not done waits for this one, which is not done either."""
        return not task.status.is_done and task.id in self.awaited_ids

    def is_blocked(self, task: Task) -> bool:
        """Return whether this task, which is not done, waits for one that is not done either."""
        return not task.status.is_done and not self.open_ids.isdisjoint(task.depends_on)


@dataclass(frozen=True)
class Environment:
    """The settings and the day of a query, and the dependencies of the whole vault.

    Few queries ask for the dependencies, which need all tasks of the vault that have an id: they
    are loaded when the first filter asks.
    """

    settings: TaskSettings
    today: date
    load_dependencies: Callable[[], Dependencies]

    @cached_property
    def dependencies(self) -> Dependencies:
        return self.load_dependencies()
