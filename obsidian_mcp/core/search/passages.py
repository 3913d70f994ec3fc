"""The passages of notes that answer: whole blocks, which compete for room (SEARCH-77)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.index.facts import HeadingFact
from obsidian_mcp.core.query.document import Structure

from .hits import Snippet
from .snippets import (
    LINE_CHARACTERS,
    HitPlace,
    cut_around,
    densest_start,
    describe_part,
    line_end,
    make_excerpt,
)

CHARACTERS_PER_SNIPPET = 750
"""Characters of passages that a page has for each snippet of a file asked for: 1 500 by default."""
LONGEST_PARAGRAPH = 700
"""Characters of a paragraph or table above which only the sentences or rows around the words are
shown."""
BESIDE, NEXT_BUT_ONE = 0.5, 0.25
"""Weights of the words of the blocks before and behind a block, of the heading above it, and of the
second blocks before and behind: an answer often stands beside the words of the question."""
LONGEST_WHOLE = 1_500
"""Characters of a block that is never cut above which its best line alone is shown."""
LEAST_SHARE = 0.25
"""Share of the best passage's weight that another one must have to be shown."""
BETWEEN = 2
"""Characters between two passages that follow each other."""

_is_indivisible = re.compile(
    r"[ \t]*(?:`{3}|~{3}|\$\$|>|%%|<|(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$))|(?: {4}|\t)", re.MULTILINE
).match
"""Finds the beginning of a block that is never cut: code, a formula, a quote or callout, a comment,
HTML, a list item."""
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+|[。！？]|\n")
_ROW_END = re.compile(r"\n")
_PARAGRAPH = re.compile(r"^[^\S\n]*\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*", re.MULTILINE)

LINE = (-1, -1)

_TermWeights = dict[int, float]
"""What is named in a part of a text, by the number of its term, and its weight."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of a note, from the beginning of a line on."""

    start: int
    end: int
    is_heading: bool


@dataclass(slots=True)
class NotePassages:
    """A note whose passages compete with those of others."""

    text: str
    blocks: Sequence[TextBlock]
    headings: Sequence[HeadingFact]
    places: Sequence[HitPlace]
    """Where something is that the query names."""
    share: float = 1.0
    """The score of the note, as a share of the best one's."""


@dataclass(frozen=True, slots=True)
class BlockPassage:
    """Some blocks that follow each other, or a single line: of properties, or of a long block."""

    start: int
    end: int
    blocks: tuple[int, int]
    """The first and the last one; `LINE` of a single line."""
    words: _TermWeights
    weight: float
    is_cut: bool = False
    """Whether it is a long paragraph, of which only some sentences are shown."""


def find_blocks(
    text: str, structure: Structure | None, headings: Sequence[HeadingFact]
) -> list[TextBlock]:
    """Return the blocks of a text behind its properties, in their order: list items, without those
    below them, and everything else as it stands at the top level.

    Without a structure, as of a PDF, paragraphs are what blank lines separate.
    """
    body = text_start(text)
    if structure is None:
        spans: Iterable[tuple[int, int]] = (
            match.span() for match in _PARAGRAPH.finditer(text, body)
        )
    else:
        parts = structure.parts("block")
        spans = zip(parts.starts, parts.ends, strict=True)
    heading_starts = {heading.start for heading in headings if heading.level}
    blocks: list[TextBlock] = []
    for start, end in spans:
        if start >= body:
            indented = text.rfind("\n", 0, start) + 1
            is_indented = not text[indented:start].strip()
            first = indented if is_indented else start
            blocks.append(TextBlock(first, end, start in heading_starts))
    return blocks


def choose_passages(
    notes: Mapping[int, NotePassages], room: int, *, is_question: bool
) -> dict[int, list[Snippet]]:
    """Return the passages that say most, at most so many characters of all notes together.

    A passage weighs what it says itself, half of what the blocks beside it and the heading above
    it say, and a quarter of what is said next to these, times the share of its note. Of equal ones
    a note has no second before each other note has one. Only of a question are blocks shown that
    say nothing of it themselves.
    """
    candidates: list[tuple[float, int, int, BlockPassage]] = []
    for place, note in enumerate(notes.values()):
        rated = [passage for passage in rate_passages(note) if is_question or passage.words]
        passages = sorted(rated, key=lambda passage: -passage.weight)
        candidates += [
            (-round(note.share * passage.weight, 6), nth, place, passage)
            for nth, passage in enumerate(passages)
        ]
    numbers = list(notes)
    chosen: dict[int, list[BlockPassage]] = {}
    spent = 0
    least = LEAST_SHARE * -min((weight for weight, *_ in candidates), default=0.0)
    for weight, _, place, passage in sorted(candidates, key=lambda candidate: candidate[:3]):
        if -weight < least:
            break
        note = notes[numbers[place]]
        length = _shown_length(passage)
        if spent + length <= room:
            chosen.setdefault(numbers[place], []).append(passage)
            spent += length + BETWEEN
    return {
        number: show_passages(notes[number], _join(notes[number], passages))
        for number, passages in chosen.items()
    }


def list_passages(note: NotePassages) -> list[Snippet]:
    """Return all passages of a note that say something themselves, those with the most words
    first."""
    passages = [passage for passage in rate_passages(note) if passage.words]
    by_words = sorted(range(len(passages)), key=lambda nth: -len(passages[nth].words))
    snippets = show_passages(note, passages)
    return [snippets[nth] for nth in by_words]


def rate_passages(note: NotePassages) -> list[BlockPassage]:
    """Return the blocks that say something of what a query names, or stand near one that does, and
    lines of properties, in their order."""
    starts = [block.start for block in note.blocks]
    words: dict[int, _TermWeights] = {}
    properties: dict[int, _TermWeights] = {}
    best: dict[int, HitPlace] = {}
    for place in note.places:
        nth = bisect_right(starts, place.start) - 1
        if nth >= 0:
            own = words.setdefault(nth, {})
        else:
            own = properties.setdefault(note.text.rfind("\n", 0, place.start) + 1, {})
        own[place.term] = max(own.get(place.term, 0.0), place.weight)
        best[nth] = max(best.get(nth, place), place, key=lambda place: place.weight)
    passages = [
        BlockPassage(start, line_end(note.text, start), LINE, own, sum(own.values()))
        for start, own in sorted(properties.items())
    ]
    for passage in _rate_blocks(note, words):
        is_short = passage.end - passage.start <= LONGEST_WHOLE
        if is_short or passage.is_cut:
            passages.append(passage)
        elif passage.blocks[1] in best:
            start = note.text.rfind("\n", 0, best[passage.blocks[1]].start) + 1
            end = line_end(note.text, start)
            passages.append(replace(passage, start=start, end=end, blocks=LINE))
    return passages


def _rate_blocks(note: NotePassages, words: Mapping[int, _TermWeights]) -> Iterator[BlockPassage]:
    """Yield the blocks as passages. A heading that says something goes with the block below it."""
    text, blocks = note.text, note.blocks
    candidates = {nth + step for nth in words for step in range(-2, 3)}
    above = list(accumulate((n if b.is_heading else -1 for n, b in enumerate(blocks)), max))
    for nth in sorted(candidates):
        if not 0 <= nth < len(blocks):
            continue
        is_last = nth + 1 == len(blocks) or blocks[nth + 1].is_heading
        if blocks[nth].is_heading and (nth not in words or not is_last):
            continue
        first = nth - 1 if nth and blocks[nth - 1].is_heading and nth - 1 in words else nth
        own = _most_of((words.get(first, {}), 1.0), (words.get(nth, {}), 1.0))
        near_words = _most_of(
            (own, 1.0),
            *((words.get(n, {}), BESIDE) for n in (first - 1, nth + 1, above[nth])),
            *((words.get(n, {}), NEXT_BUT_ONE) for n in (first - 2, nth + 2)),
        )
        weight = sum(near_words.values())
        start, end = blocks[first].start, blocks[nth].end
        is_cut = end - start > LONGEST_PARAGRAPH and not _is_indivisible(text, blocks[nth].start)
        yield BlockPassage(start, end, (first, nth), own, weight, is_cut)


def _most_of(*parts: tuple[_TermWeights, float]) -> _TermWeights:
    """Return the words of some parts, each with the greatest weight that it has in one."""
    words: _TermWeights = {}
    for part, share in parts:
        for term, weight in part.items():
            words[term] = max(words.get(term, 0.0), share * weight)
    return words


def _join(note: NotePassages, passages: Iterable[BlockPassage]) -> list[BlockPassage]:
    """Return passages in their order; those of one section that follow each other, and are shown
    whole, are one."""
    joined: list[BlockPassage] = []
    for passage in sorted(passages, key=lambda passage: passage.start):
        before = joined[-1] if joined else None
        if before is not None and _follows(note, passage, before):
            end, last = max(before.end, passage.end), passage.blocks[1]
            joined[-1] = replace(before, end=end, blocks=(before.blocks[0], last))
        else:
            joined.append(passage)
    return joined


def _follows(note: NotePassages, passage: BlockPassage, before: BlockPassage) -> bool:
    first, last = passage.blocks[0], before.blocks[1]
    is_next = 0 <= last < first == last + 1 and not note.blocks[first].is_heading
    return is_next and not (before.is_cut or passage.is_cut)


def _shown_length(passage: BlockPassage) -> int:
    length = passage.end - passage.start
    if passage.blocks == LINE:
        return min(length, LINE_CHARACTERS)
    return min(length, LONGEST_PARAGRAPH) if passage.is_cut else length


def show_passages(note: NotePassages, passages: Sequence[BlockPassage]) -> list[Snippet]:
    """Return passages that follow each other in a note as they are shown."""
    text, places = note.text, sorted(note.places)
    starts = [place.start for place in places]
    snippets: list[Snippet] = []
    line, counted = 1, 0
    for passage in passages:
        inside = places[bisect_right(starts, passage.start - 1) : bisect_right(starts, passage.end)]
        if passage.blocks == LINE:
            start = passage.start
            excerpt, marks = cut_around(text, start, inside)
        else:
            start, end = passage.start, passage.end
            if passage.is_cut:
                start, end = _find_sentences(text, passage, inside)
            whole = passage.start, passage.end
            is_whole = start == passage.start
            excerpt, marks = make_excerpt(text, whole, (start, end), inside, is_indented=is_whole)
        line += text.count("\n", counted, start)
        counted = start
        heading, card = describe_part(note.headings, passage.end)
        snippets.append(Snippet(line, excerpt, heading, marks, card))
    return snippets


def _find_sentences(
    text: str, passage: BlockPassage, places: Sequence[HitPlace]
) -> tuple[int, int]:
    """Return the sentences of a long paragraph, or the rows of a table, around the place that has
    most of what the query names."""
    start, end = passage.start, passage.end
    best = densest_start(places, LONGEST_PARAGRAPH) if places else start
    first = max(start, min(best - LONGEST_PARAGRAPH // 3, end - LONGEST_PARAGRAPH))
    last = first + LONGEST_PARAGRAPH
    boundary = _ROW_END if text.startswith("|", start) else _SENTENCE_END
    ends = [match.end() for match in boundary.finditer(text, first, last)]
    within = [place.end for place in places if first <= place.start and place.end <= last]
    begin = next((at for at in ends if at <= best), first) if first > start else first
    needed = max([best, *within])
    stop = next((at for at in reversed(ends) if at >= needed), last) if last < end else last
    return begin, stop
