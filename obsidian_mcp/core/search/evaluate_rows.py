"""Which files of the rows satisfy a query: by the index where it can tell, else by the texts (specs/search.md).

A query is taken apart, so that every part is asked of as few files as can be, and a text is searched for one thing at
a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce
from typing import Protocol, TypeVar

from obsidian_mcp.core.query.document import Subject
from obsidian_mcp.core.query.evaluate import Matcher
from obsidian_mcp.core.query.matchers import Expression, Finder, Literal
from obsidian_mcp.core.query.parser import And, Node, Not, Or, Scope
from obsidian_mcp.core.query.prefilter import asks_for_kinds, prefilter
from obsidian_mcp.core.query.tokens import Operator
from obsidian_mcp.core.text import compat, progress
from obsidian_mcp.core.text.vault_path import VaultPath

from . import joined
from .postings import Lookup

_FIELDS = frozenset({"file", "path", "content", "tag", "match-case", "ignore-case"})
"""Operators that say where and how their operand looks, and can be given to each of its parts instead."""


T = TypeVar("T")

REPORTED = 64
"""Texts between two reports of progress."""


class Readable(Protocol):
    """Files by number."""

    def row(self, number: int) -> Subject: ...

    def rows(self, files: AbstractSet[int]) -> Iterator[tuple[int, Subject]]: ...

    def packed(self, files: AbstractSet[int]) -> Iterator[tuple[int, str, bytes]]: ...

    def paths(self, files: AbstractSet[int]) -> Iterator[tuple[int, VaultPath]]: ...

    def texts(self, files: AbstractSet[int]) -> Iterator[tuple[int, str]]: ...


class Texts(Readable, Protocol):
    """What is asked of a Scene."""

    @property
    def files(self) -> AbstractSet[int]: ...

    @property
    def lookup(self) -> Lookup: ...


def matching(texts: Texts, query: Node, within: AbstractSet[int] | None = None) -> AbstractSet[int]:
    """Notes and canvases, of `within` or all, for which a query is true."""
    among = texts.files if within is None else texts.files & within
    if {"note", "canvas"} <= compat.SEARCH_NEGATIVE_LISTS_KINDS:
        return _decided(texts, query, among, ())
    return _decided_whole(texts, query, among)


def _decided(texts: Texts, query: Node, among: AbstractSet[int], field: Sequence[Operator]) -> AbstractSet[int]:
    match query:
        case And():
            return _all(texts, query.parts, among, field)
        case Or():
            found: AbstractSet[int] = frozenset()
            for part in query.parts:
                found = found | _decided(texts, part, among - found if found else among, field)
            return found
        case Not():
            return among - _decided(texts, query.part, among, field)
        case Scope(operator=operator) if operator in _FIELDS:
            return _decided(texts, query.part, among, (*field, operator))
    return _decided_whole(texts, _within(query, field), among)


def _all(texts: Texts, parts: Sequence[Node], among: AbstractSet[int], field: Sequence[Operator]) -> AbstractSet[int]:
    """What the index excludes for any of the parts is asked of none; the texts are read for the fewest first."""
    unsure: list[tuple[int, int, Node]] = []
    asked = [(prefilter(_within(part, field)), number, part) for number, part in enumerate(parts)]
    for condition, number, part in sorted(asked, key=lambda each: asks_for_kinds(each[0])):
        bounds = texts.lookup.bounds(condition, among)
        among = bounds.possible if among is texts.files else among & bounds.possible
        if bounds.sure is not bounds.possible:
            unsure.append((len(bounds.possible), number, part))
    for _, _, part in sorted(unsure):
        among = _decided(texts, part, among, field)
    return among


def _decided_whole(texts: Texts, query: Node, among: AbstractSet[int]) -> AbstractSet[int]:
    bounds = texts.lookup.bounds(prefilter(query), among)
    found, possible = bounds.sure, bounds.possible
    if among is not texts.files:
        found, possible = found & among, possible & among
    if bounds.sure is bounds.possible:
        return found
    unsure = possible - found
    return found | read(texts, query, unsure) if unsure else found


def read(texts: Readable, query: Node, files: AbstractSet[int]) -> AbstractSet[int]:
    """Those of the files whose texts satisfy the query."""
    matcher = Matcher(query)
    leaf = matcher.leaf()
    found: set[int] = set()
    if leaf is None:
        portions = matcher.portions()
        if portions is None:
            return {number for number, row in _reported(texts.rows(files), len(files)) if matcher.matches(row)}
        for number, text, packed in _reported(texts.packed(files), len(files)):
            if portions.found(text, packed) if packed else matcher.matches(texts.row(number)):
                found.add(number)
        return found
    if leaf.path is not None:
        paths: Iterable[tuple[int, str]] = texts.paths(files)
        if leaf.name_only:
            paths = ((number, path.rpartition("/")[2]) for number, path in paths)
        found = _holding_short(leaf.path, list(paths))
    if leaf.content is not None:
        left = files - found if found else files
        found |= _holding(leaf.content, _reported(texts.texts(left), len(left)))
    return found


def _holding_short(finder: Finder, texts: Sequence[tuple[int, str]]) -> set[int]:
    """As `_holding`, of paths: most often none holds it, as one search of all tells in a twentieth of the time."""
    if isinstance(finder, Literal) and not finder.looks_around:
        together = "\n".join([text for _, text in texts])
        if not finder.found(together, 0, len(together)):
            return set()
    return _holding(finder, texts)


def _holding(finder: Finder, texts: Iterable[tuple[int, str]]) -> set[int]:
    """The numbers of the texts in which something stands."""
    if isinstance(finder, Expression):
        return set(joined.matching(finder.regexp, texts))
    holds = finder.found
    return {number for number, text in texts if holds(text, 0, len(text))}


def _reported(rows: Iterable[T], total: int) -> Iterator[T]:
    for done, each in enumerate(rows):
        if not done % REPORTED:
            progress.report(done, total, "Searching")
        yield each


def _within(query: Node, field: Sequence[Operator]) -> Node:
    """A query in the operators that it was taken out of."""
    return reduce(lambda inner, operator: Scope(operator, inner), reversed(field), query)
