"""The present, local time and time zones, asked of the system here alone (EXPR-10), and dates moved by units of the
calendar. A time without a zone is local; a year that the system may not know, such as all after 2999, is counted as one
of 2008 to 2035 whose days fall alike, as V8 does."""

from __future__ import annotations

from calendar import isleap, monthrange
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple, TypeVar


class Calendar(NamedTuple):
    """A clock with a language. `now` gives the present local time without a zone; `language` (a tag such as `en-gb`)
    and `week_start` (a weekday), if not empty, go before what the vault's settings say."""

    now: Callable[[], datetime] = datetime.now
    language: str = ""
    week_start: str = ""

    @property
    def today(self) -> date:
        return self.now().date()


local_zone: tzinfo | None = None
"""The zone of local times; None is the system's. Tests set another where a process cannot change its zone (Windows)."""

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of times whose zone is taken off
_MICROSECOND = timedelta(microseconds=1)
_LAST_YEAR_ASKED = 2999
_REFUSALS = (OverflowError, OSError, ValueError)


def instant(when: datetime) -> int:
    """Return the microseconds from 1970, UTC, to a time. A local time that comes twice is the one of its `fold`."""
    plain = when.replace(tzinfo=None)
    if when.tzinfo is not None:
        return (plain - _EPOCH - (when.utcoffset() or timedelta())) // _MICROSECOND
    if when.year <= _LAST_YEAR_ASKED:
        try:
            return (
                int(when.replace(microsecond=0, tzinfo=local_zone).timestamp()) * 1_000_000
                + when.microsecond
            )
        except _REFUSALS:
            pass
    alike = _alike(when)
    return instant(alike) + (plain - alike) // _MICROSECOND


def local(microseconds: int) -> datetime:
    """Return the local time of an instant. Raises: OverflowError outside the years 1 to 9999."""
    there = _EPOCH + timedelta(microseconds=microseconds)
    if there.year <= _LAST_YEAR_ASKED:
        try:
            if local_zone is not None:
                return there.replace(tzinfo=UTC).astimezone(local_zone).replace(tzinfo=None)
            seconds, rest = divmod(microseconds, 1_000_000)
            return datetime.fromtimestamp(seconds).replace(microsecond=rest)  # noqa: DTZ006 - local, as it says
        except _REFUSALS:
            pass
    alike = _alike(there)
    return there + (local((alike - _EPOCH) // _MICROSECOND) - alike)


def offset(when: datetime) -> timedelta:
    """Return how far a time is ahead of UTC."""
    return when.replace(tzinfo=None) - _EPOCH - timedelta(microseconds=instant(when))


def name(when: datetime) -> str:
    """Return what the system calls the local zone at a time, `local` where it does not say."""
    for known in (when, _alike(when)):
        with suppress(*_REFUSALS):
            return known.replace(tzinfo=local_zone).astimezone(local_zone).tzname() or "local"
    return "local"


def on_the_clock(when: datetime) -> datetime:
    """Return a time; a local one that the clocks skip is moved on by as much as they skip, as JavaScript does."""
    skipped = (
        0
        if when.tzinfo is not None
        else instant(when.replace(fold=0)) - instant(when.replace(fold=1))
    )
    return when + timedelta(microseconds=skipped) if skipped > 0 else when


def later(when: datetime, passed: timedelta) -> datetime:
    """Return the time after so much has passed, across changes of the clock, in the zone of `when`."""
    if when.tzinfo is not None:
        return (when.astimezone(UTC) + passed).astimezone(when.tzinfo)
    return local(instant(when) + passed // _MICROSECOND)


def read_zone(text: str) -> tzinfo | None:
    """Return the zone that a text names: `Z`, `+2`, `-03:30`, `+0530`, `Europe/Paris` or `[Europe/Paris]`."""
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


def _alike(when: datetime) -> datetime:
    """The same time without a zone in a year of 2008 to 2035 that begins on the same weekday and is as long."""
    kind = (date(when.year, 1, 1).weekday(), isleap(when.year))
    year = next(
        year for year in range(2008, 2036) if (date(year, 1, 1).weekday(), isleap(year)) == kind
    )
    return when.replace(year=year, tzinfo=None)


_FIRST_SECOND, _LAST_SECOND = -30_000_000_000, 253_402_000_000
"""From 1970 to the years 1019 and 9999; disks know other years, calendars do not."""


def month(nanoseconds: int) -> str:
    """Return the local month of a time, such as `2024-05`."""
    return local_time(nanoseconds).isoformat()[:7]


def local_time(nanoseconds: int) -> datetime:
    """Return the local time of a file's timestamp, to the microsecond."""
    return local(min(max(nanoseconds // 1000, _FIRST_SECOND * 1_000_000), _LAST_SECOND * 1_000_000))


def nanoseconds(when: datetime) -> int:
    """Return the nanoseconds since the epoch, negative before 1970."""
    return instant(when) * 1000


_Date = TypeVar("_Date", date, datetime)
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_DAYS = {"d": 1, "w": 7}
_MONTHS = {"M": 1, "Q": 3, "y": 12}


def shift(when: _Date, count: int, unit: str) -> _Date:
    """Return a date or time moved by `count` units `y Q M w d`, of a time also `h m s`; days are clamped to the month's
    last. Raises: ValueError or OverflowError outside the years 1 to 9999."""
    if unit in _MONTHS:
        year, month = divmod(when.year * 12 + when.month - 1 + count * _MONTHS[unit], 12)
        if not 1 <= year <= 9999:
            raise OverflowError(f"the year {year} is outside the calendar")
        return when.replace(
            year=year, month=month + 1, day=min(when.day, monthrange(year, month + 1)[1])
        )
    if unit in _DAYS:
        return when + timedelta(days=count * _DAYS[unit])
    return when + timedelta(seconds=count * _SECONDS[unit])
