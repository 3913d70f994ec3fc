"""Values written in text: dates, durations, links, and the values of inline and frontmatter fields (specs/dataview.md,
DV-06 to DV-12); the plugin's classes of characters, for `regex`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta
from functools import lru_cache, partial

import regex

from obsidian_mcp.core.calendar import luxon
from obsidian_mcp.core.calendar.clock import on_the_clock, read_zone, shift
from obsidian_mcp.core.calendar.locale import ENGLISH, PERIODS, SHIFT_UNITS, Period, start_of
from obsidian_mcp.core.dataview.values import normalized
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.expressions.values import (
    Date,
    Duration,
    ExpressionError,
    LinkValue,
    Value,
    from_json,
)

SPACE = r"[\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
"""JavaScript's `\\s`."""
NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
LONGEST_INTEGER = 300
"""From so many characters on, whole numbers are read as JavaScript reads them: infinite where they are too large."""
TAG = (
    r"""#[^\u2000-\u206F\u2E00-\u2E7F'!"#$%&()*+,.:;<=>?@^`{|}~\[\]\\"""
    r"\t-\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]*"
)
"""A tag as the plugin reads it in values, list items and queries."""
_PICTURE = r"(?!\p{ASCII})\p{Emoji}(?:\ufe0f|\p{Emoji_Modifier})?"
EMOJI = (
    r"(?:[0-9#*]\ufe0f?\u20e3|\p{Regional_Indicator}{2}"
    rf"|{_PICTURE}(?:[\U000e0020-\U000e007e]+\U000e007f|(?:\u200d{_PICTURE})*))"
)
"""One emoji: a keycap, a flag, or a picture with its modifiers and joined pictures."""

_CANONICAL = regex.compile(rf"({EMOJI})|([0-9\p{{L}}_-]+)|({SPACE}+)|.", regex.DOTALL)
_HEADING = regex.compile(rf"{EMOJI}|[0-9\p{{L}}_-]+")


@lru_cache(maxsize=4096)
def canonical_name(name: str) -> str:
    """The key under which a field is also found: lower case, hyphens for white space, no sign but emoji (DV-12)."""
    if name.isascii() and name.isalnum():
        return name.lower()
    parts = _CANONICAL.findall(name)
    return "".join(emoji or word.lower() or ("-" if space else "") for emoji, word, space in parts)


def linkable_heading(heading: str) -> str:
    """A heading as it stands in a link: characters other than letters, digits, `_`, `-` and emoji are spaces, which
    are collapsed (DV-36)."""
    at, out = 0, []
    for found in _HEADING.finditer(heading):
        if found.start() > at:
            out.append(" ")
        out.append(found[0])
        at = found.end()
    return "".join(out).strip()


_DATE = regex.compile(
    r"(\d{4})-(\d{2})(?:-(\d{2})(?:T(\d{2})(?::(\d{2})(?::(\d{2})(?:\.(\d{3}))?"
    r"([+-]\d{1,2}(?::\d{2})?|Z|\[[0-9A-Za-z+-/]+\])?)?)?)?)?",
    regex.ASCII,
)
_DAY_WORD = regex.compile(
    "now|today|yesterday|tomorrow|start-of-(?:week|month|year)|end-of-(?:week|month|year)|[se]o[wmy]"
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
    rf'(?P<text>"(?:[^"\\]|\\.)*+")|(?P<tag>{TAG})|(?P<link>!?\[\[[^\[\]]*\]\])'
    rf"|(?P<word>true|false|True|False)|(?P<number>{NUMBER})|(?P<null>null)",
    regex.DOTALL,
)
_COMMA = regex.compile(rf"{SPACE}*,{SPACE}*")
_ESCAPE = regex.compile(r'\\(["\\])')


def match_date(text: str, at: int = 0) -> tuple[Date, int] | None:
    """The date from `YYYY-MM` on at `at`, with its zone, and where it ends; days and times may overflow (DV-07)."""
    found = _DATE.match(text, at)
    if found is None:
        return None
    year, month, *parts = (int(part) if part else 0 for part in found.groups()[:7])
    zone = read_zone(found[8]) if found[8] else None
    if not 1 <= month <= 12 or year < 1 or (found[8] and zone is None):
        return None
    day = parts[0] if found[3] else 1
    try:
        moment = datetime(year, month, 1) + timedelta(  # noqa: DTZ001 - local, or the zone is set below
            days=day - 1, hours=parts[1], minutes=parts[2], seconds=parts[3], milliseconds=parts[4]
        )
    except OverflowError:
        return None
    has_time = bool(found[4])
    moment = moment.replace(tzinfo=zone)
    return Date(on_the_clock(moment) if has_time else moment, has_time=has_time), found.end()


def parse_date(text: str) -> Date | None:
    """The date that the whole text is."""
    if len(text) < 7 or not text[0].isdigit():
        return None
    found = match_date(text)
    return found[0] if found is not None and found[1] == len(text) else None


def parse_date_as(text: str, form: str, now: datetime) -> Date:
    """The date that the whole text is in one of Luxon's formats (DV-77). Raises: ExpressionError."""
    try:
        found = luxon.read(text, form, now)
    except luxon.MixedUnits as error:
        raise ExpressionError(str(error)) from None
    if found is None:
        raise ExpressionError(f"Can't handle format ({form}) on date string ({text})")
    return Date(found[0], has_time=found[1])


def match_day_word(text: str, at: int, now: datetime) -> tuple[Date, int] | None:
    """The date of a word such as `today` or `eow` that begins at `at`, and where it ends (DV-37)."""
    found = _DAY_WORD.match(text, at)
    return None if found is None else (_DAYS[found[0]](now), found.end())


def _edge(period: Period, now: datetime, *, is_end: bool) -> Date:
    """The first moment of the week, month or year of a time, or the last."""
    first = start_of(period, now.date(), _WEEKS)
    if not is_end:
        return Date(datetime.combine(first, time()))
    return Date(
        datetime.combine(shift(first, 1, SHIFT_UNITS[period]), time()) - timedelta(milliseconds=1)
    )


_WEEKS = ENGLISH.starting(1)
_DAYS: dict[str, Callable[[datetime], Date]] = {
    "now": Date,
    **{
        word: lambda now, days=days: Date(datetime.combine(now.date() + timedelta(days), time()))  # type: ignore[misc]
        for word, days in (("yesterday", -1), ("today", 0), ("tomorrow", 1))
    },
    **{
        word: partial(_edge, period, is_end=side == "end")
        for period in PERIODS
        for side in ("start", "end")
        for word in (f"{side}-of-{period}", f"{side[0]}o{period[0]}")
    },
}


def match_duration(text: str, at: int = 0) -> tuple[Duration, int] | None:
    """The duration that begins at `at` and where it ends; None where there is none (DV-08)."""
    found = _FIRST_AMOUNT.match(text, at)
    if found is None:
        return None
    units: dict[str, float] = {}
    while found is not None:
        unit = _UNIT_OF[found[2]]
        units[unit] = units.get(unit, 0.0) + float(found[1])
        at = found.end()
        found = _NEXT_AMOUNT.match(text, at)
    return Duration(**units), at


def parse_duration(text: str) -> Duration | None:
    """The duration that the whole text is, its units as written."""
    if not text[:1].isdigit() and not text.startswith("-"):
        return None
    found = match_duration(text)
    return found[0] if found is not None and found[1] == len(text) else None


def link(inner: str, *, embed: bool = False) -> LinkValue:
    """The link of what stands between `[[` and `]]` (DV-36): the first pipe that is not escaped ends the target."""
    pipe = _PIPE.search(inner)
    target, display = (
        (inner, None) if pipe is None else (inner[: pipe.start()], inner[pipe.end() :])
    )
    return link_to(target.replace("\\|", "|"), display, embed=embed)


def link_to(target: str, display: str | None = None, *, embed: bool = False) -> LinkValue:
    """The link with this target: a block after `#^`, else a heading between the first and the second `#`."""
    path, mark, block = target.partition("#^")
    if mark:
        return LinkValue(path, "#^" + block.partition("#^")[0], display, embed)
    path, mark, rest = target.partition("#")
    subpath = "#" + linkable_heading(rest.partition("#")[0]) if mark else ""
    return LinkValue(path, subpath, display, embed)


def parse_link(text: str) -> LinkValue | None:
    """The link or embed that the whole text is."""
    if not text.endswith("]]") or not text.startswith(("[[", "![[")):
        return None
    embed = text[0] == "!"
    inner = text[2 + embed : -2]
    return None if "[" in inner or "]" in inner else link(inner, embed=embed)


def inline_value(text: str, *, plain: bool = False) -> Value:
    """The value of an inline field (DV-09); None for an empty one. With `plain`, these and links stay texts."""
    if not text.strip(SPACES):
        return None
    values: list[Value] = []
    at = 0
    while (item := _item(text, at, plain)) is not None:
        value, at = item
        values.append(value)
        if at == len(text):
            return values if values[1:] else value
        comma = _COMMA.match(text, at)
        if comma is None:
            return text
        at = comma.end()
    return (
        values if at == len(text) and len(values) == 1 else text
    )  # `1,` is a list of one, `1, 2,` a text


def _item(text: str, at: int, plain: bool) -> tuple[Value, int] | None:
    """One value that is no list and where it ends; the kinds are tried in the order of DV-09."""
    if (date := match_date(text, at)) is not None:
        return (text[at : date[1]], date[1]) if plain else date
    if (duration := match_duration(text, at)) is not None:
        return text[at : duration[1]] if plain else normalized(duration[0]), duration[1]
    found = _ITEM.match(text, at)
    if found is None:
        return None
    written = found[0]
    value: Value = written
    match found.lastgroup:
        case "text":
            value = _ESCAPE.sub(r"\1", written[1:-1])
        case "link" if not plain:
            value = parse_link(written)
        case "word":
            value = written.lower() == "true"
        case "number":
            is_whole = plain and "." not in written and len(written) < LONGEST_INTEGER
            value = int(written) if is_whole else float(written)
    return value, found.end()


def frontmatter_value(raw: Value) -> Value:
    """A value of the YAML as a field has it (DV-11): whole texts that are a date, a duration or a link become one."""
    return from_json(raw, _text_value)


def _text_value(text: str) -> Value:
    parsed = (parse(text) for parse in (parse_date, parse_duration, parse_link))
    return next((value for value in parsed if value is not None), text)
