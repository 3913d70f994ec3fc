"""Find a part of a note by its heading or block id (semantics 2.2, specs/edits.md EDIT-05)."""

from __future__ import annotations

from typing import NamedTuple

from obsidian_mcp.core.text.nearness import nearest
from obsidian_mcp.core.text.text import Lines, Span, printable
from obsidian_mcp.errors import SectionNotFound

from . import board, parser
from .subpath import SubpathTarget, heading_key, resolve_subpath

SHOWN = 12
"""Maximum number of headings listed in SectionNotFound."""


class Part(NamedTuple):
    """`whole` has the heading line, `content` is the text below it; both are a block, or a board's
    lane (BOARD-1)."""

    whole: Span
    content: Span


def locate(body: str, name: str) -> Part:
    """Return the section of `Heading`, `Parent#Child` or `#Heading`, or the block of `^id`. Raises:
    SectionNotFound."""
    found = find(parser.parse(body), name)
    if found.heading is None:
        return Part(found.span, found.span)
    whole = board.lane(body, found.span)
    below = body.find("\n", found.heading.span.end) + 1 or len(body)
    return Part(whole, board.cards(body, Span(min(below, whole.end), whole.end)))


def headings_below(body: str, name: str) -> list[str]:
    """Return the headings in a section of a note, without its own. Raises: SectionNotFound."""
    parsed = parser.parse(body)
    section = find(parsed, name).span
    return [
        heading.text
        for heading in parsed.outline
        if section.start < heading.span.start < section.end
    ]


def without_heading(body: str, part: Part, content: str) -> str:
    """Return the new text of a section without the section's own heading, if it begins with it."""
    heading, text = body[part.whole.start : part.content.start].strip(), content.lstrip()
    rest = text.removeprefix(heading)
    return rest.lstrip("\r\n") if rest != text and rest[:1] in ("", "\r", "\n") else content


def find(parsed: parser.Note, name: str, *, by_link: bool = False) -> SubpathTarget:
    """Return the heading or block of that name. In a link, `#` only separates headings; else a
    heading's text may hold it (`Ticket #42`). Raises: SectionNotFound with the most similar
    headings."""
    found = resolve_subpath(parsed, _subpath(name))
    if found is None and not by_link:
        found = resolve_subpath(parsed, _subpath(name.replace("#", " ")))
    if found is None:
        raise _missing(parsed, name)
    return found


def has(body: str, name: str) -> bool:
    """Return whether a note has the heading or block of that name."""
    return resolve_subpath(parser.parse(body), _subpath(name)) is not None


def _subpath(name: str) -> str:
    return f"#{name.strip().removeprefix('#').strip()}"


def lines_of_equal(body: str, name: str) -> list[int]:
    """Return the lines, from 1 on, of the headings that `name`, without a heading above it, may
    mean."""
    key, lines = heading_key(name), Lines(body)
    outline = parser.parse(body).outline
    return [
        lines.line(heading.span.start) + 1
        for heading in outline
        if heading_key(heading.text) == key
    ]


def _missing(parsed: parser.Note, name: str) -> SectionNotFound:
    if name.strip().startswith("^"):
        ids = [f"^{block.id}" for block in parsed.block_ids]
        known = f"Its blocks are {', '.join(ids[:SHOWN])}." if ids else "It has no block ids."
        return SectionNotFound(
            f"The note has no block {name.strip()!r}. {known}", heading=name, blocks=ids[:SHOWN]
        )
    texts = [printable(heading.text) for heading in parsed.headings]
    near = nearest(name.rpartition("#")[2], texts, SHOWN) or texts[:SHOWN]
    known = f"Headings there are: {', '.join(map(repr, near))}." if near else "It has no headings."
    return SectionNotFound(
        f"The note has no heading {name!r}. {known}", heading=name, headings=near
    )
