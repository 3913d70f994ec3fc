"""What one search sees: the index and the names of the files at one moment (SEARCH-40)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.index.rows import PROPERTIES
from obsidian_mcp.core.query.document import Document, Kind
from obsidian_mcp.core.query.scopes import Structure, unpack
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.errors import AppError

from .file_table import FileTable
from .vocabulary import Vocabulary

ROWS_AT_ONCE = 500
"""Rows that one statement names by their numbers."""


class Snapshot(NamedTuple):
    """Lives as long as one search, in one thread. Files have the numbers of their rows."""

    connection: Connection
    table: FileTable
    vocabulary: Vocabulary
    languages: tuple[str, ...]
    """Languages of the vault, as `stems.languages` names them."""
    catalog: Catalog
    read: Callable[[FileEntry], bytes]
    """Reads a file. Raises: AppError."""
    counts: dict[str, int]
    """How many files contain a folded text, as far as this search found out."""
    flags: dict[int, frozenset[int]]
    """Files by the bits of `search_document` that they have, as far as a search of this state looked them up."""
    notice: str | None = None
    """A sentence if some files are newer than the index (INDEX-40)."""
    property_tables: Sequence[str] = PROPERTIES
    """Where properties stand; see `rows.WITH_INLINE_FIELDS`."""

    def property_values(self, key: str) -> Iterator[tuple[int, str]]:
        """Yield file and JSON value of every property with this key, those of one file in their order."""
        for table in self.property_tables:
            sql = f"SELECT file, value FROM {table} WHERE key = ? ORDER BY n"  # noqa: S608 - our own names
            yield from self.connection.execute(sql, (key,))

    def flagged(self, bits: int) -> frozenset[int]:
        """Return the files that have one of some bits of `search_document`."""
        found = self.flags.get(bits)
        if found is None:
            rows = self.connection.execute("SELECT file FROM texts WHERE odd != 0 AND odd & ?", (bits,))
            found = self.flags[bits] = frozenset(number for (number,) in rows if number in self.table.paths)
        return found

    def texts(self, files: AbstractSet[int]) -> Iterator[tuple[int, str]]:
        """Yield the texts of files; of many, in one pass over the table."""
        truncated = self.flagged(search_document.TRUNCATED)
        for number, text in self._rows("file, text", files):
            yield number, self.whole_text(number) if number in truncated else text

    def documents(self, files: AbstractSet[int]) -> Iterator[tuple[int, StoredDocument]]:
        """Yield files with their texts and structures; of many, in one pass over the table."""
        truncated = self.flagged(search_document.TRUNCATED)
        for number, text, packed in self._rows("file, text, structure", files):
            if number in truncated:
                text, packed = self.whole_text(number), b""
            yield number, StoredDocument(self, number, text, packed)

    def names_something(self, word: str) -> bool:
        """Return whether a word of the vocabulary is in a name, an alias, a heading or a tag."""
        sql = "SELECT 1 FROM search WHERE search MATCH ? LIMIT 1"
        return self.connection.execute(sql, (f'{{name alias heading tag}} : "{word}"',)).fetchone() is not None

    def document(self, number: int, text: str) -> StoredDocument:
        """Return a file whose whole text is known already."""
        return StoredDocument(self, number, text)

    def _rows(self, columns: str, files: AbstractSet[int]) -> Iterator[Any]:
        if len(files) * 2 > len(self.table.paths):
            rows = self.connection.execute(f"SELECT {columns} FROM texts")  # noqa: S608 - our own names
            yield from (row for row in rows if row[0] in files)
            return
        for some in listed(sorted(files)):
            yield from self.connection.execute(f"SELECT {columns} FROM texts WHERE file IN ({some})")  # noqa: S608

    def whole_text(self, number: int) -> str:
        """Return the text of a file of which the index has only the beginning, from the file."""
        path = self.table.paths[number]
        entry = self.catalog.get(path)
        try:
            text = Text.decode(self.read(entry)).body if entry is not None else ""
        except AppError:  # gone or unreadable: its name can still match
            return ""
        from obsidian_mcp.core.index.extract import searched_text

        return searched_text(path, text)

    def times(self, files: Iterable[int]) -> dict[int, int]:
        """Return when files were last changed, in nanoseconds since the epoch."""
        numbers = list(files)
        if len(numbers) > ROWS_AT_ONCE:
            wanted = set(numbers)
            rows = self.connection.execute("SELECT id, mtime_ns FROM files")
            return {number: time for number, time in rows if number in wanted}
        some = ", ".join(map(str, numbers))
        return dict(self.connection.execute(f"SELECT id, mtime_ns FROM files WHERE id IN ({some})"))  # noqa: S608


def listed(numbers: Sequence[int]) -> Iterator[str]:
    """Yield numbers as SQL lists of bounded length."""
    for start in range(0, len(numbers), ROWS_AT_ONCE):
        yield ", ".join(map(str, numbers[start : start + ROWS_AT_ONCE]))


class StoredDocument:
    """A `query.document.Subject` from the rows of the index; what the query needs is read when it is needed."""

    __slots__ = (
        "_packed", "_properties", "_snapshot", "_structure", "_tags", "kind", "number", "path", "text",
    )  # fmt: skip

    def __init__(self, snapshot: Snapshot, number: int, text: str, packed: bytes | None = None) -> None:
        """`packed` is the structure as bytes; empty if it is not known, None if it was not read."""
        self._snapshot = snapshot
        self.number = number
        path = snapshot.table.paths[number]
        self.path: str = path
        self.text = text
        self.kind: Kind = "canvas" if number in snapshot.table.canvases else "note"
        self._packed = packed
        self._structure: Structure | None = None
        self._tags: Iterable[str] | None = None
        self._properties: Mapping[str, object] | None = None

    @property
    def structure(self) -> Structure:
        if self._structure is None:
            if self._packed is None:
                sql = "SELECT structure FROM texts WHERE file = ? AND NOT odd & ?"
                row = self._snapshot.connection.execute(sql, (self.number, search_document.TRUNCATED)).fetchone()
                self._packed = row[0] if row else b""
            known = self._packed
            self._structure = unpack(known, self.text) if known else self._parsed.structure
        return self._structure

    @property
    def _parsed(self) -> Document:
        return Document(self.path, self.text, self.kind)

    @property
    def tags(self) -> Iterable[str]:
        if self._tags is None:
            if self.kind == "canvas":  # the table has the tags of each card by itself
                self._tags = self._parsed.tags
            else:
                sql = "SELECT tag FROM tags WHERE file = ? ORDER BY n"
                rows = self._snapshot.connection.execute(sql, (self.number,))
                self._tags = [tag for (tag,) in rows]
        return self._tags

    @property
    def properties(self) -> Mapping[str, object]:
        if self._properties is None:
            found: dict[str, list[object]] = {}
            for table in self._snapshot.property_tables:
                sql = f"SELECT name, value FROM {table} WHERE file = ? ORDER BY n"  # noqa: S608 - our own names
                for name, value in self._snapshot.connection.execute(sql, (self.number,)):
                    found.setdefault(name, []).append(json.loads(value))
            self._properties = {name: values[0] if len(values) == 1 else values for name, values in found.items()}
        return self._properties
