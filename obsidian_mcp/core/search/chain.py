"""What held when, of notes that supersede each other: the answer to a question about the past
(MEM-14)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from obsidian_mcp.core.calendar.iso import DAY
from obsidian_mcp.core.note.validity import Mark

from .outdated_files import LONGEST_CHAIN, OutdatedFiles
from .snapshot import Snapshot

DATING = ("valid_from", "date", "created")
"""Properties that say since when a note holds, the first one first; else its name may."""
_find_day = re.compile(DAY).search


def describe_chain(snapshot: Snapshot, number: int, marks: Iterable[Mark]) -> list[str] | None:
    """Return what holds or held in place of a file, the oldest first, each with its dates; None
    where nothing supersedes another one.

    `marks` are those of the file, or of its lines.
    """
    marks = list(marks)
    outdated = snapshot.signals.outdated
    ended = outdated.marks.keys() | ({number} if marks else set())
    files = _order_files(outdated, number, marks)
    if len(files) < 2:
        return None
    days = _read_days(snapshot, files)
    files.sort(key=lambda file: days.get(file, ""))  # stable: undated ones keep their order
    lines = []
    for file, following in pairwise([*files, None]):
        if file is None:
            continue
        since, until = days.get(file), None if following is None else days.get(following)
        when = f"since {since}" if since and file not in ended else since or "undated"
        if since and until and file in ended:
            when = f"{since} to {until}"
        lines.append(f"{when}: {outdated.link_to(file)}")
    return lines


def _order_files(outdated: OutdatedFiles, number: int, marks: Iterable[Mark]) -> list[int]:
    """Return the files of a chain, those that were superseded first."""
    before: dict[int, list[int]] = {}
    for file, mark in outdated.marks.items():
        for successor in outdated.find_successors(file, mark):
            before.setdefault(successor, []).append(file)
    later = [file for mark in marks for file in outdated.find_later(number, mark)]
    earlier = list(_walk([number, *later], before))
    return list(dict.fromkeys([*reversed(earlier), *later]))[:LONGEST_CHAIN]


def _walk(starts: Iterable[int], before: dict[int, list[int]]) -> Iterator[int]:
    """Yield files and what they superseded, each once, at most LONGEST_CHAIN."""
    visited: set[int] = set()
    waiting = list(starts)
    while waiting and len(visited) < LONGEST_CHAIN:
        file = waiting.pop(0)
        if file not in visited:
            visited.add(file)
            yield file
            waiting += before.get(file, [])


def _read_days(snapshot: Snapshot, files: list[int]) -> dict[int, str]:
    """Return since when each file holds, where it says so (`YYYY-MM-DD`)."""
    written: dict[int, dict[str, str]] = {}
    for number, _, key, value in snapshot.rows.column("properties", "key, value", files=files):
        if key in DATING and (day := _find_day(str(json.loads(value)))):
            written.setdefault(number, {})[key] = day[0]
    days: dict[int, str] = {}
    for file in files:
        own = written.get(file, {})
        named = _find_day(snapshot.table.paths[file].rpartition("/")[2])
        first = next((own[key] for key in DATING if key in own), named[0] if named else "")
        if first:
            days[file] = first
    return days
