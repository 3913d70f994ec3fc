"""Dates and times as people write them (specs/search.md, SEARCH-12)."""

from __future__ import annotations

import re
from calendar import monthrange
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar

from . import zones

_AGO = re.compile(
    r"(?P<count>[0-9]{1,6}) ?(?P<unit>h|hours?|d|days?|w|weeks?|m|mo|months?|y|years?)(?: ago)?", re.IGNORECASE
)
_FIRST_SECOND, _LAST_SECOND = -30_000_000_000, 253_402_000_000
"""From 1970 to the years 1019 and 9999; disks know other years, calendars do not."""


def month(nanoseconds: int) -> str:
    """Return the local month of a time, such as `2024-05`."""
    return local_time(nanoseconds).isoformat()[:7]


def local_time(nanoseconds: int) -> datetime:
    """Return the local time of a file's timestamp, to the microsecond."""
    microseconds = min(max(nanoseconds // 1000, _FIRST_SECOND * 1_000_000), _LAST_SECOND * 1_000_000)
    return zones.local(microseconds)


def moment(text: str, now: datetime) -> datetime | None:
    """Return the start of the period that a text names: `2024`, `2024-05`, `2024-05-01`, a date with a time,
    `today`, `yesterday`,
    or so long before `now`: `12h`, `7d`, `2 weeks ago`, `3m` (months), `1y`. None for any other text.

    Local, as `now` is, unless the text names a zone.
    """
    text = text.strip()
    if ago := _AGO.fullmatch(text):
        return _before(now, int(ago["count"]), ago["unit"][0].lower())
    if text.lower() in ("today", "yesterday"):
        day = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return day if text.lower() == "today" else day - timedelta(days=1)
    text += {4: "-01-01", 7: "-01"}.get(len(text), "")
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


def nanoseconds(when: datetime) -> int:
    """Return the nanoseconds since the epoch, negative before 1970."""
    return zones.instant(when) * 1000


def _before(now: datetime, count: int, unit: str) -> datetime:
    try:
        return shift(now, -count, "M" if unit == "m" else unit)
    except (OverflowError, ValueError):  # before the year 1
        return datetime(1, 1, 1, tzinfo=UTC)


_Date = TypeVar("_Date", date, datetime)
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"M": 1, "Q": 3, "y": 12}


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
