"""The rules of recurring tasks in English, as rrule.js reads them, passing over what it does not know, and writes them
(TASK-50, TASK-52)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from obsidian_mcp.core.calendar import days as calendar_days
from obsidian_mcp.core.text.table_file import read_rows

Frequency = Literal["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY"]

WEEKDAYS = tuple(map(str.capitalize, calendar_days.WEEKDAYS))
MONTHS = tuple(map(str.capitalize, calendar_days.MONTHS))
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
_MAX_COUNT = 1_000_000


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as RFC 5545 knows it. Lists keep the order in which they were written."""

    frequency: Frequency
    interval: int = 1
    weekdays: tuple[tuple[int, int], ...] = ()
    """Weekday from Monday = 0, and which one of the month or year: 1 the first, -1 the last, 0 all of them."""
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
def parse(text: str) -> Rule | None:
    """Return the rule in a text such as `every 2 weeks on Monday when done`, None where it cannot be read (TASK-50)."""
    match = _is_rule(text)
    if match is None:
        return None
    try:
        return _Reader(match[1].strip()).rule(when_done=match[2] is not None)
    except _Unreadable:
        return None


class _Unreadable(ValueError):
    """A word that the grammar needs is missing."""


@lru_cache(maxsize=1)
def _matchers() -> dict[str, Callable[[str, int], re.Match[str] | None]]:
    return {
        name: re.compile(source, re.IGNORECASE).match
        for name, source in read_rows(__file__, "rule_words")
    }


class _Reader:
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

    def rule(self, *, when_done: bool) -> Rule:
        """Raises: _Unreadable."""
        if not self._accept("every"):
            raise _Unreadable
        interval = self._number() or 1
        frequency = self._frequency()
        self._end()
        return Rule(
            frequency,
            interval,
            tuple(self._weekdays),
            tuple(self._month_days),
            tuple(self._months),
            tuple(self._weeks),
            tuple(self._hours),
            self._count,
            self._until,
            when_done,
            is_complete=self.symbol is None and self._at >= len(self._text),
        )

    def _advance(self) -> None:
        self.symbol = None
        while self._at < len(self._text):
            matches = ((name, match(self._text, self._at)) for name, match in _matchers().items())
            name, found = max(
                ((name, match) for name, match in matches if match is not None),
                key=lambda pair: pair[1].end(),
                default=("", None),
            )
            if found is None:
                return
            self._at = found.end()
            if name != "skip":
                self.symbol, self._written = name, found[0]
                return

    def _accept(self, *symbols: str) -> bool:
        if self.symbol in symbols:
            self._advance()
            return True
        return False

    def _number(self) -> int | None:
        if self.symbol != "number":
            return None
        number = int(self._written[:9])
        self._advance()
        return number

    def _name(self, names: Sequence[str]) -> int | None:
        """The place of a name among those of its kind."""
        if self.symbol not in names:
            return None
        place = names.index(self.symbol)
        self._advance()
        return place

    def _several(self, read: Callable[[], int | None]) -> list[int]:
        """One or several with commas between. Raises: _Unreadable where none follows a comma."""
        found: list[int] = []
        while not found or self._accept("comma"):
            one = read()
            if one is None:
                raise _Unreadable
            found.append(one)
        return found

    def _nth(self) -> int | None:
        """`3rd`, `third last`, `last`. Raises: _Unreadable above _MAX_NTH."""
        if self._accept("last"):
            return -1
        if self._accept("first"):
            return 1
        number = {"second": 2, "third": 3}.get(self.symbol or "")
        if self.symbol == "nth":
            number = int(re.sub("[^0-9]", "", self._written)[:9])
            if number > _MAX_NTH:
                raise _Unreadable
        if number is None:
            return None
        self._advance()
        return -number if self._accept("last") else number

    def _frequency(self) -> Frequency:
        unit = self.symbol or ""
        if unit in WEEKDAYS:
            self._weekdays += [(day, 0) for day in self._several(lambda: self._name(WEEKDAYS))]
            self._at_hours()
            self._days_of_month()
            return "WEEKLY"
        if unit in MONTHS:
            self._months += [month + 1 for month in self._several(lambda: self._name(MONTHS))]
            self._on()
            return "YEARLY"
        if unit not in FREQUENCIES:
            raise _Unreadable
        self._advance()
        if unit == "weekday":
            self._weekdays += [(day, 0) for day in WORKING_DAYS]
        elif unit != "day":
            self._on()
        if unit in ("day", "weekday", "week"):
            self._at_hours()
        return FREQUENCIES[unit]

    def _on(self) -> None:
        on = self._accept("on")
        if not self._accept("the") and not on:
            return
        while self._day_item() and self._accept("comma", "the", "on"):
            pass

    def _day_item(self) -> bool:
        nth = self._nth()
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
            self._weeks[:] = self._several(self._number)
        elif (month := self._name(MONTHS)) is not None:
            self._months.append(month + 1)
        else:
            return False
        return True

    def _at_hours(self) -> None:
        while self._accept("at"):
            self._hours[:] = self._several(self._number)

    def _days_of_month(self) -> None:
        """`on the 13th` behind weekdays."""
        self._accept("on")
        self._accept("the")
        nth = self._nth()
        while nth is not None:
            self._month_days.append(nth)
            self._advance()  # rrule.js skips the word behind the number, and so seldom reads a second one
            if not self._accept("comma"):
                return
            nth = self._nth()
            if nth is None:
                raise _Unreadable

    def _end(self) -> None:
        if self._accept("for"):
            number = self._number()
            if number is None:
                raise _Unreadable
            self._count = min(number, _MAX_COUNT)
            self._accept("time")
        elif self.symbol == "until":
            self._until = _day(self._text[self._at :])
            self._at, self.symbol = len(self._text), None


def _day(text: str) -> date:
    """A day such as `January 1, 2027`; June 31 is July 1, as for JavaScript. Raises: _Unreadable."""
    match = re.fullmatch(r" *([a-z]{3,9}) +([0-9]{1,2}),? +([0-9]{4}) *", text, re.IGNORECASE)
    if match is not None and 1 <= int(match[2]) <= 31:
        for month, name in enumerate(MONTHS, 1):
            if name.lower().startswith(match[1].lower()):
                try:
                    return date(int(match[3]), month, 1) + timedelta(int(match[2]) - 1)
                except (ValueError, OverflowError):
                    break
    raise _Unreadable


_UNITS = {frequency: unit for unit, frequency in FREQUENCIES.items() if unit != "weekday"}


@lru_cache(maxsize=1024)
def write_rule(rule: Rule) -> str:
    """Return a rule in the words of rrule.js, such as `every 2 weeks on Monday when done` (TASK-52)."""
    words = ["every", *_FREQUENCY_WORDS[rule.frequency](rule)]
    if rule.until is not None:
        words.append(f"until {MONTHS[rule.until.month - 1]} {rule.until.day}, {rule.until.year}")
    elif rule.count is not None:
        words.append(f"for {rule.count} {'times' if _is_plural(rule.count) else 'time'}")
    if rule.when_done:
        words.append("when done")
    return " ".join(words)


def _is_plural(number: int) -> bool:
    return number % 100 != 1


def _unit(rule: Rule) -> list[str]:
    unit = _UNITS[rule.frequency]
    number = [] if rule.interval == 1 else [str(rule.interval)]
    return [*number, unit + "s" if _is_plural(rule.interval) else unit]


def _weekly(rule: Rule) -> list[str]:
    days = {day for day, _ in rule.weekdays}
    every_week = rule.interval == 1
    words = [] if every_week else _unit(rule)
    if days == set(WORKING_DAYS):
        return ["weekday"] if every_week else [*words, "on weekdays"]
    if len(days) == len(WEEKDAYS):
        return [*words, "days" if _is_plural(rule.interval) else "day"]
    words = words or ["week"]
    if rule.months:
        words += ["in", _months(rule)]
    return words + (_month_days(rule) or _weekdays(rule)) + _hours(rule)


def _monthly(rule: Rule) -> list[str]:
    if not rule.months:
        words = _unit(rule)
    elif rule.interval == 1:
        words = [_months(rule)]
    else:
        words = [
            f"{rule.interval} months",
            *(["in"] if _is_plural(rule.interval) else []),
            _months(rule),
        ]
    if not rule.month_days and {day for day, _ in rule.weekdays} == set(WORKING_DAYS):
        return [*words, "on weekdays"]
    return words + (_month_days(rule) or _weekdays(rule))


def _yearly(rule: Rule) -> list[str]:
    if not rule.months:
        words = _unit(rule)
    else:
        words = [*([] if rule.interval == 1 else [f"{rule.interval} years"]), _months(rule)]
    words += _month_days(rule) or _weekdays(rule)
    if rule.weeks:
        words += [
            "in",
            "weeks" if _is_plural(len(rule.weeks)) else "week",
            _list([str(n) for n in rule.weeks], "and"),
        ]
    return words


_FREQUENCY_WORDS: dict[Frequency, Callable[[Rule], list[str]]] = {
    "DAILY": lambda rule: _unit(rule) + _hours(rule),
    "WEEKLY": _weekly,
    "MONTHLY": _monthly,
    "YEARLY": _yearly,
    "HOURLY": _unit,
    "MINUTELY": _unit,
}


def _hours(rule: Rule) -> list[str]:
    return ["at", _list([str(hour) for hour in rule.hours], "and")] if rule.hours else []


def _months(rule: Rule) -> str:
    return _list([MONTHS[month - 1] for month in rule.months], "and")


def _month_days(rule: Rule) -> list[str]:
    if not rule.month_days:
        return []
    days = sorted(day for day in rule.month_days if day > 0)
    days += sorted((day for day in rule.month_days if day < 0), reverse=True)
    if plain := [WEEKDAYS[day] for day, nth in sorted(rule.weekdays) if not nth]:
        return ["on", _list(plain, "or"), "the", _list(map(_ordinal, days), "or")]
    return ["on the", _list(map(_ordinal, days), "and")]


def _weekdays(rule: Rule) -> list[str]:
    in_order = sorted(rule.weekdays, key=lambda pair: pair[0])
    plain = [WEEKDAYS[day] for day, nth in in_order if not nth]
    numbered = [f"{_ordinal(nth)} {WEEKDAYS[day]}" for day, nth in in_order if nth]
    if {day for day, _ in rule.weekdays} == set(WORKING_DAYS) and rule.weekdays:
        words: list[str] = []
    else:
        words = ["on", ", ".join(plain)] if plain else []
    if numbered:
        words += [*(["and"] if plain else []), "on the", _list(numbered, "and")]
    return words


def _list(items: Iterable[str], last: str) -> str:
    *before, final = items
    return f"{', '.join(before)} {last} {final}" if before else final


def _ordinal(number: int) -> str:
    if number == -1:
        return "last"
    size = abs(number)
    ending = (
        "th" if size not in (1, 2, 3, 21, 22, 23, 31) else {1: "st", 2: "nd", 3: "rd"}[size % 10]
    )
    return f"{size}{ending}" + (" last" if number < 0 else "")
