"""The texts of files as searches read them (specs/index.md).

Where they lie is known here alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from . import search_document
from .columns import IN_LIST, to_stored_path
from .database import Connection
from .deflation import Inflater
from .facts import HeadingFact
from .stored_note import NoteHead


class SearchedText(NamedTuple):
    """The text of a file, with what a pass over many texts needs beside it."""

    file: int
    text: str
    head: bytes
    """Read by `NoteHead`; few passes need it."""


class SearchedFields(NamedTuple):
    """The fields of a file in the full-text index.

    All but the text are prepared by `analysis.spread`.
    """

    file: int
    is_truncated: bool
    """Whether the text is only the beginning of the file's."""
    aliases: str
    headings: str
    tags: str
    folder: str
    text: str


class NoteText(NamedTuple):
    """The text of a note, with its sections."""

    digest: bytes
    text: str
    headings: list[tuple[int, str]]
    """Where each begins in the text, in code points, and its own text."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of files in one consistent view, by the numbers of their rows.

    To inflate a text takes about 10 µs.
    """

    inflater: Inflater

    @property
    def _connection(self) -> Connection:
        return self.inflater.connection

    def read_text(self, path: str) -> str | None:
        """Return the text of a file in which searches look; None where it has no rows."""
        sql = f"SELECT {_PIECE} FROM notes JOIN files ON files.id = file WHERE path = ?"
        row = self._connection.execute(sql, (to_stored_path(path),)).fetchone()
        return None if row is None else self._inflate(*row)[1]

    def read_all(self, files: Collection[int] | None = None) -> Iterator[SearchedText]:
        """Yield the texts of some files, or of all, in no order."""
        sql, values = f"SELECT file, {_PIECE} FROM notes", list[str]()
        if files is not None:
            sql, values = f"{sql} WHERE file {IN_LIST}", [json.dumps(list(files))]
        inflate = self.inflater.inflate
        for file, dictionary, head, content in self._connection.execute(sql, values):
            data = inflate(dictionary, content)
            yield SearchedText(file, data[head:].decode(), data[:head])

    def read_newest_first(self) -> Iterator[tuple[int, str]]:
        """Yield file number and text of every file, the one changed last first."""
        sql = (
            f"SELECT file, {_PIECE} FROM files JOIN notes ON file = id ORDER BY mtime_ns DESC, path"
        )
        for file, *piece in self._connection.execute(sql):
            yield file, self._inflate(*piece)[1]

    def read_fields(self, files: Iterable[int]) -> Iterator[SearchedFields]:
        """Yield the fields of some files."""
        sql = f"SELECT file, odd & ?, {_PIECE} FROM notes WHERE file {IN_LIST}"
        values = (search_document.TRUNCATED, json.dumps(list(files)))
        rows = self._connection.execute(sql, values)
        inflate = self.inflater.inflate
        for file, is_truncated, dictionary, head, content in rows:
            data = inflate(dictionary, content)
            _, *fields = NoteHead(data[:head]).short_fields
            yield SearchedFields._make((file, is_truncated, *fields, data[head:].decode()))

    def read_indexed_fields(
        self, files: Iterable[int]
    ) -> Iterator[tuple[int, search_document.IndexedFields]]:
        """Yield what the full-text index has of some files."""
        sql = f"SELECT file, {_PIECE} FROM notes WHERE file {IN_LIST}"
        for file, *piece in self._connection.execute(sql, (json.dumps(list(files)),)):
            head, text = self._inflate(*piece)
            yield file, search_document.IndexedFields(text, head.short_fields)

    def read_structure(self, file: int) -> str:
        """Return the packed structure of a text.

        Empty where it is not known, as of a text that is cut.
        """
        sql = f"SELECT {_PIECE} FROM notes WHERE file = ? AND NOT odd & ?"
        row = self._connection.execute(sql, (file, search_document.TRUNCATED)).fetchone()
        return self._inflate(*row)[0].structure if row else ""

    def read_note(self, path: str) -> NoteText | None:
        """Return the text of a note as it is embedded; None where it has no rows."""
        sql = (
            f"SELECT digest, {_PIECE} FROM files JOIN notes ON file = id WHERE path = ? "
            "AND digest NOTNULL"
        )
        row = self._connection.execute(sql, (to_stored_path(path),)).fetchone()
        if row is None:
            return None
        digest, *piece = row
        head, text = self._inflate(*piece)
        headings = [(heading.start, heading.text) for heading in head.headings if heading.level]
        return NoteText(digest, text, headings)

    def find_flagged(self, bits: int) -> Iterator[int]:
        """Yield the files that have one of some bits of `search_document`."""
        rows = self._connection.execute(
            "SELECT file FROM notes WHERE odd != 0 AND odd & ?", (bits,)
        )
        return (file for (file,) in rows)

    def read_headings(self, files: Iterable[int]) -> Iterator[tuple[int, HeadingFact]]:
        """Yield the headings of some files with the file, in their order."""
        for file, head in self.read_heads(files):
            for heading in head.headings:
                yield file, heading

    def read_heads(self, files: Iterable[int]) -> list[tuple[int, NoteHead]]:
        """Return the heads of some files with the file, in the order of their numbers."""
        sql = f"SELECT file, {_PIECE} FROM notes WHERE file {IN_LIST} ORDER BY file"
        rows = self._connection.execute(sql, (json.dumps(list(files)),))
        inflate = self.inflater.inflate
        return [
            (file, NoteHead(inflate(dictionary, content, head)))
            for file, dictionary, head, content in rows
        ]

    def read_list_items(self, path: str) -> tuple[int, NoteHead, str] | None:
        """Return the number of a file, its head and its text; None where it has no list items."""
        sql = f"SELECT file, {_PIECE} FROM notes JOIN files ON files.id = file WHERE path = ?"
        row = self._connection.execute(sql, (to_stored_path(path),)).fetchone()
        if row is None:
            return None
        file, *piece = row
        head, text = self._inflate(*piece)
        return (file, head, text) if head.list_items else None

    def _inflate(self, dictionary: int, head: int, content: bytes) -> tuple[NoteHead, str]:
        data = self.inflater.inflate(dictionary, content)
        return NoteHead(data[:head]), data[head:].decode()


_PIECE = "dictionary, head, content"
