"""Results in groups: by a fact of every file (SEARCH-66)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import dropwhile, islice

from obsidian_mcp.core.calendar import clock
from obsidian_mcp.core.text.vault_path import parent
from obsidian_mcp.errors import InvalidArguments

from .hits import Facet, Group, Grouped, Hit, Request
from .plan import shorten
from .render import Found, Renderer, as_json, fitted, hit_size, remark_of, room_for
from .signals import Item
from .snapshot import Snapshot
from .sort import check, facet_of, in_one_line, tags_of

NO_GROUP = "(none)"
"""The group of files without a tag or value."""
ROOT = "/"
GROUP_CHARACTERS = 200
"""Most of a group's name."""
LATER_GROUPS = 30
"""Groups of later pages that are named with their counts."""


def grouping(text: str) -> Facet:
    """Parse what results are grouped by (SEARCH-66). Raises: InvalidArguments for what makes no
    groups."""
    by = facet_of(text)
    if by.kind in ("relevance", "name"):
        raise InvalidArguments(
            f"Results cannot be grouped by {by.kind}. Give folder, tag, modified (by month) or the "
            f"name of a property; property:{by.kind} is a property of that name.",
            argument="group",
        )
    return by


def render_groups(found: Found, request: Request, by: Facet) -> Grouped:
    """Return the page of groups at `request.offset`, counted in files; later groups come without
    files (SEARCH-66). Raises: InvalidArguments for a property that no note has."""
    groups = grouped(found.snapshot, found.items, by)
    widened = remark_of(found)
    room = room_for(request.characters, widened, found.snapshot.notice, found.note)
    rows = [(name, item) for name, items in groups.items() for item in items]
    page = rows[request.offset : request.offset + request.limit]
    items = [item for _, item in page]
    render = Renderer(found, items, request.snippets)
    shown: list[Group] = []
    entries, current, hits = 0, None, list[Hit]()
    for name, item in page:
        its: list[Hit] = []
        opened = (
            None
            if name == current
            else Group(shorten(name, GROUP_CHARACTERS), len(groups[name]), its)
        )
        left = room - (_group_size(opened) if opened is not None else 0)
        hit = render.hit(item)
        if not entries:
            hit = fitted(hit, left)
        elif hit_size(hit) > left:
            break
        if opened is not None:
            shown.append(opened)
            current, hits = name, its
        hits.append(hit)
        room = left - hit_size(hit)
        entries += 1
    for name in (
        islice(dropwhile(lambda name: name != current, groups), 1, 1 + LATER_GROUPS)
        if entries
        else ()
    ):
        group = Group(shorten(name, GROUP_CHARACTERS), len(groups[name]))
        room -= _group_size(group)
        if room < 0:
            break
        shown.append(group)
    following = request.offset + entries
    next_offset = following if entries and following < len(rows) else None
    return Grouped(
        found.total, len(groups), shown, next_offset, widened, found.snapshot.notice, found.note
    )


def _group_size(group: Group) -> int:
    return len(as_json({"group": group.group, "count": group.count, "hits": []})) + 1


def grouped(snapshot: Snapshot, items: Sequence[Item], by: Facet) -> dict[str, list[Item]]:
    """Return the items by group, both in the order of the items, NO_GROUP last. Raises:
    InvalidArguments."""
    check(snapshot, by)
    names = _group_names(snapshot, items, by)
    found: dict[str, list[Item]] = {}
    for item in items:
        for name in names(item):
            found.setdefault(name, []).append(item)
    if NO_GROUP in found:
        found[NO_GROUP] = found.pop(NO_GROUP)
    return found


def _group_names(
    snapshot: Snapshot, items: Sequence[Item], by: Facet
) -> Callable[[Item], Sequence[str]]:
    match by.kind:
        case "tag":
            tags_ = tags_of(snapshot, items)
            return lambda item: tags_.get(item.number, (NO_GROUP,))
        case "property":
            values = snapshot.signals.read_values(by.property, items)
            return lambda item: _value_names(values.get(item.number))
        case "modified":
            times = snapshot.signals.read_times(items)
            return lambda item: (clock.month(times.get(item.path, 0)),)
    return lambda item: (parent(item.path) or ROOT,)


def _value_names(value: object) -> Sequence[str]:
    items = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(in_one_line(item) for item in items if item is not None)) or (
        NO_GROUP,
    )
