"""Find notes by the app's query language: which files match, best first, and where (semantics 5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from obsidian_mcp.errors import AppError

from . import note, progress
from .catalog import FileEntry
from .match import Match, Matcher
from .paths import VaultPath, extension, is_note
from .query import parse
from .subject import Document, Kind
from .text import Lines, Span

SNIPPETS = 3
SNIPPET_CHARACTERS = 160
ANSWER_CHARACTERS = 10_000
"""Most of an answer that models get by default."""

NAME_WEIGHT = 50
"""Matches in the text that one in the note's name is worth."""


@dataclass(frozen=True, slots=True)
class Snippet:
    line: int
    """1-based."""
    text: str
    heading: str | None = None
    """The heading it stands under."""


@dataclass(frozen=True, slots=True)
class Hit:
    path: VaultPath
    matches: int
    snippets: list[Snippet] | None = None


@dataclass(frozen=True, slots=True)
class Hits:
    total: int
    """Files that match, on all pages."""
    hits: list[Hit]
    next_offset: int | None = None


def search(
    entries: Iterable[FileEntry],
    read: Callable[[FileEntry], str],
    query: str,
    *,
    limit: int,
    offset: int = 0,
    snippets: int = SNIPPETS,
) -> Hits:
    """The files that the query is true for. Raises: QueryInvalid with the column of a mistake, OperationTimeout."""
    matcher = Matcher(parse(query))
    found: list[tuple[int, int, VaultPath, FileEntry, Match]] = []
    asked = list(entries)
    for done, entry in enumerate(asked):
        progress.report(done, len(asked), "Searching")
        match = matcher.find(_document(entry, read))
        if match is not None:
            score = len(match.content) + NAME_WEIGHT * len(match.path)
            found.append((-score, -entry.mtime_ns, entry.path, entry, match))
    found.sort(key=lambda each: each[:3])
    hits: list[Hit] = []
    room = ANSWER_CHARACTERS
    for _, _, path, entry, match in found[offset : offset + limit]:
        hit = Hit(path, len(match.content) + len(match.path), _snippets(_document(entry, read), match, snippets))
        room -= len(path) + 40 + sum(len(each.text) + len(each.heading or "") + 40 for each in hit.snippets or ())
        if room < 0 and hits:
            break
        hits.append(hit)
    following = offset + len(hits)
    return Hits(len(found), hits, following if following < len(found) else None)


def _document(entry: FileEntry, read: Callable[[FileEntry], str]) -> Document:
    kind: Kind = "note" if is_note(entry.path) else "canvas" if extension(entry.path) == ".canvas" else "other"
    if kind == "other":
        return Document(entry.path, "", kind)
    try:
        text = read(entry)
    except AppError:  # gone or unreadable: its name can still match
        return Document(entry.path, "", kind)
    return Document(entry.path, _cards(text) if kind == "canvas" else text, kind)


def _cards(text: str) -> str:
    """The text of a canvas: that of its cards, a blank line between two."""
    try:
        nodes = json.loads(text).get("nodes") or []
    except (ValueError, AttributeError, RecursionError):
        return ""
    cards = [card.get("text") for card in nodes if isinstance(card, dict)]
    return "\n\n".join(card for card in cards if isinstance(card, str))


def _snippets(document: Document, match: Match, most: int) -> list[Snippet] | None:
    if not match.content or not most:
        return None
    text = document.text
    lines = Lines(text)
    parsed = note.parse(text) if document.kind == "note" else None
    shown: dict[int, Snippet] = {}
    for span in match.content:
        line = lines.line(span.start)
        if line in shown:
            continue
        above = parsed.headings_above(span.start) if parsed is not None else ()
        heading = above[-1].text if above and above[-1].line != line else None
        shown[line] = Snippet(line + 1, _around(text, lines.starts[line], span), heading)
        if len(shown) == most:
            break
    return list(shown.values())


def _around(text: str, start: int, span: Span) -> str:
    """The line that holds a match, of a long one the part around it."""
    end = text.find("\n", span.start)
    end = len(text) if end < 0 else end
    if end - start <= SNIPPET_CHARACTERS:
        return text[start:end].strip()
    first = max(start, span.start - SNIPPET_CHARACTERS // 3)
    last = min(end, first + SNIPPET_CHARACTERS)
    return ("…" if first > start else "") + text[first:last].strip() + ("…" if last < end else "")
