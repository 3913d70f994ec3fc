"""Change a task that may be a card of a Kanban board (BOARD-3, BOARD-5, BOARD-6)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from obsidian_mcp.core.note.board import Board, BoardCard, Lane, is_board
from obsidian_mcp.core.note.board_edits import add_card
from obsidian_mcp.core.note.edits import list_line_numbers
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.errors import InvalidArguments

from .change import UpdatedNote, update_task
from .find import Checkbox
from .line import read_line
from .settings import TaskSettings
from .task_change import TaskChange


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
    finished cards. A card that is moved into or out of such a lane is ticked or opened.
    Raises: InvalidArguments, SectionNotFound.
    """
    if not is_board(body):
        if lane:
            raise InvalidArguments(
                f"{box.path!r} is no Kanban board, so it has no lanes.", argument="lane"
            )
        return update_task(body, box, change, settings, today)
    board = Board(parse(body))
    card = board.card_at(box.line - 1)
    if card is None:
        if lane:
            raise InvalidArguments(
                f"Line {box.line} is inside a card. Give the line of the card.", argument="line"
            )
        return update_task(body, box, change, settings, today)
    return _update_card_of(board, card, box, change, settings=settings, today=today, lane=lane)


def _update_card_of(
    board: Board,
    card: BoardCard,
    box: Checkbox,
    change: TaskChange,
    *,
    settings: TaskSettings,
    today: date,
    lane: str,
) -> UpdatedNote:
    """Change a card and move it where it belongs now.

    A lane that is named sets the status, as dragging a card does in the plugin; else a status that
    completes the card may move it to the lane of completed ones.
    """
    body, count = board.body, board.count_lines(card)
    current = board.lane_of(box.line - 1)
    target = current
    warnings: tuple[str, ...] = ()
    if lane:
        target, warnings = _choose_lane(board.find_lanes(lane), current, lane)
        if status := _status_in(target, current, box.text, settings, change):
            change = replace(change, status=status)
    updated = UpdatedNote(body, box.line, (box.text,), (box.text,))
    if change != TaskChange():
        updated = _keep_whole(update_task(body, box, change, settings, today), count - 1)
    if not lane and not updated.deleted:
        target = _lane_of_ticked(board, current, box.text, updated, settings) or current
    if target is not None and target != current and not updated.deleted:
        warnings += _warn_of_limit(target)
        moved = _move_card(updated, count, board.lanes.index(target))
        updated = replace(moved, lane=to_printable(target.title))
    return replace(updated, warnings=(*updated.warnings, *warnings))


def _warn_of_limit(lane: Lane) -> tuple[str, ...]:
    """Return what to say of a lane that gets one more card."""
    cards = len(lane.cards) + 1
    if not 0 < lane.limit < cards:
        return ()
    title = to_printable(lane.title)
    return (f"The lane {title!r} now has {cards} cards, and its limit is {lane.limit}.",)


def _choose_lane(
    lanes: list[Lane], current: Lane | None, name: str
) -> tuple[Lane, tuple[str, ...]]:
    """Return the lane that is meant of those with a name, and a warning where they are several.

    It is the first one, or that in which the card is (BOARD-4).
    """
    target = current if current in lanes else lanes[0]
    if len(lanes) == 1:
        return lanes[0], ()
    lines = list_line_numbers([lane.heading.line + 1 for lane in lanes])
    warning = (
        f"{len(lanes)} lanes are called {name!r} (lines {lines}); the card is in the one of line "
        f"{target.heading.line + 1}, as it was before the change."
    )
    return target, (warning,)


def _status_in(
    target: Lane, current: Lane | None, text: str, settings: TaskSettings, change: TaskChange
) -> str:
    """Return the status that a card gets by moving to a lane; empty where it keeps its own.

    As in the app, it is ticked in a lane of finished cards and opened where it leaves one; the
    archive keeps it as it is (BOARD-5).
    """
    if change.status or target == current or target.is_archive:
        return ""
    is_done = _is_done(text, settings)
    if target.is_finished:
        return "" if is_done else "done"
    leaves_finished = current is not None and current.is_finished
    return "todo" if leaves_finished and is_done else ""


def _lane_of_ticked(
    board: Board, current: Lane | None, text: str, updated: UpdatedNote, settings: TaskSettings
) -> Lane | None:
    """Return the lane to which a card goes that the change has ticked; None if it stays."""
    if current is not None and (current.is_finished or current.is_archive):
        return None
    ticked = updated.body.split("\n")[updated.line - 1]
    if _is_done(text, settings) or not _is_done(ticked, settings):
        return None
    return next((lane for lane in board.lanes if lane.is_finished), None)


def _is_done(text: str, settings: TaskSettings) -> bool:
    line = read_line(text.removesuffix("\r"), settings.notation)
    return line is not None and settings.statuses.get(text[line.symbol_at]).type == "DONE"


def _keep_whole(updated: UpdatedNote, further: int) -> UpdatedNote:
    """Return a change in which a card and its next occurrence have the further lines of the card.

    So the app repeats a card (BOARD-6). `further` is the number of these lines, which follow the
    two.
    """
    if not further or updated.next_line is None or updated.deleted:
        return updated
    lines = updated.body.split("\n")
    first = min(updated.line, updated.next_line) - 1
    inside = lines[first + 2 : first + 2 + further]
    copied = [*inside[:-1], inside[-1].removesuffix("\r")]
    copied[-1] += "\r" if lines[first].endswith("\r") else ""
    lines[first + 1 : first + 1] = copied
    second = first + 2 + further
    if updated.line > updated.next_line:
        return replace(updated, body="\n".join(lines), line=second)
    return replace(updated, body="\n".join(lines), next_line=second)


def _move_card(updated: UpdatedNote, count: int, lane: int) -> UpdatedNote:
    """Return a change with its card of `count` lines at the end of the lane of a number."""
    lines = updated.body.split("\n")
    first = updated.line - 1
    card = lines[first : first + count]
    lines[first : first + count] = []
    without_card = "\n".join(lines)
    if first == len(lines):  # the note ended with the card, and not with a line end
        without_card = without_card.removesuffix("\r")
    text = "\n".join(card).removesuffix("\r")
    after, line = add_card(without_card, lane, text)
    next_line = updated.next_line
    if next_line is not None:
        # the line of the next occurrence moves up where the card was taken away above it, and down
        # where the card was added above it
        next_line -= count if next_line > updated.line else 0
        next_line += after.count("\n") - without_card.count("\n") if next_line >= line else 0
    new = after.split("\n")[line - 1].removesuffix("\r")
    return replace(updated, body=after, line=line, new=(new,), next_line=next_line)
