"""The parts of a compiled query: each decides about one file or one part of its text (QUERY-10 to QUERY-55).

Pure: a file is what `Subject` says, and its text and parts are read only when a condition needs them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import regex

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.deadline import checkpoint
from obsidian_mcp.core.text.text import Span

from . import scopes
from .document import Subject
from .matchers import Finder
from .scopes import Anchor


class Hits:
    """Places in the content and in the path of a file."""

    def __init__(self) -> None:
        self.content: list[Span] = []
        self.path: list[Span] = []


class File:
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

    def __init__(self, file: File, span: Span | None) -> None:
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


class Condition(ABC):
    """A part of a query, compiled once for many files."""

    __slots__ = ()
    cost: int
    """Cheaper conditions are checked first."""

    @abstractmethod
    def holds(self, place: Place) -> bool:
        """Whether it is fulfilled."""

    def shows(self, place: Place) -> bool:  # noqa: ARG002
        """Whether it holds because of the path (semantics 5.6 row 27); used for files without text."""
        return False

    @abstractmethod
    def collect(self, place: Place, hits: Hits) -> None:
        """Add the places where it holds; called only if it does."""


@dataclass(slots=True, eq=False, repr=False)
class InContent(Condition):
    finder: Finder
    cost: int

    def holds(self, place: Place) -> bool:
        return place.file.has_content and self.finder.found(place.file.text, *place.bounds())

    def collect(self, place: Place, hits: Hits) -> None:
        hits.content.extend(self.finder.spans(place.file.text, *place.bounds()))


@dataclass(slots=True, eq=False, repr=False)
class InPath(Condition):
    finder: Finder
    name_only: bool
    cost: int

    def holds(self, place: Place) -> bool:
        path = place.file.subject.path
        name = self._start(path)
        return self.finder.found(path[name:], 0, len(path) - name)

    def shows(self, place: Place) -> bool:
        return self.holds(place)

    def collect(self, place: Place, hits: Hits) -> None:
        path = place.file.subject.path
        name = self._start(path)
        hits.path.extend(
            Span(span.start + name, span.end + name) for span in self.finder.spans(path[name:], 0, len(path) - name)
        )

    def _start(self, path: str) -> int:
        return path.rfind("/") + 1 if self.name_only else 0


@dataclass(slots=True, eq=False, repr=False)
class Anyplace(Condition):
    """A bare term: in the path or in the content of a note or canvas."""

    path: InPath
    content: InContent
    cost: int

    def holds(self, place: Place) -> bool:
        return place.file.has_content and (self.path.holds(place) or self.content.holds(place))

    def collect(self, place: Place, hits: Hits) -> None:
        self.path.collect(place, hits)
        self.content.collect(place, hits)


@dataclass(slots=True, eq=False, repr=False)
class Tagged(Condition):
    """The file has a tag, or a part of it has one in its text."""

    accepts: Callable[[str], bool]
    cost: int = 2

    def holds(self, place: Place) -> bool:
        if place.span is None:
            return any(self.accepts(tag.removeprefix("#")) for tag in place.file.subject.tags)
        return any(True for _ in self._here(place))

    def collect(self, place: Place, hits: Hits) -> None:
        hits.content.extend(self._here(place))

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
class WithProperty(Condition):
    names: Callable[[str], bool]
    values: Callable[[object], bool]
    cost: int = 3

    def holds(self, place: Place) -> bool:
        return any(self.names(name) and self.values(value) for name, value in place.file.subject.properties.items())

    def collect(self, place: Place, hits: Hits) -> None:
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
class All(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def holds(self, place: Place) -> bool:
        return all(part.holds(place) for part in self.parts)

    def shows(self, place: Place) -> bool:
        return any(part.shows(place) for part in self.parts)

    def collect(self, place: Place, hits: Hits) -> None:
        for part in self.parts:
            part.collect(place, hits)


@dataclass(slots=True, eq=False, repr=False)
class AnyOf(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def holds(self, place: Place) -> bool:
        return any(part.holds(place) for part in self.parts)

    def shows(self, place: Place) -> bool:
        return any(part.holds(place) and part.shows(place) for part in self.parts)

    def collect(self, place: Place, hits: Hits) -> None:
        for part in self.parts:
            if part.holds(place):
                part.collect(place, hits)


@dataclass(slots=True, eq=False, repr=False)
class Not(Condition):
    part: Condition
    cost: int

    def holds(self, place: Place) -> bool:
        return not self.part.holds(place)

    def collect(self, place: Place, hits: Hits) -> None:
        """What is absent has no place."""


@dataclass(slots=True, eq=False, repr=False)
class InPart(Condition):
    """One part of the text (a line, a block, …) satisfies `test` by itself."""

    test: Condition
    scope: scopes.Scope | Literal["line"]
    anchor: Anchor | None
    """Finds something that the part must contain: cheaper than to try one part after the other."""
    musts: tuple[regex.Pattern[str], ...]
    """What else the part must contain: a search for it is cheaper than parsing the note."""
    cost: int

    def holds(self, place: Place) -> bool:
        return any(True for _ in self._satisfied(place))

    def collect(self, place: Place, hits: Hits) -> None:
        for part in self._satisfied(place):
            before = len(hits.content)
            self.test.collect(Place(place.file, part), hits)
            if len(hits.content) == before and part.start < part.end:
                hits.content.append(part)

    def _satisfied(self, place: Place) -> Iterator[Span]:
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
            if self._has_musts(text, part.start, part.end) and self.test.holds(Place(file, part)):
                yield part

    def _has_musts(self, text: str, start: int, end: int) -> bool:
        return not self.musts or all(must.search(text, start, end, concurrent=False) for must in self.musts)
