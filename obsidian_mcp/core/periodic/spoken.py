"""Dates and periods as a person says them, in English (PERIODIC-9)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from obsidian_mcp.errors import InvalidArguments

from .locale import ENGLISH, WEEKDAYS, Locale
from .moment import has_token
from .notes import note_day
from .periods import PERIODS, SHIFT_UNITS, Period, shift, start_of
from .settings import PeriodRule
from .weeks import week_of, week_start

_UNITS = {"d": "d", "w": "w", "m": "M", "q": "Q", "y": "y"}
_MONTHS = "|".join(f"{name.lower()}|{name[:3].lower()}" for name in ENGLISH.months)
_WEEKDAYS = "|".join(WEEKDAYS)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH = rf"(?P<month>{_MONTHS})"
_COUNT = r"(?P<count>\d{1,5}|an?|one) (?P<unit>d|w|m|q|y)(?:ays?|eeks?|onths?|uarters?|ears?)"


@dataclass(frozen=True, slots=True)
class Named:
    """A period that a text names: `day` is in it, its first unless the text names a day."""

    day: date
    period: Period


@dataclass(frozen=True, slots=True)
class _Calendar:
    """What reading a text depends on."""

    today: date
    locale: Locale
    week_rule: tuple[int, int]
    """First day of the week and `doy` by which week numbers are read."""


def read_date(text: str, period: Period, rules: Mapping[Period, PeriodRule], locale: Locale, today: date) -> date:
    """Return a day of the note of this period that a text names: `yesterday`, `last monday`, `2026-W47`, `Q4`.

    A day, or a shorter period, means the period that holds it. A name in the period's own format is that period.
    Raises: InvalidArguments for a text that names no date, and for a longer period.
    """
    own = note_day(rules[period], text.strip(), locale, today) if rules[period].configured else None
    named = Named(own, period) if own else named_period(text, rules, locale, today)
    if named is None:
        raise InvalidArguments(
            f'Cannot read the date "{text}". Try 2026-11-22, yesterday, last monday or 2026-W47.', argument="date"
        )
    if PERIODS.index(named.period) > PERIODS.index(period):
        raise InvalidArguments(
            f'"{text}" names a {named.period}, and a {period} is needed. '
            f"Try {today.isoformat()}, yesterday or last monday.",
            argument="date",
        )
    return named.day


def named_period(text: str, rules: Mapping[Period, PeriodRule], locale: Locale, today: date) -> Named | None:
    """Return the day or longer period that a text names; None where it names none."""
    plain = " ".join(text.lower().replace(",", " ").split())
    calendar = _Calendar(today, locale, _week_rule(rules["week"], locale))
    for pattern, read in _READERS:
        if found := pattern.fullmatch(plain):
            try:
                return read(found, calendar)
            except (ValueError, OverflowError):
                return None
    return None


def _week_rule(rule: PeriodRule, locale: Locale) -> tuple[int, int]:
    if not rule.configured or has_token(rule.format, "GW"):
        return 1, 4
    return locale.first_day, locale.doy


def _relative_day(found: re.Match[str], at: _Calendar) -> Named:
    return Named(at.today + timedelta(days={"yesterday": -1, "tomorrow": 1}.get(found[0], 0)), "day")


def _plain_day(found: re.Match[str], at: _Calendar) -> Named:
    parts = found.groupdict()
    month = parts["month"]
    number = int(month) if month.isdigit() else _month_number(month)
    return Named(date(int(parts["year"] or at.today.year), number, int(parts["day"])), "day")


def _moved(found: re.Match[str], at: _Calendar) -> Named:
    count = int(found["count"]) if found["count"].isdigit() else 1
    back = found[0].endswith(" ago") or found[0].startswith("-")
    return Named(shift(at.today, -count if back else count, _UNITS[found["unit"]]), "day")


def _weekday(found: re.Match[str], at: _Calendar) -> Named:
    wanted = WEEKDAYS.index(found["weekday"])
    ahead = (wanted - at.today.isoweekday()) % 7
    match found["which"]:
        case "next":
            days = ahead or 7
        case "last":
            days = ahead - 7
        case "this":
            start = start_of("week", at.today, at.locale)
            return Named(start + timedelta(days=(wanted - at.locale.first_day) % 7), "day")
        case _:
            days = ahead
    return Named(at.today + timedelta(days=days), "day")


def _relative_period(found: re.Match[str], at: _Calendar) -> Named:
    period: Period = next(each for each in PERIODS if each == found["period"])
    step = {"last": -1, "this": 0, "next": 1}[found["which"]]
    return Named(shift(start_of(period, at.today, at.locale), step, SHIFT_UNITS[period]), period)


def _week(found: re.Match[str], at: _Calendar) -> Named:
    year = int(found["year"]) if found["year"] else week_of(at.today, *at.week_rule)[0]
    start = week_start(year, int(found["number"]), *at.week_rule)
    if start is None:
        raise ValueError("the year has no such week")
    return Named(start, "week")


def _month(found: re.Match[str], at: _Calendar) -> Named:
    month = found["month"]
    number = int(month) if month.isdigit() else _month_number(month)
    return Named(date(int(found["year"] or at.today.year), number, 1), "month")


def _quarter(found: re.Match[str], at: _Calendar) -> Named:
    return Named(date(int(found["year"] or at.today.year), int(found["number"]) * 3 - 2, 1), "quarter")


def _year(found: re.Match[str], _: _Calendar) -> Named:
    return Named(date(int(found["year"]), 1, 1), "year")


def _month_number(name: str) -> int:
    return [month[:3].lower() for month in ENGLISH.months].index(name[:3]) + 1


_YEAR = r"(?P<year>\d{4})"

_READERS: list[tuple[re.Pattern[str], Callable[[re.Match[str], _Calendar], Named]]] = [
    (re.compile(expression), read)
    for expression, read in [
        ("today|now|yesterday|tomorrow", _relative_day),
        (rf"{_YEAR}(?P<separator>[-/]?)(?P<month>\d{{2}})(?P=separator)(?P<day>\d{{2}})", _plain_day),
        (rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}", _plain_day),
        (rf"{_DAY} {_MONTH}(?: {_YEAR})?", _plain_day),
        (rf"{_MONTH} {_DAY}(?: {_YEAR})?", _plain_day),
        (rf"{_COUNT} ago", _moved),
        (r"[-+](?P<count>\d{1,5}) ?(?P<unit>[dwmqy])", _moved),
        (rf"in {_COUNT}", _moved),
        (rf"(?:(?P<which>this|next|last) )?(?P<weekday>{_WEEKDAYS})", _weekday),
        (r"(?P<which>this|last|next) (?P<period>week|month|quarter|year)", _relative_period),
        (rf"(?:{_YEAR}-?w|w|week )(?P<number>\d{{1,2}})", _week),
        (rf"{_YEAR}-(?P<month>\d{{2}})", _month),
        (rf"{_MONTH}(?: {_YEAR})?", _month),
        (rf"(?:{_YEAR}-?)?q(?P<number>[1-4])", _quarter),
        (_YEAR, _year),
    ]
]
