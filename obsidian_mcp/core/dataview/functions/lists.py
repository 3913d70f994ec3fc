"""Functions on lists, what holds what, and parts of objects (specs/dataview.md, DV-88 to DV-92)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cmp_to_key

from obsidian_mcp.core.dataview.comparison import compare, equal, is_true, order_key
from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, by_name
from obsidian_mcp.core.dataview.operators import field_of
from obsidian_mcp.core.dataview.pages import Run
from obsidian_mcp.core.dataview.text import value_text
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.evaluate import Function, Scope
from obsidian_mcp.core.expressions.values import ExpressionError, Value
from obsidian_mcp.core.text.text import utf16_length

MAX_FLAT_DEPTH = 100


def _sort(run: Run, values: list[Value], key: Function | None = None) -> list[Value]:
    run.budget.charge_items(len(values))
    if len(values) < 2:  # the plugin asks for keys only where it compares
        return values
    order = order_key(run.path_of)
    return sorted(values, key=lambda value: order(key(value) if key else value, False))


def _unique(run: Run, values: list[Value]) -> list[Value]:
    """In order; of equal values the first (DV-92)."""
    run.budget.charge_items(len(values))
    kept: list[Value] = []
    for value in sorted(values, key=cmp_to_key(lambda left, right: int(compare(left, right)))):
        run.budget.tick()
        if not kept or compare(kept[-1], value) != 0:
            kept.append(value)
    return kept


def _quantifier(name: str, *, stop_at: bool, found: bool) -> Overloads:
    """Whether some value is as true as `stop_at`: then `found`, else the opposite."""

    def plain(run: Run, values: list[Value]) -> bool:
        return tested(run, values, None)

    def tested(run: Run, values: list[Value], test: Function | None) -> bool:
        for value in values:
            run.budget.tick()
            if is_true(test(value) if test else value) == stop_at:
                return found
        return not found

    function = Overloads(name).on("array", plain).on("array function", tested)
    return function.otherwise(lambda run, *values: plain(run, list(values)))


def _join(run: Run, values: list[Value], separator: str = ", ") -> str:
    return run.budget.join((value_text(value, run.settings, run.budget) for value in values), separator)


def _flat(run: Run, values: list[Value], depth: float = 1) -> list[Value]:
    flat: list[Value] = []

    def add(items: list[Value], levels: float) -> None:
        run.budget.charge_items(len(items))
        for item in items:
            run.budget.tick()
            if isinstance(item, list) and levels >= 1:
                add(item, levels - 1)
            else:
                flat.append(item)

    if depth > MAX_FLAT_DEPTH and _nesting(values) > MAX_FLAT_DEPTH:
        raise ExpressionError(f"The list is nested more than {MAX_FLAT_DEPTH} deep.")
    add(values, depth)
    return flat


def _nesting(values: list[Value]) -> int:
    depth, level = 0, [values]
    while level and depth <= MAX_FLAT_DEPTH:
        depth += 1
        level = [item for items in level for item in items if isinstance(item, list)]
    return depth


def _slice(run: Run, values: list[Value], start: float = 0, end: float | None = None) -> list[Value]:
    first, last = javascript.slice_bounds(len(values), start, end)
    run.budget.charge_items(last - first)
    return values[first:last]


def _map(run: Run, values: list[Value], function: Function) -> list[Value]:
    run.budget.charge_items(len(values))
    return [function(value) for value in values]


def _filter(run: Run, values: list[Value], test: Function) -> list[Value]:
    run.budget.charge_items(len(values))
    return [value for value in values if is_true(test(value))]


def _without_nulls(_run: Run, values: list[Value]) -> list[Value]:
    return [value for value in values if value is not None]


def _equal(run: Run, left: Value, right: Value) -> bool:
    return equal(left, right, run.path_of)


def _contains(name: str, fold: Callable[[str], str] = str, *, recursive: bool = True) -> Overloads:
    """Whether a list has such an element, a text such a part, an object such a key, else whether both are equal."""
    function = Overloads(name, {2: (1,)})

    def in_list(run: Run, values: list[Value], wanted: Value) -> bool:
        test = function if recursive else _equal
        for value in values:
            run.budget.tick()
            if test(run, value, wanted):
                return True
        return False

    function.on("array *", in_list).on("string string", lambda _, text, part: fold(part) in fold(text))
    function.on("object string", lambda _, keys, key: key in keys)
    return function.on("* *", _equal)


def _contains_word(_run: Run, text: str, word: str) -> bool:
    """Whole words of ASCII letters, digits and `_`, in any case."""
    pattern = re.compile(rf"(?a:\b){re.escape(word)}(?a:\b)", re.IGNORECASE)
    return any(map(pattern.search, _LINE_END.split(text)))


_LINE_END = re.compile(r"[\n\r\u2028\u2029]")


def _extract(run: Run, *arguments: Value) -> Value:
    if not arguments:
        return "extract(object, key1, ...) requires at least 1 argument"
    value, *keys = arguments
    if isinstance(value, list):
        run.budget.charge_items(len(value) * (1 + len(keys)))
        return [_extract(run, item, *keys) for item in value]
    scope = Scope(run, {})
    found: dict[str, Value] = {}
    for key in keys:
        if not isinstance(key, str):
            raise ExpressionError("extract(object, key1, ...) must be called with string keys")
        found[key] = field_of(value, key, scope)
    return found


FUNCTIONS: dict[str, Implementation] = {
    "extract": _extract,
    "none": _quantifier("all", stop_at=True, found=False),
    **by_name(
        Overloads("sort").on("array function?", _sort).on("*", lambda _, value: value),
        Overloads("reverse")
        .on("array", lambda _, values: values[::-1])
        .on("string", lambda _, text: text[::-1])
        .on("*", lambda _, value: value),
        Overloads("unique").on("array", _unique).null_on_null(),
        Overloads("nonnull")
        .on("array", _without_nulls)
        .otherwise(lambda run, *values: _without_nulls(run, list(values))),
        Overloads("firstvalue")
        .on("array", lambda _, values: next((value for value in values if value is not None), None))
        .null_on_null(),
        _quantifier("all", stop_at=False, found=False),
        _quantifier("any", stop_at=True, found=True),
        Overloads("join", {2: (1,)})
        .on("array string?", _join)
        .on("array null", lambda run, values, _: _join(run, values))
        .on("* string?", lambda run, value, _=None: value_text(value, run.settings, run.budget)),
        Overloads("filter").on("array function", _filter).null_on("null *"),
        Overloads("map").on("array function", _map).null_on("null *"),
        Overloads("flat").on("array number?", _flat).null_on("null"),
        Overloads("slice").on("array number? number?", _slice).null_on("null"),
        _contains("contains"),
        _contains("icontains", str.lower),
        _contains("econtains", recursive=False),
        Overloads("containsword", {2: (0, 1)}).on("string string", _contains_word).null_on_null(),
        Overloads("length")
        .on("array", lambda _, values: float(len(values)))
        .on("object", lambda _, fields: float(len(fields)))
        .on("string", lambda _, text: float(utf16_length(text)))
        .on("null", lambda *_: 0.0),
    ),
}
