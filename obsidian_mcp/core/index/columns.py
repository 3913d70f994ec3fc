"""How paths stand in the columns of the index, and lists in its conditions."""

from __future__ import annotations

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text.vault_path import VaultPath

IN_LIST = "IN (SELECT value FROM json_each(?))"
"""A condition on a column; its parameter is a JSON list."""


def to_stored_path(path: str) -> str:
    """Return a path as SQLite can store it.

    One that is not UTF-8 is stored as `/` and hexadecimal digits: no path of a vault begins with
    `/`.
    """
    if not path.isascii():
        try:
            path.encode()
        except UnicodeEncodeError:
            return "/" + path.encode("utf-8", "surrogatepass").hex()
    return path


def to_path(text: str) -> VaultPath:
    """Return the path that `to_stored_path` has made storable."""
    if text.startswith("/"):
        return VaultPath(bytes.fromhex(text[1:]).decode("utf-8", "surrogatepass"))
    return VaultPath(text)


def disk_column(entry: FileEntry) -> bytes | None:
    """Return how the disk spells a file, None when that is its path."""
    return None if entry.disk == entry.path else entry.disk.encode("utf-8", "surrogateescape")


def to_spelling(path: VaultPath, disk: bytes | None) -> str:
    """Return how the disk spells a file whose `disk_column` this is."""
    return path if disk is None else disk.decode("utf-8", "surrogateescape")
