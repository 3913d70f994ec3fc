"""Boards of the Kanban plugin: where a lane ends, and which text the plugin would drop.

The plugin writes a board anew from the first list below each heading: any other text is gone with
its next change (BOARD-1, 2).
"""

from __future__ import annotations

import re
from itertools import islice

from obsidian_mcp.core.frontmatter import parser
from obsidian_mcp.core.text.call import checked
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.errors import NotText

from .elements import Heading
from .parser import Note

LANES_SHOWN = 12
"""Lanes that a message lists."""
CHARACTERS_SHOWN = 60
"""Characters of a line in a message."""
_LANE = re.compile(r"^#{1,6} (.*)", re.MULTILINE)
_END = re.compile(r"^(?:%% kanban:settings|\*\*\*[ \t\r]*\n(?:[ \t\r]*\n)*#)", re.MULTILINE)
"""The text behind the last lane: the settings, or the rule above the archive."""
_SETTINGS = re.compile(r"^%% kanban:settings(?s:.*?)(?:^%%|\Z)", re.MULTILINE)
_ITEM = re.compile(r" {0,3}(?:[0-9]+)?([-*+.)])(?:[ \t]|$)")
_MARK = re.compile(r"\s*\*\*[^*]+\*\*\s*|\*\*\*\s*")
"""The line of a lane of finished cards, and the rule above the archive."""
_COMPLETE = re.compile(r"\s*\*\*[^*\n]+\*\*[ \t\r]*(?:\n|\Z)")
"""The line by which the plugin marks a lane of finished cards.

Its word is in the language of the app.
"""


def is_board(body: str) -> bool:
    return parser.has_property(body, "kanban-plugin")


def lane(body: str, section: Span) -> Span:
    """Return a section of a note; of a board without the settings and the archive behind it.

    See BOARD-1.
    """
    end = _END.search(body, section.start) if is_board(body) else None
    return section if end is None else Span(section.start, min(end.start(), section.end))


def cards(body: str, content: Span) -> Span:
    """Return the text below a heading; of a board without the mark of a finished lane (BOARD-1)."""
    mark = _COMPLETE.match(body, content.start, content.end) if is_board(body) else None
    return content if mark is None else Span(mark.end(), content.end)


def finished_lane(note: Note) -> Heading | None:
    """Return the lane that the plugin marks as that of finished cards."""
    lanes = (heading for heading in note.outline if _COMPLETE.match(note.body, heading.span.end))
    return next(lanes, None)


def check_edit(path: str, before: str, after: str) -> None:
    """Refuse an edit that adds text to a board that is no card of a lane (BOARD-2).

    Text of that kind that the board had before may stay.
    Raises: NotText.
    """
    if not is_board(before):
        return
    lost_before, lost = _list_lost(before), _list_lost(after)
    if len(lost) <= len(lost_before):
        return
    lines_before = set(lost_before)
    line = next((line for line in lost if line not in lines_before), lost[-1])
    headings = islice(_LANE.finditer(before, parser.text_start(before)), LANES_SHOWN)
    lanes = [heading[1].strip() for heading in headings]
    advice = "Prepend a heading with cards."
    if lanes:
        advice = f"Name a lane as heading: {', '.join(map(repr, lanes))}."
    raise NotText(
        f"{path!r} is a Kanban board: when the plugin next writes the file, it would not keep "
        f"{cut_text(line, CHARACTERS_SHOWN)!r} as it is. Nothing was written. A card is a list "
        f"item below a heading (`- [ ] text`), and further lines of it are indented. {advice}",
        path=path,
    )


def _list_lost(body: str) -> list[str]:
    """Return the lines that are no part of the first list of a lane.

    The plugin drops them, or adds them to the card before.
    """
    start = parser.text_start(body)
    settings = _SETTINGS.search(body, start)
    lanes, behind = body[start:], ""
    if settings:
        lanes, behind = body[start : settings.start()], body[settings.end() :]
    lost = [line for line in checked(behind.split("\n")) if line.strip()]
    in_lane, marker = False, ""
    for line in checked(lanes.split("\n")):
        item = _ITEM.match(line)
        is_mark = in_lane and _MARK.fullmatch(line)
        if _LANE.match(line):
            in_lane, marker = True, ""
        elif item and in_lane and marker in ("", item[1]):
            marker = item[1]
        elif line.strip():
            goes_on = marker and line[0] in " \t"
            if not goes_on and not is_mark:
                lost.append(line.strip())
    return lost
