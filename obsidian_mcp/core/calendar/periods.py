"""The periods that notes are made for, from days to years (PERIODIC-4)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Literal, get_args

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:  # periods are named where no language is needed
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

SHIFT_UNITS: dict[Period, str] = {
    "day": "d",
    "week": "w",
    "month": "M",
    "quarter": "Q",
    "year": "y",
}
"""The unit of `clock.shift` for each period."""


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
