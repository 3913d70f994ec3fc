"""What to try where a search finds nothing (SEARCH-99)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from obsidian_mcp.core.query import parser
from obsidian_mcp.core.query.nodes import OPERATORS, Word, property_names, walk
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.nearness import nearest_texts
from obsidian_mcp.core.vault.vault import Vault

NEAR_SHOWN = 3
"""Names that are near one that no property has."""
LIKENESS = 0.75
"""From which an operator was meant by another name, between 0 and 1."""
_name_and_value = re.compile(r"([a-z][a-z_-]+):(?!//)(.*)", re.IGNORECASE).fullmatch
_OTHER_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("folder", "dir", "directory", "in", "parent", "location"), "path"),
    **dict.fromkeys(("name", "filename", "basename", "title", "note", "ext", "extension"), "file"),
    **dict.fromkeys(("body", "text", "intext"), "content"),
    **dict.fromkeys(("heading", "header"), "section"),
    **dict.fromkeys(("paragraph", "para"), "block"),
    **dict.fromkeys(("todo", "open", "is"), "task-todo"),
    "done": "task-done",
    "hashtag": "tag",
}
"""Operators of other programs, and arguments of the tools."""


def advise(vault: Vault, query: str) -> str:
    """Return what is likely wrong with a query that finds nothing; "" for nothing.

    These are names that no operator or property has. Nothing is said of properties while the index
    is not complete: another note may have them.
    """
    node = parser.parse(query)
    words = [part.text for part in walk(node) if isinstance(part, Word)]
    operators = dict.fromkeys(match.groups() for word in words if (match := _name_and_value(word)))
    properties = dict.fromkeys(property_names(node))
    if not operators and not properties:
        return ""
    used = vault.graph.properties()  # of all notes: 5 µs a note
    names_by_key = {fold(use.name): use.name for use in used.value}
    remarks = [*_name_unknown_operators(operators, names_by_key)]
    return " ".join(
        remarks
        if used.freshness.pending
        else [*remarks, *_name_unknown_properties(properties, names_by_key)]
    )


def _name_unknown_operators(
    operators: Iterable[Sequence[str]], names_by_key: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence for each operator that there is not, with what was meant."""
    for name, value in operators:
        near = get_close_matches(name.lower(), OPERATORS, 1, LIKENESS)
        meant = _OTHER_NAMES.get(name.lower()) or next(iter(near), "")
        instead = (
            f"[{names_by_key[fold(name)]}:{value or '…'}]"
            if fold(name) in names_by_key
            else f"{meant}:"
            if meant
            else ""
        )
        yield f"There is no operator {name}:; " + (
            f"{instead} is meant." if instead else "it is searched for as text."
        )


def _name_unknown_properties(
    properties: Iterable[str], names_by_key: Mapping[str, str]
) -> Iterator[str]:
    """Yield a sentence with the properties that no note has, and the nearest names."""
    unknown = [name for name in properties if fold(name) not in names_by_key]
    if unknown:
        near = [
            names_by_key[name]
            for unknown_name in unknown
            for name in nearest_texts(fold(unknown_name), names_by_key, NEAR_SHOWN)
        ]
        advice = (
            f"Did you mean {' or '.join(map(repr, near))}?"
            if near
            else "obsidian_get_properties lists all names."
        )
        yield f"No note has the property {' or '.join(map(repr, unknown))}. {advice}"
