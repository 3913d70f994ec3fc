"""Days and periods in words, and which days they mean (PERIODIC-9, SEARCH-12, TASK-80 to TASK-83): `read_phrase` reads
them, and `Ways` has what people do not mean as the library chrono of the plugin Tasks does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal, NamedTuple

from .clock import shift
from .iso import DAY, calendar_day
from .iso import read as read_iso
from .locale import ENGLISH, PERIODS, SHIFT_UNITS, Locale, start_of, week_start

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_NUMBERS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_DAYS_AWAY = {"yesterday": -1, "tomorrow": 1}
_UNITS = {"d": "d", "w": "w", "m": "M", "q": "Q", "y": "y"}

Kind = Literal[
    "day", "moved", "span", "weekday", "period", "week", "month", "named month", "quarter", "year"
]


class DayPhrase(NamedTuple):
    """A day or period as it is written. Which members count follows from the kind."""

    kind: Kind
    is_loose: bool
    """Whether the queries of the Tasks plugin do not take it."""
    year: int | None = None
    month: int = 1
    day: int = 1
    number: int = 0
    """Of a week, a quarter, or a weekday from Monday, which is 0."""
    amount: int = 0
    unit: str = ""
    """As `clock.shift` takes it."""
    which: str = ""
    """`this`, `last`, `next` or nothing."""
    is_signed: bool = False


def read_phrase(text: str) -> DayPhrase | None:
    """Return what a text names in any case, None where it is not wholly of a known form."""
    plain = " ".join(text.lower().split())
    for pattern, kind, is_loose in _FORMS:
        if found := pattern.fullmatch(plain):
            return _phrase(kind, is_loose, {"word": plain, **found.groupdict()})
    return None


def _phrase(kind: Kind, is_loose: bool, parts: dict[str, str | None]) -> DayPhrase:
    word, month, number, count = (
        parts.get(name) or "" for name in ("word", "month", "number", "count")
    )
    year, unit, weekday = parts.get("year"), parts.get("unit") or "", parts.get("weekday")
    amount = _DAYS_AWAY.get(word, 0)
    if count:
        amount = (
            int(count) if count.isdigit() else _NUMBERS.index(count) + 1 if count in _NUMBERS else 1
        )
        amount = -amount if word.endswith(" ago") or _is_back(word) else amount
    return DayPhrase(
        kind,
        is_loose,
        int(year) if year else None,
        int(month)
        if month.isdigit()
        else [name[:3] for name in MONTHS].index(month[:3]) + 1
        if month
        else 1,
        int(parts.get("day") or 1),
        [name[:3] for name in WEEKDAYS].index(weekday[:3]) if weekday else int(number or 0),
        amount,
        _UNITS[unit[:1] or "d"],
        parts.get("which") or "",
        word[:1] in ("+", "-"),
    )


_is_back = re.compile(r"-|.*\b(?:last|past) ").match
_YEAR, _DAY = r"(?P<year>[0-9]{4})", r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_WHICH = "(?P<which>this|last|next)"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|{'|'.join(name[:3] for name in MONTHS)})"
_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)}|{'|'.join(name[:3] for name in WEEKDAYS)})"
_COUNT = rf"(?P<count>[0-9]{{1,4}}|an?|{'|'.join(_NUMBERS)}) "
_EXPRESSIONS: list[tuple[str, Kind, bool]] = [
    ("today|yesterday|tomorrow", "moved", False),
    ("now", "moved", True),
    (rf"{_YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})", "day", False),
    (
        rf"{_YEAR}(?P<separator>/?)(?P<month>[0-9]{{2}})(?P=separator)(?P<day>[0-9]{{2}})",
        "day",
        True,
    ),
    (rf"(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.{_YEAR}", "day", True),
    (rf"{_DAY} {_MONTH}(?:,? {_YEAR})?", "day", False),
    (rf"{_MONTH} {_DAY}(?:,? {_YEAR})?", "day", False),
    (rf"in {_COUNT}(?P<unit>day|week|month|year)s?", "moved", False),
    (rf"{_COUNT}(?P<unit>day|week|month|year)s? ago", "moved", False),
    (rf"in {_COUNT}(?P<unit>quarter)s?", "moved", True),
    (rf"{_COUNT}(?P<unit>quarter)s? ago", "moved", True),
    (
        r"[-+](?P<count>[0-9]{1,5}) ?(?P<unit>[dwmqy]|(?:day|week|month|quarter|year)(?=s?$))s?",
        "moved",
        True,
    ),
    (
        rf"(?:(?:in|within) )?(?:the )?(?:last|past|next) {_COUNT}(?P<unit>day|week|month|quarter|year)s?",
        "span",
        True,
    ),
    (
        r"(?:(?:in|within) )?(?:the )?(?P<count>past) (?P<unit>day|week|month|quarter|year)",
        "span",
        True,
    ),
    (rf"(?:{_WHICH} )?{_WEEKDAY}", "weekday", False),
    (rf"{_WHICH} (?P<unit>week|month|quarter|year)", "period", False),
    (rf"{_YEAR}-w(?P<number>[0-9]{{2}})", "week", False),
    (rf"(?:{_YEAR}-?w|w|week )(?P<number>[0-9]{{1,2}})", "week", True),
    (rf"{_YEAR}-(?P<month>[0-9]{{2}})", "month", False),
    (rf"{_MONTH},? {_YEAR}", "named month", False),
    (f"(?P<month>{'|'.join(MONTHS)})", "named month", False),
    (_MONTH, "named month", True),
    (rf"{_YEAR}-q(?P<number>[1-4])", "quarter", False),
    (rf"(?:{_YEAR}-?)?q(?P<number>[1-4])", "quarter", True),
    (_YEAR, "year", False),
]
_FORMS = [(re.compile(expression), kind, is_loose) for expression, kind, is_loose in _EXPRESSIONS]


_is_pair = re.compile(rf" *({DAY})( +|\.\.| to )({DAY}) *", re.IGNORECASE).fullmatch
_is_age = re.compile(
    r"(?P<count>[0-9]{1,6}) ?(?P<unit>h|hours?|d|days?|w|weeks?|m|mo|months?|y|years?)(?: ago)?",
    re.IGNORECASE,
).fullmatch
_to_today = re.compile(r"since (?:the )?(.+)|so far (this .+)|(this .+) so far").fullmatch
_STEPS = {"last": -1, "this": 0, "next": 1}
_YEARS = 9
"""So far away can the next 29 February be."""


class Days(NamedTuple):
    """A first and a last day, and the unit of `clock.shift` that they are one of; a span of days has none."""

    first: date
    last: date
    unit: str = ""


class Ways(NamedTuple):
    """What readers of the same words do not agree on."""

    takes_all: bool = True
    """Whether those forms are taken too that queries of Tasks do not take."""
    nearest: bool = False
    """As for chrono: whether weekdays and dates without a year are the nearest ones, `next friday` is of the next week
    from Sunday, and a named month is its first day. Else weekdays lie ahead, and such dates are of this year."""
    weeks: Locale = ENGLISH.starting(1)
    """By whose first day this, last and next week begin."""
    numbered: tuple[int, int] = (1, 4)
    """The rule of weeks that are named by their number."""


PERSON = Ways()
TASKS = Ways(nearest=True)
TASKS_QUERY = Ways(takes_all=False, nearest=True)


def read_days(text: str, today: date, ways: Ways = PERSON) -> Days | None:
    """Return the days that a text names, None for none. Two days are a span; `last 7 days`, `since monday` and
    `this month so far` run to today."""
    if (pair := _is_pair(text)) and (ways.takes_all or not pair[2].strip()):
        both = [day for day in map(calendar_day, (pair[1], pair[3])) if day is not None]
        return Days(min(both), max(both)) if both else None
    plain = (
        " ".join(text.replace(",", " ").lower().removeprefix("the ").split())
        if ways.takes_all
        else text
    )
    since = _to_today(plain) if ways.takes_all else None
    phrase = read_phrase(next(filter(None, since.groups())) if since else plain)
    if phrase is None or (phrase.is_loose and not ways.takes_all):
        return None
    try:
        days = _days(phrase, today, ways)
        if since is None:
            return days
        first = days.first
        if first > today and phrase.year is None:  # the one before
            first = first - timedelta(7) if phrase.kind == "weekday" else shift(first, -1, "y")
        return Days(first, today) if first <= today else None
    except (ValueError, OverflowError):  # no such day, or none in the calendar
        return None


def read_coming_day(text: str, today: date) -> date | None:
    """Return the day that a text names to be written down; one without a year or week is never past (TASK-83)."""
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
                return next(
                    (day for day in _in_years(phrase, today.year, _YEARS) if day >= today), None
                )
            case "moved" | "day" | "weekday":
                return _days(phrase, today, TASKS).first
    except (ValueError, OverflowError):
        pass
    return None


def read_shifted_day(text: str, start: date) -> date | None:
    """Return the day that `+1 week` or `-2d` is from another one; None for other texts (TASK-83)."""
    phrase = read_phrase(text)
    try:
        return (
            shift(start, phrase.amount, phrase.unit)
            if phrase is not None and phrase.is_signed
            else None
        )
    except (ValueError, OverflowError):
        return None


def read_moment(text: str, now: datetime) -> datetime | None:
    """Return the beginning of a day or period in words, a date with a time, or an age before `now` such as `12h`, `7d`,
    `3m` (months); None for other texts. Local, as `now` is, unless the text names a zone (SEARCH-12)."""
    text = text.strip()
    if ago := _is_age(text):
        unit = ago["unit"][0].lower()
        try:
            return shift(now, -int(ago["count"]), "M" if unit == "m" else unit)
        except (OverflowError, ValueError):  # before the calendar
            return datetime.min.replace(tzinfo=UTC)
    if days := read_days(text, now.date()):
        return datetime.combine(days.first, time())
    with suppress(ValueError):
        return datetime.fromisoformat(text) if read_iso(text) else None
    return None


def _days(phrase: DayPhrase, today: date, ways: Ways) -> Days:
    """Raises: ValueError or OverflowError where there are no such days."""
    year = today.year if phrase.year is None else phrase.year
    match phrase.kind:
        case "moved":
            return _day(shift(today, phrase.amount, phrase.unit))
        case "span":
            first, last = sorted((today, shift(today, phrase.amount, phrase.unit)))
            return Days(first, last)
        case "weekday":
            return _day(_weekday(phrase, today, ways))
        case "period":
            period = next(period for period in PERIODS if SHIFT_UNITS[period] == phrase.unit)
            first = shift(start_of(period, today, ways.weeks), _STEPS[phrase.which], phrase.unit)
            return _period(first, phrase.unit)
        case "week":
            start = week_start(year, phrase.number, *ways.numbered)
            if start is None:
                raise ValueError(f"{year} has no week {phrase.number}")
            return _period(start, "w")
        case "quarter":
            return _period(date(year, phrase.number * 3 - 2, 1), "Q")
        case "year":
            return _period(date(year, 1, 1), "y")
        case "month":
            return _period(date(year, phrase.month, 1), "M")
        case "named month" if not ways.nearest:
            return _period(date(year, phrase.month, 1), "M")
    if ways.nearest and phrase.year is None:
        return _day(min(_in_years(phrase, today.year - 1, 3), key=lambda day: abs(day - today)))
    return _day(date(year, phrase.month, phrase.day))


def _day(day: date) -> Days:
    return Days(day, day, "d")


def _period(first: date, unit: str) -> Days:
    return Days(first, shift(first, 1, unit) - timedelta(1), unit)


def _weekday(phrase: DayPhrase, today: date, ways: Ways) -> date:
    if ways.nearest:
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
            return start_of("week", today, ways.weeks) + timedelta(
                (phrase.number + 1 - ways.weeks.first_day) % 7
            )
    return today + timedelta(ahead)


def _in_years(phrase: DayPhrase, first: int, count: int) -> Iterator[date]:
    days = (
        calendar_day(f"{year:04}-{phrase.month:02}-{phrase.day:02}")
        for year in range(first, first + count)
    )
    return (day for day in days if day is not None)


FORMS = "a day as YYYY-MM-DD, today, tomorrow, a weekday, `next friday`, `in 3 days`, `2 weeks ago` or `14 October`"
"""For messages: what `read_coming_day` understands."""
PERIOD_FORMS = (
    f"{FORMS}, `this week`, `next month`, 2026-Q1, 2026-W05, or two days with a space between"
)
"""For messages: what `read_days` understands in queries of Tasks."""
