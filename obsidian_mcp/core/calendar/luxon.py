"""Write and read dates in Luxon's formats, in English (specs/dataview.md, DV-76, DV-77).

They are not moment's: the year is `yyyy`, the day `dd`. Moment's `YYYY` stays as it is, and its
`DD` writes a date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, time, timedelta
from functools import lru_cache

from obsidian_mcp.core.text.table_file import read_rows

from . import clock, formats
from .formats import (
    COMMON,
    NUMBERS,
    FormatPart,
    Number,
    SymbolWriter,
    number,
    numbers,
    offset,
    offset_minutes,
    read_symbols,
    text,
)
from .locale import ENGLISH

_MACROS = dict(read_rows(__file__, "symbols/luxon_macros"))
"""What a format of one of these letters stands for."""
_find_parts = re.compile(r"'([^']*)(?:'|\Z)|((.)\3*)", re.DOTALL).findall
_DAYS = (*ENGLISH.weekdays[1:], ENGLISH.weekdays[0])
_MONTHS = tuple(ENGLISH.months)


class MixedUnits(ValueError):
    """A format that names days in two ways; the message is Luxon's."""


@lru_cache(maxsize=256)
def split_format(form: str) -> tuple[FormatPart, ...]:
    """Split a format into runs of one letter, and literal text between `'` (and white space)."""
    runs = _find_parts(form)
    return tuple(
        (quoted or run, bool(run) and not run.isspace()) for quoted, run, _ in runs if quoted or run
    )


def write_luxon(when: datetime, form: str) -> str:
    """Return a time in this format. Letters and lengths without a meaning stay."""
    return formats.write_parts(when, _expand(form), _WRITERS, ENGLISH, form)


@lru_cache(maxsize=256)
def _expand(form: str, *, to_read: bool = False) -> tuple[FormatPart, ...]:
    """Return the parts of a format with its macros written out.

    Symbols without a meaning are literal.
    """
    parts: list[FormatPart] = []
    for part, is_run in split_format(form):
        macro = _MACROS.get(part) if is_run else None
        if macro is None:
            parts.append((part, is_run))
        else:
            # the year of a macro is written in full, and read with any number of digits
            parts += split_format(macro.replace("y", "yyyyy" if to_read else "y"))
    meanings = _READ if to_read else _WRITERS
    return tuple((part, is_run and part in meanings) for part, is_run in parts)


def _names(letters: str, names: tuple[str, ...], value: Number) -> dict[str, SymbolWriter]:
    """Return writers of a name by its number from 1.

    Three letters write it short, four whole, and five its initial.
    """

    def write_name(length: int | None) -> SymbolWriter:
        return text(lambda at, locale: names[value(at, locale) - 1][:length])

    return {
        letter * width: write_name(length)
        for letter in letters
        for width, length in ((3, 3), (4, None), (5, 1))
    }


def _short_offset(at: datetime) -> str:
    hours, minutes = divmod(abs(offset_minutes(at)), 60)
    return f"{'-' if offset_minutes(at) < 0 else '+'}{hours}{f':{minutes}' if minutes else ''}"


def _zone(at: datetime) -> str:
    """Return the name of the zone: `UTC`, `UTC+2`, `Europe/Paris`.

    For a local time it is what the system calls the zone.
    """
    if at.tzinfo is None:
        return clock.name(at)
    key = getattr(at.tzinfo, "key", None)
    if key:
        return str(key)
    return f"UTC{_short_offset(at)}" if offset_minutes(at) else "UTC"


_WRITERS: Mapping[str, SymbolWriter] = {
    **COMMON,
    **numbers("S", (1, 3), lambda at, _: at.microsecond // 1000),
    "u": number(3, lambda at, _: at.microsecond // 1000),
    "uu": number(2, lambda at, _: at.microsecond // 10_000),
    "uuu": number(1, lambda at, _: at.microsecond // 100_000),
    "Z": text(lambda at, _: _short_offset(at)),
    "ZZ": offset(":"),
    "ZZZ": offset(""),
    **dict.fromkeys(("ZZZZ", "ZZZZZ", "z"), text(lambda at, _: _zone(at))),
    "a": text(lambda at, locale: locale.meridiem(at.hour, at.minute)),
    **numbers("d", (1, 2), NUMBERS["day"]),
    **numbers("cE", (1,), NUMBERS["iso weekday"]),
    **_names("cE", _DAYS, NUMBERS["iso weekday"]),
    **numbers("L", (1, 2), NUMBERS["month"]),
    **_names("LM", _MONTHS, NUMBERS["month"]),
    **numbers("y", (1, 4, 6), NUMBERS["year"]),
    "yy": number(2, NUMBERS["year of century"]),
    "G": text(lambda _, locale: locale.eras[-1].short),
    "GG": text(lambda _, locale: locale.eras[-1].name),
    "GGGGG": text(lambda _, __: "A"),
    "kk": number(2, lambda at, _: at.isocalendar().year % 100),
    "kkkk": number(4, lambda at, _: at.isocalendar().year),
    **numbers("o", (1, 3), NUMBERS["day of year"]),
    **numbers("q", (1, 2), NUMBERS["quarter"]),
}


_MONTH_FIELDS = frozenset({"month", "short_month", "long_month", "quarter"})
_WEEK_FIELDS = frozenset({"week", "weekyear", "weekyear2"})
_DAY_FIELDS = (
    _MONTH_FIELDS | _WEEK_FIELDS | {"year", "year2", "day", "ordinal", "weekday", "weekday_name"}
)
_LAST_YEAR_OF_2000 = 60
"""Years of two digits up to this one are of 2000, others of 1900; moment's is another."""
_READ = read_symbols("luxon")


def read_luxon(text: str, form: str, now: datetime) -> tuple[datetime, bool] | None:
    """Return the local time that a whole text is in this format, and whether it has a time of day.

    None for another text. Units above the first one that is given are those of `now`, those below
    are the first.
    Raises: MixedUnits.
    """
    expression, symbols = _compile(form)
    match = expression.fullmatch(text) if expression else None
    if match is None:
        return None
    fields: dict[str, str] = {}
    for symbol, written in zip(symbols, match.groups(), strict=False):
        fields.setdefault(_READ[symbol][0], written)
    fields.pop("", None)
    try:
        return _resolve(fields, now), not fields.keys() <= _DAY_FIELDS
    except MixedUnits:
        raise
    except (ValueError, OverflowError):  # no day of the calendar
        return None


@lru_cache(maxsize=64)
def _compile(form: str) -> tuple[re.Pattern[str] | None, tuple[str, ...]]:
    parts = _expand(form, to_read=True)
    return formats.compile_format(
        parts, lambda symbol: _READ[symbol][1], flags=re.IGNORECASE | re.ASCII
    )


def _resolve(fields: Mapping[str, str], now: datetime) -> datetime:
    """Return the local time that fields name.

    Raises: ValueError for what is no day of the calendar, or another day of the week.
    """
    at = _resolve_day(fields, now)
    if at.isoweekday() != _weekday(fields, at) or not fields.keys() - {"meridiem"}:
        raise ValueError
    is_given = bool(fields.keys() & _DAY_FIELDS)
    parts: dict[str, int] = {}
    for unit in ("hour", "minute", "second"):
        is_given = is_given or unit in fields
        parts[unit] = int(fields.get(unit, "0")) if is_given else getattr(now, unit)
    if "hour" in fields and "meridiem" in fields and parts["hour"] <= 12:
        parts["hour"] = parts["hour"] % 12 + 12 * (fields["meridiem"].upper() == "PM")
    fraction = int(float(f"0.{fields.get('fraction', '0')}") * 1000)
    microsecond = int(fields.get("milli", fraction)) * 1000
    clock_time = time(parts["hour"], parts["minute"], parts["second"], microsecond)
    at = datetime.combine(at.date(), clock_time)
    written = fields.get("zone") or fields.get("offset")
    if not written:
        return clock.on_the_clock(at)
    zone = clock.read_zone(written)
    if zone is None:
        raise ValueError
    return clock.to_local_time(clock.instant(at.replace(tzinfo=zone)))


def _weekday(fields: Mapping[str, str], default: datetime) -> int:
    """Return the number of the weekday that is named, else that of `default`; 1 is Monday."""
    if "weekday_name" in fields:
        short = fields["weekday_name"][:3].capitalize()
        return next(number for number, name in enumerate(_DAYS, 1) if name.startswith(short))
    return int(fields.get("weekday", default.isoweekday()))


def _resolve_day(fields: Mapping[str, str], now: datetime) -> datetime:
    """Return the midnight of the day.

    Raises: MixedUnits for days that are named in two ways, as the plugin does.
    """
    has_year = bool(fields.keys() & {"year", "year2"})
    has_month = bool(fields.keys() & _MONTH_FIELDS)
    has_day, has_ordinal = "day" in fields, "ordinal" in fields
    if fields.keys() & _WEEK_FIELDS:
        if has_year or has_month or has_day or has_ordinal:
            raise MixedUnits("Can't mix weekYear/weekNumber units with year/month/day or ordinals")
        return _resolve_week(fields, now)
    year = _year(fields, "year", "year2", now)
    if has_ordinal:
        if has_month or has_day:
            raise MixedUnits("Can't mix ordinal dates with month/day")
        first = datetime(year, 1, 1)  # noqa: DTZ001 - local
        day = first + timedelta(days=int(fields["ordinal"]) - 1)
        if day.year != year:
            raise ValueError
        return day
    if not (has_year or has_month or has_day):
        calendar = now.isocalendar()
        return datetime.fromisocalendar(calendar.year, calendar.week, _weekday(fields, now))
    month = _month(fields, 1 if has_year else now.month)
    return datetime(year, month, int(fields.get("day", "1")))  # noqa: DTZ001 - local


def _resolve_week(fields: Mapping[str, str], now: datetime) -> datetime:
    year = _year(fields, "weekyear", "weekyear2", now)
    has_year = bool(fields.keys() & {"weekyear", "weekyear2"})
    week = int(fields.get("week", "1" if has_year else now.isocalendar().week))
    monday = datetime.min  # noqa: DTZ901
    return datetime.fromisocalendar(year, week, _weekday(fields, monday))


def _month(fields: Mapping[str, str], default: int) -> int:
    name = fields.get("short_month", fields.get("long_month", "")).lower()
    if name:
        return next(
            number for number, whole in enumerate(_MONTHS, 1) if whole.lower().startswith(name)
        )
    if "quarter" in fields:
        return int(fields["quarter"]) * 3 - 2
    return int(fields["month"]) if "month" in fields else default


def _year(fields: Mapping[str, str], whole: str, short: str, now: datetime) -> int:
    if whole in fields:
        return int(fields[whole])
    if short not in fields:
        return now.isocalendar().year if whole == "weekyear" else now.year
    year = int(fields[short])
    return year if year > 99 else year + (1900 if year > _LAST_YEAR_OF_2000 else 2000)
