"""Sort and group tasks (TASK-111 to TASK-114)."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

from obsidian_mcp.core.text.collation import collation_key

from .filters import Environment, without_global_filter
from .recurrence import WEEKDAYS
from .settings import TYPES, TaskSettings
from .statements import filename_of, folder_of, root_of
from .task import DATES, PRIORITIES, Task

Key = Callable[[Task], Any]


class Sorter(NamedTuple):
    key: Key
    reverse: bool


class Grouper(NamedTuple):
    names: Callable[[Task], Sequence[str]]
    reverse: bool


class TaskGroup(NamedTuple):
    names: tuple[str, ...]
    """One for each level."""
    tasks: tuple[Task, ...]


_SORTED_BY = (
    *(
        "status.name",
        "status.type",
        "status",
        "recurring",
        "priority",
        "happens",
        "cancelled",
        "created",
        "start",
    ),
    *(
        "scheduled",
        "due",
        "done",
        "path",
        "description",
        "tag",
        "heading",
        "filename",
        "urgency",
        "id",
        "random",
    ),
)
"""A prefix of the line decides, so `status.name` stands before `status`."""
_match_sorter = re.compile(
    rf"sort by (?:(?P<tag>tag)(?P<tag_reverse> reverse)?\s*(?P<number>[0-9]+)?|"
    rf"(?P<name>{'|'.join(map(re.escape, _SORTED_BY))})(?P<reverse> reverse)?)",
    re.IGNORECASE,
).match


def parse_sorter(line: str, environment: Environment) -> Sorter | None:
    """Return what a line `sort by …` means, None where it names no field (TASK-111)."""
    match = _match_sorter(line)
    if match is None:
        return None
    if match["tag"]:
        return Sorter(_tag_key(int((match["number"] or "1")[:9])), bool(match["tag_reverse"]))
    return Sorter(_sort_key(match["name"].lower(), environment), bool(match["reverse"]))


def sort_tasks(
    tasks: Iterable[Task], sorters: Sequence[Sorter], environment: Environment
) -> list[Task]:
    """Return tasks in the order of the sorters, then of the default (TASK-112)."""
    today = environment.today

    def default(task: Task) -> Any:
        return (
            TYPES.index(task.status.type),
            -urgency(task, today),
            _day_key(task, "due"),
            PRIORITIES.index(task.priority),
            collation_key(task.path),
            task.path,
            task.place.line,
        )

    found = sorted(tasks, key=default)
    for sorter in reversed(sorters):
        found.sort(key=sorter.key, reverse=sorter.reverse)
    return found


def _sort_key(name: str, environment: Environment) -> Key:
    today, settings = environment.today, environment.settings
    if name in DATES or name == "happens":
        return lambda task: _day_key(task, name)
    keys: dict[str, Key] = {
        "status": lambda task: task.status.is_done,
        "status.name": lambda task: collation_key(task.status.name),
        "status.type": lambda task: TYPES.index(task.status.type),
        "recurring": lambda task: task.rule is None,
        "priority": lambda task: PRIORITIES.index(task.priority),
        "path": lambda task: collation_key(task.path),
        "filename": lambda task: collation_key(filename_of(task.path) + ".md"),
        "description": lambda task: collation_key(shown_description(task, settings)),
        "heading": lambda task: collation_key(task.place.heading or ""),
        "id": lambda task: collation_key(task.id or ""),
        "urgency": lambda task: -urgency(task, today),
        "random": lambda task: zlib.crc32(
            f"{today} {task.path} {task.text}".encode("utf-8", "replace")
        ),
    }
    return keys[name]


def _day_key(task: Task, name: str) -> tuple[int, date]:
    """Dates that are no day come first, missing ones last."""
    if (day := task.day(name)) is not None:
        return 1, day
    return (0 if name in task.invalid else 2), date.min


def _tag_key(number: int) -> Key:
    """By the nth tag; tasks with fewer tags come later, those without any last."""

    def key(task: Task) -> Any:
        if len(task.tags) >= number:
            return 0, collation_key(task.tags[number - 1] if number else "")
        return (1 if task.tags else 2), ()

    return key


_LINK = re.compile(r"\[\[?([^\]]*)\]\]?")
_FORMATTED = [
    re.compile(source)
    for source in (r"\*\*([^*]+)\*\*", r"\*([^*]+)\*", "==([^=]+)==", "__([^_]+)__", "_([^_]+)_")
]


def shown_description(task: Task, settings: TaskSettings) -> str:
    """Return a description as it sorts: a link at its start as its text, without marks of formatting at its start."""
    text = without_global_filter(task.description, settings)
    if match := _LINK.match(text):
        text = (
            match[1].partition("|")[2] + text[match.end() :]
            if "|" in match[1]
            else match[1] + text[match.end() :]
        )
    for pattern in _FORMATTED:
        if match := pattern.match(text):
            text = match[1] + text[match.end() :]
    return text


_match_grouper = re.compile(
    r"group by (?P<name>[a-z.]+)(?P<reverse> reverse)?\Z", re.IGNORECASE
).match


def parse_grouper(line: str, environment: Environment) -> Grouper | None:
    """Return what a line `group by …` means, None where it names no field (TASK-113)."""
    match = _match_grouper(line)
    if match is None:
        return None
    name = match["name"].lower()
    names = _group_names(name, environment)
    # urgency runs from high to low
    return None if names is None else Grouper(names, bool(match["reverse"]) != (name == "urgency"))


def group_tasks(tasks: Iterable[Task], groupers: Sequence[Grouper]) -> list[TaskGroup]:
    """Return tasks in groups that are sorted by name, level by level; in a group they keep their order (TASK-114)."""
    groups: dict[tuple[str, ...], list[Task]] = {}
    for task in tasks:
        paths: list[tuple[str, ...]] = [()]
        for grouper in groupers:
            names = grouper.names(task)
            paths = [(*path, name) for path in paths for name in names]
        for (
            path
        ) in paths:  # a task that has a tag twice stands twice in its group, as in the plugin
            groups.setdefault(path, []).append(task)
    found = [TaskGroup(names, tuple(members)) for names, members in groups.items()]
    for level in reversed(range(len(groupers))):
        found.sort(
            key=lambda group, level=level: collation_key(group.names[level]),
            reverse=groupers[level].reverse,
        )  # type: ignore[misc]
    return found


_PRIORITY_GROUPS = {
    name: f"%%{rank}%%{'Normal' if name == 'none' else name.capitalize()} priority"
    for rank, name in enumerate(PRIORITIES)
}


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("_", "\\_")


def _backlink(task: Task) -> str:
    name, heading = filename_of(task.path), task.place.heading
    return f"[[{name}]]" if heading is None else f"[[{name}#{heading}|{name} > {heading}]]"


def _group_names(name: str, environment: Environment) -> Callable[[Task], Sequence[str]] | None:
    if name == "tags":
        return lambda task: task.tags or ("(No tags)",)
    if name in DATES or name == "happens":
        return lambda task: (_day_group(task, name),)
    today = environment.today
    names: dict[str, Callable[[Task], str]] = {
        "status": lambda task: "Done" if task.status.is_done else "Todo",
        "status.name": lambda task: task.status.name,
        "status.type": lambda task: f"%%{TYPES.index(task.status.type) + 1}%%{task.status.type}",
        "recurring": lambda task: "Not Recurring" if task.rule is None else "Recurring",
        "priority": lambda task: _PRIORITY_GROUPS[task.priority],
        "path": lambda task: _escape(task.path.removesuffix(".md")),
        "folder": lambda task: _escape(folder_of(task.path)),
        "root": lambda task: _escape(root_of(task.path)),
        "filename": lambda task: f"[[{filename_of(task.path)}]]",
        "backlink": _backlink,
        "heading": lambda task: task.place.heading or "(No heading)",
        "recurrence": lambda task: task.recurrence or "None",
        "id": lambda task: task.id or "",
        "urgency": lambda task: f"{urgency(task, today):.2f}",
    }
    found = names.get(name)
    return None if found is None else lambda task: (found(task),)


def _day_group(task: Task, name: str) -> str:
    if (day := task.day(name)) is not None:
        return f"{day.isoformat()} {WEEKDAYS[day.weekday()]}"
    return f"%%0%% Invalid {name} date" if name in task.invalid else f"No {name} date"


_PRIORITY = {"highest": 9.0, "high": 6.0, "medium": 3.9, "none": 1.95, "low": 0.0, "lowest": -1.8}
_MOST_DAYS_OVERDUE = 7
_MOST_DAYS_AHEAD = 14
_LEAST_SHARE = 0.2


def urgency(task: Task, today: date) -> float:
    """Return the urgency of a task on a day; the higher, the sooner it should be done."""
    found = _PRIORITY[task.priority]
    if task.due is not None:
        found += 12.0 * _due_share((today - task.due).days)
    if task.scheduled is not None and task.scheduled <= today:
        found += 5.0
    if task.start is not None and task.start > today:
        found -= 3.0
    return found


def _due_share(days_overdue: int) -> float:
    if days_overdue >= _MOST_DAYS_OVERDUE:
        return 1.0
    if days_overdue < -_MOST_DAYS_AHEAD:
        return _LEAST_SHARE
    return (days_overdue + _MOST_DAYS_AHEAD) * (1 - _LEAST_SHARE) / (
        _MOST_DAYS_AHEAD + _MOST_DAYS_OVERDUE
    ) + _LEAST_SHARE
