"""The texts of properties that hold tags or aliases (DV-14, DV-18)."""

from __future__ import annotations

from collections.abc import Callable

from obsidian_mcp.core.expressions.javascript import number_text
from obsidian_mcp.core.expressions.values import Value


def split_texts(value: Value, split: Callable[[str], list[str]]) -> list[str]:
    """Return the texts of a property that holds tags or aliases; lists at any depth."""
    if value is None:
        return []
    if isinstance(value, list):
        return [text for item in value if item for text in split_texts(item, split)]
    texts = (part.strip() for part in split(yaml_text(value)))
    return [text for text in texts if text]


def yaml_text(value: Value) -> str:
    """Return a value of the YAML as JavaScript turns it into text."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return number_text(value)
        case dict():
            return "[object Object]"
        case list():
            return ",".join("" if item is None else yaml_text(item) for item in value)
        case _:
            return str(value)
