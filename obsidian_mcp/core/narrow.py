"""What every match of a query holds, as an index can look it up (specs/query.md, QUERY-60 to QUERY-66)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from . import compat
from .letters import fold, has_edges, is_caseless
from .query import And, Node, Not, Or, Phrase, Property, Regex, Scope, Word
from .regexp import translate

Where = Literal["content", "path", "text"]
"""`text` is the content or the path. `content` and `text` look only at files with contents: notes and canvases."""


@dataclass(frozen=True, slots=True)
class Holds:
    """`fold` of the place contains `text`, which is folded."""

    text: str
    where: Where


@dataclass(frozen=True, slots=True)
class HasTag:
    """The file has this tag, folded and without `#`, or one below it."""

    name: str


@dataclass(frozen=True, slots=True)
class HasProperty:
    """The file has a property whose folded name is this one."""

    name: str


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """The part does not hold. It stands only over parts that say exactly what the query says."""

    part: Filter


@dataclass(frozen=True, slots=True)
class Anything:
    """Nothing can be said: every file may match."""


Filter = Holds | HasTag | HasProperty | AllOf | AnyOf | NoneOf | Anything
ANYTHING = Anything()


@dataclass(frozen=True, slots=True)
class Narrowed:
    """`filter` holds for every file that the query matches. Where `exact`, a note or canvas for which it holds
    matches, and its text need not be read."""

    filter: Filter
    exact: bool


_UNKNOWN = Narrowed(ANYTHING, exact=False)


def prefilter(query: Node) -> Narrowed:
    """The narrowest filter that an index can answer and that loses no match."""
    return _narrow(query, _Place("text"))


def required(query: Node) -> tuple[str, ...]:
    """Folded texts that the content holds wherever it satisfies the operand of a scope; the most telling one first."""
    found = _narrow(query, _Place("content", scoped=True)).filter
    parts = found.parts if isinstance(found, AllOf) else (found,)
    texts = {part.text for part in parts if isinstance(part, Holds) and part.where == "content"}
    return tuple(sorted(texts, key=lambda text: (-len(text), text)))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the leaves look. `scoped`: in a part of the text, about which the whole file says nothing exact."""

    where: Literal["content", "path", "text", "tag"]
    scoped: bool = False
    match_case: bool = False


def _narrow(node: Node, place: _Place) -> Narrowed:
    match node:
        case And() | Or():
            return _joined(node, place)
        case Not():
            part = _narrow(node.part, place)
            return Narrowed(NoneOf(part.filter), exact=True) if part.exact else _UNKNOWN
        case Scope():
            return _scope(node, place)
        case Property():
            return _property(node)
        case Word() | Phrase() | Regex():
            return _tag(node, place) if place.where == "tag" else _text(node, place, place.where)
    return _UNKNOWN


def _joined(node: And | Or, place: _Place) -> Narrowed:
    parts = [_narrow(part, place) for part in node.parts]
    filters = [part.filter for part in parts]
    joined = all_of(filters) if isinstance(node, And) else any_of(filters)
    return Narrowed(joined, exact=all(part.exact for part in parts) and not place.scoped)


def _scope(node: Scope, place: _Place) -> Narrowed:
    match node.operator:
        case "match-case" | "ignore-case":
            return _narrow(node.part, replace(place, match_case=node.operator == "match-case"))
        case "tag" | "path" | "content":
            return _narrow(node.part, replace(place, where=node.operator))
        case "file":  # the path holds what the name holds, and more
            return _loose(_narrow(node.part, replace(place, where="path", scoped=True)))
    inner = _narrow(node.part, replace(place, where="content", scoped=True))
    if node.operator == "task-todo" and not place.scoped:
        # Only of the whole file: the part of a task that stands in one line may be without its box.
        return Narrowed(all_of([Holds("[ ]", "content"), inner.filter]), exact=False)
    return _loose(inner)


def _loose(narrowed: Narrowed) -> Narrowed:
    return replace(narrowed, exact=False)


def _property(node: Property) -> Narrowed:
    keys = node.key.parts if isinstance(node.key, Or) else (node.key,)
    names: list[Filter] = [HasProperty(fold(key.text)) if isinstance(key, Word | Phrase) else ANYTHING for key in keys]
    return Narrowed(any_of(names), exact=node.value is None and ANYTHING not in names)


def _tag(leaf: Word | Phrase | Regex, place: _Place) -> Narrowed:
    name = "" if isinstance(leaf, Regex) else tag_name(leaf.text)
    return Narrowed(HasTag(name), exact=not place.scoped) if name else _UNKNOWN


def _text(leaf: Word | Phrase | Regex, place: _Place, where: Where) -> Narrowed:
    if isinstance(leaf, Regex):
        return Narrowed(
            all_of([any_of([Holds(text, where) for text in clause]) for clause in translate(leaf.source).clauses]),
            exact=False,
        )
    if not leaf.text:
        return _UNKNOWN
    text = fold(leaf.text)
    composed = fold(unicodedata.normalize("NFC", leaf.text))  # the form of every path
    found: Filter = Holds(composed if where == "path" else text, where)
    if where == "text" and composed != text:
        found = AnyOf((Holds(text, "content"), Holds(composed, "path")))
    sloppy = (place.match_case and not is_caseless(leaf.text)) or (isinstance(leaf, Phrase) and has_edges(leaf.text))
    return Narrowed(found, exact=not (sloppy or place.scoped) and compat.SEARCH_FRONTMATTER_IS_CONTENT)


def tag_name(text: str) -> str:
    """A tag as a query names it, folded, without `#` and a trailing slash."""
    return fold(text).removeprefix("#").rstrip("/")


def all_of(parts: Iterable[Filter]) -> Filter:
    flat: list[Filter] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, AllOf) else [part])
    left = tuple(dict.fromkeys(part for part in flat if part != ANYTHING))
    return AllOf(left) if len(left) > 1 else left[0] if left else ANYTHING


def any_of(parts: Iterable[Filter]) -> Filter:
    left = tuple(dict.fromkeys(parts))
    return ANYTHING if ANYTHING in left else AnyOf(left) if len(left) > 1 else left[0]
