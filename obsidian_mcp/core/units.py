"""The parts of a note that `line:`, `block:`, `section:` and `task:` look at (semantics 5.4; QUERY-40 to QUERY-44)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from . import compat
from .note import Note
from .text import Span

Anchor = Callable[[str, int, int], int]
"""Where in `text[start:end]` the first place begins at which a line may satisfy the operand, -1 without one."""


def lines(text: str, start: int, end: int, anchor: Anchor | None) -> Iterator[Span]:
    """The lines of `text[start:end]` without their ends; with an anchor only those in which it is found."""
    while start <= end:
        if anchor is not None:
            place = anchor(text, start, end)
            if place < 0:
                return
            start = max(start, text.rfind("\n", start, place) + 1)
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield _trimmed(text, start, stop)
        start = stop + 1


def blocks(note: Note) -> Iterator[Span]:
    """Top-level blocks, and list items each by itself."""
    items = note.list_items
    at = 0
    for section in note.sections:
        if section.kind != "list":
            yield section.span
            continue
        while at < len(items) and items[at].span.start < section.span.start:
            at += 1
        while at < len(items) and items[at].span.start < section.span.end:
            yield items[at].span
            at += 1


def sections(note: Note, *, tree: bool) -> Iterator[Span]:
    """From a heading to the next one, or, as a tree, to the next one that is not below it."""
    headings = note.outline
    starts = [heading.span.start for heading in headings] + [len(note.body)]
    if starts[0] and compat.SEARCH_TEXT_BEFORE_FIRST_HEADING_IS_A_SECTION:
        yield _trimmed(note.body, 0, starts[0])
    ends = starts[1:]
    if tree:
        above: list[tuple[int, int]] = []  # level and start of what may end a heading before them, nearest last
        for index in range(len(headings) - 1, -1, -1):
            level = headings[index].level
            while above and above[-1][0] > level:
                above.pop()
            ends[index] = above[-1][1] if above else len(note.body)
            above.append((level, starts[index]))
    for start, end in zip(starts, ends, strict=False):
        yield _trimmed(note.body, start, end)


def tasks(note: Note, state: Literal["any", "todo", "done"]) -> Iterator[Span]:
    """Task items without the items below them. Every mark but the space is done (semantics 5.4)."""
    for item in note.tasks:
        if state == "any" or (item.mark == " ") == (state == "todo"):
            yield item.span


def _trimmed(text: str, start: int, end: int) -> Span:
    """Without a line end at the end."""
    if end > start and text[end - 1] == "\n":
        end -= 1
    if end > start and text[end - 1] == "\r":
        end -= 1
    return Span(start, end)
