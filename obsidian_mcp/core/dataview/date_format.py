"""Dates in Luxon's formats, in English: written and read (specs/dataview.md, DV-76, DV-77).

Not Moment's formats: the year is `yyyy`, the day `dd`; Moment's `YYYY` stays as it is and its `DD` writes a date.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from obsidian_mcp.core.calendar import zones
from obsidian_mcp.core.calendar.day_words import MONTHS, WEEKDAYS
from obsidian_mcp.core.dataview.durations import shift_to
from obsidian_mcp.core.expressions.dates import Date, Duration, from_milliseconds
from obsidian_mcp.core.expressions.javascript import number_text
from obsidian_mcp.core.expressions.values import ExpressionError

_MONTHS = tuple(map(str.capitalize, MONTHS))
_DAYS = tuple(map(str.capitalize, WEEKDAYS))
_MINUTES = timedelta(minutes=1)
_MACROS = {
    "D": "M/d/y", "DD": "LLL d, y", "DDD": "LLLL d, y", "DDDD": "cccc, LLLL d, y",
    "t": "h:mm a", "tt": "h:mm:ss a", "ttt": "h:mm:ss a ZZZZ", "tttt": "h:mm:ss a ZZZZZ",
    "T": "HH:mm", "TT": "HH:mm:ss", "TTT": "HH:mm:ss ZZZZ", "TTTT": "HH:mm:ss ZZZZZ",
    "f": "M/d/y, h:mm a", "ff": "LLL d, y, h:mm a", "fff": "LLLL d, y 'at' h:mm a ZZZZ",
    "ffff": "cccc, LLLL d, y 'at' h:mm a ZZZZZ",
    "F": "M/d/y, h:mm:ss a", "FF": "LLL d, y, h:mm:ss a", "FFF": "LLLL d, y 'at' h:mm:ss a ZZZZ",
    "FFFF": "cccc, LLLL d, y 'at' h:mm:ss a ZZZZZ",
}  # fmt: skip
"""What a format of one of these letters stands for."""


@dataclass(frozen=True, slots=True)
class _Part:
    text: str
    literal: bool


_PART = re.compile(r"'([^']*)(?:'|\Z)|((.)\3*)", re.DOTALL)


@lru_cache(maxsize=256)
def _parts(form: str) -> tuple[_Part, ...]:
    """Runs of one letter, and literal text between `'` (and white space)."""
    found = _PART.findall(form)
    return tuple([_Part(quoted or run, not run or run.isspace()) for quoted, run, _ in found if quoted or run])


# Writing


def format_date(date: Date, form: str) -> str:
    """The date in this format (DV-76). Letters and lengths without a meaning stay."""
    return "".join(part.text if part.literal else _written(date, part.text) for part in _parts(form))


def _written(date: Date, token: str) -> str:
    if token in _MACROS:
        return format_date(date, _MACROS[token])
    return _WRITERS[token](date) if token in _WRITERS else token


def _padded(digits: int, number: Callable[[datetime], int]) -> Callable[[Date], str]:
    def write(date: Date) -> str:
        value = number(date.moment)
        return f"-{-value:0{digits}}" if value < 0 else f"{value:0{digits}}"

    return write


def _shown(write: Callable[[datetime], str]) -> Callable[[Date], str]:
    return lambda date: write(date.moment)


def _millisecond(moment: datetime) -> int:
    return moment.microsecond // 1000


def _numbers(
    letters: str, widths: tuple[int, ...], number: Callable[[datetime], int]
) -> dict[str, Callable[[Date], str]]:
    return {letter * width: _padded(width, number) for letter in letters for width in widths}


def _named(letters: str, names: tuple[str, ...], number: Callable[[datetime], int]) -> dict[str, Callable[[Date], str]]:
    """Writers of a name by its number from 1: short for three letters, whole for four, its initial for five."""
    return {
        letter * width: _shown(lambda moment, length=length: names[number(moment) - 1][:length])  # type: ignore[misc]
        for letter in letters
        for width, length in ((3, 3), (4, None), (5, 1))
    }


def offset_minutes(date: Date) -> int:
    """East of UTC; of a local date by the time zone of the process."""
    return zones.offset(date.moment) // _MINUTES


def _offset(style: str) -> Callable[[Date], str]:
    def write(date: Date) -> str:
        total = offset_minutes(date)
        hours, minutes = divmod(abs(total), 60)
        sign = "-" if total < 0 else "+"
        if style == "narrow":
            return f"{sign}{hours}{f':{minutes}' if minutes else ''}"
        return f"{sign}{hours:02}{':' if style == 'short' else ''}{minutes:02}"

    return write


def _zone(date: Date) -> str:
    """The name of the zone: `UTC`, `UTC+2`, `Europe/Paris`; of a local date what the system calls it."""
    zone = date.moment.tzinfo
    if zone is None:
        return zones.name(date.moment)
    key = getattr(zone, "key", None)
    if key:
        return str(key)
    return f"UTC{_offset('narrow')(date)}" if offset_minutes(date) else "UTC"


_WRITERS: dict[str, Callable[[Date], str]] = {
    **_numbers("S", (1, 3), _millisecond),
    "u": _padded(3, _millisecond),
    "uu": _padded(2, lambda m: _millisecond(m) // 10),
    "uuu": _padded(1, lambda moment: _millisecond(moment) // 100),
    **_numbers("s", (1, 2), lambda moment: moment.second),
    **_numbers("m", (1, 2), lambda moment: moment.minute),
    **_numbers("h", (1, 2), lambda moment: moment.hour % 12 or 12),
    **_numbers("H", (1, 2), lambda moment: moment.hour),
    "Z": _offset("narrow"),
    "ZZ": _offset("short"),
    "ZZZ": _offset("techie"),
    "ZZZZ": _zone,
    "ZZZZZ": _zone,
    "z": _zone,
    "a": _shown(lambda moment: "AM" if moment.hour < 12 else "PM"),
    **_numbers("d", (1, 2), lambda moment: moment.day),
    **_numbers("cE", (1,), datetime.isoweekday),
    **_named("cE", _DAYS, datetime.isoweekday),
    **_numbers("LM", (1, 2), lambda moment: moment.month),
    **_named("LM", _MONTHS, lambda moment: moment.month),
    **_numbers("y", (1, 4, 6), lambda moment: moment.year),
    "yy": _padded(2, lambda moment: moment.year % 100),
    "G": lambda _: "AD",
    "GG": lambda _: "Anno Domini",
    "GGGGG": lambda _: "A",
    "kk": _padded(2, lambda moment: moment.isocalendar().year % 100),
    "kkkk": _padded(4, lambda moment: moment.isocalendar().year),
    **_numbers("W", (1, 2), lambda moment: moment.isocalendar().week),
    **_numbers("o", (1, 3), lambda moment: moment.timetuple().tm_yday),
    **_numbers("q", (1, 2), lambda moment: (moment.month + 2) // 3),
    "X": lambda date: number_text(float(date.milliseconds // 1000)),
    "x": lambda date: number_text(float(date.milliseconds)),
}

_DURATION_LETTERS = {
    "y": "years", "M": "months", "w": "weeks", "d": "days",
    "h": "hours", "m": "minutes", "s": "seconds", "S": "milliseconds",
}  # fmt: skip


def format_duration(duration: Duration, form: str) -> str:
    """The duration spread over the units that the format names, the smallest one cut (DV-78)."""
    parts = _parts(form)
    units = [
        _DURATION_LETTERS[part.text[0]] for part in parts if not part.literal and part.text[0] in _DURATION_LETTERS
    ]
    spread = shift_to(duration, units) if units else duration
    written = []
    for part in parts:
        unit = None if part.literal else _DURATION_LETTERS.get(part.text[0])
        if unit is None:
            written.append(part.text)
            continue
        amount = getattr(spread, unit)
        whole = number_text(abs(float(amount // 1)))
        written.append(("-" if amount < 0 else "") + whole.rjust(len(part.text), "0"))
    return "".join(written)


# Reading

_MONTH_PARTS = frozenset({"month", "short_month", "long_month", "quarter"})
_WEEK_PARTS = frozenset({"week", "weekyear", "weekyear2"})
_DAY_PARTS = _MONTH_PARTS | _WEEK_PARTS | {"year", "year2", "day", "ordinal", "weekday", "weekday_name"}
_TWO_DIGITS_ARE_2000_UNTIL = 60
_READ = {
    "y": r"(?P<year>\d{1,6})", "yy": r"(?P<year2>\d{2,4})", "yyyy": r"(?P<year>\d{4})", "yyyyy": r"(?P<year>\d{4,6})",
    "yyyyyy": r"(?P<year>\d{6})", "M": r"(?P<month>\d{1,2})", "MM": r"(?P<month>\d{2})", "L": r"(?P<month>\d{1,2})",
    "LL": r"(?P<month>\d{2})", "d": r"(?P<day>\d{1,2})", "dd": r"(?P<day>\d{2})", "o": r"(?P<ordinal>\d{1,3})",
    "ooo": r"(?P<ordinal>\d{3})", "HH": r"(?P<hour>\d{2})", "H": r"(?P<hour>\d{1,2})", "hh": r"(?P<hour>\d{2})",
    "h": r"(?P<hour>\d{1,2})", "mm": r"(?P<minute>\d{2})", "m": r"(?P<minute>\d{1,2})", "s": r"(?P<second>\d{1,2})",
    "ss": r"(?P<second>\d{2})", "S": r"(?P<milli>\d{1,3})", "SSS": r"(?P<milli>\d{3})", "u": r"(?P<fraction>\d{1,9})",
    "uu": r"(?P<fraction>\d{1,2})", "uuu": r"(?P<fraction>\d)", "q": r"(?P<quarter>\d)", "W": r"(?P<week>\d{1,2})",
    "WW": r"(?P<week>\d{2})", "kkkk": r"(?P<weekyear>\d{4})", "kk": r"(?P<weekyear2>\d{2,4})",
    "E": r"(?P<weekday>\d)", "c": r"(?P<weekday>\d)", "a": r"(?P<meridiem>[AaPp][Mm])", "G": r"(?:AD|BC)",
    "Z": r"(?P<offset>[+-]\d{1,2}(?::\d{2})?)", "ZZ": r"(?P<offset>[+-]\d{1,2}(?::\d{2})?)",
    "ZZZ": r"(?P<offset>[+-]\d{1,2}(?:\d{2})?)", "z": r"(?P<zone>[A-Za-z_+-]{1,256}(?:/[A-Za-z_+-]{1,256}){0,2})",
    "MMM": r"(?P<short_month>{short})", "LLL": r"(?P<short_month>{short})", "MMMM": r"(?P<long_month>{long})",
    "LLLL": r"(?P<long_month>{long})", "EEE": r"(?P<weekday_name>{short_days})",
    "ccc": r"(?P<weekday_name>{short_days})", "EEEE": r"(?P<weekday_name>{days})", "cccc": r"(?P<weekday_name>{days})",
}  # fmt: skip
_NAMES = {
    "{short}": "|".join(name[:3] for name in _MONTHS),
    "{long}": "|".join(_MONTHS),
    "{short_days}": "|".join(name[:3] for name in _DAYS),
    "{days}": "|".join(_DAYS),
}


def parse_date_as(text: str, form: str, now: datetime) -> Date:
    """The date that the whole text is in this format (DV-77).

    Units above the first one that is given are those of `now`, those below are the first. Raises: ExpressionError.
    """
    found = _pattern(form).fullmatch(text)
    try:
        if found is not None:
            return _date({name: value for name, value in found.groupdict().items() if value is not None}, now)
    except (ValueError, OverflowError, KeyError):  # no day of the calendar
        pass
    raise ExpressionError(f"Can't handle format ({form}) on date string ({text})")


@lru_cache(maxsize=64)
def _pattern(form: str) -> re.Pattern[str]:
    source, used = "", set()
    for part in _parts(form):
        for piece in (
            _parts(_MACROS[part.text].replace("y", "yyyyy")) if not part.literal and part.text in _MACROS else (part,)
        ):
            read = None if piece.literal else _READ.get(piece.text)
            for placeholder, names in _NAMES.items():
                read = read.replace(placeholder, names) if read else read
            name = re.match(r"\(\?P<(\w+)>", read or "")
            if name and name[1] in used:
                read = (read or "").replace(name[0], "(?:")
            elif name:
                used.add(name[1])
            source += read or re.escape(piece.text)
    return re.compile(source, re.IGNORECASE | re.ASCII)


def _date(parts: dict[str, str], now: datetime) -> Date:
    """Raises: ValueError for what is no day of the calendar, or another day of the week."""
    moment = _day(parts, now)
    if moment.isoweekday() != _weekday(parts, moment):
        raise ValueError
    given = bool(parts.keys() & _DAY_PARTS)
    clock: list[int] = []
    for unit in ("hour", "minute", "second"):
        given = given or unit in parts
        clock.append(int(parts.get(unit, "0")) if given else getattr(now, unit))
    hour, minute, second = clock
    moment = moment.replace(hour=hour, minute=minute, second=second)
    if not parts.keys() - {"meridiem"}:
        raise ValueError
    if "hour" in parts and "meridiem" in parts:
        if parts["meridiem"].upper() == "PM":
            moment = moment.replace(hour=moment.hour + 12 if moment.hour < 12 else moment.hour)
        elif moment.hour == 12:
            moment = moment.replace(hour=0)
    fraction = int(float(f"0.{parts.get('fraction', '0')}") * 1000)
    moment = moment.replace(microsecond=int(parts.get("milli", fraction)) * 1000)
    written = parts.get("zone") or parts.get("offset")
    if not written:
        return Date(zones.on_the_clock(moment), has_time=not parts.keys() <= _DAY_PARTS)
    zone = zones.read_zone(written)
    if zone is None:
        raise ValueError
    return from_milliseconds(Date(moment.replace(tzinfo=zone)).milliseconds)


def _weekday(parts: dict[str, str], default: datetime) -> int:
    """1 is Monday."""
    if "weekday_name" in parts:
        short = parts["weekday_name"][:3].capitalize()
        return next(number for number, name in enumerate(_DAYS, 1) if name.startswith(short))
    return int(parts.get("weekday", default.isoweekday()))


def _day(parts: dict[str, str], now: datetime) -> datetime:
    """Midnight of the day. Raises: ExpressionError for days named in two ways, as the plugin does."""
    has_year, has_month = bool(parts.keys() & {"year", "year2"}), bool(parts.keys() & _MONTH_PARTS)
    has_day, has_ordinal = "day" in parts, "ordinal" in parts
    if parts.keys() & _WEEK_PARTS:
        if has_year or has_month or has_day or has_ordinal:
            raise ExpressionError("Can't mix weekYear/weekNumber units with year/month/day or ordinals")
        week_year = _year(parts, "weekyear", "weekyear2", now)
        week = int(parts.get("week", "1" if parts.keys() & {"weekyear", "weekyear2"} else now.isocalendar().week))
        return datetime.fromisocalendar(week_year, week, _weekday(parts, datetime.min))  # noqa: DTZ901 - a Monday
    year = _year(parts, "year", "year2", now)
    if has_ordinal:
        if has_month or has_day:
            raise ExpressionError("Can't mix ordinal dates with month/day")
        found = datetime(year, 1, 1) + timedelta(days=int(parts["ordinal"]) - 1)  # noqa: DTZ001 - local
        if found.year != year:
            raise ValueError
        return found
    if not (has_year or has_month or has_day):
        calendar = now.isocalendar()
        return datetime.fromisocalendar(calendar.year, calendar.week, _weekday(parts, now))
    month = int(parts["month"]) if "month" in parts else 1 if has_year else now.month
    if "short_month" in parts or "long_month" in parts:
        name = parts.get("short_month", parts.get("long_month", "")).lower()
        month = next(number for number, whole in enumerate(_MONTHS, 1) if whole.lower().startswith(name))
    elif "quarter" in parts:
        month = int(parts["quarter"]) * 3 - 2
    return datetime(year, month, int(parts.get("day", "1")))  # noqa: DTZ001 - local


def _year(parts: dict[str, str], whole: str, short: str, now: datetime) -> int:
    if whole in parts:
        return int(parts[whole])
    if short not in parts:
        return now.isocalendar().year if whole == "weekyear" else now.year
    year = int(parts[short])
    return year if year > 99 else year + (1900 if year > _TWO_DIGITS_ARE_2000_UNTIL else 2000)
