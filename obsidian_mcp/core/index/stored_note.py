"""What the index stores of one file in one deflated piece: its text, and where its parts are.

A piece begins with its head, which is short: the fields of the full-text index, the structure, the
headings and the list items. The text follows. So the head can be inflated without the text
(specs/index.md, INDEX-08).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, chain

from obsidian_mcp.core.note.item_place import ItemPlace
from obsidian_mcp.core.text.packed_numbers import (
    from_gaps,
    from_turns,
    pack_numbers,
    to_gaps,
    to_steps,
    to_turns,
    unpack_numbers,
)

from .facts import Facts, HeadingFact
from .search_document import SHORT_FIELDS

_FIELD_END = "\0"
"""`analysis.spread` leaves no control characters in a field."""
_HEADING_COLUMNS = 3
_ITEM_COLUMNS = 6
_NONE = 0
"""In a column in which other values are greater by one."""


@dataclass(frozen=True, slots=True)
class PlainPiece:
    """A piece that is not deflated."""

    data: bytes
    head: int
    """Bytes of its head."""


def write_piece(facts: Facts) -> PlainPiece:
    """Return the piece of a file. Raises: OverflowError for a number that no piece can hold."""
    content, headings, items = facts.content, facts.headings, facts.list_items
    numbers = pack_numbers(
        chain(
            (len(headings), len(items)),
            [heading.level for heading in headings],
            [len(heading.text) for heading in headings],
            to_steps([heading.start for heading in headings]),
            to_gaps([(item.start, item.end) for item in items]),
            to_turns(_NONE if item.parent is None else item.parent + 1 for item in items),
            to_turns(item.list_line + 1 for item in items),
            [_NONE if item.status is None else ord(item.status) + 1 for item in items],
            [len(item.block_id or "") for item in items],
        )
    )
    texts = [heading.text for heading in headings] + [item.block_id or "" for item in items]
    lengths = _pack_length(content.structure), _pack_length(numbers)
    parts = "".join((*lengths, content.structure, numbers, *texts))
    head = _FIELD_END.join([*content.short_fields, parts]).encode("utf-8", "surrogatepass")
    return PlainPiece(head + content.text.encode(), len(head))


class NoteHead:
    """The head of a piece; each part is read when it is needed."""

    __slots__ = ("_parts", "_structure_end", "_texts_start", "short_fields")

    def __init__(self, head: bytes) -> None:
        decoded = head.decode("utf-8", "surrogatepass")
        *self.short_fields, parts = decoded.split(_FIELD_END, len(SHORT_FIELDS))
        """In the order of `SHORT_FIELDS`."""
        structure_high, structure_low, numbers_high, numbers_low = map(ord, parts[:_LENGTHS])
        self._parts = parts
        self._structure_end = _LENGTHS + (structure_high << 16) + structure_low
        self._texts_start = self._structure_end + (numbers_high << 16) + numbers_low

    @property
    def structure(self) -> str:
        """The packed `Structure` (core/query/document.py); empty where it is not known."""
        return self._parts[_LENGTHS : self._structure_end]

    @property
    def headings(self) -> tuple[HeadingFact, ...]:
        """The headings of the file in their order."""
        numbers = unpack_numbers(self._parts[self._structure_end : self._texts_start])
        if not (count := numbers[0]):
            return ()
        ends = list(accumulate(numbers[2 + count : 2 + 2 * count], initial=self._texts_start))
        starts = accumulate(numbers[2 + 2 * count : 2 + 3 * count])
        return tuple(
            [
                HeadingFact(numbers[2 + n], self._parts[ends[n] : ends[n + 1]], start)
                for n, start in enumerate(starts)
            ]
        )

    @property
    def list_items(self) -> tuple[ItemPlace, ...]:
        """Where the list items of the file are."""
        numbers = unpack_numbers(self._parts[self._structure_end : self._texts_start])
        heading_count, count = numbers[:2]
        if not count:
            return ()
        first = 2 + heading_count * _HEADING_COLUMNS
        parents, lists, marks, id_lengths = (
            numbers[first + n * count : first + (n + 1) * count] for n in range(2, _ITEM_COLUMNS)
        )
        starts, ends = from_gaps(numbers[first : first + 2 * count])
        ids_start = self._texts_start + sum(numbers[2 + heading_count : 2 + 2 * heading_count])
        ids = list(accumulate(id_lengths, initial=ids_start))
        return tuple(
            ItemPlace(
                start,
                end,
                None if parent == _NONE else parent - 1,
                list_line - 1,
                None if mark == _NONE else chr(mark - 1),
                self._parts[id_start:id_end] or None,
            )
            for start, end, parent, list_line, mark, id_start, id_end in zip(
                starts,
                ends,
                from_turns(parents),
                from_turns(lists),
                marks,
                ids,
                ids[1:],
                strict=False,
            )
        )


_LENGTHS = 4
"""Characters of the lengths of structure and numbers; each takes two."""


def _pack_length(text: str) -> str:
    return chr(len(text) >> 16) + chr(len(text) & 0xFFFF)
