"""Times: parsed from text, and formatted for answers (specs/search.md, SEARCH-12)."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

_AGO = re.compile(
    r"(?P<count>[0-9]{1,6}) ?(?P<unit>h|hours?|d|days?|w|weeks?|m|mo|months?|y|years?)(?: ago)?", re.IGNORECASE
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = -30_000_000_000_000_000
_LAST = 253_402_000_000_000_000
"""Microseconds from 1970 to the years 1019 and 9999."""
_MONTH = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?")


def timestamp(nanoseconds: int) -> str:
    """Return a time (nanoseconds since the epoch) in ISO 8601: UTC, to the second."""
    microseconds = min(max(nanoseconds // 1000, _FIRST), _LAST)  # disks know years that calendars do not
    return (_EPOCH + timedelta(microseconds=microseconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def month(nanoseconds: int) -> str:
    """Return the local month of a time, such as `2024-05`."""
    seconds = min(max(nanoseconds // 10**9, 86_400), _LAST // 10**6)  # Windows knows none before 1970
    return datetime.fromtimestamp(seconds).strftime("%Y-%m")  # noqa: DTZ006 - a person's month is local


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
    if begun := _MONTH.fullmatch(text):
        text = f"{begun[1]}-{begun[2] or '01'}-01"
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


def nanoseconds(when: datetime) -> int:
    """Return the nanoseconds since the epoch, negative before 1970."""
    try:
        seconds = when.timestamp()
    except (OverflowError, OSError, ValueError):  # a year of which the system knows no local time
        seconds = when.replace(tzinfo=UTC).timestamp()
    return int(seconds * 1e9)


def _before(now: datetime, count: int, unit: str) -> datetime:
    try:
        if unit in "hdw":
            return now - count * {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}[unit]
        months = now.year * 12 + now.month - 1 - count * (12 if unit == "y" else 1)
        first = now.replace(year=months // 12, month=months % 12 + 1, day=1)
    except (OverflowError, ValueError):  # before the year 1
        return datetime(1, 1, 1, tzinfo=UTC)
    following = (first + timedelta(days=31)).replace(day=1)
    return first.replace(day=min(now.day, (following - timedelta(days=1)).day))
