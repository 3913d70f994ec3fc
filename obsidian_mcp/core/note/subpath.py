"""Resolve a link's subpath in a note: headings, blocks, footnotes (semantics 2.1 to 2.4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

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
    """Return a heading's text as it is written into a new link (the app's
    `stripHeadingForLink`)."""
    return " ".join(_LINK_BREAKING.sub(" ", text).split())


def segments(subpath: str) -> list[str]:
    """Return the parts of a subpath between the `#`, without those that are blank."""
    return [part for part in subpath.split("#") if part.strip()]


def heading_chain(headings: Iterable[tuple[int, str]], parts: Sequence[str]) -> list[int] | None:
    """The headings, by level and key, that the parts of a subpath name, each deeper than the last;
    or None (2.2)."""
    wanted = [heading_key(part) for part in parts]
    found: list[int] = []
    deepest = 0
    for number, (level, key) in enumerate(headings):
        if level > deepest and key == wanted[len(found)]:
            found.append(number)
            deepest = level
            if len(found) == len(wanted):
                return found
    return None


def resolve_subpath(parsed: Note, subpath: str) -> SubpathTarget | None:
    """The place of `#Heading`, `#A#B`, `#^id` or `#[^note]` in a note, the whole for none; None if
    not there."""
    parts = segments(subpath)
    if not parts:
        return SubpathTarget(Span(0, len(parsed.body)), None)
    last = parts[-1].strip()
    if _BLOCK_ID.match(last):
        found = [block for block in parsed.block_ids if block.id.lower() == last[1:].lower()]
        return SubpathTarget(found[-1].span, None) if found else None
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
    """Return where the id of a block is written: at the end of one of its lines, or on a line of
    its own below it."""
    written = re.compile(rf"(?:^|(?<=\s))\^({re.escape(block.id)})[ \t]*\r?$", re.MULTILINE)
    found = written.search(body, block.span.start, block.span.end) or written.search(
        body, block.span.end
    )
    return Span(*found.span(1)) if found else None


def section_of(parsed: Note, heading: Heading) -> Span:
    """Return the span from a heading to the next one of the same or a higher rank."""
    start = heading.span.start
    following = (
        one.span.start
        for one in parsed.outline
        if one.span.start > start and one.level <= heading.level
    )
    return Span(start, next(following, len(parsed.body)))
