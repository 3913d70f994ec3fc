"""Questions about all links of a vault to the index's tables (specs/index.md, "Links by name").

A link has the key of the names that it may mean, and a file has the key of its name. Most keys are
of one note, and most links are a name alone: for these the keys answer, and nothing is resolved.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Final, NamedTuple

from obsidian_mcp.core.text.text import to_printable

from .columns import IN_LIST
from .database import Connection
from .facts import LinkFact
from .interned import CARD

_IS_LONG: Final = "(instr(path, '/') OR instr(path, '#'))"
IS_PLACED: Final = f"(kind = 'card' OR {_IS_LONG})"
"""Condition on a link that says more than a name: which file it means cannot be told by its key."""
IS_ODD: Final = "(path NOT LIKE '%.md' OR path LIKE '%.md.md')"
"""Condition on a file that is no note with the extension `.md`, or that has two keys."""
SCHEMA: Final = (
    "CREATE INDEX files_by_key ON files (key)",
    f"CREATE INDEX files_odd ON files (key) WHERE {IS_ODD}",
    f"CREATE INDEX targets_placed ON targets (key) WHERE {_IS_LONG}",
    f"CREATE INDEX link_rows_of_cards ON link_rows (name) WHERE kind = {CARD}",
    "CREATE INDEX link_rows_to_parts ON link_rows (name) WHERE subpath != ''",
)
NAMED_KEYS: Final = 2_000
"""Keys or files that one statement names."""
_LINK: Final = "file, n, key, path, kind = 'card'"
_FACT: Final = ", ".join(f"links.{field}" for field in LinkFact._fields)


class LinkRow(NamedTuple):
    """One link, as far as it takes to resolve it."""

    file: int
    n: int
    key: str
    path: str
    is_card: bool


@dataclass(frozen=True, slots=True)
class LinkRows:
    """The links of all files in one consistent view. They may be those of files that are gone."""

    connection: Connection

    def missing_keys(self) -> list[str]:
        """Return the keys of links that no file with rows has, without the empty one."""
        sql = (
            "SELECT DISTINCT key FROM targets WHERE key > '' "
            "AND EXISTS (SELECT 1 FROM link_rows WHERE name = targets.id) "
            "AND NOT EXISTS (SELECT 1 FROM files WHERE files.key = targets.key)"
        )
        return [key for (key,) in self.connection.execute(sql)]

    def shared_keys(self) -> set[str]:
        """Return the keys that several files with rows have."""
        sql = "SELECT key FROM files GROUP BY key HAVING count(*) > 1"
        return {key for (key,) in self.connection.execute(sql)}

    def files_with(self, keys: Iterable[str]) -> set[int]:
        """Return the files whose names have one of these keys."""
        return {
            file
            for names in _split_values(keys)
            for (file,) in self.connection.execute(
                f"SELECT id FROM files WHERE key {IN_LIST}", [names]
            )
        }

    def with_keys(self, keys: Iterable[str]) -> Iterator[LinkRow]:
        """Yield the links with one of these keys."""
        for names in _split_values(keys):
            sql = f"SELECT {_LINK} FROM links WHERE key {IN_LIST}"
            yield from map(LinkRow._make, self.connection.execute(sql, [names]))

    def placed_links(self) -> Iterator[LinkRow]:
        """Yield the links that say more than a name, by their key."""
        columns = f"SELECT file, n, key, path, kind = {CARD} FROM"
        sql = (
            f"{columns} targets INDEXED BY targets_placed JOIN link_rows ON name = targets.id "
            f"WHERE {_IS_LONG} UNION {columns} link_rows INDEXED BY link_rows_of_cards "
            f"JOIN targets ON targets.id = name WHERE kind = {CARD} ORDER BY key"
        )
        return map(LinkRow._make, self.connection.execute(sql))

    def from_files(self, files: Iterable[int]) -> Iterator[LinkRow]:
        """Yield the links of some files, by file and in their order."""
        for numbers in _split_values(files):
            sql = f"SELECT {_LINK} FROM links WHERE file {IN_LIST} ORDER BY file, n"
            yield from map(LinkRow._make, self.connection.execute(sql, [numbers]))

    def without_name(self, files: Iterable[int]) -> Iterator[LinkRow]:
        """Yield the links of some files that have no name."""
        for numbers in _split_values(files):
            sql = f"SELECT {_LINK} FROM links WHERE key = '' AND file {IN_LIST}"
            yield from map(LinkRow._make, self.connection.execute(sql, [numbers]))

    def from_all(self) -> Iterator[tuple[int, list[LinkRow]]]:
        """Yield every file that has links, with its links in their order."""
        rows = map(
            LinkRow._make,
            self.connection.execute(f"SELECT {_LINK} FROM links ORDER BY file, n"),
        )
        for file, links in groupby(rows, key=itemgetter(0)):
            yield file, list(links)

    def to_parts(self) -> Iterator[tuple[LinkRow, str]]:
        """Yield the links to a part of a file, such as a heading, with the subpath.

        They come by key: one target after the other.
        """
        sql = (
            f"SELECT file, n, key, path, kind = {CARD}, subpath FROM link_rows "
            "INDEXED BY link_rows_to_parts JOIN targets ON targets.id = name WHERE subpath != '' "
            "ORDER BY key, path"
        )
        for *cells, subpath in self.connection.execute(sql):
            yield LinkRow(*cells), subpath

    def never_named(self) -> set[int]:
        """Return the files whose key no link of another file has."""
        sql = (
            "SELECT group_concat(id) FROM files AS f WHERE NOT EXISTS "
            "(SELECT 1 FROM links WHERE links.key = f.key AND links.file != f.id)"
        )
        return self._numbers(sql)

    def named_plainly(self, files: Collection[int]) -> set[int]:
        """Return those of some files whose key a link of another file has that is a name alone."""
        sql = (
            f"SELECT group_concat(id) FROM files AS f WHERE id {IN_LIST} AND EXISTS (SELECT 1 FROM "
            f"links WHERE links.key = f.key AND links.file != f.id AND NOT {IS_PLACED})"
        )
        return {file for part in _split_values(files) for file in self._numbers(sql, part)}

    def linking_nowhere(self) -> set[int]:
        """Return the files all of whose links have their own key or none."""
        sql = (
            "SELECT group_concat(id) FROM files AS f WHERE NOT EXISTS "
            "(SELECT 1 FROM links WHERE links.file = f.id AND links.key NOT IN ('', f.key))"
        )
        return self._numbers(sql)

    def facts(self, places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, LinkFact]]:
        """Yield some links whole, each with its file; `places` are file and position."""
        sql = (
            f"SELECT links.file, {_FACT} FROM json_each(?) AS place JOIN links ON "
            "links.file = json_extract(place.value, '$[0]') AND "
            "links.n = json_extract(place.value, '$[1]') ORDER BY place.key"
        )
        for part in _split_values(places):
            for file, *cells in self.connection.execute(sql, [part]):
                yield file, LinkFact(*cells)

    def _numbers(self, sql: str, *values: str) -> set[int]:
        # As one text: most of the time would go into making a row of each number.
        (numbers,) = self.connection.execute(sql, values).fetchone()
        return set(json.loads(f"[{numbers}]")) if numbers else set()


def _split_values(values: Iterable[object]) -> Iterator[str]:
    """Yield values as JSON lists of at most NAMED_KEYS."""
    some = iter(values)
    while part := list(islice(some, NAMED_KEYS)):
        yield json.dumps([to_printable(item) if isinstance(item, str) else item for item in part])
