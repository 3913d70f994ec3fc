"""The lines of a note that answer a query, cut short (specs/search.md, SEARCH-70 to 73)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from obsidian_mcp.core.text.text import Span

CHARACTERS = 160
"""Most of a line that is shown."""
HEADING = 100
"""Most of the heading above it."""
LOOKED_AT = 30
"""Places of one word among which the lines to show are chosen."""

UNTOLD = {"told": False}
"""Marks a field of an answer that is for the programs that show it, and not part of what a client is sent."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Snippet:
    line: int
    """1-based."""
    text: str
    heading: str | None = None
    """The heading it stands under."""
    marks: tuple[tuple[int, int], ...] = field(default=(), compare=False, metadata=UNTOLD)
    """Where in `text` stands what was asked for: start and end."""


class Heading(NamedTuple):
    text: str
    start: int


class Place(NamedTuple):
    """Where something asked for stands, what it is, and what that counts."""

    span: Span
    term: int = 0
    weight: float = 1.0


def choose(
    text: str,
    places: Iterable[Place],
    headings: Callable[[], Sequence[Heading]],
    most: int,
    *,
    alike: bool = False,
) -> list[Snippet]:
    """The lines that hold the most of what was asked for, in their order. `headings` gives those of the note; `alike`:
    the places come in their order, and none counts more than another, so that the first lines are the best.
    """
    lines: dict[int, dict[int, float]] = {}
    spans: dict[int, list[Span]] = {}
    for span, term, weight in places:
        start = text.rfind("\n", 0, span.start) + 1
        found = lines.get(start)
        if found is not None:
            found[term] = max(found.get(term, 0.0), weight)
            spans[start].append(span)
        elif alike and len(lines) == most:
            break
        else:
            lines[start] = {term: weight}
            spans[start] = [span]
    best = list(lines)
    if len(lines) > most:
        best = sorted(lines, key=lambda start: (-sum(lines[start].values()), start))[:most]
    above = headings() if best else ()
    return [_snippet(text, start, spans[start], above) for start in sorted(best)]


def _snippet(text: str, start: int, spans: Sequence[Span], headings: Sequence[Heading]) -> Snippet:
    above = bisect_right(headings, start, key=lambda heading: heading.start) - 1
    under = headings[above] if above >= 0 else None
    if under is not None and under.start == start:  # the line is the heading
        under = headings[above - 1] if above else None
    shown, marks = around(text, start, spans)
    return Snippet(text.count("\n", 0, start) + 1, shown, _shortened(under.text) if under else None, marks)


def around(text: str, start: int, spans: Sequence[Span]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The line that begins at `start`, of a long one the part around the first span; and where the spans are in it."""
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    first, last = start, end
    if end - start > CHARACTERS:
        first = max(start, min(spans[0].start - CHARACTERS // 3, end - CHARACTERS))
        last = first + CHARACTERS
    part = text[first:last]
    shown = part.strip()
    before = "…" if first > start else ""
    zero = first + len(part) - len(part.lstrip()) - len(before)
    low, high = len(before), len(before) + len(shown)
    found = ((max(low, span.start - zero), min(high, span.end - zero)) for span in spans)
    marks = tuple(sorted({(begin, stop) for begin, stop in found if begin < stop}))
    return before + _written(shown) + ("…" if last < end else ""), marks


def _shortened(heading: str) -> str:
    return _written(heading if len(heading) <= HEADING else f"{heading[:HEADING].rstrip()}…")


def _written(text: str) -> str:
    """As long as before: bytes that are not UTF-8 are U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
