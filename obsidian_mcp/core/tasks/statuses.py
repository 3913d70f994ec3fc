"""The statuses of a task: what the character between its brackets means (TASK-10 to TASK-14)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

TYPES = ("IN_PROGRESS", "TODO", "ON_HOLD", "DONE", "CANCELLED", "NON_TASK")
"""In the order in which they sort."""
LINE_ENDS = frozenset("\n\r\u2028\u2029")
"""Characters that end a line for the plugin, whose expressions are JavaScript's: none of them can stand in a task."""
_DONE_TYPES = frozenset(("DONE", "CANCELLED", "NON_TASK"))


@dataclass(frozen=True, slots=True)
class Status:
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


TODO = Status(" ", "Todo", "x", "TODO")
DEFAULTS = (
    TODO,
    Status("x", "Done", " ", "DONE"),
    Status("/", "In Progress", "x", "IN_PROGRESS"),
    Status("-", "Cancelled", " ", "CANCELLED"),
)


@dataclass(frozen=True)
class StatusRegistry:
    """The statuses of a vault in the order of the settings."""

    statuses: tuple[Status, ...] = DEFAULTS

    @cached_property
    def _by_symbol(self) -> dict[str, Status]:
        return {status.symbol: status for status in reversed(self.statuses)}

    def get(self, symbol: str) -> Status:
        """Return the status of a symbol; one that is not registered is to do (TASK-11)."""
        return self._by_symbol.get(symbol) or Status(symbol, "Unknown", "x", "TODO")

    def first_of_type(self, kind: str) -> Status | None:
        """Return the first registered status of a type."""
        return next((status for status in self.statuses if status.type == kind), None)

    def toggled(self, status: Status) -> Status:
        """Return the status that a click on the checkbox sets (TASK-13)."""
        return self.get(status.next_symbol)

    def recurring(self, done: Status) -> Status:
        """Return the status of the new occurrence after one was completed with the status `done` (TASK-14)."""
        for kind in ("TODO", "IN_PROGRESS"):
            for status in self._chain(done):
                if status.type == kind:
                    return status
        return self.get(" ")

    def _chain(self, status: Status) -> Iterator[Status]:
        """Follow the links to the next status, at most once around."""
        for _ in self.statuses:
            status = self.toggled(status)
            yield status
