"""The row loop of all languages: filter, sort, group, flatten, limit (EXPR-51 to EXPR-55).

A row is a `Scope`. A row whose expression has an error is left out and counted under the name of
the step, unless the step says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from obsidian_mcp.core.text.call import may_go_on

from .evaluate import Context, Evaluate, Scope
from .javascript import slice_bounds
from .values import ExpressionError, Value

T = TypeVar("T")

ROWS_BETWEEN_LOOKS = 256
"""Rows that are filtered between two looks at the time."""
ROW_ITEMS = 8
"""List items that take as much memory as one more row."""

OrderKey = Callable[[Value, bool], Any]
"""(value, descending) -> something that Python compares.

`descending` lets nulls stay last in both directions.
"""


class SortBy(NamedTuple):
    """An expression that rows are sorted or grouped by."""

    value: Evaluate
    descending: bool = False


class KeyedRows(NamedTuple):
    """Neighbouring rows with one key. `key` is the value of the first."""

    key: Value
    rows: list[Scope]


def filter_rows(
    rows: Iterable[Scope], passes: Callable[[Scope], bool], context: Context, step: str
) -> list[Scope]:
    """Return the rows that pass, in order (EXPR-51); those of the first rows if time runs out
    (EXPR-56)."""
    passing = []
    end_row = context.budget.end_row
    for count, row in enumerate(rows):
        if not count % ROWS_BETWEEN_LOOKS and not may_go_on():
            context.problems.note(
                f"Time ran out: {step} looked at the first {count} rows only, and the answer has "
                "none of the others. Ask for a folder, a tag or the value of a property."
            )
            break
        does_pass = False
        try:
            does_pass = passes(row)
        except ExpressionError as error:
            context.problems.record(step, error.message)
        end_row(kept=does_pass)
        if does_pass:
            passing.append(row)
    return passing


def evaluate_rows(
    rows: Sequence[Scope], value: Callable[[Scope], T], context: Context, step: str
) -> list[tuple[Scope, T]]:
    """Return each row with its value; a row that fails is left out."""
    pairs: list[tuple[Scope, T]] = []
    for row in rows:
        try:
            pairs.append((row, value(row)))
        except ExpressionError as error:
            context.problems.record(step, error.message)
        context.budget.end_row(kept=True)
    return pairs


def _add_keys(
    rows: Sequence[Scope],
    keys: Sequence[SortBy],
    order_key: OrderKey,
    context: Context,
    step: str,
    *,
    keep_errors: bool,
) -> list[tuple[Scope, list[tuple[Any, Value]]]]:
    """Return each row with order key and value of every key."""
    keyed_rows = []
    for row in rows:
        pairs: list[tuple[Any, Value]] = []
        try:
            for key in keys:
                try:
                    value = key.value(row)
                    context.budget.hold(value)
                    pairs.append((order_key(value, key.descending), value))
                except ExpressionError:
                    if not keep_errors:
                        raise
                    pairs.append((order_key(None, key.descending), None))
            keyed_rows.append((row, pairs))
        except ExpressionError as error:
            context.problems.record(step, error.message)
        context.budget.end_row(kept=True)
    return keyed_rows


def sort_rows(
    rows: Sequence[Scope],
    keys: Sequence[SortBy],
    order_key: OrderKey,
    context: Context,
    step: str,
    *,
    keep_errors: bool = False,
) -> list[Scope]:
    """Return the rows in order of the first key, then of the second, and so on (EXPR-52).

    The order is stable in both directions. With `keep_errors`, a row whose key fails is sorted as
    null.
    """
    keyed_rows = _add_keys(rows, keys, order_key, context, step, keep_errors=keep_errors)
    for place in reversed(range(len(keys))):
        keyed_rows.sort(key=lambda pair: pair[1][place][0], reverse=keys[place].descending)
    return [row for row, _ in keyed_rows]


def group_rows(
    rows: Sequence[Scope],
    by: SortBy,
    order_key: OrderKey,
    context: Context,
    step: str,
    *,
    keep_errors: bool = False,
) -> list[KeyedRows]:
    """Return rows with equal order keys together, groups in order of the key (EXPR-53).

    Rows keep their order inside a group. `order_key` must tell apart what belongs to different
    groups. With `keep_errors`, a row whose key fails is in the group of null.
    """
    keyed_rows = _add_keys(rows, [by], order_key, context, step, keep_errors=keep_errors)
    single_keys = [(row, *pairs[0]) for row, pairs in keyed_rows]
    single_keys.sort(key=lambda keyed: keyed[1], reverse=by.descending)
    groups = [list(members) for _, members in groupby(single_keys, key=lambda keyed: keyed[1])]
    return [KeyedRows(members[0][2], [row for row, _, _ in members]) for members in groups]


def flatten_rows(
    rows: Sequence[Scope],
    values: Evaluate,
    extend: Callable[[Scope, Value], Scope],
    context: Context,
    step: str,
) -> list[Scope]:
    """Return one row for each item of a list (EXPR-54).

    A value that is no list gives one row, an empty list none.
    """
    flat: list[Scope] = []
    for row, value in evaluate_rows(rows, values, context, step):
        items = value if isinstance(value, list) else [value]
        context.budget.hold([None] * (ROW_ITEMS * len(items)))
        flat.extend(extend(row, item) for item in items)
        context.budget.end_row(kept=True)
    return flat


def limit_rows(rows: Sequence[Scope], count: float) -> Sequence[Scope]:
    """Return the first `count` rows; a negative count drops the last rows (EXPR-55)."""
    _, end = slice_bounds(len(rows), 0, count)
    return rows[:end]
