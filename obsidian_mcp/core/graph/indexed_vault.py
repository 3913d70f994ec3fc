"""What a query sees of a vault, read from the index: only the columns that it asks for (EXPR-41,
EXPR-42)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple, TypeVar

from obsidian_mcp.core.expressions.values import File, Value, from_json
from obsidian_mcp.core.expressions.vault_view import LinkPlace, WrittenLink
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.checked_files import select_paths
from obsidian_mcp.core.index.facts import LinkKind
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.text.tags import key as tag_key
from obsidian_mcp.core.text.vault_path import VaultPath

from .link_graph import LinkGraph, target_of
from .read_ahead import FileOrder, IndexColumn

WHOLE_PART = 4
"""One note of so many in a query, and a property is read of all notes at once."""

T = TypeVar("T")

_PLACES: Mapping[LinkKind, LinkPlace] = {
    "property": "property",
    "link": "link",
    "card": "link",
    "embed": "embed",
}


class Moment(NamedTuple):
    """What a view is read from: the index and the vault at one moment."""

    rows: Rows
    catalog: Catalog
    hides: Callable[[str], bool]
    """Which files the user excludes."""
    paths: Callable[[], Mapping[int, VaultPath]]
    """The files that have rows, by their numbers."""
    link_graph: Callable[[], LinkGraph]
    unindexed: Collection[str]
    """Files that are in no result: what they lack is not known."""


class NarrowColumn(Mapping[str, Value]):
    """A column of a query that is about a small part of the vault: read where it is asked for."""

    def __init__(self, vault: IndexedVault, name: str) -> None:
        self._vault = vault
        self._column = vault.property_column(name)

    def __getitem__(self, path: str) -> Value:
        values = self._column.cells(path, self._vault.order)
        if not values:
            raise KeyError(path)
        return values[0]

    def __iter__(self) -> Iterator[str]:
        return (path for path in self._vault.paths.values() if path in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class IndexedVault:
    """A `VaultView` of one moment of the index. Not shared between threads; good for one query."""

    def __init__(
        self, moment: Moment, created_ns: Callable[[FileEntry], int] = lambda _: 0
    ) -> None:
        (
            self._rows,
            self._catalog,
            self._hides,
            self._paths_in_vault,
            link_graph,
            self._unindexed,
        ) = moment
        self._link_graph = cache(link_graph)
        self._created_ns = created_ns
        self._columns: dict[str, Mapping[str, Value]] = {}
        self._decoded: dict[str, Value] = {}
        """Values by their JSON: most values of a property stand in many notes. Nobody changes a
        value."""
        self.order = FileOrder()
        self._numbers: dict[str, int] = {}
        """The numbers of the files that were read."""
        self._is_narrow = False
        """Whether the query is about a small part of the vault."""

    def files(self, among: Collection[str] | None = None) -> Sequence[File]:
        hides, unindexed = self._hides, self._unindexed
        if among is None:
            entries = sorted(self._catalog.entries_by_path().values())
        else:
            self._catalog.read_ahead(among)
            entries = [entry for path in sorted(among) if (entry := self._catalog.get(path))]
            self._is_narrow = len(entries) * WHOLE_PART < len(self._catalog)
        visible_files = [
            File(path, size, modified)
            for path, _, size, modified in entries
            if not hides(path) and path not in unindexed
        ]
        self.order = FileOrder([file.path for file in visible_files])
        return visible_files

    def count_files(self) -> int:
        return len(self._catalog)

    def file(self, path: str) -> File | None:
        entry = self._catalog.get(path)
        return None if entry is None else File(entry.path, entry.size, entry.mtime_ns)

    def created_ns(self, path: str) -> int:
        entry = self._catalog.get(path)
        return 0 if entry is None else self._created_ns(entry)

    def resolve(self, linkpath: str, source: str) -> str | None:
        return target_of(self._catalog, VaultPath(source), linkpath, is_card=False)

    def column(self, name: str) -> Mapping[str, Value]:
        """Of two names in one note that differ in case, the first counts."""
        if name not in self._columns:
            self._columns[name] = (
                NarrowColumn(self, name) if self._is_narrow else self._whole_column(name)
            )
        return self._columns[name]

    def _whole_column(self, name: str) -> Mapping[str, Value]:
        rows, paths = reversed(list(self._rows.column("properties", "value", name))), self.paths
        return {path: self._value(text) for number, _, text in rows if (path := paths.get(number))}

    def property_column(self, name: str) -> IndexColumn[Value]:
        """Return the values of one property, the first of each file first."""
        return self.column_of(
            lambda files: (
                (number, self._value(text))
                for number, _, text in self._rows.column("properties", "value", name, files)
            )
        )

    def values(self, name: str) -> Iterator[tuple[str, Value]]:
        for text, value in self._rows.file_sets.read_values("properties", name):
            yield text, from_json(value)

    def files_with_values(
        self, name: str, texts: Collection[str], among: Collection[str] | None = None
    ) -> Collection[str]:
        numbers = self._rows.file_sets.with_values("properties", name, texts)
        if among is not None and self._numbers.keys() >= set(among):
            numbers &= {self._numbers[path] for path in among}
        return self._read_paths(numbers)

    def tagged_files(self, tags: Sequence[str]) -> Collection[str]:
        keys = {tag_key(tag) for tag in tags}
        numbers = {number for tag in keys for number in self._rows.file_sets.find_tagged(tag)}
        return self._read_paths(numbers)

    def _read_paths(self, numbers: Collection[int]) -> Collection[str]:
        """Return the paths of the files that are in the vault, and remember their numbers."""
        numbered = select_paths(self.paths, numbers)
        self._numbers.update(numbered)
        return numbered.keys()

    def properties(self, path: str) -> Mapping[str, Value]:
        return dict(self._properties.cells(path, self.order))

    def tags(self, path: str) -> Sequence[str]:
        return self._tags.cells(path, self.order)

    def links(self, path: str) -> Sequence[WrittenLink]:
        return self._links.cells(path, self.order)

    def targets(self, path: str) -> Collection[str]:
        (outgoing,) = self._outgoing.cells(path, self.order) or ((),)
        return outgoing

    def backlinks(self, path: str) -> Sequence[str]:
        return sorted(self._incoming.cells(path, self.order))

    def _value(self, text: str) -> Value:
        decoded = self._decoded
        if text not in decoded:
            decoded[text] = json.loads(text, parse_int=float)
        return decoded[text]

    @cached_property
    def paths(self) -> Mapping[int, VaultPath]:
        """The files that are in the vault, by the numbers of their rows."""
        return self._paths_in_vault()

    def column_of(
        self, read: Callable[[Collection[int]], Iterable[tuple[int, T]]]
    ) -> IndexColumn[T]:
        """Return a column of the rows of files; `read` returns number and cell of files with some
        numbers."""
        return IndexColumn(read, self._rows.file_paths.find_numbers, self._numbers)

    @cached_property
    def _properties(self) -> IndexColumn[tuple[str, Value]]:
        def read_properties(files: Collection[int]) -> Iterator[tuple[int, tuple[str, Value]]]:
            for number, _, name, text in self._rows.column(
                "properties", "name, value", files=files
            ):
                yield number, (name, self._value(text))

        return self.column_of(read_properties)

    @cached_property
    def _tags(self) -> IndexColumn[str]:
        return self.column_of(
            lambda files: (
                (file, tag) for file, _, tag in self._rows.column("tags", "tag", files=files)
            )
        )

    @cached_property
    def _links(self) -> IndexColumn[WrittenLink]:
        def read_links(files: Collection[int]) -> Iterator[tuple[int, WrittenLink]]:
            for row in self._rows.column("links", "path, subpath, display, kind", files=files):
                number, _, path, subpath, display, kind = row
                yield number, WrittenLink(path, subpath, display, _PLACES[kind])

        return self.column_of(read_links)

    @cached_property
    def _outgoing(self) -> IndexColumn[Collection[str]]:
        def read_targets(paths: Sequence[str]) -> Iterator[tuple[str, Collection[str]]]:
            for path, outgoing in self._link_graph().links_out(paths).items():
                yield path, outgoing.resolved

        return IndexColumn(read_targets)

    @cached_property
    def _incoming(self) -> IndexColumn[str]:
        def read_sources(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
            for path, sources in self._link_graph().links_in(paths).items():
                yield from ((path, source) for source in sources)

        return IndexColumn(read_sources)
