"""The parsed form of a Dataview query (specs/dataview.md, DV-40 to DV-49); its expressions are the shared nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from obsidian_mcp.core.expressions.syntax import Node

QueryKind = OneOf["table", "list", "task", "calendar"]


@dataclass(frozen=True, slots=True)
class Named:
    """An expression with its text and the name of its column: what stands after AS, else its text."""

    name: str
    expression: Node
    text: str


# Sources


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
    """Notes that link to the target or, if `outgoing`, that the target links to. `path` has no subpath."""

    path: str
    outgoing: bool


@dataclass(frozen=True, slots=True)
class FromCsv:
    path: str


@dataclass(frozen=True, slots=True)
class ExceptFor:
    source: Source


@dataclass(frozen=True, slots=True)
class Combined:
    operator: OneOf["&", "|"]
    left: Source
    right: Source


Source = FromPath | FromTag | FromLink | FromCsv | ExceptFor | Combined


# Commands


@dataclass(frozen=True, slots=True)
class Where:
    condition: Node


@dataclass(frozen=True, slots=True)
class SortKey:
    expression: Node
    descending: bool


@dataclass(frozen=True, slots=True)
class Sort:
    keys: tuple[SortKey, ...]


@dataclass(frozen=True, slots=True)
class Limit:
    amount: Node


@dataclass(frozen=True, slots=True)
class GroupBy:
    key: Named


@dataclass(frozen=True, slots=True)
class Flatten:
    items: Named


@dataclass(frozen=True, slots=True)
class SecondFrom:
    """A FROM that is not directly after the header: it parses, but running it is an error."""

    source: Source


Command = Where | Sort | Limit | GroupBy | Flatten | SecondFrom


@dataclass(frozen=True, slots=True)
class DataviewQuery:
    """A whole query. `columns` are those of TABLE, the one expression of LIST, or the date of CALENDAR."""

    kind: QueryKind
    columns: tuple[Named, ...]
    without_id: bool
    source: Source
    commands: tuple[Command, ...]
