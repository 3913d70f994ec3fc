"""Decide whether a file matches a query, and find where (semantics 5.2 to 5.4; QUERY-10 to QUERY-55).

Pure: a file is what `Subject` says, and and its parts are read only when a term needs them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, Protocol, cast

import regex

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.casefold import substring
from obsidian_mcp.core.text.deadline import checkpoint
from obsidian_mcp.core.text.text import Span

from . import scopes
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
        return self._holds(_Place(_File(subject), None))

    def find(self, subject: Subject) -> Match | None:
        """Return the places to show of a file; None if it does not match."""
        place = _Place(_File(subject), None)
        if not self._holds(place):
            return None
        hits = _Hits()
        self._test.collect(place, hits)
        return Match(_ordered(hits.content), _ordered(hits.path))

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
        place = _Place(_File(subject), None)
        if all(isinstance(content, _InContent) for content in contents):
            text = place.file.text
            return [
                content.finder.spans(text, *place.bounds()) for content in contents if isinstance(content, _InContent)
            ]
        hits = _Hits()
        self._test.collect(place, hits)
        return [iter(_ordered(hits.content))]

    def _holds(self, place: _Place) -> bool:
        checkpoint()
        if not self._test.holds(place):
            return False
        return place.file.subject.kind in compat.SEARCH_NEGATIVE_LISTS_KINDS or self._test.shows(place)


def matches(query: Node, subject: Subject) -> bool:
    """Return `Matcher.matches` for one file."""
    return Matcher(query).matches(subject)


def find(query: Node, subject: Subject) -> Match | None:
    """Return `Matcher.find` for one file."""
    return Matcher(query).find(subject)


def _ordered(spans: list[Span]) -> tuple[Span, ...]:
    return tuple(sorted(set(spans), key=lambda span: (span.start, span.end)))[:MAX_SPANS]


class _Hits:
    def __init__(self) -> None:
        self.content: list[Span] = []
        self.path: list[Span] = []


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


class _Place:
    """The whole content of a file (`span` None) or a part of it."""

    __slots__ = ("file", "span")

    def __init__(self, file: _File, span: Span | None) -> None:
        self.file = file
        self.span = span

    def bounds(self) -> tuple[int, int]:
        if self.span is not None:
            return self.span.start, self.span.end
        text = self.file.text
        if compat.SEARCH_FRONTMATTER_IS_CONTENT:
            return 0, len(text)
        from obsidian_mcp.core.frontmatter.parser import text_start

        return text_start(text), len(text)


# Tests: a query, compiled once


class _Test(Protocol):
    @property
    def cost(self) -> int:
        """Cheaper tests run first."""
        ...

    def holds(self, place: _Place) -> bool: ...

    def shows(self, place: _Place) -> bool:
        """Whether it holds because of the path (semantics 5.6 row 27); used for files without text."""
        ...

    def collect(self, place: _Place, hits: _Hits) -> None:
        """Add the places where it holds; called only if it does."""
        ...


@dataclass(slots=True, eq=False, repr=False)
class _InContent:
    finder: Finder
    cost: int

    def holds(self, place: _Place) -> bool:
        return place.file.has_content and self.finder.found(place.file.text, *place.bounds())

    def shows(self, place: _Place) -> bool:  # noqa: ARG002
        return False

    def collect(self, place: _Place, hits: _Hits) -> None:
        hits.content.extend(self.finder.spans(place.file.text, *place.bounds()))


@dataclass(slots=True, eq=False, repr=False)
class _InPath:
    finder: Finder
    name_only: bool
    cost: int

    def holds(self, place: _Place) -> bool:
        path = place.file.subject.path
        name = self._start(path)
        return self.finder.found(path[name:], 0, len(path) - name)

    def shows(self, place: _Place) -> bool:
        return self.holds(place)

    def collect(self, place: _Place, hits: _Hits) -> None:
        path = place.file.subject.path
        name = self._start(path)
        hits.path.extend(
            Span(span.start + name, span.end + name) for span in self.finder.spans(path[name:], 0, len(path) - name)
        )

    def _start(self, path: str) -> int:
        return path.rfind("/") + 1 if self.name_only else 0


@dataclass(slots=True, eq=False, repr=False)
class _Anyplace:
    """A bare term: in the path or in the content of a note or canvas."""

    path: _InPath
    content: _InContent

    @property
    def cost(self) -> int:
        return self.content.cost

    def holds(self, place: _Place) -> bool:
        return place.file.has_content and (self.path.holds(place) or self.content.holds(place))

    def shows(self, place: _Place) -> bool:  # noqa: ARG002
        return False

    def collect(self, place: _Place, hits: _Hits) -> None:
        self.path.collect(place, hits)
        self.content.collect(place, hits)


@dataclass(slots=True, eq=False, repr=False)
class _Tagged:
    """The file has a tag, or a part of it has one in its text."""

    accepts: Callable[[str], bool]
    cost: int = 2

    def holds(self, place: _Place) -> bool:
        if place.span is None:
            return any(self.accepts(tag.removeprefix("#")) for tag in place.file.subject.tags)
        return any(True for _ in self._here(place))

    def shows(self, place: _Place) -> bool:  # noqa: ARG002
        return False

    def collect(self, place: _Place, hits: _Hits) -> None:
        hits.content.extend(self._here(place))

    def _here(self, place: _Place) -> Iterator[Span]:
        start, end = place.bounds()
        tags = place.file.subject.structure.tags
        for at in range(bisect_left(tags, start, key=lambda tag: tag[1].start), len(tags)):
            name, span = tags[at]
            if span.end > end:
                return
            if self.accepts(name):
                yield span


@dataclass(slots=True, eq=False, repr=False)
class _WithProperty:
    names: Callable[[str], bool]
    values: Callable[[object], bool]
    cost: int = 3

    def holds(self, place: _Place) -> bool:
        return any(self.names(name) and self.values(value) for name, value in place.file.subject.properties.items())

    def shows(self, place: _Place) -> bool:  # noqa: ARG002
        return False

    def collect(self, place: _Place, hits: _Hits) -> None:
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
                hits.content.append(Span(entry.key_span.start, end))


@dataclass(slots=True, eq=False, repr=False)
class _All:
    parts: tuple[_Test, ...]

    @property
    def cost(self) -> int:
        return max(part.cost for part in self.parts)

    def holds(self, place: _Place) -> bool:
        return all(part.holds(place) for part in self.parts)

    def shows(self, place: _Place) -> bool:
        return any(part.shows(place) for part in self.parts)

    def collect(self, place: _Place, hits: _Hits) -> None:
        for part in self.parts:
            part.collect(place, hits)


@dataclass(slots=True, eq=False, repr=False)
class _Any:
    parts: tuple[_Test, ...]

    @property
    def cost(self) -> int:
        return max(part.cost for part in self.parts)

    def holds(self, place: _Place) -> bool:
        return any(part.holds(place) for part in self.parts)

    def shows(self, place: _Place) -> bool:
        return any(part.holds(place) and part.shows(place) for part in self.parts)

    def collect(self, place: _Place, hits: _Hits) -> None:
        for part in self.parts:
            if part.holds(place):
                part.collect(place, hits)


@dataclass(slots=True, eq=False, repr=False)
class _None:
    part: _Test

    @property
    def cost(self) -> int:
        return self.part.cost

    def holds(self, place: _Place) -> bool:
        return not self.part.holds(place)

    def shows(self, place: _Place) -> bool:  # noqa: ARG002
        return False

    def collect(self, place: _Place, hits: _Hits) -> None:
        """What is absent has no place."""


@dataclass(slots=True, eq=False, repr=False)
class _InPart:
    """One part of the text (a line, a block, …) satisfies `test` by itself."""

    test: _Test
    scope: scopes.Scope | Literal["line"]
    anchor: Anchor | None
    """Finds something that the part must contain: cheaper than to try one part after the other."""
    musts: tuple[regex.Pattern[str], ...]
    """What else the part must contain: a search for it is cheaper than parsing the note."""
    cost: int

    def holds(self, place: _Place) -> bool:
        return any(True for _ in self._satisfied(place))

    def shows(self, place: _Place) -> bool:  # noqa: ARG002
        return False

    def collect(self, place: _Place, hits: _Hits) -> None:
        for part in self._satisfied(place):
            before = len(hits.content)
            self.test.collect(_Place(place.file, part), hits)
            if len(hits.content) == before and part.start < part.end:
                hits.content.append(part)

    def _satisfied(self, place: _Place) -> Iterator[Span]:
        file = place.file
        if not file.has_content:
            return
        text, (start, end) = file.text, place.bounds()
        if not self._has_musts(text, start, end):
            return
        if self.scope == "line":
            parts = scopes.lines_within(start, end, text, self.anchor)
        elif self.anchor is None:
            parts = scopes.parts_within(file.parts(self.scope), start, end, text, None)
        elif (first := self.anchor(text, start, end)) >= 0:  # else without a look at the structure
            parts = scopes.parts_within(file.parts(self.scope), start, end, text, self.anchor, first)
        else:
            return
        for part in parts:
            checkpoint()
            if self._has_musts(text, part.start, part.end) and self.test.holds(_Place(file, part)):
                yield part

    def _has_musts(self, text: str, start: int, end: int) -> bool:
        return not self.musts or all(must.search(text, start, end, concurrent=False) for must in self.musts)


# From the tree to tests


@dataclass(slots=True, eq=False, repr=False)
class _Field:
    """Where the leaves search, and how they treat case (None: the default)."""

    where: Literal["anyplace", "content", "path", "name", "tag"] = "anyplace"
    match_case: bool | None = None


def _compile(node: Node, field: _Field, *, negated: bool = False) -> _Test:
    """Push negations down to the leaves, so that only affirmed terms give places to show."""
    match node:
        case Not():
            return _compile(node.part, field, negated=not negated)
        case And() | Or():
            parts = sorted((_compile(part, field, negated=negated) for part in node.parts), key=lambda test: test.cost)
            return _All(tuple(parts)) if isinstance(node, And) != negated else _Any(tuple(parts))
        case Scope(operator="match-case" | "ignore-case"):
            field = replace(field, match_case=node.operator == "match-case")
            return _compile(node.part, field, negated=negated)
        case Scope(operator="file" | "path" | "content" | "tag"):
            return _compile(node.part, replace(field, where=_FIELDS[node.operator]), negated=negated)
    test = _compile_one(node, field)
    return _None(test) if negated else test


_FIELDS: dict[Operator, Literal["content", "path", "name", "tag"]] = {
    "file": "name",
    "path": "path",
    "content": "content",
    "tag": "tag",
}


def _compile_one(node: Node, field: _Field) -> _Test:
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
                return _Anyplace(path, content)
            return content if field.where == "content" else path
    raise TypeError(f"{type(node).__name__} stands only in the brackets of a property")


def _in_part(node: Scope, field: _Field, *, tree: bool | None = None) -> _Test:
    if tree is None:
        tree = _holds_section(node.part)
    if isinstance(node.part, Or):  # a line has a or b if it has a, or if it has b; each is found faster
        return _Any(tuple(_in_part(replace(node, part=part), field, tree=tree) for part in node.part.parts))
    test = _compile(node.part, replace(field, where="content"))
    musts = tuple(substring(text, match_case=False) for text in required(node.part))
    anchor = _literal_anchor(musts[0]) if musts else None
    if node.operator == "line":
        return _InPart(test, "line", anchor or _expression_anchor(node.part, field), musts[1:], 15 + test.cost)
    scope = "section-tree" if tree and node.operator == "section" else cast("scopes.Scope", node.operator)
    return _InPart(test, scope, anchor, musts[1:], 30 + test.cost)


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
