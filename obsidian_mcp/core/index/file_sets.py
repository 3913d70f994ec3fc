"""Which files have a tag, a property, a task or a time, as sets of the numbers of their rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .columns import IN_LIST
from .database import Connection
from .interned import INTERNED

_HAS_OTHER_LETTERS = "value GLOB '*[^ -~]*'"
NAMED_FILES = 500
"""Most files that are named to SQLite to be sorted; of more, those of all are read in order."""


class FileTasks(NamedTuple):
    """The tasks of one file."""

    file: int
    is_multiline: bool
    """Whether one of them goes on below its line."""
    lines: str


@dataclass(frozen=True, slots=True)
class PropertyFiles:
    """The files of one spelling and type of a property, once for each occurrence."""

    key: str
    name: str
    type: str
    files: list[int]


class FileSets(NamedTuple):
    """Sets of files in one consistent view. They may hold files that are hidden or gone."""

    connection: Connection

    def find_tagged(self, key: str, *, in_text: bool = False) -> set[int]:
        """Return the files with a tag or one nested below it; `in_text`: not in properties."""
        where = "(key = ? OR key > ? AND key < ?)" + (" AND at = ''" if in_text else "")
        return self._files(f"tags WHERE {where}", key, f"{key}/", f"{key}0")

    def with_key(self, table: str, key: str) -> set[int]:
        """Return the files with a row of this key in a table of `rows.TABLES`."""
        return self._files(f"{table} WHERE key = ?", key)

    def keys(self, table: str) -> Iterator[str]:
        """Yield every different key of a table, perhaps some that no file has any more.

        Each takes one look into the index, instead of a walk through all rows (SEARCH-45).
        """
        source = INTERNED[table].names if table in INTERNED else table
        sql = f"SELECT min(key) FROM {source}"
        (key,) = self.connection.execute(sql).fetchone()
        while key is not None:
            yield key
            (key,) = self.connection.execute(f"{sql} WHERE key > ?", (key,)).fetchone()

    def group_by_value(self, table: str, key: str) -> Iterator[tuple[Any, list[int]]]:
        """Yield every different value of a property, and the files that have it."""
        sql = f"SELECT value, group_concat(file) FROM {table} WHERE key = ? GROUP BY value"
        for value, files in self.connection.execute(sql, (key,)):
            yield json.loads(value), json.loads(f"[{files}]")

    def read_values(self, table: str, key: str, part: str = "") -> list[tuple[str, Any]]:
        """Return the different values of a property, each with the text that is stored of it.

        Some may be of no file any more. With `part`, ASCII without quotes and backslashes, only
        those whose text has it in any case, and those with other letters than ASCII, of which
        SQLite folds none.
        """
        source = INTERNED[table].names if table in INTERNED else table
        sql, values = f"SELECT DISTINCT value FROM {source} WHERE key = ?", [key]
        if part:
            sql += f" AND (instr(lower(value), ?) OR {_HAS_OTHER_LETTERS})"
            values.append(part.lower())
        return [(text, json.loads(text)) for (text,) in self.connection.execute(sql, values)]

    def with_values(self, table: str, key: str, texts: Collection[str]) -> set[int]:
        """Return the files with one of some values of a property, as `read_values` has them."""
        if not texts:
            return set()
        source = f"{table} WHERE key = ? AND value {IN_LIST}"
        return self._files(source, key, json.dumps([*texts]))

    def find_by_value(
        self, table: str, key: str, accepts: Callable[[Any], bool], part: str = ""
    ) -> set[int]:
        """Return the files with a value of a property that is accepted; `part` as `read_values`.

        Each different value is asked about once, and only the files of accepted ones are read.
        """
        texts = [text for text, value in self.read_values(table, key, part) if accepts(value)]
        return self.with_values(table, key, texts)

    def group_by_tag(self) -> Iterator[tuple[str, list[int]]]:
        """Yield every different tag as it is written, and the file of each of its occurrences."""
        sql = (
            "SELECT tag, files FROM (SELECT name, group_concat(file) AS files FROM tag_rows "
            "GROUP BY name) JOIN tag_names ON id = name ORDER BY tag"
        )
        for tag, files in self.connection.execute(sql):
            yield tag, json.loads(f"[{files}]")

    def group_by_property(self, tables: Sequence[str]) -> Iterator[PropertyFiles]:
        """Yield the files of every different name and type of a property, by key; see
        `rows.WITH_INLINE_FIELDS`."""
        sql = " UNION ALL ".join(f"SELECT key, name, type, file FROM {table}" for table in tables)
        grouped = self.connection.execute(
            f"SELECT key, name, type, group_concat(file) FROM ({sql}) GROUP BY key, name, type"
        )
        for key, name, kind, files in grouped:
            yield PropertyFiles(key, name, kind, json.loads(f"[{files}]"))

    def tasks(self, *, is_todo: bool | None = None) -> Iterator[FileTasks]:
        """Yield the tasks of each file that has some: all, those to do, or the others."""
        where = {None: "", True: "WHERE mark = ' '", False: "WHERE mark != ' '"}[is_todo]
        sql = (
            "SELECT file, max(multiline), group_concat(text, char(10)) "
            f"FROM tasks {where} GROUP BY file"
        )
        return map(FileTasks._make, self.connection.execute(sql))

    def with_task_fields(self) -> set[int]:
        """Return the files with an inline field in the first line of a task, which are in no table
        of their own."""
        return self._files("tasks WHERE instr(text, '::')")

    def most_common_tags(self, files: Collection[int], limit: int) -> list[str]:
        """Return the tags of some files, those of most files first."""
        sql = (
            f"SELECT min(tag) FROM tags WHERE file {IN_LIST} "
            "GROUP BY key ORDER BY count(*) DESC, key LIMIT ?"
        )
        return [tag for (tag,) in self.connection.execute(sql, (json.dumps(list(files)), limit))]

    def changed_between(self, times: tuple[int, int]) -> set[int]:
        """Return the files that were last changed between two times, both included.

        Times are nanoseconds since the epoch.
        """
        sql = "SELECT id FROM files WHERE mtime_ns BETWEEN ? AND ?"
        return {number for (number,) in self.connection.execute(sql, times)}

    def times(self, files: Collection[int]) -> dict[int, int]:
        """Return when some files were last changed, in nanoseconds since the epoch."""
        sql = f"SELECT id, mtime_ns FROM files WHERE id {IN_LIST}"
        return dict(self.connection.execute(sql, (json.dumps(list(files)),)))

    def newest_first(self, files: Collection[int]) -> Iterator[int]:
        """Yield some files, the one changed last first; equal ones by path (SEARCH-63)."""
        if len(files) <= NAMED_FILES:
            sql = f"SELECT id FROM files WHERE id {IN_LIST} ORDER BY mtime_ns DESC, path"
            return (
                number for (number,) in self.connection.execute(sql, (json.dumps(list(files)),))
            )
        among = files if isinstance(files, set | frozenset) else set(files)
        rows = self.connection.execute("SELECT id FROM files ORDER BY mtime_ns DESC, path")
        return (number for (number,) in rows if number in among)

    def _files(self, source: str, *values: str) -> set[int]:
        # As one text: most of the time would go into making a row of each number.
        """Return the numbers in the column `file` of a table, under a condition."""
        sql = f"SELECT group_concat(file) FROM {source}"
        (numbers,) = self.connection.execute(sql, values).fetchone()
        return set(json.loads(f"[{numbers}]")) if numbers else set()
