"""One page of a result, as large as an answer may be: hits with snippets (SEARCH-70 to 77)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.index.facts import HeadingFact
from obsidian_mcp.core.note.validity import Mark, MarkedBlock
from obsidian_mcp.core.text.fit import Room, take_fitting

from .found_files import FoundFiles
from .hit_size import fit_hit, room_for, size_in_answer
from .hits import Hit, Hits, Request, Snippet
from .match_places import PlaceFinder
from .remarks import remark_of
from .second_pass import read_fields
from .signals import Item
from .snippets import (
    HitPlace,
    choose_lines,
    first_lines,
    put_on_pages,
    weigh_current,
)
from .sort import shown_values
from .stored_document import StoredDocument, whole_text

if TYPE_CHECKING:
    from .passages import NotePassages

SHOWN_SHARE = 0.5
"""Of the first file's score, what a file must have to be shown with snippets where any of the words
is enough."""
QUESTION_WORDS = 3
"""Words of a query from which on a block may answer it that has none of them."""
FILES_AT_ONCE = 12
"""Files whose texts are read together: about half a page."""


def render_page(result: FoundFiles, request: Request) -> Hits:
    """Return the page at `request.offset`, as long as there is room (SEARCH-75)."""
    if request.note is not None:
        return _render_note(result, request)
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
    notice, is_weak = result.snapshot.notice, result.plan.is_weak
    return Hits(result.total, hits, next_offset, widened, notice, result.note, is_weak)


def _render_note(result: FoundFiles, request: Request) -> Hits:
    """Return a page of all lines of one note that have what the query names, or of all its
    passages (SEARCH-80)."""
    remark = remark_of(result)
    room = room_for(request.characters, remark, result.snapshot.notice, result.note)
    render = Renderer(result, result.items[:1], request, sys.maxsize, is_all=True)
    hits = list(map(render.hit, result.items[:1]))
    lines = [snippet for hit in hits for snippet in hit.snippets or ()]
    asked_lines = lines[request.offset : request.offset + request.limit]
    page_lines = take_fitting(asked_lines, room, size_in_answer, least=1)
    following = request.offset + len(page_lines)
    next_offset = following if page_lines and following < len(lines) else None
    hits = [replace(hit, snippets=page_lines) for hit in hits if page_lines]
    return Hits(len(lines), hits, next_offset, remark, result.snapshot.notice, result.note)


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
        is_all: bool = False,
    ) -> None:
        """`most` snippets of a file, or blocks of the page of at most `CHARACTERS_PER_SNIPPET` for
        each of these; `is_all`: all of one file, those with the most words first."""
        plan = found.plan
        self._snapshot = found.snapshot
        self._outdated = found.snapshot.signals.outdated
        self._page, self._most = page, most
        self._passages, self._is_all = request.passages, is_all
        self._is_current_only = request.current
        self._is_about_past = found.is_about_past
        self._successors = found.successors
        self._always_shown = found.successors | found.lowered
        self._marks: list[Mark] = []
        """Those of the lines of the hit that is made."""
        self._finder = PlaceFinder(found.snapshot, plan, most) if most else None
        scores = [item.score or 0.0 for item in found.items[:1]] if plan.is_wide else []
        self._least = SHOWN_SHARE * max(scores, default=0.0)
        self._left = [item.number for item in page if item.number is not None]
        self._fields = found.fields
        self._headings: dict[int, list[HeadingFact]] = {}
        self._chosen: dict[int, list[Snippet]] | None = None
        has_pdfs = found.snapshot.table.has_pdfs
        self._is_unfinished = self._passages or has_pdfs or not self._outdated.is_empty
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
        if self._finder is not None:
            snippets = self._snippets(self._finder, item, number)
            if not snippets and number in self._fields and self._fields[number].links:
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

    def _snippets(self, finder: PlaceFinder, item: Item, number: int) -> list[Snippet]:
        """Return the lines or passages of a file that are shown."""
        if self._passages and not self._is_all:
            if self._chosen is None:
                self._chosen = self._choose_passages(finder)
            return self._finish_snippets(number, self._chosen.get(number, []))
        if number not in self._always_shown and (item.score or 0.0) < self._least:
            return []
        if self._passages:
            from .passages import list_passages

            passages = list_passages(self._read_passages(finder, item, number))
            return self._finish_snippets(number, passages)
        if number not in self._headings:
            self._fetch(number)
        text = self._read(number)
        places = finder.find_places(number, text)
        if not places or not self._outdated.is_empty:
            places = self._complete_places(places, finder, item, text)
        headings = self._headings[number]
        snippets = choose_lines(text, places, headings, self._most, best_first=self._is_all)
        return self._finish_snippets(number, snippets) if self._is_unfinished else snippets

    def _complete_places(
        self, places: list[HitPlace], finder: PlaceFinder, item: Item, text: str
    ) -> list[HitPlace]:
        """Return what is shown of a text: where the words are, else what its meaning found, or the
        beginning of a successor; less of what is outdated."""
        number = item.number
        if number is None:
            return places
        start = 0 if number in self._successors else item.start
        if not places and start is not None:
            start = max(start, text_start(text))
            lines = first_lines(text, start, 1 if self._passages else self._most)
            places = [HitPlace(at, at, weight=finder.weight) for at in lines]
        if not self._outdated.is_empty and (blocks := self._outdated.find_blocks(number, text)):
            places = list(weigh_current(places, blocks, leave_out=self._is_current_only))
        return places

    def _choose_passages(self, finder: PlaceFinder) -> dict[int, list[Snippet]]:
        """Return the passages of the page by the numbers of their files."""
        from .passages import CHARACTERS_PER_SNIPPET, choose_passages  # few searches show passages

        items = [(item, item.number) for item in self._page if item.number is not None]
        best_score = max((item.score or 0.0 for item, _ in items), default=0.0)
        notes: dict[int, NotePassages] = {}
        for item, number in items:
            notes[number] = self._read_passages(finder, item, number)
            if item.score is not None and best_score:
                notes[number].share = item.score / best_score
        room = CHARACTERS_PER_SNIPPET * self._most
        return choose_passages(notes, room, is_question=finder.word_count >= QUESTION_WORDS)

    def _read_passages(self, finder: PlaceFinder, item: Item, number: int) -> NotePassages:
        from .passages import NotePassages, find_blocks

        text = self._read(number)
        headings = self._headings[number]
        structure = None
        if not self._is_pdf(number) and not self._fields[number].is_truncated:
            structure = StoredDocument(self._snapshot, number, text).structure
        places = self._complete_places(finder.find_places(number, text), finder, item, text)
        return NotePassages(text, find_blocks(text, structure, headings), headings, places)

    def _is_pdf(self, number: int) -> bool:
        return self._snapshot.table.has_pdfs and number in self._snapshot.table.pdfs

    def _finish_snippets(self, number: int, snippets: list[Snippet]) -> list[Snippet]:
        """Return lines or passages with the marks of what is outdated, on the pages of a PDF, and
        passages with links."""
        if not self._outdated.is_empty and snippets:
            text = self._read(number)
            if blocks := self._outdated.find_blocks(number, text):
                snippets = self._mark_snippets(number, text, snippets, blocks)
        if self._is_pdf(number):
            snippets = list(put_on_pages(snippets, self._read(number), self._headings[number]))
        if self._passages:
            return [self._add_link(number, snippet) for snippet in snippets]
        return snippets

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
        if self._is_all:
            marked.sort(key=lambda snippet: snippet.outdated is not None)
        return marked

    def _read(self, number: int) -> str:
        """Return the text of a file."""
        if number not in self._headings:
            self._fetch(number)
        fields = self._fields[number]
        return whole_text(self._snapshot, number) if fields.is_truncated else fields.text

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
