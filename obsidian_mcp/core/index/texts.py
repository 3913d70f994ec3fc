"""The texts of files as searches read them (specs/index.md).

Where they lie is known here alone.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice
from operator import itemgetter
from typing import Final, NamedTuple

from . import search_document
from .columns import to_stored_path
from .compression import CompressedPiece, Decompressor
from .database import Connection
from .facts import HeadingFact
from .file_paths import FilePaths
from .piece_rows import find_flagged, read_last_file, read_pieces
from .stored_note import NoteHead
from .text_cache import CachedTexts, PlainText

TEXTS_AT_ONCE: Final = 64
"""Texts that one statement reads where a reader may stop after any of them."""


class SearchedText(NamedTuple):
    """The text of a file, with what a pass over many texts needs beside it."""

    file: int
    text: str
    plain: PlainText
    """The text as it is stored, with its head, which few passes need."""


class NoteText(NamedTuple):
    """The text of a note, with its sections."""

    digest: bytes
    text: str
    headings: list[tuple[int, str]]
    """Where each begins in the text, in code points, and its own text."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of files in one consistent view, by the numbers of their rows.

    To decompress a text takes 8 to 17 µs.
    """

    decompressor: Decompressor
    cached: CachedTexts = field(default_factory=lambda: CachedTexts("", 0))
    """What an earlier search has decompressed in this view."""

    @property
    def _connection(self) -> Connection:
        return self.decompressor.connection

    def read_text(self, path: str) -> str | None:
        """Return the text of a file in which searches look; None where it has no rows."""
        text = self._read_at(path)
        return None if text is None else text.decode_text()

    def read_searched(self, files: AbstractSet[int]) -> Iterator[SearchedText]:
        """Yield the texts of some files, in no order, and keep them for the next search."""
        cached = self.cached.texts
        missing = files - cached.keys()
        for file in files - missing:
            yield _to_searched(file, cached[file])
        if not missing:
            return
        # of more, a pass over all rows is quicker
        is_part = len(missing) * 4 <= read_last_file(self._connection) * 3
        for file, piece in read_pieces(self._connection, missing if is_part else None):
            if file in missing:
                text = self._decompress(piece)
                self.cached.add(file, text)
                yield _to_searched(file, text)

    def read_newest_first(self) -> Iterator[tuple[int, str]]:
        """Yield file number and text of every file, the one changed last first."""
        sql = "SELECT id FROM files ORDER BY mtime_ns DESC, path"
        numbers = (file for (file,) in self._connection.execute(sql))
        while batch := list(islice(numbers, TEXTS_AT_ONCE)):
            texts = dict(self._read(batch))
            for file in batch:
                if file in texts:
                    yield file, texts[file].decode_text()

    def read_indexed_fields(
        self, files: Iterable[int]
    ) -> Iterator[tuple[int, search_document.IndexedFields]]:
        """Yield what the full-text index has of some files."""
        for file, text in self._read(list(files)):
            short_fields = NoteHead(text.data[: text.head]).short_fields
            yield file, search_document.IndexedFields(text.decode_text(), short_fields)

    def read_structure(self, file: int) -> array[int]:
        """Return the numbers of the structure of a text as it is stored.

        None where it is not known. A text that is cut has that of its beginning.
        """
        for _, text in self._read([file]):
            return text.structure
        return array("I")

    def read_note(self, path: str) -> NoteText | None:
        """Return the text of a note as it is embedded; None where it has no rows."""
        sql = "SELECT digest FROM files WHERE path = ? AND digest NOTNULL"
        row = self._connection.execute(sql, (to_stored_path(path),)).fetchone()
        text = None if row is None else self._read_at(path)
        if text is None:
            return None
        found_headings = text.read_head().headings
        headings = [(heading.start, heading.text) for heading in found_headings if heading.level]
        return NoteText(row[0], text.decode_text(), headings)

    def find_flagged(self, bits: int) -> set[int]:
        """Return the files that have one of some bits of `search_document`."""
        return find_flagged(self._connection, bits)

    def read_headings(self, files: Iterable[int]) -> Iterator[tuple[int, HeadingFact]]:
        """Yield the headings of some files with the file, in their order."""
        for file, head in self.read_heads(files):
            for heading in head.headings:
                yield file, heading

    def read_heads(self, files: Iterable[int]) -> list[tuple[int, NoteHead]]:
        """Return the heads of some files with the file, in the order of their numbers."""
        heads: dict[int, NoteHead] = {}
        texts, recent = self.cached.texts, self.cached.recent
        missing = []
        for file in sorted(set(files)):
            if (text := texts.get(file) or recent.get(file)) is None:
                missing.append(file)
            else:
                heads[file] = NoteHead(text.data[: text.head])
        if not missing:
            return list(heads.items())
        decompress = self.decompressor.decompress
        for file, piece in read_pieces(self._connection, missing):
            heads[file] = NoteHead(decompress(piece.dictionary, piece.content, piece.head))
        return sorted(heads.items(), key=itemgetter(0))

    def read_list_items(self, path: str) -> tuple[int, NoteHead, str] | None:
        """Return the number of a file, its head and its text; None where it has no list items."""
        file = FilePaths(self._connection).find_number(path)
        for number, text in self._read([] if file is None else [file]):
            if (head := text.read_head()).list_items:
                return number, head, text.decode_text()
        return None

    def _read_at(self, path: str) -> PlainText | None:
        file = FilePaths(self._connection).find_number(path)
        return None if file is None else next((text for _, text in self._read([file])), None)

    def _read(self, files: Collection[int]) -> Iterator[tuple[int, PlainText]]:
        """Yield some files with their texts, and keep these for a while."""
        texts, recent = self.cached.texts, self.cached.recent
        missing = []
        for file in files:
            if (text := texts.get(file) or recent.get(file)) is None:
                missing.append(file)
            else:
                yield file, text
        if not missing:
            return
        for file, piece in read_pieces(self._connection, missing):
            text = self._decompress(piece)
            self.cached.add_recent(file, text)
            yield file, text

    def _decompress(self, piece: CompressedPiece) -> PlainText:
        data = self.decompressor.decompress(piece.dictionary, piece.content)
        return PlainText(data, piece.head)


def _to_searched(file: int, text: PlainText) -> SearchedText:
    return SearchedText(file, text.decode_text(), text)
