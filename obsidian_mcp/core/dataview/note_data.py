"""What a query needs of a note's text beyond its properties, links and tags (DV-15 to DV-19).

These are inline fields and list items.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import regex

from obsidian_mcp.core.dataview.characters import SPACE, TAG
from obsidian_mcp.core.dataview.inline_fields import InlineField, item_fields, line_fields
from obsidian_mcp.core.dataview.literals import inline_value
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.note.item_place import ItemPlace
from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.text.text import Lines

_ITEM = re.compile(r"[\s>]*(\d+\.|\d+\)|\*|-|\+)\s*(\[.?\])?\s*(.*)$", re.ASCII | re.MULTILINE)
_ITEM_MARK = re.compile(r"[\s>]*(?:\d+[.)]|[*+-])", re.ASCII)
"""The beginning of a line that `_ITEM` matches."""
_TAG = regex.compile(TAG)
_HASH_WORD = regex.compile(rf"""#[^{SPACE[1:-1]},;.:!?'"`()\[\]{{}}]+""")


class ItemLink(NamedTuple):
    """A link of a list item as its text has it; `display` is what a reader sees."""

    target: str
    display: str
    embed: bool


class ListItemData(NamedTuple):
    """A list item. Lines count from 0."""

    text: str
    """First line after marker and box, then its continuation lines, each trimmed."""
    symbol: str
    status: str | None
    """The character in the box of a task."""
    line: int
    line_count: int
    list_line: int
    """First line of its list, -1 where it stands in a quote or callout."""
    parent: int | None
    """Line of the parent item."""
    heading: str | None
    """Text of the heading above."""
    block_id: str | None
    tags: tuple[str, ...]
    links: tuple[ItemLink, ...]
    fields: tuple[InlineField, ...]
    span: tuple[int, int, int, int]
    """Column and offset of its start, column and offset of its end, in UTF-16 units."""


class LineLink(NamedTuple):
    """A link of a note's text, with its line."""

    line: int
    link: ItemLink


def find_item_places(note: Note) -> tuple[ItemPlace, ...]:
    """Return where the list items of a parsed note are, by line.

    Of two items on one line, as in `- 1. text`, the plugin keeps the inner one.
    """
    if not note.list_items:
        return ()
    lists = [section.span for section in note.sections if section.kind == "list"]
    list_starts = [span.start for span in lists]
    starts, length = note.lines.starts, len(note.body)
    by_line: dict[int, ItemPlace] = {}
    for item in note.list_items:
        line_start = starts[item.line]
        end = starts[item.line + 1] - 1 if item.line + 1 < len(starts) else length
        if _ITEM_MARK.match(note.body, line_start, end) is None:
            continue
        list_at = bisect_right(list_starts, item.span.start) - 1
        is_in_list = list_at >= 0 and item.span.start < lists[list_at].end
        by_line[item.line] = ItemPlace(
            *item.span,
            item.parent if item.parent >= 0 and item.parent != item.line else None,
            note.lines.line(list_starts[list_at]) if is_in_list else -1,
            item.mark or None,
            item.id,
        )
    return tuple(by_line[line] for line in sorted(by_line))


def read_items(
    text: str,
    places: Sequence[ItemPlace],
    headings: Sequence[tuple[int, str]],
    links: Iterable[LineLink] = (),
) -> tuple[ListItemData, ...]:
    """Return the list items of a note as Dataview has them, from its text and their places.

    `headings` are start and text of the headings that make sections. The text of an item is that of
    its lines without their indentation; for tags and fields they count as one line.
    """
    if not places:
        return ()
    numbers, lines = Lines(text), text.split("\n")
    links_by_line = _group_by_line(links)
    heading_lines = [numbers.line(start) for start, _ in headings]
    items = []
    for place in places:
        line, end = numbers.line(place.start), numbers.line(place.end)
        first = _ITEM.match(lines[line])
        if first is None:  # the text is not the one in which the places were found
            continue
        parts = [part.strip(SPACES) for part in (first[3], *lines[line + 1 : end + 1])]
        joined = " ".join(parts)
        heading = bisect_right(heading_lines, line) - 1
        item_lines = range(line, end + 1) if links_by_line else ()
        items.append(
            ListItemData(
                text="\n".join(parts),
                symbol=first[1],
                status=place.status,
                line=line,
                line_count=end - line + 1,
                list_line=place.list_line,
                parent=place.parent,
                heading=headings[heading][1] if heading >= 0 else None,
                block_id=place.block_id,
                tags=_tags(joined),
                links=tuple(link for at in item_lines for link in links_by_line.get(at, ())),
                fields=tuple(item_fields(joined, is_task=place.status is not None)),
                span=(*_place(numbers, place.start), *_place(numbers, place.end)),
            )
        )
    return tuple(items)


def read_note_items(note: Note) -> tuple[ListItemData, ...]:
    """Return the list items of a parsed note."""
    headings = [(heading.span.start, heading.text) for heading in note.outline]
    links = (
        LineLink(
            note.lines.line(link.span.start), ItemLink(link.target, link.display_text, link.embed)
        )
        for link in note.links
    )
    return read_items(note.body, find_item_places(note), headings, links)


def read_inline_fields(note: Note) -> tuple[InlineField, ...]:
    """Return the inline fields of a parsed note: of its list items that are no tasks, then of its
    other lines."""
    has_pairs = "::" in note.body
    if not has_pairs and note.body.isascii():
        return ()
    places = find_item_places(note)
    likely = [
        place
        for place in places
        if place.status is None and _may_have_fields(_whole_lines(note.body, place))
    ]
    fields = [field for item in read_items(note.body, likely, ()) for field in item.fields]
    if has_pairs:
        fields += _fields_outside_lists(note, places)
    return tuple(fields)


def _whole_lines(text: str, place: ItemPlace) -> str:
    """Return the lines in which an item stands, from the start of the first to the end of the
    last."""
    end = text.find("\n", place.end)
    return text[text.rfind("\n", 0, place.start) + 1 : end if end >= 0 else len(text)]


def _may_have_fields(text: str) -> bool:
    """Return whether a text has what every field has: a pair of colons, or an emoji."""
    return "::" in text or not text.isascii()


def _fields_outside_lists(note: Note, places: Sequence[ItemPlace]) -> Iterator[InlineField]:
    lines = note.body.split("\n")
    item_lines = {
        line
        for place in places
        for line in range(note.lines.line(place.start), note.lines.line(place.end) + 1)
    }
    for section in note.sections:
        start, end = section.span
        if section.kind == "list" or note.body.find("::", start, end) == -1:
            continue
        last = note.lines.line(max(end - 1, start))
        for number in range(note.lines.line(start), last + 1):
            if number not in item_lines:
                yield from line_fields(lines[number])


def with_inline_fields(
    properties: Mapping[str, Any], note: Note
) -> tuple[dict[str, Any], list[str]]:
    """Return the properties of a note joined with its inline fields, and their names (DV-19).

    A name with several values, in the frontmatter or the text, has a list of them. Dates and links
    stay texts.
    """
    fields = read_inline_fields(note)
    by_name: dict[str, list[Any]] = {name: [value] for name, value in properties.items()}
    for name, text in fields:
        by_name.setdefault(name, []).append(inline_value(text, plain=True))
    joined = {name: values[0] if len(values) == 1 else values for name, values in by_name.items()}
    return joined, list(dict.fromkeys(name for name, _ in fields))


def _place(lines: Lines, offset: int) -> tuple[int, int]:
    return lines.column_utf16(offset), lines.utf16(offset)


def _group_by_line(links: Iterable[LineLink]) -> dict[int, list[ItemLink]]:
    """Return the links of the text by line, on each line the plain ones first, then the embeds."""
    by_line: dict[int, list[ItemLink]] = {}
    for line, link in sorted(links, key=lambda placed: placed.link.embed):
        by_line.setdefault(line, []).append(link)
    return by_line


def _tags(text: str) -> tuple[str, ...]:
    """Return the tags of an item: words that begin with `#` and are a tag as a whole.

    So the `#part` of a link with a display is none.
    """
    words = _HASH_WORD.findall(text) if "#" in text else ()
    return tuple(dict.fromkeys(word for word in words if _TAG.fullmatch(word)))
