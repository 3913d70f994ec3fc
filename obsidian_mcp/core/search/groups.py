"""Results in groups: by a fact of every file (SEARCH-66)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile, islice

from obsidian_mcp.core.calendar import clock
from obsidian_mcp.core.text.fit import cut_text, take_fitting
from obsidian_mcp.core.text.page_order import continue_order
from obsidian_mcp.core.text.vault_path import parent
from obsidian_mcp.errors import InvalidArguments

from .found_files import FoundFiles
from .hit_size import fit_hit, room_for, size_in_answer
from .hits import Facet, Group, Grouped, Hit, Request
from .remarks import remark_of
from .render import Renderer
from .signals import Item
from .snapshot import Snapshot
from .sort import check, facet_of, tags_of, to_one_line

NO_GROUP = "(none)"
"""The group of files without a tag or value."""
ROOT = "/"
GROUP_CHARACTERS = 200
"""Most of a group's name."""
LATER_GROUPS = 30
"""Groups of later pages that are named with their counts."""


def parse_facet(text: str) -> Facet:
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


def render_groups(result: FoundFiles, request: Request, by: Facet) -> Grouped:
    """Return the page of groups at `request.offset`, counted in files; later groups come without
    files (SEARCH-66). Raises: InvalidArguments for a property that no note has."""
    groups = group_items(result.snapshot, result.items, by)
    widened = remark_of(result)
    room = room_for(request.characters, widened, result.snapshot.notice, result.note)
    in_order = [(name, item) for name, items in groups.items() for item in items]
    rows, start = continue_order(in_order, request.offset, _row_key)
    page = rows[start : start + request.limit]
    items = [item for _, item in page]
    render = Renderer(result, items, request, request.snippets)
    later_groups: list[Group] = []
    entries = take_fitting(_entries(groups, page, render), room, _entry_size)
    if not entries:  # else a client that asks for the next page would never get past a long hit
        first = _entries(groups, page[:1], render)
        entries = [(group, fit_hit(hit, room - _group_size(group))) for group, hit in first]
    if entries:
        room -= sum(map(_entry_size, entries))
        current = page[len(entries) - 1][0]
        later = islice(dropwhile(lambda name: name != current, groups), 1, 1 + LATER_GROUPS)
        later_groups = take_fitting((_group(name, groups) for name in later), room, size_in_answer)
    page_groups = [*_with_hits(entries), *later_groups]
    following = start + len(entries)
    next_offset = following if entries and following < len(rows) else None
    return Grouped(
        result.total,
        len(groups),
        page_groups,
        next_offset,
        widened,
        result.snapshot.notice,
        result.note,
    )


def _row_key(row: tuple[str, Item]) -> object:
    """Return what a file of a group is known by while groups and files come and go (TOOL-41)."""
    name, item = row
    return name, item.path


_GroupedHit = tuple[Group | None, Hit]
"""A hit of a page, with its group where that begins."""


def _entries(
    groups: Mapping[str, Sequence[Item]], page: Iterable[tuple[str, Item]], render: Renderer
) -> Iterator[_GroupedHit]:
    current = None
    for name, item in page:
        yield None if name == current else _group(name, groups), render.hit(item)
        current = name


def _group(name: str, groups: Mapping[str, Sequence[Item]]) -> Group:
    return Group(cut_text(name, GROUP_CHARACTERS), len(groups[name]))


def _entry_size(entry: _GroupedHit) -> int:
    """Return the characters that a hit adds to an answer, with its group where that begins."""
    group, hit = entry
    return _group_size(group) + size_in_answer(hit)


def _group_size(group: Group | None) -> int:
    return 0 if group is None else size_in_answer(group)


def _with_hits(entries: Iterable[_GroupedHit]) -> list[Group]:
    groups: list[Group] = []
    hits: list[Hit] = []
    for group, hit in entries:
        if group is not None:
            hits = []
            groups.append(replace(group, hits=hits))
        hits.append(hit)
    return groups


def group_items(snapshot: Snapshot, items: Sequence[Item], by: Facet) -> dict[str, list[Item]]:
    """Return the items by group, both in the order of the items, NO_GROUP last. Raises:
    InvalidArguments."""
    check(snapshot, by)
    names = _group_names(snapshot, items, by)
    by_group: dict[str, list[Item]] = {}
    for item in items:
        for name in names(item):
            by_group.setdefault(name, []).append(item)
    if NO_GROUP in by_group:
        by_group[NO_GROUP] = by_group.pop(NO_GROUP)
    return by_group


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
    return list(dict.fromkeys(to_one_line(item) for item in items if item is not None)) or (
        NO_GROUP,
    )
