"""The parsed form of a Dataview query (specs/dataview.md, DV-40 to DV-49).

Its expressions are the nodes that all languages share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from obsidian_mcp.core.expressions.syntax import Node

QueryKind = OneOf["table", "list", "task", "calendar"]


@dataclass(frozen=True, slots=True)
class NamedExpression:
    """An expression with its text and the name of its column.

    The name is what stands after AS, else the text.
    """

    name: str
    expression: Node
    text: str


@dataclass(frozen=True, slots=True)
class FromPath:
    """A folder or a note; empty for all notes."""

    path: str


@dataclass(frozen=True, slots=True)
class FromTag:
    """With its `#`, as written."""

    tag: str


@dataclass(frozen=True, slots=True)
class FromLink:
    """Notes that link to the target or, if `outgoing`, that the target links to."""

    path: str
    """Without a subpath."""
    outgoing: bool


@dataclass(frozen=True, slots=True)
class FromCsv:
    """The rows of a CSV file."""

    path: str


@dataclass(frozen=True, slots=True)
class ExceptFor:
    """All notes but those of a source."""

    source: QuerySource


@dataclass(frozen=True, slots=True)
class Combined:
    """Notes of both sources, or of any of them."""

    operator: OneOf["&", "|"]
    left: QuerySource
    right: QuerySource


QuerySource = FromPath | FromTag | FromLink | FromCsv | ExceptFor | Combined


@dataclass(frozen=True, slots=True)
class Where:
    condition: Node


@dataclass(frozen=True, slots=True)
class SortTerm:
    expression: Node
    descending: bool


@dataclass(frozen=True, slots=True)
class Sort:
    keys: tuple[SortTerm, ...]


@dataclass(frozen=True, slots=True)
class LimitRows:
    amount: Node


@dataclass(frozen=True, slots=True)
class GroupBy:
    key: NamedExpression


@dataclass(frozen=True, slots=True)
class Flatten:
    items: NamedExpression


@dataclass(frozen=True, slots=True)
class SecondFrom:
    """A FROM; one that is not directly after the header parses, but running it is an error."""

    source: QuerySource


QueryCommand = Where | Sort | LimitRows | GroupBy | Flatten | SecondFrom


@dataclass(frozen=True, slots=True)
class DataviewQuery:
    """A whole query."""

    kind: QueryKind
    columns: tuple[NamedExpression, ...]
    """Those of TABLE, the one expression of LIST, or the date of CALENDAR."""
    without_id: bool
    """Whether the column is left out that says which row it is."""
    source: QuerySource
    commands: tuple[QueryCommand, ...]
