"""Instants of files, and dates moved by units of the calendar."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, timedelta
from typing import TypeVar

from . import zones

_FIRST_SECOND, _LAST_SECOND = -30_000_000_000, 253_402_000_000
"""From 1970 to the years 1019 and 9999; disks know other years, calendars do not."""


def month(nanoseconds: int) -> str:
    """Return the local month of a time, such as `2024-05`."""
    return local_time(nanoseconds).isoformat()[:7]


def local_time(nanoseconds: int) -> datetime:
    """Return the local time of a file's timestamp, to the microsecond."""
    microseconds = min(max(nanoseconds // 1000, _FIRST_SECOND * 1_000_000), _LAST_SECOND * 1_000_000)
    return zones.local(microseconds)


def nanoseconds(when: datetime) -> int:
    """Return the nanoseconds since the epoch, negative before 1970."""
    return zones.instant(when) * 1000


_Date = TypeVar("_Date", date, datetime)
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"M": 1, "Q": 3, "y": 12}


def shift(when: _Date, count: int, unit: str) -> _Date:
    """Return a date or time moved by `count` units `y Q M w d`, of a time also `h m s`; days are clamped to the month's
    last. Raises: ValueError or OverflowError outside the years 1 to 9999."""
    if unit in _MONTHS:
        months = when.year * 12 + when.month - 1 + count * _MONTHS[unit]
        year, month = divmod(months, 12)
        if not 1 <= year <= 9999:
            raise OverflowError(f"the year {year} is outside the calendar")
        return when.replace(year=year, month=month + 1, day=min(when.day, monthrange(year, month + 1)[1]))
    if unit in _DAYS:
        return when + timedelta(days=count * _DAYS[unit])
    return when + timedelta(seconds=count * _SECONDS[unit])
