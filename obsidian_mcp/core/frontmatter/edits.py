"""Edits of one property that keep all other bytes (semantics 4.4, FM-60 to FM-72): pure functions from body to body,
whose result is read back; where it would say anything else the next way of writing is tried, or the edit refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from obsidian_mcp.core.text import tags
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.errors import PropertiesUnreadable

from . import parser, property_flow, property_lines, yaml_style
from .parser import Block
from .yaml12 import Entry, InvalidYaml, NoValue, Outline, Value

_NULLS = ("", "~", "null", "Null", "NULL")
_LISTS = ("tags", "aliases")
"""Properties whose text counts as a list of one where properties are merged."""


def set_property(body: str, key: str, value: Value) -> str:
    """Return the body with one property set, a new one last; the same body if it has that value. Raises:
    PropertiesUnreadable, InvalidArguments for a value that no property can hold."""
    key, value = yaml_style.joined(key), yaml_style.checked(value)
    note = _Note.read(body)
    name = parser.key_of(note.values, key)
    if name is None:
        return note.settle({**note.values, key: value}, note.with_new(key, value), key)
    entry = note.entry(name)
    if _same(entry.value, value) and (value is not None or entry.value_span.slice(body) in _NULLS):
        return body
    return note.settle({**note.values, name: value}, note.with_value(entry, value), key)


def set_properties(body: str, values: Mapping[str, Value], *, joins_lists: bool = False) -> str:
    """Return the body with properties set, and those removed whose value is None; with `joins_lists`, a list gets the
    items that it lacks. Raises: PropertiesUnreadable, InvalidArguments."""
    for key, value in values.items():
        checkpoint()  # each property takes longer the more there are
        if value is None:
            body = remove_property(body, key)
        else:
            is_joined = joins_lists and isinstance(value, list)
            body = merge_properties(body, {key: value}) if is_joined else set_property(body, key, value)
    return body


def remove_property(body: str, key: str) -> str:
    """The body without a property; with the last goes the block, comments aside. Raises: PropertiesUnreadable."""
    note = _Note.read(body)
    name = parser.key_of(note.values, key)
    if name is None or note.block is None:
        return body
    left = {other: value for other, value in note.values.items() if other != name}
    return note.settle(left, note.without(note.block, note.entry(name)), key)


def replace_tag(body: str, old: str, new: str) -> str:
    """Return the body with a tag of its `tags` property, and those nested below it, renamed; each item keeps its
    quotes, and an unreadable frontmatter stays. Raises: PropertiesUnreadable where an item cannot be changed on its
    own."""
    try:
        note = _Note.read(body)
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
    if len(spans) == len(items):  # else the list stands elsewhere, behind an alias
        changed = body
        for span, before, after in reversed(list(zip(spans, items, renamed, strict=True))):
            if before != after:
                written = yaml_style.like(span.slice(body), after)
                changed = changed[: span.start] + written + changed[span.end :]
        candidates = chain([changed], candidates)
    return note.settle({**note.values, name: value}, candidates, name)


def merge_properties(body: str, values: Mapping[str, Value]) -> str:
    """Return a note with other properties merged in, as the app does for templates (PERIODIC-17): new ones last, lists
    with the items that they lack, and no value replaced but an empty one. Raises: PropertiesUnreadable."""
    for key, value in values.items():
        read = parser.read(body)
        own = (read.values or {}) if read is not None else {}
        name = parser.key_of(own, key)
        merged = value if name is None else _merge(name, own[name], value)
        if name is None or merged != own[name]:
            body = set_property(body, key if name is None else name, merged)
    return body


def _merge(name: str, own: Value, other: Value) -> Value:
    if own is None or own == "" or own == []:
        return other
    as_lists = name.lower() in _LISTS
    if not as_lists and not (isinstance(own, list) and isinstance(other, list)):
        return own
    mine, new = (_items(value) for value in (own, other))
    known = {_item_key(item) for item in mine}
    added = [item for item in new if _item_key(item) not in known]
    return [*mine, *added] if added else own


def _items(value: Value) -> list[Value]:
    return value if isinstance(value, list) else [] if value is None or value == "" else [value]


def _item_key(item: Value) -> str:
    """What two items of a list have in common that are the same: tags are, with `#` and in any case."""
    return str(item).removeprefix("#").lower() if isinstance(item, str) else repr(item)


@dataclass(frozen=True, slots=True)
class _Note:
    """A body with readable frontmatter; `block` is None without frontmatter."""

    body: str
    block: Block | None
    outline: Outline

    @classmethod
    def read(cls, body: str) -> _Note:
        """Raises: PropertiesUnreadable."""
        block = parser.locate(body)
        if block is None:
            return cls(body, None, Outline())
        try:
            return cls(body, block, parser.outline(body, block))
        except NoValue:
            return cls(body, block, Outline())
        except InvalidYaml as e:
            line = e.line + 1
            raise PropertiesUnreadable(
                f"The note's properties cannot be changed because its frontmatter is broken: line {line}: {e.problem}. "
                "Correct that line as text first.",
                line=line,
            ) from e

    @property
    def values(self) -> dict[str, Value]:
        return {entry.key: entry.value for entry in self.outline.entries}

    @property
    def rest(self) -> str:
        """The text below the frontmatter."""
        return self.body[self.block.body_start :] if self.block else self.body

    @property
    def newline(self) -> str:
        return Text(self.body).newline

    def entry(self, name: str) -> Entry:
        # the last one counts where two keys (`1` and `"1"`) are the same text
        return next(entry for entry in reversed(self.outline.entries) if entry.key == name)

    def with_new(self, key: str, value: Value) -> Iterable[str]:
        if self.block is None:
            return [property_lines.first(key, value, self.newline) + self.body]
        if self.outline.flow is not None:
            entries, flow = self.outline.entries, self.outline.flow
            return [property_flow.with_new(self.body, entries, flow, key, value, self.newline)]
        return property_lines.with_new(self.body, self.block, self.outline.entries, key, value, self.newline)

    def with_value(self, entry: Entry, value: Value) -> Iterable[str]:
        if self.outline.flow is not None:
            return [property_flow.with_value(self.body, self.outline.entries, entry, value)]
        return property_lines.with_value(self.body, entry, value, self.newline)

    def without(self, block: Block, entry: Entry) -> Iterable[str]:
        if len(self.outline.entries) == 1:
            return property_lines.without_last(self.body, block, entry, self.newline)
        if self.outline.flow is not None:
            return [property_flow.without(self.body, self.outline.entries, self.outline.flow, entry)]
        return property_lines.without(self.body, block, entry)

    def settle(self, expected: Mapping[str, Value], candidates: Iterable[str], key: str) -> str:
        """Return the first candidate that reads back exactly as expected and leaves the rest of the note unchanged."""
        wanted = list(expected.items())
        for candidate in candidates:
            with suppress(PropertiesUnreadable):
                read = _Note.read(candidate)
                if read.rest == self.rest and _same(list(read.values.items()), wanted):
                    return candidate
        raise PropertiesUnreadable(
            f"The property {key!r} cannot be changed without touching others: the frontmatter repeats values through "
            "anchors, or is written in an unusual way. Edit it as text.",
            line=1,
        )


def _rename_tag(item: str, old: str, new: str) -> str:
    """Return an item of `tags` with its leading `old` replaced; any other item unchanged."""
    tag = item.strip()
    if any(char.isspace() for char in tag) or not tags.covers(old, tag):
        return item
    mark = "#" if tag.startswith("#") else ""
    below = tag.removeprefix("#").removeprefix(tags.part(old, tag))
    return item.replace(tag, mark + new.removeprefix("#") + below)


def _same(a: Value, b: Value) -> bool:
    """Return whether two values are equal in YAML: `true` is not 1; the order of a mapping's keys does not matter."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(value, b[key]) for key, value in a.items())
    return bool(a == b) and isinstance(a, bool) == isinstance(b, bool)
