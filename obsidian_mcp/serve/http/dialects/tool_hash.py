"""The hash of a tool list, which changes with it (contract 000; specs/http.md HASH-…)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from .ecmascript import stringify

HASHED: Final = ("name", "description", "inputSchema")
_ORDER: Final = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
"""ASCII in the order of ICU's root collation; control characters that are not here are ignored."""
_WEIGHT: Final = {char: weight for weight, char in enumerate(_ORDER)}

Entry = TypeVar("Entry", bound=Mapping[str, Any])
SortKey = tuple[list[int], list[list[int]], list[bool]]


def name_order(name: str) -> SortKey:
    """Return a sort key for `localeCompare` in English: letters first, then accents, then small before capital.

    Exact for ASCII and for Latin letters with accents. Other scripts come after `z` in an order that differs from
    ICU's (HASH-04); names of our tools are ASCII.
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


def sort_by_name(tools: Iterable[Entry]) -> list[Entry]:
    """Return tools in contract 000's order; equal names keep their order."""
    return sorted(tools, key=lambda tool: name_order(tool["name"]))


def hash_input(tools: Iterable[Mapping[str, Any]]) -> str:
    """Return the text that is hashed: the sorted tools with the `HASHED` members."""
    return stringify([{key: tool[key] for key in HASHED if key in tool} for tool in sort_by_name(tools)])


def tool_hash(tools: Iterable[Mapping[str, Any]]) -> str:
    """Return the SHA-256 of `hash_input` in hexadecimal digits."""
    return hashlib.sha256(hash_input(tools).encode("utf-8")).hexdigest()
