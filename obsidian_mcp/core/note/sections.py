"""Find a part of a note by its heading or block id (semantics 2.2, specs/edits.md EDIT-05)."""

from __future__ import annotations

from typing import NamedTuple

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.nearness import MOST_SEARCHED, nearest_texts
from obsidian_mcp.core.text.text import Lines, Span, to_printable
from obsidian_mcp.errors import SectionNotFound

from . import board, parser
from .headings import heading_key
from .subpath import SubpathTarget, resolve_subpath, section_of

SHOWN = 12
"""Maximum number of headings listed in SectionNotFound."""


class SectionSpans(NamedTuple):
    """The two spans of a section: `whole` has the heading line, `content` is the text below it.

    For a block, both are the block. Of a Kanban board, the section is a lane (BOARD-1).
    """

    whole: Span
    content: Span


def locate(body: str, name: str) -> SectionSpans:
    """Return the section of `Heading`, `Parent#Child` or `#Heading`, or the block of `^id`.

    Raises: SectionNotFound.
    """
    parsed = parser.parse(body)
    target = find(parsed, name)
    if target.heading is None:
        return SectionSpans(target.span, target.span)
    whole = board.lane_span(parsed, target.span)
    below = body.find("\n", target.heading.span.end) + 1 or len(body)
    return SectionSpans(whole, board.cards_span(body, Span(min(below, whole.end), whole.end)))


def headings_below(body: str, name: str) -> list[str]:
    """Return the headings in a section of a note, without its own.

    Raises: SectionNotFound.
    """
    parsed = parser.parse(body)
    section = find(parsed, name).span
    return [
        heading.text
        for heading in check_each(parsed.outline)
        if section.start < heading.span.start < section.end
    ]


def without_heading(body: str, part: SectionSpans, content: str) -> str:
    """Return the new text of a section without the section's own heading, if it begins with it."""
    heading, text = body[part.whole.start : part.content.start].strip(), content.lstrip()
    remainder = text.removeprefix(heading)
    return (
        remainder.lstrip("\r\n")
        if remainder != text and remainder[:1] in ("", "\r", "\n")
        else content
    )


def find(parsed: parser.Note, name: str, *, by_link: bool = False) -> SubpathTarget:
    """Return the heading or block of that name.

    In a link, `#` only separates headings; else a heading's text may contain it (`Ticket #42`).
    Raises: SectionNotFound with the most similar headings.
    """
    target = resolve_subpath(parsed, _subpath(name))
    if target is None and not by_link:
        target = resolve_subpath(parsed, _subpath(name.replace("#", " ")))
        lane = board.lane_heading(parsed, name) if target is None else None
        if lane is not None:
            target = SubpathTarget(section_of(parsed, lane), lane)
    if target is None:
        raise _describe_missing(parsed, name)
    return target


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
        for heading in check_each(outline)
        if heading_key(heading.text) == key
    ]


def _describe_missing(parsed: parser.Note, name: str) -> SectionNotFound:
    """Return the error for a name that no part of the note has, with the nearest names."""
    if name.strip().startswith("^"):
        ids = [f"^{block.id}" for block in parsed.block_ids]
        choice = f"Its blocks are {name_first(ids, SHOWN)}." if ids else "It has no block ids."
        message = f"The note has no block {name.strip()!r}. {choice}"
        return SectionNotFound(message, heading=name, blocks=ids[:SHOWN])
    texts = [to_printable(heading.text) for heading in parsed.headings[:MOST_SEARCHED]]
    near = nearest_texts(name.rpartition("#")[2], texts, SHOWN) or texts[:SHOWN]
    choice = "It has no headings."
    if near:
        choice = f"Headings there are: {', '.join(map(repr, near))}."
    return SectionNotFound(
        f"The note has no heading {name!r}. {choice}", heading=name, headings=near
    )
