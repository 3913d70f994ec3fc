"""Functions that choose one of their values (specs/dataview.md, DV-86, DV-97)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, index_by_name
from obsidian_mcp.core.dataview.pages import QueryRun
from obsidian_mcp.core.dataview.values import compare, is_true
from obsidian_mcp.core.expressions.evaluate import Function
from obsidian_mcp.core.expressions.values import Value


def _choose(run: QueryRun, values: Iterable[tuple[Value, Value]], *, highest: bool) -> Value:
    """Return the value with the least, or the highest, key of those with a key that is not null.

    Of values with equal keys it is the first, or with `highest` the last, as in the plugin (DV-86).
    """
    best: Value = None
    best_key: Value = None
    for value, key in values:
        run.budget.tick()
        if key is not None and (
            best_key is None or (compare(best_key, key, run.path_of) > 0) != highest
        ):
            best, best_key = value, key
    return best


def _choose_of(run: QueryRun, *values: Value, highest: bool) -> Value:
    """`min` and `max` (DV-86): a list as the only argument stands for its items.

    Nulls are left out; of equal values `min` takes the first and `max` the last.
    """
    while len(values) == 1 and isinstance(values[0], list):
        values = tuple(values[0])
    return _choose(run, ((value, value) for value in values), highest=highest)


def _choose_by(run: QueryRun, values: list[Value], key: Function, *, highest: bool) -> Value:
    keyed = [(value, key(value)) for value in values]
    if all(value_key is None for _, value_key in keyed):
        return values[0] if values else None
    return _choose(run, keyed, highest=highest)


def _default(_run: QueryRun, value: Value, fallback: Value) -> Value:
    return fallback if value is None else value


def _choice(_run: QueryRun, condition: Value, if_true: Value, otherwise: Value) -> Value:
    return if_true if is_true(condition) else otherwise


FUNCTIONS: dict[str, Implementation] = {
    "min": partial(_choose_of, highest=False),
    "max": partial(_choose_of, highest=True),
    **index_by_name(
        Overloads("minby")
        .on("array function", partial(_choose_by, highest=False))
        .null_on("null function"),
        Overloads("maxby")
        .on("array function", partial(_choose_by, highest=True))
        .null_on("null function"),
        Overloads("firstvalue")
        .on("array", lambda _, values: next((value for value in values if value is not None), None))
        .null_on_null(),
        Overloads("default", {2: (0, 1)}).on("* *", _default),
        Overloads("ldefault").on("* *", _default),
        Overloads("choice", {3: (0,)}).on("* * *", _choice),
    ),
}
