"""Find a part of a note by its heading or block id (semantics 2.2, specs/edits.md EDIT-05)."""

from __future__ import annotations

from typing import NamedTuple

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.nearness import MOST_SEARCHED, nearest_texts
from obsidian_mcp.core.text.text import Lines, Span, to_printable
from obsidian_mcp.core.text.typed_text import typed_form
from obsidian_mcp.errors import SectionNotFound

from . import board, parser
from .headings import HeadingIndex, heading_key
from .subpath import SubpathTarget, resolve_subpath, section_of, segments

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
    if target is None and not by_link:
        target = _find_typed(parsed, name)
    if target is None:
        raise _describe_missing(parsed, name)
    return target


def _find_typed(parsed: parser.Note, name: str) -> SubpathTarget | None:
    """Return the heading that looks as the name does, in whichever characters both are written
    (NAME-18)."""
    parts = [_typed_heading(part) for part in segments(_subpath(name))]
    outline = parsed.outline
    typed = ((heading.level, _typed_heading(heading.text)) for heading in outline)
    chain = HeadingIndex(typed).chain(parts) if parts and not parts[-1].startswith("^") else None
    if chain is None:
        return None
    heading = outline[chain[-1]]
    return SubpathTarget(section_of(parsed, heading), heading)


def _typed_heading(text: str) -> str:
    return heading_key(typed_form(text))


def has(body: str, name: str) -> bool:
    """Return whether a note has the heading or block of that name."""
    return resolve_subpath(parser.parse(body), _subpath(name)) is not None


def _subpath(name: str) -> str:
    return f"#{name.strip().removeprefix('#').strip()}"


def lines_of_equal(body: str, name: str) -> list[int]:
    """Return the lines, from 1 on, of the headings that `name`, without a heading above it, may
    mean."""
    key, lines = _typed_heading(name), Lines(body)
    outline = parser.parse(body).outline
    return [
        lines.line(heading.span.start) + 1
        for heading in check_each(outline)
        if _typed_heading(heading.text) == key
    ]


def _describe_missing(parsed: parser.Note, name: str) -> SectionNotFound:
    """Return the error for a name that no part of the note has, with the nearest names."""
    if name.strip().startswith("^"):
        ids = [f"^{block.id}" for block in parsed.block_ids]
        choice = f"Its blocks are {name_first(ids, SHOWN)}." if ids else "It has no block ids."
        message = f"The note has no block {name.strip()!r}. {choice}"
        return SectionNotFound(message, heading=name, blocks=ids[:SHOWN])
    key = _typed_heading(name.strip().removeprefix("#").rpartition("#")[2])
    enclosed = [heading for heading in parsed.headings if _typed_heading(heading.text) == key]
    if enclosed and not any(_typed_heading(heading.text) == key for heading in parsed.outline):
        line = parsed.lines.line(enclosed[0].span.start) + 1
        return SectionNotFound(
            f"The heading {name!r} in line {line} stands inside a quote, callout or list, so it "
            "begins no section. Read it by lines, and change it with replace_text.",
            heading=name,
            line=line,
        )
    texts = [to_printable(heading.text) for heading in parsed.outline[:MOST_SEARCHED]]
    near = nearest_texts(name.rpartition("#")[2], texts, SHOWN) or texts[:SHOWN]
    choice = "It has no headings."
    if near:
        choice = f"Headings there are: {', '.join(map(repr, near))}."
    return SectionNotFound(
        f"The note has no heading {name!r}. {choice}", heading=name, headings=near
    )
