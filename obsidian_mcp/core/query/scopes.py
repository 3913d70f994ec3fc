"""The parts of a note that `line:`, `block:`, `section:` and `task:` search: QUERY-40 to QUERY-44."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Literal, NamedTuple, overload

from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.text import Span

Scope = Literal["block", "section", "section-tree", "task", "task-todo", "task-done"]
"""A kind of part. A `section-tree` includes the sections below it."""

_OPEN = ord(" ")

Anchor = Callable[[str, int, int], int]
"""Finds in `text[start:end]` the first place where a match may begin; -1 if there is none."""


class Parts(NamedTuple):
    """Parts of one kind in the order of their starts; a list item may lie inside another one."""

    starts: Sequence[int]
    ends: Sequence[int]
    reach: Sequence[int]
    """The largest end up to and including each part."""


@dataclass(frozen=True, slots=True)
class Structure:
    """Where the parts of one text are, in code points; stored beside the text by the index."""

    length: int
    """Of the text."""
    blocks: tuple[Sequence[int], Sequence[int]]
    """Starts and ends of top-level blocks and of list items, each item without the items below it (QUERY-41)."""
    headings: tuple[Sequence[int], Sequence[int]]
    """Starts and levels of the headings that begin sections."""
    tasks: tuple[Sequence[int], Sequence[int], Sequence[int]]
    """Marks (code points), starts and ends of task items, without the items below them."""
    tags: Sequence[tuple[str, Span]]
    """Tags in the text, names without `#`."""

    def parts(self, scope: Scope, text: str) -> Parts:
        """Return the parts of one kind in the text of the note (QUERY-41 to QUERY-43)."""
        match scope:
            case "block":
                starts, ends = self.blocks
            case "section" | "section-tree":
                starts, ends = self._sections(tree=scope == "section-tree")
                ends = [without_line_end(text, start, end) for start, end in zip(starts, ends, strict=True)]
            case _:
                marks, starts, ends = self.tasks
                if scope != "task":
                    chosen = [n for n, mark in enumerate(marks) if (mark == _OPEN) == (scope == "task-todo")]
                    starts, ends = [starts[n] for n in chosen], [ends[n] for n in chosen]
        return Parts(starts, ends, list(accumulate(ends, max)))

    def _sections(self, *, tree: bool) -> tuple[Sequence[int], Sequence[int]]:
        """From a heading to the next one; as a tree, to the next one that is not below it (QUERY-42)."""
        starts, levels = self.headings
        ends = [*starts[1:], self.length] if starts else []
        if tree:
            open_headings: list[tuple[int, int]] = []  # level and start of later headings that can end a section
            for n in range(len(starts) - 1, -1, -1):
                while open_headings and open_headings[-1][0] > levels[n]:
                    open_headings.pop()
                ends[n] = open_headings[-1][1] if open_headings else self.length
                open_headings.append((levels[n], starts[n]))
        if compat.SEARCH_TEXT_BEFORE_FIRST_HEADING_IS_A_SECTION:
            first = starts[0] if starts else self.length
            if first:
                return [0, *starts], [first, *ends]
        return starts, ends


def structure_of(note: Note) -> Structure:
    """Return the structure of a parsed note."""
    blocks, tasks = _blocks(note), list(note.tasks)
    return Structure(
        len(note.body),
        ([span.start for span in blocks], [span.end for span in blocks]),
        ([heading.span.start for heading in note.outline], [heading.level for heading in note.outline]),
        (
            [ord(item.mark or " ") for item in tasks],
            [item.span.start for item in tasks],
            [item.span.end for item in tasks],
        ),
        tuple((tag.name, tag.span) for tag in note.tags),
    )


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


def pack(structure: Structure, text: str) -> bytes:
    """Return a structure as bytes for `unpack`; empty if a tag's name is not what the text says at its place."""
    if any(text[span.start + 1 : span.end] != name for name, span in structure.tags):
        return b""
    sizes = [structure.length, len(structure.blocks[0]), len(structure.headings[0]), len(structure.tasks[0])]
    columns = chain(*structure.blocks, *structure.headings, *structure.tasks)
    tags = chain.from_iterable((span.start, span.end) for _, span in structure.tags)
    return array("I", chain(sizes, columns, tags)).tobytes()


def unpack(packed: bytes, text: str) -> Structure:
    """Return the structure of a text from bytes that `pack` made for it; they are not empty."""
    numbers = array("I", packed)
    length, blocks, headings, tasks = numbers[:4]
    columns: list[Sequence[int]] = []
    at = 4
    for size in (blocks, blocks, headings, headings, tasks, tasks, tasks):
        columns.append(numbers[at : at + size])
        at += size
    return Structure(
        length,
        (columns[0], columns[1]),
        (columns[2], columns[3]),
        (columns[4], columns[5], columns[6]),
        _TagsInText(text, numbers[at::2], numbers[at + 1 :: 2]),
    )


@dataclass(frozen=True, slots=True)
class _TagsInText(Sequence[tuple[str, Span]]):
    """Tags whose names are what the text says at their places; most searches never look at them."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, at: int) -> tuple[str, Span]: ...

    @overload
    def __getitem__(self, at: slice) -> list[tuple[str, Span]]: ...

    def __getitem__(self, at: int | slice) -> tuple[str, Span] | list[tuple[str, Span]]:
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(len(self)))]
        span = Span(self.starts[at], self.ends[at])
        return self.text[span.start + 1 : span.end], span


def parts_within(parts: Parts, start: int, end: int, text: str, anchor: Anchor | None) -> Iterator[Span]:
    """Yield what lies of the parts in `text[start:end]`; with an anchor, at least those in which it is found."""
    starts, ends, reach = parts
    at = bisect_right(reach, start)
    while at < len(starts) and starts[at] < end:
        if anchor is not None:
            place = anchor(text, max(starts[at], start), end)
            if place < 0:
                return
            at = max(at, bisect_right(reach, place))
            if at == len(starts):
                return
        low, high = max(starts[at], start), min(ends[at], end)
        if low < high:
            yield Span(low, high)
        at += 1


def lines_within(start: int, end: int, text: str, anchor: Anchor | None) -> Iterator[Span]:
    """Yield the lines of `text[start:end]` without their ends; with an anchor, those that contain it (QUERY-40)."""
    while start <= end:
        if anchor is not None:
            place = anchor(text, start, end)
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
