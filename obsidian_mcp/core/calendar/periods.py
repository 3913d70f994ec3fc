"""The periods that notes are made for, and weeks by the rule of any locale (PERIODIC-2, PERIODIC-4)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Literal, get_args

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


SHIFT_UNITS: dict[Period, str] = {"day": "d", "week": "w", "month": "M", "quarter": "Q", "year": "y"}
"""The unit of `clock.shift` for each period."""


def week_of(day: date, first_day: int = 0, doy: int = 6) -> tuple[int, int]:
    """Return the week-year and the week of a day; `first_day` 1 and `doy` 4 are the rule of ISO 8601."""
    ordinal = day.toordinal()
    for year in (day.year + 1, day.year):
        start = _first_week(year, first_day, doy)
        if ordinal >= start:
            return year, (ordinal - start) // 7 + 1
    return day.year - 1, (ordinal - _first_week(day.year - 1, first_day, doy)) // 7 + 1


def week_start(year: int, week: int, first_day: int = 0, doy: int = 6) -> date | None:
    """Return the first day of a week; None where the year has no such week."""
    start = _first_week(year, first_day, doy)
    weeks = (_first_week(year + 1, first_day, doy) - start) // 7
    try:
        return date.fromordinal(start + 7 * (week - 1)) if 1 <= week <= weeks else None
    except (ValueError, OverflowError):
        return None


def _first_week(year: int, first_day: int, doy: int) -> int:
    """Ordinal of the first day of week 1, for years outside the calendar too."""
    before = year - 1
    inside = before * 365 + before // 4 - before // 100 + before // 400 + 7 + first_day - doy
    return inside - (inside % 7 - first_day) % 7  # ordinal 7 is a Sunday
