"""Days in words, as a query and a person write them: `next week`, `in two days`, `14 October` (TASK-80 to TASK-83)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from obsidian_mcp.core.calendar import day_words
from obsidian_mcp.core.calendar.clock import shift
from obsidian_mcp.core.calendar.day_words import Phrase
from obsidian_mcp.core.calendar.iso import DAY, calendar_day


@dataclass(frozen=True, slots=True)
class Days:
    """A first and a last day."""

    first: date
    last: date


def parse_days(text: str, today: date) -> Days | None:
    """Return the days that a text names, None where it is not one of the known forms as a whole (TASK-80)."""
    if match := re.fullmatch(rf" *({DAY}) +({DAY}) *", text):
        days = [day for day in map(calendar_day, match.groups()) if day is not None]
        return Days(min(days), max(days)) if days else None
    phrase = day_words.read(text)
    try:
        return None if phrase is None or phrase.is_loose else _days(phrase, today)
    except (OverflowError, ValueError):
        return None


def parse_day(text: str, today: date) -> date | None:
    """Return the day that a text names to be written down; one without a year or week is never past (TASK-83)."""
    phrase = day_words.read(text)
    if phrase is None or phrase.is_loose or phrase.which == "last":
        return None
    try:
        match phrase.kind:
            case "period" if phrase.which == "next" and phrase.unit != "Q":
                return shift(today, 1, phrase.unit)
            case "weekday" if phrase.which != "next":
                return today + timedelta((phrase.number - today.weekday()) % 7)
            case "day" if phrase.year is None:
                return next((day for day in _in_years(phrase, today.year, 9) if day >= today), None)
            case "moved" | "day" | "weekday":
                return _days(phrase, today).first
    except (OverflowError, ValueError):
        pass
    return None


def _days(phrase: Phrase, today: date) -> Days:
    """Raises: ValueError or OverflowError where there are no such days."""
    year = phrase.year or 0
    match phrase.kind:
        case "moved":
            first = shift(today, phrase.count, phrase.unit)
        case "weekday":
            first = _weekday(phrase, today)
        case "period":
            count = {"last": -1, "this": 0, "next": 1}[phrase.which]
            return _period(shift(_start(today, phrase.unit), count, phrase.unit), phrase.unit)
        case "week":
            return _period(date.fromisocalendar(year, phrase.number, 1), "w")
        case "month":
            return _period(date(year, phrase.month, 1), "M")
        case "quarter":
            return _period(date(year, phrase.number * 3 - 2, 1), "Q")
        case "year":
            return _period(date(year, 1, 1), "y")
        case _ if phrase.year is None:
            first = min(_in_years(phrase, today.year - 1, 3), key=lambda day: abs(day - today))
        case _:
            first = date(year, phrase.month, phrase.day)
    return Days(first, first)


def _start(day: date, unit: str) -> date:
    """The first day of a week from Monday, a month, quarter or year."""
    if unit == "w":
        return day - timedelta(day.weekday())
    return day.replace(month={"M": day.month, "Q": (day.month - 1) // 3 * 3 + 1}.get(unit, 1), day=1)


def _period(first: date, unit: str) -> Days:
    return Days(first, shift(first, 1, unit) - timedelta(1))


def _weekday(phrase: Phrase, today: date) -> date:
    """The day of that name in the week from Sunday; without `this`, `last` or `next` the nearest one."""
    offset = (phrase.number + 1) % 7 - today.isoweekday() % 7
    if phrase.which:
        return today + timedelta(offset + {"this": 0, "last": -7, "next": 7}[phrase.which])
    return today + timedelta(min((offset, offset - 7, offset + 7), key=abs))


def _in_years(phrase: Phrase, first: int, count: int) -> list[date]:
    days = (calendar_day(f"{year:04}-{phrase.month:02}-{phrase.day:02}") for year in range(first, first + count))
    return [day for day in days if day is not None]


FORMS = "a day as YYYY-MM-DD, today, tomorrow, a weekday, `next friday`, `in 3 days`, `2 weeks ago` or `14 October`"
"""For messages: what `parse_day` understands."""
PERIODS = f"{FORMS}, `this week`, `next month`, 2026-Q1, 2026-W05, or two days with a space between"
"""For messages: what `parse_days` understands."""
