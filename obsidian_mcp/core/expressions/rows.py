"""The row loop of all languages: filter, sort, group, flatten, limit (EXPR-51 to EXPR-55). A row is a `Scope`; unless a
step says otherwise, one whose expression has an error is left out and counted under the step's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from .evaluate import Context, Evaluate, Scope
from .values import ExpressionError, Value

T = TypeVar("T")
ROW_ITEMS = 8
"""List items that take as much memory as one more row."""

OrderKey = Callable[[Value, bool], Any]
"""(value, descending) -> something that Python compares; `descending` lets nulls stay last in both directions."""


@dataclass(frozen=True, slots=True)
class SortBy:
    value: Evaluate
    descending: bool = False


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """Neighbouring rows with one key. `key` is the value of the first."""

    key: Value
    rows: list[Scope]


def filter_rows(rows: Iterable[Scope], passes: Callable[[Scope], bool], context: Context, step: str) -> list[Scope]:
    """The rows that pass, in order (EXPR-51)."""
    kept = []
    end_row = context.budget.end_row
    for row in rows:
        keep = False
        try:
            keep = passes(row)
        except ExpressionError as error:
            context.problems.record(step, error.message)
        end_row(kept=keep)
        if keep:
            kept.append(row)
    return kept


def evaluate_rows(
    rows: Sequence[Scope], value: Callable[[Scope], T], context: Context, step: str, *, failed: T | None = None
) -> list[tuple[Scope, T]]:
    """Each row with a value of its own; a row that fails has `failed`, or is left out where that is None."""
    found: list[tuple[Scope, T]] = []
    for row in rows:
        try:
            found.append((row, value(row)))
        except ExpressionError as error:
            if failed is not None:
                found.append((row, failed))
            else:
                context.problems.record(step, error.message)
        context.budget.end_row(kept=True)
    return found


def sort_rows(
    rows: Sequence[Scope],
    keys: Sequence[SortBy],
    order_key: OrderKey,
    context: Context,
    step: str,
    *,
    keep_errors: bool = False,
) -> list[Scope]:
    """The rows by one key after the other, stable in both directions (EXPR-52). `keep_errors`: a failed key is null."""
    hold = context.budget.hold

    def order_keys(row: Scope) -> list[Any]:
        found = []
        for key in keys:
            try:
                value = key.value(row)
                hold(value)
                found.append(order_key(value, key.descending))
            except ExpressionError:
                if not keep_errors:
                    raise
                found.append(order_key(None, key.descending))
        return found

    pairs = evaluate_rows(rows, order_keys, context, step)
    for place in reversed(range(len(keys))):
        pairs.sort(key=lambda pair: pair[1][place], reverse=keys[place].descending)
    return [row for row, _ in pairs]


def group_rows(
    rows: Sequence[Scope],
    by: SortBy,
    order_key: OrderKey,
    context: Context,
    step: str,
    *,
    keep_errors: bool = False,
) -> list[KeyedRows]:
    """Rows with equal order keys together, by key, then as the rows (EXPR-53). `keep_errors`: a failed key is null."""

    def evaluate(row: Scope) -> tuple[Any, Value]:
        value = by.value(row)
        context.budget.hold(value)
        return order_key(value, by.descending), value

    failed = (order_key(None, by.descending), None) if keep_errors else None
    pairs = evaluate_rows(rows, evaluate, context, step, failed=failed)
    pairs.sort(key=lambda pair: pair[1][0], reverse=by.descending)
    groups = []
    for _, members in groupby(pairs, key=lambda pair: pair[1][0]):
        listed = list(members)
        groups.append(KeyedRows(listed[0][1][1], [row for row, _ in listed]))
    return groups


def flatten_rows(
    rows: Sequence[Scope],
    values: Evaluate,
    extend: Callable[[Scope, Value], Scope],
    context: Context,
    step: str,
) -> list[Scope]:
    """One row for each item of a list; a value that is no list gives one row, an empty list none (EXPR-54)."""
    flat: list[Scope] = []
    for row, value in evaluate_rows(rows, values, context, step):
        items = value if isinstance(value, list) else [value]
        context.budget.hold([None] * (ROW_ITEMS * len(items)))
        flat.extend(extend(row, item) for item in items)
        context.budget.end_row(kept=True)
    return flat


def limit_rows(rows: Sequence[Scope], count: float | None) -> Sequence[Scope]:
    """The first `count` rows; a negative count drops the last rows; None keeps all (EXPR-55)."""
    return rows if count is None else rows[: int(count)]
