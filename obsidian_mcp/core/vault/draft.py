"""A draft of a vault: calls change it in memory, over the files, and the result is one change
(specs/batch.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import inf
from typing import TypeVar

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.files.ports import Step, Undoing
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.errors import InvalidArguments

from .changes import Changes, Done
from .draft_files import DraftFiles
from .operation import Operation
from .scanning import Scanning
from .vault import Vault

if TYPE_CHECKING:
    from obsidian_mcp.core.index.index import Index

DraftAnswer = TypeVar("DraftAnswer")


class _DraftChanges(Changes):
    """Makes changes in the files of a draft. There is no lock: nobody else sees them."""

    @contextmanager
    def lock_changes(self) -> Iterator[None]:
        yield

    def commit(
        self, tool: str, operations: Sequence[Operation], undoes: Undoing | None = None
    ) -> Done:
        if undoes is not None:
            raise InvalidArguments(
                "A batch cannot undo changes: an undo is a change of its own. Nothing was changed."
            )
        self._check(tool, operations)
        location = None
        for operation in operations:
            location = self._perform(operation, self._files) or location
        self._listing.look_at_all(
            [
                Step("write", changed.disk, getattr(changed, "target", None))
                for changed in operations
            ]
        )
        return Done(0, location)


class DraftVault(Vault):
    """A vault whose changes stay in memory. Close it after use; the vault that it was made from
    stays open."""

    def __init__(self, vault: Vault) -> None:
        """Begin a draft of a vault; the index is copied when it is first needed."""
        self.drafted = DraftFiles(vault.files)
        self.asks_index = False
        """Whether a call has asked the index: then what it planned depends on all files, as links
        do."""
        # once: what others change meanwhile is seen when the change is made
        scanning = Scanning(inf)

        def copy_index() -> Index:
            self.asks_index = True
            # what the copy lacks would be indexed in the draft, for nobody else (INDEX-43)
            vault.indexer.complete()
            return vault.indexer.index.copy_to_memory()

        super().__init__(
            vault.name,
            self.drafted,
            scanning,
            vault.journal,
            copy_index,
            policy=vault.policy,
            calendar=vault.calendar,
        )

    @cached_property
    def _changes(self) -> Changes:
        return _DraftChanges(
            self.files, self.journal, self.policy, self._listing, None, None, self.committed
        )

    def look_everywhere(self) -> None:
        """As `refresh`: a whole scan for each call of a batch would find what the first one
        found."""
        self.refresh()

    def close(self) -> None:
        """Close the copy of the index; the journal stays open for the vault."""
        self.close_index()

    def make(
        self, calls: Sequence[Callable[[DraftVault], DraftAnswer]]
    ) -> tuple[list[DraftAnswer], list[Operation]]:
        """Make calls one after the other; return their answers, and their changes as one. Raises:
        what they raise."""
        answers: list[DraftAnswer] = []
        for number, call in enumerate(calls, 1):
            report_progress(number - 1, len(calls), "Working out the batch")
            self.drafted.call = number
            self.refresh()
            answers.append(call(self))
        return answers, self.drafted.operations()
