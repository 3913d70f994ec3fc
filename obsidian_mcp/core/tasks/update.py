"""Find the checkbox that a person names (TASK-70 to TASK-72), change or add one task in a note's text, also as a card
of a Kanban board (TASK-40, TASK-60 to TASK-67, BOARD-3)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from os.path import commonprefix
from typing import NamedTuple

from obsidian_mcp.core.calendar.days import FORMS, read_coming_day, read_shifted_day
from obsidian_mcp.core.calendar.iso import calendar_day
from obsidian_mcp.core.frontmatter.parser import text_start
from obsidian_mcp.core.note import board, sections
from obsidian_mcp.core.note.edits import append_to_span
from obsidian_mcp.core.note.parser import Note, parse
from obsidian_mcp.core.text.text import Lines, Span, printable
from obsidian_mcp.errors import InvalidArguments, TextNotFound, TextNotUnique

from . import recurrence
from .change_status import StatusChange, change_status, follows_core, new_status
from .recurrence import write_rule
from .settings import LINE_ENDS, TYPES, TaskSettings
from .task import (
    NOTHING,
    ON_COMPLETION,
    PRIORITIES,
    read_line,
    set_description,
    set_fields,
    with_global_filter,
)

SHOWN = 12
"""Places named where several tasks match."""


class Checkbox(NamedTuple):
    """A list item with a checkbox, be it a task of the plugin or not."""

    path: str
    line: int
    """1-based."""
    text: str
    """The whole line without its line end."""
    has_children: bool = False

    @property
    def symbol(self) -> str:
        """The character between the brackets."""
        return self.text[self.text.index("[") + 1]


def could_be(text: str, wanted: str) -> bool:
    """Return whether a line can be the task that is named: all words of the name occur in it."""
    lower = printable(text).lower()
    return all(word in lower for word in wanted.lower().removeprefix("^").split())


def find_named(boxes: Iterable[Checkbox], wanted: str, settings: TaskSettings) -> Checkbox:
    """Return the checkbox of an id, `^block-id`, line, description or part of one; of several, the one not done
    (TASK-70). Raises: TextNotFound, TextNotUnique with the places."""
    candidates = [box for box in boxes if could_be(box.text, wanted)]
    if (found := _find(candidates, wanted, settings, _PART)) is not None:
        return found
    raise TextNotFound(
        f"No task is called {wanted!r}. Name it by its text, its id, ^block-id or line; obsidian_list_tasks shows them."
    )


def find_at(boxes: Sequence[Checkbox], line: int, wanted: str, settings: TaskSettings) -> Checkbox:
    """The checkbox in a line, or the only one that `wanted` names (TASK-71). Raises: TextNotFound, TextNotUnique."""
    here = next((box for box in boxes if box.line == line), None)
    if not wanted:
        if here is None:
            raise TextNotFound(f"Line {line} is no task. {_tasks_of(boxes)}", line=line)
        return here
    if here is not None and _find([here], wanted, settings, _PART) is not None:
        return here
    # a part of a description is not enough where the line is another one
    if (found := _find(boxes, wanted, settings, _DESCRIPTION)) is not None:
        return found
    raise TextNotFound(
        f"Line {line} is not the task {wanted!r}, and no other task is. {_tasks_of(boxes)}",
        line=line,
    )


_DESCRIPTION, _PART, _OTHERWISE = 3, 4, 5
"""Ways to name a task by a description or a part of it, among those of `_way`."""


def _find(
    boxes: Iterable[Checkbox], wanted: str, settings: TaskSettings, loosest: int
) -> Checkbox | None:
    """The checkbox that is named in the strictest way, which is no looser than `loosest`."""
    if not wanted.strip():
        raise InvalidArguments(
            "task is empty: name a task by its text, its id or ^block-id.", argument="task"
        )
    ways = [(_way(box, wanted, settings), box) for box in boxes]
    strictest = min((way for way, _ in ways), default=_OTHERWISE)
    return (
        _only([box for way, box in ways if way == strictest], wanted, settings)
        if strictest <= loosest
        else None
    )


def _way(box: Checkbox, wanted: str, settings: TaskSettings) -> int:
    """How a checkbox is named: 0 by its id, 1 by its ^block-id, 2 by its line, then as the numbers above."""
    line = read_line(box.text, settings.notation)
    description = printable(
        box.text.partition("]")[2].strip() if line is None else line.description
    )
    ways = (
        line is not None
        and any(field.name == "id" and field.value == wanted for field in line.fields),
        line is not None and wanted == f"^{line.block_id}",
        printable(box.text).strip() == wanted.strip(),
        description == wanted.strip(),
        wanted.strip().lower() in description.lower(),
    )
    return ways.index(True) if True in ways else _OTHERWISE


def _only(found: Sequence[Checkbox], wanted: str, settings: TaskSettings) -> Checkbox:
    pending = [box for box in found if not settings.statuses.get(box.symbol).is_done]
    for boxes in (found, pending):
        if len(boxes) == 1:
            return boxes[0]
    places = [f"{box.path}:{box.line}" for box in found]
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    raise TextNotUnique(
        f"{len(found)} tasks are called {wanted!r}: {', '.join(places[:SHOWN])}{more}. Name the note and the line.",
        places=places[:SHOWN],
    )


def _tasks_of(boxes: Sequence[Checkbox]) -> str:
    if not boxes:
        return "The note has no tasks."
    shown = ", ".join(str(box.line) for box in boxes[:SHOWN])
    return f"Tasks stand in line{'s' if len(boxes) > 1 else ''} {shown}{' …' if len(boxes) > SHOWN else ''}."


_MARKS = re.compile(r"[-*+][ \t]+\[(.)\](?:[ \t]+|\Z)")
"""Of a task in a list; the symbol is group 1."""
_is_id = re.compile("[A-Za-z0-9_-]+").fullmatch


class TaskChange(NamedTuple):
    """What is to become of a task. None keeps a field; an empty text or list removes it."""

    status: str = ""
    """toggle, a type in any case, one character, or nothing."""
    due: str | None = None
    scheduled: str | None = None
    start: str | None = None
    created: str | None = None
    priority: str | None = None
    recurrence: str | None = None
    on_completion: str | None = None
    new_id: str | None = None
    depends_on: Sequence[str] | None = None
    text: str | None = None


class Updated(NamedTuple):
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
    warnings: tuple[str, ...] = ()


def checkboxes(path: str, note: Note) -> list[Checkbox]:
    """Return the checkboxes of a note in its order."""
    parents = {item.parent for item in note.list_items}
    lines = note.body.split("\n")
    return [
        Checkbox(path, item.line + 1, lines[item.line].removesuffix("\r"), item.line in parents)
        for item in note.tasks
    ]


def update_task(
    body: str, box: Checkbox, change: TaskChange, settings: TaskSettings, today: date
) -> Updated:
    """Return a note's text with one task changed: its fields, then its status (TASK-67). Raises: InvalidArguments."""
    line = read_line(box.text, settings.notation)
    is_task = line is not None and settings.is_task(line.body)
    own = {name: field.value for name, field in line.by_name.items()} if line else {}
    values = field_values(change, today, own)
    if (values or change.text is not None) and not is_task:
        needed = (
            f"it lacks the global filter {settings.global_filter!r}"
            if line
            else "it is not written as one"
        )
        raise InvalidArguments(
            f"Line {box.line} of {box.path!r} is no task of the Tasks plugin: {needed}. Only its status can change.",
            line=box.line,
        )
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
    done = (
        _with_status(text, box, change.status, settings, today)
        if change.status
        else StatusChange(text)
    )
    return _put(body, box, done, warnings)


def _with_status(
    text: str, box: Checkbox, wanted: str, settings: TaskSettings, today: date
) -> StatusChange:
    core = follows_core(text, settings)
    line = read_line(text, settings.notation)
    at = (
        text.index("[") + 1 if line is None else line.symbol_at
    )  # the plugin may not read it as a checkbox
    status = new_status(wanted, settings.statuses.get(text[at]), settings, core=core)
    if status is None:
        kinds = ", ".join(kind.lower() for kind in TYPES if settings.statuses.first_of_type(kind))
        raise InvalidArguments(
            f"status must be toggle, one of {kinds}, or one printable character other than a bracket, but {wanted!r} "
            "came.",
            argument="status",
        )
    if core:
        return StatusChange(text[:at] + status.symbol + text[at + 1 :])
    return change_status(text, status, settings, today, has_children=box.has_children)


def _put(body: str, box: Checkbox, change: StatusChange, warnings: list[str]) -> Updated:
    """The note with the lines of a change in place of the task's line."""
    lines = change.lines
    start = Lines(body).starts[box.line - 1]
    end = start + len(box.text)
    ended = re.compile(r"\r?\n").match(body, end)
    newline = ended[0] if ended else ("\r\n" if "\r\n" in body else "\n")
    after = body[:start] + newline.join(lines) + body[end:]
    if not lines:
        after = body[:start] + body[ended.end() if ended else end :]
    is_first = change.next is None or change.next_below
    return Updated(
        after,
        box.line if change.changed is None or is_first else box.line + 1,
        (box.text,),
        tuple(lines),
        next_line=None
        if change.next is None
        else box.line + 1
        if change.next_below and change.changed
        else box.line,
        deleted=change.changed is None,
        warnings=(*warnings, *change.warnings),
    )


def add_task(
    body: str, change: TaskChange, heading: str, settings: TaskSettings, today: date
) -> Updated:
    """A note with a new task at the end of it or a section (TASK-66). Raises: InvalidArguments, SectionNotFound."""
    description = with_global_filter(checked_text(change.text or ""), settings.global_filter)
    values = {
        name: value for name, value in field_values(change, today).items() if value is not None
    }
    if settings.set_created_date:
        values.setdefault("created", today.isoformat())
    status = new_status(change.status or " ", settings.statuses.get(" "), settings, core=False)
    if status is None or change.status == "toggle":
        raise InvalidArguments(
            f"A new task cannot have the status {change.status!r}.", argument="status"
        )
    text = set_fields(f"- [{status.symbol}] {description}", values, settings.notation)
    span = _section(parse(body), heading)
    for lead in ("", "\n"):  # behind HTML or a table a blank line is needed
        after = append_to_span(body, span, lead + text) if body else f"{text}\n"
        line = _added_line(body, after, text)
        if any(item.line == line for item in parse(after).tasks):
            return Updated(
                after,
                line + 1,
                (),
                (text,),
                warnings=tuple(_warnings(text, values, change, settings)),
            )
    raise InvalidArguments(
        "The task would not be one at that place: the text before it is an open code block or comment. "
        "Close it, or name another heading.",
        argument="heading",
    )


def _section(note: Note, heading: str) -> Span:
    """What stands under a heading without the sections below it; without a heading the whole text."""
    if not heading.strip():
        return Span(text_start(note.body), len(note.body))
    part = sections.locate(note.body, heading)
    below = bisect_left(note.outline, part.content.start, key=lambda heading: heading.span.start)
    end = note.outline[below].span.start if below < len(note.outline) else len(note.body)
    return Span(part.content.start, min(part.content.end, max(end, part.content.start)))


def _added_line(before: str, after: str, text: str) -> int:
    """The 0-based line of the text that was added."""
    same = len(commonprefix((before, after)))  # noqa: RUF071 - of characters
    return after.count("\n", 0, after.rindex(text, 0, same + len(text) + 2))


def checked_text(text: str) -> str:
    """Return the one line of a task's text, without the marks of an open task. Raises: InvalidArguments."""
    text = text.strip()
    marks = _MARKS.match(text)
    if marks and marks[1] != " ":
        raise InvalidArguments(
            f"text begins with {marks[0].strip()!r}. Give it without; status sets that.",
            argument="text",
        )
    text = text[marks.end() :] if marks else text
    if not text:
        raise InvalidArguments("text is empty: a task needs a text.", argument="text")
    if not LINE_ENDS.isdisjoint(text):
        raise InvalidArguments("text has several lines: a task is one line.", argument="text")
    return text


def field_values(
    change: TaskChange, today: date, own: Mapping[str, str] = NOTHING
) -> dict[str, str | None]:
    """Return the fields of a change as they are written, None for one to remove; `own` are those that the task has.
    Raises: InvalidArguments."""
    given: dict[str, tuple[str | None, Callable[[str], str]]] = {
        "id": (change.new_id, _id),
        "depends_on": (None if change.depends_on is None else ",".join(change.depends_on), _ids),
        "priority": (change.priority, _priority),
        "recurrence": (change.recurrence, _rule),
        "on_completion": (change.on_completion, _action),
    }
    for name in ("created", "start", "scheduled", "due"):
        given[name] = (
            getattr(change, name),
            partial(_day, name, today, calendar_day(own.get(name, ""))),
        )
    found = {
        name: read(value.strip()) if value.strip() else None
        for name, (value, read) in given.items()
        if value is not None
    }
    return {
        name: None if (name, value) == ("priority", "none") else value
        for name, value in found.items()
    }


def _day(name: str, today: date, own: date | None, text: str) -> str:
    day = read_shifted_day(text, own or today) or read_coming_day(text, today)
    if day is None:
        raise InvalidArguments(
            f"{name}: {text!r} is no day. Expected {FORMS}, or `+1 week`, which is from the date that the task has.",
            argument=name,
        )
    return day.isoformat()


def _priority(text: str) -> str:
    if text.lower() not in PRIORITIES:
        raise InvalidArguments(
            f"priority must be one of {', '.join(PRIORITIES)}, but {text!r} came.",
            argument="priority",
        )
    return text.lower()


def _rule(text: str) -> str:
    rule = recurrence.parse(text)
    if rule is None or not rule.is_complete:
        understood = f" Only {write_rule(rule)!r} of it is understood." if rule else ""
        raise InvalidArguments(
            f"recurrence {text!r} is not understood.{understood} Expected a rule such as every day, every 2 weeks on "
            "Monday, every month on the last Friday, every January on the 15th; add `when done` to count from the day "
            "of completion.",
            argument="recurrence",
        )
    return write_rule(rule)


def _action(text: str) -> str:
    if text.lower() not in ON_COMPLETION:
        raise InvalidArguments(
            f"on_completion must be keep or delete, but {text!r} came.", argument="on_completion"
        )
    return text.lower()


def _id(text: str) -> str:
    if not _is_id(text):
        raise InvalidArguments(
            f"An id has letters, digits, - and _ only, but {text!r} came.", argument="new_id"
        )
    return text


def _ids(text: str) -> str:
    return ",".join(_id(part.strip()) for part in text.split(","))


def _warnings(
    text: str, values: Mapping[str, str | None], change: TaskChange, settings: TaskSettings
) -> list[str]:
    line = read_line(text, settings.notation)
    names = [field.name for field in line.fields if field.name != "tag"] if line else []
    found = []
    if values.get("recurrence") and not {"start", "scheduled", "due"} & set(names):
        found.append(
            "The task recurs but has no start, scheduled or due date; its next occurrence will have none either."
        )
    if change.text is not None:
        found += (
            f"The line has {name.replace('_', ' ')} twice, and the first counts: leave it out of the text."
            for name in dict.fromkeys(names)
            if names.count(name) > 1
        )
    return found


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
    wanted = sections.find(note, lane).heading if lane else None
    if lane and wanted is None:
        raise InvalidArguments(f"{lane!r} is no lane. Give the heading of one.", argument="lane")
    if (
        wanted is not None
        and not change.status
        and finished in (wanted, current)
        and wanted != current
    ):
        change = change._replace(status="done" if wanted == finished else "todo")
    if change == TaskChange():
        done = Updated(body, box.line, (box.text,), (box.text,))
    else:
        done = update_task(body, box, change, settings, today)
    if not lane and is_card and not done.deleted and not _is_done(box.text, settings):
        lines = done.body.split("\n")
        wanted = finished if _is_done(lines[done.line - 1], settings) else None
    if wanted is None or wanted == current:
        return done
    return _move_card(done, lane or wanted.text)._replace(lane=wanted.text)


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
    return done._replace(
        body=after, line=line, new=(text.split("\n")[0].removesuffix("\r"),), next_line=following
    )
