"""The lines or paragraphs of a text that are shown for a hit (SEARCH-70 to 73)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import NamedTuple

from obsidian_mcp.core.index.facts import HeadingFact
from obsidian_mcp.core.note.validity import MarkedBlock
from obsidian_mcp.core.text.fit import MARK, cut_text, mark_excerpt

from .hits import Snippet

LINE_CHARACTERS = 160
"""Most of a line that is shown."""
PASSAGE_CHARACTERS = 1_200
"""Most of a paragraph that is shown."""
HEADING_CHARACTERS = 100
"""Most of the heading above it."""
OUTDATED_WEIGHT = 0.25
"""Share of its weight that a word in an outdated block has."""
_is_heading = re.compile(r"#{1,6}[ \t]").match
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


def choose(
    text: str,
    places: Iterable[HitPlace],
    headings: Sequence[HeadingFact],
    limit: int,
    *,
    alike: bool = False,
    passages: bool = False,
    best_first: bool = False,
) -> list[Snippet]:
    """Return the lines that together have the most of what the query names, in order, or the
    paragraphs that they stand in. `alike`: the first are best; `best_first`: those that have the
    most words come first."""
    lines: dict[int, dict[int, float]] = {}
    places_in: dict[int, list[HitPlace]] = {}
    for place in places:
        start = text.rfind("\n", 0, place.start) + 1
        weights = lines.get(start)
        if weights is not None:
            weights[place.term] = max(weights.get(place.term, 0.0), place.weight)
            places_in[start].append(place)
        elif alike and len(lines) == limit:
            break
        else:
            lines[start] = {place.term: place.weight}
            places_in[start] = [place]
    snippets: list[Snippet] = []
    words: list[set[int]] = []
    end, body = 0, find_body_start(text) if passages else 0
    number, counted = 1, 0
    for start in sorted(_best_lines(lines, limit)):
        if start < end:  # in the passage before
            words[-1].update(lines[start])
            continue
        words.append(set(lines[start]))
        part = _part_of(headings, start)
        if passages and start >= body:
            line, start, end = start, *_passage(text, start, body)
            excerpt, marks = cut_around(text, start, places_in[line], end, PASSAGE_CHARACTERS)
            part = _part_of(headings, end)
        else:
            excerpt, marks = cut_around(text, start, places_in[start])
        heading, card = None, part.text if part and not part.level else None
        if part and part.level:
            heading = cut_text(_replace_invalid(part.text), HEADING_CHARACTERS)
        number += text.count("\n", counted, start)
        counted = start
        snippets.append(Snippet(number, excerpt, heading, marks, card))
    if best_first:
        return [snippets[n] for n in sorted(range(len(snippets)), key=lambda n: -len(words[n]))]
    return snippets


def _passage(text: str, line: int, body: int) -> tuple[int, int]:
    """Return where the paragraph of a line begins and ends; that of a heading goes on to the end of
    the next one."""
    start, end = line, _line_end(text, line)
    if _is_heading(text, line):
        following = first_lines(text, end, 1)
        if not following or _is_heading(text, following[0]):
            return start, end
        end = _line_end(text, following[0])
    else:
        while start > body:
            before = text.rfind("\n", 0, start - 1) + 1
            if not text[before:start].strip() or _is_heading(text, before):
                break
            start = before
    while text[end + 1 : _line_end(text, end + 1)].strip() and not _is_heading(text, end + 1):
        end = _line_end(text, end + 1)
    return start, end


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def first_lines(text: str, start: int, limit: int) -> list[int]:
    """Where the first lines that are not empty begin, from a place on."""
    starts: list[int] = []
    while start < len(text) and len(starts) < limit:
        end = _line_end(text, start)
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
    text: str, start: int, places: Sequence[HitPlace], end: int = -1, limit: int = LINE_CHARACTERS
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the line beginning at `start`, or the text up to `end`, of a long one the part that
    has the most; and where the places are. A property whose value stands on several lines is shown
    as one (SEARCH-73)."""
    end = _line_end(text, start) if end < 0 else end
    whole = places[0].end
    if places[0].start == start and whole > end and whole < find_body_start(text):
        name, *items = [line.strip().removeprefix("- ") for line in text[start:whole].split("\n")]
        text, start = f"{name} {', '.join(filter(None, items))}", 0
        places, end = [HitPlace(0, len(text))], len(text)
    first, last = start, end
    if end - start > limit:
        first = max(start, min(_densest(places, limit) - limit // 3, end - limit))
        last = first + limit
    part = text[first:last]
    excerpt = part.strip()
    is_cut = first > start
    low = len(MARK) if is_cut else 0
    zero, high = first + len(part) - len(part.lstrip()) - low, low + len(excerpt)
    clipped = {(max(low, place.start - zero), min(high, place.end - zero)) for place in places}
    marks = tuple(sorted([(begin, stop) for begin, stop in clipped if begin < stop]))
    excerpt = _replace_invalid(excerpt)
    if is_cut or last < end:
        excerpt = mark_excerpt(excerpt, cut_before=is_cut, cut_after=last < end)
    return excerpt, marks


def find_body_start(text: str) -> int:
    """Return where the text behind the properties begins, in code points."""
    from obsidian_mcp.core.frontmatter.parser import (
        text_start,
    )  # what other searches need nothing of

    return text_start(text)


def _densest(places: Sequence[HitPlace], width: int) -> int:
    """Where the part of a line begins that has the most of what the query names."""
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
