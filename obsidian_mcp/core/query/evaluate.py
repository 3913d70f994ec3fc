"""Decide whether a file matches a query, and find where (semantics 5.2 to 5.4; QUERY-10 to QUERY-55)."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain
from operator import attrgetter
from typing import Literal, NamedTuple, Protocol, cast

import regex

from obsidian_mcp.core.text.analysis import fold, phrase, substring
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Span

from . import scopes
from .document import Document
from .nodes import And, Node, Not, Operator, Or, Phrase, Property, Regex, ScopedQuery, Word, has_scope
from .parts import first_of, required
from .properties import name_test, value_test
from .regexp import translate

MAX_SPANS = 100_000
"""Most places that are listed of one file (semantics 5.5)."""


class Matcher:
    """A query compiled for many files. Its methods raise OperationTimeout."""

    def __init__(self, query: Node) -> None:
        self._test = _compile(query, _Field())

    def matches(self, subject: Document) -> bool:
        """Return whether the file matches."""
        checkpoint()
        place = Place(subject)
        return self._test.holds(place) and (subject.kind != "other" or self._test.shows(place))

    def find(self, subject: Document) -> tuple[Span, ...] | None:
        """The places to show of a file, in order and each once, none if its path matched; None without a match."""
        if not self.matches(subject):
            return None
        return tuple(sorted(set(self._test.places(Place(subject))), key=attrgetter("start", "end")))[:MAX_SPANS]

    def places(self, subject: Document) -> list[Iterator[Span]]:
        """Return where the content of a matching file satisfies each part of the query, lazily."""
        parts = self._test.parts if isinstance(self._test, _All) else (self._test,)
        return [part.places(Place(subject)) for part in parts]


class Place:
    """The whole content of a file (`span` None) or a part of it."""

    __slots__ = ("span", "subject")

    def __init__(self, subject: Document, span: Span | None = None) -> None:
        self.subject = subject
        self.span = span

    def within(self, part: Span) -> Place:
        """Return a part of the same file."""
        return Place(self.subject, part)

    @property
    def has_content(self) -> bool:
        return self.subject.kind != "other"

    @property
    def start(self) -> int:
        return 0 if self.span is None else self.span.start

    @property
    def end(self) -> int:
        return len(self.subject.text) if self.span is None else self.span.end

    @property
    def text(self) -> str:
        """The content of the place, for a search that sees nothing around it."""
        return self.subject.text if self.span is None else self.span.slice(self.subject.text)


class Condition(Protocol):
    """A part of a query, compiled once for many files."""

    cost: int
    """Cheaper conditions are checked first."""

    def holds(self, place: Place) -> bool:
        """Whether it is fulfilled."""

    def shows(self, place: Place) -> bool:  # noqa: ARG002
        """Whether it holds because of the path (semantics 5.6 row 27); used for files without text."""
        return False

    def places(self, place: Place) -> Iterator[Span]:  # noqa: ARG002
        """Yield where it holds in the content, if anywhere; called only if it holds."""
        return iter(())


# Text and paths


class Finder(Protocol):
    """Searches a text. Raises: OperationTimeout."""

    def found(self, text: str) -> bool: ...

    def spans(self, text: str) -> Iterable[tuple[int, int]]: ...


class _Literal(NamedTuple):
    """A word or phrase. Searching keeps the interpreter's lock: it takes 1 µs for 2 KB, and thousands of searches would
    all wait for the lock while another thread works (five times the time during a checkout)."""

    pattern: regex.Pattern[str]

    def found(self, text: str) -> bool:
        return self.pattern.search(text, concurrent=False) is not None

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        # the empty phrase matches every text, at no place of it
        return (found.span() for found in self.pattern.finditer(text) if found.end() > found.start())


def _finder(leaf: Word | Phrase | Regex, match_case: bool | None, *, in_path: bool = False) -> Finder:
    """Return what finds a leaf. `match_case` None: the default; `in_path`: in paths, which are NFC."""
    if isinstance(leaf, Regex):
        return translate(leaf.source, match_case=bool(match_case))
    text = unicodedata.normalize("NFC", leaf.text) if in_path else leaf.text
    pattern = phrase if isinstance(leaf, Phrase) else substring
    return _Literal(pattern(text, match_case=bool(match_case)))


@dataclass(slots=True, eq=False, repr=False)
class _InContent(Condition):
    finder: Finder
    cost: int

    def holds(self, place: Place) -> bool:
        return place.has_content and self.finder.found(place.text)

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

    def shows(self, place: Place) -> bool:
        return self.holds(place)


@dataclass(slots=True, eq=False, repr=False)
class _Anyplace(_InContent):
    """A bare term: in the path or in the content of a note or canvas."""

    path: _InPath

    def holds(self, place: Place) -> bool:
        return place.has_content and (self.path.finder.found(place.subject.path) or self.finder.found(place.text))


# Tags


@dataclass(slots=True, eq=False, repr=False)
class _Tagged(Condition):
    """The file has a tag, or a part of it has one in its text."""

    accepts: Callable[[str], bool]
    cost: int = 2

    def holds(self, place: Place) -> bool:
        if place.span is None:
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


class TagTest(NamedTuple):
    """Which tags a word or an expression means."""

    name: str
    """Folded, without `#` and a trailing slash; empty for an expression, and where every tag is meant."""
    accepts: Callable[[str], bool]
    """Whether it means a tag, given without `#`."""


def tag_test(leaf: Word | Phrase | Regex) -> TagTest:
    """Return the test of a leaf: the tag itself or one below it, in any case (semantics 3.4; QUERY-13)."""
    if isinstance(leaf, Regex):
        searched = translate(leaf.source)
        return TagTest("", lambda tag: searched.found(tag) or searched.found(f"#{tag}"))
    name = fold(leaf.text).removeprefix("#").rstrip("/")
    below = f"{name}/"
    return TagTest(name, lambda tag: not name or (folded := fold(tag)) == name or folded.startswith(below))


# Combinations


@dataclass(slots=True, eq=False, repr=False)
class _All(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def holds(self, place: Place) -> bool:
        return all(part.holds(place) for part in self.parts)

    def shows(self, place: Place) -> bool:
        return any(part.shows(place) for part in self.parts)

    def places(self, place: Place) -> Iterator[Span]:
        return chain.from_iterable(part.places(place) for part in self.parts)


@dataclass(slots=True, eq=False, repr=False)
class _AnyOf(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def holds(self, place: Place) -> bool:
        return any(part.holds(place) for part in self.parts)

    def shows(self, place: Place) -> bool:
        return any(part.holds(place) and part.shows(place) for part in self.parts)

    def places(self, place: Place) -> Iterator[Span]:
        return merge(*(part.places(place) for part in self.parts if part.holds(place)), key=attrgetter("start"))


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
    scope: scopes.Scope | Literal["line"]
    must: scopes.First | None
    """Finds what the part must contain: cheaper than to try one part after the other."""
    cost: int

    def holds(self, place: Place) -> bool:
        return next(self._satisfied(place), None) is not None

    def shows(self, place: Place) -> bool:  # noqa: ARG002
        return False

    def places(self, place: Place) -> Iterator[Span]:
        for part in self._satisfied(place):
            found = list(self.test.places(place.within(part)))
            yield from found or ([part] if part.start < part.end else [])

    def _satisfied(self, place: Place) -> Iterator[Span]:
        """Yield the parts that satisfy `test`."""
        if not place.has_content:
            return
        subject, text, start, end = place.subject, place.subject.text, place.start, place.end
        if self.scope == "line":
            parts = scopes.lines_within(start, end, text, self.must)
        elif self.must is not None and self.must(text, start, end) < 0:
            return  # without a look at the structure
        else:
            parts = scopes.parts_within(subject.structure.parts(self.scope), start, end, text, self.must)
        for part in parts:
            checkpoint()
            if self.test.holds(place.within(part)):
                yield part


@dataclass(slots=True, eq=False, repr=False)
class _WithProperty:
    """The note has a property whose name and value pass these tests."""

    names: Callable[[str], bool]
    values: Callable[[object], bool]
    cost: int = 3

    def holds(self, place: Place) -> bool:
        return any(self.names(name) and self.values(value) for name, value in place.subject.properties.items())

    def shows(self, place: Place) -> bool:  # noqa: ARG002
        return False

    def places(self, place: Place) -> Iterator[Span]:
        for name, value, span in place.subject.property_places if place.span is None else ():
            if self.names(name) and self.values(value):
                yield span


# From the tree to conditions


@dataclass(slots=True, eq=False, repr=False)
class _Field:
    """Where the leaves search, and how they treat case (None: the default)."""

    where: Literal["anyplace", "content", "path", "name", "tag"] = "anyplace"
    match_case: bool | None = None


def _compile(node: Node, field: _Field, *, negated: bool = False) -> Condition:
    """Push negations down to the leaves, so that only affirmed terms give places to show."""
    while isinstance(node, Not | ScopedQuery):
        match node:
            case Not():
                negated = not negated
            case ScopedQuery(operator="match-case" | "ignore-case"):
                field = replace(field, match_case=node.operator == "match-case")
            case ScopedQuery(operator="file" | "path" | "content" | "tag"):
                field = replace(field, where=_FIELDS[node.operator])
            case ScopedQuery():
                break
        node = node.part
    test: Condition
    match node:
        case And() | Or():
            parts = sorted((_compile(part, field, negated=negated) for part in node.parts), key=lambda test: test.cost)
            combine = _All if isinstance(node, And) != negated else _AnyOf
            return combine(tuple(parts), parts[-1].cost)
        case ScopedQuery():
            test = _in_part(node, field)
        case Property():
            test = _WithProperty(name_test(node.key), value_test(node.value, field.match_case))
        case Word() | Phrase() | Regex() if field.where == "tag":
            test = _Tagged(tag_test(node).accepts)
        case Word() | Phrase() | Regex():
            is_regex = isinstance(node, Regex)
            content = _InContent(_finder(node, field.match_case), 20 if is_regex else 10)
            path = _InPath(_finder(node, field.match_case, in_path=True), field.where == "name", 1 if is_regex else 0)
            test = content if field.where == "content" else path
            if field.where == "anyplace":
                test = _Anyplace(content.finder, content.cost, path)
        case _:
            raise TypeError(f"{type(node).__name__} stands only in the brackets of a property")
    return _NoneOf(test, test.cost) if negated else test


_FIELDS: dict[Operator, Literal["content", "path", "name", "tag"]] = {
    "file": "name",
    "path": "path",
    "content": "content",
    "tag": "tag",
}


def _in_part(node: ScopedQuery, field: _Field, *, tree: bool | None = None) -> Condition:
    if tree is None:
        tree = has_scope(node.part, "section")
    if isinstance(node.part, Or):  # a line has a or b if it has a, or if it has b; each is found faster
        parts = tuple(_in_part(replace(node, part=part), field, tree=tree) for part in node.part.parts)
        return _AnyOf(parts, max(part.cost for part in parts))
    test = _compile(node.part, replace(field, where="content"))
    texts = required(node.part)
    must = first_of(texts[0]) if texts else None
    if node.operator == "line":
        return _InPart(test, "line", must, 15 + test.cost)
    scope = "section-tree" if tree and node.operator == "section" else cast("scopes.Scope", node.operator)
    return _InPart(test, scope, must, 30 + test.cost)
