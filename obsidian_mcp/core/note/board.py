"""Boards of the Kanban plugin: where a lane ends, and which text the plugin would drop (BOARD-1, BOARD-2).

The plugin writes a board anew from the first list below each heading: any other text is gone with its next change.
"""

from __future__ import annotations

import re

from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.errors import NotText

LANES_SHOWN = 12
_LANE = re.compile(r"^#{1,6} (.*)", re.MULTILINE)
_END = re.compile(r"^(?:%% kanban:settings|\*\*\*[ \t\r]*\n(?:[ \t\r]*\n)*#)", re.MULTILINE)
"""What follows the last lane: the settings, or the rule above the archive."""
_SETTINGS = re.compile(r"^%% kanban:settings(?s:.*?)(?:^%%|\Z)", re.MULTILINE)
_COMPLETE = re.compile(r"\s*\*\*[^*\n]+\*\*[ \t\r]*(?:\n|\Z)")
"""The line by which the plugin marks a lane of finished cards; its word is in the language of the app."""


def is_board(body: str) -> bool:
    return parser.has_property(body, "kanban-plugin")


def lane(body: str, section: Span) -> Span:
    """Return a section of a note; of a board without the settings and the archive behind it (BOARD-1)."""
    end = _END.search(body, section.start) if is_board(body) else None
    return section if end is None else Span(section.start, min(end.start(), section.end))


def cards(body: str, content: Span) -> Span:
    """Return the text below a heading; of a board without the mark of a lane of finished cards (BOARD-1)."""
    mark = _COMPLETE.match(body, content.start, content.end) if is_board(body) else None
    return content if mark is None else Span(mark.end(), content.end)


def check_edit(path: str, before: str, after: str) -> None:
    """Raises: NotText for an edit that adds text to a board outside its lanes (BOARD-2)."""
    if is_board(before) and _outside(after) not in ("", _outside(before)):
        lanes = [found[1].strip() for found in _LANE.finditer(before, parser.text_start(before))][:LANES_SHOWN]
        raise NotText(
            f"{path!r} is a Kanban board: the plugin drops text outside the lanes when it next writes the file, so "
            "nothing was written. "
            + (f"Name a lane as heading: {', '.join(map(repr, lanes))}." if lanes else "Prepend a heading with cards."),
            path=path,
        )


def _outside(body: str) -> str:
    """Return the text in front of the first lane and behind the settings."""
    start = parser.text_start(body)
    settings = _SETTINGS.search(body, start)
    end = settings.start() if settings else len(body)
    first = _LANE.search(body, start, end)
    return body[start : first.start() if first else end].strip() + (body[settings.end() :].strip() if settings else "")
