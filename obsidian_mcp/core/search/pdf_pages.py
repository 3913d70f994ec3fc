"""The pages of PDFs that a query finds (PDF-1, PDF-4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, islice

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.files.pdf import PdfText
from obsidian_mcp.core.query.document import Document
from obsidian_mcp.core.query.evaluate import Matcher
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.text import deadline

from .hits import Hit, Hits, Request, Snippet
from .render import PLACES, Heading, Place, choose, hit_size


def find(request: Request, texts: Iterable[tuple[FileEntry, PdfText]]) -> list[Hit]:
    """Return the PDFs whose text or path a query finds, those with the most matches first.

    A query is read as in the app: every word is looked for as it is written. Snippets say their page.
    Raises: QueryInvalid, OperationTimeout.
    """
    matcher = Matcher(parse(request.query))
    found: list[tuple[int, Hit]] = []
    for entry, text in texts:
        deadline.checkpoint()
        document = Document(entry.path, "\n".join(text.pages), "canvas")
        if not matcher.matches(document):
            continue
        places = [
            Place(span.start, span.end, term)
            for term, spans in enumerate(matcher.places(document))
            for span in islice(spans, PLACES)
        ]
        starts = accumulate((len(page) + 1 for page in text.pages), initial=0)
        pages = [Heading(str(number), start, is_card=True) for number, start in enumerate(starts, 1)]
        snippets = [
            _on_page(each, document.text, pages) for each in choose(document.text, places, pages, request.snippets)
        ]
        found.append((len(places), Hit(entry.path, snippets=snippets or None)))
    return [hit for _, hit in sorted(found, key=lambda each: (-each[0], each[1].path))]


def _on_page(snippet: Snippet, text: str, pages: Sequence[Heading]) -> Snippet:
    """A line of the whole text as a line of its page."""
    page = int(snippet.card or "1")
    above = text.count("\n", 0, pages[page - 1].start)
    return replace(snippet, line=snippet.line - above, page=page, card=None)


def joined(notes: Hits, pdfs: Sequence[Hit], request: Request) -> Hits:
    """Return a page of notes with the PDFs that follow on it; `pdfs` are all of them, and come after the last note."""
    room = request.limit - len(notes.hits)
    first = max(0, request.offset - notes.total)
    left = request.characters - sum(map(hit_size, notes.hits))
    shown: list[Hit] = []
    for hit in pdfs[first : first + room] if notes.next_offset is None else []:
        left -= hit_size(hit)
        if left < 0 and (shown or notes.hits):
            break
        shown.append(hit)
    total = notes.total + len(pdfs)
    following = request.offset + len(notes.hits) + len(shown)
    return replace(notes, total=total, hits=[*notes.hits, *shown], next_offset=following if following < total else None)
