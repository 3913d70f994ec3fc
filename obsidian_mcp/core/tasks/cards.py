"""Cards of a Kanban board: changed as tasks, and moved to a lane (BOARD-3)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from obsidian_mcp.core.note import board, sections
from obsidian_mcp.core.note.edits import append_to_span
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.errors import InvalidArguments

from .naming import Checkbox
from .settings import TaskSettings
from .task import read_line
from .update import TaskChange, Updated, update_task

_CARD = re.compile(r"[^\n]*\n?(?:[ \t]+\S[^\n]*\n?)*")
"""The first line of a card and the indented ones below it."""


def update_card(
    body: str, box: Checkbox, change: TaskChange, lane: str, settings: TaskSettings, today: date
) -> Updated:
    """Return a note's text with a task changed; a card goes to `lane`, and one that is ticked to the lane of finished
    cards. A card that is moved into or out of that lane is ticked or opened. Raises: InvalidArguments,
    SectionNotFound."""
    if not board.is_board(body):
        if lane:
            raise InvalidArguments(f"{box.path!r} is no Kanban board, so it has no lanes.", argument="lane")
        return update_task(body, box, change, settings, today)
    note = parse(body)
    is_card = not box.text[:1].isspace()
    if lane and not is_card:
        raise InvalidArguments(f"Line {box.line} is inside a card. Give the line of the card.", argument="line")
    finished = board.finished_lane(note)
    current = next((heading for heading in reversed(note.outline) if heading.line < box.line - 1), None)
    wanted = sections.find(note, lane).heading if lane else None
    if lane and wanted is None:
        raise InvalidArguments(f"{lane!r} is no lane. Give the heading of one.", argument="lane")
    if wanted is not None and not change.status and finished in (wanted, current) and wanted != current:
        change = replace(change, status="done" if wanted == finished else "todo")
    if change == TaskChange():
        done = Updated(body, box.line, (box.text,), (box.text,))
    else:
        done = update_task(body, box, change, settings, today)
    if not lane and is_card and not done.deleted and not _is_done(box.text, settings):
        lines = done.body.split("\n")
        wanted = finished if _is_done(lines[done.line - 1], settings) else None
    if wanted is None or wanted == current:
        return done
    return _move_card(done, lane or wanted.text)


def _is_done(text: str, settings: TaskSettings) -> bool:
    line = read_line(text.removesuffix("\r"), settings.notation)
    return line is not None and settings.statuses.get(text[line.symbol_at]).type == "DONE"


def _move_card(done: Updated, lane: str) -> Updated:
    """Return a change with its card at the end of a lane."""
    body = done.body
    start = sum(len(line) + 1 for line in body.split("\n")[: done.line - 1])
    card = _CARD.match(body, start)
    assert card is not None  # noqa: S101  it matches anything
    without = body[:start] + body[card.end() :]
    text = card[0].rstrip("\r\n")
    after = append_to_span(without, sections.locate(without, lane).content, text)
    at = after.rindex(text, 0, sections.locate(after, lane).content.end)
    line, removed = after.count("\n", 0, at) + 1, card[0].count("\n")
    following = done.next_line
    if following is not None:
        following -= removed if following > done.line else 0
        following += after.count("\n") - without.count("\n") if following >= line else 0
    return replace(
        done, body=after, line=line, new=(text.split("\n")[0].removesuffix("\r"),), next_line=following, moved=True
    )
