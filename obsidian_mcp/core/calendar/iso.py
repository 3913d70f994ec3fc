"""Dates and times as ISO 8601 writes them.

Which of the forms a property, a plugin or a query takes, its own package says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time
from functools import lru_cache
from typing import NamedTuple

DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
"""An expression for a day, for those that look for one within a text."""
PERIOD = f"{DAY}|[0-9]{{4}}-[0-9]{{2}}|[0-9]{{4}}"
"""An expression for a day, a month or a year."""
_match = re.compile(
    rf"(?P<day>{DAY})(?:(?P<mark>[Tt ])(?P<hour>[0-9]{{2}}):(?P<minute>[0-9]{{2}})"
    r"(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,9}))?)?"
    r"(?P<zone>\s*(?:[Zz]|[+-][0-9]{2}:?[0-9]{2}))?)?"
).fullmatch
_find_day = re.compile(DAY).search
_find_digits = re.compile("([0-9]{4})([0-9]{2})([0-9]{2})").search


class IsoDate(NamedTuple):
    """A date with what is written behind it; what is not there is an empty text."""

    day: str
    mark: str
    """Between the date and the time: `T`, `t` or a space."""
    hour: str
    minute: str
    second: str
    fraction: str
    """Digits of the second behind the point."""
    zone: str
    """`Z`, `+02:00` or `+0200`, with white space before it where it has some."""

    @property
    def moment(self) -> datetime:
        """The time to the millisecond, without its zone.

        Raises: ValueError for what is not in the calendar.
        """
        thousandths = int(f"{self.fraction:0<3}"[:3])
        hour, minute, second = (int(part or 0) for part in (self.hour, self.minute, self.second))
        return datetime.combine(
            date.fromisoformat(self.day), time(hour, minute, second, thousandths * 1000)
        )


def read_iso(text: str) -> IsoDate | None:
    """Return the date, or date and time, that a whole text is, be it in the calendar or not.

    None for other texts.
    """
    match = _match(text)
    return IsoDate(*match.groups("")) if match else None


def is_datetime(text: str) -> bool:
    """Return whether a text is a time as a property holds it.

    That is `2026-11-22T09:05`, with seconds or without.
    """
    written = read_iso(text)
    if written is None or written.mark != "T" or written.fraction or written.zone:
        return False
    try:
        return bool(written.moment)
    except ValueError:  # not in the calendar
        return False


@lru_cache(maxsize=4096)
def calendar_day(text: str) -> date | None:
    """Return the day in `YYYY-MM-DD`, None where the calendar has no such day."""
    try:
        return date.fromisoformat(text) if len(text) == len("YYYY-MM-DD") else None
    except ValueError:
        return None


def find_days(text: str) -> Iterator[str]:
    """Yield the first `YYYY-MM-DD` within a text, then the first `YYYYMMDD`, as `YYYY-MM-DD`."""
    day = _find_day(text)
    if day:
        yield day[0]
    digits = _find_digits(text)
    if digits:
        yield "-".join(digits.groups())
