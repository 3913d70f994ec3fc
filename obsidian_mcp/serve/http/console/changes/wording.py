"""How the console says who did what, and when, in a person's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from obsidian_mcp.core.calendar.clock import Calendar, to_local_time
from obsidian_mcp.core.files.ports import ONE_SHOT, Author, Step
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.serve.http.console.part import CLIENT

VERBS: Final = {"create": "Made", "write": "Changed", "move": "Moved", "remove": "Deleted"}
"""By kind of a step, in the order in which a change is described."""


def name_author(author: Author) -> str:
    """Return who made a change."""
    if author.client == CLIENT:
        return "You, in this console"
    if author.process == ONE_SHOT:
        return author.client or "The command line"
    return author.client or "An unknown program"


def write_day(seconds: float) -> str:
    """Return the day of a time on this computer with its date, and "Today" before it."""
    day = _to_local_time(seconds)
    today = Calendar().today
    date = f"{day:%A}, {day.day} {day:%B %Y}"
    names = {today: "Today, ", today - timedelta(days=1): "Yesterday, "}
    return names.get(day.date(), "") + date


def write_time(seconds: float) -> str:
    """Return the hour and minute of a time on this computer."""
    return f"{_to_local_time(seconds):%H:%M}"


def write_moment(seconds: float) -> str:
    """Return the day and the time."""
    return f"{write_day(seconds)}, {write_time(seconds)}"


def _to_local_time(seconds: float) -> datetime:
    return to_local_time(int(seconds * 1_000_000))


def describe_steps(steps: Sequence[Step], path_of: Callable[[str], str]) -> str:
    """Return what a change did, in a line: its one file by name, several by number."""
    by_kind = Counter(step.kind for step in steps if step.kind != "folder")
    if not by_kind:
        return "Nothing needed a change"
    sentences = []
    for kind, verb in VERBS.items():
        of_kind = [step for step in steps if step.kind == kind]
        if len(of_kind) == 1:
            (step,) = of_kind
            target = f" to {path_of(step.target)}" if step.target else ""
            sentences.append(f"{verb} {path_of(step.disk)}{target}")
        elif of_kind:
            sentences.append(f"{verb} {write_count(len(of_kind), 'file')}")
    return "; ".join(sentences)
