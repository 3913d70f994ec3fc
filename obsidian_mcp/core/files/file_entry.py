"""One file of a vault as its list knows it, and the content that was read of it."""

from __future__ import annotations

from typing import NamedTuple

from obsidian_mcp.core.calendar.timestamp import timestamp
from obsidian_mcp.core.text.digest import etag_of
from obsidian_mcp.core.text.text import MAX_FILE_BYTES, SNIFFED_BYTES, Text
from obsidian_mcp.core.text.vault_path import VaultPath

from .ports import DiskFile


class FileEntry(NamedTuple):
    """One file of the vault: `path` is its path in the vault (NAME-09), `disk` its spelling on
    disk."""

    path: VaultPath
    disk: str
    size: int
    """Bytes."""
    mtime_ns: int
    """Modification time in nanoseconds since the epoch."""

    @property
    def disk_file(self) -> DiskFile:
        """The file as the disk lists it."""
        return DiskFile(self.disk, self.size, self.mtime_ns)

    @property
    def is_too_large(self) -> bool:
        """Whether the file is larger than what is read at once."""
        return self.size > MAX_FILE_BYTES

    @property
    def modified(self) -> str:
        """The modification time in ISO 8601."""
        return timestamp(self.mtime_ns)


class FileContent(NamedTuple):
    """A file as it was read (specs/edits.md, SAFE-07)."""

    entry: FileEntry
    data: bytes

    @property
    def etag(self) -> str:
        return etag_of(self.data)

    @property
    def is_text(self) -> bool:
        """Whether it can be shown as text."""
        return b"\0" not in self.data[:SNIFFED_BYTES]

    @property
    def text(self) -> Text:
        return Text.decode(self.data)

    def with_body(self, body: str) -> FileContent:
        """Return the file with another text behind its byte order mark."""
        return FileContent(self.entry, Text(body, self.text.bom).encode())
