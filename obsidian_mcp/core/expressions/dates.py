"""Dates and durations, and the calendar arithmetic of the languages (EXPR-10 to EXPR-12).

A local date holds a naive datetime, which counts in the time zone of the process, daylight saving
included; a date with a zone of its own holds an aware one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta

from obsidian_mcp.core.calendar import clock

from .values import ExpressionError

YEAR_DAYS = 365

MONTH_DAYS = 30

DAY_MS = 86_400_000

UNIT_MS = {
    "years": YEAR_DAYS * DAY_MS,
    "months": MONTH_DAYS * DAY_MS,
    "weeks": 7 * DAY_MS,
    "days": DAY_MS,
    "hours": 3_600_000,
    "minutes": 60_000,
    "seconds": 1000,
    "milliseconds": 1,
}
"""Length of each unit of a duration, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Date:
    """A moment, to the millisecond.

    `has_time` is False for a date that was written without a time of day.
    """

    moment: datetime
    has_time: bool = True

    @property
    def milliseconds(self) -> float:
        """Milliseconds since 1970, UTC: the instant."""
        return float((clock.instant(self.moment) + 500) // 1000)


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time whose units are kept apart.

    Fractions and negative numbers are possible in every unit.
    """

    years: float = 0.0
    months: float = 0.0
    weeks: float = 0.0
    days: float = 0.0
    hours: float = 0.0
    minutes: float = 0.0
    seconds: float = 0.0
    milliseconds: float = 0.0

    @property
    def time_ms(self) -> float:
        """Hours and smaller units, in milliseconds."""
        return (
            self.hours * 3_600_000 + self.minutes * 60_000 + self.seconds * 1000 + self.milliseconds
        )

    @property
    def total_ms(self) -> float:
        """The whole in milliseconds, a month as 30 and a year as 365 days."""
        days = self.years * YEAR_DAYS + self.months * MONTH_DAYS + self.weeks * 7 + self.days
        return days * DAY_MS + self.time_ms

    def scale(self, factor: float) -> Duration:
        """Return the duration with every unit multiplied."""
        return Duration(*(getattr(self, unit) * factor for unit in UNITS))

    def add(self, other: Duration) -> Duration:
        """Return the sum, unit by unit."""
        return Duration(*(getattr(self, unit) + getattr(other, unit) for unit in UNITS))


UNITS = tuple(unit.name for unit in fields(Duration))
"""From `years` to `milliseconds`."""


def from_milliseconds(instant: float) -> Date:
    """Return the local date and time of an instant in milliseconds since 1970.

    Raises: ExpressionError outside the years 1 to 9999.
    """
    try:
        return Date(clock.to_local_time(round(instant * 1000)))
    except (OverflowError, ValueError):
        raise _out_of_range() from None


def from_nanoseconds(instant: int) -> Date:
    """Return the local date and time of a file's timestamp, cut to milliseconds."""
    return from_milliseconds(instant // 1_000_000)


def day_of(date: Date) -> Date:
    """Return the local midnight of a date's own day."""
    midnight = date.moment.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    return Date(midnight, has_time=False)


def shift(date: Date, duration: Duration, *, elapsed: bool) -> Date:
    """Return the date later by a duration; it is earlier by `duration.scale(-1)`.

    Whole years and months move on the calendar, clamped to the month's end; then weeks and days
    move on the local clock; then the smaller units, on the local clock too or, with `elapsed`, by
    the time that passes. Fractions of a month count 30 days, of a year 365.
    Raises: ExpressionError outside the years 1 to 9999.
    """
    months = math.trunc(_finite(duration.years)) * 12 + math.trunc(_finite(duration.months))
    fraction_days = (
        math.fmod(duration.years, 1) * YEAR_DAYS + math.fmod(duration.months, 1) * MONTH_DAYS
    )
    weeks, days = _finite(duration.weeks), _finite(duration.days)
    whole_days = math.trunc(weeks) * 7 + math.trunc(days)
    fraction_days += math.fmod(weeks, 1) * 7 + math.fmod(days, 1)
    try:
        time = timedelta(milliseconds=duration.time_ms + fraction_days * DAY_MS)
        day = clock.shift(date.moment, months, "M") + timedelta(days=whole_days)
        moment = clock.on_the_clock(day)
        if time:
            moment = (
                clock.add_duration(moment, time) if elapsed else clock.on_the_clock(moment + time)
            )
    except (OverflowError, ValueError):
        raise _out_of_range() from None
    return replace(date, moment=moment)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise _out_of_range()
    return number


def _out_of_range() -> ExpressionError:
    return ExpressionError("The date lies outside the years 1 to 9999.")
