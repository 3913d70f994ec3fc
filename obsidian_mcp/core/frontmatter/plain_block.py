"""Whether the properties of a note are sound at a glance: a reader of YAML takes 10 ms to load."""

from __future__ import annotations

import re

_WORDS = r"[A-Za-z0-9][\w ./-]*"
_ITEM = r"[A-Za-z0-9][\w/ -]*"
_NAME = r"[A-Za-z][\w-]*:"
_PLAIN_BLOCK = re.compile(
    r"---\r?\n"
    rf"(?:{_NAME}(?: (?:{_WORDS}|\[(?:{_ITEM}(?:, {_ITEM})*)?\]))?\r?\n"
    rf"|{_NAME}\r?\n(?:(?:  - {_WORDS}\r?\n)+|(?:- {_WORDS}\r?\n)+))*"
    r"---[ \t]*\r?(?:\n|\Z)"
)
"""Properties with plain words, numbers and days, and lists of such."""
_find_names = re.compile(f"^({_NAME})", re.MULTILINE).findall


def is_plainly_sound(body: str) -> bool:
    """Return whether a note has no properties, or such as are sound at a glance.

    False says nothing: `parser.find_fault` looks closer.
    """
    if not body.startswith("---"):
        return True
    block = _PLAIN_BLOCK.match(body)
    if block is None:
        return False
    names = _find_names(block[0])
    return len(names) == len(set(names))
