"""As much of a result as one answer has room for (specs/search.md, SEARCH-74 to 77)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import dropwhile, islice

from obsidian_mcp.core.text import deadline

from .hits import Group, Hit
from .sort_keys import Item

FOLLOWING = 30
"""Groups of later pages that are named with their counts."""
NAME = 200
"""Characters of a group's name that are shown."""

Show = Callable[[Item], Hit]


def filled(items: Iterable[Item], show: Show, room: int) -> list[Hit]:
    """The first of the items, as long as there is room; at least one, cut short if need be."""
    hits: list[Hit] = []
    for item in items:
        deadline.checkpoint()
        hit = show(item)
        if not hits:
            hit = hit.within(room)
        room -= hit.size
        if room < 0 and hits:
            break
        hits.append(hit)
    return hits


def filled_groups(
    groups: Mapping[str, Sequence[Item]], show: Show, room: int, offset: int, limit: int
) -> tuple[list[Group], int]:
    """The entries from `offset` on in their groups, and how many these are: as `filled`.

    Groups that come after them are named without entries, as long as there is room.
    """
    shown: list[Group] = []
    entries, current, hits = 0, None, list[Hit]()
    rows = ((name, item) for name, items in groups.items() for item in items)
    for name, item in islice(rows, offset, offset + limit):
        deadline.checkpoint()
        its: list[Hit] = []
        opened = None if name == current else Group(_cut(name), len(groups[name]), its)
        left = room - (opened.size if opened is not None else 0)
        hit = show(item)
        if not entries:
            hit = hit.within(left)
        elif hit.size > left:
            break
        if opened is not None:
            shown.append(opened)
            current, hits = name, its
        hits.append(hit)
        room = left - hit.size
        entries += 1
    for name in islice(dropwhile(lambda each: each != current, groups), 1, 1 + FOLLOWING) if entries else ():
        group = Group(_cut(name), len(groups[name]))
        room -= group.size
        if room < 0:
            break
        shown.append(group)
    return shown, entries


def _cut(name: str) -> str:
    return name if len(name) <= NAME else f"{name[:NAME].rstrip()}…"
