"""Read dates strictly by a format of moment (PERIODIC-3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from . import clock
from .formats import compile_format, read_symbols
from .locale import ENGLISH, Locale
from .moment import split_parts
from .weeks import week_of, week_start


def parse_moment(
    text: str, pattern: str, locale: Locale = ENGLISH, *, today: date | None = None
) -> datetime | None:
    """Read a whole text strictly by a format, as a local time without a zone.

    None where the text is not exactly of that format or names no real time. What the format leaves
    out comes from `today` where it is larger than what the format holds (`MM-DD` takes the year of
    today), else it is the first (`YYYY-MM` is the first of the month). Without `today`, a text that
    leaves out its year names no time.
    """
    fields = parse_fields(text, pattern, locale)
    return None if fields is None else resolve_fields(fields, locale, today)


_SYMBOLS = read_symbols("moment")
"""By symbol, the field that it sets and the expression for its text.

They are strict: widths are exact, and numbers of one digit or two have no leading zero.
"""
_TWO_DIGIT_YEARS = ("YY", "gg", "GG")
_LAST_YEAR_OF_2000 = 68
"""Years of two digits up to this one are of 2000, others of 1900."""

MomentFields = dict[str, Any]
"""Numbers read from a text, by name: year, month, day, week, hour…; `part` of the day and `era` are
texts."""


def search_moment(
    text: str, pattern: str, locale: Locale = ENGLISH, *, today: date | None = None
) -> datetime | None:
    """Return the first time of a format anywhere in a text.

    It may be the date at the beginning of a longer name.
    """
    expression, _ = _compile(pattern, locale)
    match = expression.search(text) if expression else None
    return parse_moment(match[0], pattern, locale, today=today) if match else None


def parse_fields(text: str, pattern: str, locale: Locale = ENGLISH) -> MomentFields | None:
    """Return the numbers that a text holds by a format, unchecked; None where it does not fit."""
    expression, symbols = _compile(pattern, locale)
    digits = locale.digits
    if digits:
        text = text.translate(str.maketrans(digits, "0123456789,"[: len(digits)]))
    match = expression.fullmatch(text) if expression else None
    if match is None or not symbols:
        return None
    fields: MomentFields = {}
    for symbol, written in zip(symbols, match.groups(), strict=True):
        _store(fields, symbol, written, locale)
    return fields


@lru_cache(maxsize=256)
def _compile(pattern: str, locale: Locale) -> tuple[re.Pattern[str] | None, tuple[str, ...]]:
    return compile_format(
        split_parts(pattern, locale), lambda symbol: _pattern(symbol, locale), atomic=True
    )


def _pattern(symbol: str, locale: Locale) -> str | None:
    """Return the expression for the text of a symbol; None for one that moment does not read."""
    names = _names(symbol, locale)
    if names:
        longest_first = sorted(names, key=len, reverse=True)
        return f"(?i:{'|'.join(map(re.escape, longest_first))})"
    if symbol in ("a", "A"):
        return locale.meridiem_pattern()
    if symbol[0] == "N":
        names = tuple(name for era in locale.eras for name in (era.name, era.narrow, era.short))
        return f"(?i:{'|'.join(map(re.escape, names))})"
    if symbol == "Do":  # moment reads no other ordinal
        return f"[0-9]{{1,2}}(?:{locale.ordinal_endings})"
    return _SYMBOLS[symbol][1] if symbol in _SYMBOLS else None


def _names(token: str, locale: Locale) -> Sequence[str]:
    """Return the names that a token reads, in the order of months or days.

    The names may come several times over, as there are several forms of them.
    """
    match token:
        case "MMM":
            return (*locale.months_short, *locale.months_short_alone, *locale.months_short_read)
        case "MMMM":
            return (*locale.months, *locale.months_alone)
        case "dd":
            return locale.weekdays_min
        case "ddd":
            return locale.weekdays_short
        case "dddd":
            return (*locale.weekdays, *(day for _, names in locale.cases for day in names))
        case _:
            return ()


def _store(fields: MomentFields, symbol: str, text: str, locale: Locale) -> None:
    """Store what a symbol reads in the text that it matched."""
    names = _names(symbol, locale)
    if names:
        folded = [name.lower() for name in names]
        # a Turkish I matches more than its own
        place = folded.index(text.lower()) if text.lower() in folded else -1
        if symbol[0] == "M":
            fields["month"] = place % 12 + 1 if place >= 0 else 0
        else:
            fields["weekday"] = place % 7 if place >= 0 else -1
    elif symbol in _SYMBOLS and _SYMBOLS[symbol][0]:
        number = int(re.sub(r"\D+$", "", text))
        if symbol in _TWO_DIGIT_YEARS:
            number += 1900 if number > _LAST_YEAR_OF_2000 else 2000
        fields[_SYMBOLS[symbol][0]] = number % 24 if symbol[0] == "k" else number
    elif symbol in _CLOCKS:
        fields["hour"] = int(text[: -len(symbol) + 1])
        fields |= {name: int(text[at : at + 2 or None]) for at, name in _CLOCKS[symbol]}
    elif symbol[0] == "N":
        fields["era"] = text
    elif symbol in ("a", "A"):
        fields["part"] = text
    elif symbol[0] == "S":
        fields["microsecond"] = int(f"{text:0<9}"[:9]) // 1000
    elif symbol[0] in "xX":
        fields["epoch"] = round(float(text) * (1000 if symbol == "X" else 1))
    elif symbol[0] == "Z":
        fields["offset"] = clock.read_zone(text)
    if symbol[0] == "h":
        fields["of_twelve"] = 1


_CLOCKS = {
    **dict.fromkeys(("hmm", "Hmm"), ((-2, "minute"),)),
    **dict.fromkeys(("hmmss", "Hmmss"), ((-4, "minute"), (-2, "second"))),
}


def resolve_fields(
    fields: MomentFields, locale: Locale = ENGLISH, today: date | None = None
) -> datetime | None:
    """Return the time that numbers of `parse_fields` name; None where there is no such time.

    `today` gives what is left out, as for `parse_moment`.
    """
    try:
        if "epoch" in fields:
            return clock.to_local_time(fields["epoch"] * 1000)
        day = _resolve_day(fields, locale, today)
        passed = _resolve_time(fields, locale)
        if day is None or passed is None:
            return None
        expected = fields.get("weekday")
        if expected is not None and expected != day.isoweekday() % 7:
            return None
        moment = datetime.combine(day, time()) + passed
        if "offset" in fields:
            moment = clock.to_local_time(clock.instant(moment.replace(tzinfo=fields["offset"])))
    except (ValueError, OverflowError):
        return None
    return moment


def _resolve_day(fields: MomentFields, locale: Locale, today: date | None) -> date | None:
    """Return the day that the fields name, in moment's order of precedence; None where it is none.

    Years and months that are missing are those of `today`; a missing day is the first.
    Raises: ValueError where `today` is needed and not given.
    """
    year, month, day = fields.get("year"), fields.get("month"), fields.get("day")
    if "era" in fields and year is not None:
        year = _year_of_era(fields["era"], year, locale)
    if "quarter" in fields:
        if not 1 <= fields["quarter"] <= 4:
            return None
        month = fields["quarter"] * 3 - 2 if month is None else month
    if day is None and month is None and fields.keys() & _WEEK_FIELDS:
        return _resolve_week(fields, locale, today)
    week_year = fields.get("week_year", fields.get("iso_week_year"))
    if year is None and week_year is not None:
        rule = _ISO_RULE if "iso_week_year" in fields else (locale.first_day, locale.doy)
        return _day_in_week_year(week_year, month or 1, day or 1, rule)
    if "day_of_year" in fields:
        first = date(_or_today(year, today, "year"), 1, 1)
        day_of_year = first + timedelta(days=fields["day_of_year"] - 1)
        return day_of_year if day_of_year.year == first.year else None
    if year is None and month is None and day is None:
        return today
    if year is None:
        year = _or_today(None, today, "year")
        if month is None:
            month = _or_today(None, today, "month")
    return date(year, 1 if month is None else month, 1 if day is None else day)


def _year_of_era(name: str, year: int, locale: Locale) -> int:
    """Return the year of the calendar of a year that is counted in an era."""
    folded = name.upper()
    era = next(era for era in locale.eras if folded in (era.name.upper(), era.narrow, era.short))
    return year + era.first.year - era.offset


_ISO_RULE = (1, 4)
"""Weeks as ISO 8601 counts them, as arguments of `week_of`."""


_WEEK_FIELDS = {
    "week",
    "iso_week",
    "week_year",
    "iso_week_year",
    "local_weekday",
    "iso_weekday",
    "weekday",
}


def _or_today(value: int | None, today: date | None, name: str) -> int:
    if value is not None:
        return value
    if today is None:
        raise ValueError(f"the {name} is not known")
    return int(getattr(today, name))


def _resolve_week(fields: MomentFields, locale: Locale, today: date | None) -> date | None:
    """Return the day that a week names, counted as ISO 8601 or the language does.

    Without a weekday it is the first day of the week. None for a weekday outside of the week, and
    where the present week is needed and `today` is not given.
    """
    iso = bool(fields.keys() & {"iso_week", "iso_week_year", "iso_weekday"})
    first_day, doy = _ISO_RULE if iso else (locale.first_day, locale.doy)
    year = fields.get("iso_week_year" if iso else "week_year", fields.get("year"))
    week = fields.get("iso_week", 1) if iso else fields.get("week")
    if year is None or week is None:
        if today is None:
            return None
        this_year, this_week = week_of(today, first_day, doy)
        year = this_year if year is None else year
        week = this_week if week is None else week
    if iso:
        step = fields.get("iso_weekday", 1) - 1
    elif "weekday" in fields:
        step = (fields["weekday"] - first_day) % 7 if fields["weekday"] < 7 else 7
    else:
        step = fields.get("local_weekday", 0)
    start = week_start(year, week, first_day, doy)
    return start + timedelta(days=step) if start and 0 <= step <= 6 else None


def _day_in_week_year(week_year: int, month: int, day: int, rule: tuple[int, int]) -> date | None:
    """Return the day of a year near `week_year` whose week belongs to it.

    Where there is none, it is the day of that year, which a week number behind it may make good;
    moment takes the present year, which is no use.
    """
    candidates = []
    for year in (week_year, week_year - 1, week_year + 1):
        try:
            candidates.append(date(year, month, day))
        except ValueError:
            continue
    return next(
        (day for day in candidates if week_of(day, *rule)[0] == week_year),
        next(iter(candidates), None),
    )


def _resolve_time(fields: MomentFields, locale: Locale) -> timedelta | None:
    """Return the time of day; None for one that is none, such as 24:01.

    As in moment, 24:00 is the midnight behind the day, and a part of the day alone is no time.
    """
    hour, minute, second = (fields.get(name, 0) for name in ("hour", "minute", "second"))
    if fields.get("of_twelve") and not 1 <= hour <= 12:
        return None
    if "part" in fields:
        if not fields.keys() & {"year", "month", "day", "hour", "minute", "second", "microsecond"}:
            return None
        if "hour" in fields and hour <= 12:
            hour = locale.hour_of(hour, minute, fields["part"])
    if hour == 24 and (minute or second or fields.get("microsecond")):
        return None
    if not (0 <= hour <= 24 and 0 <= minute < 60 and 0 <= second < 60):
        return None
    return timedelta(
        hours=hour, minutes=minute, seconds=second, microseconds=fields.get("microsecond", 0)
    )
