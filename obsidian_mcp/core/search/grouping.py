"""Results in groups: by folder, tag, month or the values of a property (specs/search.md, SEARCH-66)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from obsidian_mcp.core.text import clock
from obsidian_mcp.core.text.vault_path import parent
from obsidian_mcp.errors import InvalidArguments

from . import sort_keys
from .snapshot import Scene
from .sort_keys import Facet, Item

NONE = "(none)"
"""The group of files that have no tag or no such value."""
ROOT = "/"


def grouping(text: str) -> Facet:
    """What results are to be grouped by. Raises: InvalidArguments for what makes no groups."""
    by = sort_keys.facet(text)
    if by.kind in ("relevance", "name"):
        raise InvalidArguments(
            f"Results cannot be grouped by {by.kind}. Give folder, tag, modified (by month) or the name of a property; "
            f"property:{by.kind} is a property of that name.",
            argument="group",
        )
    return by


def grouped(scene: Scene, items: Sequence[Item], by: Facet) -> dict[str, list[Item]]:
    """The items by group, both in the order of the items: a group stands where its first item does, NONE last."""
    names = _names(scene, items, by)
    found: dict[str, list[Item]] = {}
    for item in items:
        for name in names(item):
            found.setdefault(name, []).append(item)
    if NONE in found:
        found[NONE] = found.pop(NONE)
    return found


def _names(scene: Scene, items: Sequence[Item], by: Facet) -> Callable[[Item], Sequence[str]]:
    """The groups of an item, each once."""
    match by.kind:
        case "tag":
            tags = sort_keys.tags_of(scene, items)
            return lambda item: tags.get(item.number, (NONE,))
        case "property":
            values = sort_keys.values_of(scene, by.property, items)
            return lambda item: _values(values.get(item.number))
        case "modified":
            return lambda item: (clock.month(item.time),)
    return lambda item: (parent(item.path) or ROOT,)


def _values(value: object) -> Sequence[str]:
    items = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(sort_keys.told(item) for item in items if item is not None)) or (NONE,)
