"""The parts of one file that a search can read (QUERY-40 to QUERY-44).

`line:`, `block:`, `section:` and `task:` search parts of the text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, compress
from typing import Literal, NamedTuple

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.text.text import Span

if TYPE_CHECKING:
    from obsidian_mcp.core.note.parser import Note

DocumentKind = Literal["note", "canvas", "other"]
PartScope = Literal["block", "section", "section-tree", "task", "task-todo", "task-done"]
"""A kind of part. A `section-tree` includes the sections below it."""

_LENGTH_AND_COUNTS = 4
"""Numbers before the first column of a structure."""
_BLOCKS, _HEADINGS, _TASKS = range(3)
"""The kinds of parts that have columns of their own."""
_OPEN = ord(" ")
"""Mark of a task that is open."""
_ROOT_START, _ROOT_LEVEL = array("I", [0]), array("I", [7])
"""Start and level of the text before the first heading: below every level of a heading (1 to 6)."""

FindFirst = Callable[[str, int, int], int]
"""Finds where a text that a part must contain begins first in `text[start:end]`; -1 if nowhere."""


class Parts(NamedTuple):
    """Parts of one kind in the order of their starts; a list item may lie inside another one."""

    starts: Sequence[int]
    ends: Sequence[int]
    reach: Sequence[int]
    """The largest end up to and including each part."""


class Structure:
    """Where the parts of one text are, in code points.

    The index stores it beside the text.
    """

    __slots__ = ("_parts", "numbers")

    def __init__(self, numbers: array[int]) -> None:
        """`numbers` is the attribute of this name of an earlier structure."""
        self.numbers = numbers
        """The length of the text, the counts of blocks, headings and tasks, and then the columns:
        starts and ends of blocks, starts and levels of headings, starts, ends and marks of
        tasks."""
        self._parts: dict[PartScope, Parts] = {}

    @property
    def length(self) -> int:
        """The length of the text."""
        return self.numbers[0]

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Start and end of the blocks."""
        return self._list_spans(_BLOCKS)

    @property
    def tasks(self) -> list[tuple[tuple[int, int], int]]:
        """Start and end of the tasks, each with its mark as a code point."""
        return list(zip(self._list_spans(_TASKS), self._column(_TASKS, 2), strict=True))

    def _column(self, kind: int, n: int) -> array[int]:
        """Return column `n` of one kind of parts.

        Kind 0 has the starts (0) and ends (1) of top-level blocks and of list items, without the
        items below them (QUERY-41). Kind 1 has the starts (0) and levels (1) of the headings that
        begin sections. Kind 2 has the starts (0), ends (1) and marks as code points (2) of task
        items, without the items below them (QUERY-43).
        """
        numbers = self.numbers
        size = numbers[kind + 1]
        first = _LENGTH_AND_COUNTS + 2 * sum(numbers[1 : kind + 1]) + n * size
        return numbers[first : first + size]

    def _list_spans(self, kind: int) -> list[tuple[int, int]]:
        return list(zip(self._column(kind, 0), self._column(kind, 1), strict=True))

    def parts(self, scope: PartScope) -> Parts:
        """Return the parts of one kind (QUERY-41 to QUERY-43)."""
        if scope not in self._parts:
            starts, ends = self._edges(scope)
            self._parts[scope] = Parts(
                starts, ends, ends if scope == "section" else list(accumulate(ends, max))
            )
        return self._parts[scope]

    def _edges(self, scope: PartScope) -> Sequence[Sequence[int]]:
        match scope:
            case "block":
                return self._column(_BLOCKS, 0), self._column(_BLOCKS, 1)
            case "section":
                return self._sections()
            case "section-tree":
                return self._section_trees()
        edges = self._column(_TASKS, 0), self._column(_TASKS, 1)
        if scope == "task":
            return edges
        chosen = [(mark == _OPEN) == (scope == "task-todo") for mark in self._column(_TASKS, 2)]
        return [list(compress(column, chosen)) for column in edges]

    def _sections(self) -> tuple[array[int], array[int]]:
        """Return the starts and ends of the sections, each from a heading to the next one.

        See QUERY-42.
        """
        starts = self._column(_HEADINGS, 0)
        if not starts or starts[0]:
            # an empty text is one empty section, as it is one empty line
            starts = _ROOT_START + starts
        ends = starts[1:]
        if starts:
            ends.append(self.numbers[0])
        return starts, ends

    def _section_trees(self) -> tuple[array[int], array[int]]:
        """Return the starts and ends of the sections with those below them (QUERY-42).

        A section ends at the next heading that is not below its own.
        """
        starts, ends = self._sections()
        levels = self._column(_HEADINGS, 1)
        if len(levels) < len(starts):
            levels = _ROOT_LEVEL + levels
        open_headings: list[tuple[int, int]] = []
        """Level and start of later headings that can end a section."""
        for n in range(len(starts) - 1, -1, -1):
            while open_headings and open_headings[-1][0] > levels[n]:
                open_headings.pop()
            ends[n] = open_headings[-1][1] if open_headings else self.numbers[0]
            open_headings.append((levels[n], starts[n]))
        return starts, ends


def structure_of(note: Note) -> Structure:
    """Return the structure of a parsed note."""
    blocks, headings, tasks = _blocks(note), note.outline, list(note.tasks)
    counts = len(note.body), len(blocks), len(headings), len(tasks)
    columns = (
        [span.start for span in blocks],
        [span.end for span in blocks],
        [heading.span.start for heading in headings],
        [heading.level for heading in headings],
        [item.span.start for item in tasks],
        [item.span.end for item in tasks],
        [ord(item.mark or " ") for item in tasks],
    )
    return Structure(array("I", chain(counts, *columns)))


def structure_of_pages(starts: Sequence[int], length: int) -> Structure:
    """Return the structure of a text of pages, each of which is one block and one section."""
    ends = [*starts[1:], length] if starts else []
    count = len(starts)
    counts = length, count, count, 0
    return Structure(array("I", chain(counts, starts, ends, starts, [1] * count)))


def _blocks(note: Note) -> list[Span]:
    items, at = note.list_items, 0
    spans = []
    for section in note.sections:
        if section.kind != "list":
            spans.append(section.span)
            continue
        while at < len(items) and items[at].span.start < section.span.start:
            at += 1
        while at < len(items) and items[at].span.start < section.span.end:
            spans.append(items[at].span)
            at += 1
    return spans


def parts_within(
    parts: Parts, text: str, within: tuple[int, int], must: FindFirst, place: int
) -> Iterator[tuple[int, int]]:
    """Yield start and end of the parts in which `must` begins, as far as they lie `within` the
    text.

    Line ends are left out. `place` is where `must` begins first. The place of the next match tells
    which part can be the next, so parts without a match are skipped at once.
    """
    start, end = within
    starts, ends, reach = parts
    if not text and starts:
        yield 0, 0
        return
    at = bisect_right(reach, place)
    end = min(end, reach[-1]) if starts else start
    while at < len(starts) and starts[at] < end:
        low = max(starts[at], start)
        high = trim_line_end(text, low, min(ends[at], end))
        if place < low and (place := must(text, low, end)) < 0:
            return
        if place < high:
            yield low, high
        at = at + 1 if place < high else max(at + 1, bisect_right(reach, place))


def lines_within(
    text: str, within: tuple[int, int], must: FindFirst, place: int
) -> Iterator[tuple[int, int]]:
    """Yield start and end of the lines in which `must` begins, as far as they lie `within` the
    text.

    Line ends are left out. `place` is where `must` begins first (QUERY-40).
    """
    start, end = within
    while place >= 0:
        start = max(start, text.rfind("\n", start, place) + 1)
        stop = text.find("\n", place, end)
        stop = end if stop < 0 else stop
        yield start, trim_line_end(text, start, stop)
        start = stop + 1
        place = must(text, start, end) if start <= end else -1


def trim_line_end(text: str, start: int, end: int) -> int:
    """Return the end of `text[start:end]` without an LF or CRLF at its end."""
    if end > start and text[end - 1] == "\n":
        end -= 1
    if end > start and text[end - 1] == "\r":
        end -= 1
    return end


# Files


@dataclass(eq=False)
class Document:
    """One file, parsed from its text.

    A matcher reads only the attributes that the query needs, and the text last, because the index
    can answer for the others without parsing.
    """

    path: str
    """From the root of the vault, in NFC as what is looked for in it, also where a file has a twin
    (NAME-06)."""
    text: str
    """The body with its frontmatter; of a canvas the text of its cards. Spans count its code
    points."""
    kind: DocumentKind = "note"
    """An `other` file has only a path: its text is never read."""

    @cached_property
    def note(self) -> Note:
        """Return the parsed text."""
        # Loaded here: the index answers most searches without the parser.
        from obsidian_mcp.core.note.parser import parse

        return parse(self.text)

    @cached_property
    def structure(self) -> Structure:
        """The parts of `text`."""
        return structure_of(self.note)

    @cached_property
    def tags(self) -> Sequence[str]:
        """All tags of the text and of the properties, with or without a leading `#`."""
        return self.note.all_tags

    @cached_property
    def text_tags(self) -> Sequence[tuple[str, Span]]:
        """The tags of the text in their order, without `#`, and where they are."""
        return [(tag.name, tag.span) for tag in self.note.tags]

    @cached_property
    def properties(self) -> Mapping[str, object]:
        """The frontmatter as parsed: text, numbers, booleans, None, lists and mappings of these."""
        return self.note.properties if self.kind == "note" else {}

    @property
    def property_places(self) -> Iterable[tuple[str, object, Span]]:
        """Name, value and place of the properties in the text, in their order."""
        spans = self.note.frontmatter.spans if self.note.frontmatter else {}
        return [(name, value, spans[name]) for name, value in self.properties.items()]
