"""How days and periods are written in words; which days that means, `days` says (PERIODIC-9)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)

_NUMBERS = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)

_DAYS_AWAY = {"yesterday": -1, "tomorrow": 1}

_UNITS = {"d": "d", "w": "w", "m": "M", "q": "Q", "y": "y"}

PhraseKind = Literal[
    "day", "moved", "span", "weekday", "period", "week", "month", "named month", "quarter", "year"
]


@dataclass(frozen=True, slots=True)
class DayPhrase:
    """A day or period as it is written. Which members count follows from the kind."""

    kind: PhraseKind
    is_loose: bool
    """Whether the queries of the Tasks plugin do not take it."""
    year: int | None = None
    month: int = 1
    day: int = 1
    number: int = 0
    """Of a week, a quarter, or a weekday from Monday, which is 0."""
    amount: int = 0
    unit: str = ""
    """As `clock.shift` takes it."""
    which: str = ""
    """`this`, `last`, `next` or nothing."""
    is_signed: bool = False
    """Whether it is written with a sign, as `+1 week` is."""


def read_phrase(text: str) -> DayPhrase | None:
    """Return what a text names in any case, None where it is not wholly of a known form."""
    plain = " ".join(text.lower().split())
    for pattern, kind, is_loose in _FORMS:
        match = pattern.fullmatch(plain)
        if match:
            return _phrase(kind, is_loose, {"word": plain, **match.groupdict()})
    return None


def _phrase(kind: PhraseKind, is_loose: bool, parts: dict[str, str | None]) -> DayPhrase:
    """Return the phrase of the groups that an expression has matched.

    An expression lacks the groups that its kind does not need, so each has a default.
    """
    word, month, number, count = (
        parts.get(name) or "" for name in ("word", "month", "number", "count")
    )
    year, unit, weekday = parts.get("year"), parts.get("unit") or "", parts.get("weekday")
    amount = _DAYS_AWAY.get(word, 0)
    if count:
        is_past = word.endswith(" ago") or _is_back(word)
        amount = -_read_count(count) if is_past else _read_count(count)
    return DayPhrase(
        kind,
        is_loose,
        year=int(year) if year else None,
        month=_read_month(month),
        day=int(parts.get("day") or 1),
        number=_index_of(weekday, WEEKDAYS) if weekday else int(number or 0),
        amount=amount,
        unit=_UNITS[unit[:1] or "d"],
        which=parts.get("which") or "",
        is_signed=word[:1] in ("+", "-"),
    )


def _read_count(count: str) -> int:
    """Return a number in digits or words; `a` and `past` are 1."""
    if count.isdigit():
        return int(count)
    return _NUMBERS.index(count) + 1 if count in _NUMBERS else 1


def _read_month(month: str) -> int:
    """Return the number of a month that is written as a number or a name; January without one."""
    if month.isdigit():
        return int(month)
    return _index_of(month, MONTHS) + 1 if month else 1


def _index_of(name: str, names: tuple[str, ...]) -> int:
    """Return the place of a name that may be written by its first three letters."""
    return [whole[:3] for whole in names].index(name[:3])


_is_back = re.compile(r"-|.*\b(?:last|past) ").match

_YEAR, _DAY = r"(?P<year>[0-9]{4})", r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"

_WHICH = "(?P<which>this|last|next)"

_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|{'|'.join(name[:3] for name in MONTHS)})"

_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)}|{'|'.join(name[:3] for name in WEEKDAYS)})"

_COUNT = rf"(?P<count>[0-9]{{1,4}}|an?|{'|'.join(_NUMBERS)}) "

_LONG_UNIT = "(?P<unit>day|week|month|quarter|year)"
_EXPRESSIONS: list[tuple[str, PhraseKind, bool]] = [
    ("today|yesterday|tomorrow", "moved", False),
    ("now", "moved", True),
    (rf"{_YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})", "day", False),
    (
        rf"{_YEAR}(?P<separator>/?)(?P<month>[0-9]{{2}})(?P=separator)(?P<day>[0-9]{{2}})",
        "day",
        True,
    ),
    (rf"(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.{_YEAR}", "day", True),
    (rf"{_DAY} {_MONTH}(?:,? {_YEAR})?", "day", False),
    (rf"{_MONTH} {_DAY}(?:,? {_YEAR})?", "day", False),
    (rf"in {_COUNT}(?P<unit>day|week|month|year)s?", "moved", False),
    (rf"{_COUNT}(?P<unit>day|week|month|year)s? ago", "moved", False),
    (rf"in {_COUNT}(?P<unit>quarter)s?", "moved", True),
    (rf"{_COUNT}(?P<unit>quarter)s? ago", "moved", True),
    (
        r"[-+](?P<count>[0-9]{1,5}) ?(?P<unit>[dwmqy]|(?:day|week|month|quarter|year)(?=s?$))s?",
        "moved",
        True,
    ),
    (
        rf"(?:(?:in|within) )?(?:the )?(?:last|past|next) {_COUNT}{_LONG_UNIT}s?",
        "span",
        True,
    ),
    (
        rf"(?:(?:in|within) )?(?:the )?(?P<count>past) {_LONG_UNIT}",
        "span",
        True,
    ),
    (rf"(?:{_WHICH} )?{_WEEKDAY}", "weekday", False),
    (rf"{_WHICH} (?P<unit>week|month|quarter|year)", "period", False),
    (rf"{_YEAR}-w(?P<number>[0-9]{{2}})", "week", False),
    (rf"(?:{_YEAR}-?w|w|week )(?P<number>[0-9]{{1,2}})", "week", True),
    (rf"{_YEAR}-(?P<month>[0-9]{{2}})", "month", False),
    (rf"{_MONTH},? {_YEAR}", "named month", False),
    (f"(?P<month>{'|'.join(MONTHS)})", "named month", False),
    (_MONTH, "named month", True),
    (rf"{_YEAR}-q(?P<number>[1-4])", "quarter", False),
    (rf"(?:{_YEAR}-?)?q(?P<number>[1-4])", "quarter", True),
    (_YEAR, "year", False),
]

_FORMS = [(re.compile(expression), kind, is_loose) for expression, kind, is_loose in _EXPRESSIONS]
