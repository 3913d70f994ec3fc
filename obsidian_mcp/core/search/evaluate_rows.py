"""Which files satisfy an exact query: what the index cannot decide is read from the texts (SEARCH-40, SEARCH-41)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Protocol, TypeVar

from obsidian_mcp.core.query.document import Subject
from obsidian_mcp.core.query.evaluate import Matcher
from obsidian_mcp.core.query.parser import Node
from obsidian_mcp.core.query.prefilter import prefilter
from obsidian_mcp.core.text import progress
from obsidian_mcp.core.text.vault_path import VaultPath

from .postings import Lookup

T = TypeVar("T")

REPORTED = 64
"""Texts between two reports of progress."""


class Readable(Protocol):
    """Files by number."""

    def rows(self, files: AbstractSet[int]) -> Iterator[tuple[int, Subject]]: ...

    def paths(self, files: AbstractSet[int]) -> Iterator[tuple[int, VaultPath]]: ...

    def texts(self, files: AbstractSet[int]) -> Iterator[tuple[int, str]]: ...


class Texts(Readable, Protocol):
    """What is asked of a Scene."""

    @property
    def lookup(self) -> Lookup: ...


def matching(texts: Texts, query: Node, within: AbstractSet[int] | None = None) -> AbstractSet[int]:
    """Notes and canvases, of `within` or all, for which a query is true."""
    bounds = texts.lookup.bounds(prefilter(query))
    found, possible = bounds.sure, bounds.possible
    if within is not None:
        found, possible = found & within, possible & within
    unsure = possible - found
    return found | read(texts, query, unsure) if unsure else found


def read(texts: Readable, query: Node, files: AbstractSet[int]) -> AbstractSet[int]:
    """Those of the files whose texts satisfy the query."""
    matcher = Matcher(query)
    leaf = matcher.leaf()
    if leaf is None:
        return {number for number, row in _reported(texts.rows(files), len(files)) if matcher.matches(row)}
    found: set[int] = set()
    if leaf.path is not None:
        holds = leaf.path.found
        for number, path in texts.paths(files):
            name = path.rpartition("/")[2] if leaf.name_only else path
            if holds(name, 0, len(name)):
                found.add(number)
    if leaf.content is not None:
        holds, left = leaf.content.found, files - found
        found.update(n for n, text in _reported(texts.texts(left), len(left)) if holds(text, 0, len(text)))
    return found


def _reported(rows: Iterable[T], total: int) -> Iterator[T]:
    for done, row in enumerate(rows):
        if not done % REPORTED:
            progress.report(done, total, "Searching")
        yield row
