"""The parts of a note that `line:`, `block:`, `section:` and `task:` look at (semantics 5.4; QUERY-40 to QUERY-44)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.text import Span

from .scopes import Structure

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


def blocks(structure: Structure, text: str) -> Iterator[Span]:  # noqa: ARG001 - as its neighbours
    """Top-level blocks, and list items each by itself."""
    yield from structure.blocks


def sections(structure: Structure, text: str, *, tree: bool) -> Iterator[Span]:
    """From a heading to the next one, or, as a tree, to the next one that is not below it."""
    headings = structure.headings
    starts = [start for start, _ in headings] + [structure.length]
    if starts[0] and compat.SEARCH_TEXT_BEFORE_FIRST_HEADING_IS_A_SECTION:
        yield _trimmed(text, 0, starts[0])
    ends = starts[1:]
    if tree:
        above: list[tuple[int, int]] = []  # level and start of what may end a heading before them, nearest last
        for index in range(len(headings) - 1, -1, -1):
            level = headings[index][1]
            while above and above[-1][0] > level:
                above.pop()
            ends[index] = above[-1][1] if above else structure.length
            above.append((level, starts[index]))
    for start, end in zip(starts, ends, strict=False):
        yield _trimmed(text, start, end)


def tasks(structure: Structure, text: str, state: Literal["any", "todo", "done"]) -> Iterator[Span]:  # noqa: ARG001
    """Task items without the items below them. Every mark but the space is done (semantics 5.4)."""
    for mark, span in structure.tasks:
        if state == "any" or (mark == " ") == (state == "todo"):
            yield span


def _trimmed(text: str, start: int, end: int) -> Span:
    """Without a line end at the end."""
    if end > start and text[end - 1] == "\n":
        end -= 1
    if end > start and text[end - 1] == "\r":
        end -= 1
    return Span(start, end)
