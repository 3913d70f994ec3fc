"""Sections that edits leave without text: their headings go, too (COMPOSE-9)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from obsidian_mcp.core.text.sorted_spans import SortedSpans
from obsidian_mcp.core.text.text import Span

from . import board, parser
from .edits import Edit
from .elements import Heading


@dataclass(frozen=True, slots=True)
class EmptiedSections:
    """What edits leave without text."""

    edits: list[Edit]
    """The edits, in the order of the text; those in an emptied section are one that removes it."""
    removed: list[Heading]
    kept: list[Heading]
    """Headings without text that stay, because they are needed."""


@dataclass(frozen=True, slots=True)
class _ChangedSection:
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
    if not edits or board.is_board(body):
        return EmptiedSections(sorted(edits, key=_place), [], [])
    sorted_edits = _SortedEdits(edits)
    sections = _list_sections(body, sorted_edits)
    starts = [section.heading.span.start for section in sections]
    before = Span(0, sections[0].heading.span.start) if sections else Span(0, len(body))
    is_all_gone = not any(section.has_text for section in sections) and not _has_text_after(
        body, before, sorted_edits, is_first=True
    )
    removed, kept, spans = [], [], list[Span]()
    for number, section in enumerate(sections):
        within = sections[number : bisect_left(starts, section.end)]
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
    return EmptiedSections(_with_removals(body, sorted_edits, spans), removed, kept)


class _SortedEdits:
    """Edits of one text that do not overlap, by place.

    A note may have tens of thousands of sections and as many edits, so each section looks at its
    own edits only.
    """

    def __init__(self, edits: Iterable[Edit]) -> None:
        self.edits = sorted(edits, key=_place)
        self._starts = [edit.span.start for edit in self.edits]

    def edits_touching(self, start: int, end: int) -> list[Edit]:
        """Return the edits that hold, begin at or are between two places."""
        first = bisect_left(self._starts, start)
        while first and self.edits[first - 1].span.end >= start:
            first -= 1
        return self.edits[first : bisect_right(self._starts, end)]


def _place(edit: Edit) -> int:
    return edit.span.start


def _list_sections(body: str, edits: _SortedEdits) -> list[_ChangedSection]:
    note = parser.parse(body)
    outline = note.outline
    if not outline:
        return []
    definitions = _SortedEdits(Edit(footnote.span, "") for footnote in note.footnotes)
    sections = []
    next_starts = [*(heading.span.start for heading in outline[1:]), len(body)]
    for heading, next_start, end in zip(outline, next_starts, note.section_ends, strict=True):
        start = heading.span.start
        own = Span(heading.span.end, next_start)
        goes = any(start < edit.span.end for edit in edits.edits_touching(start, start))
        sections.append(
            _ChangedSection(
                heading,
                own,
                end,
                _has_text_after(body, own, definitions),
                _has_text_after(body, Span(start, own.end), edits, own.start),
                goes,
            )
        )
    return sections


def _has_text_after(
    body: str, part: Span, edits: _SortedEdits, text_start: int = 0, *, is_first: bool = False
) -> bool:
    """Return whether there is text between `text_start` and the end of a part once the edits are
    made.

    What an edit puts in the place of text counts where the edit begins.
    """
    at, end = max(text_start, part.start), part.end
    for edit in edits.edits_touching(part.start, end):
        begins_here = part.start < edit.span.start <= end or (is_first and edit.span.start == 0)
        if begins_here and edit.text.strip():
            return True
        if edit.span.end <= at or edit.span.start >= end:
            continue
        if body[at : max(edit.span.start, at)].strip():
            return True
        at = max(at, edit.span.end)
    return bool(body[at:end].strip())


def _with_removals(body: str, edits: _SortedEdits, spans: Sequence[Span]) -> list[Edit]:
    """Return edits of which those in each emptied section are one that removes it, with the blank
    lines before it where it is the last one."""
    emptied = SortedSpans(spans)
    result = [
        edit for edit in edits.edits if emptied.span_around(_place(edit), _place(edit) + 1) is None
    ]
    for span in spans:
        start = span.start
        inside = [
            edit for edit in edits.edits_touching(*span) if span.start <= _place(edit) < span.end
        ]
        end = max([span.end, *(edit.span.end for edit in inside)])
        if end == len(body):
            blank_start = _find_blank_lines(body, start)
            start = min(start, blank_start + len(_first_line_end(body, blank_start)))
        result.append(Edit(Span(start, end), ""))
    return sorted(result, key=_place)


def _find_blank_lines(body: str, end: int) -> int:
    """Return where the blank lines before a place begin, with the line end in front of them; the
    place itself if there are none."""
    text_end = len(body[:end].rstrip(" \t\r\n"))
    line_end = body.find("\n", text_end, end)
    if line_end < 0:
        return end
    return line_end - body.startswith("\r\n", max(text_end, line_end - 1))


def _first_line_end(body: str, at: int) -> str:
    return "\r\n" if body.startswith("\r\n", at) else body[at : at + 1]
