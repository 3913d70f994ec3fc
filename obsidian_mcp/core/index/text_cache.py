"""Texts that searches have decompressed, kept for the next search (specs/index.md, INDEX-60)."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable
from sys import getsizeof
from typing import Final

from .database import Connection
from .stored_note import NoteHead

CACHE_BYTES: Final = 64 * 1024 * 1024
"""Of the texts of one vault, with their heads: 13 000 notes of 4.4 KB."""
RECENT_TEXTS: Final = 256
"""Texts that are kept of the last hits."""
RECENT_BYTES: Final = 16_384
"""Longer texts are not kept of them: together they take 4 MB at most."""
_ENTRY_BYTES: Final = 600
"""What an entry takes beside its bytes, with the numbers of its structure."""


class PlainText:
    """A decompressed piece: the bytes of the head, and those of the text behind it."""

    __slots__ = ("_structure", "data", "head")

    def __init__(self, data: bytes, head: int) -> None:
        """`head` is the number of its bytes."""
        self.data = data
        self.head = head
        self._structure: array[int] | None = None

    def read_head(self) -> NoteHead:
        """Return the head."""
        return NoteHead(self.data[: self.head])

    def decode_text(self) -> str:
        """Return the text."""
        return self.data[self.head :].decode()

    @property
    def structure(self) -> array[int]:
        """The numbers of the `Structure` of the text; none where it is not known.

        They are unpacked once: that takes as long as to find the parts that match.
        """
        if self._structure is None:
            self._structure = self.read_head().structure
        return self._structure


class CachedTexts:
    """The texts of one state of the index, by the numbers of their files, for all threads."""

    def __init__(self, identity: str, generation: int) -> None:
        self.state = identity, generation
        self.texts: dict[int, PlainText] = {}
        """Those that a pass over many texts has read."""
        self.recent: dict[int, PlainText] = {}
        """Those of the last hits: the same search reads them twice, and the next one often too."""
        self._bytes = 0
        self._lock = threading.Lock()

    def add(self, file: int, text: PlainText) -> None:
        """Keep a text while there is room. It must be of this state of the index."""
        size = _size_of(text)
        if self._bytes + size > CACHE_BYTES:
            return
        with self._lock:
            if file not in self.texts:
                self.texts[file] = text
                self._bytes += size

    def add_recent(self, file: int, text: PlainText) -> None:
        """Keep a text for a while. It must be of this state of the index."""
        if len(text.data) > RECENT_BYTES:
            return
        if len(self.recent) >= RECENT_TEXTS:
            self.recent.clear()
        self.recent[file] = text

    def move_on(self, generation: int, changed: Iterable[int]) -> CachedTexts:
        """Return the texts of a later state, in which some files have changed.

        It is another object: a search that still reads the earlier state keeps what belongs to it.
        """
        with self._lock:
            later = CachedTexts(self.state[0], generation)
            later.texts, later._bytes = dict(self.texts), self._bytes
        later.recent = dict(self.recent)
        for file in changed:
            later.recent.pop(file, None)
            if (text := later.texts.pop(file, None)) is not None:
                later._bytes -= _size_of(text)
        return later


def _size_of(text: PlainText) -> int:
    """Return how many bytes a kept text takes."""
    return getsizeof(text.data) + _ENTRY_BYTES


class TextCache:
    """Keeps the texts of the latest state of one index."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._latest = CachedTexts("", 0)

    def forget(self) -> None:
        """Give back the memory of all texts."""
        with self._lock:
            self._latest = CachedTexts("", 0)

    def open(self, connection: Connection, identity: str, generation: int) -> CachedTexts:
        """Return the texts of a state of the index, as `connection` sees it.

        Those of a state that is older than the latest one are not kept.
        """
        with self._lock:
            latest = self._latest
            if latest.state == (identity, generation):
                return latest
            if latest.state[0] != identity:
                self._latest = CachedTexts(identity, generation)
            elif latest.state[1] > generation:
                return CachedTexts(identity, generation)
            else:
                sql = "SELECT id FROM files WHERE changed > ?"
                rows = connection.execute(sql, (latest.state[1],))
                self._latest = latest.move_on(generation, [file for (file,) in rows])
            return self._latest
