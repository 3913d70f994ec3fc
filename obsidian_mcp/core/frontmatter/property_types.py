"""The types of properties: fixed by their names, or inferred from their values (semantics 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from obsidian_mcp.core.calendar import iso

PropertyType = Literal[
    "text", "multitext", "number", "checkbox", "date", "datetime", "tags", "aliases", "unknown"
]

TYPES_FIXED: Mapping[str, PropertyType] = {
    "tags": "tags",
    "aliases": "aliases",
    "cssclasses": "multitext",
}
"""Types that no assignment changes (semantics 4.3)."""


def infer_type(value: Any) -> PropertyType:
    """Return the type that the app shows for a value without an assigned type (semantics 4.3)."""
    match value:
        case bool():
            return "checkbox"
        case int() | float():
            return "number"
        case str():
            # Measured: a date with a time is text.
            time = iso.read_iso(value) if value[:1].isdigit() else None
            return "date" if time is not None and not time.hour else "text"
        case list():
            return "multitext" if all(isinstance(item, str) for item in value) else "unknown"
        case None:
            return "text"
        case _:
            return "unknown"
