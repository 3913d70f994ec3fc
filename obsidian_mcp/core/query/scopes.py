"""The parts of a note that a search looks into, small enough to be kept beside its text (specs/search.md)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, compress

from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.text import Span

from .tokens import Operator


@dataclass(frozen=True, slots=True)
class Structure:
    """All in the order of the text; spans are code points of it."""

    length: int
    """Of the text."""
    blocks: tuple[Span, ...]
    """Top-level blocks, and list items each by itself (QUERY-41)."""
    headings: tuple[tuple[int, int], ...]
    """Where each of the headings that make sections begins, and its level."""
    tasks: tuple[tuple[str, Span], ...]
    """The mark between the brackets, and the item without those below it."""
    tags: tuple[tuple[str, Span], ...]
    """Tags of the text without `#`."""


def of(note: Note) -> Structure:
    return Structure(
        len(note.body),
        tuple(_blocks(note)),
        tuple((heading.span.start, heading.level) for heading in note.outline),
        tuple((item.mark or " ", item.span) for item in note.tasks),
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
    """As bytes that `unpack` reads; empty where a tag is not what stands in the text."""
    if any(text[span.start + 1 : span.end] != name for name, span in structure.tags):
        return b""
    numbers = [structure.length, len(structure.blocks), len(structure.headings), len(structure.tasks)]
    numbers += chain.from_iterable((span.start, span.end) for span in structure.blocks)
    numbers += chain.from_iterable(structure.headings)
    numbers += chain.from_iterable((ord(mark), span.start, span.end) for mark, span in structure.tasks)
    numbers += chain.from_iterable((span.start, span.end) for _, span in structure.tags)
    return array("I", numbers).tobytes()


def unpack(packed: bytes, text: str) -> Structure:
    """`packed` is not empty, and made for this text."""
    numbers = array("I", packed)
    length, blocks, headings, tasks = numbers[:4]
    parts = iter(numbers[4:])
    pairs = zip(parts, parts, strict=False)  # takes from `parts` as far as it is asked

    def spans(count: int) -> tuple[Span, ...]:
        return tuple(Span(next(parts), next(parts)) for _ in range(count))

    found_blocks = spans(blocks)
    found_headings = tuple((next(parts), next(parts)) for _ in range(headings))
    found_tasks = tuple((chr(next(parts)), Span(next(parts), next(parts))) for _ in range(tasks))
    return Structure(
        length,
        found_blocks,
        found_headings,
        found_tasks,
        tuple((text[start + 1 : end], Span(start, end)) for start, end in pairs),
    )


_OPEN = ord(" ")


def bounds(packed: bytes, operator: Operator) -> tuple[Sequence[int], Sequence[int]]:
    """Where the parts of a note begin and where they end that an operator looks at, in the order of their beginnings.

    `packed` is not empty. Items of lists may lie in one another; sections are without those below them.
    """
    numbers = array("I", packed)
    length, blocks, headings, tasks = numbers[:4]
    first = 4 + 2 * blocks
    if operator == "block":
        return numbers[4:first:2], numbers[5:first:2]
    last = first + 2 * headings
    if operator == "section":
        starts = numbers[first:last:2]
        if compat.SEARCH_TEXT_BEFORE_FIRST_HEADING_IS_A_SECTION and (not starts or starts[0]):
            starts.insert(0, 0)
        return starts, starts[1:] + array("I", [length])
    marks, starts, ends = (numbers[last + n : last + 3 * tasks : 3] for n in range(3))
    if operator == "task" or not tasks:
        return starts, ends
    wanted = marks.count(_OPEN)
    if wanted in (0, tasks):  # often all are in the same state
        return (starts, ends) if (wanted == tasks) == (operator == "task-todo") else ((), ())
    chosen = [(mark == _OPEN) == (operator == "task-todo") for mark in marks]
    return list(compress(starts, chosen)), list(compress(ends, chosen))
