"""The lines of a note that answer a query, cut short (specs/search.md, SEARCH-70 to 73)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .text import Span

CHARACTERS = 160
"""Most of a line that is shown."""
LOOKED_AT = 30
"""Places of one word among which the lines to show are chosen."""


@dataclass(frozen=True, slots=True)
class Snippet:
    line: int
    """1-based."""
    text: str
    heading: str | None = None
    """The heading it stands under."""


class Heading(NamedTuple):
    text: str
    start: int


class Place(NamedTuple):
    """Where something asked for stands, what it is, and what that counts."""

    span: Span
    term: int = 0
    weight: float = 1.0


def choose(text: str, places: Iterable[Place], headings: Callable[[], Sequence[Heading]], most: int) -> list[Snippet]:
    """The lines that hold the most of what was asked for, in their order. `headings` gives those of the note."""
    lines: dict[int, dict[int, float]] = {}
    first: dict[int, Span] = {}
    for place in places:
        start = text.rfind("\n", 0, place.span.start) + 1
        found = lines.setdefault(start, {})
        found[place.term] = max(found.get(place.term, 0.0), place.weight)
        first.setdefault(start, place.span)
    best = sorted(lines, key=lambda start: (-sum(lines[start].values()), start))[:most]
    above = headings() if best else ()
    return [_snippet(text, start, first[start], above) for start in sorted(best)]


def _snippet(text: str, start: int, span: Span, headings: Sequence[Heading]) -> Snippet:
    above = bisect_right(headings, start, key=lambda heading: heading.start) - 1
    under = headings[above] if above >= 0 else None
    if under is not None and under.start == start:  # the line is the heading
        under = headings[above - 1] if above else None
    return Snippet(text.count("\n", 0, start) + 1, around(text, start, span), under.text if under else None)


def around(text: str, start: int, span: Span) -> str:
    """The line that begins at `start`; of a long one the part around the span."""
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if end - start <= CHARACTERS:
        return text[start:end].strip()
    first = max(start, min(span.start - CHARACTERS // 3, end - CHARACTERS))
    last = min(end, first + CHARACTERS)
    return ("…" if first > start else "") + text[first:last].strip() + ("…" if last < end else "")
