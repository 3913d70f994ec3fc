"""Change one task in a note's text, or add one (TASK-40, TASK-60 to TASK-67)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.note import sections
from obsidian_mcp.core.note.board import Board, is_board
from obsidian_mcp.core.note.board_edits import add_card
from obsidian_mcp.core.note.edits import append_to_span
from obsidian_mcp.core.note.parser import Note, parse
from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.text import Lines, Span, check_growth, common_start
from obsidian_mcp.errors import InvalidArguments

from .change_status import StatusChange, change_status, follows_core, read_status
from .find import Checkbox
from .line import Line, read_line, set_description, set_fields, with_global_filter
from .settings import TaskSettings
from .statuses import TYPES
from .task_change import TaskChange, checked_text, field_values


@dataclass(frozen=True, slots=True)
class UpdatedNote:
    """A note's text after a change. Lines are 1-based and without line ends."""

    body: str
    line: int
    """Of the changed or added task; of a deleted one, where it stood."""
    old: tuple[str, ...]
    new: tuple[str, ...]
    """In the order of the note."""
    next_line: int | None = None
    """Of the new occurrence."""
    deleted: bool = False
    lane: str = ""
    """Heading of the lane that a card was moved to."""
    warnings: tuple[str, ...] = ()


def update_task(
    body: str, box: Checkbox, change: TaskChange, settings: TaskSettings, today: date
) -> UpdatedNote:
    """Return a note's text with one task changed (TASK-67).

    The fields change first, then the status: a new occurrence has the new fields.
    Raises: InvalidArguments.
    """
    line = read_line(box.text, settings.notation)
    own = {name: field.value for name, field in line.by_name.items()} if line else {}
    values = field_values(change, today, own)
    if values or change.text is not None:
        _check_task(line, box, settings)
    if not change.status and not values and change.text is None:
        raise InvalidArguments(
            "There is nothing to do: give a status, a date, a priority, a text or another field."
        )
    text = box.text
    if change.text is not None:
        text = set_description(
            text, checked_text(change.text), settings.global_filter, settings.notation
        )
    text = set_fields(text, values, settings.notation)
    warnings = _warnings(text, values, change, settings)
    if change.status:
        new_lines = _set_status(text, box, change.status, settings, today)
    else:
        new_lines = StatusChange(text)
    return _replace_line(body, box, new_lines, warnings)


def _check_task(line: Line | None, box: Checkbox, settings: TaskSettings) -> None:
    """Raise InvalidArguments for a checkbox that is no task: the app knows no fields for it."""
    if line is not None and settings.is_task(line.body):
        return
    if line:
        reason = f"it lacks the global filter {settings.global_filter!r}"
    else:
        reason = "it is not written as one"
    raise InvalidArguments(
        f"Line {box.line} of {box.path!r} is no task of the Tasks plugin: {reason}. Only its "
        "status can change.",
        line=box.line,
    )


def _set_status(
    text: str, box: Checkbox, name: str, settings: TaskSettings, today: date
) -> StatusChange:
    """Return the line of a task with another status, and what changes with it.

    A checkbox that is not the plugin's (without its global filter) changes its character only, as
    in the app.
    Raises: InvalidArguments for a name that is no status.
    """
    core = follows_core(text, settings)
    line = read_line(text, settings.notation)
    # the plugin may not read it as a checkbox
    at = text.index("[") + 1 if line is None else line.symbol_at
    status = read_status(name, settings.statuses.get(text[at]), settings, core=core)
    if status is None:
        types = [kind.lower() for kind in TYPES if settings.statuses.first_of_type(kind)]
        raise InvalidArguments(
            f"`status` must be toggle, one of {', '.join(types)}, or one printable character other "
            f"than a bracket, but {name!r} came.",
            argument="status",
        )
    if core:
        return StatusChange(text[:at] + status.symbol + text[at + 1 :])
    return change_status(text, status, settings, today, has_children=box.has_children)


def _replace_line(
    body: str, box: Checkbox, change: StatusChange, warnings: list[str]
) -> UpdatedNote:
    """Return the note with the lines of a change in place of the task's line."""
    lines = change.lines
    start = Lines(body).starts[box.line - 1]
    end = start + len(box.text)
    line_end = re.compile(r"\r?\n").match(body, end)
    if line_end:
        newline = line_end[0]
    else:
        newline = "\r\n" if "\r\n" in body else "\n"
    after = body[:start] + newline.join(lines) + body[end:]
    if not lines:
        after = body[:start] + body[line_end.end() if line_end else end :]
    line, next_line = box.line, None
    if change.next is not None:
        next_line = box.line
        if change.changed is not None:
            if change.next_below:
                next_line += 1
            else:
                line += 1
    return UpdatedNote(
        after,
        line,
        (box.text,),
        tuple(lines),
        next_line=next_line,
        deleted=change.changed is None,
        warnings=(*warnings, *change.warnings),
    )


def add_task(
    body: str, change: TaskChange, heading: str, settings: TaskSettings, today: date
) -> UpdatedNote:
    """Return a note's text with a new task at the end of a section, or of the note (TASK-66).

    `heading` names the section; it is empty for the note.
    Raises: InvalidArguments, SectionNotFound.
    """
    description = with_global_filter(checked_text(change.text or ""), settings.global_filter)
    values = {
        name: value for name, value in field_values(change, today).items() if value is not None
    }
    if settings.set_created_date:
        values.setdefault("created", today.isoformat())
    status = read_status(change.status or " ", settings.statuses.get(" "), settings, core=False)
    if status is None or change.status == "toggle":
        raise InvalidArguments(
            f"A new task cannot have the status {change.status!r}.", argument="status"
        )
    text = set_fields(f"- [{status.symbol}] {description}", values, settings.notation)
    check_growth(body, text)
    note = parse(body)
    warnings = tuple(_warnings(text, values, change, settings))
    if heading.strip() and is_board(body):
        named = sections.find(note, heading).heading
        lanes = Board(note).lanes
        numbers = [number for number, lane in enumerate(lanes) if lane.heading == named]
        if numbers:
            after, line = add_card(body, numbers[0], text)
            new = after.split("\n")[line - 1].removesuffix("\r")
            return UpdatedNote(after, line, (), (new,), warnings=warnings)
    span = _section(note, heading)
    for lead in ("", "\n"):  # behind HTML or a table a blank line is needed
        after = append_to_span(body, span, lead + text) if body else f"{text}\n"
        line = _added_line(body, after, text)
        if any(item.line == line for item in check_each(parse(after).tasks)):
            return UpdatedNote(after, line + 1, (), (text,), warnings=warnings)
    raise InvalidArguments(
        "The task would not be one at that place: the text before it is an open code block or "
        "comment. Close it, or name another heading.",
        argument="heading",
    )


def _section(note: Note, heading: str) -> Span:
    """Return the span of what stands under a heading, without the sections below it.

    Without a heading it is the whole text behind the frontmatter.
    """
    if not heading.strip():
        return Span(text_start(note.body), len(note.body))
    part = sections.locate(note.body, heading)
    below = bisect_left(note.outline, part.content.start, key=lambda heading: heading.span.start)
    end = note.outline[below].span.start if below < len(note.outline) else len(note.body)
    return Span(part.content.start, min(part.content.end, max(end, part.content.start)))


def _added_line(before: str, after: str, text: str) -> int:
    """Return the 0-based line of the text that was added.

    The text may occur in the note before, so it is looked for where the two texts begin to differ;
    it may begin with what stood there, and a line end and a blank line may come before it.
    """
    common = common_start(before, after)
    at = after.rindex(text, 0, common + len(text) + len("\n\n"))
    return after.count("\n", 0, at)


def _warnings(
    text: str, values: Mapping[str, str | None], change: TaskChange, settings: TaskSettings
) -> list[str]:
    """Return what the user should know of a changed line that is not an error."""
    line = read_line(text, settings.notation)
    names = [field.name for field in line.fields if field.name != "tag"] if line else []
    warnings = []
    if values.get("recurrence") and not {"start", "scheduled", "due"} & set(names):
        warnings.append(
            "The task recurs but has no start, scheduled or due date; its next occurrence will "
            "have none either."
        )
    if change.text is not None:
        warnings += (
            f"The line has {name.replace('_', ' ')} twice, and the first counts: leave it out of "
            "the text."
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        )
    return warnings
