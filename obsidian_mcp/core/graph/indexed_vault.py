"""What a query sees of a vault, read from the index: only the columns that it asks for (EXPR-41,
EXPR-42)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Generic, NamedTuple, TypeVar

from obsidian_mcp.core.expressions.values import File, Value
from obsidian_mcp.core.expressions.vault_view import LinkPlace, WrittenLink
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.facts import LinkKind
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.text.vault_path import VaultPath

from .link_graph import LinkGraph

SINGLE_FILES = 32
"""Files of which a column is read one by one; for more, all that the index has of that kind is read
at once."""

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
    paths: Callable[[], Mapping[int, str]]
    """The files that have rows, by their numbers."""
    link_graph: Callable[[], LinkGraph]
    unindexed: Collection[str]
    """Files that are in no result: what they lack is not known."""


class IndexColumn(Generic[T]):
    """What the index has of one kind, by path, as far as it was asked for."""

    def __init__(self, read: Callable[[Collection[int] | None], Iterable[tuple[int, T]]]) -> None:
        """`read` returns number and cell of files with some numbers, or of all, those of one file
        in their order."""
        self.read = read
        self.cells: dict[str, list[T]] = {}
        self.is_whole = False


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
        self._columns: dict[str, dict[str, Value]] = {}
        self._decoded: dict[str, Value] = {}
        """Values by their JSON: most values of a property stand in many notes. Nobody changes a
        value."""
        self._scope: Mapping[str, int] = {}
        """The files that the query is going to read, by path."""
        self._single_files = SINGLE_FILES
        self._singles: dict[str, Mapping[str, int]] = {}

    def files(self) -> Sequence[File]:
        hides = self._hides
        entries = sorted(self._catalog.entries_by_path().values())
        visible_files = [
            File(path, size, modified) for path, _, size, modified in entries if not hides(path)
        ]
        return (
            [file for file in visible_files if file.path not in self._unindexed]
            if self._unindexed
            else visible_files
        )

    def file(self, path: str) -> File | None:
        entry = self._catalog.get(path)
        return None if entry is None else File(entry.path, entry.size, entry.mtime_ns)

    def created_ns(self, path: str) -> int:
        entry = self._catalog.get(path)
        return 0 if entry is None else self._created_ns(entry)

    def resolve(self, linkpath: str, source: str) -> str | None:
        return resolve(self._catalog, source, linkpath)

    def column(self, name: str) -> Mapping[str, Value]:
        """Of two names in one note that differ in case, the first counts."""
        if name not in self._columns:
            rows, paths = reversed(list(self._rows.column("properties", "value", name))), self.paths
            self._columns[name] = {
                path: self._value(text) for number, _, text in rows if (path := paths.get(number))
            }
        return self._columns[name]

    def properties(self, path: str) -> Mapping[str, Value]:
        return dict(self.cells(self._properties, path))

    def tags(self, path: str) -> Sequence[str]:
        return self.cells(self._tags, path)

    def links(self, path: str) -> Sequence[WrittenLink]:
        return self.cells(self._links, path)

    def targets(self, path: str) -> Collection[str]:
        return self._link_graph().resolved.get(VaultPath(path), ())

    def backlinks(self, path: str) -> Sequence[str]:
        return sorted(self._link_graph().incoming.get(VaultPath(path), ()))

    def _value(self, text: str) -> Value:
        decoded = self._decoded
        if text not in decoded:
            decoded[text] = json.loads(text, parse_int=float)
        return decoded[text]

    @cached_property
    def paths(self) -> Mapping[int, str]:
        """The files that are in the vault, by the numbers of their rows."""
        return self._paths_in_vault()

    def cells(self, column: IndexColumn[T], path: str) -> Sequence[T]:
        """Return the cells of one file: read at once of the files that the query is going to read,
        one by one of a few others, and of all files where more are asked for (EXPR-41)."""
        own_cells = column.cells.get(path)
        if own_cells is not None or column.is_whole:
            return own_cells or ()
        numbers = self._scope if path in self._scope else self._singles.get(path)
        if numbers is None and len(self._singles) < self._single_files:
            numbers = self._singles[path] = self._rows.numbers_of([path])
        column.is_whole = numbers is None
        column.cells = (
            {}
            if numbers is None
            else {**column.cells, path: [], **{known: [] for known in numbers}}
        )
        paths = (
            self.paths if numbers is None else {number: known for known, number in numbers.items()}
        )
        for number, cell in column.read(None if numbers is None else paths.keys()):
            if (known := paths.get(number)) is not None:
                column.cells.setdefault(known, []).append(cell)
        return column.cells.get(path, ())

    @cached_property
    def _properties(self) -> IndexColumn[tuple[str, Value]]:
        def read_properties(
            files: Collection[int] | None,
        ) -> Iterator[tuple[int, tuple[str, Value]]]:
            for number, _, name, text in self._rows.column(
                "properties", "name, value", files=files
            ):
                yield number, (name, self._value(text))

        return IndexColumn(read_properties)

    @cached_property
    def _tags(self) -> IndexColumn[str]:
        return IndexColumn(
            lambda files: (
                (file, tag) for file, _, tag in self._rows.column("tags", "tag", files=files)
            )
        )

    @cached_property
    def _links(self) -> IndexColumn[WrittenLink]:
        def read_links(files: Collection[int] | None) -> Iterator[tuple[int, WrittenLink]]:
            for row in self._rows.column("links", "path, subpath, display, kind", files=files):
                number, _, path, subpath, display, kind = row
                yield number, WrittenLink(path, subpath, display, _PLACES[kind])

        return IndexColumn(read_links)
