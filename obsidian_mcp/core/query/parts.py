"""A condition that one part of a text fulfils by itself: a line, a block, a section, a task (QUERY-34 to QUERY-45)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from obsidian_mcp.core.text.analysis import fold, substring
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Span

from . import scopes
from .condition import Condition, Place
from .nodes import And, Node, Not, Or, Phrase, Regex, ScopedQuery, Word
from .regexp import translate
from .scopes import First


@dataclass(slots=True, eq=False, repr=False)
class InPart:
    """One part of the text (a line, a block, …) satisfies `test` by itself."""

    test: Condition
    scope: scopes.Scope | Literal["line"]
    must: First | None
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


def first_of(text: str) -> First:
    """Return what finds a folded text."""
    pattern = substring(text, match_case=False)

    def first(text: str, start: int, end: int) -> int:
        found = pattern.search(text, start, end, concurrent=False)
        return found.start() if found else -1

    return first


def holds_section(node: Node) -> bool:
    """Whether a query has a `section:` somewhere in it."""
    match node:
        case And() | Or():
            return any(holds_section(part) for part in node.parts)
        case Not():
            return holds_section(node.part)
        case ScopedQuery():
            return node.operator == "section" or holds_section(node.part)
    return False


def required(node: Node) -> tuple[str, ...]:
    """Return folded texts that all content contains which satisfies the operand of a scope, the longest first."""
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
