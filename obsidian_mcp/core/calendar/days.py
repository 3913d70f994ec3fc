"""Which days a phrase such as `next week` means (PERIODIC-9, SEARCH-12, TASK-80 to TASK-83).

People, and the library chrono that the plugin Tasks uses, do not mean the same days by the same
words: `DayRules` has what they do not agree on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from .clock import shift
from .day_phrase import DayPhrase, read_phrase
from .iso import DAY, calendar_day, read_iso
from .locale import ENGLISH, Locale
from .periods import PERIODS, SHIFT_UNITS, start_of
from .weeks import week_start

_is_pair = re.compile(rf" *({DAY})( +|\.\.| to )({DAY}) *", re.IGNORECASE).fullmatch
_is_age = re.compile(
    r"(?P<count>[0-9]{1,6}) ?(?P<unit>h|hours?|d|days?|w|weeks?|m|mo|months?|y|years?)(?: ago)?",
    re.IGNORECASE,
).fullmatch
_to_today = re.compile(r"since (?:the )?(.+)|so far (this .+)|(this .+) so far").fullmatch
_STEPS = {"last": -1, "this": 0, "next": 1}
_MAX_LEAP_YEARS = 9
"""Years among which there is a 29 February: from 1896 to 1904, for example."""


class Days(NamedTuple):
    """A first and a last day."""

    first: date
    last: date
    unit: str = ""
    """The unit of `clock.shift` that the days are one of; a span of days has none."""


_WEEKS_FROM_MONDAY = ENGLISH.with_first_day(1)


@dataclass(frozen=True, slots=True)
class DayRules:
    """What readers of the same words do not agree on."""

    takes_all: bool = True
    """Whether those forms are taken too that queries of Tasks do not take."""
    nearest: bool = False
    """Whether the rules are those of chrono.

    For chrono, weekdays and dates without a year are the nearest ones, `next friday` is of the next
    week from Sunday, and a named month is its first day. Else weekdays lie ahead, and such dates
    are of this year.
    """
    weeks: Locale = _WEEKS_FROM_MONDAY
    """By whose first day this, last and next week begin."""
    numbered: tuple[int, int] = (1, 4)
    """The rule of weeks that are named by their number."""


PERSON = DayRules()
TASKS = DayRules(nearest=True)
TASKS_QUERY = DayRules(takes_all=False, nearest=True)


def read_days(text: str, today: date, rules: DayRules = PERSON) -> Days | None:
    """Return the days that a text names; None where it is not as a whole of a known form.

    Two days are a span; `last 7 days`, `since monday` and `this month so far` run to today.
    """
    pair = _is_pair(text)
    if pair and (rules.takes_all or not pair[2].strip()):
        ends = [day for day in map(calendar_day, (pair[1], pair[3])) if day is not None]
        return Days(min(ends), max(ends)) if ends else None
    plain = text
    if rules.takes_all:
        plain = " ".join(text.replace(",", " ").lower().removeprefix("the ").split())
    since = _to_today(plain) if rules.takes_all else None
    phrase = read_phrase(next(filter(None, since.groups())) if since else plain)
    if phrase is None or (phrase.is_loose and not rules.takes_all):
        return None
    try:
        days = _days(phrase, today, rules)
        if since is None:
            return days
        first = days.first
        if first > today and phrase.year is None:  # the one before
            first = first - timedelta(7) if phrase.kind == "weekday" else shift(first, -1, "y")
        return Days(first, today) if first <= today else None
    except (ValueError, OverflowError):  # no such day, or none in the calendar
        return None


def read_coming_day(text: str, today: date) -> date | None:
    """Return the day that a text names to be written down, as the date of a task (TASK-83).

    One without a year or week is never past. None for other texts.
    """
    phrase = read_phrase(text.replace(",", " "))
    if phrase is None or phrase.which == "last":
        return None
    try:
        match phrase.kind:
            case "period" if phrase.which == "next" and phrase.unit != "Q":
                return shift(today, 1, phrase.unit)
            case "weekday" if phrase.which != "next":
                return today + timedelta((phrase.number - today.weekday()) % 7)
            case "day" if phrase.year is None:
                days = _days_in_years(phrase, today.year, _MAX_LEAP_YEARS)
                return next((day for day in days if day >= today), None)
            case "moved" | "day" | "weekday":
                return _days(phrase, today, TASKS).first
    except (ValueError, OverflowError):
        pass
    return None


def read_shifted_day(text: str, start: date) -> date | None:
    """Return the day that `+1 week` or `-2d` is from `start`; None for other texts (TASK-83)."""
    phrase = read_phrase(text)
    if phrase is None or not phrase.is_signed:
        return None
    try:
        return shift(start, phrase.amount, phrase.unit)
    except (ValueError, OverflowError):
        return None


def read_moment(text: str, now: datetime) -> datetime | None:
    """Return the time that a text names (SEARCH-12); None for other texts.

    It is the beginning of a day or period in words, a date with a time, or an age before `now` such
    as `12h`, `7d`, `3m` (months). It is local, as `now` is, unless the text names a zone.
    """
    text = text.strip()
    ago = _is_age(text)
    if ago:
        unit = ago["unit"][0].lower()
        try:
            return shift(now, -int(ago["count"]), "M" if unit == "m" else unit)
        except (OverflowError, ValueError):  # before the calendar
            return datetime.min.replace(tzinfo=UTC)
    days = read_days(text, now.date())
    if days:
        return datetime.combine(days.first, time())
    with suppress(ValueError):
        return datetime.fromisoformat(text) if read_iso(text) else None
    return None


def _days(phrase: DayPhrase, today: date, rules: DayRules) -> Days:
    """Return the days that a phrase means.

    Raises: ValueError or OverflowError where there are no such days.
    """
    year = today.year if phrase.year is None else phrase.year
    match phrase.kind:
        case "moved":
            return _day(shift(today, phrase.amount, phrase.unit))
        case "span":
            first, last = sorted((today, shift(today, phrase.amount, phrase.unit)))
            return Days(first, last)
        case "weekday":
            return _day(_weekday(phrase, today, rules))
        case "period":
            period = next(period for period in PERIODS if SHIFT_UNITS[period] == phrase.unit)
            first = shift(start_of(period, today, rules.weeks), _STEPS[phrase.which], phrase.unit)
            return _period(first, phrase.unit)
        case "week":
            start = week_start(year, phrase.number, *rules.numbered)
            if start is None:
                raise ValueError(f"{year} has no week {phrase.number}")
            return _period(start, "w")
        case "quarter":
            return _period(date(year, phrase.number * 3 - 2, 1), "Q")
        case "year":
            return _period(date(year, 1, 1), "y")
        case "month":
            return _period(date(year, phrase.month, 1), "M")
        case "named month" if not rules.nearest:
            return _period(date(year, phrase.month, 1), "M")
    if rules.nearest and phrase.year is None:
        return _day(
            min(_days_in_years(phrase, today.year - 1, 3), key=lambda day: abs(day - today))
        )
    return _day(date(year, phrase.month, phrase.day))


def _day(day: date) -> Days:
    return Days(day, day, "d")


def _period(first: date, unit: str) -> Days:
    return Days(first, shift(first, 1, unit) - timedelta(1), unit)


def _weekday(phrase: DayPhrase, today: date, rules: DayRules) -> date:
    """Return the day of that name: by the rules of chrono the nearest one, else the next one."""
    if rules.nearest:
        away = (phrase.number + 1) % 7 - today.isoweekday() % 7
        if phrase.which:
            return today + timedelta(away + 7 * _STEPS[phrase.which])
        return today + timedelta(min((away, away - 7, away + 7), key=abs))
    ahead = (phrase.number - today.weekday()) % 7
    match phrase.which:
        case "next":
            return today + timedelta(ahead or 7)
        case "last":
            return today + timedelta(ahead - 7)
        case "this":
            in_week = (phrase.number + 1 - rules.weeks.first_day) % 7
            return start_of("week", today, rules.weeks) + timedelta(in_week)
    return today + timedelta(ahead)


def _days_in_years(phrase: DayPhrase, first: int, count: int) -> Iterator[date]:
    """Return a day without a year in each of some years that have it."""
    days = (
        calendar_day(f"{year:04}-{phrase.month:02}-{phrase.day:02}")
        for year in range(first, first + count)
    )
    return (day for day in days if day is not None)


FORMS = (
    "a day as YYYY-MM-DD, today, tomorrow, a weekday, `next friday`, `in 3 days`, `2 weeks ago` or "
    "`14 October`"
)
"""For messages: what `read_coming_day` understands."""
PERIOD_FORMS = (
    f"{FORMS}, `this week`, `next month`, 2026-Q1, 2026-W05, or two days with a space between"
)
"""For messages: what `read_days` understands in queries of Tasks."""
