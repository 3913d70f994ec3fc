"""Functions on numbers, and those that add up values (specs/dataview.md, DV-85, DV-87)."""

from __future__ import annotations

import math

from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, index_by_name
from obsidian_mcp.core.dataview.operators import OPERATORS
from obsidian_mcp.core.dataview.pages import QueryRun
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.evaluate import Function
from obsidian_mcp.core.expressions.values import ExpressionError, Value

_TOO_MANY_DIGITS = 101
"""`to_fixed` refuses them."""

_REDUCIBLE = frozenset("+-*/&|")
"""Operators that `reduce` takes by their sign."""


def _round(_run: QueryRun, number: float, digits: float | None = None) -> float:
    if digits is None or digits <= 0:
        return javascript.round_half_up(number)
    # `toFixed` takes NaN for 0
    whole_digits = 0 if math.isnan(digits) else int(min(digits, _TOO_MANY_DIGITS))
    text = javascript.to_fixed(number, whole_digits)
    return float(text) if math.isfinite(number) else number


def _reduce(run: QueryRun, values: list[Value], operator: str) -> Value:
    """Return the values joined by an operator from the left; null for none (DV-87)."""
    if not values:
        return None
    if operator not in _REDUCIBLE:
        raise ExpressionError("reduce(array, op) supports '+', '-', '/', '*', '&', and '|'")
    total = values[0]
    for value in values[1:]:
        run.budget.tick()
        total = OPERATORS[operator](total, value, run)
    return total


def _reduce_with(_run: QueryRun, values: list[Value], combine: Function) -> Value:
    """Return the values joined by a function from the left; nulls behind the first are left out."""
    if not values:
        return None
    total = values[0]
    for value in values[1:]:
        if value is not None:
            total = combine(total, value)
    return total


def _average(run: QueryRun, values: list[Value]) -> Value:
    total = _reduce(run, values, "+")
    return None if total is None else OPERATORS["/"](total, float(len(values)), run)


FUNCTIONS: dict[str, Implementation] = index_by_name(
    Overloads("round", {1: (0,), 2: (0,)})
    .on("number number?", _round)
    .on("number null", _round)
    .null_on("null", "null *"),
    Overloads("trunc", {1: (0,)}).on("number", javascript.cut_with(math.trunc)).null_on_null(),
    Overloads("floor", {1: (0,)}).on("number", javascript.cut_with(math.floor)).null_on_null(),
    Overloads("ceil", {1: (0,)}).on("number", javascript.cut_with(math.ceil)).null_on_null(),
    Overloads("sum")
    .on("array", lambda run, values: _reduce(run, values, "+"))
    .on("*", lambda _, value: value),
    Overloads("product")
    .on("array", lambda run, values: _reduce(run, values, "*"))
    .on("*", lambda _, value: value),
    Overloads("average").on("array", _average).on("*", lambda _, value: value),
    Overloads("reduce", {2: (1,)})
    .on("array string", _reduce)
    .on("array function", _reduce_with)
    .null_on_null(),
)
