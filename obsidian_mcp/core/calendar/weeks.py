"""Weeks of a year by the rule of any language (PERIODIC-4).

A rule is the day that weeks begin with, `first_day`, 0 = Sunday, and `doy`: week 1 of a year holds
January (7 + `first_day` - `doy`). The rule of ISO 8601 is 1 and 4.
"""

from __future__ import annotations

from datetime import date


def week_of(day: date, first_day: int = 0, doy: int = 6) -> tuple[int, int]:
    """Return the week-year and the week of a day.

    The week-year is the year that the week is counted in, which may be the one before or behind.
    """
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
    """Return the ordinal of the first day of week 1, for years outside the calendar too."""
    before = year - 1
    inside = before * 365 + before // 4 - before // 100 + before // 400 + 7 + first_day - doy
    return inside - (inside % 7 - first_day) % 7  # ordinal 7 is a Sunday
