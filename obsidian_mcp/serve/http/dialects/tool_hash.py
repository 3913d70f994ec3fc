"""The hash of a tool list by which a bridge notices that it changed (contract 000; specs/http.md HASH-…)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .ecmascript import stringify

HASHED: Final = ("name", "description", "inputSchema")
_ORDER: Final = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
"""ASCII in the order of ICU's root collation; control characters that are not here are ignored."""
_WEIGHT: Final = {char: weight for weight, char in enumerate(_ORDER)}

SortKey = tuple[list[int], list[list[int]], list[bool]]


def name_order(name: str) -> SortKey:
    """Sort key in the order of `localeCompare` in English: letters first, then accents, then small before capital.

    Exact for ASCII and for Latin letters with accents. Other scripts come after `z`, where ICU has an order of its own
    (specs/http.md HASH-04); names of our tools are ASCII.
    """
    bases: list[int] = []
    accents: list[list[int]] = []
    capitals: list[bool] = []
    for char in unicodedata.normalize("NFD", name):
        small = char.lower()
        if unicodedata.combining(char):
            if accents:
                accents[-1].append(ord(char))
        elif small in _WEIGHT or char > "\x7f":
            bases.append(_WEIGHT.get(small, len(_ORDER) + ord(char)))
            accents.append([])
            capitals.append(char != small)
    return bases, accents, capitals


def sort_by_name(tools: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Tools as contract 000 lists them; equal names keep their order."""
    return sorted(tools, key=lambda tool: name_order(tool["name"]))


def hash_input(tools: Iterable[Mapping[str, Any]]) -> str:
    """The text that is hashed: the sorted tools with the members that count."""
    return stringify([{key: tool[key] for key in HASHED if key in tool} for tool in sort_by_name(tools)])


def tool_hash(tools: Iterable[Mapping[str, Any]]) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(hash_input(tools).encode("utf-8")).hexdigest()
