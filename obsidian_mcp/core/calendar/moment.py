"""Write dates in moment's format language (PERIODIC-3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from functools import lru_cache

from . import formats
from .formats import (
    COMMON,
    NUMBERS,
    FormatPart,
    Number,
    SymbolWriter,
    number,
    numbers,
    offset,
    text,
)
from .locale import ENGLISH, Locale
from .weeks import week_of

_TOKEN = re.compile(
    r"\[([^\[]*)\]|(\\)?([Hh]mm(?:ss)?|Mo|MM?M?M?|Do|DDDo|DD?D?D?|ddd?d?|do?|wo|ww?|Wo|WW?|Qo?"
    r"|N{1,5}|YYYYYY|YYYYY|YYYY|YY|Y|y{2,4}|yo?|gg(?:ggg?)?|GG(?:GGG?)?|e|E|a|A|hh?|HH?|kk?|mm?"
    r"|ss?|S{1,9}|x|X|zz?|ZZ?|LTS|LT|LL?L?L?|l{1,4}|.)",
    re.DOTALL,
)
_MAX_EXPANSIONS = 6
"""How often moment replaces the symbols of long dates, which may hold others."""
_LONG_DATE = re.compile(r"(\[[^\[]*\])|(\\)?(LTS|LT|LL?L?L?|l{1,4})")


def format_moment(when: date, pattern: str, locale: Locale = ENGLISH) -> str:
    """Return a date or time in moment's format language.

    A date is its midnight. A time without a zone is local; that shows in `Z`, `X` and `x` only.
    """
    moment = when if isinstance(when, datetime) else datetime.combine(when, time())
    pattern = expand_format(pattern, locale)
    written = formats.write_parts(moment, split_parts(pattern, locale), _WRITERS, locale, pattern)
    digits = locale.digits
    if not digits:
        return written
    return written.translate(str.maketrans("0123456789,"[: len(digits)], digits))


def has_token(pattern: str, tokens: str, locale: Locale = ENGLISH) -> bool:
    """Return whether a format has a symbol that begins with one of these letters.

    Literal text does not count.
    """
    return any(symbol and text[0] in tokens for text, symbol in split_parts(pattern, locale))


def pieces(pattern: str) -> list[str]:
    """Split a format as it is written.

    The pieces are tokens, `[literal]` texts, escaped tokens and single characters.
    """
    return [match[0] for match in _TOKEN.finditer(pattern)]


def expand_format(pattern: str, locale: Locale = ENGLISH) -> str:
    """Return a format with `L`, `LT` and the like replaced by what they stand for."""
    for _ in range(_MAX_EXPANSIONS):
        longer = _LONG_DATE.sub(lambda symbol: locale.dates.get(symbol[0], symbol[0]), pattern)
        if longer == pattern:
            break
        pattern = longer
    return pattern


@lru_cache(maxsize=256)
def split_parts(pattern: str, locale: Locale = ENGLISH) -> tuple[FormatPart, ...]:
    """Split a format into tokens and literals, with its dates written out."""
    return tuple(_parts(expand_format(pattern, locale)))


def _parts(pattern: str) -> Iterator[FormatPart]:
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


_YEAR, _WEEK = 0, 1
"""Parts of what `week_of` returns."""


def _week(part: int, *, iso: bool = False) -> Number:
    def read_part(at: datetime, locale: Locale) -> int:
        first_day, doy = (1, 4) if iso else (locale.first_day, locale.doy)
        return week_of(at, first_day, doy)[part]

    return read_part


def _two_digits(value: Number) -> Number:
    return lambda at, locale: value(at, locale) % 100


def _era_year(at: datetime, locale: Locale) -> int:
    return locale.era(at).year(at)


def _fraction(digits: int) -> SymbolWriter:
    return text(lambda at, _: f"{at.microsecond // 1000:03}000000"[:digits])


def _ordinal(unit: str, value: Number) -> SymbolWriter:
    return text(lambda at, locale: locale.ordinal(value(at, locale), unit))


_WRITERS: Mapping[str, SymbolWriter] = {
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
    **numbers("w", (1, 2), _week(_WEEK)),
    "wo": _ordinal("w", _week(_WEEK)),
    "Wo": _ordinal("W", _week(_WEEK, iso=True)),
    "gg": number(2, _two_digits(_week(_YEAR))),
    **numbers("g", (4, 5), _week(_YEAR)),
    "GG": number(2, _two_digits(_week(_YEAR, iso=True))),
    **numbers("G", (4, 5), _week(_YEAR, iso=True)),
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
