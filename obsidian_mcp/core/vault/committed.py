"""A change that was made, for those who observe the vault (SAFE-25)."""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.core.files.ports import Author, Undoing
from obsidian_mcp.core.text.call import current_call

from .operation import Operation


@dataclass(frozen=True, slots=True)
class Committed:
    """A change that was made, for those who observe the vault."""

    number: int
    """Its number in the journal."""
    tool: str
    operations: tuple[Operation, ...]
    undoes: Undoing | None
    """The change that it takes back."""
    author: Author
    time: float
    """Seconds since the epoch."""


def keep_in_call(change: Committed) -> None:
    """Observe a change for the current call, whose answer says its number and its lines."""
    if (committed := current_call.get().made) is not None:
        committed.append(change)
