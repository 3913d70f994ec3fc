"""Group tasks (TASK-113, TASK-114)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from obsidian_mcp.core.text.collation import collation_key

from .environment import Environment
from .fields import DATES, PRIORITIES
from .recurrence import WEEKDAYS
from .statements import filename_of, folder_of, root_of
from .statuses import TYPES
from .task import Task
from .urgency import urgency


@dataclass(frozen=True, slots=True)
class Grouper:
    """One line `group by …`."""

    names: Callable[[Task], Sequence[str]]
    """The groups that a task belongs to."""
    reverse: bool


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """The tasks with the same names for every level."""

    names: tuple[str, ...]
    """One for each level."""
    tasks: tuple[Task, ...]


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
    if names is None:
        return None
    is_descending = name == "urgency"  # urgency runs from high to low
    return Grouper(names, reverse=bool(match["reverse"]) != is_descending)


def group_tasks(tasks: Iterable[Task], groupers: Sequence[Grouper]) -> list[TaskGroup]:
    """Return tasks in groups that are sorted by name, level by level (TASK-114).

    In a group they keep their order.
    """
    groups: dict[tuple[str, ...], list[Task]] = {}
    for task in tasks:
        paths: list[tuple[str, ...]] = [()]
        for grouper in groupers:
            names = grouper.names(task)
            paths = [(*path, name) for path in paths for name in names]
        # a task that has a tag twice stands twice in its group, as in the plugin
        for path in paths:
            groups.setdefault(path, []).append(task)
    in_order = [TaskGroup(names, tuple(members)) for names, members in groups.items()]
    for level, grouper in reversed(list(enumerate(groupers))):
        in_order.sort(key=partial(_level_key, level), reverse=grouper.reverse)
    return in_order


def _level_key(level: int, group: TaskGroup) -> Any:
    return collation_key(group.names[level])


# Numbers between %%, a comment for the app, make groups sort in their order and are not displayed.
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
    """Return the function that names a task's groups by a field; None for a field that makes none.

    The names are the plugin's own, with its hidden `%%2%%` that sorts them.
    """
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
    name_of = names.get(name)
    return None if name_of is None else lambda task: (name_of(task),)


def _day_group(task: Task, name: str) -> str:
    day = task.day(name)
    if day is not None:
        return f"{day.isoformat()} {WEEKDAYS[day.weekday()]}"
    return f"%%0%% Invalid {name} date" if name in task.invalid else f"No {name} date"
