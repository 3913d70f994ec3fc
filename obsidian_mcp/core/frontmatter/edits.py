"""Edits of one property of a note that keep all other bytes (FM-60 to FM-72).

Every function is pure: body in, body out. Each text that is made is read back before it is
returned; where it would say anything but the request, the next way of writing it is tried, and in
the end the edit is refused. (semantics 4.4)
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.errors import PropertiesUnreadable

from . import parser, yaml_style
from .editable_note import EditableNote, is_same_value
from .yaml_values import YamlValue

_NULLS = ("", "~", "null", "Null", "NULL")
_LISTS = ("tags", "aliases")
"""Properties whose text counts as a list of one where properties are merged."""


def set_property(body: str, key: str, value: YamlValue) -> str:
    """Return the body with one property set; the same body if it has that value already.

    A new property goes last, the first one makes the block. New lines end as those of the note.
    Raises: PropertiesUnreadable, InvalidArguments for a value that no property can have.
    """
    key, value = yaml_style.join_surrogates(key), yaml_style.check_value(value)
    note = EditableNote.from_body(body)
    name = parser.key_of(note.values, key)
    if name is None:
        return note.settle({**note.values, key: value}, note.with_new(key, value), key)
    entry = note.entry(name)
    if is_same_value(entry.value, value) and (
        value is not None or entry.value_span.slice(body) in _NULLS
    ):
        return body
    return note.settle({**note.values, name: value}, note.with_value(entry, value), key)


def set_properties(body: str, values: Mapping[str, YamlValue], *, joins_lists: bool = False) -> str:
    """Return the body with properties set, and those removed whose value is None.

    With `joins_lists`, a list gets the items that it lacks.
    Raises: PropertiesUnreadable, InvalidArguments.
    """
    for key, value in values.items():
        checkpoint()  # each property takes longer the more there are
        if value is None:
            body = remove_property(body, key)
        elif joins_lists and isinstance(value, list):
            body = merge_properties(body, {key: value})
        else:
            body = set_property(body, key, value)
    return body


def remove_property(body: str, key: str) -> str:
    """Return the body without a property; the same body if it has none of that name.

    With the last property goes the whole block, unless comments stand in it. Raises:
    PropertiesUnreadable.
    """
    note = EditableNote.from_body(body)
    name = parser.key_of(note.values, key)
    if name is None or note.block is None:
        return body
    remaining = {written: value for written, value in note.values.items() if written != name}
    return note.settle(remaining, note.without(note.block, note.entry(name)), key)


def replace_tag(body: str, old: str, new: str) -> str:
    """Return the body with a tag of its `tags` property renamed, and the tags nested below it.

    `old` and `new` are tags, with or without `#`. Only the items that match change, each in the
    quotes that it has. A note whose frontmatter cannot be read has no tags and stays as it is.
    Raises: PropertiesUnreadable where an item cannot be changed on its own.
    """
    try:
        note = EditableNote.from_body(body)
    except PropertiesUnreadable:
        return body
    name = parser.key_of(note.values, "tags")
    if name is None:
        return body
    entry = note.entry(name)
    items = entry.value if isinstance(entry.value, list) else [entry.value]
    renamed = [_rename_tag(item, old, new) if isinstance(item, str) else item for item in items]
    if renamed == items:
        return body
    value = renamed if isinstance(entry.value, list) else renamed[0]
    spans = entry.items if isinstance(entry.value, list) else (entry.value_span,)
    candidates = note.with_value(entry, value)
    if len(spans) == len(items):  # otherwise the list stands elsewhere, behind an alias
        changed = body
        for span, before, after in reversed(list(zip(spans, items, renamed, strict=True))):
            if before != after:
                written = yaml_style.write_like(span.slice(body), after)
                changed = changed[: span.start] + written + changed[span.end :]
        candidates = chain([changed], candidates)
    return note.settle({**note.values, name: value}, candidates, name)


def merge_properties(body: str, values: Mapping[str, YamlValue]) -> str:
    """Return a note with other properties merged in, as the app does for templates and merged
    notes.

    Nothing else of it changes. A property that the note lacks is added last. Lists get the items
    that they lack, behind their own. An empty value is replaced, any other stays (PERIODIC-17).
    Raises: PropertiesUnreadable where the note's own properties cannot be read.
    """
    for key, value in values.items():
        properties = parser.read_frontmatter(body)
        own = (properties.values or {}) if properties is not None else {}
        name = parser.key_of(own, key)
        merged = value if name is None else _merge(name, own[name], value)
        if name is None or merged != own[name]:
            body = set_property(body, key if name is None else name, merged)
    return body


def _merge(name: str, own: YamlValue, merged: YamlValue) -> YamlValue:
    if own is None or own == "" or own == []:
        return merged
    as_lists = name.lower() in _LISTS
    if not as_lists and not (isinstance(own, list) and isinstance(merged, list)):
        return own
    own_items = _list_items(own)
    own_keys = {_item_key(item) for item in own_items}
    added = [item for item in _list_items(merged) if _item_key(item) not in own_keys]
    return [*own_items, *added] if added else own


def _list_items(value: YamlValue) -> list[YamlValue]:
    if isinstance(value, list):
        return value
    return [] if value in (None, "") else [value]


def _item_key(item: YamlValue) -> str:
    """Return a text that is the same for items that count as one.

    Tags do, with `#` and in any case.
    """
    return str(item).removeprefix("#").lower() if isinstance(item, str) else repr(item)


def _rename_tag(item: str, old: str, new: str) -> str:
    """Return an item of `tags` with its leading `old` replaced; any other item unchanged."""
    tag = item.strip()
    if any(char.isspace() for char in tag) or not tags.covers(old, tag):
        return item
    mark = "#" if tag.startswith("#") else ""
    below = tag.removeprefix("#").removeprefix(tags.part(old, tag))
    return item.replace(tag, mark + new.removeprefix("#") + below)
