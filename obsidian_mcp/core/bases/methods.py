"""Methods of texts, numbers, regular expressions, dates and durations (BASE-53, BASE-54, BASE-57), of lists and objects
(BASE-55, BASE-56)."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.evaluate import Scope
from obsidian_mcp.core.expressions.javascript import slice_bounds
from obsidian_mcp.core.expressions.regexps import RegExpValue, escape
from obsidian_mcp.core.expressions.values import (
    ITEM_UNITS,
    UNITS,
    Date,
    Duration,
    ExpressionError,
    File,
    LinkValue,
    Value,
    day_of,
)
from obsidian_mcp.core.text.tags import covers
from obsidian_mcp.core.text.text import utf16_length

from .dates import relative_text, total
from .functions import NUMBER, PATTERN, STRING, Body, Method, Parameter
from .values import (
    RelativeTime,
    TagValue,
    equals,
    is_true,
    link_text,
    order_key,
    text_of,
    type_name,
)

_WORD_START = re.compile(r"(^|\s)(\S)")


def _contains(quantify: Callable[[Iterable[bool]], bool]) -> Callable[..., Value]:
    """Whether all, or any, of the values are in a text, in any case."""

    def run(_: Scope, text: str, *values: str) -> Value:
        lower = text.lower()
        return quantify(value.lower() in lower for value in values)

    return run


def _charge_first(run: Callable[..., Value], units: int = 1) -> Callable[..., Value]:
    """A method without the scope, charged with `units` for each character, item or entry of its receiver."""

    def charge_and_run(
        scope: Scope, receiver: str | list[Value] | dict[str, Value], *arguments: Value
    ) -> Value:
        scope.context.budget.charge(units * len(receiver))
        return run(receiver, *arguments)

    return charge_and_run


def _replace(scope: Scope, text: str, pattern: str | RegExpValue, replacement: str) -> Value:
    budget = scope.context.budget
    if isinstance(pattern, RegExpValue):
        return pattern.replace(text, replacement, everywhere="g" in pattern.flags, budget=budget)
    count = text.count(pattern)
    budget.charge(len(text) + count * len(replacement))
    if "$" not in replacement:
        return text.replace(pattern, replacement)
    return RegExpValue(escape(pattern), "g").replace(
        text, replacement, everywhere=True, budget=budget
    )


def _repeat(scope: Scope, text: str, count: float) -> Value:
    if not count >= 0 or math.isinf(count):
        raise ExpressionError("Invalid count value: the count of repeat() must be 0 or more.")
    scope.context.budget.charge(len(text) * int(count))
    return text * int(count)


def _split(
    scope: Scope, text: str, separator: str | RegExpValue, count: float | None = None
) -> Value:
    budget = scope.context.budget
    if isinstance(separator, RegExpValue):
        parts = separator.split(text, budget)
    else:
        budget.charge_items((text.count(separator) if separator else len(text)) + 1)
        budget.charge(len(text))
        parts = text.split(separator) if separator else list(text)
    return parts if count is None or count < 0 else parts[: int(count)]


TEXT: Mapping[str, Method] = {
    "contains": Method(_contains(all), (Parameter("value", STRING),)),
    "containsAll": Method(_contains(all), (Parameter("values", STRING, rest=True),)),
    "containsAny": Method(_contains(any), (Parameter("values", STRING, rest=True),)),
    "startsWith": Method(
        lambda _, text, query: text.startswith(query), (Parameter("query", STRING),)
    ),
    "endsWith": Method(lambda _, text, query: text.endswith(query), (Parameter("query", STRING),)),
    "lower": Method(_charge_first(str.lower)),
    "title": Method(
        _charge_first(lambda text: _WORD_START.sub(lambda found: found[1] + found[2].upper(), text))
    ),
    "trim": Method(_charge_first(lambda text: text.strip(javascript.SPACES))),
    "replace": Method(_replace, (Parameter("pattern", PATTERN), Parameter("replacement", STRING))),
    "repeat": Method(_repeat, (Parameter("count", NUMBER),)),
    "reverse": Method(_charge_first(lambda text: text[::-1])),
    "slice": Method(
        _charge_first(javascript.slice_text),
        (Parameter("start", NUMBER), Parameter("end", NUMBER, optional=True)),
    ),
    "split": Method(
        _split, (Parameter("separator", PATTERN), Parameter("n", NUMBER, optional=True))
    ),
}
TEXT_FIELDS: Mapping[str, Callable[[str, Scope], Value]] = {
    "length": lambda text, _: float(utf16_length(text))
}


def _round(_: Scope, number: float, digits: float | None = None) -> Value:
    if digits is None or not 0 < digits <= 100:
        return javascript.round_half_up(number)
    scale = 10.0 ** int(digits)
    scaled = number * scale
    return javascript.round_half_up(scaled) / scale if math.isfinite(scaled) else number


def _to_fixed(_: Scope, number: float, digits: float | None = None) -> Value:
    return javascript.to_fixed(
        number, int(digits or 0) if digits is None or math.isfinite(digits) else -1
    )


NUMBERS: Mapping[str, Method] = {
    "abs": Method(lambda _, number: abs(number)),
    "ceil": Method(javascript.cut_with(math.ceil)),
    "floor": Method(javascript.cut_with(math.floor)),
    "round": Method(_round, (Parameter("digits", NUMBER, optional=True),)),
    "toFixed": Method(_to_fixed, (Parameter("precision", NUMBER, optional=True),)),
}


REGEXPS: Mapping[str, Method] = {
    "matches": Method(
        lambda _, pattern, value: pattern.matches(value), (Parameter("value", STRING),)
    )
}


FORMAT_GROWTH = 30
"""Characters that one letter of a format may become."""


def _format(scope: Scope, date: Date, pattern: str) -> Value:
    scope.context.budget.charge(FORMAT_GROWTH * len(pattern))
    return format_moment(date.moment, pattern)


def _relative(scope: Scope, date: Date) -> Value:
    text = RelativeTime(relative_text(date, scope.context.now))
    text.milliseconds = date.milliseconds
    return text


DATES: Mapping[str, Method] = {
    "date": Method(lambda _, date: day_of(date)),
    "time": Method(lambda _, date: date.moment.time().isoformat("seconds")),
    "format": Method(_format, (Parameter("format", STRING),)),
    "relative": Method(_relative),
}


DATE_FIELDS: Mapping[str, Callable[[Date, Scope], Value]] = {
    **{
        name: lambda date, _, name=name: float(getattr(date.moment, name))  # type: ignore[misc]
        for name in ("year", "month", "day", "hour", "minute", "second")
    },
    "millisecond": lambda date, _: float(date.moment.microsecond // 1000),
}


DURATION_FIELDS: Mapping[str, Callable[[Duration, Scope], Value]] = {
    unit: lambda duration, _, unit=unit: total(duration, unit)  # type: ignore[misc]
    for unit in UNITS
}


def _holds(scope: Scope, items: list[Value], value: Value) -> bool:
    context = scope.context
    for item in items:
        context.budget.tick()
        is_tag = type(item) is TagValue
        if (
            (isinstance(value, str) and covers(value, item))
            if is_tag
            else equals(item, value, context)
        ):
            return True
    return False


def _spread(values: Sequence[Value]) -> list[Value]:
    """A list among the arguments stands for its items."""
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _list_contains(scope: Scope, items: list[Value], value: Value) -> Value:
    has_items = isinstance(value, list) and bool(value)
    return _holds(scope, items, value) or (
        has_items and all(_holds(scope, items, item) for item in value)
    )


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
    scope.context.budget.charge_items(2 * len(items))
    return sorted(items, key=lambda item: order_key(item, scope.context))


def _unique(scope: Scope, items: list[Value]) -> Value:
    scope.context.budget.charge_items(2 * len(items))
    kept: dict[Any, Value] = {}
    for item in items:
        kept.setdefault((type_name(item), _distinct(item, scope)), item)
    return list(kept.values())


def _distinct(item: Value, scope: Scope) -> Any:
    """What tells two items of `unique` apart: links by their text, not by their file."""
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
    def run(_: Scope, items: list[Value]) -> Value:
        dates = [item for item in items if isinstance(item, Date)]
        return choose(dates, key=lambda date: date.milliseconds) if dates else None

    return Method(run)


def mean(numbers: list[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def median(numbers: list[float]) -> float | None:
    return float(statistics.median(numbers)) if numbers else None


def deviation(numbers: list[float]) -> float | None:
    """Standard deviation of the population; None without numbers."""
    average = mean(numbers)
    return (
        None
        if average is None
        else math.sqrt(sum((number - average) ** 2 for number in numbers) / len(numbers))
    )


LIST: Mapping[str, Method] = {
    "contains": Method(_list_contains, (Parameter("value"),)),
    "containsAll": Method(
        lambda scope, items, *values: all(_holds(scope, items, value) for value in _spread(values)),
        (Parameter("values", rest=True),),
    ),
    "containsAny": Method(
        lambda scope, items, *values: any(_holds(scope, items, value) for value in _spread(values)),
        (Parameter("values", rest=True),),
    ),
    "filter": Method(_charge_first(_filter, ITEM_UNITS), (Parameter("expression"),)),
    "map": Method(
        _charge_first(
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
    "reverse": Method(_charge_first(lambda items: items[::-1], ITEM_UNITS)),
    "slice": Method(_slice, (Parameter("start", NUMBER), Parameter("end", NUMBER, optional=True))),
    "sort": Method(_sort),
    "unique": Method(_unique),
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
    "keys": Method(_charge_first(list, ITEM_UNITS)),
    "values": Method(_charge_first(lambda entries: list(entries.values()), ITEM_UNITS)),
    "map": Method(
        _charge_first(
            lambda entries, body: {
                key: body(key=key, value=value) for key, value in entries.items()
            },
            2 * ITEM_UNITS,
        ),
        (Parameter("expression"),),
    ),
    "filter": Method(_charge_first(_filter_object, 2 * ITEM_UNITS), (Parameter("expression"),)),
}
