"""Write dates in moment's format language (PERIODIC-3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from functools import lru_cache

from . import zones
from .locale import ENGLISH, Locale
from .periods import week_of

_TOKEN = re.compile(
    r"\[([^\[]*)\]|(\\)?([Hh]mm(?:ss)?|Mo|MM?M?M?|Do|DDDo|DD?D?D?|ddd?d?|do?|wo|ww?|Wo|WW?|Qo?|N{1,5}|YYYYYY|YYYYY|YYYY"
    r"|YY|Y|y{2,4}|yo?|gg(?:ggg?)?|GG(?:GGG?)?|e|E|a|A|hh?|HH?|kk?|mm?|ss?|S{1,9}|x|X|zz?|ZZ?|LTS|LT|LL?L?L?|l{1,4}|.)",
    re.DOTALL,
)
_LONG_DATE = re.compile(r"(\[[^\[]*\])|(\\)?(LTS|LT|LL?L?L?|l{1,4})")

Part = tuple[str, bool]
"""A part of a format, and whether it is a symbol; otherwise it is literal."""


def format_moment(when: date, pattern: str, locale: Locale = ENGLISH) -> str:
    """Write a date or time in moment's format language.

    A plain date is its midnight. A time without a zone is local; that shows in `Z`, `X` and `x` only.
    """
    moment = when if isinstance(when, datetime) else datetime.combine(when, time())
    pattern = expanded(pattern, locale)
    written = "".join(
        _format_token(text, moment, locale, pattern) if symbol else text for text, symbol in parts(pattern, locale)
    )
    digits = locale.digits
    return written.translate(str.maketrans("0123456789,"[: len(digits)], digits)) if digits else written


def has_token(pattern: str, tokens: str, locale: Locale = ENGLISH) -> bool:
    """Return whether a format has a symbol that begins with one of these letters; literal text does not count."""
    return any(symbol and text[0] in tokens for text, symbol in parts(pattern, locale))


def pieces(pattern: str) -> list[str]:
    """Split a format as it is written: tokens, `[literal]` texts, escaped tokens and single characters."""
    return [match[0] for match in _TOKEN.finditer(pattern)]


def expanded(pattern: str, locale: Locale = ENGLISH) -> str:
    """Return a format with `L`, `LT` and the like replaced by what they stand for."""
    for _ in range(6):  # as often as moment does
        before, pattern = pattern, _LONG_DATE.sub(lambda found: locale.dates.get(found[0], found[0]), pattern)
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
            yield symbol, symbol in _KNOWN


def _format_token(symbol: str, at: datetime, locale: Locale, pattern: str) -> str:
    if symbol in ("MMM", "MMMM"):
        return locale.month_names(pattern, short=symbol == "MMM")[at.month - 1]
    if symbol == "dddd":
        return locale.weekday_names(pattern)[_weekday(at)]
    if symbol in _ORDINAL:
        return locale.ordinal(_NUMBERS[symbol[:-1]][0](at, locale), symbol[:-1])
    if symbol in _NUMBERS:
        value, width = _NUMBERS[symbol]
        number = value(at, locale)
        return f"-{-number:0{width}}" if number < 0 else f"{number:0{width}}"
    return _TEXTS[symbol](at, locale)


def _weekday(at: datetime) -> int:
    return at.isoweekday() % 7


def _epoch_milliseconds(at: datetime) -> int:
    return zones.instant(at) // 1000


def _offset(at: datetime, separator: str) -> str:
    minutes = round(zones.offset(at).total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{separator}{abs(minutes) % 60:02}"


_Number = Callable[[datetime, Locale], int]


def _year(at: datetime, _: Locale) -> int:
    return at.year


def _hour12(at: datetime, _: Locale) -> int:
    return at.hour % 12 or 12


def _fraction(digits: int) -> Callable[[datetime, Locale], str]:
    return lambda at, _: f"{at.microsecond // 1000:03}000000"[:digits]


def _local_week(part: int, divisor: int = 10**9) -> _Number:
    return lambda at, locale: week_of(at, locale.first_day, locale.doy)[part] % divisor


def _iso_week(part: int, divisor: int = 10**9) -> _Number:
    return lambda at, _: week_of(at, 1, 4)[part] % divisor


_NUMBERS: Mapping[str, tuple[_Number, int]] = {  # symbol -> value, least number of digits
    "Y": (_year, 4),
    "YY": (lambda at, _: at.year % 100, 2),
    "YYYY": (_year, 4),
    "YYYYY": (_year, 5),
    **{"y" * width: (lambda at, locale: locale.era(at).year(at), width) for width in range(1, 5)},
    "Q": (lambda at, _: (at.month + 2) // 3, 1),
    **{"M" * width: (lambda at, _: at.month, width) for width in (1, 2)},
    **{"D" * width: (lambda at, _: at.day, width) for width in (1, 2)},
    "DDD": (lambda at, _: at.timetuple().tm_yday, 1),
    "DDDD": (lambda at, _: at.timetuple().tm_yday, 3),
    "d": (lambda at, _: _weekday(at), 1),
    "e": (lambda at, locale: (_weekday(at) - locale.first_day) % 7, 1),
    "E": (lambda at, _: at.isoweekday(), 1),
    **{"w" * width: (_local_week(1), width) for width in (1, 2)},
    **{"W" * width: (_iso_week(1), width) for width in (1, 2)},
    "gg": (_local_week(0, 100), 2),
    "gggg": (_local_week(0), 4),
    "ggggg": (_local_week(0), 5),
    "GG": (_iso_week(0, 100), 2),
    "GGGG": (_iso_week(0), 4),
    "GGGGG": (_iso_week(0), 5),
    **{"H" * width: (lambda at, _: at.hour, width) for width in (1, 2)},
    **{"h" * width: (_hour12, width) for width in (1, 2)},
    **{"k" * width: (lambda at, _: at.hour or 24, width) for width in (1, 2)},
    **{"m" * width: (lambda at, _: at.minute, width) for width in (1, 2)},
    **{"s" * width: (lambda at, _: at.second, width) for width in (1, 2)},
}

_TEXTS: Mapping[str, Callable[[datetime, Locale], str]] = {
    "YYYYYY": lambda at, _: f"+{at.year:06}",
    "dd": lambda at, locale: locale.weekdays_min[_weekday(at)],
    "ddd": lambda at, locale: locale.weekdays_short[_weekday(at)],
    **dict.fromkeys(("N", "NN", "NNN"), lambda at, locale: locale.era(at).short),
    "NNNN": lambda at, locale: locale.era(at).name,
    "NNNNN": lambda at, locale: locale.era(at).narrow,
    "a": lambda at, locale: locale.meridiem(at.hour, at.minute, lower=True),
    "A": lambda at, locale: locale.meridiem(at.hour, at.minute),
    "hmm": lambda at, locale: f"{_hour12(at, locale)}{at.minute:02}",
    "hmmss": lambda at, locale: f"{_hour12(at, locale)}{at.minute:02}{at.second:02}",
    "Hmm": lambda at, _: f"{at.hour}{at.minute:02}",
    "Hmmss": lambda at, _: f"{at.hour}{at.minute:02}{at.second:02}",
    **{"S" * digits: _fraction(digits) for digits in range(1, 10)},
    "x": lambda at, _: str(_epoch_milliseconds(at)),
    "X": lambda at, _: str(_epoch_milliseconds(at) // 1000),
    "Z": lambda at, _: _offset(at, ":"),
    "ZZ": lambda at, _: _offset(at, ""),
    **dict.fromkeys(("z", "zz"), lambda _, __: ""),
}
_ORDINAL = {"yo", "Qo", "Mo", "Do", "DDDo", "do", "wo", "Wo"}
_KNOWN = frozenset({*_NUMBERS, *_TEXTS, *_ORDINAL, "MMM", "MMMM", "dddd"})
