"""The names of the files without rows, such as images, as all were last listed (INDEX-65).

They are stored for the next start: until that has looked at the folder, links and listings are
answered from them. A name that is out of date costs time and no truth, because each file of such an
answer is looked at on disk.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.links.resolve import keys_of
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import VaultPath

from .columns import IN_LIST, disk_column, to_path, to_spelling, to_stored_path
from .database import Connection

SCHEMA = (
    "CREATE TABLE listed_files (path TEXT PRIMARY KEY, key TEXT NOT NULL, disk BLOB) WITHOUT ROWID",
    "CREATE INDEX listed_files_by_key ON listed_files (key)",
    # has one row once all files of the vault were listed, and those with text had rows
    "CREATE TABLE listings (is_whole INTEGER PRIMARY KEY)",
)


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """The files without rows in one view of the index. Some may be gone."""

    connection: Connection

    def is_whole(self) -> bool:
        """Return whether all files of the vault were listed once, and those with text had rows."""
        return self.connection.execute("SELECT 1 FROM listings").fetchone() is not None

    def read_spellings(self, paths: Collection[str]) -> dict[VaultPath, str]:
        """Return how the disk spells some of these files, by path."""
        sql = f"SELECT path, disk FROM listed_files WHERE path {IN_LIST}"
        names = json.dumps([to_stored_path(path) for path in paths])
        spellings: dict[VaultPath, str] = {}
        for stored_path, disk in self.connection.execute(sql, (names,)):
            path = to_path(stored_path)
            spellings[path] = to_spelling(path, disk)
        return spellings

    def find_named(self, keys: Collection[str]) -> list[VaultPath]:
        """Return the files whose names have one of these keys (`links.resolve.keys_of`)."""
        sql = f"SELECT path FROM listed_files WHERE key {IN_LIST}"
        names = json.dumps([to_printable(key) for key in keys])
        return [to_path(path) for (path,) in self.connection.execute(sql, (names,))]

    def has_others_than(self, entries: Mapping[VaultPath, FileEntry]) -> bool:
        """Return whether other files than these were listed."""
        (count,) = self.connection.execute("SELECT count(*) FROM listed_files").fetchone()
        if count != len(entries):
            return True
        paths = self.connection.execute("SELECT path FROM listed_files")
        return any(to_path(path) not in entries for (path,) in paths)

    def replace(self, entries: Iterable[FileEntry]) -> None:
        """Store that the files of the vault without rows are these."""
        self.connection.execute("DELETE FROM listed_files")
        self.connection.executemany(
            "INSERT INTO listed_files VALUES (?, ?, ?)",
            (
                (
                    to_stored_path(entry.path),
                    to_printable(keys_of(entry.path)[0]),
                    disk_column(entry),
                )
                for entry in entries
            ),
        )
        self.connection.execute("INSERT OR IGNORE INTO listings VALUES (1)")
