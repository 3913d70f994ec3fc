"""The parts of a note that are embedded: its sections, in pieces that a model can read (specs/semantic.md, SEM-02)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from obsidian_mcp.core.frontmatter.parser import text_start

PIECE_BYTES = 1_000
"""Most of one piece, in UTF-8: models read 256 tokens, and a token is four letters or one and a half kanji."""
SHORT_BYTES = 200
"""A shorter section is read together with the next one."""
MOST_PIECES = 40
"""Pieces of one note; of a longer one the rest is found by its words only."""


class Piece(NamedTuple):
    start: int
    """Where it begins in the text, in code points."""
    text: str
    """With the name of the note and the heading before it."""


def pieces(name: str, text: str, headings: Sequence[tuple[int, str]]) -> list[Piece]:
    """Return the pieces of a note. `headings` are where they begin and what they say, in their order."""
    found = []
    begin = text_start(text)
    starts = [(begin, ""), *((start, heading) for start, heading in headings if start >= begin)]
    for start, end, heading in _sections(text, starts):
        title = f"{name}\n{heading}\n" if heading and heading != name else f"{name}\n"
        found += [Piece(at, title + part) for at, part in _parts(text, start, end)]
        if len(found) >= MOST_PIECES:
            break
    return found[:MOST_PIECES] or [Piece(len(text), name)]


def _sections(text: str, starts: Sequence[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """Start, end and heading of the sections, short ones together."""
    ends = [start for start, _ in starts[1:]] + [len(text)]
    begun, title = starts[0]
    for (_, heading), end in zip(starts, ends, strict=True):
        title = title or heading
        if len(text[begun : min(end, begun + SHORT_BYTES)].encode()) >= SHORT_BYTES or end == len(text):
            if text[begun:end].strip():
                yield begun, end, title
            begun, title = end, ""


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Cut a section at the ends of lines, else of words."""
    while start < end:
        stop = start + len(text[start : min(end, start + PIECE_BYTES)].encode()[:PIECE_BYTES].decode(errors="ignore"))
        if stop < end:
            half = (start + stop) // 2
            stop = next((at + 1 for mark in "\n " if (at := text.rfind(mark, half, stop)) > 0), stop)
        part = text[start:stop]
        if part.strip():
            yield start + len(part) - len(part.lstrip()), part.strip()
        start = stop
