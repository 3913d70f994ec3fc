"""What is answered about tasks: one task, a page of a list (TASK-133, TASK-134)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from obsidian_mcp import TYPE_CHECKING, json_codec
from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.text.fit import MARK, count_fitting, cut_text
from obsidian_mcp.core.text.page_order import page_start
from obsidian_mcp.core.text.text import to_printable

if TYPE_CHECKING:  # the tools import this module before any task is asked for
    from .environment import Dependencies
    from .query import TasksResult
    from .task import Task

PAGE_CHARACTERS = 9_500
"""Characters of the tasks of a page as JSON; with what stands around them it stays below 10 000."""
TEXT_CHARACTERS = 2_000
"""Characters of a member of one task."""
MAX_TAGS = 20
"""Tags of one task."""
SHOWN_BY_LINE = (
    *("due", "scheduled", "start", "created", "done", "cancelled", "recurrence", "on_completion"),
    *("id", "depends_on", "tags", "block_id"),
)
"""Members that a line mostly says as they are."""
USUAL_STATUSES = ((" ", "TODO"), ("x", "DONE"))
"""Symbols in brackets that need no word."""


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """One task (TASK-133).

    Members that say nothing are None; `without_repeats` sets those to None that the line shows too.
    """

    path: str
    line: int
    """1-based."""
    text: str
    """The whole line as it stands."""
    status: str | None = None
    """The symbol."""
    status_type: str | None = None
    description: str | None = None
    due: str | None = None
    scheduled: str | None = None
    start: str | None = None
    created: str | None = None
    done: str | None = None
    cancelled: str | None = None
    scheduled_inferred: bool | None = None
    """The scheduled date is that of the note's name."""
    priority: str | None = None
    recurrence: str | None = None
    on_completion: str | None = None
    id: str | None = None
    depends_on: list[str] | None = None
    tags: list[str] | None = None
    block_id: str | None = None
    heading: str | None = None
    blocked: bool | None = None
    blocking: bool | None = None
    invalid: Mapping[str, str] | None = None
    """Fields that cannot be read, as written."""


def entry_of(task: Task, dependencies: Dependencies) -> TaskEntry:
    """Return what is answered about a task."""
    from .fields import DATES

    days = {name: day.isoformat() for name in DATES if (day := task.day(name)) is not None}
    return TaskEntry(
        task.path,
        task.place.line,
        to_printable(task.text),
        to_printable(task.status.symbol),
        task.status.type,
        to_printable(task.description),
        **days,
        scheduled_inferred=task.scheduled_inferred or None,
        priority=None if task.priority == "none" else task.priority,
        recurrence=task.recurrence or None,
        on_completion=task.on_completion,
        id=task.id,
        depends_on=list(task.depends_on) or None,
        tags=[to_printable(tag) for tag in task.tags] or None,
        block_id=task.block_id,
        heading=None if task.place.heading is None else to_printable(task.place.heading),
        blocked=dependencies.is_blocked(task) or None,
        blocking=dependencies.blocks(task) or None,
        invalid=dict(task.invalid) or None,
    )


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """Tasks that follow each other in one group; its names are those of each level."""

    names: list[str]
    tasks: list[str]
    """`path:line` of each."""


@dataclass(frozen=True, slots=True)
class TaskPage:
    """One page of a list of tasks."""

    tasks: list[TaskEntry]
    total: int
    """Tasks of the whole list."""
    matched: int | None = None
    """Before the limits of the query, where that is another number."""
    next_offset: int | None = None
    groups: list[GroupEntry] | None = None
    explanation: str | None = None
    incomplete: str | None = None
    """A sentence where the index was not current."""
    note: str | None = None
    """Which tasks are left out."""


@dataclass(frozen=True, slots=True)
class UpdatedTask:
    """What became of a task."""

    path: str
    line: int
    """Of the changed or added task, 1-based; of a deleted one, where it stood."""
    old: list[str]
    new: list[str]
    """The lines that stand there now, in order."""
    changed: bool
    etag: str
    task: TaskEntry | None = None
    next: TaskEntry | None = None
    """The new occurrence of a recurring task."""
    deleted: bool | None = None
    lane: str | None = None
    warnings: list[str] | None = None
    merged: bool | None = None
    """True where the note had changed since the etag and both changes were kept."""


def page_of(
    result: TasksResult,
    dependencies: Dependencies,
    page: Page,
    *,
    explanation: str | None = None,
    incomplete: str | None = None,
) -> TaskPage:
    """Return one page of a result (TASK-134).

    With groups it counts the entries of the groups, where a task may stand several times; its
    members are answered once.
    """
    if result.groups is None:
        entries: list[tuple[tuple[str, ...], Task]] = [((), task) for task in result.tasks]
    else:
        entries = [(group.names, task) for group in result.groups for task in group.tasks]
    on_page = page.cut(entries, lambda entry: (entry[0], entry[1].path, entry[1].place.line))
    tasks = {(task.path, task.place.line): task for _, task in on_page}
    groups = _group((names, f"{task.path}:{task.place.line}") for names, task in on_page)
    end = page_start(page.offset) + len(on_page)
    return TaskPage(
        [entry_of(task, dependencies) for task in tasks.values()],
        total=len(result.tasks),
        matched=None if result.matched == len(result.tasks) else result.matched,
        next_offset=end if on_page and end < len(entries) else None,
        groups=None if result.groups is None else groups,
        explanation=explanation,
        incomplete=incomplete,
    )


def shorten_page(page: TaskPage, offset: int, max_characters: int = PAGE_CHARACTERS) -> TaskPage:
    """Return a page with as many of its entries as fit so many characters of JSON (TASK-134).

    It begins at `offset` of the whole list, and has at least one entry: else a client that asks for
    the next page would never get past a long task.
    """
    page = replace(page, tasks=[without_repeats(_cut_short(entry)) for entry in page.tasks])
    entries = {f"{entry.path}:{entry.line}": entry for entry in page.tasks}
    groups = page.groups or [GroupEntry([], list(entries))]
    places = [(tuple(group.names), place) for group in groups for place in group.tasks]
    room = max_characters - len(page.explanation or "")
    count = count_fitting(_sizes(places, entries), room, least=1)
    if count >= len(places):
        return page
    first_places = places[:count]
    return replace(
        page,
        tasks=[entries[place] for place in dict.fromkeys(place for _, place in first_places)],
        groups=None if page.groups is None else _group(first_places),
        next_offset=page_start(offset) + count,
    )


def _sizes(
    places: Iterable[tuple[tuple[str, ...], str]], entries: Mapping[str, TaskEntry]
) -> Iterator[int]:
    """Yield the characters that each place adds to an answer.

    The names of a group count where it begins, and a task where it comes first: a task may stand in
    several groups, and is answered once.
    """
    names_above: tuple[str, ...] = ()
    counted: set[str] = set()
    for names, place in places:
        new_names = names if names != names_above else ()
        new_entry = 0 if place in counted else _size(entries[place])
        yield len(place) + new_entry + sum(map(len, new_names))
        names_above = names
        counted.add(place)


def _group(places: Iterable[tuple[tuple[str, ...], str]]) -> list[GroupEntry]:
    """Return the groups of tasks that follow each other, by the names of their group."""
    runs = groupby(places, key=itemgetter(0))
    return [GroupEntry(list(names), [place for _, place in members]) for names, members in runs]


def _cut_short(entry: TaskEntry) -> TaskEntry:
    """Return the task with what is longer than a model should read cut short.

    Its path and line say where the whole is.
    """
    cut: dict[str, Any] = {
        name: cut_text(value, TEXT_CHARACTERS, f"{MARK} (cut)")
        for name in ("text", "description", "recurrence", "heading")
        if (value := getattr(entry, name)) is not None and len(value) > TEXT_CHARACTERS
    }
    if entry.tags is not None and len(entry.tags) > MAX_TAGS:
        cut["tags"] = entry.tags[:MAX_TAGS]
    return replace(entry, **cut) if cut else entry


def without_repeats(entry: TaskEntry) -> TaskEntry:
    """Return a task without what its line shows as well (TASK-133)."""
    repeated: dict[str, Any] = {
        name: None
        for name in SHOWN_BY_LINE
        if all(part in entry.text for part in _parts(getattr(entry, name)))
    }
    is_usual = (entry.status, entry.status_type) in USUAL_STATUSES
    return replace(
        entry,
        status=None,
        status_type=None if is_usual else entry.status_type,
        description=None,
        **repeated,
    )


def _parts(value: str | list[str] | None) -> list[str]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _size(entry: TaskEntry) -> int:
    members = {name: value for name, value in asdict(entry).items() if value is not None}
    return len(json_codec.write_compact(members))
