"""What questions have read of files that the index does not have yet: one question after the other asks for all of
them (specs/index.md, INDEX-42)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sized
from typing import Any, TypeVar

from .catalog import FileEntry
from .paths import VaultPath

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
        self._kept: list[dict[VaultPath, tuple[FileEntry, Any]]] = []
        """For each way to read."""
        self._held = 0

    def __len__(self) -> int:
        """Bytes and characters that are kept."""
        return self._held

    def keeping(self, read: Callable[[FileEntry], T]) -> Callable[[FileEntry], T]:
        """`read`, which reads a waiting file once as long as nobody says that it has changed."""
        kept: dict[VaultPath, tuple[FileEntry, T]] = {}
        with self._lock:
            self._kept.append(kept)

        def once(entry: FileEntry) -> T:
            known = kept.get(entry.path)
            if known is not None and known[0] == entry:
                return known[1]
            found = read(entry)
            if entry.size <= MOST_EACH and self._is_waiting(entry):
                with self._lock:
                    self._remove(kept, entry.path)
                    # asked again: what was taken in meanwhile would never be removed
                    if self._held + len(found) <= MOST and self._is_waiting(entry):
                        kept[entry.path] = entry, found
                        self._held += len(found)
            return found

        return once

    def forget(self, path: VaultPath) -> None:
        """The file has changed, or waits no more."""
        with self._lock:
            for kept in self._kept:
                self._remove(kept, path)

    def clear(self) -> None:
        with self._lock:
            for kept in self._kept:
                kept.clear()
            self._held = 0

    def _remove(self, kept: dict[VaultPath, tuple[FileEntry, Any]], path: VaultPath) -> None:
        known = kept.pop(path, None)
        if known is not None:
            self._held -= len(known[1])
