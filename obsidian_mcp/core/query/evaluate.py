"""Decide whether a file matches a query, and find where (semantics 5.2 to 5.4; QUERY-10 to
QUERY-55)."""

from __future__ import annotations

import operator
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from itertools import chain
from operator import attrgetter
from typing import Literal, NamedTuple, Protocol, cast

import regex

from obsidian_mcp.core.text.analysis import fold, phrase, substring
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.core.text.vault_path import basename

from . import nodes
from .document import Document, First, Scope, lines_within, parts_within
from .nodes import (
    And,
    Node,
    Not,
    Or,
    Phrase,
    Property,
    Regex,
    ScopedQuery,
    SearchField,
    Word,
    has_scope,
)
from .regexp import END, translate

MAX_SPANS = 100_000
"""Most places that are listed of one file (semantics 5.5)."""


class Matcher:
    """A query compiled for many files. Its methods raise OperationTimeout."""

    def __init__(self, query: Node) -> None:
        self._test = _compile(query, SearchField())

    def matches(self, subject: Document) -> bool:
        """Return whether the file matches."""
        checkpoint()
        place = Place(subject)
        return self._test.holds(place) and (
            place.has_content or next(self._test.places(place), None) is not None
        )

    def find(self, subject: Document) -> tuple[Span, ...] | None:
        """The places to show of a note, in order and each once, none if its path matched; None
        without a match."""
        if not self.matches(subject):
            return None
        return tuple(
            sorted(set(self._test.places(Place(subject))), key=attrgetter("start", "end"))
        )[:MAX_SPANS]

    def places(self, subject: Document) -> list[Iterator[Span]]:
        """Return where the content of a matching file satisfies each part of the query, lazily."""
        parts = self._test.parts if isinstance(self._test, _All) else (self._test,)
        return [part.places(Place(subject)) for part in parts]


@dataclass(slots=True, eq=False, repr=False)
class Place:
    """The content of a file, whole or from `start` to `end`; no named tuple, which takes twice the
    time to make."""

    subject: Document
    start: int = 0
    end: int = END

    @property
    def is_whole(self) -> bool:
        return self.end == END

    @property
    def has_content(self) -> bool:
        return self.subject.kind != "other"

    @property
    def text(self) -> str:
        """The content of the place, for a search that sees nothing around it."""
        return self.subject.text[self.start : self.end]


class Condition(Protocol):
    """A part of a query, compiled once for many files."""

    cost: int
    """Cheaper conditions are checked first."""

    def holds(self, place: Place) -> bool:
        """Whether it is fulfilled."""

    def places(self, place: Place) -> Iterator[Span]:  # noqa: ARG002
        """Yield where it holds in the content, if anywhere, or of a file without text once if it
        holds because of the path (semantics 5.6 row 27); called only if it holds."""
        return iter(())


# Text and paths


class Finder(Protocol):
    """Searches a text. Raises: OperationTimeout."""

    def found(self, text: str, start: int = 0, end: int = END) -> bool:
        """Whether it is in `text[start:end]`, by itself."""

    def spans(self, text: str) -> Iterable[tuple[int, int]]: ...


class LiteralFinder(NamedTuple):
    """A word or phrase. A search is not concurrent, which is said by place because it takes 1 µs
    for 2 KB: thousands would all wait for the interpreter's lock while another thread works (five
    times the time during a checkout)."""

    pattern: regex.Pattern[str]

    def found(self, text: str, start: int = 0, end: int = END) -> bool:
        # A phrase also sees what stands before `start`, from where no word goes on into a part.
        return self.pattern.search(text, start, end, False) is not None

    def first(self, text: str, start: int, end: int) -> int:
        """Return where it begins first in `text[start:end]`; -1 if it is not there."""
        found = self.pattern.search(text, start, end, False)
        return found.start() if found else -1

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        # the empty phrase matches every text, at no place of it
        return (
            found.span() for found in self.pattern.finditer(text) if found.end() > found.start()
        )


def _finder(
    leaf: Word | Phrase | Regex, match_case: bool | None, *, in_path: bool = False
) -> Finder:
    """Return what finds a leaf. `match_case` None: the default; `in_path`: in paths, which are
    NFC."""
    if isinstance(leaf, Regex):
        return translate(leaf.source, match_case=bool(match_case))
    text = unicodedata.normalize("NFC", leaf.text) if in_path else leaf.text
    pattern = phrase if isinstance(leaf, Phrase) else substring
    return LiteralFinder(pattern(text, match_case=bool(match_case)))


@dataclass(slots=True, eq=False, repr=False)
class _InContent(Condition):
    finder: Finder
    cost: int

    def holds(self, place: Place) -> bool:
        return place.has_content and self.finder.found(place.subject.text, place.start, place.end)

    def places(self, place: Place) -> Iterator[Span]:
        start = place.start
        return (Span(start + first, start + last) for first, last in self.finder.spans(place.text))


@dataclass(slots=True, eq=False, repr=False)
class _InPath(Condition):
    finder: Finder
    name_only: bool
    cost: int

    def holds(self, place: Place) -> bool:
        path = place.subject.path
        return self.finder.found(path[path.rfind("/") + 1 :] if self.name_only else path)

    def places(self, place: Place) -> Iterator[Span]:
        return iter(() if place.has_content else (Span(0, 0),))


@dataclass(slots=True, eq=False, repr=False)
class _Anyplace(_InContent):
    """A bare term: in the path or in the content of a note or canvas."""

    path: _InPath

    def holds(self, place: Place) -> bool:
        return place.has_content and (
            self.path.finder.found(place.subject.path) or self.finder.found(place.text)
        )


@dataclass(slots=True, eq=False, repr=False)
class _Tagged(Condition):
    """The file has a tag, or a part of it has one in its text."""

    accepts: Callable[[str], bool]
    cost: int = 2

    def holds(self, place: Place) -> bool:
        if place.is_whole:
            return any(self.accepts(tag.removeprefix("#")) for tag in place.subject.tags)
        return any(True for _ in self.places(place))

    def places(self, place: Place) -> Iterator[Span]:
        tags, end = place.subject.text_tags, place.end
        for at in range(bisect_left(tags, place.start, key=lambda tag: tag[1].start), len(tags)):
            name, span = tags[at]
            if span.end > end:
                return
            if self.accepts(name):
                yield span


def tag_test(leaf: Word | Phrase | Regex) -> tuple[str, Callable[[str], bool]]:
    """Return which tag a leaf names, folded, empty for an expression and where every tag is meant;
    and the test for a tag without `#`: the tag itself or one below it, in any case (semantics 3.4;
    QUERY-13)."""
    if isinstance(leaf, Regex):
        searched = translate(leaf.source)
        return "", lambda tag: searched.found(tag) or searched.found(f"#{tag}")
    name = fold(leaf.text).removeprefix("#").rstrip("/")
    below = f"{name}/"
    return name, lambda tag: not name or (folded := fold(tag)) == name or folded.startswith(below)


@dataclass(slots=True, eq=False, repr=False)
class _All(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def holds(self, place: Place) -> bool:
        for part in self.parts:  # noqa: SIM110 - in a third of the time of a generator
            if not part.holds(place):
                return False
        return True

    def places(self, place: Place) -> Iterator[Span]:
        return chain.from_iterable(part.places(place) for part in self.parts)


@dataclass(slots=True, eq=False, repr=False)
class _AnyOf(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def holds(self, place: Place) -> bool:
        return any(part.holds(place) for part in self.parts)

    def places(self, place: Place) -> Iterator[Span]:
        return merge(
            *(part.places(place) for part in self.parts if part.holds(place)),
            key=attrgetter("start"),
        )


@dataclass(slots=True, eq=False, repr=False)
class _NoneOf(Condition):
    part: Condition
    cost: int

    def holds(self, place: Place) -> bool:
        return not self.part.holds(place)


# Parts and properties


@dataclass(slots=True, eq=False, repr=False)
class _InPart:
    """One part of the text (a line, a block, …) satisfies `test` by itself."""

    test: Condition
    scope: Scope | Literal["line"]
    must: First
    """Finds what the part must contain: cheaper than to try one part after the other."""
    cost: int

    def holds(self, place: Place) -> bool:
        return next(self._satisfied(place), None) is not None

    def places(self, place: Place) -> Iterator[Span]:
        for part in self._satisfied(place):
            found = list(self.test.places(part))
            yield from found or ([Span(part.start, part.end)] if part.start < part.end else [])

    def _satisfied(self, place: Place) -> Iterator[Place]:
        if not place.has_content:
            return
        subject, text, start = place.subject, place.subject.text, place.start
        end = min(place.end, len(text))
        if (first := self.must(text, start, end)) < 0:
            return  # without a look at the structure
        if self.scope == "line":
            parts = lines_within(start, end, text, self.must, first)
        else:
            parts = parts_within(
                subject.structure.parts(self.scope), start, end, text, self.must, first
            )
        for low, high in parts:
            checkpoint()
            part = Place(subject, low, high)
            if self.test.holds(part):
                yield part


@dataclass(slots=True, eq=False, repr=False)
class _WithProperty:
    """The note has a property whose name and value pass these tests."""

    names: Callable[[str], bool]
    values: Callable[[object], bool]
    cost: int = 3

    def holds(self, place: Place) -> bool:
        return any(
            self.names(name) and self.values(value)
            for name, value in place.subject.properties.items()
        )

    def places(self, place: Place) -> Iterator[Span]:
        for name, value, span in place.subject.property_places if place.is_whole else ():
            if self.names(name) and self.values(value):
                yield span


# The names and values of properties (QUERY-50 to QUERY-55)


_LINK = re.compile(r"\s*\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|([^\[\]]*))?\]\]\s*")
"""A value that is a link: group 1 is the path, group 2 the alias."""


def name_test(key: Node) -> Callable[[str], bool]:
    """Return a test of property names: the whole name, in any case (QUERY-50)."""
    match key:
        case Or():
            tests = [name_test(part) for part in key.parts]
            return lambda name: any(accepts(name) for accepts in tests)
        case Regex():
            return translate(key.source).found
        case Word() | Phrase():
            wanted = fold(key.text)
            return lambda name: fold(name) == wanted
    raise TypeError(f"{type(key).__name__} cannot be the name of a property")


def value_test(node: Node | None, match_case: bool | None) -> Callable[[object], bool]:
    """Return a test of property values. A term is true of a list if it is true of one item
    (QUERY-51 to QUERY-55)."""
    match node:
        case None:
            return lambda _: True
        case And() | Or():
            tests = [value_test(part, match_case) for part in node.parts]
            combine = all if isinstance(node, And) else any
            return lambda value: combine(accepts(value) for accepts in tests)
        case Not():
            inner = value_test(node.part, match_case)
            return lambda value: not inner(value)
        case nodes.Constant(value=None):
            return lambda value: value is None
        case nodes.Constant() | nodes.Compare():
            accepts = _item_test(node)
            return lambda value: any(map(accepts, _items(value)))
        case Word() | Phrase() | Regex():
            matches = _text_test(node, match_case)
            return lambda value: any(map(matches, _texts(_items(value))))
    raise TypeError(f"{type(node).__name__} cannot be the value of a property")


def _item_test(node: nodes.Constant | nodes.Compare) -> Callable[[object], bool]:
    if isinstance(node, nodes.Constant):
        return lambda item: item is node.value
    compare = operator.gt if node.sign == ">" else operator.lt
    if (limit := nodes.number(node.scalar)) is not None:
        return lambda item: (
            isinstance(item, int | float) and not isinstance(item, bool) and compare(item, limit)
        )
    time = nodes.moment(node.scalar) or ""
    return lambda item: (
        isinstance(item, str)
        and (other := nodes.moment(item.strip())) is not None
        and compare(other, time)
    )


def _text_test(leaf: Word | Phrase | Regex, match_case: bool | None) -> Callable[[str], object]:
    if isinstance(leaf, Regex):
        return translate(leaf.source, match_case=bool(match_case)).found
    if isinstance(leaf, Word):
        return substring(leaf.text, match_case=bool(match_case)).search
    fold_case = str if match_case else fold
    return partial(_is_named, fold_case(leaf.text), fold_case)


def _is_named(wanted: str, fold_case: Callable[[str], str], text: str) -> bool:
    """Whether a value is a text, or a link with this path, name or alias."""
    names = [text]
    if link := _LINK.fullmatch(text):
        path = link[1].strip()
        names += [path, basename(path), *([link[2].strip()] if link[2] else [])]
    return wanted in map(fold_case, names)


def _items(value: object) -> list[object]:
    return [item for part in value for item in _items(part)] if isinstance(value, list) else [value]


def _texts(items: Iterable[object]) -> Iterator[str]:
    """The texts of some values; null and mappings have none."""
    for item in items:
        if isinstance(item, bool):
            yield "true" if item else "false"
        elif isinstance(item, float) and item.is_integer() and abs(item) < 1e21:
            yield str(int(item))  # as JavaScript writes 7.0
        elif isinstance(item, str | int | float):
            yield str(item)


# From the tree to conditions


def _compile(node: Node, field: SearchField, *, negated: bool = False) -> Condition:
    """Push negations down to the leaves, so that only affirmed terms give places to show."""
    while isinstance(node, Not | ScopedQuery):
        if isinstance(node, Not):
            negated = not negated
        elif node.operator in nodes.NARROWING:
            field = field._replace(**nodes.NARROWING[node.operator])
        else:
            break
        node = node.part
    test: Condition
    match node:
        case And() | Or():
            parts = sorted(
                (_compile(part, field, negated=negated) for part in node.parts),
                key=lambda test: test.cost,
            )
            combine = _All if isinstance(node, And) != negated else _AnyOf
            return combine(tuple(parts), parts[-1].cost)
        case ScopedQuery():
            test = _in_part(node, field)
        case Property():
            test = _WithProperty(name_test(node.key), value_test(node.value, field.match_case))
        case Word() | Phrase() | Regex() if field.where == "tag":
            test = _Tagged(tag_test(node)[1])
        case Word() | Phrase() | Regex():
            is_regex = isinstance(node, Regex)
            content = _InContent(_finder(node, field.match_case), 20 if is_regex else 10)
            path = _InPath(
                _finder(node, field.match_case, in_path=True),
                field.where == "file",
                1 if is_regex else 0,
            )
            test = content if field.where == "content" else path
            if field.where == "anyplace":
                test = _Anyplace(content.finder, content.cost, path)
        case _:
            raise TypeError(f"{type(node).__name__} stands only in the brackets of a property")
    return _NoneOf(test, test.cost) if negated else test


def _in_part(node: ScopedQuery, field: SearchField, *, tree: bool | None = None) -> Condition:
    if tree is None:
        tree = has_scope(node.part, "section")
    if isinstance(
        node.part, Or
    ):  # a line has a or b if it has a, or if it has b; each is found faster
        parts = tuple(
            _in_part(replace(node, part=part), field, tree=tree) for part in node.part.parts
        )
        return _AnyOf(parts, max(part.cost for part in parts))
    test = _compile(node.part, field._replace(where="content"))
    longest = next(iter(required(node.part)), "")
    must = LiteralFinder(substring(longest, match_case=False)).first
    if node.operator == "line":
        return _InPart(test, "line", must, 15 + test.cost)
    scope = "section-tree" if tree and node.operator == "section" else cast("Scope", node.operator)
    return _InPart(test, scope, must, 30 + test.cost)


# What a part of a text must contain (QUERY-34 to QUERY-45)


def required(node: Node) -> tuple[str, ...]:
    """Return folded texts that all content contains which satisfies the operand of a scope, the
    longest first."""
    return tuple(sorted(set(_required(node)), key=lambda text: (-len(text), text)))


def _required(node: Node) -> Iterator[str]:
    match node:
        case And():
            for part in node.parts:
                yield from _required(part)
        case ScopedQuery() if node.operator not in ("tag", "path", "file"):
            yield from _required(node.part)
        case Word() | Phrase() if node.text:
            yield fold(node.text)
        case Regex():
            yield from (clause[0] for clause in translate(node.source).clauses if len(clause) == 1)
