"""Methods of texts, numbers, regular expressions, dates and durations (BASE-53, BASE-54, BASE-57)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping

from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.dates import UNITS, Date, Duration, day_of
from obsidian_mcp.core.expressions.evaluate import Scope
from obsidian_mcp.core.expressions.regexps import RegExpValue, escape
from obsidian_mcp.core.expressions.values import ExpressionError, Value
from obsidian_mcp.core.text.text import utf16_length

from .dates import relative_text, total
from .functions import NUMBER, PATTERN, STRING, Method, Parameter
from .values import RelativeTime

_WORD_START = re.compile(r"(^|\s)(\S)")


def _contains(quantify: Callable[[Iterable[bool]], bool]) -> Callable[..., Value]:
    """Whether all, or any, of the values are in a text, in any case."""

    def run(_: Scope, text: str, *values: str) -> Value:
        lower = text.lower()
        return quantify(value.lower() in lower for value in values)

    return run


def _charge_first(change: Callable[..., str]) -> Callable[..., Value]:
    def run(scope: Scope, text: str, *arguments: Value) -> Value:
        scope.context.budget.charge(len(text))
        return change(text, *arguments)

    return run


def _replace(scope: Scope, text: str, pattern: str | RegExpValue, replacement: str) -> Value:
    budget = scope.context.budget
    if isinstance(pattern, RegExpValue):
        return pattern.replace(text, replacement, everywhere="g" in pattern.flags, budget=budget)
    count = text.count(pattern)
    budget.charge(len(text) + count * len(replacement))
    if "$" not in replacement:
        return text.replace(pattern, replacement)
    return RegExpValue(escape(pattern), "g").replace(text, replacement, everywhere=True, budget=budget)


def _repeat(scope: Scope, text: str, count: float) -> Value:
    if not count >= 0 or math.isinf(count):
        raise ExpressionError("Invalid count value: the count of repeat() must be 0 or more.")
    scope.context.budget.charge(len(text) * int(count))
    return text * int(count)


def _split(scope: Scope, text: str, separator: str | RegExpValue, count: float | None = None) -> Value:
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
    "startsWith": Method(lambda _, text, query: text.startswith(query), (Parameter("query", STRING),)),
    "endsWith": Method(lambda _, text, query: text.endswith(query), (Parameter("query", STRING),)),
    "lower": Method(_charge_first(str.lower)),
    "title": Method(_charge_first(lambda text: _WORD_START.sub(lambda found: found[1] + found[2].upper(), text))),
    "trim": Method(_charge_first(lambda text: text.strip(javascript.SPACES))),
    "replace": Method(_replace, (Parameter("pattern", PATTERN), Parameter("replacement", STRING))),
    "repeat": Method(_repeat, (Parameter("count", NUMBER),)),
    "reverse": Method(_charge_first(lambda text: text[::-1])),
    "slice": Method(
        _charge_first(javascript.slice_text), (Parameter("start", NUMBER), Parameter("end", NUMBER, optional=True))
    ),
    "split": Method(_split, (Parameter("separator", PATTERN), Parameter("n", NUMBER, optional=True))),
}
TEXT_FIELDS: Mapping[str, Callable[[str, Scope], Value]] = {
    "length": lambda text, _: float(utf16_length(text)),
}


def _round(_: Scope, number: float, digits: float | None = None) -> Value:
    if digits is None or not 0 < digits <= 100:
        return javascript.round_half_up(number)
    scale = 10.0 ** int(digits)
    scaled = number * scale
    return javascript.round_half_up(scaled) / scale if math.isfinite(scaled) else number


def _whole(cut: Callable[[float], int]) -> Callable[[Scope, float], Value]:
    return lambda _, number: float(cut(number)) if math.isfinite(number) else number


def _to_fixed(_: Scope, number: float, digits: float | None = None) -> Value:
    return javascript.to_fixed(number, int(digits or 0) if digits is None or math.isfinite(digits) else -1)


NUMBERS: Mapping[str, Method] = {
    "abs": Method(lambda _, number: abs(number)),
    "ceil": Method(_whole(math.ceil)),
    "floor": Method(_whole(math.floor)),
    "round": Method(_round, (Parameter("digits", NUMBER, optional=True),)),
    "toFixed": Method(_to_fixed, (Parameter("precision", NUMBER, optional=True),)),
}


REGEXPS: Mapping[str, Method] = {
    "matches": Method(lambda _, pattern, value: pattern.matches(value), (Parameter("value", STRING),))
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
