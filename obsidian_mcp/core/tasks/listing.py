"""The arguments of a list of tasks, as filters (TASK-131, TASK-132)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from obsidian_mcp.core.calendar.days import PERIOD_FORMS, TASKS
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.vault_path import name_key
from obsidian_mcp.errors import InvalidArguments, QueryInvalid

from .environment import Environment
from .explanation import Explanation
from .fields import PRIORITIES
from .filters import (
    Filter,
    TaskTest,
    date_filter,
    has_happens_date,
    path_filter,
    priority_test,
    status_filter,
    without_global_filter,
)
from .statuses import TYPES
from .text_match import contains

_is_until = re.compile(r"^(?:by|until) ", re.IGNORECASE)
_UNEXPLAINED = Explanation("")
"""A list is not explained: its arguments say what they mean."""


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
    leaves_out: Callable[[str], bool] | None = None
    """Whether the tasks of the note at a path are left out, where neither folder nor note is
    named."""


def list_filters(request: ListRequest, environment: Environment) -> Iterator[Filter]:
    """Yield the filters that a request means.

    Raises: InvalidArguments, and QueryInvalid for a date that is not understood.
    """
    yield from _status(request.status)
    for name, phrase in request.dates.items():
        if phrase.strip():
            yield _date(name, phrase.strip(), environment)
    if request.priority.strip():
        yield _unexplained_filter(_priority(request.priority))
    outer_tag = request.tag.strip()
    if outer_tag:
        yield _unexplained_filter(
            lambda task: any(tags.covers(outer_tag, tag) for tag in task.tags)
        )
    folder = request.folder.strip("/")
    if folder:
        beginning = f"{name_key(folder)}/"
        yield path_filter(lambda path: name_key(path).startswith(beginning), _UNEXPLAINED)
    if request.path:
        yield path_filter(lambda path: path == request.path, _UNEXPLAINED)
    leaves_out = request.leaves_out
    if leaves_out is not None and not folder and not request.path:
        yield path_filter(lambda path: not leaves_out(path), _UNEXPLAINED)
    if request.heading:
        in_heading = contains(request.heading)
        yield _unexplained_filter(lambda task: in_heading(task.place.heading or ""))
    if request.text:
        in_text = contains(request.text)
        yield _unexplained_filter(
            lambda task: in_text(without_global_filter(task.description, environment.settings))
        )
    if request.blocked is not None:
        yield _unexplained_filter(
            lambda task: environment.dependencies.is_blocked(task) == request.blocked
        )


def _unexplained_filter(matches: TaskTest) -> Filter:
    return Filter(matches, _UNEXPLAINED)


def _status(argument: str) -> Iterator[Filter]:
    """Yield the filter of the argument `status`; none for all.

    Raises: InvalidArguments for a word that is no status.
    """
    # one character is a symbol, which may be a space or a capital
    name = argument if len(argument) == 1 else argument.strip().lower()
    if name == "all":
        return
    if name in ("todo", "done"):
        yield status_filter(lambda status: status.is_done == (name == "done"), _UNEXPLAINED)
    elif len(name) == 1:
        yield status_filter(lambda status: status.symbol == name, _UNEXPLAINED)
    elif name.upper() in TYPES:
        yield status_filter(lambda status: status.type == name.upper(), _UNEXPLAINED)
    else:
        types = ", ".join(status_type.lower() for status_type in TYPES)
        raise InvalidArguments(
            f"`status` must be todo, done, all, one of {types}, or the one character between the "
            f"brackets, but {argument!r} came.",
            argument="status",
        )


def _date(name: str, phrase: str, environment: Environment) -> Filter:
    """Return the filter of an argument that names a date or a period (TASK-132).

    Raises: QueryInvalid.
    """
    word = phrase.lower()
    if word in ("any", "none"):
        expected = word == "any"
        if name == "happens":
            return _unexplained_filter(lambda task: has_happens_date(task) == expected)
        return _unexplained_filter(lambda task: task.has_date(name) == expected)
    if word == "invalid" and name != "happens":
        return _unexplained_filter(lambda task: name in task.invalid)
    phrase = "before today" if word == "overdue" else _is_until.sub("on or before ", phrase)
    request_filter = date_filter(name, phrase, environment.today, rules=TASKS)
    if request_filter is None:
        raise QueryInvalid(
            f"`{name}`: {phrase!r} is not understood. Expected overdue, none, any, invalid or, "
            "with or without on, before, after, until, on or after in front of it, `last 7 days`, "
            f"{PERIOD_FORMS}.",
            argument=name,
        )
    return request_filter


def _priority(text: str) -> TaskTest:
    match = re.fullmatch(rf"(?:(above|below|not) +)?({'|'.join(PRIORITIES)})", text.strip().lower())
    if match is None:
        raise InvalidArguments(
            f"`priority` must be one of {', '.join(PRIORITIES)}, with or without above, below or "
            f"not in front of it, but {text!r} came.",
            argument="priority",
        )
    return priority_test(match[1], match[2])
