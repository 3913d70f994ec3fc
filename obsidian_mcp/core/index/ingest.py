"""Files on their way into the index: read, parsed, stored (specs/index.md). The same in every process that does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AppError, NoteNotFound

from . import extract
from .database import PATIENCE
from .extract import Parse
from .index import Index, Record


@dataclass(frozen=True, slots=True)
class Prepared:
    records: list[Record]
    missing: list[FileEntry]
    """Files that are not there any more."""


@dataclass(frozen=True, slots=True)
class Intake:
    """`read` gives the first `facts.BODY_LIMIT` bytes of a file or raises AppError, `stat` looks at the disk (see
    `Index.store`). They are called in many threads, and must not wait for a lock that somebody holds while asking a
    question.
    """

    index: Index
    read: Callable[[FileEntry], bytes]
    stat: Callable[[str], DiskFile | None] | None
    parse: Parse = extract.parse

    def take_in(
        self, entries: Sequence[FileEntry], gone: Sequence[VaultPath], patience: float = PATIENCE
    ) -> list[FileEntry]:
        """Make the rows of some files true; those that could not be, as they are not as the entry says.

        `patience` is how many seconds to wait for other writers.
        Raises: Busy, Replaced.
        """
        return self.store(self.prepare(entries), gone, patience)

    def prepare(self, entries: Sequence[FileEntry]) -> Prepared:
        """What is to be stored of some files. Raises: Busy, Replaced."""
        contents, missing = self._contents(self.index.stale(entries))
        return Prepared(self.index.parse(contents, self.parse), missing)

    def store(self, prepared: Prepared, gone: Sequence[VaultPath], patience: float = PATIENCE) -> list[FileEntry]:
        """The second half of `take_in`."""
        return prepared.missing + self.index.store(prepared.records, gone, self.stat, patience)

    def _contents(
        self, entries: Iterable[FileEntry]
    ) -> tuple[list[tuple[FileEntry, bytes | AppError]], list[FileEntry]]:
        """The bytes of files, and the files that are not there any more."""
        items: list[tuple[FileEntry, bytes | AppError]] = []
        missing = []
        for entry in entries:
            try:
                items.append((entry, self.read(entry)))
            except NoteNotFound:
                missing.append(entry)
            except AppError as error:
                items.append((entry, error))
        return items, missing
