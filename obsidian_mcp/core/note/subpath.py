"""Resolve a link's subpath in a note: headings, blocks, footnotes (semantics 2.1 to 2.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.text.call import checked
from obsidian_mcp.core.text.text import Span, printable

from .elements import Heading, NamedPart

if TYPE_CHECKING:
    from .parser import Note

_SPACED = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\r\n]")
_LINK_BREAKING = re.compile(r"%%|\[\[|\]\]|[:#|^\\\r\n]")
_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+\Z")
_FOOTNOTE = re.compile(r"\[\^([^\s\]]+)\]\Z")


class SubpathTarget(NamedTuple):
    """The target of a subpath: a whole section with its heading, or a block (`heading` is None)."""

    span: Span
    heading: Heading | None


def heading_key(text: str) -> str:
    """Return the form in which headings and the parts of a subpath compare (the app's
    `stripHeading`)."""
    return " ".join(_SPACED.sub(" ", printable(text)).split()).lower()


def heading_for_link(text: str) -> str:
    """Return a heading's text as it is written into a link (the app's `stripHeadingForLink`)."""
    return " ".join(_LINK_BREAKING.sub(" ", text).split())


def segments(subpath: str) -> list[str]:
    """Return the parts of a subpath between the `#`, without those that are blank."""
    return [part for part in subpath.split("#") if part.strip()]


def heading_chain(headings: Iterable[tuple[int, str]], parts: Sequence[str]) -> list[int] | None:
    """Return which headings, given by level and key, the parts of a subpath name; None without one.

    Each heading is of a deeper level than the one before (semantics 2.2).
    """
    keys = [heading_key(part) for part in parts]
    chain: list[int] = []
    deepest = 0
    for number, (level, key) in enumerate(checked(headings)):
        if level > deepest and key == keys[len(chain)]:
            chain.append(number)
            deepest = level
            if len(chain) == len(keys):
                return chain
    return None


def resolve_subpath(parsed: Note, subpath: str) -> SubpathTarget | None:
    """Return the place that `#Heading`, `#A#B`, `#^id` or `#[^note]` refers to in a note.

    Return None without one.

    An empty subpath is the whole note. Of equal headings the first counts, and each further heading
    of a chain must be of a deeper level than the one before (semantics 2.2).
    """
    parts = segments(subpath)
    if not parts:
        return SubpathTarget(Span(0, len(parsed.body)), None)
    last = parts[-1].strip()
    if _BLOCK_ID.match(last):
        key = last[1:].lower()
        blocks = [block for block in checked(parsed.block_ids) if block.id.lower() == key]
        return SubpathTarget(blocks[-1].span, None) if blocks else None
    if footnote := _FOOTNOTE.match(last):
        notes = [note for note in parsed.footnotes if note.id == footnote[1]]
        return SubpathTarget(notes[0].span, None) if notes else None
    chain = heading_chain(
        ((heading.level, heading_key(heading.text)) for heading in parsed.outline), parts
    )
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
    """Return the span from a heading to the next one of the same or a higher rank."""
    start = heading.span.start
    following = (
        other_heading.span.start
        for other_heading in parsed.outline
        if other_heading.span.start > start and other_heading.level <= heading.level
    )
    return Span(start, next(following, len(parsed.body)))
