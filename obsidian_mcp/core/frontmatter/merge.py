"""The properties of one note taken into another, as the app does for templates and merged notes (PERIODIC-17)."""

from __future__ import annotations

from collections.abc import Mapping

from . import parser
from .edits import set_property
from .yaml12 import Value

_LISTS = ("tags", "aliases")
"""Properties whose text counts as a list of one."""


def merge_properties(body: str, values: Mapping[str, Value]) -> str:
    """Return a note with other properties merged in; nothing else of it changes.

    A property that the note lacks is added last. Lists get the items that they lack, behind their own. An empty value
    is replaced, any other stays.
    Raises: PropertiesUnreadable where the note's own properties cannot be read.
    """
    for key, value in values.items():
        read = parser.read(body)
        own = (read.values or {}) if read is not None else {}
        name = parser.key_of(own, key)
        if name is None:
            body = set_property(body, key, value)
            continue
        merged = _merged(name, own[name], value)
        if merged != own[name]:
            body = set_property(body, name, merged)
    return body


def _merged(name: str, own: Value, other: Value) -> Value:
    if own is None or own == "" or own == []:
        return other
    as_lists = name.lower() in _LISTS
    if not as_lists and not (isinstance(own, list) and isinstance(other, list)):
        return own
    mine, new = (_items(value) for value in (own, other))
    known = {_same(item) for item in mine}
    added = [item for item in new if _same(item) not in known]
    return [*mine, *added] if added else own


def _items(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [] if value is None or value == "" else [value]


def _same(item: Value) -> str:
    """What two items of a list have in common that are the same: tags are, with `#` and in any case."""
    return str(item).removeprefix("#").lower() if isinstance(item, str) else repr(item)
