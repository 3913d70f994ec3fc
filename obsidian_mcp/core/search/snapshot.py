"""What one search sees: the index and the names of the files at one moment (SEARCH-40)."""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.index import search_document
from obsidian_mcp.core.index.rows import IN_LIST, PROPERTIES, NumberedFiles, Rows
from obsidian_mcp.core.query.document import Document, Structure
from obsidian_mcp.core.query.regexp import RegExp
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.text import Span, Text
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, PDF, VaultPath, indexable, is_note, is_pdf
from obsidian_mcp.errors import AppError

from .vocabulary import Vocabulary

_field_mark = re.compile(r"[*_~`]*\s*::\s*").match


@dataclass(eq=False)
class FileTable:
    """The files of one moment, without those that the user hides; built anew when files come or go (SEARCH-48)."""

    paths: Mapping[int, VaultPath]
    """Notes, canvases and PDFs by their number in the index; files without rows are not here."""
    numbers: Mapping[VaultPath, int]
    """The same by path."""
    row_count: int
    """Files that have rows, whether they are listed or not."""
    has_unlisted: bool
    """Whether some files with rows are not in `paths`: the user hides them, or they are gone."""
    others: tuple[FileEntry, ...]
    """Files without text, such as images, and PDFs that are not read, by path."""
    is_hidden: Callable[[str], bool] | None
    """Whether the user hides the file at a path; None if nothing is hidden."""
    has_pdfs: bool
    """Whether PDFs are among them, read or not."""

    @cached_property
    def files(self) -> frozenset[int]:
        return frozenset(self.paths)

    @cached_property
    def canvases(self) -> frozenset[int]:
        """Files of cards and drawings; the rows of other files say everything."""
        return frozenset(
            number
            for number, path in self.paths.items()
            if not path.endswith(NOTE_EXTENSION) and not is_note(path) and not is_pdf(path)
        )

    @cached_property
    def pdfs(self) -> frozenset[int]:
        return frozenset(number for number, path in self.paths.items() if is_pdf(path))

    @cached_property
    def unread_pdfs(self) -> tuple[FileEntry, ...]:
        return tuple(entry for entry in self.others if is_pdf(entry.path))

    @cached_property
    def path_lines(self) -> tuple[str, array[int], list[int]]:
        """The folded paths, one a line (a line end in a path is NUL); where they begin; and their numbers."""
        lines = list(self.paths.values())
        starts = array("Q", accumulate((len(line) + 1 for line in lines), initial=0))
        joined = "\n".join([*lines, ""])
        if joined.count("\n") > len(lines):
            joined = "\n".join([*(line.replace("\n", "\0") for line in lines), ""])
        return fold(joined), starts, list(self.paths)

    def path_contains(self, text: str) -> Iterator[int]:
        """Yield the files whose folded path contains a folded text."""
        lines, starts, numbers = self.path_lines
        text = text.replace("\n", "\0")
        at = lines.find(text)
        while at >= 0:
            yield numbers[bisect_right(starts, at) - 1]
            at = lines.find(text, lines.find("\n", at))

    def path_matches(self, expression: RegExp) -> Iterator[int]:
        """Yield the files whose path an expression matches. Raises: OperationTimeout."""
        return (number for number, path in self.paths.items() if expression.found(path))


def table_of(
    files: NumberedFiles, entries: Mapping[str, FileEntry], is_hidden: Callable[[str], bool] | None
) -> FileTable:
    """Return the table of the files that have rows or are in the vault (`entries`)."""
    shown, paths = entries, files.paths
    if is_hidden is not None:
        shown = {path: entry for path, entry in entries.items() if not is_hidden(path)}
        paths = {number: path for number, path in paths.items() if path in shown}
    numbers = dict(zip(paths.values(), paths, strict=True))
    others = [shown[path] for path in shown.keys() - numbers.keys() if not indexable(path)]
    others.sort(key=lambda entry: entry.path)
    has_pdfs = PDF in "\n".join(shown).lower() and any(path[-4:].lower() == PDF for path in shown)
    count = len(files.paths) + len(files.gone)
    return FileTable(paths, numbers, count, len(paths) < count, tuple(others), is_hidden, has_pdfs)


class Snapshot(NamedTuple):
    """Lives as long as one search, in one thread. Files have the numbers of their rows."""

    rows: Rows
    table: FileTable
    vocabulary: Vocabulary
    catalog: Catalog
    read: Callable[[FileEntry], bytes]
    """Reads a file. Raises: AppError."""
    text_counts: dict[str, int]
    """How many files contain a folded text, as far as this search found out."""
    expression_counts: dict[str, int]
    """How many files an expression of the full-text index finds, as far as this search found out."""
    flags: dict[int, frozenset[int]]
    """Files by the bits of `search_document` that they have, as far as a search of this state looked them up."""
    notice: str | None = None
    """A sentence if some files are newer than the index (INDEX-40)."""
    is_whole: bool = True
    """Whether every file is in the index as it is; else nobody knows what no file has."""
    property_tables: Sequence[str] = PROPERTIES
    """Where properties stand; see `rows.WITH_INLINE_FIELDS`."""

    def property_values(self, key: str) -> Iterator[tuple[int, str]]:
        """Yield file and JSON value of every property with this key, those of one file in their order."""
        for table in self.property_tables:
            yield from ((number, value) for number, _, value in self.rows.column(table, "value", key))

    def flagged(self, bits: int) -> frozenset[int]:
        """Return the files that have one of some bits of `search_document`."""
        found = self.flags.get(bits)
        if found is None:
            rows = self.rows.connection.execute("SELECT file FROM texts WHERE odd != 0 AND odd & ?", (bits,))
            found = self.flags[bits] = frozenset(number for (number,) in rows if number in self.table.paths)
        return found

    def documents(self, files: AbstractSet[int]) -> Iterator[tuple[int, StoredDocument]]:
        """Yield files with their texts and structures; of many, in one pass over the table."""
        truncated = self.flagged(search_document.TRUNCATED)
        for number, text, packed in self._rows("file, text, structure", files):
            if number in files:
                if number in truncated:
                    text, packed = self.whole_text(number), b""
                yield number, StoredDocument(self, number, text, packed)

    def names_something(self, word: str) -> bool:
        """Return whether a word of the vocabulary is in a name, an alias, a heading or a tag."""
        sql = "SELECT 1 FROM search WHERE search MATCH ? LIMIT 1"
        return self.rows.connection.execute(sql, (f'{{name alias heading tag}} : "{word}"',)).fetchone() is not None

    def document(self, number: int, text: str) -> StoredDocument:
        """Return a file whose whole text is known already."""
        return StoredDocument(self, number, text)

    def _rows(self, columns: str, files: AbstractSet[int]) -> Iterator[Any]:
        """Rows of these files; where these are most of all, the rows of all."""
        select = f"SELECT {columns} FROM texts"  # noqa: S608 - our own names
        if len(files) * 4 > len(self.table.paths) * 3:
            return self.rows.connection.execute(select)
        return self.rows.connection.execute(f"{select} WHERE file {IN_LIST}", (json.dumps(list(files)),))

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
        sql = f"SELECT id, mtime_ns FROM files WHERE id {IN_LIST}"  # noqa: S608 - our own words
        return dict(self.rows.connection.execute(sql, (json.dumps(list(files)),)))


class StoredDocument(Document):
    """A document from the rows of the index; what the query needs is read when it is needed."""

    def __init__(self, snapshot: Snapshot, number: int, text: str, packed: bytes | None = None) -> None:
        """`packed` is the structure as bytes; empty if it is not known, None if it was not read."""
        super().__init__(snapshot.table.paths[number], text, "canvas" if number in snapshot.table.canvases else "note")
        self.number = number
        self._snapshot = snapshot
        self._packed = packed

    @cached_property
    def structure(self) -> Structure:
        packed = self._packed
        if packed is None:
            sql = "SELECT structure FROM texts WHERE file = ? AND NOT odd & ?"
            row = self._snapshot.rows.connection.execute(sql, (self.number, search_document.TRUNCATED)).fetchone()
            packed = row[0] if row else b""
        return Structure(packed) if packed else super().structure

    @cached_property
    def tags(self) -> Sequence[str]:
        if self.kind == "canvas":  # the table has the tags of each card by itself
            return super().tags
        return [tag for *_, tag in self._snapshot.rows.column("tags", "tag", files=[self.number])]

    @cached_property
    def text_tags(self) -> Sequence[tuple[str, Span]]:
        if self.kind == "canvas" or self.number in self._snapshot.flagged(search_document.TRUNCATED):
            return super().text_tags
        rows = self._snapshot.rows.column("tags", "tag, start, end", files=[self.number], where="at = ''")
        return [(tag, Span(*span)) for _, _, tag, *span in rows]

    @property
    def property_places(self) -> Iterator[tuple[str, object, Span]]:
        rows, own = self._snapshot.rows, [self.number]
        for _, _, name, value, *span in rows.column("properties", "name, value, start, end", files=own):
            yield name, json.loads(value), Span(*span)
        if "inline_fields" in self._snapshot.property_tables:
            at = 0  # the index keeps what fields are, and in which order, not where
            for _, _, name, value, written in rows.column("inline_fields", "name, value, text", files=own):
                if found := _find_field(self.text, name, written, at) or _find_field(self.text, name, written, 0):
                    at = found.end
                    yield name, json.loads(value), found

    @cached_property
    def properties(self) -> Mapping[str, object]:
        found: dict[str, list[object]] = {}
        for table in self._snapshot.property_tables:
            for _, _, name, value in self._snapshot.rows.column(table, "name, value", files=[self.number]):
                found.setdefault(name, []).append(json.loads(value))
        return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _find_field(text: str, name: str, written: str, at: int) -> Span | None:
    """Return where an inline field is written in a text, from a place on."""
    while (start := text.find(name, at)) >= 0:
        mark = _field_mark(text, start + len(name))
        if mark and text.startswith(written, mark.end()):
            return Span(start, mark.end() + len(written))
        at = start + 1
    return None
