"""The conditions that a query is compiled to, each tried on the content of a file or a part of it.

Every condition says whether it is met, and then where: the places to show. `evaluate` makes the
conditions from the tree of a query. (semantics 5.2 to 5.4; QUERY-10 to QUERY-55)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import merge
from itertools import chain
from operator import attrgetter
from typing import Literal, Protocol

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Span

from .document import Document, FindFirst, PartScope, lines_within, parts_within
from .finders import Finder
from .regexp import END


@dataclass(slots=True, eq=False, repr=False)
class Passage:
    """The content of a file, whole or from `start` to `end`.

    It is no named tuple, which takes twice the time to make, and a search makes one for every line
    or block that it looks at.
    """

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
        """Return the text of the passage, for a search that must see nothing around it."""
        return self.subject.text[self.start : self.end]


class Condition(Protocol):
    """A part of a query, compiled once for many files."""

    cost: int
    """Cheaper conditions are checked first."""

    def is_met_in(self, passage: Passage) -> bool:
        """Return whether the condition is met."""

    def places(self, passage: Passage) -> Iterator[Span]:  # noqa: ARG002
        """Yield where the condition is met in the content, if anywhere.

        It is called only if the condition is met. For a file without text it yields one empty place
        if the file's path meets the condition (semantics 5.6 row 27).
        """
        return iter(())


# Text and paths


@dataclass(slots=True, eq=False, repr=False)
class InContent(Condition):
    finder: Finder
    cost: int

    def is_met_in(self, passage: Passage) -> bool:
        return passage.has_content and self.finder.is_found_in(
            passage.subject.text, passage.start, passage.end
        )

    def places(self, passage: Passage) -> Iterator[Span]:
        start = passage.start
        return (
            Span(start + first, start + last) for first, last in self.finder.spans(passage.text)
        )


@dataclass(slots=True, eq=False, repr=False)
class InPath(Condition):
    finder: Finder
    name_only: bool
    cost: int

    def is_met_in(self, passage: Passage) -> bool:
        path = passage.subject.path
        return self.finder.is_found_in(path[path.rfind("/") + 1 :] if self.name_only else path)

    def places(self, passage: Passage) -> Iterator[Span]:
        return iter(() if passage.has_content else (Span(0, 0),))


@dataclass(slots=True, eq=False, repr=False)
class Anyplace(InContent):
    """A bare term: in the path or in the content of a note or canvas."""

    path: InPath

    def is_met_in(self, passage: Passage) -> bool:
        return passage.has_content and (
            self.path.finder.is_found_in(passage.subject.path)
            or self.finder.is_found_in(passage.text)
        )


@dataclass(slots=True, eq=False, repr=False)
class Tagged(Condition):
    """The file has a tag; of a part of its text, the part itself has the tag."""

    accepts: Callable[[str], bool]
    cost: int = 2

    def is_met_in(self, passage: Passage) -> bool:
        if passage.is_whole:
            return any(self.accepts(tag.removeprefix("#")) for tag in passage.subject.tags)
        return any(True for _ in self.places(passage))

    def places(self, passage: Passage) -> Iterator[Span]:
        tags, end = passage.subject.text_tags, passage.end
        for at in range(bisect_left(tags, passage.start, key=lambda tag: tag[1].start), len(tags)):
            name, span = tags[at]
            if span.end > end:
                return
            if self.accepts(name):
                yield span


# Combinations


@dataclass(slots=True, eq=False, repr=False)
class AllOf(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def is_met_in(self, passage: Passage) -> bool:
        for part in self.parts:  # noqa: SIM110 - in a third of the time of a generator
            if not part.is_met_in(passage):
                return False
        return True

    def places(self, passage: Passage) -> Iterator[Span]:
        return chain.from_iterable(part.places(passage) for part in self.parts)


@dataclass(slots=True, eq=False, repr=False)
class AnyOf(Condition):
    parts: tuple[Condition, ...]
    cost: int

    def is_met_in(self, passage: Passage) -> bool:
        return any(part.is_met_in(passage) for part in self.parts)

    def places(self, passage: Passage) -> Iterator[Span]:
        return merge(
            *(part.places(passage) for part in self.parts if part.is_met_in(passage)),
            key=attrgetter("start"),
        )


@dataclass(slots=True, eq=False, repr=False)
class NoneOf(Condition):
    part: Condition
    cost: int

    def is_met_in(self, passage: Passage) -> bool:
        return not self.part.is_met_in(passage)


# Parts and properties


@dataclass(slots=True, eq=False, repr=False)
class InPart:
    """One part of the text (a line, a block, …) meets `test` by itself."""

    test: Condition
    scope: PartScope | Literal["line"]
    must: FindFirst
    """Finds a text that the part must contain: cheaper than to try one part after the other."""
    cost: int

    def is_met_in(self, passage: Passage) -> bool:
        return next(self._matching_parts(passage), None) is not None

    def places(self, passage: Passage) -> Iterator[Span]:
        for part in self._matching_parts(passage):
            places = list(self.test.places(part))
            yield from places or ([Span(part.start, part.end)] if part.start < part.end else [])

    def _matching_parts(self, passage: Passage) -> Iterator[Passage]:
        """Yield the parts that meet the condition."""
        if not passage.has_content:
            return
        subject, text, start = passage.subject, passage.subject.text, passage.start
        end = min(passage.end, len(text))
        if (first := self.must(text, start, end)) < 0:
            return  # before the structure is read, which is slower
        if self.scope == "line":
            parts = lines_within(text, (start, end), self.must, first)
        else:
            parts_of_file = subject.structure.parts(self.scope)
            parts = parts_within(parts_of_file, text, (start, end), self.must, first)
        for low, high in parts:
            checkpoint()
            part = Passage(subject, low, high)
            if self.test.is_met_in(part):
                yield part


@dataclass(slots=True, eq=False, repr=False)
class WithProperty:
    """The note has a property whose name and value pass these tests."""

    names: Callable[[str], bool]
    values: Callable[[object], bool]
    cost: int = 3

    def is_met_in(self, passage: Passage) -> bool:
        return any(
            self.names(name) and self.values(value)
            for name, value in passage.subject.properties.items()
        )

    def places(self, passage: Passage) -> Iterator[Span]:
        for name, value, span in passage.subject.property_places if passage.is_whole else ():
            if self.names(name) and self.values(value):
                yield span
