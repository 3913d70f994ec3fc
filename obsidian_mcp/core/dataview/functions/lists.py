"""Functions on lists (specs/dataview.md, DV-90 to DV-92)."""

from __future__ import annotations

from functools import cmp_to_key

from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, index_by_name
from obsidian_mcp.core.dataview.pages import QueryRun
from obsidian_mcp.core.dataview.values import compare, is_true, order_key, value_text
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.evaluate import Function
from obsidian_mcp.core.expressions.values import ExpressionError, Value

MAX_FLAT_DEPTH = 100
"""Levels that flat() takes out of lists inside each other; it recurses."""


def _sort(run: QueryRun, values: list[Value], key: Function | None = None) -> list[Value]:
    run.budget.charge_items(len(values))
    if len(values) < 2:  # the plugin asks for keys only where it compares
        return values
    order = order_key(run.path_of)
    return sorted(values, key=lambda value: order(key(value) if key else value, False))


def _drop_repeats(run: QueryRun, values: list[Value]) -> list[Value]:
    """Return the values in order; of equal ones the first (DV-92)."""
    run.budget.charge_items(len(values))
    distinct: list[Value] = []
    for value in sorted(values, key=cmp_to_key(lambda left, right: int(compare(left, right)))):
        run.budget.tick()
        if not distinct or compare(distinct[-1], value) != 0:
            distinct.append(value)
    return distinct


def _join(run: QueryRun, values: list[Value], separator: str = ", ") -> str:
    return run.budget.join(
        (value_text(value, run.settings, run.budget) for value in values), separator
    )


def _flat(run: QueryRun, values: list[Value], depth: float = 1) -> list[Value]:
    flat: list[Value] = []

    def add(items: list[Value], levels: float) -> None:
        run.budget.charge_items(len(items))
        for item in items:
            run.budget.tick()
            if isinstance(item, list) and levels >= 1:
                add(item, levels - 1)
            else:
                flat.append(item)

    if depth > MAX_FLAT_DEPTH and _measure_depth(values) > MAX_FLAT_DEPTH:
        raise ExpressionError(f"The list is nested more than {MAX_FLAT_DEPTH} deep.")
    add(values, depth)
    return flat


def _measure_depth(values: list[Value]) -> int:
    """Return how deep lists stand inside each other; above MAX_FLAT_DEPTH it stops counting."""
    depth, level = 0, [values]
    while level and depth <= MAX_FLAT_DEPTH:
        depth += 1
        level = [item for items in level for item in items if isinstance(item, list)]
    return depth


def _slice(
    run: QueryRun, values: list[Value], start: float = 0, end: float | None = None
) -> list[Value]:
    first, last = javascript.slice_bounds(len(values), start, end)
    run.budget.charge_items(last - first)
    return values[first:last]


def _map(run: QueryRun, values: list[Value], function: Function) -> list[Value]:
    run.budget.charge_items(len(values))
    return [function(value) for value in values]


def _filter(run: QueryRun, values: list[Value], test: Function) -> list[Value]:
    run.budget.charge_items(len(values))
    return [value for value in values if is_true(test(value))]


def _without_nulls(_run: QueryRun, values: list[Value]) -> list[Value]:
    return [value for value in values if value is not None]


def _quantify(name: str, *, stop_at: bool, result: bool) -> Overloads:
    """Return the function `name`: it gives `result` where some value is as true as `stop_at`.

    Else it gives the opposite. It takes a list, a list and a test, or several values (DV-91).
    """

    def test_plain(run: QueryRun, values: list[Value]) -> bool:
        return test_with(run, values, None)

    def test_with(run: QueryRun, values: list[Value], test: Function | None) -> bool:
        for value in values:
            run.budget.tick()
            if is_true(test(value) if test else value) == stop_at:
                return result
        return not result

    function = Overloads(name).on("array", test_plain).on("array function", test_with)
    return function.add_fallback(lambda run, *values: test_plain(run, list(values)))


FUNCTIONS: dict[str, Implementation] = {
    # the plugin makes `none` of the same code as `all`, whose name its errors have
    "none": _quantify("all", stop_at=True, result=False),
    **index_by_name(
        Overloads("sort").on("array function?", _sort).on("*", lambda _, value: value),
        Overloads("reverse")
        .on("array", lambda _, values: values[::-1])
        .on("string", lambda _, text: text[::-1])
        .on("*", lambda _, value: value),
        Overloads("unique").on("array", _drop_repeats).null_on_null(),
        Overloads("nonnull")
        .on("array", _without_nulls)
        .add_fallback(lambda run, *values: _without_nulls(run, list(values))),
        _quantify("all", stop_at=False, result=False),
        _quantify("any", stop_at=True, result=True),
        Overloads("join", {2: (1,)})
        .on("array string?", _join)
        .on("array null", lambda run, values, _: _join(run, values))
        .on("* string?", lambda run, value, _=None: value_text(value, run.settings, run.budget)),
        Overloads("filter").on("array function", _filter).null_on("null *"),
        Overloads("map").on("array function", _map).null_on("null *"),
        Overloads("flat").on("array number?", _flat).null_on("null"),
        Overloads("slice").on("array number? number?", _slice).null_on("null"),
    ),
}
