"""Fields and methods of dates and durations (BASE-57)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.core.expressions.dates import UNITS, Date, Duration, day_of
from obsidian_mcp.core.expressions.evaluate import Scope
from obsidian_mcp.core.expressions.values import Value

from .dates import relative_text, total
from .method import STRING, Method, Parameter
from .values import RelativeTime

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


def _date_part(name: str) -> Callable[[Date, Scope], Value]:
    return lambda date, _: float(getattr(date.moment, name))


DATE_FIELDS: Mapping[str, Callable[[Date, Scope], Value]] = {
    **{name: _date_part(name) for name in ("year", "month", "day", "hour", "minute", "second")},
    "millisecond": lambda date, _: float(date.moment.microsecond // 1000),
}


def _total_in(unit: str) -> Callable[[Duration, Scope], Value]:
    return lambda duration, _: total(duration, unit)


DURATION_FIELDS: Mapping[str, Callable[[Duration, Scope], Value]] = {
    unit: _total_in(unit) for unit in UNITS
}
