"""Decide whether a file matches a query, and find where (semantics 5.2 to 5.4; QUERY-10 to QUERY-55)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, cast

import regex

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.casefold import substring
from obsidian_mcp.core.text.deadline import checkpoint
from obsidian_mcp.core.text.text import Span

from . import conditions, scopes
from .conditions import Anyplace, Condition, File, Hits, InContent, InPart, InPath, Place, Tagged, WithProperty
from .document import Subject
from .matchers import Finder, expression_of, finder, name_test, tag_test, value_test
from .nodes import And, Node, Not, Operator, Or, Phrase, Property, Regex, Scope, Word
from .prefilter import required
from .scopes import Anchor

MAX_SPANS = 100_000
"""Most places that are listed of one file (semantics 5.5)."""


@dataclass(frozen=True, slots=True)
class Match:
    """Where a query matches, in order and without repetition. Both are empty for `-word`."""

    content: tuple[Span, ...]
    path: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One word or expression to find in the path, in the content, or in either."""

    path: Finder | None
    content: Finder | None
    name_only: bool = False
    """Whether only the file name of the path counts."""


class Matcher:
    """A query compiled for many files.

    Its methods raise OperationTimeout when a regular expression runs away or the time of the call is over.
    """

    def __init__(self, query: Node) -> None:
        self._test = _compile(query, _Field())

    def matches(self, subject: Subject) -> bool:
        """Return whether the file matches."""
        return self._holds(Place(File(subject), None))

    def find(self, subject: Subject) -> Match | None:
        """Return the places to show of a file; None if it does not match."""
        place = Place(File(subject), None)
        if not self._holds(place):
            return None
        hits = Hits()
        self._test.collect(place, hits)
        return Match(_ordered(hits.content), _ordered(hits.path))

    def leaf(self) -> Leaf | None:
        """Return what to find if the query is one word or expression in the path or content of notes; else None."""
        match self._test:
            case InContent(finder=found) if compat.SEARCH_FRONTMATTER_IS_CONTENT:
                return Leaf(None, found)
            case InPath(finder=found, name_only=name_only):
                return Leaf(found, None, name_only)
            case Anyplace(path=path, content=content) if compat.SEARCH_FRONTMATTER_IS_CONTENT:
                return Leaf(path.finder, content.finder)
        return None

    def places(self, subject: Subject) -> list[Iterator[Span]]:
        """Return where each part of the query matches in the content of a matching file, lazily."""
        parts = self._test.parts if isinstance(self._test, conditions.All) else (self._test,)
        contents = [part.content if isinstance(part, Anyplace) else part for part in parts]
        place = Place(File(subject), None)
        if all(isinstance(content, InContent) for content in contents):
            text = place.file.text
            return [
                content.finder.spans(text, *place.bounds()) for content in contents if isinstance(content, InContent)
            ]
        hits = Hits()
        self._test.collect(place, hits)
        return [iter(_ordered(hits.content))]

    def _holds(self, place: Place) -> bool:
        checkpoint()
        if not self._test.holds(place):
            return False
        return place.file.subject.kind in compat.SEARCH_NEGATIVE_LISTS_KINDS or self._test.shows(place)


def _ordered(spans: list[Span]) -> tuple[Span, ...]:
    return tuple(sorted(set(spans), key=lambda span: (span.start, span.end)))[:MAX_SPANS]


# From the tree to conditions


@dataclass(slots=True, eq=False, repr=False)
class _Field:
    """Where the leaves search, and how they treat case (None: the default)."""

    where: Literal["anyplace", "content", "path", "name", "tag"] = "anyplace"
    match_case: bool | None = None


def _compile(node: Node, field: _Field, *, negated: bool = False) -> Condition:
    """Push negations down to the leaves, so that only affirmed terms give places to show."""
    match node:
        case Not():
            return _compile(node.part, field, negated=not negated)
        case And() | Or():
            parts = sorted((_compile(part, field, negated=negated) for part in node.parts), key=lambda test: test.cost)
            combine = conditions.All if isinstance(node, And) != negated else conditions.AnyOf
            return combine(tuple(parts), parts[-1].cost)
        case Scope(operator="match-case" | "ignore-case"):
            field = replace(field, match_case=node.operator == "match-case")
            return _compile(node.part, field, negated=negated)
        case Scope(operator="file" | "path" | "content" | "tag"):
            return _compile(node.part, replace(field, where=_FIELDS[node.operator]), negated=negated)
    test = _compile_one(node, field)
    return conditions.Not(test, test.cost) if negated else test


_FIELDS: dict[Operator, Literal["content", "path", "name", "tag"]] = {
    "file": "name",
    "path": "path",
    "content": "content",
    "tag": "tag",
}


def _compile_one(node: Node, field: _Field) -> Condition:
    match node:
        case Scope():
            return _in_part(node, field)
        case Property():
            return WithProperty(name_test(node.key), value_test(node.value, field.match_case))
        case Word() | Phrase() | Regex():
            if field.where == "tag":
                return Tagged(tag_test(node))
            expensive = isinstance(node, Regex)
            content = InContent(finder(node, field.match_case), 20 if expensive else 10)
            path = InPath(finder(node, field.match_case, path=True), field.where == "name", 1 if expensive else 0)
            if field.where == "anyplace":
                return Anyplace(path, content, content.cost)
            return content if field.where == "content" else path
    raise TypeError(f"{type(node).__name__} stands only in the brackets of a property")


def _in_part(node: Scope, field: _Field, *, tree: bool | None = None) -> Condition:
    if tree is None:
        tree = _holds_section(node.part)
    if isinstance(node.part, Or):  # a line has a or b if it has a, or if it has b; each is found faster
        parts = tuple(_in_part(replace(node, part=part), field, tree=tree) for part in node.part.parts)
        return conditions.AnyOf(parts, max(part.cost for part in parts))
    test = _compile(node.part, replace(field, where="content"))
    musts = tuple(substring(text, match_case=False) for text in required(node.part))
    anchor = _literal_anchor(musts[0]) if musts else None
    if node.operator == "line":
        return InPart(test, "line", anchor or _expression_anchor(node.part, field), musts[1:], 15 + test.cost)
    scope = "section-tree" if tree and node.operator == "section" else cast("scopes.Scope", node.operator)
    return InPart(test, scope, anchor, musts[1:], 30 + test.cost)


def _literal_anchor(must: regex.Pattern[str]) -> Anchor:
    def first(text: str, start: int, end: int) -> int:
        found = must.search(text, start, end, concurrent=False)
        return found.start() if found else -1

    return first


def _expression_anchor(operand: Node, field: _Field) -> Anchor | None:
    """A regular expression to search for in the whole text, instead of trying line after line."""
    for leaf in operand.parts if isinstance(operand, And) else (operand,):
        if isinstance(leaf, Regex):
            expression = expression_of(leaf, field.match_case)
            if not expression.looks_around:
                return expression.first
    return None


def _holds_section(node: Node) -> bool:
    match node:
        case And() | Or():
            return any(_holds_section(part) for part in node.parts)
        case Not():
            return _holds_section(node.part)
        case Scope():
            return node.operator == "section" or _holds_section(node.part)
    return False
