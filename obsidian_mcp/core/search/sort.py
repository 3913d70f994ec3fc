"""Results in another order: by a fact of every file (SEARCH-64 to 69)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, get_args

from obsidian_mcp.core.calendar.timestamp import timestamp
from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.collation import collation_key
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.javascript_number import LEAST_EXPONENTIAL
from obsidian_mcp.core.text.vault_path import basename
from obsidian_mcp.errors import InvalidArguments

from .hits import Facet, FacetKind, Order
from .signals import Item
from .snapshot import Snapshot

Key = tuple[Any, ...]

VALUE_CHARACTERS = 100
"""Most characters of a value that are shown."""
COMPARED_CHARACTERS = 200
"""Most characters of a text that are compared."""

_KINDS: tuple[FacetKind, ...] = get_args(FacetKind)[:-1]
_SYNONYMS = {"tags": "tag"}
_PROPERTY = re.compile(r"property:\s*(.+)|\[(.+)\]", re.IGNORECASE | re.DOTALL)
_DIRECTED = re.compile(r"(.*\S)[\s:](asc|ascending|desc|descending)", re.IGNORECASE | re.DOTALL)


def order(text: str) -> Order:
    """Parse an order as a person writes it: `modified`, `name desc`, `-rating` (SEARCH-68)."""
    text = text.strip()
    directed = _DIRECTED.fullmatch(text)
    if directed:
        return Order(facet_of(directed[1]), directed[2].lower().startswith("desc"))
    if text.startswith("-") and len(text) > 1:
        return Order(facet_of(text[1:]), descending=True)
    facet = facet_of(text)
    return Order(facet, descending=facet.kind in ("relevance", "modified"))


def facet_of(text: str) -> Facet:
    """A kind, else a property, which may also be written `[name]` or `property:name`
    (SEARCH-64)."""
    text = text.strip()
    if named := _PROPERTY.fullmatch(text):
        return Facet("property", (named[1] or named[2]).strip())
    plain = _SYNONYMS.get(text.lower(), text.lower())
    return next((Facet(kind) for kind in _KINDS if kind == plain), Facet("property", text))


def check(snapshot: Snapshot, facet: Facet) -> None:
    """Raises: InvalidArguments for a property that no note of a complete index has: it is
    misspelled (SEARCH-64)."""
    if facet.kind != "property" or not snapshot.is_whole:
        return
    values = snapshot.signals.read_property(facet.property)
    if all(number in snapshot.table.excluded for number, _ in values):
        raise InvalidArguments(
            f"No note has a property {facet.property!r} to sort or group by. Give "
            f"{', '.join(_KINDS)} or the name of a property that notes have.",
            property=facet.property,
        )


def sort_items(snapshot: Snapshot, items: Sequence[Item], by: Order) -> list[Item]:
    """The items in an order, those without a value last in either direction (SEARCH-67). Raises:
    InvalidArguments."""
    check(snapshot, by.facet)
    key = _key(snapshot, items, by.facet)
    having: list[tuple[Key | int, Item]] = []
    lacking: list[Item] = []
    for item in sorted(items, key=lambda item: item.path):
        sort_key = key(item)
        if sort_key is None:
            lacking.append(item)
        else:
            having.append((sort_key, item))
    # stable: equal ones stay in the order of their paths
    having.sort(key=itemgetter(0), reverse=by.descending)
    return [item for _, item in having] + lacking


def _key(
    snapshot: Snapshot, items: Sequence[Item], by: Facet
) -> Callable[[Item], Key | int | None]:
    match by.kind:
        case "modified":
            times = snapshot.signals.read_times(items)
            return lambda item: times.get(item.path, 0)
        case "name":
            return lambda item: _natural_key(basename(item.path))
        case "tag":
            tags_ = tags_of(snapshot, items)
            return lambda item: (
                min(map(_natural_key, tags_[item.number])) if item.number in tags_ else None
            )
        case "property":
            values = snapshot.signals.read_values(by.property, items)
            return lambda item: _value_key(values[item.number]) if item.number in values else None
    return lambda item: tuple(map(_natural_key, item.path.split("/")))


def _natural_key(text: str) -> Key:
    """As people order texts, numbers by their value: `Note 2` before `Note 10`."""
    return collation_key(text[:COMPARED_CHARACTERS])


def _value_key(value: object) -> Key | None:
    """Numbers before texts before true and false; of a list the first item counts."""
    match value:
        case bool():
            return 2, value
        case int() | float():
            return None if math.isnan(value) else (0, value)
        case str():
            return 1, _natural_key(value)
        case [first, *_]:
            return _value_key(first)
    return None


def shown_values(
    snapshot: Snapshot, items: Sequence[Item], by: Facet
) -> Callable[[Item], str | None]:
    """Return what an answer says of an item beside its path: what it was sorted by (SEARCH-69)."""
    match by.kind:
        case "modified":
            times = snapshot.signals.read_times(items)
            return lambda item: timestamp(times.get(item.path, 0))
        case "property":
            values = snapshot.signals.read_values(by.property, items)
            texts = {
                number: cut_text(to_one_line(value), VALUE_CHARACTERS)
                for number, value in values.items()
            }
            return lambda item: texts.get(item.number)
        case "tag":
            tags_ = tags_of(snapshot, items)
            return lambda item: (
                min(tags_[item.number], key=_natural_key) if item.number in tags_ else None
            )
    return lambda _: None


def tags_of(snapshot: Snapshot, items: Sequence[Item]) -> Mapping[int | None, Sequence[str]]:
    """The tags of each file that has some, each once, in the smallest of its spellings in these
    files."""
    spelled: dict[str, str] = {}
    keys_by_file: dict[int, dict[str, None]] = {}
    files = [item.number for item in items if item.number is not None]
    for number, _, tag in snapshot.rows.column("tags", "tag", files=files):
        key = tags.key(tag)
        name = tag.removeprefix("#")
        spelled[key] = min(spelled.get(key, name), name)
        keys_by_file.setdefault(number, {})[key] = None
    return {number: [f"#{spelled[key]}" for key in keys] for number, keys in keys_by_file.items()}


def to_one_line(value: object) -> str:
    """The value of a property in one line."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, float) and value.is_integer() and abs(value) < LEAST_EXPONENTIAL:
        text = str(int(value))
    elif isinstance(value, list):
        text = ", ".join(map(to_one_line, value))
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return " ".join(text.split())
