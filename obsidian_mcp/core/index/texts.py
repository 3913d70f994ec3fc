"""The texts of files as searches read them (specs/index.md).

Where they lie is known here alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from . import search_document
from .columns import IN_LIST, to_stored_path
from .database import Connection
from .facts import HeadingFact


class SearchedText(NamedTuple):
    """The text of a file, with what a pass over many texts needs beside it."""

    file: int
    text: str
    structure: bytes
    """The packed `Structure` (core/query/document.py); empty where it is not known."""


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


class Texts(NamedTuple):
    """The texts of files in one consistent view, by the numbers of their rows."""

    connection: Connection

    def read_all(self, files: Collection[int] | None = None) -> Iterator[SearchedText]:
        """Yield the texts of some files, or of all, in no order."""
        sql, values = "SELECT file, text, structure FROM texts", list[str]()
        if files is not None:
            sql, values = f"{sql} WHERE file {IN_LIST}", [json.dumps(list(files))]
        return map(SearchedText._make, self.connection.execute(sql, values))

    def read_fields(self, files: Iterable[int]) -> Iterator[SearchedFields]:
        """Yield the fields of some files."""
        sql = (
            "SELECT file, odd & ?, alias, heading, tag, folder, text FROM texts "
            f"WHERE file {IN_LIST}"
        )
        values = (search_document.TRUNCATED, json.dumps(list(files)))
        return map(SearchedFields._make, self.connection.execute(sql, values))

    def read_structure(self, file: int) -> bytes:
        """Return the packed structure of a text.

        Empty where it is not known, as of a text that is cut.
        """
        sql = "SELECT structure FROM texts WHERE file = ? AND NOT odd & ?"
        row = self.connection.execute(sql, (file, search_document.TRUNCATED)).fetchone()
        return row[0] if row else b""

    def read_note(self, path: str) -> NoteText | None:
        """Return the text of a note as it is embedded; None where it has no rows."""
        sql = (
            "SELECT id, digest, text FROM files JOIN texts ON texts.file = files.id WHERE path = "
            "? AND digest NOTNULL"
        )
        row = self.connection.execute(sql, (to_stored_path(path),)).fetchone()
        if row is None:
            return None
        file, digest, text = row
        sql = "SELECT start, text FROM headings WHERE file = ? AND level > 0 ORDER BY n"
        return NoteText(digest, text, self.connection.execute(sql, (file,)).fetchall())

    def find_flagged(self, bits: int) -> Iterator[int]:
        """Yield the files that have one of some bits of `search_document`."""
        rows = self.connection.execute("SELECT file FROM texts WHERE odd != 0 AND odd & ?", (bits,))
        return (file for (file,) in rows)

    def read_headings(self, files: Iterable[int]) -> Iterator[tuple[int, HeadingFact]]:
        """Yield the headings of some files with the file, in their order."""
        sql = f"SELECT file, level, text, start FROM headings WHERE file {IN_LIST} ORDER BY file, n"
        for file, *heading in self.connection.execute(sql, (json.dumps(list(files)),)):
            yield file, HeadingFact(*heading)
