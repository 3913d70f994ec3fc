"""The rules of recurring tasks, and their English text read (TASK-50).

The grammar is that of rrule.js, which the plugin uses: it takes more than it writes, and ignores
what follows the part that it understands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from obsidian_mcp.core.calendar import day_phrase
from obsidian_mcp.core.text.table_file import read_rows

from .digits import read_digits

Frequency = Literal["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"]

WEEKDAYS = tuple(map(str.capitalize, day_phrase.WEEKDAYS))
MONTHS = tuple(map(str.capitalize, day_phrase.MONTHS))
WORKING_DAYS = range(5)

_is_rule = re.compile(r"([a-zA-Z0-9, !]+?)( when done)?", re.IGNORECASE).fullmatch
FREQUENCIES: dict[str, Frequency] = {
    "day": "DAILY",
    "weekday": "WEEKLY",
    "week": "WEEKLY",
    "hour": "HOURLY",
    "minute": "MINUTELY",
    "month": "MONTHLY",
    "year": "YEARLY",
}
_MAX_NTH = 366
"""The highest ordinal: no day, week or weekday of a year has a higher one."""
_MAX_COUNT = 1_000_000
"""Occurrences of a rule that ends; more are not worth counting."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as RFC 5545 knows it. Lists keep the order in which they were written."""

    frequency: Frequency
    interval: int = 1
    weekdays: tuple[tuple[int, int], ...] = ()
    """Weekday from Monday = 0, and which one of the month or year: 1 the first, -1 the last, 0 all
    of them."""
    month_days: tuple[int, ...] = ()
    """-1 is the last day."""
    months: tuple[int, ...] = ()
    weeks: tuple[int, ...] = ()
    """ISO weeks of the year."""
    hours: tuple[int, ...] = ()
    count: int | None = None
    until: date | None = None
    when_done: bool = False
    """Whether the next date counts from the day of completion."""
    is_complete: bool = True
    """False: words at the end were not understood and are ignored."""


@lru_cache(maxsize=1024)
def parse_rule(text: str) -> Rule | None:
    """Return the rule in a text such as `every 2 weeks on Monday when done` (TASK-50).

    None where it cannot be read.
    """
    match = _is_rule(text)
    if match is None:
        return None
    try:
        return _RuleReader(match[1].strip()).read_rule(when_done=match[2] is not None)
    except _UnreadableRule:
        return None


class _UnreadableRule(ValueError):
    """A word that the grammar needs is missing."""


@lru_cache(maxsize=1)
def _matchers() -> dict[str, Callable[[str, int], re.Match[str] | None]]:
    return {
        name: re.compile(source, re.IGNORECASE).match
        for name, source in read_rows(__file__, "rule_words")
    }


class _RuleReader:
    """Reads a rule from left to right; `symbol` is the token at hand, None behind the last one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.symbol: str | None = None
        self._written = ""
        self._weekdays: list[tuple[int, int]] = []
        self._month_days: list[int] = []
        self._months: list[int] = []
        self._weeks: list[int] = []
        self._hours: list[int] = []
        self._count: int | None = None
        self._until: date | None = None
        self._advance()

    def read_rule(self, *, when_done: bool) -> Rule:
        """Read the whole text.

        Raises: _UnreadableRule where a word is missing that the grammar needs.
        """
        if not self._accept("every"):
            raise _UnreadableRule
        interval = self._number() or 1
        frequency = self._frequency()
        self._end()
        return Rule(
            frequency,
            interval,
            weekdays=tuple(self._weekdays),
            month_days=tuple(self._month_days),
            months=tuple(self._months),
            weeks=tuple(self._weeks),
            hours=tuple(self._hours),
            count=self._count,
            until=self._until,
            when_done=when_done,
            is_complete=self.symbol is None and self._at >= len(self._text),
        )

    def _advance(self) -> None:
        """Go to the next token: the longest that any of the words matches at this place."""
        self.symbol = None
        while self._at < len(self._text):
            matches = ((name, match(self._text, self._at)) for name, match in _matchers().items())
            name, longest = max(
                ((name, match) for name, match in matches if match is not None),
                key=lambda pair: pair[1].end(),
                default=("", None),
            )
            if longest is None:
                return
            self._at = longest.end()
            if name != "skip":
                self.symbol, self._written = name, longest[0]
                return

    def _accept(self, *symbols: str) -> bool:
        if self.symbol in symbols:
            self._advance()
            return True
        return False

    def _number(self) -> int | None:
        if self.symbol != "number":
            return None
        number = read_digits(self._written)
        self._advance()
        return number

    def _name(self, names: Sequence[str]) -> int | None:
        """Read a name, as its place among those of its kind."""
        if self.symbol not in names:
            return None
        place = names.index(self.symbol)
        self._advance()
        return place

    def _read_several(self, read_item: Callable[[], int | None]) -> list[int]:
        """Read one item, or several with commas between.

        Raises: _UnreadableRule where none follows a comma.
        """
        items: list[int] = []
        while not items or self._accept("comma"):
            item = read_item()
            if item is None:
                raise _UnreadableRule
            items.append(item)
        return items

    def _read_ordinal(self) -> int | None:
        """Read an ordinal: `3rd`, `third last`, `last`.

        Raises: _UnreadableRule above _MAX_NTH.
        """
        if self._accept("last"):
            return -1
        if self._accept("first"):
            return 1
        number = {"second": 2, "third": 3}.get(self.symbol or "")
        if self.symbol == "nth":
            number = read_digits(re.sub("[^0-9]", "", self._written))
            if number > _MAX_NTH:
                raise _UnreadableRule
        if number is None:
            return None
        self._advance()
        return -number if self._accept("last") else number

    def _frequency(self) -> Frequency:
        """Read the unit of the rule with the days that follow it.

        A weekday or a month in place of the unit, as in `every Monday`, is a rule of weeks or
        years.
        """
        unit = self.symbol or ""
        if unit in WEEKDAYS:
            self._weekdays += [(day, 0) for day in self._read_several(lambda: self._name(WEEKDAYS))]
            self._read_hours()
            self._read_days_of_month()
            return "WEEKLY"
        if unit in MONTHS:
            self._months += [month + 1 for month in self._read_several(lambda: self._name(MONTHS))]
            self._on()
            return "YEARLY"
        if unit not in FREQUENCIES:
            raise _UnreadableRule
        self._advance()
        if unit == "weekday":
            self._weekdays += [(day, 0) for day in WORKING_DAYS]
        elif unit != "day":
            self._on()
        if unit in ("day", "weekday", "week"):
            self._read_hours()
        return FREQUENCIES[unit]

    def _on(self) -> None:
        """Read the days behind `on`, `the` or `on the`."""
        has_on = self._accept("on")
        has_the = self._accept("the")
        if not (has_on or has_the):
            return
        while self._read_day_item() and self._accept("comma", "the", "on"):
            pass

    def _read_day_item(self) -> bool:
        """Read one of the days behind `on`; return whether there was one."""
        nth = self._read_ordinal()
        symbol = self.symbol or ""
        if (weekday := self._name(WEEKDAYS)) is not None:
            self._weekdays.append((weekday, nth or 0))
        elif nth is not None:
            self._month_days.append(nth)
            self._accept("day")
        elif symbol == "weekday":
            self._advance()
            if not self._weekdays:
                self._weekdays += [(day, 0) for day in WORKING_DAYS]
        elif symbol == "week":
            self._advance()
            self._weeks[:] = self._read_several(self._number)
        elif (month := self._name(MONTHS)) is not None:
            self._months.append(month + 1)
        else:
            return False
        return True

    def _read_hours(self) -> None:
        while self._accept("at"):
            self._hours[:] = self._read_several(self._number)

    def _read_days_of_month(self) -> None:
        """Read `on the 13th` behind weekdays."""
        self._accept("on")
        self._accept("the")
        nth = self._read_ordinal()
        while nth is not None:
            self._month_days.append(nth)
            self._advance()  # rrule.js skips the word behind a number: it seldom reads a second one
            if not self._accept("comma"):
                return
            nth = self._read_ordinal()
            if nth is None:
                raise _UnreadableRule

    def _end(self) -> None:
        """Read how often, or until which day, the rule holds."""
        if self._accept("for"):
            number = self._number()
            if number is None:
                raise _UnreadableRule
            self._count = min(number, _MAX_COUNT)
            self._accept("time")
        elif self.symbol == "until":
            self._until = _day(self._text[self._at :])
            self._at, self.symbol = len(self._text), None


def _day(text: str) -> date:
    """Return a day such as `January 1, 2027`; June 31 is July 1, as for JavaScript.

    Raises: _UnreadableRule.
    """
    match = re.fullmatch(r" *([a-z]{3,9}) +([0-9]{1,2}),? +([0-9]{4}) *", text, re.IGNORECASE)
    if match is not None and 1 <= int(match[2]) <= 31:
        for month, name in enumerate(MONTHS, 1):
            if name.lower().startswith(match[1].lower()):
                try:
                    return date(int(match[3]), month, 1) + timedelta(int(match[2]) - 1)
                except (ValueError, OverflowError):
                    break
    raise _UnreadableRule
