"""Answers from the rows while the folder is looked at for the first time (INDEX-64, SEARCH-115)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, Protocol, TypeVar

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text.vault_path import VaultPath

from .checked_files import CheckedFiles, FilesUnknown
from .database import WRITE_WAIT_SECONDS, Busy, Replaced
from .freshness import LOOKING, LOOKING_AT_MANY, Answer
from .ingest import ingest
from .pending_files import FRESH_FILES, PendingFiles
from .rows import Rows

T = TypeVar("T")

SMALL_FILES: Final = 20_000
"""Up to so many files are waited for to the end, however busy the machine is: mostly 0.1 s."""
TRIES: Final = 3
"""How often a question is asked again because files of its answer have changed."""


class QueryRows(Protocol):
    """Answers a question from one view of the rows, as `Indexer.query`."""

    def __call__(self, question: Callable[[Rows], T], /) -> T: ...


class EarlyAnswers:
    """Answers questions about a large vault until all its files are known.

    What is answered was looked at on disk. That something is not there is not said: such a question
    waits.
    """

    def __init__(self, pending: PendingFiles, query: QueryRows) -> None:
        self._pending = pending
        self._query = query
        self.wait_for_files: Callable[[float | None], bool] = lambda _: True
        """Waits until all files are known, at most so many seconds, None as many as is usual;
        returns whether they are."""
        self._is_large: bool | None = None
        self._is_over = False
        self._has_waited = False
        """Whether a question has waited as long as is usual: the next ones do not."""

    def are_due(self, patience: float | None = None) -> bool:
        """Return whether the rows have to answer, because the look at the folder takes long.

        `patience`: seconds to wait for it, None as many as is usual here, once. An index that never
        knew all files answers nothing. Raises: AppError.
        """
        if self._is_over:
            return False
        wait = self.wait_for_files
        is_known = wait(0.0) or not self._is_of_large_vault()
        if not is_known and not (patience is None and self._has_waited):
            is_known = wait(patience)
            self._has_waited = self._has_waited or patience is None
        self._is_over = is_known
        return not is_known

    def _is_of_large_vault(self) -> bool:
        if self._is_large is None:
            self._is_large = self._query(
                lambda rows: (
                    rows.listed_files.is_whole() and rows.file_paths.count_files() > SMALL_FILES
                )
            )
        return self._is_large

    def ask(self, question: Callable[[Rows, CheckedFiles], T]) -> Answer[T] | None:
        """Return the answer of a question to the rows as they are; None where it has to wait for
        all files. Raises: AppError."""
        if not self.are_due():
            return None
        stat = self._pending.stat or (lambda _: None)

        def ask_checked(rows: Rows) -> tuple[T, CheckedFiles, list[VaultPath]]:
            files = CheckedFiles(rows, stat)
            value = question(rows, files)
            files.catalog.check_any()
            return value, files, rows.file_paths.find_long()

        with suppress(Busy, Replaced, FilesUnknown):
            for _ in range(TRIES):
                value, files, long_files = self._query(ask_checked)
                changed, gone = files.catalog.changed, files.catalog.gone
                if not value or len(changed) > FRESH_FILES or len(gone) > FRESH_FILES:
                    return None
                if not self.store_changes(changed, gone):
                    freshness = LOOKING if files.catalog.is_checked else LOOKING_AT_MANY
                    return Answer(value, freshness, tuple(long_files))
        return None

    def store_changes(self, changed: list[FileEntry], gone: Iterable[VaultPath]) -> bool:
        """Bring the rows of some files up to date; return whether there were any. Raises: AppError,
        Busy, Replaced."""
        if not changed and not gone:
            return False
        pending = self._pending
        stores = pending.index, pending.read, pending.stat
        ingest(*stores, changed, gone, patience=WRITE_WAIT_SECONDS)
        return True
