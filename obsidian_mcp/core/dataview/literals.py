"""Values written in text: dates, durations, links, and the values of fields (DV-06 to DV-11).

A function `match_…` reads a value at a place of a text and returns it with the place where it ends;
`parse_…` reads a whole text.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta
from functools import partial

import regex

from obsidian_mcp.core.calendar import luxon
from obsidian_mcp.core.calendar.clock import on_the_clock, read_zone, shift
from obsidian_mcp.core.calendar.locale import ENGLISH
from obsidian_mcp.core.calendar.periods import PERIODS, SHIFT_UNITS, Period, start_of
from obsidian_mcp.core.dataview.characters import LINK_TEXT, NUMBER, SPACE, TAG, linkable_heading
from obsidian_mcp.core.dataview.durations import normalize
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.expressions.values import ExpressionError, LinkValue, Value, from_json

LONGEST_INTEGER = 300
"""Whole numbers of this many characters, or more, are read as JavaScript reads them.

They are infinite where they are too large; Python's own integers are not, and take long to read.
"""


_DATE = regex.compile(
    r"(\d{4})-(\d{2})(?:-(\d{2})(?:T(\d{2})(?::(\d{2})(?::(\d{2})(?:\.(\d{3}))?"
    r"([+-]\d{1,2}(?::\d{2})?|Z|\[[0-9A-Za-z+-/]+\])?)?)?)?)?",
    regex.ASCII,
)
_DAY_WORD = regex.compile(
    "now|today|yesterday|tomorrow"
    "|start-of-(?:week|month|year)|end-of-(?:week|month|year)|[se]o[wmy]"
)
_UNITS = {
    "years": "years year yrs yr",
    "months": "months month mos mo",
    "weeks": "weeks week wks wk w",
    "days": "days day d",
    "hours": "hours hour hrs hr h",
    "minutes": "minutes minute mins min m",
    "seconds": "seconds second secs sec s",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_AMOUNT = rf"({NUMBER}){SPACE}*({'|'.join(sorted(_UNIT_OF, key=len, reverse=True))})"
_FIRST_AMOUNT = regex.compile(_AMOUNT)
_NEXT_AMOUNT = regex.compile(rf"(?:{SPACE}*,{SPACE}*|{SPACE}*){_AMOUNT}")
_PIPE = regex.compile(r"(?<!\\)\|")
_ITEM = regex.compile(
    rf'(?P<text>"(?:[^"\\]|\\.)*+")|(?P<tag>{TAG})|(?P<link>!?\[\[{LINK_TEXT}\]\])'
    rf"|(?P<word>true|false|True|False)|(?P<number>{NUMBER})|(?P<null>null)",
    regex.DOTALL,
)
_COMMA = regex.compile(rf"{SPACE}*,{SPACE}*")
_ESCAPE = regex.compile(r'\\(["\\])')


def match_date(text: str, at: int = 0) -> tuple[Date, int] | None:
    """Return the date that begins at `at`, and where it ends; None where there is none (DV-07).

    It is `YYYY-MM` with more parts as far as they are written; days, hours and minutes may
    overflow. A zone is kept.
    """
    match = _DATE.match(text, at)
    if match is None:
        return None
    year, month, *parts = (int(part) if part else 0 for part in match.groups()[:7])
    zone = read_zone(match[8]) if match[8] else None
    if not 1 <= month <= 12 or year < 1 or (match[8] and zone is None):
        return None
    day = parts[0] if match[3] else 1
    _, hours, minutes, seconds, milliseconds = parts
    since_first = timedelta(
        days=day - 1, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds
    )
    try:
        # local, or the zone is set below
        moment = datetime(year, month, 1) + since_first  # noqa: DTZ001
    except OverflowError:
        return None
    has_time = bool(match[4])
    moment = moment.replace(tzinfo=zone)
    return Date(on_the_clock(moment) if has_time else moment, has_time=has_time), match.end()


def parse_date(text: str) -> Date | None:
    """Return the date that the whole text is; None for others."""
    if len(text) < len("YYYY-MM") or not text[0].isdigit():
        return None
    located = match_date(text)
    if located is None:
        return None
    date, end = located
    return date if end == len(text) else None


def parse_date_as(text: str, form: str, now: datetime) -> Date:
    """Return the date that the whole text is in one of Luxon's formats (DV-77).

    Units above the first one that is given are those of `now`, those below are the first.
    Raises: ExpressionError.
    """
    try:
        reading = luxon.read_luxon(text, form, now)
    except luxon.MixedUnits as error:
        raise ExpressionError(str(error)) from None
    if reading is None:
        raise ExpressionError(f"Can't handle format ({form}) on date string ({text})")
    moment, has_time = reading
    return Date(moment, has_time=has_time)


def match_day_word(text: str, at: int, now: datetime) -> tuple[Date, int] | None:
    """Return the date of a word such as `today` or `eow` at `at`, and where it ends (DV-37)."""
    match = _DAY_WORD.match(text, at)
    return None if match is None else (_DAYS[match[0]](now), match.end())


def _edge(period: Period, now: datetime, *, is_end: bool) -> Date:
    """Return the first moment of the week, month or year of a time, or the last."""
    first = start_of(period, now.date(), _WEEKS)
    if not is_end:
        return Date(datetime.combine(first, time()))
    following = shift(first, 1, SHIFT_UNITS[period])
    return Date(datetime.combine(following, time()) - timedelta(milliseconds=1))


def _day_from(days: int) -> Callable[[datetime], Date]:
    return lambda now: Date(datetime.combine(now.date() + timedelta(days), time()))


_WEEKS = ENGLISH.with_first_day(1)
_DAYS: dict[str, Callable[[datetime], Date]] = {
    "now": Date,
    "yesterday": _day_from(-1),
    "today": _day_from(0),
    "tomorrow": _day_from(1),
    **{
        word: partial(_edge, period, is_end=side == "end")
        for period in PERIODS
        for side in ("start", "end")
        for word in (f"{side}-of-{period}", f"{side[0]}o{period[0]}")
    },
}


def match_duration(text: str, at: int = 0) -> tuple[Duration, int] | None:
    """Return the duration that begins at `at`, and where it ends; None without one (DV-08)."""
    amount = _FIRST_AMOUNT.match(text, at)
    if amount is None:
        return None
    units: dict[str, float] = {}
    while amount is not None:
        unit = _UNIT_OF[amount[2]]
        units[unit] = units.get(unit, 0.0) + float(amount[1])
        at = amount.end()
        amount = _NEXT_AMOUNT.match(text, at)
    return Duration(**units), at


def parse_duration(text: str) -> Duration | None:
    """Return the duration that the whole text is, its units as written; None for others."""
    if not text[:1].isdigit() and not text.startswith("-"):
        return None
    located = match_duration(text)
    if located is None:
        return None
    duration, end = located
    return duration if end == len(text) else None


def read_link(inner: str, *, embed: bool = False) -> LinkValue:
    """Return the link of what stands between `[[` and `]]` (DV-36).

    The first pipe that is not escaped ends the target.
    """
    target, display = inner, None
    pipe = _PIPE.search(inner)
    if pipe is not None:
        target, display = inner[: pipe.start()], inner[pipe.end() :]
    return link_to(target.replace("\\|", "|"), display, embed=embed)


def link_to(target: str, display: str | None = None, *, embed: bool = False) -> LinkValue:
    """Return the link with this target.

    Its subpath is a block after `#^`, else a heading between the first and the second `#`.
    """
    path, mark, block = target.partition("#^")
    if mark:
        return LinkValue(path, "#^" + block.partition("#^")[0], display, embed)
    path, mark, heading = target.partition("#")
    subpath = "#" + linkable_heading(heading.partition("#")[0]) if mark else ""
    return LinkValue(path, subpath, display, embed)


def parse_link(text: str) -> LinkValue | None:
    """Return the link or embed that the whole text is; None for others."""
    if not text.endswith("]]") or not text.startswith(("[[", "![[")):
        return None
    embed = text[0] == "!"
    inner = text[2 + embed : -2]
    return None if "[" in inner or "]" in inner else read_link(inner, embed=embed)


def inline_value(text: str, *, plain: bool = False) -> Value:
    """Return the value of an inline field with this text (DV-09); None for an empty one.

    With `plain`, dates, durations and links stay texts as they are written, as in a property of the
    frontmatter.
    """
    if not text.strip(SPACES):
        return None
    values: list[Value] = []
    at = 0
    while (item := _match_item(text, at, plain)) is not None:
        value, at = item
        values.append(value)
        if at == len(text):
            return values if values[1:] else value
        comma = _COMMA.match(text, at)
        if comma is None:
            return text
        at = comma.end()
    # `1,` is a list of one, `1, 2,` a text
    return values if at == len(text) and len(values) == 1 else text


def _match_item(text: str, at: int, plain: bool) -> tuple[Value, int] | None:
    """Return one value that is no list, and where it ends.

    The types are tried in the order of DV-09.
    """
    located_date = match_date(text, at)
    if located_date is not None:
        date, end = located_date
        return text[at:end] if plain else date, end
    located_duration = match_duration(text, at)
    if located_duration is not None:
        duration, end = located_duration
        return text[at:end] if plain else normalize(duration), end
    match = _ITEM.match(text, at)
    if match is None:
        return None
    written = match[0]
    value: Value = written
    match match.lastgroup:
        case "text":
            value = _ESCAPE.sub(r"\1", written[1:-1])
        case "link" if not plain:
            value = parse_link(written)
        case "word":
            value = written.lower() == "true"
        case "number":
            is_whole = plain and "." not in written and len(written) < LONGEST_INTEGER
            value = int(written) if is_whole else float(written)
    return value, match.end()


def frontmatter_value(raw: Value) -> Value:
    """Return a value of the YAML as a field has it (DV-11).

    Whole texts that are a date, a duration or a link become one.
    """
    return from_json(raw, _text_value)


def _text_value(text: str) -> Value:
    parsed = (parse(text) for parse in (parse_date, parse_duration, parse_link))
    return next((value for value in parsed if value is not None), text)
