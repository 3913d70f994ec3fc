"""The statuses of a task: what the character between its brackets means (TASK-10 to TASK-14)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

TYPES = ("IN_PROGRESS", "TODO", "ON_HOLD", "DONE", "CANCELLED", "NON_TASK")
"""In the order in which they sort."""

_DONE_TYPES = frozenset(("DONE", "CANCELLED", "NON_TASK"))


class TaskStatus(NamedTuple):
    """What one character between the brackets means, as the user set it in the plugin."""

    symbol: str
    """One code point."""
    name: str
    next_symbol: str
    """The symbol that a toggle sets."""
    type: str
    """One of TYPES."""

    @property
    def is_done(self) -> bool:
        """Whether the query `done` finds it (TASK-12)."""
        return self.type in _DONE_TYPES


TODO = TaskStatus(" ", "Todo", "x", "TODO")

DEFAULTS = (
    TODO,
    TaskStatus("x", "Done", " ", "DONE"),
    TaskStatus("/", "In Progress", "x", "IN_PROGRESS"),
    TaskStatus("-", "Cancelled", " ", "CANCELLED"),
)


@dataclass(frozen=True)
class StatusRegistry:
    """The statuses of a vault in the order of the settings."""

    statuses: tuple[TaskStatus, ...] = DEFAULTS

    @cached_property
    def _by_symbol(self) -> dict[str, TaskStatus]:
        return {status.symbol: status for status in reversed(self.statuses)}

    def get(self, symbol: str) -> TaskStatus:
        """Return the status of a symbol; one that is not registered is to do (TASK-11)."""
        return self._by_symbol.get(symbol) or TaskStatus(symbol, "Unknown", "x", "TODO")

    def first_of_type(self, status_type: str) -> TaskStatus | None:
        """Return the first registered status of a type."""
        return next((status for status in self.statuses if status.type == status_type), None)

    def toggle(self, status: TaskStatus) -> TaskStatus:
        """Return the status that a click on the checkbox sets (TASK-13)."""
        return self.get(status.next_symbol)

    def reopen(self, completed: TaskStatus) -> TaskStatus:
        """Return the status of the new occurrence of a recurring task (TASK-14).

        `completed` is the status that the last occurrence was completed with. The plugin clicks on
        from it until a status is to do, or else in progress.
        """
        for status_type in ("TODO", "IN_PROGRESS"):
            for status in self._follow(completed):
                if status.type == status_type:
                    return status
        return self.get(" ")

    def _follow(self, status: TaskStatus) -> Iterator[TaskStatus]:
        """Yield the statuses that clicks set one after the other, at most once around.

        The user may have set statuses in a circle that never leads to one that is to do.
        """
        for _ in self.statuses:
            status = self.toggle(status)
            yield status
