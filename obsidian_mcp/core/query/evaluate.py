"""Decide whether a file matches a query, and find where (semantics 5.2 to 5.4; QUERY-10 to QUERY-55)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol, cast

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.casefold import substring
from obsidian_mcp.core.text.deadline import checkpoint
from obsidian_mcp.core.text.text import Span

from . import scopes
from .document import Subject
from .matchers import Finder, finder, name_test, tag_test, value_test
from .nodes import And, Node, Not, Operator, Or, Phrase, Property, Regex, Scope, Word
from .parts import InPart, expression_anchor, holds_section, literal_anchor
from .prefilter import required

MAX_SPANS = 100_000
"""Most places that are listed of one file (semantics 5.5)."""


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
        return self._holds(Place(_File(subject), None))

    def find(self, subject: Subject) -> tuple[Span, ...] | None:
        """Return the places to show of a file's content, in order and without repetition; None if it does not match.

        A file that is found by its path, and for what it does not hold, has none.
        """
        place = Place(_File(subject), None)
        if not self._holds(place):
            return None
        found: list[Span] = []
        self._test.collect(place, found)
        return _ordered(found)

    def leaf(self) -> Leaf | None:
        """Return what to find if the query is one word or expression in the path or content of notes; else None."""
        match self._test:
            case _InContent(finder=found) if compat.SEARCH_FRONTMATTER_IS_CONTENT:
                return Leaf(None, found)
            case _InPath(finder=found, name_only=name_only):
                return Leaf(found, None, name_only)
            case _Anyplace(path=path, content=content) if compat.SEARCH_FRONTMATTER_IS_CONTENT:
                return Leaf(path.finder, content.finder)
        return None

    def places(self, subject: Subject) -> list[Iterator[Span]]:
        """Return where each part of the query matches in the content of a matching file, lazily."""
        parts = self._test.parts if isinstance(self._test, _All) else (self._test,)
        contents = [part.content if isinstance(part, _Anyplace) else part for part in parts]
        place = Place(_File(subject), None)
        if all(isinstance(content, _InContent) for content in contents):
            text = place.file.text
            return [
                content.finder.spans(text, *place.bounds()) for content in contents if isinstance(content, _InContent)
            ]
        found: list[Span] = []
        self._test.collect(place, found)
        return [iter(_ordered(found))]

    def _holds(self, place: Place) -> bool:
        checkpoint()
        if not self._test.holds(place):
            return False
        return place.file.subject.kind in compat.SEARCH_NEGATIVE_LISTS_KINDS or self._test.shows(place)


def _ordered(spans: list[Span]) -> tuple[Span, ...]:
    return tuple(sorted(set(spans), key=lambda span: (span.start, span.end)))[:MAX_SPANS]


class _File:
    """A subject, and what was read of it so far."""

    __slots__ = ("_parts", "_text", "has_content", "subject")

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.has_content = subject.kind != "other"
        self._text: str | None = None
        self._parts: dict[scopes.Scope, scopes.Parts] = {}

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = self.subject.text if self.has_content else ""
        return self._text

    def parts(self, scope: scopes.Scope) -> scopes.Parts:
        if scope not in self._parts:
            self._parts[scope] = self.subject.structure.parts(scope)
        return self._parts[scope]


class Place:
    """The whole content of a file (`span` None) or a part of it."""

    __slots__ = ("file", "span")

    def __init__(self, file: _File, span: Span | None) -> None:
        self.file = file
        self.span = span

    def within(self, part: Span) -> Place:
        """Return a part of the same file."""
        return Place(self.file, part)

    def bounds(self) -> tuple[int, int]:
        if self.span is not None:
            return self.span.start, self.span.end
        text = self.file.text
        if compat.SEARCH_FRONTMATTER_IS_CONTENT:
            return 0, len(text)
        from obsidian_mcp.core.frontmatter.parser import text_start

        return text_start(text), len(text)


class Condition(Protocol):
    """A part of a query, compiled once for many files."""

    cost: int
    """Cheaper conditions are checked first."""

    def holds(self, place: Place) -> bool:
        """Whether it is fulfilled."""
        ...

    def shows(self, place: Place) -> bool:  # noqa: ARG002
        """Whether it holds because of the path (semantics 5.6 row 27); used for files without text."""
        return False

    def collect(self, place: Place, spans: list[Span]) -> None:  # noqa: ARG002
        """Add the places of the content where it holds, if there are any; called only if it does."""
        return


@dataclass(slots=True, eq=False, repr=False)
class _InContent(Condition):
    finder: Finder
    cost: int

    def holds(self, place: Place) -> bool:
        return place.file.has_content and self.finder.found(place.file.text, *place.bounds())

    def collect(self, place: Place, spans: list[Span]) -> None:
        spans.extend(self.finder.spans(place.file.text, *place.bounds()))


@dataclass(slots=True, eq=False, repr=False)
class _InPath(Condition):
    finder: Finder
    name_only: bool
    cost: int

    def holds(self, place: Place) -> bool:
        path = place.file.subject.path
        name = self._start(path)
        return self.finder.found(path[name:], 0, len(path) - name)

    def shows(self, place: Place) -> bool:
        return self.holds(place)

    def _start(self, path: str) -> int:
        return path.rfind("/") + 1 if self.name_only else 0


@dataclass(slots=True, eq=False, repr=False)
class _Anyplace(Condition):
    """A bare term: in the path or in the content of a note or canvas."""

    path: _InPath
    content: _InContent
    cost: int

    def holds(self, place: Place) -> bool:
        return place.file.has_content and (self.path.holds(place) or self.content.holds(place))

    def collect(self, place: Place, spans: list[Span]) -> None:
        self.content.collect(place, spans)


@dataclass(slots=True, eq=False, repr=False)
class _Tagged(Condition):
    """The file has a tag, or a part of it has one in its text."""

    accepts: Callable[[str], bool]
    cost: int = 2

    def holds(self, place: Place) -> bool:
        if place.span is None:
            return any(self.accepts(tag.removeprefix("#")) for tag in place.file.subject.tags)
        return any(True for _ in self._here(place))

    def collect(self, place: Place, spans: list[Span]) -> None:
        spans.extend(self._here(place))

    def _here(self, place: Place) -> Iterator[Span]:
        start, end = place.bounds()
        tags = place.file.subject.structure.tags
        for at in range(bisect_left(tags, start, key=lambda tag: tag[1].start), len(tags)):
            name, span = tags[at]
            if span.end > end:
                return
            if self.accepts(name):
                yield span


@dataclass(slots=True, eq=False, repr=False)
class _WithProperty(Condition):
    names: Callable[[str], bool]
    values: Callable[[object], bool]
    cost: int = 3

    def holds(self, place: Place) -> bool:
        return any(self.names(name) and self.values(value) for name, value in place.file.subject.properties.items())

    def collect(self, place: Place, spans: list[Span]) -> None:
        from obsidian_mcp.core.frontmatter import parser  # PyYAML, which only a property's place in a text needs
        from obsidian_mcp.core.frontmatter.yaml12 import InvalidYaml, NoValue

        text = place.file.text
        block = parser.locate(text)
        if block is None or place.span is not None:
            return
        try:
            entries = parser.outline(text, block).entries
        except (NoValue, InvalidYaml):
            return
        for entry in entries:
            if self.names(entry.key) and self.values(entry.value):
                value = entry.value_span
                end = value.end if value.start < value.end else entry.key_span.end
                spans.append(Span(entry.key_span.start, end))


@dataclass(slots=True, eq=False, repr=False)
class _All(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def holds(self, place: Place) -> bool:
        return all(part.holds(place) for part in self.parts)

    def shows(self, place: Place) -> bool:
        return any(part.shows(place) for part in self.parts)

    def collect(self, place: Place, spans: list[Span]) -> None:
        for part in self.parts:
            part.collect(place, spans)


@dataclass(slots=True, eq=False, repr=False)
class _AnyOf(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def holds(self, place: Place) -> bool:
        return any(part.holds(place) for part in self.parts)

    def shows(self, place: Place) -> bool:
        return any(part.holds(place) and part.shows(place) for part in self.parts)

    def collect(self, place: Place, spans: list[Span]) -> None:
        for part in self.parts:
            if part.holds(place):
                part.collect(place, spans)


@dataclass(slots=True, eq=False, repr=False)
class _NoneOf(Condition):
    part: Condition
    cost: int

    def holds(self, place: Place) -> bool:
        return not self.part.holds(place)


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
            combine = _All if isinstance(node, And) != negated else _AnyOf
            return combine(tuple(parts), parts[-1].cost)
        case Scope(operator="match-case" | "ignore-case"):
            field = replace(field, match_case=node.operator == "match-case")
            return _compile(node.part, field, negated=negated)
        case Scope(operator="file" | "path" | "content" | "tag"):
            return _compile(node.part, replace(field, where=_FIELDS[node.operator]), negated=negated)
    test = _compile_one(node, field)
    return _NoneOf(test, test.cost) if negated else test


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
            return _WithProperty(name_test(node.key), value_test(node.value, field.match_case))
        case Word() | Phrase() | Regex():
            if field.where == "tag":
                return _Tagged(tag_test(node))
            expensive = isinstance(node, Regex)
            content = _InContent(finder(node, field.match_case), 20 if expensive else 10)
            path = _InPath(finder(node, field.match_case, path=True), field.where == "name", 1 if expensive else 0)
            if field.where == "anyplace":
                return _Anyplace(path, content, content.cost)
            return content if field.where == "content" else path
    raise TypeError(f"{type(node).__name__} stands only in the brackets of a property")


def _in_part(node: Scope, field: _Field, *, tree: bool | None = None) -> Condition:
    if tree is None:
        tree = holds_section(node.part)
    if isinstance(node.part, Or):  # a line has a or b if it has a, or if it has b; each is found faster
        parts = tuple(_in_part(replace(node, part=part), field, tree=tree) for part in node.part.parts)
        return _AnyOf(parts, max(part.cost for part in parts))
    test = _compile(node.part, replace(field, where="content"))
    musts = tuple(substring(text, match_case=False) for text in required(node.part))
    anchor = literal_anchor(musts[0]) if musts else None
    if node.operator == "line":
        return InPart(test, "line", anchor or expression_anchor(node.part, field.match_case), musts[1:], 15 + test.cost)
    scope = "section-tree" if tree and node.operator == "section" else cast("scopes.Scope", node.operator)
    return InPart(test, scope, anchor, musts[1:], 30 + test.cost)
