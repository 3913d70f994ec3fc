"""Sort tasks (TASK-111, TASK-112)."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from obsidian_mcp.core.text.collation import collation_key

from .digits import read_digits
from .environment import Environment
from .fields import DATES, PRIORITIES
from .filters import without_global_filter
from .settings import TaskSettings
from .statements import filename_of
from .statuses import TYPES
from .task import Task
from .urgency import urgency

SortKey = Callable[[Task], Any]
"""What a task is sorted by: values of one key can be compared with each other."""


@dataclass(frozen=True, slots=True)
class Sorter:
    """One line `sort by …`."""

    key: SortKey
    reverse: bool


_SORTED_BY = (
    *("status.name", "status.type", "status", "recurring", "priority", "happens", "cancelled"),
    *("created", "start", "scheduled", "due", "done", "path", "description", "tag", "heading"),
    *("filename", "urgency", "id", "random"),
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
        number = read_digits(match["number"] or "1")
        return Sorter(_tag_key(number), reverse=bool(match["tag_reverse"]))
    return Sorter(_sort_key(match["name"].lower(), environment), reverse=bool(match["reverse"]))


def sort_tasks(
    tasks: Iterable[Task], sorters: Sequence[Sorter], environment: Environment
) -> list[Task]:
    """Return tasks in the order of the sorters, then of the plugin's default (TASK-112)."""
    today = environment.today

    def default_key(task: Task) -> Any:
        return (
            TYPES.index(task.status.type),
            -urgency(task, today),
            _day_key(task, "due"),
            PRIORITIES.index(task.priority),
            collation_key(task.path),
            task.path,
            task.place.line,
        )

    in_order = sorted(tasks, key=default_key)
    for sorter in reversed(sorters):  # sorting is stable, so the first sorter has the last word
        in_order.sort(key=sorter.key, reverse=sorter.reverse)
    return in_order


def _sort_key(name: str, environment: Environment) -> SortKey:
    """Return the sort key by a field, as the plugin orders it.

    `random` is the same all day, so that a list does not change under its reader.
    """
    today, settings = environment.today, environment.settings
    if name in DATES or name == "happens":
        return lambda task: _day_key(task, name)
    keys: dict[str, SortKey] = {
        "status": lambda task: task.status.is_done,
        "status.name": lambda task: collation_key(task.status.name),
        "status.type": lambda task: TYPES.index(task.status.type),
        "recurring": lambda task: task.rule is None,
        "priority": lambda task: PRIORITIES.index(task.priority),
        "path": lambda task: collation_key(task.path),
        "filename": lambda task: collation_key(filename_of(task.path) + ".md"),
        "description": lambda task: collation_key(sorted_description(task, settings)),
        "heading": lambda task: collation_key(task.place.heading or ""),
        "id": lambda task: collation_key(task.id or ""),
        "urgency": lambda task: -urgency(task, today),
        "random": lambda task: zlib.crc32(
            f"{today} {task.path} {task.text}".encode("utf-8", "replace")
        ),
    }
    return keys[name]


def _day_key(task: Task, name: str) -> tuple[int, date]:
    """Return the key by one of the dates: those that are no day come first, missing ones last."""
    day = task.day(name)
    if day is not None:
        return 1, day
    return (0 if name in task.invalid else 2), date.min


def _tag_key(number: int) -> SortKey:
    """Return the key by the nth tag; tasks with fewer tags come later, those without any last."""

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


def sorted_description(task: Task, settings: TaskSettings) -> str:
    """Return a description as it sorts: as a reader sees its beginning.

    A link at its start counts as the text that is shown for it, and marks of formatting at its
    start do not count.
    """
    text = without_global_filter(task.description, settings)
    link = _LINK.match(text)
    if link:
        target, bar, display = link[1].partition("|")
        text = (display if bar else target) + text[link.end() :]
    for pattern in _FORMATTED:
        formatted = pattern.match(text)
        if formatted:
            text = formatted[1] + text[formatted.end() :]
    return text
