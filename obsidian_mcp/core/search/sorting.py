"""Results in an order that was asked for (specs/search.md, SEARCH-67 to 69)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

from obsidian_mcp.core.text import clock, tokenizer
from obsidian_mcp.core.text.casefold import fold
from obsidian_mcp.core.text.vault_path import basename

from . import sort_keys
from .snapshot import Scene
from .sort_keys import Facet, Item

Key = tuple[Any, ...]

SHOWN = 100
"""Characters of a value that are shown."""
COMPARED = 200
"""Characters of a text that are compared."""

_DIRECTED = re.compile(r"(.*\S)[\s:](asc|ascending|desc|descending)", re.IGNORECASE | re.DOTALL)
_DIGITS = re.compile("([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Order:
    facet: Facet
    descending: bool


def order(text: str) -> Order:
    """An order as a person writes it: `modified`, `name desc`, `-rating`.

    Without a direction the best, newest, or first by letter and number comes first.
    """
    text = text.strip()
    directed = _DIRECTED.fullmatch(text)
    if directed:
        return Order(sort_keys.facet(directed[1]), directed[2].lower().startswith("desc"))
    if text.startswith("-") and len(text) > 1:
        return Order(sort_keys.facet(text[1:]), descending=True)
    facet = sort_keys.facet(text)
    return Order(facet, descending=facet.kind in ("relevance", "modified"))


def ordered(scene: Scene, items: Sequence[Item], by: Order) -> list[Item]:
    """All the items; those that have nothing to be sorted by come last. Relevance is ordering.py's."""
    by_path = sorted(items, key=_path)
    key = _key(scene, items, by.facet)
    having: list[tuple[Key | int, Item]] = []
    lacking: list[Item] = []
    for item in by_path:
        found = key(item)
        if found is None:
            lacking.append(item)
        else:
            having.append((found, item))
    having.sort(key=itemgetter(0), reverse=by.descending)  # stable: equal ones stay in order of their paths
    return [item for _, item in having] + lacking


def _path(item: Item) -> str:
    return item.path


def shown(scene: Scene, items: Sequence[Item], by: Order) -> Callable[[Item], str | None]:
    """What to say of an item beside its path: what it was sorted by."""
    match by.facet.kind:
        case "modified":
            return lambda item: clock.timestamp(item.time)
        case "property":
            values = sort_keys.values_of(scene, by.facet.property, items)
            return lambda item: shortened(sort_keys.told(values[item.number])) if item.number in values else None
        case "tag":
            tags = sort_keys.tags_of(scene, items)
            return lambda item: min(tags[item.number], key=_natural) if item.number in tags else None
    return lambda _: None


def shortened(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN].rstrip()}…"


def _key(scene: Scene, items: Sequence[Item], by: Facet) -> Callable[[Item], Key | int | None]:
    natural = lru_cache(maxsize=None)(_natural)  # folders and tags come again and again
    match by.kind:
        case "modified":
            return lambda item: item.time
        case "name":
            return lambda item: _natural(basename(item.path))
        case "tag":
            tags = sort_keys.tags_of(scene, items)
            return lambda item: min(map(natural, tags[item.number])) if item.number in tags else None
        case "property":
            values = sort_keys.values_of(scene, by.property, items)
            return lambda item: _of_value(values[item.number]) if item.number in values else None
    return lambda item: tuple(map(natural, item.path.split("/")))


def _natural(text: str) -> Key:
    """Without case and accents first, and numbers by what they are worth: `Note 2` before `Note 10`."""
    folded = fold(text[:COMPARED])
    parts: list[Any] = _DIGITS.split(tokenizer.plain(folded))
    parts[1::2] = map(int, parts[1::2])
    return tuple(parts), folded


def _of_value(value: object) -> Key | None:
    """Numbers before texts before true and false; of a list the first item counts."""
    match value:
        case bool():
            return 2, value
        case int() | float():
            return None if math.isnan(value) else (0, value)
        case str():
            return 1, _natural(value)
        case [first, *_]:
            return _of_value(first)
    return None
