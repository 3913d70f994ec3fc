"""Change a task that may be a card of a Kanban board (BOARD-3)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from obsidian_mcp.core.note import board, sections
from obsidian_mcp.core.note.edits import append_to_span
from obsidian_mcp.core.note.elements import Heading
from obsidian_mcp.core.note.parser import Note, parse
from obsidian_mcp.errors import InvalidArguments

from .change import UpdatedNote, update_task
from .find import Checkbox
from .line import read_line
from .settings import TaskSettings
from .task_change import TaskChange

_CARD = re.compile(r"[^\n]*\n?(?:[ \t]+\S[^\n]*\n?)*")
"""The first line of a card and the indented ones below it."""


def update_card(
    body: str,
    box: Checkbox,
    change: TaskChange,
    settings: TaskSettings,
    today: date,
    *,
    lane: str = "",
) -> UpdatedNote:
    """Return a note's text with a task changed, as `update_task` does; on a board its card moves.

    The card goes to `lane`, if one is named. Without one, a card that is ticked goes to the lane of
    finished cards. A card that is moved into or out of that lane is ticked or opened.
    Raises: InvalidArguments, SectionNotFound.
    """
    if not board.is_board(body):
        if lane:
            raise InvalidArguments(
                f"{box.path!r} is no Kanban board, so it has no lanes.", argument="lane"
            )
        return update_task(body, box, change, settings, today)
    note = parse(body)
    is_card = not box.text[:1].isspace()
    if lane and not is_card:
        raise InvalidArguments(
            f"Line {box.line} is inside a card. Give the line of the card.", argument="line"
        )
    finished = board.finished_lane(note)
    current = next(
        (heading for heading in reversed(note.outline) if heading.line < box.line - 1), None
    )
    target = _find_lane(note, lane) if lane else None
    if target not in (None, current) and not change.status and finished in (target, current):
        change = replace(change, status="done" if target == finished else "todo")
    if change == TaskChange():
        updated = UpdatedNote(body, box.line, (box.text,), (box.text,))
    else:
        updated = update_task(body, box, change, settings, today)
    if not lane and is_card and not updated.deleted and not _is_done(box.text, settings):
        lines = updated.body.split("\n")
        target = finished if _is_done(lines[updated.line - 1], settings) else None
    if target is None or target == current:
        return updated
    return replace(_move_card(updated, lane or target.text), lane=target.text)


def _find_lane(note: Note, name: str) -> Heading:
    """Return the heading of a lane.

    Raises: InvalidArguments, SectionNotFound.
    """
    heading = sections.find(note, name).heading
    if heading is None:
        raise InvalidArguments(f"{name!r} is no lane. Give the heading of one.", argument="lane")
    return heading


def _is_done(text: str, settings: TaskSettings) -> bool:
    line = read_line(text.removesuffix("\r"), settings.notation)
    return line is not None and settings.statuses.get(text[line.symbol_at]).type == "DONE"


def _move_card(updated: UpdatedNote, lane: str) -> UpdatedNote:
    """Return a change with its card at the end of a lane."""
    body = updated.body
    start = sum(len(line) + 1 for line in body.split("\n")[: updated.line - 1])
    card = _CARD.match(body, start)
    assert card is not None  # noqa: S101  it matches anything
    without_card = body[:start] + body[card.end() :]
    text = card[0].rstrip("\r\n")
    content = sections.locate(without_card, lane).content
    after = append_to_span(without_card, content, text)
    at = after.rindex(text, 0, sections.locate(after, lane).content.end)
    line = after.count("\n", 0, at) + 1
    next_line = updated.next_line
    if next_line is not None:
        # the line of the next occurrence moves up where the card was taken away above it, and down
        # where the card was added above it
        next_line -= card[0].count("\n") if next_line > updated.line else 0
        next_line += after.count("\n") - without_card.count("\n") if next_line >= line else 0
    first_line = text.split("\n")[0].removesuffix("\r")
    return replace(updated, body=after, line=line, new=(first_line,), next_line=next_line)
