"""The order of the plugin's list of tools, and the hash that changes with it (contract 000;
specs/http.md HASH-…).

The original is JavaScript: clients compare hashes that `JSON.stringify` and `localeCompare` made,
so numbers, keys and names are written and sorted as there.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from obsidian_mcp import json_codec
from obsidian_mcp.core.expressions.javascript import number_text
from obsidian_mcp.core.text.collation import exact_key

HASHED: Final = ("name", "description", "inputSchema")
"""The members of a tool that the hash is made of."""
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_INDEX_END: Final = 2**32 - 1
"""Keys that are numbers below it are array indices in JavaScript, and come first in an object."""

ToolDefinition = TypeVar("ToolDefinition", bound=Mapping[str, Any])


def sort_by_name(tools: Iterable[ToolDefinition]) -> list[ToolDefinition]:
    """Return tools in the order of their names, `localeCompare` in English; equal ones keep theirs
    (HASH-04)."""
    return sorted(tools, key=lambda tool: exact_key(tool["name"]))


def stringify(value: Any) -> str:
    """Return `JSON.stringify(deepSort(value))`, where deepSort sorts the keys of every object.

    Keys are sorted by UTF-16 code units; then, as in every JavaScript object, array indices come
    first in numeric order, and `__proto__` is lost.
    """
    match value:
        case None | bool() | str():
            return json_codec.encode(value, keeps_halves=True).decode()
        case int() | float():
            return number(value)
        case Mapping():
            keys = (key for key in sorted(value, key=_key_order) if key != "__proto__")
            return "{" + ",".join(f"{stringify(key)}:{stringify(value[key])}" for key in keys) + "}"
        case _:
            return "[" + ",".join(map(stringify, value)) + "]"


def number(value: float) -> str:
    """Return a number as JavaScript writes it; every number is a double, and infinite ones are
    null."""
    try:
        double = float(value)
    except OverflowError:
        return "null"
    return number_text(double) if math.isfinite(double) else "null"


def _key_order(key: str) -> tuple[int, int, bytes]:
    if _INDEX.fullmatch(key) and int(key) < _INDEX_END:
        return 0, int(key), b""
    return 1, 0, key.encode("utf-16-be", "surrogatepass")


def hash_input(tools: Iterable[Mapping[str, Any]]) -> str:
    """Return the text that is hashed: the sorted tools with the `HASHED` members."""
    return stringify(
        [{key: tool[key] for key in HASHED if key in tool} for tool in sort_by_name(tools)]
    )


def tool_hash(tools: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of `hash_input` in hexadecimal digits."""
    return hashlib.sha256(hash_input(tools).encode("utf-8")).hexdigest()
