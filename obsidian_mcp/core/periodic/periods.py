"""The periods that notes are made for, and counting in them (PERIODIC-4)."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Literal, TypeVar, get_args

from .locale import Locale

Period = Literal["day", "week", "month", "quarter", "year"]

PERIODS: tuple[Period, ...] = get_args(Period)
"""From the shortest to the longest."""

ADJECTIVES: Mapping[str, Period] = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "quarterly": "quarter",
    "yearly": "year",
}
"""What notes of each period are called."""

_Date = TypeVar("_Date", date, datetime)
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"M": 1, "Q": 3, "y": 12}


def start_of(period: Period, day: date, locale: Locale) -> date:
    """Return the first day of the period that holds a day; weeks begin as the locale has it."""
    match period:
        case "day":
            return day
        case "week":
            back = (day.isoweekday() - locale.first_day) % 7
            return date.fromordinal(max(1, day.toordinal() - back))
        case "month":
            return day.replace(day=1)
        case "quarter":
            return day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            return day.replace(month=1, day=1)


def shift(when: _Date, count: int, unit: str) -> _Date:
    """Return a date or time moved by `count` units: `y Q M w d`, and of a time `h m s`.

    In months and longer units the day is clamped to the last of the month.
    Raises: ValueError or OverflowError outside the years 1 to 9999.
    """
    if unit in _MONTHS:
        months = when.year * 12 + when.month - 1 + count * _MONTHS[unit]
        year, month = divmod(months, 12)
        if not 1 <= year <= 9999:
            raise OverflowError(f"the year {year} is outside the calendar")
        return when.replace(year=year, month=month + 1, day=min(when.day, monthrange(year, month + 1)[1]))
    if unit in _DAYS:
        return when + timedelta(days=count * _DAYS[unit])
    return when + timedelta(seconds=count * _SECONDS[unit])


SHIFT_UNITS: dict[Period, str] = {"day": "d", "week": "w", "month": "M", "quarter": "Q", "year": "y"}
"""The unit of `shift` for each period."""
