"""What questions have read of files that the index does not have yet: one question after the other asks for all of
them (specs/index.md, INDEX-42)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sized
from collections.abc import Set as AbstractSet
from typing import Any, Generic, TypeVar

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.text.vault_path import VaultPath

T = TypeVar("T", bound=Sized)

MOST = 32 * 1024 * 1024
MOST_EACH = 1024 * 1024
"""Bytes or characters that are kept of all files, and bytes of one. Of these every way to read gives the whole."""


class Shelf:
    """Of one vault. Every method may be called from any thread.

    `is_waiting` says whether a file, as an entry tells of it, has yet to be taken in; only of such something is kept.
    """

    def __init__(self, is_waiting: Callable[[FileEntry], bool]) -> None:
        self._is_waiting = is_waiting
        self._lock = threading.Lock()
        self._readers: list[Reader[Any]] = []
        self._held = 0

    def __len__(self) -> int:
        """Bytes and characters that are kept."""
        return self._held

    def keeping(self, read: Callable[[FileEntry], T]) -> Reader[T]:
        """`read`, which reads a waiting file once as long as nobody says that it has changed."""
        reader = Reader(self, read)
        with self._lock:
            self._readers.append(reader)
        return reader

    def keep(self, reader: Reader[T], entry: FileEntry, found: T) -> None:
        """What a reader has read, where there is room for it."""
        if entry.size > MOST_EACH or not self._is_waiting(entry):
            return
        with self._lock:
            self._remove(reader, entry.path)
            # asked again: what was taken in meanwhile would never be removed
            if self._held + len(found) <= MOST and self._is_waiting(entry):
                reader.kept[entry.path] = entry, found
                self._held += len(found)

    def forget(self, path: VaultPath) -> None:
        """The file has changed, or waits no more."""
        with self._lock:
            for reader in self._readers:
                self._remove(reader, path)

    def clear(self) -> None:
        with self._lock:
            for reader in self._readers:
                reader.kept.clear()
            self._held = 0

    def _remove(self, reader: Reader[Any], path: VaultPath) -> None:
        known = reader.kept.pop(path, None)
        if known is not None:
            self._held -= len(known[1])


class Reader(Generic[T]):
    """One way to read, with what it has read of waiting files."""

    def __init__(self, shelf: Shelf, read: Callable[[FileEntry], T]) -> None:
        self._shelf = shelf
        self._read = read
        self.kept: dict[VaultPath, tuple[FileEntry, T]] = {}

    def unread(self, paths: AbstractSet[VaultPath]) -> set[VaultPath]:
        """Those of some waiting files that have yet to be read."""
        return set(paths).difference(self.kept)

    def __call__(self, entry: FileEntry) -> T:
        known = self.kept.get(entry.path)
        if known is not None and known[0] == entry:
            return known[1]
        found = self._read(entry)
        self._shelf.keep(self, entry, found)
        return found
