"""Parse a note into everything that the app's metadata cache stores about it (specs/note.md).

Pure and quick: a note of ordinary size takes well under a millisecond, and the time grows with a
note's length, whatever is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.block import locate_block
from obsidian_mcp.core.frontmatter.parser import Frontmatter
from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.text import Lines, Span

from . import blocks, inline
from .elements import Area, Heading, ListItem, NamedPart, Section, TextTag
from .headings import HeadingIndex, heading_key
from .links import Link, read_property


class Note:
    """A parsed note.

    Its blocks are read at once; its properties and inline elements when they are first used. All
    lists are in document order; spans are code points of `body`.
    """

    def __init__(self, body: str) -> None:
        self.body = body
        self.lines = Lines(body)
        properties = locate_block(body)
        first = 0 if properties is None else self.lines.line(properties.span.end) + 1
        self._blocks = elements = blocks.read_blocks(body, self.lines.starts, first)
        yaml = () if properties is None else (Section("yaml", None, properties.span),)
        self.sections = (*yaml, *elements.sections)
        self.headings = tuple(elements.headings)
        self.list_items = tuple(elements.list_items)
        self.block_ids = tuple(elements.block_ids)
        self.footnotes = tuple(elements.footnotes)
        self.tables = tuple(elements.tables)

    @cached_property
    def frontmatter(self) -> Frontmatter | None:
        return frontmatter.read_frontmatter(self.body)

    @cached_property
    def _inline(self) -> inline.Inlines:
        return inline.read_inlines(self.body, self._blocks.regions)

    @property
    def links(self) -> Sequence[Link]:
        """Return the links and embeds of the text; `property_links` are those of properties."""
        return self._inline.links

    @cached_property
    def property_links(self) -> tuple[Link, ...]:
        return tuple(
            link for key, value in self.properties.items() for link in _property_links(key, value)
        )

    @property
    def tags(self) -> Sequence[TextTag]:
        """Return the tags of the text; `all_tags` includes those of the properties."""
        return self._inline.tags

    @property
    def footnote_refs(self) -> Sequence[NamedPart]:
        return self._inline.footnote_refs

    @cached_property
    def areas(self) -> tuple[Area, ...]:
        return tuple(
            sorted(self._blocks.areas + self._inline.areas, key=lambda area: area.span.start)
        )

    @property
    def external_links(self) -> Sequence[Span]:
        """Return the Markdown links of the text that lead out of the vault, label and
        destination."""
        return self._inline.external_links

    @property
    def properties(self) -> dict[str, Any]:
        """Return the properties of the frontmatter; empty if there are none or it is broken."""
        values = self.frontmatter.values if self.frontmatter else None
        return values if values is not None else {}

    @property
    def tasks(self) -> Iterator[ListItem]:
        return (item for item in self.list_items if item.mark is not None)

    @cached_property
    def outline(self) -> tuple[Heading, ...]:
        """Return the headings that start sections: those at the top level (semantics 2.1)."""
        return tuple(heading for heading in self.headings if not heading.nested)

    @cached_property
    def heading_index(self) -> HeadingIndex:
        """Return the headings of the outline, by number in it."""
        return HeadingIndex((heading.level, heading_key(heading.text)) for heading in self.outline)

    @cached_property
    def section_ends(self) -> list[int]:
        """Return where the section of each heading of the outline ends: at the next one of the same
        or a higher rank."""
        ends = [len(self.body)] * len(self.outline)
        open_sections: list[int] = []
        for number, heading in enumerate(check_each(self.outline)):
            while open_sections and self.outline[open_sections[-1]].level >= heading.level:
                ends[open_sections.pop()] = heading.span.start
            open_sections.append(number)
        return ends

    @cached_property
    def blocks_by_id(self) -> dict[str, Span]:
        """Return the blocks by their ids in lower case: of equal ids the last block (semantics
        2.3)."""
        return {block.id.lower(): block.span for block in check_each(self.block_ids)}

    @cached_property
    def definitions_by_id(self) -> dict[str, Span]:
        """Return the definitions of footnotes by id: of equal ids the first (semantics 2.4)."""
        return {note.id: note.span for note in check_each(self.footnotes[::-1])}

    @property
    def all_tags(self) -> list[str]:
        """Return the app's `getAllTags`: tags of the properties, then of the text.

        They have a `#`, and are repeated as written.
        """
        return [*(frontmatter.tags(self.properties) or ()), *("#" + tag.name for tag in self.tags)]

    @property
    def aliases(self) -> list[str]:
        return frontmatter.aliases(self.properties) or []


parse = Note
"""Parses a note's text, without its byte order mark.

Any text is valid: broken syntax is read as plain text.
"""


def _property_links(key: str, value: Any) -> Iterator[Link]:
    """Yield the links of a property at any depth, in the order written (semantics 1.6)."""
    match value:
        case str():
            if link := read_property(key, value):
                yield link
        case list():
            for number, item in enumerate(value):
                yield from _property_links(f"{key}.{number}", item)
        case dict():
            for name, inner in value.items():
                yield from _property_links(f"{key}.{name}", inner)
