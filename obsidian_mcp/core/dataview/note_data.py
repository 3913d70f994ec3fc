"""What a query needs of a note beyond its properties, links and tags: inline fields and list items (specs/dataview.md,
DV-04 to DV-06, DV-15 to DV-17), and the port that Dataview sees a vault through (DV-13)."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import regex

from obsidian_mcp.core.dataview.literals import SPACE, TAG, inline_value
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.expressions.values import Value, VaultView
from obsidian_mcp.core.note.parser import Note

_ITEM = re.compile(r"[\s>]*(\d+\.|\d+\)|\*|-|\+)\s*(\[.?\])?\s*(.*)$", re.ASCII | re.MULTILINE)
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
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
    """`fields` are those of the note: of its list items that are no tasks, then of its other lines."""

    fields: tuple[InlineField, ...]
    items: tuple[ListItemData, ...]


def pack_items(items: Iterable[ListItemData]) -> str:
    """List items as JSON for the index."""
    return _json(list(items))


def unpack_items(packed: str) -> tuple[ListItemData, ...]:
    """The list items that `pack_items` wrote."""
    return tuple(
        ListItemData._make(
            (
                *plain,
                tuple(tags),
                tuple(map(ItemLink._make, links)),
                tuple(map(InlineField._make, fields)),
                tuple(span),
            )
        )
        for *plain, tags, links, fields, span in json.loads(packed)
    )


def note_data(note: Note) -> NoteData:
    """Read the inline fields and list items of a parsed note."""
    lines = note.body.split("\n")
    # Of two items on one line, as in `- 1. text`, the plugin keeps the inner one.
    by_line = {item.line: item for item in _items(note, lines)}
    items = tuple(by_line[line] for line in sorted(by_line))
    fields = [field for item in items if item.status is None for field in item.fields]
    if "::" in note.body:
        item_lines = {
            line for item in items for line in range(item.line, item.line + item.line_count)
        }
        for section in note.sections:
            if (
                section.kind == "list"
                or note.body.find("::", section.span.start, section.span.end) < 0
            ):
                continue
            first = note.lines.line(section.span.start)
            last = note.lines.line(max(section.span.end - 1, section.span.start))
            for number in range(first, last + 1):
                if number not in item_lines:
                    fields += line_fields(lines[number])
    return NoteData(tuple(fields), items)


def with_inline_fields(
    properties: Mapping[str, Any], note: Note
) -> tuple[dict[str, Any], list[str]]:
    """The properties of a note joined with its inline fields, and the names of those; several make a list (DV-19)."""
    fields = note_data(note).fields
    found: dict[str, list[Any]] = {name: [value] for name, value in properties.items()}
    for name, text in fields:
        found.setdefault(name, []).append(inline_value(text, plain=True))
    joined = {name: values[0] if len(values) == 1 else values for name, values in found.items()}
    return joined, list(dict.fromkeys(name for name, _ in fields))


def _items(note: Note, lines: list[str]) -> Iterator[ListItemData]:
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
        above = bisect_right(list_starts, item.span.start) - 1
        heading = bisect_right(heading_lines, item.line) - 1
        yield ListItemData(
            text="\n".join(parts),
            symbol=first[1],
            status=status,
            line=item.line,
            line_count=end - item.line + 1,
            list_line=note.lines.line(list_starts[above])
            if above >= 0 and item.span.start < lists[above].end
            else -1,
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
    """Links of the text by line, on each line the plain ones first and then the embeds."""
    found: dict[int, list[ItemLink]] = {}
    for link in sorted(note.links, key=lambda link: link.embed):
        shown = ItemLink(link.target, link.display_text, link.embed)
        found.setdefault(note.lines.line(link.span.start), []).append(shown)
    return found


def _tags(text: str) -> tuple[str, ...]:
    """The tags of an item: words that begin with `#` and are a tag as a whole, so no `#part` of a link with display."""
    words = _HASH_WORD.findall(text) if "#" in text else ()
    return tuple(dict.fromkeys(word for word in words if _TAG.fullmatch(word)))


MAX_LINE = 32_768
"""Characters of the longest line that is looked at outside of lists."""
_CLOSING = {"[": "]", "(": ")"}
_OPENINGS = {opening: re.compile(rf"\{opening}((?:(?!::)[^\[\]()])*)::") for opening in _CLOSING}
"""A bracket and a key; a key holds no bracket."""
_ESCAPE_OR_BRACKET = re.compile(r"\\.|[\[\]()]", re.DOTALL)
_DATE = rf"{SPACE}*([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})"
_SHORTHANDS = {
    "created": re.compile("\u2795" + _DATE),
    "start": re.compile("\U0001f6eb" + _DATE),
    "scheduled": re.compile("[\u23f3\u231b]" + _DATE),
    "due": re.compile("(?:\U0001f4c5|\U0001f4c6|\U0001f5d3\ufe0f?)" + _DATE),
    "completion": re.compile("\u2705" + _DATE),
}
_EMOJI = r"[0-9#*]\ufe0f?\u20e3|(?!\p{ASCII})(?=\p{Emoji})[\u0000-\uffff]\ufe0f?"
"""Those that the plugin takes within a key: no pictures beyond U+FFFF, by a slip in its pattern."""
_KEY = regex.compile(
    rf"[^0-9A-Za-z_\p{{L}}]*+((?:{_EMOJI}|(?:[0-9A-Za-z\p{{L}}_/-]|{SPACE})++)*+)[_*~`]*"
)


class InlineField(NamedTuple):
    """A key and the text of its value, both as written."""

    key: str
    value: str


class _Found(NamedTuple):
    start: int
    end: int
    field: InlineField


def line_fields(line: str) -> list[InlineField]:
    """The fields of a line outside of lists: the bracketed ones, else the one that the whole line is (DV-04)."""
    if "::" not in line or len(line) > MAX_LINE:
        return []
    line = line.strip(SPACES)
    return bracketed_fields(line) or _full_line_fields(line)


def item_fields(text: str, *, is_task: bool) -> list[InlineField]:
    """The fields of a list item, its lines joined by spaces; only one that is no task may be a full line (DV-06)."""
    found = bracketed_fields(text, shorthands=True)
    return found if found or is_task else _full_line_fields(text)


def _full_line_fields(line: str) -> list[InlineField]:
    whole = full_line_field(line)
    return [whole] if whole else []


def full_line_field(line: str) -> InlineField | None:
    """The field that a whole line is: a plain key before its first `::` (DV-04)."""
    key, separator, value = line.partition("::")
    if not separator:
        return None
    found = _KEY.fullmatch(key.strip(SPACES))
    return InlineField(found[1], value.strip(SPACES)) if found else None


def bracketed_fields(line: str, *, shorthands: bool = False) -> list[InlineField]:
    """`[key:: value]`, `(key:: value)` and shorthands of a line; none touches an earlier one (DV-05, DV-06)."""
    found: list[_Found] = []
    if "::" in line:
        for opening in _CLOSING:
            found += _find_wrapped(line, opening)
    if shorthands and not line.isascii():
        for key, pattern in _SHORTHANDS.items():
            if date := pattern.search(line):
                found.append(_Found(date.start(), date.end(), InlineField(key, date[1])))
    found.sort(key=lambda candidate: candidate.start)
    kept: list[_Found] = []
    for candidate in found:
        if not kept or kept[-1].end < candidate.start:
            kept.append(candidate)
    return [candidate.field for candidate in kept]


def _find_wrapped(line: str, opening: str) -> list[_Found]:
    """The fields in brackets of one kind, in order, none inside another of its kind."""
    found: list[_Found] = []
    opened = _OPENINGS[opening]
    candidate = opened.search(line)
    brackets = _Brackets(line, opening, _CLOSING[opening]) if candidate else None
    while candidate and brackets:
        end = brackets.close(candidate.end())
        if end >= 0:
            value = line[candidate.end() : end].strip(SPACES)
            found.append(
                _Found(candidate.start(), end + 1, InlineField(candidate[1].strip(SPACES), value))
            )
        candidate = opened.search(line, candidate.start() + 1 if end < 0 else end + 1)
    return found


class _Brackets:
    """Where brackets of one kind close in a line, nesting counted; one after a backslash does not count."""

    def __init__(self, line: str, opening: str, closing: str) -> None:
        self._places: list[int] = []
        self._depths: list[int] = [0]
        self._reaching: dict[int, list[int]] = {}
        depth = 0
        for found in _ESCAPE_OR_BRACKET.finditer(line):
            if found[0] in (opening, closing):
                depth += 1 if found[0] == opening else -1
                self._reaching.setdefault(depth, []).append(len(self._places))
                self._places.append(found.start())
                self._depths.append(depth)

    def close(self, start: int) -> int:
        """The bracket that closes what was opened right before `start`; -1 where none does."""
        first = bisect_left(self._places, start)
        closers = self._reaching.get(self._depths[first] - 1, [])
        at = bisect_left(closers, first)
        return self._places[closers[at]] if at < len(closers) else -1


class RawField(NamedTuple):
    """A field as it stands in a note: a property with the value of its YAML, or the text of an inline field."""

    key: str
    value: Value
    inline: bool


class DataviewVault(VaultView, Protocol):
    """What Dataview asks of a vault beyond the shared view."""

    def expect(self, paths: Sequence[str]) -> None:
        """Say which notes the query is going to read, so that nothing is read of others."""

    def page_paths(self, folder: str = "") -> Sequence[str]:
        """The paths of the notes below a folder, or all, in order; also of those that the app excludes."""

    def field_keys(self) -> Collection[str]:
        """The keys of all properties and inline fields of the vault, in lower case."""

    def fields(self, path: str) -> Sequence[RawField]:
        """All fields of a note: its properties, those of its list items, those of its other lines."""

    def fields_of_key(self, path: str, key: str) -> Sequence[tuple[int, RawField]]:
        """The fields of a note whose key in lower case is `key`, with numbers that order all fields of the note."""

    def field_column(self, key: str) -> Iterable[tuple[RawField, Sequence[str]]]:
        """Every different field with this key, and notes of which it is the only one; none where few notes are read."""

    def list_items(self, path: str) -> Sequence[ListItemData]:
        """The list items of a note."""

    def text_tags(self, path: str) -> Sequence[str]:
        """Tags of the text alone, in its order, without `#`, repeated as written."""

    def bookmarked(self) -> frozenset[str]:
        """Paths of the files among the bookmarks, in groups too."""

    def text(self, path: str) -> str | None:
        """The text of a file that is no note, such as a CSV; None where it cannot be read as text."""
