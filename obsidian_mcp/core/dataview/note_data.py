"""What a query needs of a note's text beyond its properties, links and tags (DV-15 to DV-19).

These are inline fields and list items.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import regex

from obsidian_mcp.core.dataview.characters import SPACE, TAG
from obsidian_mcp.core.dataview.inline_fields import InlineField, item_fields, line_fields
from obsidian_mcp.core.dataview.literals import inline_value
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.note.parser import Note

_ITEM = re.compile(r"[\s>]*(\d+\.|\d+\)|\*|-|\+)\s*(\[.?\])?\s*(.*)$", re.ASCII | re.MULTILINE)
_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
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


class NoteData(NamedTuple):
    """The inline fields and list items of a note."""

    fields: tuple[InlineField, ...]
    """Those of the note: of its list items that are no tasks, then of its other lines."""
    items: tuple[ListItemData, ...]


def pack_items(items: Iterable[ListItemData]) -> str:
    """Return list items as JSON for the index."""
    return _dump(list(items))


def unpack_items(packed: str) -> tuple[ListItemData, ...]:
    """Return the list items that `pack_items` wrote."""
    return tuple(map(_unpack_item, json.loads(packed)))


def _unpack_item(packed: list[Any]) -> ListItemData:
    *plain, tags, links, fields, span = packed
    return ListItemData._make(
        (
            *plain,
            tuple(tags),
            tuple(map(ItemLink._make, links)),
            tuple(map(InlineField._make, fields)),
            tuple(span),
        )
    )


def read_note_data(note: Note) -> NoteData:
    """Return the inline fields and list items of a parsed note."""
    lines = note.body.split("\n")
    # Of two items on one line, as in `- 1. text`, the plugin keeps the inner one.
    by_line = {item.line: item for item in _items(note, lines)}
    items = tuple(by_line[line] for line in sorted(by_line))
    fields = [field for item in items if item.status is None for field in item.fields]
    if "::" in note.body:
        fields += _fields_outside_lists(note, lines, items)
    return NoteData(tuple(fields), items)


def _fields_outside_lists(
    note: Note, lines: list[str], items: tuple[ListItemData, ...]
) -> Iterator[InlineField]:
    item_lines = {line for item in items for line in range(item.line, item.line + item.line_count)}
    for section in note.sections:
        start, end = section.span
        if section.kind == "list" or note.body.find("::", start, end) < 0:
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
    fields = read_note_data(note).fields
    by_name: dict[str, list[Any]] = {name: [value] for name, value in properties.items()}
    for name, text in fields:
        by_name.setdefault(name, []).append(inline_value(text, plain=True))
    joined = {name: values[0] if len(values) == 1 else values for name, values in by_name.items()}
    return joined, list(dict.fromkeys(name for name, _ in fields))


def _items(note: Note, lines: list[str]) -> Iterator[ListItemData]:
    """Yield the items of a note's lists as Dataview has them.

    The text of an item is that of its lines without their indentation; for tags and fields they
    count as one line.
    """
    if not note.list_items:
        return
    links = _links_by_line(note)
    lists = [section.span for section in note.sections if section.kind == "list"]
    list_starts = [span.start for span in lists]
    heading_lines = [heading.line for heading in note.outline]
    for item in note.list_items:
        first = _ITEM.match(lines[item.line])
        if first is None:
            continue
        end = note.lines.line(item.span.end)
        parts = [part.strip(SPACES) for part in (first[3], *lines[item.line + 1 : end + 1])]
        joined = " ".join(parts)
        status = item.mark or None
        list_at = bisect_right(list_starts, item.span.start) - 1
        is_in_list = list_at >= 0 and item.span.start < lists[list_at].end
        heading = bisect_right(heading_lines, item.line) - 1
        yield ListItemData(
            text="\n".join(parts),
            symbol=first[1],
            status=status,
            line=item.line,
            line_count=end - item.line + 1,
            list_line=note.lines.line(list_starts[list_at]) if is_in_list else -1,
            parent=item.parent if item.parent >= 0 and item.parent != item.line else None,
            heading=note.outline[heading].text if heading >= 0 else None,
            block_id=item.id,
            tags=_tags(joined),
            links=tuple(link for line in range(item.line, end + 1) for link in links.get(line, ())),
            fields=tuple(item_fields(joined, is_task=status is not None)),
            span=(*_place(note, item.span.start), *_place(note, item.span.end)),
        )


def _place(note: Note, offset: int) -> tuple[int, int]:
    return note.lines.column_utf16(offset), note.lines.utf16(offset)


def _links_by_line(note: Note) -> dict[int, list[ItemLink]]:
    """Return the links of the text by line, on each line the plain ones first, then the embeds."""
    by_line: dict[int, list[ItemLink]] = {}
    for link in sorted(note.links, key=lambda link: link.embed):
        item_link = ItemLink(link.target, link.display_text, link.embed)
        by_line.setdefault(note.lines.line(link.span.start), []).append(item_link)
    return by_line


def _tags(text: str) -> tuple[str, ...]:
    """Return the tags of an item: words that begin with `#` and are a tag as a whole.

    So the `#part` of a link with a display is none.
    """
    words = _HASH_WORD.findall(text) if "#" in text else ()
    return tuple(dict.fromkeys(word for word in words if _TAG.fullmatch(word)))
