"""What a query sees of a vault, read from the index: only the columns that it asks for (EXPR-41, EXPR-42)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from obsidian_mcp.core.expressions.values import File, Value
from obsidian_mcp.core.expressions.vault_view import Place, WrittenLink
from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.index.facts import Facts, LinkKind
from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.text.vault_path import VaultPath

from .link_graph import LinkGraph

FILES_KEPT = 1000
"""Files of which all facts are kept for the next access."""
SINGLE_FILES = 32
"""Files whose facts are read one by one; for more, all that the index has of that kind are read at once."""

T = TypeVar("T")

Paths = Mapping[int, VaultPath]
"""The files that are in the vault, by the numbers of their rows."""

_PLACES: Mapping[LinkKind, Place] = {"property": "property", "link": "link", "card": "link", "embed": "embed"}


class Moment(NamedTuple):
    """What a view is read from: the index and the vault at one moment."""

    rows: Rows
    catalog: Catalog
    hides: Callable[[str], bool]
    """Which files the user excludes."""
    paths: Callable[[], Paths]
    """The files that have rows, by their numbers."""
    link_graph: Callable[[], LinkGraph]
    unindexed: Collection[str]
    """Files that are in no result: what they lack is not known."""


class IndexedVault:
    """A `VaultView` of one moment of the index. Not shared between threads; good for one query."""

    def __init__(self, moment: Moment, created_ns: Callable[[FileEntry], int]) -> None:
        self._rows, self._catalog, self._hides, self._paths_in_vault, link_graph, self._unindexed = moment
        self._link_graph = cache(link_graph)
        self._created_ns = created_ns
        self._columns: dict[str, dict[str, Value]] = {}
        self._decoded: dict[str, Value] = {}
        """Values by their JSON: most values of a property stand in many notes. Nobody changes a value."""
        self._facts: dict[str, Facts | None] = {}
        self._links: dict[str, list[WrittenLink]] = {}

    def files(self) -> Sequence[File]:
        hides = self._hides
        entries = sorted(self._catalog.by_path().values())
        shown = [File(path, size, modified) for path, _, size, modified in entries if not hides(path)]
        return [file for file in shown if file.path not in self._unindexed] if self._unindexed else shown

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
            rows, paths = self._rows.property_values(name), self._paths
            self._columns[name] = {path: self._value(text) for number, text in rows if (path := paths.get(number))}
        return self._columns[name]

    def properties(self, path: str) -> Mapping[str, Value]:
        if self._read_singly(path):
            facts = self._facts_of(path)
            return {} if facts is None else {fact.name: self._value(fact.value) for fact in facts.properties}
        return self._properties.get(path, {})

    def tags(self, path: str) -> Sequence[str]:
        if self._read_singly(path):
            facts = self._facts_of(path)
            return () if facts is None else [tag.tag for tag in facts.tags]
        return self._tags.get(path, ())

    def links(self, path: str) -> Sequence[WrittenLink]:
        if self._read_singly(path):
            facts = self._facts_of(path)
            links = () if facts is None else facts.links
            return [written_link(link.path, link.subpath, link.display, link.kind) for link in links]
        found = self._links.get(path)
        if found is None:
            found = self._links[path] = [written_link(*link) for link in self._written_links.get(path, ())]
        return found

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
    def _paths(self) -> Paths:
        return self._paths_in_vault()

    def _read_singly(self, path: str) -> bool:
        """Whether the facts of a file are read for it alone: as long as few were asked for."""
        return path in self._facts or len(self._facts) < SINGLE_FILES

    def _facts_of(self, path: str) -> Facts | None:
        if path not in self._facts:
            if len(self._facts) >= FILES_KEPT:
                self._facts.clear()
            self._facts[path] = self._rows.facts(VaultPath(path))
        return self._facts[path]

    @cached_property
    def _properties(self) -> dict[str, dict[str, Value]]:
        found: dict[str, dict[str, Value]] = {}
        paths = self._paths
        for number, _, name, text in self._rows.properties_of():
            if (path := paths.get(number)) is not None:
                found.setdefault(path, {})[name] = self._value(text)
        return found

    @cached_property
    def _tags(self) -> dict[str, list[str]]:
        return by_path(self._paths, self._rows.tags(), itemgetter(1))

    @cached_property
    def _written_links(self) -> dict[str, list[tuple[str, str, str | None, LinkKind]]]:
        return by_path(self._paths, self._rows.written_links(), itemgetter(1, 2, 3, 4))


def by_path(paths: Paths, rows: Iterable[tuple[Any, ...]], value: Callable[[Any], T]) -> dict[str, list[T]]:
    """Return the `value` of every row by the path of its file, whose number comes first; rows are in that order."""
    groups = groupby(rows, key=itemgetter(0))
    return {path: list(map(value, group)) for number, group in groups if (path := paths.get(number)) is not None}


def written_link(path: str, subpath: str, display: str | None, kind: LinkKind) -> WrittenLink:
    return WrittenLink(path, subpath, display, _PLACES[kind])
