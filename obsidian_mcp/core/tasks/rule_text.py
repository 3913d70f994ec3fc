"""Write the rules of recurring tasks in English, as rrule.js does (TASK-52)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from .recurrence import FREQUENCIES, MONTHS, WEEKDAYS, WORKING_DAYS, Frequency, Rule

_UNITS = {frequency: unit for unit, frequency in FREQUENCIES.items() if unit != "weekday"}


@lru_cache(maxsize=1024)
def write_rule(rule: Rule) -> str:
    """Return a rule in the words of rrule.js (TASK-52): `every 2 weeks on Monday when done`."""
    words = ["every", *_FREQUENCY_WORDS[rule.frequency](rule)]
    if rule.until is not None:
        words.append(f"until {MONTHS[rule.until.month - 1]} {rule.until.day}, {rule.until.year}")
    elif rule.count is not None:
        words.append(f"for {rule.count} {'times' if _is_plural(rule.count) else 'time'}")
    if rule.when_done:
        words.append("when done")
    return " ".join(words)


def _is_plural(number: int) -> bool:
    """Return whether rrule.js writes a unit behind this number in the plural: 101 takes `day`."""
    return number % 100 != 1


def _unit(rule: Rule) -> list[str]:
    unit = _UNITS[rule.frequency]
    number = [] if rule.interval == 1 else [str(rule.interval)]
    return [*number, unit + "s" if _is_plural(rule.interval) else unit]


def _weekly(rule: Rule) -> list[str]:
    days = {day for day, _ in rule.weekdays}
    every_week = rule.interval == 1
    words = [] if every_week else _unit(rule)
    # weekdays and all days have words of their own, which need no `week` in front of them
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
    plain = [WEEKDAYS[day] for day, nth in sorted(rule.weekdays) if not nth]
    if plain:
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


_IRREGULAR_ORDINALS = frozenset((1, 2, 3, 21, 22, 23, 31))
"""Ordinals without `th`. rrule.js lists those of the days of a month: it writes `41th`."""


def _ordinal(number: int) -> str:
    if number == -1:
        return "last"
    size = abs(number)
    ending = {1: "st", 2: "nd", 3: "rd"}[size % 10] if size in _IRREGULAR_ORDINALS else "th"
    return f"{size}{ending}" + (" last" if number < 0 else "")
