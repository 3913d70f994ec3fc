"""Change one file without holding up the other writers of its vault (SAFE-22, SAFE-23)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.errors import NoteExists, StaleEtag

if TYPE_CHECKING:
    from .changes import Changes
    from .operation import Operation

AHEAD = 2
"""Times that a change is planned before other writers have to wait for it."""
LOCKED = 4
"""Times that it is planned then, while another program keeps changing the same file."""


class Attempt:
    """One of several attempts to change a file.

    The first ones plan without the lock, so that others can write while a large file is worked on.
    Where somebody has written the file meanwhile, it is planned again, so that both changes are
    kept, and at last while nobody else may write.
    """

    def __init__(self, changes: Changes, *, is_ahead: bool, is_last: bool) -> None:
        self._changes = changes
        self._is_ahead = is_ahead
        self._is_last = is_last

    @property
    def lock(self) -> AbstractContextManager[None]:
        """The context in which this attempt plans and commits."""
        return nullcontext() if self._is_ahead else self._changes.lock_changes()

    def commit(self, tool: str, operations: Sequence[Operation]) -> bool:
        """Make the change; return False where it has to be planned again.

        Raises: StaleEtag and NoteExists after the last attempt, and what `Changes.commit` raises.
        """
        try:
            self._changes.commit(tool, operations)
        except (StaleEtag, NoteExists):
            if self._is_last:
                raise
            return False
        return True


def attempts(changes: Changes) -> Iterator[Attempt]:
    """Yield attempts until the caller is content with one."""
    for number in range(1, AHEAD + LOCKED + 1):
        yield Attempt(changes, is_ahead=number <= AHEAD, is_last=number == AHEAD + LOCKED)
