"""Several calls as one change (specs/batch.md).

The calls are worked out on a draft of the vault, without its lock, and made together under it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from obsidian_mcp.core.files.name_errors import changed_meanwhile_error
from obsidian_mcp.core.vault.draft import DraftVault
from obsidian_mcp.core.vault.operation import Operation, Remove
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError, NoteExists, NoteNotFound, StaleEtag

from . import bulk

Call = Callable[[DraftVault], Any]


@dataclass(frozen=True, slots=True)
class DraftedChange(PlannedChange):
    """What the calls of a batch change together."""

    answers: tuple[Any, ...] = ()
    """What the calls returned, in their order."""
    asks_index: bool = False
    """Whether a call asked for links, tags or searches, which any file may change."""

    @property
    def depends_on_all(self) -> bool:
        return self.asks_index


class CallSequence:
    """Calls that are made as one change, all or none (BATCH-03).

    A call that works for long holds nobody up: the draft needs no lock, and what others write
    meanwhile is noticed when the change is made (INDEX-43). Then the calls are worked out again.
    """

    def __init__(self, vault: Vault, calls: Sequence[Call]) -> None:
        self._vault = vault
        self._calls = [_number_errors(call, number) for number, call in enumerate(calls, 1)]
        self._call_of: Callable[[str], int | None] = lambda _: None
        self._removed: dict[str, bytes | None] = {}
        """What the files held that the first draft deleted for good."""

    def make(self, *, dry_run: bool = False) -> DraftedChange:
        """Make the calls, all or none.

        Raises: AppError of a call, with its number as `call` in the data, also where another
        program has changed its file meanwhile; what `Vault.commit` raises about the change as a
        whole.
        """
        self._vault.refresh()
        try:
            return bulk.make(self._vault, "batch", self._draft, dry_run=dry_run, awaits_index=False)
        except (StaleEtag, NoteExists, NoteNotFound) as error:
            if (
                "call" not in error.data
                and (call := self._call_of(str(error.data.get("path")))) is not None
            ):
                error.data["call"] = call
            raise

    def _draft(self) -> DraftedChange:
        """Work the calls out, one after the other, from the files as they are now.

        Raises: AppError of a call.
        """
        drafted = DraftVault(self._vault)
        self._call_of = drafted.drafted.call_of
        try:
            answers, operations = drafted.make(self._calls)
        finally:
            drafted.close()
        for operation in operations:
            self._check_removal(operation)
        return DraftedChange(
            steps=tuple(operations), answers=tuple(answers), asks_index=drafted.asks_index
        )

    def _check_removal(self, operation: Operation) -> None:
        """Check that a file which is deleted for good is still as the first draft saw it.

        An edit is made again from the new text, but a deletion would take along text that nobody
        has seen. Raises: StaleEtag.
        """
        if isinstance(operation, Remove) and operation.permanent:
            first_bytes = self._removed.setdefault(operation.disk, operation.before)
            if first_bytes != operation.before:
                raise changed_meanwhile_error(operation.disk)


def _number_errors(call: Call, number: int) -> Call:
    """Return a call whose errors have its number, from 1, in their data."""

    def make(drafted: DraftVault) -> Any:
        try:
            return call(drafted)
        except AppError as error:
            error.data["call"] = number
            raise

    return make
