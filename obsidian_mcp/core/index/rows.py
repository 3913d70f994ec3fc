"""Queries of the index's tables, from one consistent view of them (specs/index.md).

From a column to paths there is one way: the numbers of the files that have rows.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.note.item_place import ItemPlace
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import VaultPath

from .columns import IN_LIST, to_path, to_stored_path
from .compression import Decompressor
from .database import Connection
from .facts import (
    AliasFact,
    Facts,
    HeadingFact,
    InlineFieldFact,
    LinkFact,
    PropertyFact,
    TagFact,
    TaskFact,
)
from .file_paths import FilePaths
from .file_sets import FileSets
from .full_text import FullText
from .interned import PROPERTIES as PROPERTY_NAMES
from .link_rows import LinkRows
from .listed_files import ListedFiles
from .text_cache import TextCache
from .texts import Texts

TABLES: Mapping[str, type[NamedTuple]] = {
    "links": LinkFact,
    "tags": TagFact,
    "properties": PropertyFact,
    "aliases": AliasFact,
    "tasks": TaskFact,
    "inline_fields": InlineFieldFact,
}
"""Every table is a field of `Facts`. Its columns are `file`, the position `n`, and the fields of
the tuple."""

PROPERTIES = ("properties",)
WITH_INLINE_FIELDS = (*PROPERTIES, "inline_fields")
"""Tables with key, name, type and JSON value of the properties of notes, without and with inline
fields."""


class Stamp(NamedTuple):
    """Identifies one state of the rows: equal stamps, equal rows."""

    identity: str
    generation: int


@dataclass(frozen=True, slots=True)
class ListSource:
    """What the list items of a file are made of, as Dataview has them."""

    text: str
    places: Sequence[ItemPlace]
    headings: Sequence[HeadingFact]
    links: Sequence[tuple[int, str, str | None, int]]
    """Line, target and display of each link of the text, and whether it is an embed."""


class Rows(NamedTuple):
    """One consistent view of the index.

    Its paths may be those of files that are gone by now. A question about few rows gets them with
    their paths, by a join; one about a whole column gets numbers of files.
    """

    connection: Connection
    stamp: Stamp
    text_cache: TextCache

    @property
    def full_text(self) -> FullText:
        """The full-text index in this view."""
        return FullText(self.connection)

    @property
    def texts(self) -> Texts:
        """The texts of files in this view."""
        cached = self.text_cache.open(self.connection, *self.stamp)
        return Texts(Decompressor(self.connection, self.stamp.identity), cached)

    @property
    def file_sets(self) -> FileSets:
        """Sets of files by their tags, properties, tasks and times in this view."""
        return FileSets(self.connection)

    @property
    def file_paths(self) -> FilePaths:
        """The numbers and paths of files in this view."""
        return FilePaths(self.connection)

    @property
    def listed_files(self) -> ListedFiles:
        """The files without rows in this view."""
        return ListedFiles(self.connection)

    @property
    def link_rows(self) -> LinkRows:
        """The links of all files in this view."""
        return LinkRows(self.connection)

    def facts(self, path: VaultPath) -> Facts | None:
        """Return everything stored of one file, None when nothing is."""
        file_row = self.connection.execute(
            "SELECT id, warnings FROM files WHERE path = ?", (to_stored_path(path),)
        ).fetchone()
        if file_row is None:
            return None
        file, warnings = file_row
        lists: dict[str, Any] = {
            table: tuple(
                row(*cells)
                for _, _, *cells in self.column(table, ", ".join(row._fields), files=[file])
            )
            for table, row in TABLES.items()
        }
        for _, head in self.texts.read_heads([file]):
            lists |= {"headings": head.headings, "list_items": head.list_items}
        return Facts(**lists, warnings=tuple(warnings.splitlines()))

    def links_from(self, path: VaultPath) -> list[LinkFact]:
        """Return the links of one file in their order."""
        return [link for _, link in self._select("links", "files.path = ?", [to_stored_path(path)])]

    def text(self, path: VaultPath) -> str:
        """Return the text of a file in which searches look; empty where it has no rows."""
        return self.texts.read_text(path) or ""

    def links_to(self, keys: Sequence[str]) -> list[tuple[VaultPath, LinkFact]]:
        """Return every link with one of these keys, and the file that holds it.

        They come by path and order in the file.
        """
        return self._select(
            "links", f"t.key {IN_LIST}", [json.dumps([to_printable(key) for key in keys])]
        )

    def sources_of(self, keys: Iterable[str]) -> set[VaultPath]:
        """Return the files that hold a link with one of these keys."""
        sql = (
            "SELECT DISTINCT files.path FROM links t "
            f"JOIN files ON files.id = t.file WHERE t.key {IN_LIST}"
        )
        rows = self.connection.execute(sql, (json.dumps([to_printable(key) for key in keys]),))
        return {to_path(path) for (path,) in rows}

    def changed_since(self, generation: int) -> dict[int, VaultPath]:
        """Return the files whose rows are newer than a generation, by their numbers.

        The generation must be of the same identity: that of another index says nothing.
        """
        rows = self.connection.execute(
            "SELECT id, path FROM files WHERE changed > ?", (generation,)
        )
        return {number: to_path(path) for number, path in rows}

    def paths(self) -> dict[int, VaultPath]:
        """Return every file by its number."""
        paths_by_number: dict[int, VaultPath] = dict(
            self.connection.execute("SELECT id, path FROM files")
        )
        for number, path in paths_by_number.items():
            if path.startswith("/"):
                paths_by_number[number] = to_path(path)
        return paths_by_number

    def column(
        self,
        table: str,
        fields: str,
        key: str | None = None,
        files: Collection[int] | None = None,
        where: str = "TRUE",
    ) -> Iterator[Any]:
        """Yield file number, place in the file and `fields` of the rows of a table, in this order.

        `key` and `files` leave only rows with this key, or of these files; `where` is one more
        condition. For the paths of files see `FileNumbers`.
        """
        sql, values = f"SELECT file, n, {fields} FROM {table} WHERE {where}", []
        if key is not None:
            # the rows of a file are quicker to find
            sql += " AND key = ?" if files is None else " AND +key = ?"
            values.append(key if key.isascii() else to_printable(key))
        if files is not None:
            sql += f" AND file {IN_LIST}"
            values.append(json.dumps(list(files)))
        return self.connection.execute(f"{sql} ORDER BY file, n", values)

    def rows_of_file(self, file: int, fields: str, table: str) -> Iterator[Any]:
        """Yield `fields` of the rows of one file in a table, in their order."""
        sql = f"SELECT {fields} FROM {table} WHERE file = ? ORDER BY n"
        return self.connection.execute(sql, (file,))

    def tag_facts(self, key: str) -> list[tuple[VaultPath, TagFact]]:
        """Return the occurrences of a tag and of its descendants."""
        return self._select(
            "tags", "t.key = ? OR t.key > ? AND t.key < ?", [key, key + "/", key + "0"]
        )

    def properties(
        self, key: str, tables: Sequence[str] = PROPERTIES
    ) -> list[tuple[VaultPath, PropertyFact | InlineFieldFact]]:
        """Return every property with this key, by path and place; see WITH_INLINE_FIELDS."""
        facts = [fact for table in tables for fact in self._select(table, "t.key = ?", [key])]
        return facts if len(tables) == 1 else sorted(facts, key=itemgetter(0))

    def field_keys(self) -> set[str]:
        """Return the key, which is the name in lower case, of every property and inline field."""
        # From key to key along the index: DISTINCT would read every row.
        return {
            key
            for table, source in (
                ("properties", PROPERTY_NAMES.names),
                ("inline_fields", "inline_fields"),
            )
            for (key,) in self.connection.execute(
                f"WITH RECURSIVE keys(key) AS (SELECT min(key) FROM {source} UNION ALL SELECT"
                f" (SELECT min(key) FROM {source} WHERE key > keys.key) FROM keys "
                "WHERE key NOTNULL) SELECT key FROM keys WHERE key NOTNULL "
                f"AND EXISTS (SELECT 1 FROM {table} WHERE {table}.key = keys.key)"
            )
        }

    def grouped_properties(self, name: str) -> Iterator[tuple[str, list[int]]]:
        """Yield every different value of the properties with exactly this name, as JSON.

        With each come the numbers of its files.
        """
        sql = (
            "SELECT value, group_concat(file) FROM properties WHERE key = ? AND name = ? GROUP "
            "BY value"
        )
        for value, files in self.connection.execute(
            sql, (to_printable(name.lower()), to_printable(name))
        ):
            yield value, json.loads(f"[{files}]")

    def list_source(self, path: VaultPath) -> ListSource | None:
        """Return what the list items of one file are made of; None where it has none."""
        stored = self.texts.read_list_items(path)
        if stored is None:
            return None
        file, head, text = stored
        sql = (
            "SELECT line, path || subpath, display, kind = 'embed' FROM links "
            "WHERE file = ? AND line NOTNULL ORDER BY n"
        )
        links = self.connection.execute(sql, (file,)).fetchall()
        return ListSource(text, head.list_items, head.headings, links)

    def aliases(self, key: str) -> list[tuple[VaultPath, AliasFact]]:
        """Return the files that have an alias with this key."""
        return self._select("aliases", "t.key = ?", [key])

    def tasks(
        self, days: tuple[str, str] | None = None, without_marks: Collection[str] = ()
    ) -> Iterator[tuple[VaultPath, TaskFact]]:
        """Yield the tasks with a day in a range in their line, but those with one of these marks.

        Every task that may have an id, or depend on one, is among them: who waits for whom is known
        only from all.
        """
        columns = ", ".join(f"t.{column}" for column in TaskFact._fields)
        sql = f"SELECT files.path, {columns} FROM tasks t"
        join = "JOIN files ON files.id = t.file"
        marks = json.dumps(list(without_marks))
        if days is None:
            rows = self.connection.execute(
                f"{sql} {join} WHERE t.linked OR t.mark NOT {IN_LIST}", [marks]
            )
        else:  # two statements in one: each has an index of its own
            rows = self.connection.execute(
                f"{sql} JOIN (SELECT file, n FROM tasks INDEXED BY tasks_linked WHERE linked UNION "
                "SELECT file, n FROM tasks INDEXED BY tasks_by_day "
                f"WHERE last_day > '' AND last_day >= ? AND first_day <= ? AND mark NOT {IN_LIST})"
                f" USING (file, n) {join} ORDER BY t.file, t.n",
                [*days, marks],
            )
        return ((to_path(path), TaskFact(*cells)) for path, *cells in rows)

    def digests(self) -> list[tuple[VaultPath, bytes]]:
        """Return the digest of the content of every file that was read."""
        rows = self.connection.execute("SELECT path, digest FROM files WHERE digest NOTNULL")
        return [(to_path(path), digest) for path, digest in rows]

    def warnings(self) -> dict[VaultPath, tuple[str, ...]]:
        """Return the warnings of every file that could not be read whole."""
        rows = self.connection.execute(
            "SELECT path, warnings FROM files WHERE warnings != '' ORDER BY path"
        )
        return {to_path(path): tuple(warnings.splitlines()) for path, warnings in rows}

    def unreadable_files(self) -> dict[VaultPath, tuple[str, ...]]:
        """Return the warnings of every file that could not be read at all."""
        sql = "SELECT path, warnings FROM files WHERE digest IS NULL ORDER BY path"
        if not (rows := self.connection.execute(sql).fetchall()):
            return {}
        return {to_path(path): tuple(warnings.splitlines()) for path, warnings in rows}

    def _select(self, table: str, where: str, values: Sequence[str]) -> list[Any]:
        row = TABLES[table]
        columns = ", ".join(f"t.{column}" for column in row._fields)
        rows = self.connection.execute(
            f"SELECT files.path, {columns} FROM {table} t JOIN files ON files.id = t.file"
            f" WHERE {where} ORDER BY files.path, t.n",
            [to_printable(value) for value in values],
        )
        return [(to_path(path), row(*cells)) for path, *cells in rows]


class NumberedFiles(NamedTuple):
    """The files with rows at one moment; the same object until files come or go."""

    paths: Mapping[int, VaultPath]
    """Those that are in the vault."""
    gone: Mapping[int, VaultPath]
    """Those that are not there any more."""
    others: Collection[VaultPath] = ()
    """Files of the vault without rows."""


class FileNumbers:
    """Keeps the numbers of one vault's files between questions, for all threads (SEARCH-48)."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._lock = threading.Lock()
        self._known: tuple[Stamp | None, int, NumberedFiles] = (None, -1, NumberedFiles({}, {}))

    def numbered_files(self, rows: Rows) -> NumberedFiles:
        """Return the files of these rows and the catalog.

        All are read only where the rows are of another index than the last time.
        """
        generation = self.catalog.generation
        with self._lock:
            stamp, known_generation, known_files = self._known
            if (stamp, known_generation) == (rows.stamp, generation):
                return known_files
            if stamp is None or stamp.identity != rows.stamp.identity:
                known_generation, known_files, changed = -1, NumberedFiles({}, {}), rows.paths()
            else:
                changed = rows.changed_since(stamp.generation)
            count = rows.file_paths.count_files()
            is_same = (
                known_generation == generation
                and count == len(known_files.paths) + len(known_files.gone)
                and all(
                    known_files.paths.get(number, known_files.gone.get(number)) == path
                    for number, path in changed.items()
                )
            )
            if not is_same:
                files = {**known_files.paths, **known_files.gone, **changed}
                if len(files) != count:  # some rows were deleted
                    numbers = rows.file_paths.read_numbers()
                    files = {number: path for number, path in files.items() if number in numbers}
                there = self.catalog.entries_by_path()
                # with the strings of the catalog, so that those of the rows can be freed
                paths = {
                    number: entry.path
                    for number, path in files.items()
                    if (entry := there.get(path))
                }
                known_files = NumberedFiles(
                    paths,
                    {number: files[number] for number in files.keys() - paths.keys()},
                    _without_rows(there.values(), paths),
                )
            self._known = (rows.stamp, generation, known_files)
            return known_files


def _without_rows(
    entries: Collection[FileEntry], paths: Mapping[int, VaultPath]
) -> tuple[VaultPath, ...]:
    """Return the paths of the files that are not among those with rows; mostly there are none."""
    if len(entries) == len(paths):
        return ()
    listed = set(paths.values())
    return tuple(entry.path for entry in entries if entry.path not in listed)
