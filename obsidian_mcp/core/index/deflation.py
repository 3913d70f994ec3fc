"""Pieces of the index, deflated with a dictionary of the vault (specs/index.md, INDEX-52).

A dictionary is a sample of the vault's notes. With it a short note takes a third less than alone.
Each piece names its dictionary; a better one is made when the vault has grown.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .database import Connection
from .stored_note import PlainPiece

LEVEL = 6
"""0.28 ms a note of 4.4 KB, to 0.31 of its size; level 5 takes half the time, to 0.325."""
DICTIONARY_BYTES = 32_768
"""As much as deflate looks back."""
SAMPLES = 64
"""Notes of which a dictionary is made."""
GROWTH = 16
"""A new dictionary is made when the vault has so many times as many files as with the last one."""
MOST_INFLATERS = 64
"""Dictionaries that a process has ready to inflate with; each takes 40 KB."""
_WINDOW_BITS = -15
"""Raw deflate, without header and checksum: the database has its own."""
_MEMORY_LEVEL = 8

SCHEMA = (
    """CREATE TABLE dictionaries (id INTEGER PRIMARY KEY, files INTEGER NOT NULL,
    data BLOB NOT NULL)""",
    """CREATE TABLE notes (file INTEGER PRIMARY KEY, odd INTEGER NOT NULL,
    dictionary INTEGER NOT NULL, head INTEGER NOT NULL, content BLOB NOT NULL)""",
    "CREATE INDEX notes_odd ON notes (odd) WHERE odd != 0",
)


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A dictionary of a vault."""

    id: int
    data: bytes


class Deflated(NamedTuple):
    """A piece as it is stored."""

    dictionary: int
    head: int
    """Bytes of its head, inflated."""
    content: bytes


class Deflater:
    """Deflates pieces with one dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        # to read the dictionary takes half as long as to deflate a note, so it is read once
        self._begun = zlib.compressobj(
            LEVEL,
            zlib.DEFLATED,
            _WINDOW_BITS,
            _MEMORY_LEVEL,
            zlib.Z_DEFAULT_STRATEGY,
            dictionary.data,
        )

    def deflate(self, piece: PlainPiece) -> Deflated:
        """Return a piece as it is stored."""
        compressor = self._begun.copy()
        content = compressor.compress(piece.data) + compressor.flush()
        return Deflated(self.dictionary.id, piece.head, content)


@dataclass(frozen=True, slots=True)
class Inflater:
    """Inflates the pieces of one index."""

    connection: Connection
    identity: str
    """Of the index: the key of its dictionaries in this process."""

    def inflate(self, dictionary: int, content: bytes, limit: int = 0) -> bytes:
        """Return the bytes of a piece, at most `limit`; 0 means all.

        Raises: sqlite3.DatabaseError for a damaged index, as SQLite does.
        """
        begun = _begun.get((self.identity, dictionary)) or self._begin(dictionary)
        inflater = begun.copy()
        try:
            data = bytes(inflater.decompress(content, limit))
        except zlib.error as error:
            raise sqlite3.DatabaseError("A text in the index is damaged.") from error
        if not limit and not inflater.eof:
            raise sqlite3.DatabaseError("A text in the index is cut.")
        return data

    def _begin(self, dictionary: int) -> Any:
        sql = "SELECT data FROM dictionaries WHERE id = ?"
        row = self.connection.execute(sql, (dictionary,)).fetchone()
        if row is None:
            raise sqlite3.DatabaseError("A dictionary of the index is missing.")
        if len(_begun) >= MOST_INFLATERS:
            _begun.clear()
        begun = _begun[self.identity, dictionary] = zlib.decompressobj(_WINDOW_BITS, row[0])
        return begun


_begun: dict[tuple[str, int], Any] = {}
"""Inflaters that have read their dictionary, and nothing else, by index and dictionary."""


def choose_dictionary(connection: Connection, piece_count: int) -> Dictionary | None:
    """Return the latest dictionary; None where one is to be made of a batch of so many pieces.

    A batch of few pieces is no sample of a vault, so that only the first dictionary is made of one.
    """
    sql = (
        "SELECT id, data, files, (SELECT max(file) FROM notes) FROM dictionaries "
        "ORDER BY files DESC LIMIT 1"
    )
    row = connection.execute(sql).fetchone()
    if row is None:
        return None
    dictionary, data, files, last_file = row
    if piece_count >= SAMPLES and (last_file or 0) >= files * GROWTH:
        return None
    return Dictionary(dictionary, data)


def add_dictionary(connection: Connection, pieces: Sequence[PlainPiece]) -> Dictionary:
    """Make a dictionary of some pieces, store it and return it.

    Its id comes from its data: copies of an index may add dictionaries of their own.
    """
    data = _sample(pieces)
    dictionary = Dictionary(zlib.crc32(data) & 0x7FFFFFFF, data)
    (last_file,) = connection.execute("SELECT max(file) FROM notes").fetchone()
    connection.execute(
        "INSERT OR REPLACE INTO dictionaries VALUES (?, ?, ?)",
        (dictionary.id, max(last_file or 0, len(pieces)), data),
    )
    return dictionary


def _sample(pieces: Sequence[PlainPiece]) -> bytes:
    """Return parts of some pieces: beginnings, which are most alike, and middles."""
    step = max(1, len(pieces) // SAMPLES)
    chosen = pieces[::step][:SAMPLES]
    share = DICTIONARY_BYTES // max(1, len(chosen))
    middles = [_middle(piece.data, share // 2) for piece in chosen]
    beginnings = [piece.data[: share // 2] for piece in chosen]
    return b"".join((*middles, *beginnings))


def _middle(data: bytes, size: int) -> bytes:
    start = max(0, (len(data) - size) // 2)
    return data[start : start + size]
