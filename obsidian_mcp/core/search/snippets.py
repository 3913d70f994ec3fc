"""The lines of a text that are shown for a hit (SEARCH-70 to 73)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import NamedTuple, TypeVar

from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.index.facts import HeadingFact
from obsidian_mcp.core.note.validity import MarkedBlock
from obsidian_mcp.core.text.fit import MARK, cut_text, mark_excerpt
from obsidian_mcp.core.text.text import Span

from .hits import Snippet

LINE_CHARACTERS = 160
"""Most of a line that is shown."""
HEADING_CHARACTERS = 100
"""Most of the heading above it."""
OUTDATED_WEIGHT = 0.25
"""Share of its weight that a word in an outdated block has."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class HitPlace(NamedTuple):
    """Where something that the query names is, what it is, and its weight."""

    start: int
    end: int
    term: int = 0
    weight: float = 1.0


def weigh_current(
    places: Iterable[HitPlace], blocks: Sequence[MarkedBlock], *, leave_out: bool
) -> Iterator[HitPlace]:
    """Yield places with a quarter of their weight in outdated blocks, or without those (MEM-11)."""
    for place in places:
        if not any(block.start <= place.start < block.end for block in blocks):
            yield place
        elif not leave_out:
            yield place._replace(weight=place.weight * OUTDATED_WEIGHT)


AnyPlace = TypeVar("AnyPlace", Span, HitPlace)


def choose_lines(
    text: str,
    places: Iterable[HitPlace],
    headings: Sequence[HeadingFact],
    limit: int,
    *,
    best_first: bool = False,
) -> list[Snippet]:
    """Return the lines that together have the most of what the query names, in order; with
    `best_first` those that have the most words first."""
    lines: dict[int, dict[int, float]] = {}
    places_in: dict[int, list[HitPlace]] = {}
    start, end = 0, -1
    for place in places:
        if not start <= place.start <= end:  # once for each line, however many places are on it
            start = text.rfind("\n", 0, place.start) + 1
            end = text.find("\n", place.start)
            end = len(text) if end < 0 else end
        weights = lines.get(start)
        if weights is None:
            lines[start] = {place.term: place.weight}
            places_in[start] = [place]
        else:
            weights[place.term] = max(weights.get(place.term, 0.0), place.weight)
            places_in[start].append(place)
    snippets: list[Snippet] = []
    number, counted = 1, 0
    best_lines = sorted(_best_lines(lines, limit))
    for start in best_lines:
        excerpt, marks = cut_around(text, start, places_in[start])
        heading, card = describe_part(headings, start) if headings else (None, None)
        number += text.count("\n", counted, start)
        counted = start
        snippets.append(Snippet(number, excerpt, heading, marks, card))
    if best_first:
        order = sorted(range(len(snippets)), key=lambda n: -len(lines[best_lines[n]]))
        return [snippets[n] for n in order]
    return snippets


def with_lines(text: str, places: Iterable[AnyPlace]) -> Iterator[tuple[int, AnyPlace]]:
    """Yield places with where the line of each begins, in the time that one line takes, however
    many places are on it."""
    start, end = 0, -1
    for place in places:
        if not start <= place.start <= end:
            start = text.rfind("\n", 0, place.start) + 1
            end = line_end(text, place.start)
        yield start, place


def describe_part(headings: Sequence[HeadingFact], start: int) -> tuple[str | None, str | None]:
    """Return the heading that a line stands under, cut short, and the card that it is in."""
    part = _part_of(headings, start)
    if part is None:
        return None, None
    if part.level:
        return cut_text(_replace_invalid(part.text), HEADING_CHARACTERS), None
    return None, part.text


def line_end(text: str, start: int) -> int:
    """Return where the line of a place ends."""
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def first_lines(text: str, start: int, limit: int) -> list[int]:
    """Where the first lines that are not empty begin, from a place on."""
    starts: list[int] = []
    while start < len(text) and len(starts) < limit:
        end = line_end(text, start)
        if text[start:end].strip():
            starts.append(start)
        start = end + 1
    return starts


def _best_lines(lines: Mapping[int, Mapping[int, float]], limit: int) -> Sequence[int]:
    """Of lines with the weights of what is in them, those that together have the most
    (SEARCH-70)."""
    if len(lines) <= limit:
        return list(lines)
    ordered = sorted(lines, key=lambda start: (-sum(lines[start].values()), start))
    best = ordered[:1]
    if limit > 1:
        first_with = {term: start for start in reversed(ordered) for term in lines[start]}
        candidates = dict.fromkeys([*ordered[:limit], *first_with.values()])
        pairs = [
            (_sum_weights(lines, pair), -n, pair)
            for n, pair in enumerate(combinations(candidates, 2))
        ]
        best = list(max(pairs)[2])
    while len(best) < limit:
        candidates_left = [start for start in ordered if start not in best]
        best.append(max(candidates_left, key=lambda start: _sum_weights(lines, (*best, start))))
    return best[:limit]


def _sum_weights(
    lines: Mapping[int, Mapping[int, float]], chosen: Iterable[int]
) -> tuple[float, float]:
    """What lines have, each word once; and with every word in every line."""
    weights: dict[int, float] = {}
    total = 0.0
    for start in chosen:
        for term, weight in lines[start].items():
            weights[term] = max(weights.get(term, 0.0), weight)
            total += weight
    return round(sum(weights.values()), 6), round(total, 6)


def _part_of(headings: Sequence[HeadingFact], start: int) -> HeadingFact | None:
    """The heading, or card, that a line stands under; a heading stands under one of a higher level
    (SEARCH-72)."""
    above = bisect_right(headings, start, key=lambda heading: heading.start) - 1
    if above >= 0 and headings[above].start == start and headings[above].level:
        level = headings[above].level
        while above >= 0 and headings[above].level >= level:
            above -= 1
    return headings[above] if above >= 0 else None


def put_on_pages(
    snippets: Iterable[Snippet], text: str, pages: Sequence[HeadingFact]
) -> Iterator[Snippet]:
    """Yield lines of a PDF as lines of their pages, whose numbers stand in the place of cards
    (PDF-1)."""
    above = cache(lambda page: text.count("\n", 0, pages[page - 1].start))
    for snippet in snippets:
        page = int(snippet.card or "1")
        yield replace(snippet, line=snippet.line - above(page), page=page, card=None)


def cut_around(
    text: str, start: int, places: Sequence[HitPlace]
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the line beginning at `start`, of a long one the part that has the most, and where the
    places are in it. A property whose value stands on several lines is shown as one (SEARCH-73)."""
    end = line_end(text, start)
    whole = places[0].end
    if places[0].start == start and whole > end and whole < text_start(text):
        name, *items = [line.strip().removeprefix("- ") for line in text[start:whole].split("\n")]
        text, start = f"{name} {', '.join(filter(None, items))}", 0
        places, end = [HitPlace(0, len(text))], len(text)
    first, last = start, end
    if end - start > LINE_CHARACTERS:
        best = densest_start(places, LINE_CHARACTERS)
        first = max(start, min(best - LINE_CHARACTERS // 3, end - LINE_CHARACTERS))
        last = first + LINE_CHARACTERS
    return make_excerpt(text, (start, end), (first, last), places)


def make_excerpt(
    text: str,
    whole: tuple[int, int],
    part: tuple[int, int],
    places: Sequence[HitPlace],
    *,
    is_indented: bool = False,
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a part of a line or passage, marked where it is cut, and where the places are in it.
    `is_indented`: the spaces before its first line stay."""
    (start, end), (first, last) = whole, part
    part_text = text[first:last]
    begun = part_text.lstrip("\r\n") if is_indented else part_text.lstrip()
    excerpt = begun.rstrip()
    is_cut = first > start
    low = len(MARK) if is_cut else 0
    zero, high = first + len(part_text) - len(begun) - low, low + len(excerpt)
    clipped = {(max(low, place.start - zero), min(high, place.end - zero)) for place in places}
    marks = tuple(sorted([(begin, stop) for begin, stop in clipped if begin < stop]))
    excerpt = _replace_invalid(excerpt)
    if is_cut or last < end:
        excerpt = mark_excerpt(excerpt, cut_before=is_cut, cut_after=last < end)
    return excerpt, marks


def densest_start(places: Sequence[HitPlace], width: int) -> int:
    """Return where the part of a line begins that has the most of what the query names."""
    best, densest = 0.0, places[0].start
    order = sorted(range(len(places)), key=lambda n: places[n].start)
    starts = [places[n].start for n in order]
    for first in places:
        end = first.start + width - width // 3
        near = sorted(order[bisect_left(starts, first.start) : bisect_right(starts, end)])
        inside = {places[n].term: places[n].weight for n in near if places[n].end <= end}
        if (total := sum(inside.values())) > best + 1e-6:
            best, densest = total, first.start
    return densest


def _replace_invalid(text: str) -> str:
    """A text of the same length; bytes that are not UTF-8 are U+FFFD (SEARCH-71)."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
