"""Sections that edits leave without text: their headings go, too (COMPOSE-9)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from obsidian_mcp.core.text.text import Span

from . import board, parser
from .edits import Edit
from .elements import Heading

_BLANK_LINES_BEFORE = re.compile(r"(?:\r?\n[ \t]*)*\Z")


class EmptiedSections(NamedTuple):
    """What edits leave without text."""

    edits: list[Edit]
    """The edits, in the order of the text; those in an emptied section are one that removes it."""
    removed: list[Heading]
    kept: list[Heading]
    """Headings without text that stay, because they are needed."""


class _ChangedSection(NamedTuple):
    """A heading with the text up to the next heading, and up to the next one of its level."""

    heading: Heading
    own: Span
    end: int
    had_text: bool
    """Beside definitions of footnotes, which are read where they are referred to."""
    has_text: bool
    goes: bool
    """Whether an edit takes the heading itself."""


def remove_emptied_sections(
    body: str, edits: Sequence[Edit], is_needed: Callable[[Heading], bool]
) -> EmptiedSections:
    """Return the edits with which no heading stays without text that had some before.

    A lane of a board may be empty, and the first heading stays where it is all that is left: it is
    the note's title. Headings that were empty before are not touched.
    """
    edits = sorted(edits, key=lambda edit: edit.span.start)
    if not edits or board.is_board(body):
        return EmptiedSections(list(edits), [], [])
    sections = _list_sections(body, edits)
    before = Span(0, sections[0].heading.span.start) if sections else Span(0, len(body))
    is_all_gone = not any(section.has_text for section in sections) and not _has_text_after(
        body, before, edits, is_first=True
    )
    removed, kept, spans = [], [], list[Span]()
    for number, section in enumerate(sections):
        within = [other for other in sections[number:] if other.heading.span.start < section.end]
        if section.goes or not any(other.had_text for other in within):
            continue
        if any(other.has_text for other in within):
            continue
        if (is_all_gone and number == 0) or any(
            is_needed(other.heading) for other in within if not other.goes
        ):
            kept.append(section.heading)
            continue
        removed.append(section.heading)
        if not spans or section.heading.span.start >= spans[-1].end:
            spans.append(Span(section.heading.span.start, section.end))
    for span in spans:
        edits = _with_removal(body, edits, span)
    return EmptiedSections(list(edits), removed, kept)


def _list_sections(body: str, edits: Sequence[Edit]) -> list[_ChangedSection]:
    note = parser.parse(body)
    outline = note.outline
    definitions = [Edit(footnote.span, "") for footnote in note.footnotes]
    sections = []
    for number, heading in enumerate(outline):
        following = [*outline[number + 1 :]]
        own = Span(heading.span.end, following[0].span.start if following else len(body))
        end = next((other.span.start for other in following if other.level <= heading.level), None)
        goes = any(edit.span.start <= heading.span.start < edit.span.end for edit in edits)
        sections.append(
            _ChangedSection(
                heading,
                own,
                len(body) if end is None else end,
                _has_text_after(body, own, definitions),
                _has_text_after(body, Span(heading.span.start, own.end), edits, own.start),
                goes,
            )
        )
    return sections


def _has_text_after(
    body: str, part: Span, edits: Sequence[Edit], text_start: int = 0, *, is_first: bool = False
) -> bool:
    """Whether there is text between `text_start` and the end of a part once the edits are made.

    What an edit puts in the place of text counts where the edit begins.
    """
    at, end = max(text_start, part.start), part.end
    for edit in edits:
        begins_here = part.start < edit.span.start <= end or (is_first and edit.span.start == 0)
        if begins_here and edit.text.strip():
            return True
        if edit.span.end <= at or edit.span.start >= end:
            continue
        if body[at : max(edit.span.start, at)].strip():
            return True
        at = max(at, edit.span.end)
    return bool(body[at:end].strip())


def _with_removal(body: str, edits: Sequence[Edit], span: Span) -> list[Edit]:
    """Return edits of which those in a section are one that removes it, with the blank lines before
    it where it is the last one."""
    inside = [edit for edit in edits if span.start <= edit.span.start < span.end]
    end = max([span.end, *(edit.span.end for edit in inside)])
    start = span.start
    if end == len(body) and (blank := _BLANK_LINES_BEFORE.search(body, 0, start)):
        start = min(start, blank.start() + len(_first_line_end(body, blank.start())))
    apart = [edit for edit in edits if edit not in inside]
    return sorted([*apart, Edit(Span(start, end), "")], key=lambda edit: edit.span.start)


def _first_line_end(body: str, at: int) -> str:
    return "\r\n" if body.startswith("\r\n", at) else body[at : at + 1]
