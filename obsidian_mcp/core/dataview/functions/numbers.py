"""Functions on numbers, and those that choose or add up values (specs/dataview.md, DV-85 to DV-87)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from obsidian_mcp.core.dataview.comparison import compare
from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, by_name
from obsidian_mcp.core.dataview.operators import OPERATORS
from obsidian_mcp.core.dataview.pages import Run
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.evaluate import Function
from obsidian_mcp.core.expressions.values import ExpressionError, Value

_TOO_MANY_DIGITS = 101
"""`to_fixed` refuses them."""
_REDUCIBLE = frozenset("+-*/&|")


def _whole(cut: Callable[[float], int]) -> Callable[[Run, float], float]:
    return lambda _, number: float(cut(number)) if math.isfinite(number) else number


def _round(_run: Run, number: float, digits: float | None = None) -> float:
    if digits is None or digits <= 0:
        return javascript.round_half_up(number)
    text = javascript.to_fixed(number, int(min(digits, _TOO_MANY_DIGITS)) if digits > 0 else 0)
    return float(text) if math.isfinite(number) else number


def _choose(run: Run, values: Iterable[tuple[Value, Value]], *, highest: bool) -> Value:
    """The value with the least or highest key, nulls left out; of equal keys the first, or the last with `highest`."""
    best: Value = None
    best_key: Value = None
    for value, key in values:
        run.budget.tick()
        if key is not None and (best_key is None or (compare(best_key, key, run.path_of) > 0) != highest):
            best, best_key = value, key
    return best


def _best(*, highest: bool) -> Implementation:
    """`min` and `max` (DV-86)."""

    def best_of(run: Run, *values: Value) -> Value:
        while len(values) == 1 and isinstance(values[0], list):
            values = tuple(values[0])
        return _choose(run, ((value, value) for value in values), highest=highest)

    return best_of


def _best_by(name: str, *, highest: bool) -> Overloads:
    def best_by(run: Run, values: list[Value], key: Function) -> Value:
        keyed = [(value, key(value)) for value in values]
        if all(found is None for _, found in keyed):
            return values[0] if values else None
        return _choose(run, keyed, highest=highest)

    return Overloads(name).on("array function", best_by).null_on("null function")


def _reduce(run: Run, values: list[Value], operator: str) -> Value:
    """The values joined by an operator from the left; null for none (DV-87)."""
    if not values:
        return None
    if operator not in _REDUCIBLE:
        raise ExpressionError("reduce(array, op) supports '+', '-', '/', '*', '&', and '|'")
    total = values[0]
    for value in values[1:]:
        run.budget.tick()
        total = OPERATORS[operator](total, value, run)
    return total


def _reduce_with(_run: Run, values: list[Value], combine: Function) -> Value:
    if not values:
        return None
    total = values[0]
    for value in values[1:]:
        if value is not None:
            total = combine(total, value)
    return total


def _average(run: Run, values: list[Value]) -> Value:
    total = _reduce(run, values, "+")
    return None if total is None else OPERATORS["/"](total, float(len(values)), run)


FUNCTIONS: dict[str, Implementation] = {
    "min": _best(highest=False),
    "max": _best(highest=True),
    **by_name(
        Overloads("round", {1: (0,), 2: (0,)})
        .on("number number?", _round)
        .on("number null", _round)
        .null_on("null", "null *"),
        Overloads("trunc", {1: (0,)}).on("number", _whole(math.trunc)).null_on_null(),
        Overloads("floor", {1: (0,)}).on("number", _whole(math.floor)).null_on_null(),
        Overloads("ceil", {1: (0,)}).on("number", _whole(math.ceil)).null_on_null(),
        _best_by("minby", highest=False),
        _best_by("maxby", highest=True),
        Overloads("sum").on("array", lambda run, values: _reduce(run, values, "+")).on("*", lambda _, value: value),
        Overloads("product").on("array", lambda run, values: _reduce(run, values, "*")).on("*", lambda _, value: value),
        Overloads("average").on("array", _average).on("*", lambda _, value: value),
        Overloads("reduce", {2: (1,)}).on("array string", _reduce).on("array function", _reduce_with).null_on_null(),
    ),
}
