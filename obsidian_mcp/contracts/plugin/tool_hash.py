"""The hash of a tool list, which changes with it (contract 000; specs/http.md HASH-…)."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from obsidian_mcp.core.expressions.javascript import number_text
from obsidian_mcp.core.text import json_codec
from obsidian_mcp.serve.http.tool_service import sort_by_name

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_INDEX_END: Final = 2**32 - 1


def stringify(value: Any) -> str:
    """Return `JSON.stringify(deepSort(value))`: keys sorted by UTF-16 code units, then, as in every JavaScript object,
    array indices first in numeric order; `__proto__` is lost."""
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
    """Return a number as JavaScript writes it; every number is a double, and infinite ones are null."""
    try:
        double = float(value)
    except OverflowError:
        return "null"
    return number_text(double) if math.isfinite(double) else "null"


def _key_order(key: str) -> tuple[int, int, bytes]:
    if _INDEX.fullmatch(key) and int(key) < _INDEX_END:
        return 0, int(key), b""
    return 1, 0, key.encode("utf-16-be", "surrogatepass")


HASHED: Final = ("name", "description", "inputSchema")


def hash_input(tools: Iterable[Mapping[str, Any]]) -> str:
    """Return the text that is hashed: the sorted tools with the `HASHED` members."""
    return stringify([{key: tool[key] for key in HASHED if key in tool} for tool in sort_by_name(tools)])


def tool_hash(tools: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of `hash_input` in hexadecimal digits."""
    return hashlib.sha256(hash_input(tools).encode("utf-8")).hexdigest()
