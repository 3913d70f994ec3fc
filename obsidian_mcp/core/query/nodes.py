"""The tree of a query. Every node knows its span in the query; equality ignores spans (QUERY-09).

Nodes are not changed once they are made. They are not frozen, because to make frozen classes would
cost every search 3 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from obsidian_mcp.core.calendar import iso
from obsidian_mcp.core.text.text import Span

SearchOperator = Literal[
    "file", "path", "content", "match-case", "ignore-case", "tag",
    "line", "block", "section", "task", "task-todo", "task-done",
]  # fmt: skip
OPERATORS: tuple[SearchOperator, ...] = get_args(SearchOperator)

_NOWHERE = Span(0, 0)


@dataclass(slots=True, unsafe_hash=True)
class Word:
    """Characters to find anywhere; as the key of a property its whole name."""

    text: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Phrase:
    """A quoted text, unescaped."""

    text: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Regex:
    """A JavaScript regular expression, as it stands between the slashes.

    `regexp.translate` accepts it: the parser has tried.
    """

    source: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class And:
    """All of two or more parts, none of them an And."""

    parts: tuple[QueryNode, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Or:
    """Any of two or more parts, none of them an Or."""

    parts: tuple[QueryNode, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Not:
    part: QueryNode
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class ScopedQuery:
    """An operator and its operand: `line:(a b)`."""

    operator: SearchOperator
    part: QueryNode
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Constant:
    """`null` (also written `empty`), `true` or `false` as the value of a property."""

    value: bool | None
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Compare:
    """`>5` or `<2024-01-31` as the value of a property.

    `scalar` is a number or a date, for `number` or `moment`.
    """

    sign: Literal["<", ">"]
    scalar: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Property:
    """`[key]` or `[key:value]`.

    A key is made of Word, Phrase, Regex and Or; a value also of And, Not, Constant and Compare.
    """

    key: QueryNode
    value: QueryNode | None
    span: Span = field(default=_NOWHERE, compare=False)


QueryNode = Word | Phrase | Regex | And | Or | Not | ScopedQuery | Property | Constant | Compare


class SearchField(NamedTuple):
    """Where the leaves of a query search, and how they treat case (None: the default)."""

    where: Literal["anyplace", "content", "path", "file", "tag"] = "anyplace"
    """`anyplace`: in the path, or in the content of a file that has any."""
    match_case: bool | None = None


NARROWING: Mapping[SearchOperator, Mapping[str, Any]] = {
    "match-case": {"match_case": True},
    "ignore-case": {"match_case": False},
    "file": {"where": "file"},
    "path": {"where": "path"},
    "content": {"where": "content"},
    "tag": {"where": "tag"},
}
"""Operators that change fields of the SearchField of their operand.

The operands of the other operators are searched in parts of the text, one part at a time.
"""


def walk(node: QueryNode) -> Iterator[QueryNode]:
    """Yield a node and all nodes in it, but for the keys and values of properties."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case And(parts=parts) | Or(parts=parts):
                waiting += reversed(parts)
            case Not(part=part) | ScopedQuery(part=part):
                waiting.append(part)


def has_scope(node: QueryNode, *operators: SearchOperator) -> bool:
    """Return whether a query has one of these operators anywhere."""
    scopes = {part.operator for part in walk(node) if isinstance(part, ScopedQuery)}
    return not scopes.isdisjoint(operators)


def property_names(node: QueryNode) -> Iterator[str]:
    """Yield the names of properties that a query names in full."""
    for part in walk(node):
        if isinstance(part, Property):
            keys = part.key.parts if isinstance(part.key, Or) else [part.key]
            yield from (key.text for key in keys if isinstance(key, Word | Phrase))


_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def number(text: str) -> float | None:
    """Return the number that a text is; None if it is something else."""
    return float(text) if _NUMBER.fullmatch(text) else None


def moment(text: str) -> str | None:
    """Return a date, or a date and time, as a text that sorts by time; None for anything else.

    Zones are ignored.
    """
    time = iso.read_iso(text)
    if time is None:
        return None
    return f"{time.day}T{time.hour or '00'}:{time.minute or '00'}:{time.second or '00'}"
