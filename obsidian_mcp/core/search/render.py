"""One page of a result, as large as an answer may be: hits with snippets (SEARCH-70 to 77)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Literal

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.index.facts import HeadingFact
from obsidian_mcp.core.note.validity import Mark, MarkedBlock
from obsidian_mcp.core.query.nodes import Word
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.fit import Room, take_fitting
from obsidian_mcp.core.text.text import Span

from .found_files import FoundFiles
from .hit_size import fit_hit, room_for, size_in_answer
from .hits import Hit, Hits, Request, Snippet
from .remarks import remark_of
from .second_pass import read_fields
from .signals import Item
from .snippets import (
    HitPlace,
    choose,
    find_body_start,
    first_lines,
    put_on_pages,
    weigh_current,
)
from .sort import shown_values
from .stored_document import StoredDocument, whole_text
from .weights import weigh_terms

if TYPE_CHECKING:
    from obsidian_mcp.core.query.evaluate import Matcher


PLACES = 60
"""Places of one word in a file among which the lines to show are chosen."""
PLACES_OF_ONE_WORD = 8
"""The same, if it is the only word of the query."""
SHOWN_SHARE = 0.5
"""Of the first file's score, what a file must have to be shown with snippets where any of the words
is enough."""
FILES_AT_ONCE = 12
"""Files whose texts are read together: about half a page."""


def render_page(result: FoundFiles, request: Request) -> Hits:
    """Return the page at `request.offset`, as long as there is room (SEARCH-75)."""
    if request.note is not None:
        return _render_lines(result, request)
    widened = remark_of(result)
    room = room_for(request.characters, widened, result.snapshot.notice, result.note)
    page = result.items[request.offset : request.offset + request.limit]
    render = Renderer(result, page, request, request.snippets)
    hits: list[Hit] = []
    left = Room(room)
    for item in page:
        hit = render.hit(item)
        if not left.take(size_in_answer(hit)):
            if not hits:  # else a client that goes on with the next page never gets past this hit
                hits.append(fit_hit(hit, room))
            break
        hits.append(hit)
    following = request.offset + len(hits)
    next_offset = following if hits and following < result.total else None
    return Hits(result.total, hits, next_offset, widened, result.snapshot.notice, result.note)


def _render_lines(result: FoundFiles, request: Request) -> Hits:
    """Return a page of all lines of one note that have what the query names (SEARCH-80)."""
    remark = remark_of(result)
    room = room_for(request.characters, remark, result.snapshot.notice, result.note)
    render = Renderer(result, result.items[:1], request, sys.maxsize, best_first=True)
    hits = list(map(render.hit, result.items[:1]))
    lines = [snippet for hit in hits for snippet in hit.snippets or ()]
    asked_lines = lines[request.offset : request.offset + request.limit]
    page_lines = take_fitting(asked_lines, room, size_in_answer, least=1)
    following = request.offset + len(page_lines)
    next_offset = following if page_lines and following < len(lines) else None
    hits = [replace(hit, snippets=page_lines) for hit in hits if page_lines]
    return Hits(len(lines), hits, next_offset, remark, result.snapshot.notice, result.note)


def _places_of_lines(text: str, span: Span, term: int) -> list[HitPlace]:
    """Return the places to show of a match over lines: where its first text is, not the blank lines
    that it may begin with, and where it ends, if in another line (SEARCH-110)."""
    matched = span.slice(text)
    start = span.start + len(matched) - len(matched.lstrip()) if matched.strip() else span.start
    last = text.rfind("\n", start, span.start + len(matched.rstrip())) + 1
    places = [HitPlace(start, span.end if last <= start else last - 1, term)]
    return places if last <= start else [*places, HitPlace(last, span.end, term)]


class Renderer:
    """Makes hits of the files of one page, whose texts are read some at a time (SEARCH-70 to
    73)."""

    def __init__(
        self,
        found: FoundFiles,
        page: Sequence[Item],
        request: Request,
        most: int,
        *,
        best_first: bool = False,
    ) -> None:
        """`most` snippets of a file; `best_first`: not in the order of the file."""
        plan = found.plan
        self._snapshot = found.snapshot
        self._outdated = found.snapshot.signals.outdated
        self._most = most
        self._passages, self._best_first = request.passages, best_first
        self._is_current_only = request.current
        self._is_about_past = found.is_about_past
        self._successors = found.successors
        self._always_shown = found.successors | found.lowered
        self._marks: list[Mark] = []
        """Those of the lines of the hit that is made."""
        self._places = max(PLACES, most)
        terms = weigh_terms(found.snapshot, plan.shown) if most else []
        # the words of the query first
        self._terms = sorted(terms, key=lambda each: bool(each.term.instead_of))
        self._matchers: list[Matcher] = []
        if most and plan.exact:
            from obsidian_mcp.core.query.evaluate import Matcher

            self._matchers = [Matcher(query) for query in plan.exact]
        words = [*plan.shown, *(query for query in plan.exact if isinstance(query, Word))]
        self._is_one_word = len(words) == len(plan.shown) + len(plan.exact) <= 1
        scores = [item.score or 0.0 for item in found.items[:1]] if plan.is_wide else []
        self._least = SHOWN_SHARE * max(scores, default=0.0)
        self._left = [item.number for item in page if item.number is not None]
        self._fields = found.fields
        self._headings: dict[int, list[HeadingFact]] = {}
        self._value = (
            None if found.order is None else shown_values(found.snapshot, page, found.order.facet)
        )

    def hit(self, item: Item) -> Hit:
        """Return a file as a hit, with the lines to show if it is in the index."""
        value = None if self._value is None else self._value(item)
        matched: Literal["meaning", "link", "successor"] | None = (
            None if item.start is None else "meaning"
        )
        number, snippets = item.number, list[Snippet]()
        self._marks = []
        score = None if item.score is None else round(item.score, 1)
        if number is None:
            return Hit(item.path, score, value, None, matched)
        is_successor = number in self._successors
        if self._most and (number in self._always_shown or (item.score or 0.0) >= self._least):
            snippets = self._snippets(number, 0 if is_successor else item.start)
            if not snippets and self._fields[number].links:
                matched = "link"
        if self._outdated.is_empty:
            return Hit(item.path, score, value, snippets or None, matched)
        if is_successor:
            matched = "successor"
        mark = self._outdated.marks.get(number)
        outdated = None if mark is None else self._outdated.describe(number, mark)
        chain = self._describe_chain(number, mark) if self._is_about_past else None
        return Hit(item.path, score, value, snippets or None, matched, outdated, chain)

    def _describe_chain(self, number: int, mark: Mark | None) -> list[str] | None:
        from .chain import describe_chain  # few questions are about the past

        marks = self._marks if mark is None else [mark]
        return describe_chain(self._snapshot, number, marks)

    def _snippets(self, number: int, start: int | None) -> list[Snippet]:
        """The lines to show of a file, in their order; `start` is where what was found by its
        meaning begins."""
        if number not in self._headings:
            self._fetch(number)
        fields = self._fields[number]
        text = whole_text(self._snapshot, number) if fields.is_truncated else fields.text
        places = self._find_words(text) if self._terms else []
        if self._matchers:
            document = StoredDocument(self._snapshot, number, text)
            parts = chain.from_iterable([matcher.places(document) for matcher in self._matchers])
            for term_number, part in enumerate(parts, len(self._terms)):
                for span in islice(part, self._places):
                    matched = text[span.start : span.end]
                    if "\n" in matched and span.start >= find_body_start(text):
                        places += _places_of_lines(text, span, term_number)
                    else:
                        places.append(HitPlace(span.start, span.end, term_number))
        if not places and start is not None:
            start = max(start, find_body_start(text))
            places = [HitPlace(at, at) for at in first_lines(text, start, self._most)]
        if self._is_one_word:
            places = places[: max(PLACES_OF_ONE_WORD, self._most)]
        blocks = [] if self._outdated.is_empty else self._outdated.find_blocks(number, text)
        if blocks:
            places = list(weigh_current(places, blocks, leave_out=self._is_current_only))
        headings = self._headings[number]
        snippets = choose(
            text,
            places,
            headings,
            self._most,
            alike=self._is_one_word and not self._terms,
            passages=self._passages,
            best_first=self._best_first,
        )
        if blocks:
            snippets = self._mark_snippets(number, text, snippets, blocks)
        if self._snapshot.table.has_pdfs and number in self._snapshot.table.pdfs:
            snippets = list(put_on_pages(snippets, text, headings))
        return (
            [self._add_link(number, snippet) for snippet in snippets]
            if self._passages
            else snippets
        )

    def _find_words(self, text: str) -> list[HitPlace]:
        """Return where a text has the words of the query."""
        places: list[HitPlace] = []
        folded = fold(text)
        present: set[str] = set()
        for word, term, rarity in self._terms:
            if term.instead_of and present.issuperset(term.instead_of.split()):
                continue
            term_places = term.places(folded, self._places)
            present.update([term.text] if term_places else [])
            places += [
                HitPlace(first, last, word, rarity * weight) for first, last, weight in term_places
            ]
        return places

    def _mark_snippets(
        self, number: int, text: str, snippets: list[Snippet], blocks: Sequence[MarkedBlock]
    ) -> list[Snippet]:
        """Return lines and passages with the marks of the blocks that they are in (MEM-11)."""
        lines = [text.count("\n", 0, block.start) + 1 for block in blocks]
        marked = []
        for snippet in snippets:
            last = snippet.line + (snippet.text.count("\n") if self._passages else 0)
            reasons = []
            for line, block in zip(lines, blocks, strict=True):
                if line <= last and snippet.line <= line + text.count("\n", block.start, block.end):
                    reason = self._outdated.describe(number, block.mark)
                    is_part = line > snippet.line or snippet.text.count("\n") > text.count(
                        "\n", block.start, block.end
                    )
                    reasons.append(f"line {line}: {reason}" if is_part else reason)
                    self._marks.append(block.mark)
            outdated = "; ".join(dict.fromkeys(reasons)) or None
            marked.append(replace(snippet, outdated=outdated))
        if self._best_first:
            marked.sort(key=lambda snippet: snippet.outdated is not None)
        return marked

    def _add_link(self, number: int, snippet: Snippet) -> Snippet:
        """Return a passage with a link to the heading or page that it stands under."""
        from obsidian_mcp.core.links.write_link import (
            write_path,  # what other searches need nothing of
        )
        from obsidian_mcp.core.note.headings import heading_for_link

        part = f"#page={snippet.page}" if snippet.page else ""
        part = f"#{heading_for_link(snippet.heading)}" if snippet.heading else part
        path = self._snapshot.table.paths[number]
        name = write_path(self._snapshot.catalog, path, "", "wiki", "shortest", subpath=part)
        return snippet if name is None else replace(snippet, link=f"[[{name}{part}]]")

    def _fetch(self, number: int) -> None:
        some = self._left[:FILES_AT_ONCE] if number in self._left[:FILES_AT_ONCE] else [number]
        self._left = self._left[len(some) :]
        self._fields.update(
            read_fields(self._snapshot, [file for file in some if file not in self._fields])
        )
        self._headings.update((file, []) for file in some)
        for file, heading in self._snapshot.rows.texts.read_headings(some):
            self._headings[file].append(heading)
