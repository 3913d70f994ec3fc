"""Resolve a link's subpath in a note: headings, blocks, footnotes (semantics 2.1 to 2.4)."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.text.text import Span

from .elements import Heading, NamedPart

if TYPE_CHECKING:
    from .parser import Note

_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+\Z")
_FOOTNOTE = re.compile(r"\[\^([^\s\]]+)\]\Z")


class SubpathTarget(NamedTuple):
    """The target of a subpath: a whole section with its heading, or a block (`heading` is None)."""

    span: Span
    heading: Heading | None


def segments(subpath: str) -> list[str]:
    """Return the parts of a subpath between the `#`, without those that are blank."""
    return [part for part in subpath.split("#") if part.strip()]


def resolve_subpath(parsed: Note, subpath: str) -> SubpathTarget | None:
    """Return the place that `#Heading`, `#A#B`, `#^id` or `#[^note]` refers to in a note.

    Return None without one.

    An empty subpath is the whole note. Of equal headings and footnotes the first counts, of blocks
    the last (semantics 2.2 to 2.4).
    """
    parts = segments(subpath)
    if not parts:
        return SubpathTarget(Span(0, len(parsed.body)), None)
    last = parts[-1].strip()
    if _BLOCK_ID.match(last):
        key = last[1:].lower()
        block = parsed.blocks_by_id.get(key)
        return SubpathTarget(block, None) if block is not None else None
    if footnote := _FOOTNOTE.match(last):
        definition = parsed.definitions_by_id.get(footnote[1])
        return SubpathTarget(definition, None) if definition is not None else None
    chain = parsed.heading_index.chain(parts)
    if chain is None:
        return None
    heading = parsed.outline[chain[-1]]
    return SubpathTarget(section_of(parsed, heading), heading)


def id_span(body: str, block: NamedPart) -> Span | None:
    """Return where the id of a block is written.

    It is at the end of one of the block's lines, or on a line of its own below the block.
    """
    written = re.compile(rf"(?:^|(?<=\s))\^({re.escape(block.id)})[ \t]*\r?$", re.MULTILINE)
    match = written.search(body, block.span.start, block.span.end)
    match = match or written.search(body, block.span.end)
    return Span(*match.span(1)) if match else None


def section_of(parsed: Note, heading: Heading) -> Span:
    """Return the span from a heading of the outline to the next one of the same or a higher
    rank."""
    start = heading.span.start
    number = bisect_left(parsed.outline, start, key=lambda other: other.span.start)
    return Span(start, parsed.section_ends[number])
