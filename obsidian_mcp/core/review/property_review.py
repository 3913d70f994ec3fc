"""Which properties of a note change (UI-31)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from obsidian_mcp import json_codec
from obsidian_mcp.core.note.parser import Note


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """One property before and after; None where it is not there."""

    key: str
    before: str | None
    after: str | None


def compare_properties(old: Note, new: Note) -> list[PropertyChange]:
    """Return the properties that are not the same in both notes, in the order of the second; none
    where one of them cannot be read."""
    if any(note.frontmatter is not None and note.frontmatter.values is None for note in (old, new)):
        return []
    values = {**dict.fromkeys(new.properties), **dict.fromkeys(old.properties)}
    return list(_changes(values, old.properties, new.properties))


def _changes(
    keys: dict[str, None], old: dict[str, Any], new: dict[str, Any]
) -> Iterator[PropertyChange]:
    for key in keys:
        before, after = (_write(values[key]) if key in values else None for values in (old, new))
        if before != after:
            yield PropertyChange(str(key), before, after)


def _write(value: Any) -> str:
    """Return a value as a person reads it: a list with commas, nothing for an empty property."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return ", ".join(map(_write, value))
        case dict():
            return json_codec.encode(value, default=str).decode()
    return str(value)
