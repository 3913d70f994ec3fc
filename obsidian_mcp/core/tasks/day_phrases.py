"""Days in words, as a query and a person write them: `next week`, `in two days`, `14 October` (TASK-80 to TASK-83)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from .recurrence import MONTHS, WEEKDAYS
from .task import calendar_day

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_MAX_DIGITS = 4
_MONTH_OF = {form: number for number, name in enumerate(MONTHS, 1) for form in (name.lower(), name[:3].lower())}
_WEEKDAY_OF = {form: number for number, name in enumerate(WEEKDAYS) for form in (name.lower(), name[:3].lower())}

_UNIT = r"(?P<unit>day|week|month|year)s?"
_NUMBER = rf"(?P<number>[0-9]{{1,{_MAX_DIGITS}}}|an?|{'|'.join(_NUMBERS)})"
_MONTH = rf"(?P<month>{'|'.join(_MONTH_OF)})"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[0-9]{4})"


@dataclass(frozen=True, slots=True)
class Days:
    """A first and a last day."""

    first: date
    last: date


def parse_days(text: str, today: date) -> Days | None:
    """Return the days that a text names, None where it is not one of the known forms as a whole (TASK-80)."""
    text = " ".join(text.lower().split(" ")).strip()
    return _relative_period(text, today) or _numbered_period(text) or _one_or_two_days(text, today)


def parse_day(text: str, today: date) -> date | None:
    """Return the day that a text names to be written down; one without a year or week is never past (TASK-83)."""
    text = text.lower().strip()
    if match := re.fullmatch(r"next +(week|month|year)", text):
        return _shift(today, 1, match[1])
    if text.startswith("last "):
        return None
    if match := re.fullmatch(r"(?:this +)?([a-z]+)", text):
        weekday = _WEEKDAY_OF.get(match[1])
        if weekday is not None:
            return today + timedelta((weekday - today.weekday()) % 7)
    if match := _match_day_and_month(text):
        if match["year"] is None:
            return next((day for day in _in_years(match, today.year, 9) if day >= today), None)
        return _calendar(int(match["year"]), match)
    if _match_month(text):
        return None
    return calendar_day(text) or _word(text, today)


def _relative_period(text: str, today: date) -> Days | None:
    match = re.fullmatch(r"(last|this|next) +(week|month|quarter|year)", text)
    if match is None:
        return None
    count = {"last": -1, "this": 0, "next": 1}[match[1]]
    try:
        match match[2]:
            case "week":
                return _week(today + timedelta(weeks=count))
            case "year":
                return _months(date(today.year + count, 1, 1), 12)
            case "quarter":
                first = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
                return _months(first + relativedelta(months=3 * count), 3)
        return _months(today.replace(day=1) + relativedelta(months=count), 1)
    except (OverflowError, ValueError):
        return None


def _numbered_period(text: str) -> Days | None:
    match = re.fullmatch(r"([0-9]{4})(?:-(?:q([1-4])|([0-9]{2})|w([0-9]{2})))?", text)
    if match is None:
        return None
    year = int(match[1])
    try:
        if match[2]:
            return _months(date(year, int(match[2]) * 3 - 2, 1), 3)
        if match[3]:
            return _months(date(year, int(match[3]), 1), 1)
        if match[4]:
            return _week(date.fromisocalendar(year, int(match[4]), 1))
        return _months(date(year, 1, 1), 12)
    except (OverflowError, ValueError):
        return None


def _week(day: date) -> Days:
    first = day - timedelta(day.weekday())
    return Days(first, first + timedelta(6))


def _months(first: date, count: int) -> Days:
    return Days(first, first + relativedelta(months=count, days=-1))


def _one_or_two_days(text: str, today: date) -> Days | None:
    if match := re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2}) +([0-9]{4}-[0-9]{2}-[0-9]{2})", text):
        days = [day for day in map(calendar_day, match.groups()) if day is not None]
        return Days(min(days), max(days)) if days else None
    day = calendar_day(text) or _word(text, today) or _weekday(text, today) or _of_month(text, today)
    return Days(day, day) if day else None


def _word(text: str, today: date) -> date | None:
    """`today`, `in two weeks`, `3 days ago`, `next friday`."""
    days = {"today": 0, "tomorrow": 1, "yesterday": -1}.get(text)
    if days is not None:
        return today + timedelta(days)
    match = re.fullmatch(rf"(?P<in>in +)?{_NUMBER} +{_UNIT}(?P<ago> +ago)?", text)
    if match is not None and bool(match["in"]) != bool(match["ago"]):
        number = match["number"]
        count = int(number) if number.isdigit() else _NUMBERS.index(number) + 1 if number in _NUMBERS else 1
        return _shift(today, -count if match["ago"] else count, match["unit"])
    match = re.fullmatch(r"(this|last|next) +([a-z]+)", text)
    weekday = _WEEKDAY_OF.get(match[2]) if match else None
    if match is None or weekday is None:
        return None
    weeks = {"this": 0, "last": -1, "next": 1}[match[1]]
    return today + timedelta(_days_from_sunday(weekday) - _days_from_sunday(today.weekday()) + 7 * weeks)


def _shift(day: date, count: int, unit: str) -> date | None:
    try:
        return day + relativedelta(**{f"{unit}s": count})  # type: ignore[arg-type]
    except (OverflowError, ValueError):
        return None


def _days_from_sunday(weekday: int) -> int:
    return (weekday + 1) % 7


def _weekday(text: str, today: date) -> date | None:
    """The nearest day of that name."""
    weekday = _WEEKDAY_OF.get(text)
    if weekday is None:
        return None
    offset = _days_from_sunday(weekday) - _days_from_sunday(today.weekday())
    return today + timedelta(min((offset, offset - 7, offset + 7), key=abs))


def _match_day_and_month(text: str) -> re.Match[str] | None:
    return re.fullmatch(rf"{_DAY} +{_MONTH}(?:,? +{_YEAR})?", text) or re.fullmatch(
        rf"{_MONTH} +{_DAY}(?:,? +{_YEAR})?", text
    )


def _match_month(text: str) -> re.Match[str] | None:
    return re.fullmatch(rf"{_MONTH}(?:,? +{_YEAR})?", text)


def _of_month(text: str, today: date) -> date | None:
    """`14 October`, `May 25th, 2023`, `May 2027`, `May`; the nearest year where none is named."""
    match = _match_day_and_month(text)
    if match is None:
        match = _match_month(text)
        if match is None or (match["year"] is None and match["month"].capitalize() not in MONTHS):
            return None
    if match["year"] is not None:
        return _calendar(int(match["year"]), match)
    near = _in_years(match, today.year - 1, 3)
    return min(near, key=lambda day: abs(day - today), default=None)


def _in_years(match: re.Match[str], first: int, count: int) -> list[date]:
    days = (_calendar(year, match) for year in range(first, first + count))
    return [day for day in days if day is not None]


def _calendar(year: int, match: re.Match[str]) -> date | None:
    try:
        return date(year, _MONTH_OF[match["month"]], int(match.groupdict().get("day") or 1))
    except ValueError:
        return None


FORMS = "a day as YYYY-MM-DD, today, tomorrow, a weekday, `next friday`, `in 3 days`, `2 weeks ago` or `14 October`"
"""For messages: what `parse_day` understands."""
PERIODS = f"{FORMS}, `this week`, `next month`, 2026-Q1, 2026-W05, or two days with a space between"
"""For messages: what `parse_days` understands."""
