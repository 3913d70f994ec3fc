"""How days and periods are written in English. Which days that means, `days` says (PERIODIC-9, TASK-80)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DAYS_AWAY = {"yesterday": -1, "tomorrow": 1}
_UNITS = {"d": "d", "w": "w", "m": "M", "q": "Q", "y": "y"}

Kind = Literal["day", "moved", "span", "weekday", "period", "week", "month", "named month", "quarter", "year"]


@dataclass(frozen=True, slots=True)
class DayPhrase:
    """A day or period as it is written. Which members count follows from the kind."""

    kind: Kind
    is_loose: bool
    """Whether the queries of the Tasks plugin do not take it."""
    year: int | None = None
    month: int = 1
    day: int = 1
    number: int = 0
    """Of a week, a quarter, or a weekday from Monday, which is 0."""
    count: int = 0
    unit: str = ""
    """As `clock.shift` takes it."""
    which: str = ""
    """`this`, `last`, `next` or nothing."""
    is_signed: bool = False
    """Written with `+` or `-`."""


def read(text: str) -> DayPhrase | None:
    """Return what a text names in any case, None where it is not wholly of a known form."""
    plain = " ".join(text.lower().split())
    for pattern, kind, is_loose in _FORMS:
        if found := pattern.fullmatch(plain):
            return _phrase(kind, is_loose, {"word": plain, **found.groupdict()})
    return None


def _phrase(kind: Kind, is_loose: bool, parts: dict[str, str | None]) -> DayPhrase:
    word, month, number, count = (parts.get(name) or "" for name in ("word", "month", "number", "count"))
    year, unit, weekday = parts.get("year"), parts.get("unit") or "", parts.get("weekday")
    amount = _DAYS_AWAY.get(word, 0)
    if count:
        amount = int(count) if count.isdigit() else _NUMBERS.index(count) + 1 if count in _NUMBERS else 1
        amount = -amount if word.endswith(" ago") or _is_back(word) else amount
    return DayPhrase(
        kind,
        is_loose,
        int(year) if year else None,
        int(month) if month.isdigit() else [name[:3] for name in MONTHS].index(month[:3]) + 1 if month else 1,
        int(parts.get("day") or 1),
        [name[:3] for name in WEEKDAYS].index(weekday[:3]) if weekday else int(number or 0),
        amount,
        _UNITS[unit[:1] or "d"],
        parts.get("which") or "",
        word[:1] in ("+", "-"),
    )


_is_back = re.compile(r"-|.*\b(?:last|past) ").match
_YEAR, _DAY = r"(?P<year>[0-9]{4})", r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_WHICH = "(?P<which>this|last|next)"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|{'|'.join(name[:3] for name in MONTHS)})"
_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)}|{'|'.join(name[:3] for name in WEEKDAYS)})"
_COUNT = rf"(?P<count>[0-9]{{1,4}}|an?|{'|'.join(_NUMBERS)}) "
_EXPRESSIONS: list[tuple[str, Kind, bool]] = [
    ("today|yesterday|tomorrow", "moved", False),
    ("now", "moved", True),
    (rf"{_YEAR}-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}})", "day", False),
    (rf"{_YEAR}(?P<separator>/?)(?P<month>[0-9]{{2}})(?P=separator)(?P<day>[0-9]{{2}})", "day", True),
    (rf"(?P<day>[0-9]{{1,2}})\.(?P<month>[0-9]{{1,2}})\.{_YEAR}", "day", True),
    (rf"{_DAY} {_MONTH}(?:,? {_YEAR})?", "day", False),
    (rf"{_MONTH} {_DAY}(?:,? {_YEAR})?", "day", False),
    (rf"in {_COUNT}(?P<unit>day|week|month|year)s?", "moved", False),
    (rf"{_COUNT}(?P<unit>day|week|month|year)s? ago", "moved", False),
    (rf"in {_COUNT}(?P<unit>quarter)s?", "moved", True),
    (rf"{_COUNT}(?P<unit>quarter)s? ago", "moved", True),
    (r"[-+](?P<count>[0-9]{1,5}) ?(?P<unit>[dwmqy]|(?:day|week|month|quarter|year)(?=s?$))s?", "moved", True),
    (
        rf"(?:(?:in|within) )?(?:the )?(?:last|past|next) {_COUNT}(?P<unit>day|week|month|quarter|year)s?",
        "span",
        True,
    ),
    (r"(?:(?:in|within) )?(?:the )?(?P<count>past) (?P<unit>day|week|month|quarter|year)", "span", True),
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
