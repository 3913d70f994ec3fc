"""The present, local time and time zones, which are asked of the system here alone (EXPR-10).

A time without a zone is local. A year that the system may not know, such as all after 2999, is
counted as one of 2008 to 2035 whose days fall alike, as V8 does. Dates are moved by units of the
calendar here, too.
"""

from __future__ import annotations

from calendar import isleap, monthrange
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple, TypeVar


class Calendar(NamedTuple):
    """A clock with a language.

    Where they are not empty, `language` and `week_start` go before what the vault's settings say.
    """

    now: Callable[[], datetime] = datetime.now
    """Gives the present time, local and without a zone."""
    language: str = ""
    """A tag such as `en-gb`."""
    week_start: str = ""
    """A weekday."""

    @property
    def today(self) -> date:
        """The present day."""
        return self.now().date()


local_zone: tzinfo | None = None
"""The zone of local times; None is the system's.

Tests set another where a process cannot change its zone (Windows).
"""

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of times whose zone is taken off
_MICROSECOND = timedelta(microseconds=1)
_LAST_YEAR_ASKED = 2999
_CYCLE = range(2008, 2036)
"""28 years, after which dates fall on the same weekdays again, in every kind of year."""
_REFUSALS = (OverflowError, OSError, ValueError)


def instant(when: datetime) -> int:
    """Return the microseconds from 1970, UTC, to a time.

    A local time that comes twice is the one of its `fold`.
    """
    plain = when.replace(tzinfo=None)
    if when.tzinfo is not None:
        return (plain - _EPOCH - (when.utcoffset() or timedelta())) // _MICROSECOND
    if when.year <= _LAST_YEAR_ASKED:
        try:
            seconds = int(when.replace(microsecond=0, tzinfo=local_zone).timestamp())
        except _REFUSALS:
            pass
        else:
            return seconds * 1_000_000 + when.microsecond
    alike = _to_similar_year(when)
    return instant(alike) + (plain - alike) // _MICROSECOND


def to_local_time(microseconds: int) -> datetime:
    """Return the local time of an instant, in microseconds from 1970, UTC.

    Raises: OverflowError outside the years 1 to 9999.
    """
    utc = _EPOCH + timedelta(microseconds=microseconds)
    if utc.year <= _LAST_YEAR_ASKED:
        try:
            if local_zone is not None:
                return utc.replace(tzinfo=UTC).astimezone(local_zone).replace(tzinfo=None)
            seconds, fraction = divmod(microseconds, 1_000_000)
            # local, as it says
            return datetime.fromtimestamp(seconds).replace(microsecond=fraction)  # noqa: DTZ006
        except _REFUSALS:
            pass
    alike = _to_similar_year(utc)
    return utc + (to_local_time((alike - _EPOCH) // _MICROSECOND) - alike)


def offset(when: datetime) -> timedelta:
    """Return how far a time is ahead of UTC."""
    return when.replace(tzinfo=None) - _EPOCH - timedelta(microseconds=instant(when))


def name(when: datetime) -> str:
    """Return what the system calls the local zone at a time, `local` where it does not say."""
    for moment in (when, _to_similar_year(when)):
        with suppress(*_REFUSALS):
            return moment.replace(tzinfo=local_zone).astimezone(local_zone).tzname() or "local"
    return "local"


def on_the_clock(when: datetime) -> datetime:
    """Return a time that exists: a local one that the clocks skip is moved on by as much.

    JavaScript does the same.
    """
    if when.tzinfo is not None:
        return when
    skipped = instant(when.replace(fold=0)) - instant(when.replace(fold=1))
    return when + timedelta(microseconds=skipped) if skipped > 0 else when


def add_duration(when: datetime, duration: timedelta) -> datetime:
    """Return the time after `duration` has passed, in the zone of `when`.

    It counts across changes of the clock: after 24 hours it may show 23 or 25 hours more.
    """
    if when.tzinfo is not None:
        return (when.astimezone(UTC) + duration).astimezone(when.tzinfo)
    return to_local_time(instant(when) + duration // _MICROSECOND)


def read_zone(text: str) -> tzinfo | None:
    """Return the zone that a text names; None for other texts.

    For example `Z`, `+2`, `-03:30`, `+0530`, `Europe/Paris` or `[Europe/Paris]`.
    """
    if text in ("Z", "z"):
        return UTC
    if text[:1] in ("+", "-"):
        digits = text[1:].replace(":", "")
        hours, minutes = (digits, "0") if len(digits) <= 2 else (digits[:-2], digits[-2:])
        ahead = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-ahead if text[0] == "-" else ahead) if ahead < timedelta(days=1) else None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(text.removeprefix("[").removesuffix("]"))
    except (ValueError, OSError, LookupError):  # no such zone, or no name of one
        return None


def _to_similar_year(when: datetime) -> datetime:
    """Return the same time without a zone in a year whose days fall alike.

    It is a year of `_CYCLE` that begins on the same weekday and is as long.
    """
    shape = _year_shape(when.year)
    year = next(year for year in _CYCLE if _year_shape(year) == shape)
    return when.replace(year=year, tzinfo=None)


def _year_shape(year: int) -> tuple[int, bool]:
    return date(year, 1, 1).weekday(), isleap(year)


_FIRST_SECOND, _LAST_SECOND = -30_000_000_000, 253_402_000_000
"""From 1970 to the years 1019 and 9999; disks know other years, calendars do not."""


def month(nanoseconds: int) -> str:
    """Return the local month of a time, such as `2024-05`."""
    return local_time(nanoseconds).isoformat()[:7]


def local_time(nanoseconds: int) -> datetime:
    """Return the local time of a file's timestamp, to the microsecond."""
    microseconds = max(nanoseconds // 1000, _FIRST_SECOND * 1_000_000)
    return to_local_time(min(microseconds, _LAST_SECOND * 1_000_000))


def nanoseconds(when: datetime) -> int:
    """Return the nanoseconds since the epoch, negative before 1970."""
    return instant(when) * 1000


_DateOrTime = TypeVar("_DateOrTime", date, datetime)
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"M": 1, "Q": 3, "y": 12}


def shift(when: _DateOrTime, count: int, unit: str) -> _DateOrTime:
    """Return a date or time moved by `count` units: `y Q M w d`, and of a time `h m s`.

    In months and longer units the day is clamped to the last of the month.
    Raises: ValueError or OverflowError outside the years 1 to 9999.
    """
    if unit in _MONTHS:
        year, month = divmod(when.year * 12 + when.month - 1 + count * _MONTHS[unit], 12)
        if not 1 <= year <= 9999:
            raise OverflowError(f"the year {year} is outside the calendar")
        _, last_day = monthrange(year, month + 1)
        return when.replace(year=year, month=month + 1, day=min(when.day, last_day))
    if unit in _DAYS:
        return when + timedelta(days=count * _DAYS[unit])
    return when + timedelta(seconds=count * _SECONDS[unit])
