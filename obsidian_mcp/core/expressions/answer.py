"""What a query answers: columns, cells of one page, groups, warnings (EXPR-57)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.text.javascript_number import LEAST_EXPONENTIAL
from obsidian_mcp.core.text.page_order import continue_order

from .budget import ITEM_UNITS
from .values import ExpressionError, Value, check_depth

if TYPE_CHECKING:
    from .evaluate import Context

T = TypeVar("T")
Cell = Any
"""JSON: null, boolean, number, text, list, object."""

CellWriters = Mapping[type, Callable[[Value, "Context"], Cell]]
"""How a language shows a value in a cell, by the value's type.

Null, numbers, texts, lists and objects are shown alike by all languages.
"""


class Page(NamedTuple):
    """Which rows of a result to answer with."""

    limit: int | None = None
    offset: int = 0

    def cut(self, rows: Sequence[T], key: Callable[[T], object]) -> Sequence[T]:
        """Return the rows of the page, in the order in which the pages began (TOOL-41).

        `key` is what a row is known by.
        """
        arranged, start = continue_order(rows, self.offset, key)
        return arranged[start : None if self.limit is None else start + self.limit]


class Column(NamedTuple):
    """A column of the answer."""

    id: str
    """Full id of a property, or the text of an expression."""
    name: str
    """What a reader sees above it."""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """`count` rows of the result in turn."""

    key: Cell
    count: int
    summaries: Mapping[str, Mapping[str, Cell]] | None = None
    groups: tuple[RowGroup, ...] | None = None

    def data(self) -> dict[str, Any]:
        """Return the group as JSON; keys without content are left out."""
        groups = None if self.groups is None else [group.data() for group in self.groups]
        return {
            "key": self.key,
            "count": self.count,
            **_without_none({"summaries": self.summaries, "groups": groups}),
        }


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """One page of a query's result."""

    columns: tuple[Column, ...]
    rows: list[list[Cell]]
    total: int
    """Rows of the whole result."""
    kind: str | None = None
    """`table`, `list`, `task` or `calendar` where the language has kinds."""
    view: str | None = None
    paths: list[str | None] | None = None
    """For each row of the page the file it stands for."""
    groups: tuple[RowGroup, ...] | None = None
    summaries: Mapping[str, Mapping[str, Cell]] | None = None
    """By column id and name of the summary, over the whole result."""
    warnings: list[str] = field(default_factory=list)
    lines: list[int] | None = None
    """For each row of a table's page its line in the note."""

    def __bool__(self) -> bool:
        """Whether anything was found."""
        return self.total > 0

    def data(self) -> dict[str, Any]:
        """Return the answer as JSON; keys without content are left out."""
        data = {
            "kind": self.kind,
            "view": self.view,
            "columns": [{"id": column.id, "name": column.name} for column in self.columns],
            "rows": self.rows,
            "paths": self.paths,
            "lines": self.lines,
            "groups": None if self.groups is None else [group.data() for group in self.groups],
            "summaries": self.summaries or None,
            "total": self.total,
            "warnings": self.warnings or None,
        }
        return _without_none(data)


def _without_none(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


def cell_of(value: Value, cells: CellWriters, context: Context, depth: int = 0) -> Cell:
    """Return a value as JSON, an error as `{"error": message}` (EXPR-57).

    `depth` is how many lists and objects the value stands in.
    Raises: ExpressionError for what is nested too deep or too large.
    """
    write = cells.get(type(value))
    if write is not None:
        return write(value, context)
    if value is None or value is True or value is False:
        return value
    if isinstance(value, float | int):
        return number_cell(float(value))
    if isinstance(value, str):
        context.budget.charge(len(value))
        return str(value)
    if isinstance(value, ExpressionError):
        return {"error": value.message}
    context.budget.charge(ITEM_UNITS)
    check_depth(depth)
    if isinstance(value, list | dict):
        context.budget.charge_items(len(value))
        context.budget.tick()
    if isinstance(value, list):
        return [cell_of(item, cells, context, depth + 1) for item in value]
    if isinstance(value, dict):
        return {str(key): cell_of(item, cells, context, depth + 1) for key, item in value.items()}
    raise TypeError(f"no cell for {type(value).__name__}")


def number_cell(number: float) -> Cell:
    """Return a whole number without `.0`, and what is not finite as text."""
    if number != number:
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    is_plain = number == int(number) and abs(number) < LEAST_EXPONENTIAL
    return int(number) if is_plain else number
