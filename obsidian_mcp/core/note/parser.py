"""Parse a note into what the app's metadata cache stores of it (specs/note.md), in time linear in its length."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.parser import Frontmatter
from obsidian_mcp.core.text.text import Lines, Span

from . import blocks, inline
from .elements import Area, Heading, ListItem, NamedPart, Section, Tag
from .links import Link, read_property


@dataclass(frozen=True)
class Note:
    """A parsed note. All lists are in document order; spans are code points of `body`."""

    body: str
    lines: Lines = field(repr=False, compare=False)
    frontmatter: Frontmatter | None
    sections: tuple[Section, ...]
    headings: tuple[Heading, ...]
    list_items: tuple[ListItem, ...]
    links: tuple[Link, ...]
    """Links and embeds of the text; `property_links` holds those of properties."""
    property_links: tuple[Link, ...]
    tags: tuple[Tag, ...]
    """Tags of the text; `all_tags` includes those of the properties."""
    block_ids: tuple[NamedPart, ...]
    footnotes: tuple[NamedPart, ...]
    footnote_refs: tuple[NamedPart, ...]
    areas: tuple[Area, ...]
    external_links: tuple[Span, ...]
    """Markdown links of the text that lead out of the vault, label and destination."""

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

    @property
    def all_tags(self) -> list[str]:
        """Return the app's `getAllTags`: tags of the properties, then of the text, with `#` and repeated as written."""
        return [*(frontmatter.tags(self.properties) or ()), *("#" + tag.name for tag in self.tags)]

    @property
    def aliases(self) -> list[str]:
        return frontmatter.aliases(self.properties) or []


def parse(text: str) -> Note:
    """Parse a note's text, without its byte order mark. Any text is valid: broken syntax is read as plain text."""
    properties = frontmatter.read(text)
    lines = Lines(text)
    first = 0
    sections: tuple[Section, ...] = ()
    property_links: tuple[Link, ...] = ()
    if properties is not None:
        first = lines.line(properties.block.span.end) + 1
        sections = (Section("yaml", None, properties.block.span),)
        if properties.values:
            property_links = tuple(_property_links(properties.values))
    found = blocks.read(text, lines.starts, first)
    within = inline.read(text, found.regions)
    return Note(
        body=text,
        lines=lines,
        frontmatter=properties,
        sections=sections + tuple(found.sections),
        headings=tuple(found.headings),
        list_items=tuple(found.list_items),
        links=tuple(within.links),
        property_links=property_links,
        tags=tuple(within.tags),
        block_ids=tuple(found.block_ids),
        footnotes=tuple(found.footnotes),
        footnote_refs=tuple(within.footnote_refs),
        areas=tuple(sorted(found.areas + within.areas, key=lambda area: area.span.start)),
        external_links=tuple(within.external_links),
    )


def _property_links(values: dict[str, Any]) -> Iterator[Link]:
    """Yield the links of the properties at any depth, in the order written (semantics 1.6)."""
    pending: list[tuple[str, Any]] = [(key, value) for key, value in reversed(values.items())]
    while pending:
        key, value = pending.pop()
        match value:
            case str():
                if link := read_property(key, value):
                    yield link
            case list():
                pending += [(f"{key}.{i}", value[i]) for i in reversed(range(len(value)))]
            case dict():
                pending += [(f"{key}.{name}", inner) for name, inner in reversed(value.items())]
