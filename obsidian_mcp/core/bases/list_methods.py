"""Methods of lists and objects (BASE-55, BASE-56)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from obsidian_mcp.core.expressions.budget import ITEM_UNITS
from obsidian_mcp.core.expressions.dates import Date
from obsidian_mcp.core.expressions.evaluate import Scope
from obsidian_mcp.core.expressions.javascript import slice_bounds
from obsidian_mcp.core.expressions.values import File, LinkValue, Value
from obsidian_mcp.core.text.tags import covers

from .method import NUMBER, STRING, Body, Method, Parameter
from .operators import equals, order_key
from .text_methods import charge_first
from .values import TagValue, is_true, link_text, text_of, type_name


def _has_item(scope: Scope, items: list[Value], value: Value) -> bool:
    """Return whether an item equals a value; a tag also if it is below the value."""
    context = scope.context
    for item in items:
        context.budget.tick()
        if type(item) is TagValue:
            is_equal = isinstance(value, str) and covers(value, item)
        else:
            is_equal = equals(item, value, context)
        if is_equal:
            return True
    return False


def _spread(values: Sequence[Value]) -> list[Value]:
    """Return the arguments, where a list among them stands for its items."""
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _list_contains(scope: Scope, items: list[Value], value: Value) -> Value:
    """Return whether a list has a value, or all the items of a list that is not empty."""
    if _has_item(scope, items, value):
        return True
    is_list = isinstance(value, list) and bool(value)
    return is_list and all(_has_item(scope, items, item) for item in value)


def _filter(items: list[Value], body: Body) -> Value:
    return [
        item for place, item in enumerate(items) if is_true(body(value=item, index=float(place)))
    ]


def _reduce(_: Scope, items: list[Value], body: Body, accumulator: Value) -> Value:
    for place, item in enumerate(items):
        accumulator = body(value=item, index=float(place), acc=accumulator)
    return accumulator


def _flat(scope: Scope, items: list[Value]) -> Value:
    scope.context.budget.charge_items(
        sum(len(item) if isinstance(item, list) else 1 for item in items)
    )
    return _spread(items)


def _join(scope: Scope, items: list[Value], separator: str) -> Value:
    return scope.context.budget.join((text_of(item, scope.context) for item in items), separator)


def _slice(scope: Scope, items: list[Value], start: float, end: float | None = None) -> Value:
    first, last = slice_bounds(len(items), start, end)
    scope.context.budget.charge_items(last - first)
    return items[first:last]


def _sort(scope: Scope, items: list[Value]) -> Value:
    scope.context.budget.charge_items(2 * len(items))  # the new list, and a key for each item
    return sorted(items, key=lambda item: order_key(item, scope.context))


def _drop_repeats(scope: Scope, items: list[Value]) -> Value:
    scope.context.budget.charge_items(2 * len(items))  # the new list, and a key for each item
    first: dict[Any, Value] = {}
    for item in items:
        first.setdefault((type_name(item), _unique_key(item, scope)), item)
    return list(first.values())


def _unique_key(item: Value, scope: Scope) -> Any:
    """Return what tells two items of `unique` apart: links by their text, not by their file."""
    match item:
        case None | bool() | float():
            return item
        case LinkValue():
            return link_text(item)
        case File():
            return item.path
        case Date():
            return item.moment, item.has_time
    return text_of(item, scope.context)


def _numbers(compute: Callable[[list[float]], float | None]) -> Method:
    return Method(lambda _, items: compute([item for item in items if type(item) is float]))


def _date_of(choose: Callable[..., Date]) -> Method:
    def choose_date(_: Scope, items: list[Value]) -> Value:
        dates = [item for item in items if isinstance(item, Date)]
        return choose(dates, key=lambda date: date.milliseconds) if dates else None

    return Method(choose_date)


def mean(numbers: list[float]) -> float | None:
    """Return the mean; None without numbers."""
    return sum(numbers) / len(numbers) if numbers else None


def median(numbers: list[float]) -> float | None:
    """Return the median; None without numbers."""
    return float(statistics.median(numbers)) if numbers else None


def deviation(numbers: list[float]) -> float | None:
    """Return the standard deviation of the population; None without numbers."""
    average = mean(numbers)
    if average is None:
        return None
    return math.sqrt(sum((number - average) ** 2 for number in numbers) / len(numbers))


LIST: Mapping[str, Method] = {
    "contains": Method(_list_contains, (Parameter("value"),)),
    "containsAll": Method(
        lambda scope, items, *values: all(
            _has_item(scope, items, value) for value in _spread(values)
        ),
        (Parameter("values", repeats=True),),
    ),
    "containsAny": Method(
        lambda scope, items, *values: any(
            _has_item(scope, items, value) for value in _spread(values)
        ),
        (Parameter("values", repeats=True),),
    ),
    "filter": Method(charge_first(_filter, ITEM_UNITS), (Parameter("expression"),)),
    "map": Method(
        charge_first(
            lambda items, body: [
                body(value=item, index=float(place)) for place, item in enumerate(items)
            ],
            ITEM_UNITS,
        ),
        (Parameter("expression"),),
    ),
    "reduce": Method(_reduce, (Parameter("expression"), Parameter("acc"))),
    "flat": Method(_flat),
    "join": Method(_join, (Parameter("separator", STRING),)),
    "reverse": Method(charge_first(lambda items: items[::-1], ITEM_UNITS)),
    "slice": Method(_slice, (Parameter("start", NUMBER), Parameter("end", NUMBER, optional=True))),
    "sort": Method(_sort),
    "unique": Method(_drop_repeats),
    "mean": _numbers(mean),
    "average": _numbers(mean),
    "median": _numbers(median),
    "stddev": _numbers(deviation),
    "sum": _numbers(lambda numbers: float(sum(numbers))),
    "min": _numbers(lambda numbers: min(numbers, default=None)),
    "max": _numbers(lambda numbers: max(numbers, default=None)),
    "earliest": _date_of(min),
    "latest": _date_of(max),
}

LIST_FIELDS: Mapping[str, Callable[[list[Value], Scope], Value]] = {
    "length": lambda items, _: float(len(items))
}


def _filter_object(entries: dict[str, Value], body: Body) -> Value:
    return {key: value for key, value in entries.items() if is_true(body(key=key, value=value))}


OBJECT: Mapping[str, Method] = {
    "keys": Method(charge_first(list, ITEM_UNITS)),
    "values": Method(charge_first(lambda entries: list(entries.values()), ITEM_UNITS)),
    "map": Method(
        charge_first(
            lambda entries, body: {
                key: body(key=key, value=value) for key, value in entries.items()
            },
            2 * ITEM_UNITS,
        ),
        (Parameter("expression"),),
    ),
    "filter": Method(charge_first(_filter_object, 2 * ITEM_UNITS), (Parameter("expression"),)),
}
