"""Read, parse and store files: the same in every process that does it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AppError, NoteNotFound

from . import facts
from .database import PATIENCE
from .index import Index
from .row_writer import Stat, to_disk_file


class IndexBatch(NamedTuple):
    """Files that one transaction stores or deletes.

    Nobody else works on them until they are done or released.
    """

    entries: tuple[FileEntry, ...]
    gone: tuple[VaultPath, ...]
    epoch: int
    """Of the database that lacks them."""


Read = Callable[[FileEntry], bytes]
"""Gives the first `facts.BODY_LIMIT` bytes of a file. Raises: AppError."""


def ingest(
    index: Index,
    read: Read,
    stat: Stat | None,
    entries: Sequence[FileEntry],
    gone: Iterable[VaultPath] = (),
    *,
    patience: float = PATIENCE,
) -> list[FileEntry]:
    """Make the rows of some files true, and delete those of others, in one transaction.

    A file that is not as its entry says is stored as it is now: a listing may have met it between
    its creation and its writing. Return the files that were left out because they changed again
    meanwhile (INDEX-04). Other writers are waited for up to `patience` seconds. Raises: Busy,
    Replaced.
    """

    def store(wanted: Sequence[FileEntry], gone: Iterable[VaultPath]) -> list[FileEntry]:
        begun_ns = time.time_ns()
        contents: list[tuple[FileEntry, bytes | AppError]] = []
        missing = []
        for entry in index.find_stale(wanted):
            try:
                data = read(entry)
                if len(data) == min(entry.size, facts.BODY_LIMIT):
                    contents.append((entry, data))
                else:  # another program is writing it
                    missing.append(entry)
            except NoteNotFound:
                missing.append(entry)
            except AppError as error:
                contents.append((entry, error))
        return missing + index.store(index.parse(contents, begun_ns), gone, stat, patience)

    refused = store(entries, gone)
    if stat is None or not refused:
        return refused
    now = [
        FileEntry(entry.path, *file)
        for entry in refused
        if (file := to_disk_file(stat, entry.disk)) is not None
    ]
    unstored = {entry.path for entry in refused}.difference(entry.path for entry in now)
    unstored.update(entry.path for entry in store(now, ()))
    return [entry for entry in refused if entry.path in unstored]
