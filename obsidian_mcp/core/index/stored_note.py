"""What the index stores of one file in one compressed piece: its text, and where its parts are.

A piece begins with its head, which is short: the fields of the full-text index, and the parts. The
text follows. So the head can be decompressed without the text (specs/index.md, INDEX-08).

The parts are spans of the text. Each is stored once, with a number that says what it is: a list
item with a box is a block, an item and a task (INDEX-52).
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from itertools import accumulate, chain, compress

from obsidian_mcp.core.note.item_place import ItemPlace
from obsidian_mcp.core.text.packed_numbers import (
    from_gaps,
    from_turns,
    pack_numbers,
    to_gaps,
    to_turns,
    unpack_numbers,
)

from .facts import Facts, HeadingFact
from .search_document import SHORT_FIELDS

_FIELD_END = "\0"
"""`analysis.spread` leaves no control characters in a field."""
_UNKNOWN = 0
"""In place of the length of a text, which is greater by one: the structure is not known."""
_NONE = 0
"""In a column in which other values are greater by one."""
_BLOCK, _ITEM, _TASK, _NAMED = 1, 2, 4, 8
"""Bits of what a part is. A named part is a list item with a block id."""
_LEVEL = 16
"""What a part is has the level of a heading, greater by one, so many times."""
_LAST_LEVEL = 6
_COUNTS = 2
"""Numbers before the first column: the length of the text, and how many parts there are."""


@dataclass(frozen=True, slots=True)
class PlainPiece:
    """A piece that is not compressed."""

    data: bytes
    head: int
    """Bytes of its head."""


def write_piece(facts: Facts) -> PlainPiece:
    """Return the piece of a file. Raises: OverflowError for a number that no piece can hold."""
    content, headings, items = facts.content, facts.headings, facts.list_items
    kinds, marks = _collect_parts(facts)
    spans = sorted(kinds)
    ids = [item.block_id for item in items if item.block_id is not None]
    numbers = pack_numbers(
        chain(
            (_UNKNOWN if content.structure is None else content.structure.length + 1, len(spans)),
            to_gaps(spans),
            [kinds[span] for span in spans],
            to_turns(_NONE if item.parent is None else item.parent + 1 for item in items),
            to_turns(item.list_line + 1 for item in items),
            [marks[span] for span in spans if kinds[span] & _TASK],
            [len(heading.text) for heading in headings],
            map(len, ids),
        )
    )
    texts = [heading.text for heading in headings] + ids
    parts = "".join((_pack_length(numbers), numbers, *texts))
    head = _FIELD_END.join([*content.short_fields, parts]).encode("utf-8", "surrogatepass")
    return PlainPiece(head + content.text.encode(), len(head))


def _collect_parts(facts: Facts) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """Return what each span of a file is, and the marks of its tasks."""
    kinds: dict[tuple[int, int], int] = {}
    marks: dict[tuple[int, int], int] = {}
    if (structure := facts.content.structure) is not None:
        kinds = dict.fromkeys(structure.blocks, _BLOCK)
        marks = dict(structure.tasks)
    for item in facts.list_items:
        span = item.start, item.end
        kinds[span] = kinds.get(span, 0) | (_ITEM if item.block_id is None else _ITEM | _NAMED)
        if item.status is not None:
            marks[span] = ord(item.status)
    for span in marks:
        kinds[span] = kinds.get(span, 0) | _TASK
    spans_by_start = {span[0]: span for span in kinds if kinds[span] & _BLOCK}
    for heading in facts.headings:
        if not 0 <= heading.level <= _LAST_LEVEL:
            raise OverflowError(f"No heading has level {heading.level}")
        span = spans_by_start.get(heading.start, (heading.start, heading.start))
        kinds[span] = kinds.get(span, 0) + (heading.level + 1) * _LEVEL
    return kinds, marks


class NoteHead:
    """The head of a piece; each part is read when it is needed."""

    def __init__(self, head: bytes) -> None:
        decoded = head.decode("utf-8", "surrogatepass")
        *self.short_fields, self._parts = decoded.split(_FIELD_END, len(SHORT_FIELDS))
        """In the order of `SHORT_FIELDS`."""
        high, low = map(ord, self._parts[:_LENGTH_CHARACTERS])
        self._texts_start = _LENGTH_CHARACTERS + (high << 16) + low
        self._packed = self._parts[_LENGTH_CHARACTERS : self._texts_start]

    @property
    def structure(self) -> array[int]:
        """The numbers of the `Structure` of the text; none where it is not known."""
        columns = _PartColumns(unpack_numbers(self._packed))
        if columns.numbers[0] == _UNKNOWN:
            return array("I")
        return columns.to_structure()

    @property
    def headings(self) -> tuple[HeadingFact, ...]:
        """The headings of the file in their order."""
        columns = _PartColumns(unpack_numbers(self._packed))
        ends = list(accumulate(columns.heading_lengths, initial=self._texts_start))
        texts = map(self._parts.__getitem__, map(slice, ends, ends[1:]))
        levels = columns.levels.replace(b"\0", b"").translate(_LESS_BY_ONE)
        return tuple(map(HeadingFact, levels, texts, compress(columns.starts, columns.levels)))

    @property
    def list_items(self) -> tuple[ItemPlace, ...]:
        """Where the list items of the file are."""
        columns = _PartColumns(unpack_numbers(self._packed))
        marks = iter(columns.marks)
        statuses = [chr(next(marks)) if kind & _TASK else None for kind in columns.kinds]
        ids_start = self._texts_start + sum(columns.heading_lengths)
        id_ends = list(accumulate(columns.id_lengths, initial=ids_start))
        ids = map(self._parts.__getitem__, map(slice, id_ends, id_ends[1:]))
        chosen = columns.kinds.translate(_ITEMS)
        spans = (columns.starts, columns.ends, columns.kinds, statuses)
        return tuple(
            [
                ItemPlace(
                    start,
                    end,
                    None if parent == _NONE else parent - 1,
                    list_line - 1,
                    status,
                    next(ids) if kind & _NAMED else None,
                )
                for start, end, kind, status, parent, list_line in zip(
                    *(compress(column, chosen) for column in spans),
                    columns.parents,
                    columns.lists,
                    strict=True,
                )
            ]
        )


class _PartColumns:
    """The columns of the numbers in a head."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        count = numbers[1]
        spans_end = _COUNTS + 2 * count
        self._spans = numbers[_COUNTS:spans_end]
        self.starts = list(accumulate(self._spans[:count]))
        self.kinds = bytes(numbers[spans_end : spans_end + count])
        item_count = self.kinds.translate(_ITEMS).count(1)
        self._lists_start = spans_end + count + item_count
        self._marks_start = self._lists_start + item_count
        lengths_start = self._marks_start + self.kinds.translate(_TASKS).count(1)
        self.levels = self.kinds.translate(_LEVELS)
        """The levels of all parts, greater by one; 0 of what is no heading."""
        ids_start = lengths_start + count - self.levels.count(0)
        self.marks = numbers[self._marks_start : lengths_start]
        self.heading_lengths = numbers[lengths_start:ids_start]
        self.id_lengths = numbers[ids_start:]

    @property
    def ends(self) -> list[int]:
        return from_gaps(self._spans)[1]

    @property
    def parents(self) -> list[int]:
        first = _COUNTS + 3 * len(self.kinds)
        return from_turns(self.numbers[first : self._lists_start])

    @property
    def lists(self) -> list[int]:
        return from_turns(self.numbers[self._lists_start : self._marks_start])

    def to_structure(self) -> array[int]:
        """Return the numbers of a `Structure`."""
        blocks, tasks = self.kinds.translate(_BLOCKS), self.kinds.translate(_TASKS)
        ends = self.ends
        levels = self.kinds.translate(_SECTION_LEVELS).replace(b"\0", b"")
        marks = self.marks
        counts = self.numbers[0] - 1, blocks.count(1), len(levels), len(marks)
        columns = (
            compress(self.starts, blocks),
            compress(ends, blocks),
            compress(self.starts, self.levels),
            levels,
            compress(self.starts, tasks),
            compress(ends, tasks),
            marks,
        )
        return array("I", chain(counts, *columns))


def _table(bit: int) -> bytes:
    """Return what translates the kinds of parts to 1 where they have a bit, and else to 0."""
    return bytes(int(bool(kind & bit)) for kind in range(256))


_BLOCKS, _ITEMS, _TASKS = map(_table, (_BLOCK, _ITEM, _TASK))
_LEVELS = bytes(kind // _LEVEL for kind in range(256))
_SECTION_LEVELS = bytes(max(level - 1, 1) if level else 0 for level in _LEVELS)
"""As `_LEVELS`, but the levels themselves; a page of a PDF is a section of level 1."""
_LESS_BY_ONE = bytes(max(level - 1, 0) for level in range(256))
_LENGTH_CHARACTERS = 2
"""Characters of the length of the numbers."""


def _pack_length(text: str) -> str:
    return chr(len(text) >> 16) + chr(len(text) & 0xFFFF)
