"""Dates and periods as a person says them, in English (PERIODIC-9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from obsidian_mcp.core.calendar import day_words
from obsidian_mcp.core.calendar.clock import shift
from obsidian_mcp.core.calendar.locale import Locale
from obsidian_mcp.core.calendar.periods import PERIODS, SHIFT_UNITS, Period, start_of, week_of, week_start
from obsidian_mcp.errors import InvalidArguments

from .notes import note_day, weeks_of
from .settings import PeriodRule


@dataclass(frozen=True, slots=True)
class Named:
    """A period that a text names: `day` is in it, its first unless the text names a day."""

    day: date
    period: Period


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
    phrase = day_words.read(text.replace(",", " "))
    if phrase is None:
        return None
    week_rule = _week_rule(rules["week"], locale)
    year = today.year if phrase.year is None else phrase.year
    try:
        match phrase.kind:
            case "moved":
                return Named(shift(today, phrase.count, phrase.unit), "day")
            case "day":
                return Named(date(year, phrase.month, phrase.day), "day")
            case "weekday":
                return Named(_weekday(phrase, locale, today), "day")
            case "period":
                period: Period = next(period for period in PERIODS if SHIFT_UNITS[period] == phrase.unit)
                step = {"last": -1, "this": 0, "next": 1}[phrase.which]
                return Named(shift(start_of(period, today, weeks_of(rules["week"], locale)), step, phrase.unit), period)
            case "week":
                year = week_of(today, *week_rule)[0] if phrase.year is None else year
                start = week_start(year, phrase.number, *week_rule)
                return Named(start, "week") if start else None
            case "quarter":
                return Named(date(year, phrase.number * 3 - 2, 1), "quarter")
            case "year":
                return Named(date(year, 1, 1), "year")
        return Named(date(year, phrase.month, 1), "month")
    except (ValueError, OverflowError):
        return None


def _week_rule(rule: PeriodRule, locale: Locale) -> tuple[int, int]:
    if not rule.configured:
        return 1, 4
    weeks = weeks_of(rule, locale)
    return weeks.first_day, weeks.doy


def _weekday(phrase: day_words.Phrase, locale: Locale, today: date) -> date:
    ahead = (phrase.number - today.weekday()) % 7
    match phrase.which:
        case "next":
            return today + timedelta(ahead or 7)
        case "last":
            return today + timedelta(ahead - 7)
        case "this":
            return start_of("week", today, locale) + timedelta((phrase.number + 1 - locale.first_day) % 7)
    return today + timedelta(ahead)
