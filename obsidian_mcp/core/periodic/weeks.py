"""Weeks and week-years, by the rule of any locale (PERIODIC-2)."""

from __future__ import annotations

from datetime import date


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
