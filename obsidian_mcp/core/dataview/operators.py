"""Operators and indexing (specs/dataview.md, DV-61 to DV-66)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from obsidian_mcp.core.dataview.durations import convert_to_unit, duration_between, normalize
from obsidian_mcp.core.dataview.pages import run_of
from obsidian_mcp.core.dataview.records import ObjectRecord
from obsidian_mcp.core.dataview.values import are_equal, compare, is_true, type_name, value_text
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.dates import UNITS, Date, Duration, shift
from obsidian_mcp.core.expressions.evaluate import Context, Scope
from obsidian_mcp.core.expressions.values import ExpressionError, LinkValue, Value

ApplyOperator = Callable[[Value, Value, Context], Value]


# Arithmetic: by the pair of types


def _return_null(_left: Value, _right: Value, _context: Context) -> Value:
    return None


def _repeat(text: str, times: float, context: Context) -> str:
    if not text or not times > 0:
        return ""
    context.budget.charge(len(text) * times)
    return text * int(times)


def _concatenate(left: list[Value], right: list[Value], context: Context) -> list[Value]:
    context.budget.charge_items(len(left) + len(right))
    return left + right


def _merge(
    left: Mapping[str, Value], right: Mapping[str, Value], context: Context
) -> dict[str, Value]:
    context.budget.charge_items(2 * (len(left) + len(right)))
    return {**left, **right}


_NUMBERS: dict[str, ApplyOperator] = {
    "+": lambda left, right, _: left + right,
    "-": lambda left, right, _: left - right,
    "*": lambda left, right, _: left * right,
    "/": lambda left, right, _: javascript.divide(left, right),
    "%": lambda left, right, _: javascript.remainder(left, right),
}
_BY_TYPES: dict[tuple[str, str, str], ApplyOperator] = {
    ("string", "*", "number"): _repeat,
    ("number", "*", "string"): lambda left, right, context: _repeat(right, left, context),
    ("date", "-", "date"): lambda left, right, _: duration_between(left, right),
    ("date", "-", "duration"): lambda left, right, _: shift(left, right.scale(-1.0), elapsed=True),
    ("date", "+", "duration"): lambda left, right, _: shift(left, right, elapsed=True),
    ("duration", "+", "date"): lambda left, right, _: shift(right, left, elapsed=True),
    ("duration", "+", "duration"): lambda left, right, _: normalize(left.add(right)),
    ("duration", "-", "duration"): lambda left, right, _: normalize(left.add(right.scale(-1.0))),
    ("duration", "*", "number"): lambda left, right, _: normalize(left.scale(right)),
    ("number", "*", "duration"): lambda left, right, _: normalize(right.scale(left)),
    ("duration", "/", "number"): lambda left, right, _: normalize(
        Duration(*(javascript.divide(getattr(left, unit), right) for unit in UNITS))
    ),
    ("array", "+", "array"): _concatenate,
    ("object", "+", "object"): _merge,
    **{("null", operator, "null"): _return_null for operator in "+-*/%"},
    **{
        (left, operator, right): _return_null
        for operator in "+-"
        for left, right in (("date", "null"), ("null", "date"))
    },
}


def _arithmetic(operator: str) -> ApplyOperator:
    numbers = _NUMBERS[operator]

    def apply(left: Value, right: Value, context: Context) -> Value:
        if type(left) is float and type(right) is float:
            return numbers(left, right, context)
        if operator == "+" and (type(left) is str or type(right) is str):
            return _join_texts(left, right, context)
        implementation = _BY_TYPES.get((type_name(left), operator, type_name(right)))
        if implementation is None:
            raise ExpressionError(
                f"No implementation found for '{type_name(left)} {operator} {type_name(right)}'"
            )
        return implementation(left, right, context)

    return apply


def _join_texts(left: Value, right: Value, context: Context) -> str:
    run = run_of(context)
    text = value_text(left, run.settings, run.budget) + value_text(right, run.settings, run.budget)
    run.budget.charge(len(text))
    return text


def _comparison(test: Callable[[float], bool]) -> ApplyOperator:
    below_result, equal_result, above_result = test(-1), test(0), test(1)

    def apply(left: Value, right: Value, context: Context) -> Value:
        if type(left) is float and type(right) is float:
            return below_result if left < right else equal_result if left == right else above_result
        return test(compare(left, right, run_of(context).path_of))

    return apply


def _are_equal(left: Value, right: Value, context: Context) -> bool:
    return are_equal(left, right, run_of(context).path_of)


OPERATORS: dict[str, ApplyOperator] = {
    **{operator: _arithmetic(operator) for operator in _NUMBERS},
    "<": _comparison(lambda order: order < 0),
    "<=": _comparison(lambda order: order <= 0),
    ">": _comparison(lambda order: order > 0),
    ">=": _comparison(lambda order: order >= 0),
    "=": _are_equal,
    "!=": lambda left, right, context: not _are_equal(left, right, context),
    "&": lambda left, right, _: is_true(left) and is_true(right),
    "|": lambda left, right, _: is_true(left) or is_true(right),
}
UNARY: dict[str, Callable[[Value, Context], Value]] = {"!": lambda value, _: not is_true(value)}


# Indexing


def field_of(value: Value, name: str, scope: Scope) -> Value:
    """Return `value.name` (DV-63 to DV-66).

    Raises: ExpressionError.
    """
    if isinstance(value, ObjectRecord | dict):
        return value.get(name)
    match value:
        case LinkValue():
            page = run_of(scope.context).page_of(value)
            return None if page is None else page.get(name)
        case list():
            return _swizzle(value, name, scope)
        case str():
            raise ExpressionError("string indexing requires a numeric index (string[index])")
        case Date():
            part = _DATE_PARTS.get(name)
            return None if part is None else float(part(value.moment))
        case Duration():
            unit = name if name in UNITS else f"{name}s"
            return convert_to_unit(value, unit) if unit in UNITS and name != "week" else None
        case _:
            return None


def item_of(value: Value, index: Value, scope: Scope) -> Value:
    """Return `value[index]` (DV-63 to DV-66).

    Raises: ExpressionError.
    """
    if type(index) is str:
        return field_of(value, index, scope)
    if type(index) is not float:
        raise ExpressionError("Can only index with a string or number")
    if isinstance(value, list | str):
        place = javascript.list_index(index)
        if isinstance(value, str):
            return None if place is None else javascript.substring(value, place, place + 1) or None
        return value[place] if place is not None and place < len(value) else None
    message = _NEEDS_TEXT.get(type_name(value))
    if message is not None:
        raise ExpressionError(message)
    return None


def _swizzle(values: list[Value], name: str, scope: Scope) -> list[Value]:
    """Return the field of each element, leaving out those for which it is an error (DV-64)."""
    budget = scope.context.budget
    budget.charge_items(len(values))
    fields = []
    for value in values:
        budget.tick()
        try:
            fields.append(field_of(value, name, scope))
        except ExpressionError:
            continue
    return fields


_NEEDS_TEXT = {
    "object": 'can only index into objects with strings (a.b or a["b"])',
    "link": 'can only index into links with strings (a.b or a["b"])',
    "date": "date indexing requires a string representing the unit",
    "duration": "duration indexing requires a string representing the unit",
}
_DATE_PARTS: dict[str, Callable[[Any], int]] = {
    "year": lambda moment: moment.year,
    "month": lambda moment: moment.month,
    # the plugin's own: `weekyear` is the week of the year, `week` that of the month
    "weekyear": lambda moment: moment.isocalendar().week,
    "week": lambda moment: moment.day // 7 + 1,
    "weekday": lambda moment: moment.isoweekday(),
    "day": lambda moment: moment.day,
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
    "millisecond": lambda moment: moment.microsecond // 1000,
}
