"""Read files, parse them and store their rows: the same in every process that does it (specs/index.md)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AppError, NoteNotFound

from .database import PATIENCE
from .index import Index


class Batch(NamedTuple):
    """Files that one transaction stores or deletes; nobody else works on them until they are done or released."""

    entries: tuple[FileEntry, ...]
    gone: tuple[VaultPath, ...]


Read = Callable[[FileEntry], bytes]
"""Gives the first `facts.BODY_LIMIT` bytes of a file. Raises: AppError."""
Stat = Callable[[str], DiskFile | None]
"""Looks at a file on disk, as `Files.stat`."""


def ingest(
    index: Index,
    read: Read,
    stat: Stat | None,
    entries: Sequence[FileEntry],
    gone: Iterable[VaultPath] = (),
    patience: float = PATIENCE,
) -> list[FileEntry]:
    """Make the rows of some files true, and delete those of others, in one transaction.

    Returns the files that were left out, because they are not as their entry says (INDEX-04). `patience` is how many
    seconds to wait for other writers. Raises: Busy, Replaced.
    """
    now = time.time_ns()
    contents: list[tuple[FileEntry, bytes | AppError]] = []
    missing = []
    for entry in index.stale(entries):
        try:
            contents.append((entry, read(entry)))
        except NoteNotFound:
            missing.append(entry)
        except AppError as error:
            contents.append((entry, error))
    return missing + index.store(index.parse(contents, now), gone, stat, patience)
