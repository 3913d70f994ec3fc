"""The numbers and paths of the files that have rows, asked of one view of the index.

All of them are read only where a question is about all: of a large vault that takes longer than
most searches (SEARCH-48).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import VaultPath, is_indexable

from .columns import IN_LIST, to_path, to_spelling, to_stored_path
from .database import Connection
from .facts import BODY_LIMIT
from .link_rows import IS_ODD

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FilePaths:
    """Which files have rows in one consistent view. Some may be hidden or gone."""

    connection: Connection

    def count_files(self) -> int:
        """Return how many files have rows."""
        return int(self.connection.execute("SELECT count(*) FROM files").fetchone()[0])

    def read_path(self, number: int) -> VaultPath | None:
        """Return the path of a file; None where no file has this number."""
        sql = "SELECT path FROM files WHERE id = ?"
        row = self.connection.execute(sql, (number,)).fetchone()
        return None if row is None else to_path(row[0])

    def read_first(self) -> VaultPath | None:
        """Return any file; None where none has rows."""
        row = self.connection.execute("SELECT path FROM files LIMIT 1").fetchone()
        return None if row is None else to_path(row[0])

    def find_number(self, path: str) -> int | None:
        """Return the number of a file; None where it has no rows."""
        sql = "SELECT id FROM files WHERE path = ?"
        row = self.connection.execute(sql, (to_stored_path(path),)).fetchone()
        return None if row is None else int(row[0])

    def find_numbers(self, paths: Collection[str]) -> dict[str, int]:
        """Return the numbers of some files, without those that have no rows."""
        sql = f"SELECT path, id FROM files WHERE path {IN_LIST}"
        names = json.dumps([to_stored_path(path) for path in paths])
        return {to_path(path): number for path, number in self.connection.execute(sql, (names,))}

    def read_paths(self, numbers: Collection[int]) -> dict[int, VaultPath]:
        """Return the paths of some files by their numbers."""
        sql = f"SELECT id, path FROM files WHERE id {IN_LIST}"
        rows = self.connection.execute(sql, (json.dumps(list(numbers)),))
        return {number: to_path(path) for number, path in rows}

    def read_entries(self, paths: Collection[str]) -> dict[VaultPath, FileEntry]:
        """Return files by path, with the size and time that they had when they were stored."""
        sql = f"SELECT path, disk, size, mtime_ns FROM files WHERE path {IN_LIST}"
        names = json.dumps([to_stored_path(path) for path in paths])
        entries: dict[VaultPath, FileEntry] = {}
        for stored_path, disk, size, mtime_ns in self.connection.execute(sql, (names,)):
            path = to_path(stored_path)
            entries[path] = FileEntry(path, to_spelling(path, disk), size, mtime_ns)
        return entries

    def find_named(self, keys: Collection[str]) -> list[VaultPath]:
        """Return the files whose names have one of these keys (`links.resolve.keys_of`)."""
        sql = f"SELECT path FROM files WHERE key {IN_LIST}"
        names = json.dumps([to_printable(key) for key in keys])
        return [to_path(path) for (path,) in self.connection.execute(sql, (names,))]

    def read_all(self) -> Iterator[tuple[int, VaultPath]]:
        """Yield every file, by number."""
        rows = self.connection.execute("SELECT id, path FROM files ORDER BY id")
        return ((number, to_path(path)) for number, path in rows)

    def read_numbers(self) -> frozenset[int]:
        """Return the numbers of all files."""
        # As one text: most of the time would go into making a row of each number.
        (numbers,) = self.connection.execute("SELECT group_concat(id) FROM files").fetchone()
        return frozenset(json.loads(f"[{numbers}]")) if numbers else frozenset()

    def find_long(self) -> list[VaultPath]:
        """Return the files of which only the beginning is indexed (INDEX-26), by path."""
        sql = f"SELECT path FROM files WHERE size > {BODY_LIMIT} ORDER BY path"
        paths = (to_path(path) for (path,) in self.connection.execute(sql))
        return [path for path in paths if is_indexable(path)]  # PDFs are read whole

    def join_paths(self) -> tuple[list[int], str]:
        """Return the numbers of all files, and their paths as they are stored, one a line."""
        sql = (
            "SELECT group_concat(id), group_concat(path, char(10)) "
            "FROM (SELECT id, path FROM files ORDER BY id)"
        )
        numbers, paths = self.connection.execute(sql).fetchone()
        return (json.loads(f"[{numbers}]"), paths) if numbers else ([], "")

    def find_below(self, folder: str) -> Iterator[tuple[int, VaultPath]]:
        """Yield the files whose paths begin with that of a folder, in any case of its letters.

        Of a folder that is not all ASCII, every file is among them: SQLite folds no other letters.
        """
        if not folder.isascii():
            return self.read_all()
        escaped = folder.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        sql = "SELECT id, path FROM files WHERE path LIKE ? ESCAPE '\\' OR path LIKE '/%'"
        rows = self.connection.execute(sql, (f"{escaped}/%",))
        return ((number, to_path(path)) for number, path in rows)

    def read_below(self, folder: str) -> list[VaultPath]:
        """Return the files below a folder that is spelled exactly so."""
        below = f"{folder}/"
        sql = "SELECT path FROM files WHERE path > ? AND path < ? OR path > '/' AND path < '0'"
        rows = self.connection.execute(sql, (to_printable(below), to_printable(f"{folder}0")))
        paths = (to_path(path) for (path,) in rows)
        return [path for path in paths if path.startswith(below)]

    def read_odd(self) -> dict[int, VaultPath]:
        """Return the files that are no note with the extension `.md`, or that have two keys."""
        sql = f"SELECT id, path FROM files INDEXED BY files_odd WHERE {IS_ODD}"
        return {number: to_path(path) for number, path in self.connection.execute(sql)}


class AskFiles(Protocol):
    """Answers a question about the files from one view of the index."""

    def __call__(self, question: Callable[[FilePaths], T], /) -> T: ...
