"""The arguments of a list of tasks, as filters (TASK-131, TASK-132)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from obsidian_mcp.core.calendar.days import PERIOD_FORMS, TASKS
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.vault_path import name_key
from obsidian_mcp.errors import InvalidArguments, QueryInvalid

from . import filters
from .filters import (
    Environment,
    Explanation,
    Filter,
    Predicate,
    by_path,
    by_status,
    contains,
    without_global_filter,
)
from .settings import TYPES
from .task import PRIORITIES

_is_until = re.compile(r"^(?:by|until) ", re.IGNORECASE)
_UNEXPLAINED = Explanation("")


@dataclass(frozen=True, slots=True)
class ListRequest:
    """What a list of tasks is narrowed by; an empty text is no condition."""

    status: str = "all"
    """todo, done, all, a type in any case, or one character: the symbol."""
    dates: Mapping[str, str] = field(default_factory=dict)
    """By name of a date: a phrase such as `before next week`, or none, any, invalid."""
    priority: str = ""
    """A level, or `above`, `below` or `not` with one."""
    tag: str = ""
    """With or without `#`; tags nested below it count."""
    folder: str = ""
    """Path of a folder; those below it count."""
    path: str = ""
    """Path of one note."""
    heading: str = ""
    text: str = ""
    blocked: bool | None = None


def list_filters(request: ListRequest, environment: Environment) -> Iterator[Filter]:
    """Yield the filters that a request means. Raises: InvalidArguments, QueryInvalid for a date."""
    yield from _status(request.status)
    for name, phrase in request.dates.items():
        if phrase.strip():
            yield _date(name, phrase.strip(), environment)
    if request.priority.strip():
        yield _plain(_priority(request.priority))
    if wanted := request.tag.strip():
        yield _plain(lambda task: any(tags.covers(wanted, tag) for tag in task.tags))
    if folder := request.folder.strip("/"):
        beginning = f"{name_key(folder)}/"
        yield by_path(lambda path: name_key(path).startswith(beginning), _UNEXPLAINED)
    if request.path:
        yield by_path(lambda path: path == request.path, _UNEXPLAINED)
    if request.heading:
        in_heading = contains(request.heading)
        yield _plain(lambda task: in_heading(task.place.heading or ""))
    if request.text:
        in_text = contains(request.text)
        yield _plain(
            lambda task: in_text(without_global_filter(task.description, environment.settings))
        )
    if request.blocked is not None:
        yield _plain(lambda task: environment.dependencies.is_blocked(task) == request.blocked)


def _plain(matches: Predicate) -> Filter:
    return Filter(matches, _UNEXPLAINED)


def _status(wanted: str) -> Iterator[Filter]:
    name = wanted if len(wanted) == 1 else wanted.strip().lower()
    if name == "all":
        return
    if name in ("todo", "done"):
        yield by_status(lambda status: status.is_done == (name == "done"), _UNEXPLAINED)
    elif len(name) == 1:
        yield by_status(lambda status: status.symbol == name, _UNEXPLAINED)
    elif name.upper() in TYPES:
        yield by_status(lambda status: status.type == name.upper(), _UNEXPLAINED)
    else:
        kinds = ", ".join(kind.lower() for kind in TYPES)
        raise InvalidArguments(
            f"status must be todo, done, all, one of {kinds}, or the one character between the brackets, but "
            f"{wanted!r} came.",
            argument="status",
        )


def _date(name: str, phrase: str, environment: Environment) -> Filter:
    word = phrase.lower()
    if word in ("any", "none"):
        wanted = word == "any"
        if name == "happens":
            return _plain(lambda task: filters.has_happens_date(task) == wanted)
        return _plain(lambda task: task.has_date(name) == wanted)
    if word == "invalid" and name != "happens":
        return _plain(lambda task: name in task.invalid)
    phrase = "before today" if word == "overdue" else _is_until.sub("on or before ", phrase)
    found = filters.date_filter(name, phrase, environment.today, ways=TASKS)
    if found is None:
        raise QueryInvalid(
            f"{name}: {phrase!r} is not understood. Expected overdue, none, any, invalid or, with or without on, "
            f"before, after, until, on or after in front of it, `last 7 days`, {PERIOD_FORMS}.",
            argument=name,
        )
    return found


def _priority(text: str) -> Predicate:
    match = re.fullmatch(rf"(?:(above|below|not) +)?({'|'.join(PRIORITIES)})", text.strip().lower())
    if match is None:
        raise InvalidArguments(
            f"priority must be one of {', '.join(PRIORITIES)}, with or without above, below or not in front of it, but "
            f"{text!r} came.",
            argument="priority",
        )
    return filters.priority_predicate(match[1], match[2])
