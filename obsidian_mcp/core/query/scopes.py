"""The parts of a note that `line:`, `block:`, `section:` and `task:` search: QUERY-40 to QUERY-44."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

from obsidian_mcp.core.text.text import Span

if TYPE_CHECKING:
    from obsidian_mcp.core.note.parser import Note

Scope = Literal["block", "section", "section-tree", "task", "task-todo", "task-done"]
"""A kind of part. A `section-tree` includes the sections below it."""

_OPEN = ord(" ")
_NONE = array("I", [0])
_LOWEST = array("I", [7])
"""Start and level of the text before the first heading."""

First = Callable[[str, int, int], int]
"""Finds where what a part must contain begins first in `text[start:end]`; -1 if it is not there."""


class Parts(NamedTuple):
    """Parts of one kind in the order of their starts; a list item may lie inside another one."""

    starts: Sequence[int]
    ends: Sequence[int]
    reach: Sequence[int]
    """The largest end up to and including each part."""


class Structure:
    """Where the parts of one text are, in code points; the index stores it as bytes: the length of the text, the counts
    of blocks, headings and tasks, then their columns, starts and ends of blocks first."""

    __slots__ = ("_numbers", "_parts")

    def __init__(self, numbers: array[int] | bytes) -> None:
        """`numbers` may be what `pack` returned."""
        self._numbers = array("I", numbers)
        self._parts: dict[Scope, Parts] = {}

    def _columns(self, first: int, size: int, count: int) -> list[array[int]]:
        return [self._numbers[first + n * size : first + (n + 1) * size] for n in range(count)]

    @property
    def blocks(self) -> list[array[int]]:
        """Starts and ends of top-level blocks and of list items, each item without the items below it (QUERY-41)."""
        return self._columns(4, self._numbers[1], 2)

    def _headings(self, column: int) -> array[int]:
        """Of the headings that begin sections the starts (column 0) or the levels (1)."""
        count = self._numbers[2]
        first = 4 + 2 * self._numbers[1] + column * count
        return self._numbers[first : first + count]

    @property
    def tasks(self) -> list[array[int]]:
        """Marks (code points), starts and ends of task items, without the items below them (QUERY-43)."""
        _, blocks, headings, tasks = self._numbers[:4]
        return self._columns(4 + 2 * blocks + 2 * headings, tasks, 3)

    def pack(self) -> bytes:
        """Return the structure as bytes."""
        return self._numbers.tobytes()

    def parts(self, scope: Scope) -> Parts:
        """Return the parts of one kind (QUERY-41 to QUERY-43)."""
        if scope not in self._parts:
            self._parts[scope] = self._found(scope)
        return self._parts[scope]

    def _found(self, scope: Scope) -> Parts:
        starts: Sequence[int]
        ends: Sequence[int]
        match scope:
            case "block":
                starts, ends = self.blocks
            case "section":
                starts, ends = self._sections()
                return Parts(starts, ends, ends)
            case "section-tree":
                starts, ends = self._section_trees()
            case _:
                marks, starts, ends = self.tasks
                if scope != "task":
                    chosen = [n for n, mark in enumerate(marks) if (mark == _OPEN) == (scope == "task-todo")]
                    starts, ends = [starts[n] for n in chosen], [ends[n] for n in chosen]
        return Parts(starts, ends, list(accumulate(ends, max)))

    def _sections(self) -> tuple[array[int], array[int]]:
        """Starts and ends of the sections, each from a heading to the next one (QUERY-42)."""
        starts = self._headings(0)
        if not starts or starts[0]:
            starts = _NONE + starts  # an empty text is one empty section, as it is one empty line
        ends = starts[1:]
        if starts:
            ends.append(self._numbers[0])
        return starts, ends

    def _section_trees(self) -> tuple[array[int], array[int]]:
        """The sections with those below them: each ends at the next heading that is not below its own (QUERY-42)."""
        starts, ends = self._sections()
        levels = self._headings(1)
        if len(levels) < len(starts):
            levels = _LOWEST + levels
        open_headings: list[tuple[int, int]] = []  # level and start of later headings that can end a section
        for n in range(len(starts) - 1, -1, -1):
            while open_headings and open_headings[-1][0] > levels[n]:
                open_headings.pop()
            ends[n] = open_headings[-1][1] if open_headings else self._numbers[0]
            open_headings.append((levels[n], starts[n]))
        return starts, ends


def structure_of(note: Note) -> Structure:
    """Return the structure of a parsed note."""
    blocks, headings, tasks = _blocks(note), note.outline, list(note.tasks)
    numbers = array("I", [len(note.body), len(blocks), len(headings), len(tasks)])
    numbers.extend([span.start for span in blocks])
    numbers.extend([span.end for span in blocks])
    numbers.extend([heading.span.start for heading in headings])
    numbers.extend([heading.level for heading in headings])
    numbers.extend([ord(item.mark or " ") for item in tasks])
    numbers.extend([item.span.start for item in tasks])
    numbers.extend([item.span.end for item in tasks])
    return Structure(numbers)


def structure_of_pages(starts: Sequence[int], length: int) -> Structure:
    """Return the structure of a text of pages, each of which is one block and one section."""
    ends = [*starts[1:], length] if starts else []
    count = len(starts)
    return Structure(array("I", [length, count, count, 0, *starts, *ends, *starts, *[1] * count]))


def _blocks(note: Note) -> list[Span]:
    items, at = note.list_items, 0
    found = []
    for section in note.sections:
        if section.kind != "list":
            found.append(section.span)
            continue
        while at < len(items) and items[at].span.start < section.span.start:
            at += 1
        while at < len(items) and items[at].span.start < section.span.end:
            found.append(items[at].span)
            at += 1
    return found


def parts_within(parts: Parts, start: int, end: int, text: str, must: First | None) -> Iterator[Span]:
    """Yield the parts in which `must` begins, as far as they lie in `text[start:end]`, without their line ends."""
    starts, ends, reach = parts
    if not text and starts and must is None:
        yield Span(0, 0)
        return
    at = bisect_right(reach, start)
    end = min(end, reach[-1]) if starts else start
    while at < len(starts) and starts[at] < end:
        low = max(starts[at], start)
        high = without_line_end(text, low, min(ends[at], end))
        place = low if must is None else must(text, low, end)
        if place < 0:
            return
        if place >= high:
            at = max(at + 1, bisect_right(reach, place))
            continue
        if low < high:
            yield Span(low, high)
        at += 1


def lines_within(start: int, end: int, text: str, must: First | None) -> Iterator[Span]:
    """Yield the lines of `text[start:end]` without their ends in which `must` begins (QUERY-40)."""
    while start <= end:
        if must is not None:
            place = must(text, start, end)
            if place < 0:
                return
            start = max(start, text.rfind("\n", start, place) + 1)
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        yield Span(start, without_line_end(text, start, stop))
        start = stop + 1


def without_line_end(text: str, start: int, end: int) -> int:
    """Return the end of `text[start:end]` without an LF or CRLF at its end."""
    if end > start and text[end - 1] == "\n":
        end -= 1
    if end > start and text[end - 1] == "\r":
        end -= 1
    return end
