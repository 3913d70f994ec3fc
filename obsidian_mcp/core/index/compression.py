"""Pieces of the index, compressed with a dictionary of the vault (specs/index.md, INDEX-52).

A dictionary is what many notes of the vault share, as zstd finds it in a sample of them. With it a
short note takes half of what it takes alone. Each piece names its dictionary; a better one is made
when the vault has grown.
"""

from __future__ import annotations

import sqlite3
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from .database import Connection
from .stored_note import PlainPiece

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEVEL: Final = 5
"""0.06 ms a note of 4.4 KB, to 0.30 of its size; level 9 takes 0.2 ms, to 0.29."""
DICTIONARY_BYTES: Final = 524_288
"""The most that a dictionary takes: with 256 KB lists take 5 % more, other notes 1 %."""
SAMPLE_SHARE: Final = 6
"""A dictionary takes at most this part of the notes that it is made of."""
SAMPLE_BYTES: Final = 600_000
"""As much of the notes is compressed to find how often each symbol comes: 0.03 s."""
SAMPLES: Final = 64
"""A batch of fewer pieces is no sample of a vault."""
GROWTH: Final = 8
"""A new dictionary is made when the vault has so many times as many files as with the last one."""
MOST_DICTIONARIES: Final = 16
"""Dictionaries that a process has ready to decompress with."""
_OPTIONS: Final[dict[int, int]] = {
    zstd.CompressionParameter.compression_level: LEVEL,
    # our column names the dictionary, and a damaged page is noticed by what is in it
    zstd.CompressionParameter.dict_id_flag: 0,
    zstd.CompressionParameter.checksum_flag: 0,
}

SCHEMA = (
    """CREATE TABLE dictionaries (id INTEGER PRIMARY KEY, files INTEGER NOT NULL,
    data BLOB NOT NULL)""",
)


@dataclass(frozen=True, slots=True)
class Dictionary:
    """A dictionary of a vault."""

    id: int
    data: bytes
    """Empty where the vault had too few notes to make one of."""


class CompressedPiece(NamedTuple):
    """A piece as it is stored."""

    dictionary: int
    head: int
    """Bytes of its head, decompressed."""
    content: bytes


class Compressor:
    """Compresses pieces with one dictionary."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        loaded = _load(dictionary.data)
        # digested: to read the dictionary takes longer than to compress a note
        digested = None if loaded is None else loaded.as_digested_dict
        self._compressor = zstd.ZstdCompressor(options=_OPTIONS, zstd_dict=digested)

    def compress(self, piece: PlainPiece) -> CompressedPiece:
        """Return a piece as it is stored."""
        content = self._compressor.compress(piece.data, zstd.ZstdCompressor.FLUSH_FRAME)
        return CompressedPiece(self.dictionary.id, piece.head, content)


@dataclass(frozen=True, slots=True)
class Decompressor:
    """Decompresses the pieces of one index."""

    connection: Connection
    identity: str
    """Of the index: the key of its dictionaries in this process."""

    def decompress(self, dictionary: int, content: bytes, limit: int = -1) -> bytes:
        """Return the bytes of a piece, at most `limit`; -1 means all.

        Raises: sqlite3.DatabaseError for a damaged index, as SQLite does.
        """
        key = self.identity, dictionary
        loaded = _loaded[key] if key in _loaded else self._load(dictionary)
        decompressor = zstd.ZstdDecompressor(zstd_dict=loaded)
        try:
            data: bytes = decompressor.decompress(content, limit)
        except zstd.ZstdError as error:
            raise sqlite3.DatabaseError("A text in the index is damaged.") from error
        if limit < 0 and not decompressor.eof:
            raise sqlite3.DatabaseError("A text in the index is cut.")
        return data

    def _load(self, dictionary: int) -> zstd.ZstdDict | None:
        sql = "SELECT data FROM dictionaries WHERE id = ?"
        row = self.connection.execute(sql, (dictionary,)).fetchone()
        if row is None:
            raise sqlite3.DatabaseError("A dictionary of the index is missing.")
        if len(_loaded) >= MOST_DICTIONARIES:
            _loaded.clear()
        loaded = _loaded[self.identity, dictionary] = _load(row[0])
        return loaded


_loaded: dict[tuple[str, int], zstd.ZstdDict | None] = {}
"""Dictionaries by index and id."""


def _load(data: bytes) -> zstd.ZstdDict | None:
    try:
        return zstd.ZstdDict(data) if data else None
    except ValueError as error:
        raise sqlite3.DatabaseError("A dictionary of the index is damaged.") from error


def choose_dictionary(
    connection: Connection, piece_count: int, last_file: int
) -> Dictionary | None:
    """Return the latest dictionary; None where one is to be made of a batch of so many pieces.

    A batch of few pieces is no sample of a vault, so that only the first dictionary is made of one.
    `last_file` is the greatest number of a file with a piece.
    """
    sql = "SELECT id, data, files FROM dictionaries ORDER BY files DESC LIMIT 1"
    row = connection.execute(sql).fetchone()
    if row is None:
        return None
    dictionary, data, files = row
    if piece_count >= SAMPLES and last_file >= files * GROWTH:
        return None
    return Dictionary(dictionary, data)


def add_dictionary(
    connection: Connection, pieces: Sequence[PlainPiece], last_file: int
) -> Dictionary:
    """Make a dictionary of some pieces, store it and return it.

    Its id comes from its data: copies of an index may add dictionaries of their own.
    """
    data = _train([piece.data for piece in pieces])
    dictionary = Dictionary(zlib.crc32(data) & 0x7FFFFFFF, data)
    connection.execute(
        "INSERT OR REPLACE INTO dictionaries VALUES (?, ?, ?)",
        (dictionary.id, max(last_file, len(pieces)), data),
    )
    return dictionary


def _train(texts: Sequence[bytes]) -> bytes:
    """Return a dictionary of some texts; nothing where they are too few.

    It is whole texts from among all of them, with the frequencies of symbols. To look for what they
    have in common (`zstd.train_dict`) takes ten times as long, and pieces become no shorter.
    """
    total = sum(map(len, texts))
    size = min(DICTIONARY_BYTES, total // SAMPLE_SHARE)
    samples = texts[:: 1 + total // SAMPLE_BYTES]
    try:
        chosen = zstd.ZstdDict(
            b"".join(texts[:: max(1, total // max(size, 1))])[-size:], is_raw=True
        )
        return zstd.finalize_dict(chosen, samples, size, LEVEL).dict_content
    except (zstd.ZstdError, ValueError):
        return b""
