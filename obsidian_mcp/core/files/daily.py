"""Where the daily note of a day is, by the settings of the app (semantics 6.4)."""

from __future__ import annotations

import re
from datetime import date

from .settings import DailyNotes

_TOKEN = re.compile(r"\[([^\]]*)\]|YYYY|YY|Q|MMMM|MMM|MM|Mo|M|DDDD|DDD|DD|Do|D|dddd|ddd|dd|d|E|e|GGGG|gggg|WW|W|ww|w")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def path_of(settings: DailyNotes, day: date) -> str:
    """Path of the daily note, with `.md`, whether it exists or not."""
    name = formatted(settings.format, day) + ".md"
    folder = settings.folder.strip().strip("/")
    return f"{folder}/{name}" if folder else name


def formatted(pattern: str, day: date) -> str:
    """A date in moment's format language, English; `[text]` is literal. Times of day are not part of a date."""
    return _TOKEN.sub(lambda match: match[1] if match[1] is not None else _part(match[0], day), pattern)


def _part(token: str, day: date) -> str:  # noqa: C901  a table: one case per token
    weekday = day.isoweekday() % 7
    iso = day.isocalendar()
    match token:
        case "YYYY":
            return f"{day.year:04}"
        case "YY":
            return f"{day.year % 100:02}"
        case "Q":
            return str((day.month + 2) // 3)
        case "MMMM":
            return _MONTHS[day.month - 1]
        case "MMM":
            return _MONTHS[day.month - 1][:3]
        case "MM":
            return f"{day.month:02}"
        case "Mo":
            return _ordinal(day.month)
        case "M":
            return str(day.month)
        case "DDDD":
            return f"{day.timetuple().tm_yday:03}"
        case "DDD":
            return str(day.timetuple().tm_yday)
        case "DD":
            return f"{day.day:02}"
        case "Do":
            return _ordinal(day.day)
        case "D":
            return str(day.day)
        case "dddd":
            return _DAYS[weekday]
        case "ddd" | "dd":
            return _DAYS[weekday][: len(token)]
        case "d" | "e":
            return str(weekday)
        case "E":
            return str(day.isoweekday())
        case "GGGG":
            return f"{iso.year:04}"
        case "WW":
            return f"{iso.week:02}"
        case "W":
            return str(iso.week)
        case "gggg":
            return f"{_local_week(day)[0]:04}"
        case "ww":
            return f"{_local_week(day)[1]:02}"
        case _:
            return str(_local_week(day)[1])


def _local_week(day: date) -> tuple[int, int]:
    """Year and week as moment's English locale counts: weeks begin on Sunday, week 1 holds 1 January."""
    for year in (day.year + 1, day.year):
        first = date(year, 1, 1)
        start = first.toordinal() - first.isoweekday() % 7
        if day.toordinal() >= start:
            return year, (day.toordinal() - start) // 7 + 1
    raise AssertionError("1 January of a year is not after a day of it")  # pragma: no cover


def _ordinal(number: int) -> str:
    if 10 < number % 100 < 20:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
