"""Write dates in moment's format language, and read them strictly by it (PERIODIC-3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from . import clock, formats
from .formats import (
    COMMON,
    NUMBERS,
    Number,
    Part,
    Writer,
    compile_format,
    number,
    numbers,
    offset,
    read_symbols,
    text,
)
from .locale import ENGLISH, Locale, week_of, week_start

_TOKEN = re.compile(
    r"\[([^\[]*)\]|(\\)?([Hh]mm(?:ss)?|Mo|MM?M?M?|Do|DDDo|DD?D?D?|ddd?d?|do?|wo|ww?|Wo|WW?|Qo?|N{1,5}|YYYYYY|YYYYY|YYYY"
    r"|YY|Y|y{2,4}|yo?|gg(?:ggg?)?|GG(?:GGG?)?|e|E|a|A|hh?|HH?|kk?|mm?|ss?|S{1,9}|x|X|zz?|ZZ?|LTS|LT|LL?L?L?|l{1,4}|.)",
    re.DOTALL,
)
_LONG_DATE = re.compile(r"(\[[^\[]*\])|(\\)?(LTS|LT|LL?L?L?|l{1,4})")


def format_moment(when: date, pattern: str, locale: Locale = ENGLISH) -> str:
    """Write a date or time in moment's format language. A date is its midnight; a time without a zone is local."""
    moment = when if isinstance(when, datetime) else datetime.combine(when, time())
    pattern = expanded(pattern, locale)
    written = formats.write(moment, parts(pattern, locale), _WRITERS, locale, pattern)
    digits = locale.digits
    return (
        written.translate(str.maketrans("0123456789,"[: len(digits)], digits))
        if digits
        else written
    )


def has_token(pattern: str, tokens: str, locale: Locale = ENGLISH) -> bool:
    """Return whether a format has a symbol that begins with one of these letters; literal text does not count."""
    return any(symbol and text[0] in tokens for text, symbol in parts(pattern, locale))


def pieces(pattern: str) -> list[str]:
    """Split a format as it is written: tokens, `[literal]` texts, escaped tokens and single characters."""
    return [match[0] for match in _TOKEN.finditer(pattern)]


def expanded(pattern: str, locale: Locale = ENGLISH) -> str:
    """Return a format with `L`, `LT` and the like replaced by what they stand for."""
    for _ in range(6):  # as often as moment does
        before, pattern = (
            pattern,
            _LONG_DATE.sub(lambda found: locale.dates.get(found[0], found[0]), pattern),
        )
        if pattern == before:
            break
    return pattern


@lru_cache(maxsize=256)
def parts(pattern: str, locale: Locale = ENGLISH) -> tuple[Part, ...]:
    """Split a format into tokens and literals, with its dates written out."""
    return tuple(_parts(expanded(pattern, locale)))


def _parts(pattern: str) -> Iterator[Part]:
    for match in _TOKEN.finditer(pattern):
        literal, escape, symbol = match.groups()
        if literal is not None:
            yield literal, False
        elif escape or symbol == "\\":
            yield symbol if escape else "", False
        else:
            yield symbol, symbol in _WRITERS


def _weekday(at: datetime, _: Locale) -> int:
    return at.isoweekday() % 7


def _week(part: int, divisor: int = 10**9, *, iso: bool = False) -> Number:
    return lambda at, locale: (
        week_of(at, *((1, 4) if iso else (locale.first_day, locale.doy)))[part] % divisor
    )


def _era_year(at: datetime, locale: Locale) -> int:
    return locale.era(at).year(at)


def _fraction(digits: int) -> Writer:
    return text(lambda at, _: f"{at.microsecond // 1000:03}000000"[:digits])


def _ordinal(unit: str, value: Number) -> Writer:
    return text(lambda at, locale: locale.ordinal(value(at, locale), unit))


_WRITERS: Mapping[str, Writer] = {
    **COMMON,
    "Y": number(4, NUMBERS["year"]),
    **numbers("Y", (4, 5), NUMBERS["year"]),
    "YY": number(2, NUMBERS["year of century"]),
    "YYYYYY": text(lambda at, _: f"+{at.year:06}"),
    **numbers("y", (1, 2, 3, 4), _era_year),
    "yo": _ordinal("y", _era_year),
    "Q": number(1, NUMBERS["quarter"]),
    "Qo": _ordinal("Q", NUMBERS["quarter"]),
    "Mo": _ordinal("M", NUMBERS["month"]),
    "MMM": lambda at, locale, pattern: locale.month_names(pattern, short=True)[at.month - 1],
    "MMMM": lambda at, locale, pattern: locale.month_names(pattern, short=False)[at.month - 1],
    **numbers("D", (1, 2), NUMBERS["day"]),
    "Do": _ordinal("D", NUMBERS["day"]),
    "DDD": number(1, NUMBERS["day of year"]),
    "DDDD": number(3, NUMBERS["day of year"]),
    "DDDo": _ordinal("DDD", NUMBERS["day of year"]),
    "d": number(1, _weekday),
    "do": _ordinal("d", _weekday),
    "dd": text(lambda at, locale: locale.weekdays_min[_weekday(at, locale)]),
    "ddd": text(lambda at, locale: locale.weekdays_short[_weekday(at, locale)]),
    "dddd": lambda at, locale, pattern: locale.weekday_names(pattern)[_weekday(at, locale)],
    "e": number(1, lambda at, locale: (_weekday(at, locale) - locale.first_day) % 7),
    "E": number(1, NUMBERS["iso weekday"]),
    **numbers("w", (1, 2), _week(1)),
    "wo": _ordinal("w", _week(1)),
    "Wo": _ordinal("W", _week(1, iso=True)),
    "gg": number(2, _week(0, 100)),
    **numbers("g", (4, 5), _week(0)),
    "GG": number(2, _week(0, 100, iso=True)),
    **numbers("G", (4, 5), _week(0, iso=True)),
    **dict.fromkeys(("N", "NN", "NNN"), text(lambda at, locale: locale.era(at).short)),
    "NNNN": text(lambda at, locale: locale.era(at).name),
    "NNNNN": text(lambda at, locale: locale.era(at).narrow),
    **numbers("k", (1, 2), lambda at, _: at.hour or 24),
    "a": text(lambda at, locale: locale.meridiem(at.hour, at.minute, lower=True)),
    "A": text(lambda at, locale: locale.meridiem(at.hour, at.minute)),
    "hmm": text(lambda at, _: f"{at.hour % 12 or 12}{at.minute:02}"),
    "hmmss": text(lambda at, _: f"{at.hour % 12 or 12}{at.minute:02}{at.second:02}"),
    "Hmm": text(lambda at, _: f"{at.hour}{at.minute:02}"),
    "Hmmss": text(lambda at, _: f"{at.hour}{at.minute:02}{at.second:02}"),
    **{"S" * digits: _fraction(digits) for digits in range(1, 10)},
    "Z": offset(":"),
    "ZZ": offset(""),
    **dict.fromkeys(("z", "zz"), text(lambda _, __: "")),
}


def parse_moment(
    text: str, pattern: str, locale: Locale = ENGLISH, *, today: date | None = None
) -> datetime | None:
    """Read a whole text strictly by a format, as a local time; None where it does not fit or names no real time. What
    the format leaves out comes from `today` where it is larger than what it holds (`MM-DD`), else it is the first
    (`YYYY-MM`). Without `today`, a text without its year names no time."""
    fields = parse_fields(text, pattern, locale)
    return None if fields is None else resolve_fields(fields, locale, today)


_SYMBOLS = read_symbols("moment")
"""Strict: exact widths; numbers of one digit or two are without a leading zero."""

Fields = dict[str, Any]
"""Numbers read from a text, by name: year, month, day, week, hour…; `part` of the day and `era` are texts."""


def search_moment(
    text: str, pattern: str, locale: Locale = ENGLISH, *, today: date | None = None
) -> datetime | None:
    """Return the first time of a format anywhere in a text, such as the date at the beginning of a longer name."""
    expression, _ = _compile(pattern, locale)
    found = expression.search(text) if expression else None
    return parse_moment(found[0], pattern, locale, today=today) if found else None


def parse_fields(text: str, pattern: str, locale: Locale = ENGLISH) -> Fields | None:
    """Return the numbers that a text holds by a format, unchecked; None where the text does not fit."""
    expression, symbols = _compile(pattern, locale)
    if digits := locale.digits:
        text = text.translate(str.maketrans(digits, "0123456789,"[: len(digits)]))
    found = expression.fullmatch(text) if expression else None
    if found is None or not symbols:
        return None
    fields: Fields = {}
    for symbol, written in zip(symbols, found.groups(), strict=True):
        _keep(fields, symbol, written, locale)
    return fields


@lru_cache(maxsize=256)
def _compile(pattern: str, locale: Locale) -> tuple[re.Pattern[str] | None, tuple[str, ...]]:
    return compile_format(
        parts(pattern, locale), lambda symbol: _pattern(symbol, locale), atomic=True
    )


def _pattern(symbol: str, locale: Locale) -> str | None:
    if names := _names(symbol, locale):
        return f"(?i:{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))})"
    if symbol in ("a", "A"):
        return locale.meridiem_pattern()
    if symbol[0] == "N":
        names = tuple(name for era in locale.eras for name in (era.name, era.narrow, era.short))
        return f"(?i:{'|'.join(map(re.escape, names))})"
    if symbol == "Do":  # moment reads no other ordinal
        return f"[0-9]{{1,2}}(?:{locale.ordinal_endings})"
    return _SYMBOLS[symbol][1] if symbol in _SYMBOLS else None


def _names(token: str, locale: Locale) -> Sequence[str]:
    """The names that a token reads, in the order of months or days, once or several times over."""
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


def _keep(fields: Fields, symbol: str, text: str, locale: Locale) -> None:
    if names := _names(symbol, locale):
        folded = [name.lower() for name in names]
        place = (
            folded.index(text.lower()) if text.lower() in folded else -1
        )  # a Turkish I matches more than its own
        if symbol[0] == "M":
            fields["month"] = place % 12 + 1 if place >= 0 else 0
        else:
            fields["weekday"] = place % 7 if place >= 0 else -1
    elif symbol in _SYMBOLS and (field := _SYMBOLS[symbol][0]):
        number = int(re.sub(r"\D+$", "", text))
        if symbol in ("YY", "gg", "GG"):
            number += 1900 if number > 68 else 2000
        fields[field] = number % 24 if symbol[0] == "k" else number
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
    fields: Fields, locale: Locale = ENGLISH, today: date | None = None
) -> datetime | None:
    """Return the time that numbers of `parse_fields` name; None where there is no such time."""
    try:
        if "epoch" in fields:
            return clock.local(fields["epoch"] * 1000)
        day = _resolve_day(fields, locale, today)
        passed = _resolve_time(fields, locale)
        if day is None or passed is None:
            return None
        expected = fields.get("weekday")
        if expected is not None and expected != day.isoweekday() % 7:
            return None
        moment = datetime.combine(day, time()) + passed
        if "offset" in fields:
            moment = clock.local(clock.instant(moment.replace(tzinfo=fields["offset"])))
    except (ValueError, OverflowError):
        return None
    return moment


def _resolve_day(fields: Fields, locale: Locale, today: date | None) -> date | None:
    year, month, day = fields.get("year"), fields.get("month"), fields.get("day")
    if "era" in fields and year is not None:
        era = next(
            era
            for era in locale.eras
            if fields["era"].upper() in (era.name.upper(), era.narrow, era.short)
        )
        year += era.first.year - era.offset
    if "quarter" in fields:
        if not 1 <= fields["quarter"] <= 4:
            return None
        month = fields["quarter"] * 3 - 2 if month is None else month
    if day is None and month is None and fields.keys() & _WEEK_FIELDS:
        return _resolve_week(fields, locale, today)
    if year is None and (named := fields.get("week_year", fields.get("iso_week_year"))) is not None:
        return _in_week_year(
            named,
            month or 1,
            day or 1,
            (1, 4) if "iso_week_year" in fields else (locale.first_day, locale.doy),
        )
    if "day_of_year" in fields:
        first = date(_or_today(year, today, "year"), 1, 1)
        found = first + timedelta(days=fields["day_of_year"] - 1)
        return found if found.year == first.year else None
    if year is None and month is None and day is None:
        return today
    if year is None:
        year = _or_today(None, today, "year")
        if month is None:
            month = _or_today(None, today, "month")
    return date(year, 1 if month is None else month, 1 if day is None else day)


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


def _resolve_week(fields: Fields, locale: Locale, today: date | None) -> date | None:
    iso = bool(fields.keys() & {"iso_week", "iso_week_year", "iso_weekday"})
    first_day, doy = (1, 4) if iso else (locale.first_day, locale.doy)
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


def _in_week_year(week_year: int, month: int, day: int, rule: tuple[int, int]) -> date | None:
    """The day of a year near `week_year` whose week belongs to it, else of that year, which a week number behind it may
    make good; moment takes the present year, which is no use."""
    candidates = []
    for year in (week_year, week_year - 1, week_year + 1):
        try:
            candidates.append(date(year, month, day))
        except ValueError:
            continue
    return next(
        (found for found in candidates if week_of(found, *rule)[0] == week_year),
        next(iter(candidates), None),
    )


def _resolve_time(fields: Fields, locale: Locale) -> timedelta | None:
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
