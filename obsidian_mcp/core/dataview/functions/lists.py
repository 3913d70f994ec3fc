"""Functions on numbers, those that choose or add up values (DV-85 to DV-87), and on lists, what holds what, and parts
of objects (DV-88 to DV-92)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import cmp_to_key, partial

from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, by_name
from obsidian_mcp.core.dataview.operators import OPERATORS, field_of
from obsidian_mcp.core.dataview.pages import Run
from obsidian_mcp.core.dataview.values import compare, equal, is_true, order_key, value_text
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
    return run.budget.join(
        (value_text(value, run.settings, run.budget) for value in values), separator
    )


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


def _slice(
    run: Run, values: list[Value], start: float = 0, end: float | None = None
) -> list[Value]:
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

    function.on("array *", in_list).on(
        "string string", lambda _, text, part: fold(part) in fold(text)
    )
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


_TOO_MANY_DIGITS = 101
"""`to_fixed` refuses them."""
_REDUCIBLE = frozenset("+-*/&|")


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
        if key is not None and (
            best_key is None or (compare(best_key, key, run.path_of) > 0) != highest
        ):
            best, best_key = value, key
    return best


def _best(run: Run, *values: Value, highest: bool) -> Value:
    """`min` and `max` (DV-86)."""
    while len(values) == 1 and isinstance(values[0], list):
        values = tuple(values[0])
    return _choose(run, ((value, value) for value in values), highest=highest)


def _best_by(run: Run, values: list[Value], key: Function, *, highest: bool) -> Value:
    keyed = [(value, key(value)) for value in values]
    if all(found is None for _, found in keyed):
        return values[0] if values else None
    return _choose(run, keyed, highest=highest)


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
    "extract": _extract,
    "none": _quantifier("all", stop_at=True, found=False),
    "min": partial(_best, highest=False),
    "max": partial(_best, highest=True),
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
        Overloads("round", {1: (0,), 2: (0,)})
        .on("number number?", _round)
        .on("number null", _round)
        .null_on("null", "null *"),
        Overloads("trunc", {1: (0,)}).on("number", javascript.cut_with(math.trunc)).null_on_null(),
        Overloads("floor", {1: (0,)}).on("number", javascript.cut_with(math.floor)).null_on_null(),
        Overloads("ceil", {1: (0,)}).on("number", javascript.cut_with(math.ceil)).null_on_null(),
        Overloads("minby")
        .on("array function", partial(_best_by, highest=False))
        .null_on("null function"),
        Overloads("maxby")
        .on("array function", partial(_best_by, highest=True))
        .null_on("null function"),
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
    ),
}
