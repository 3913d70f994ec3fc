"""When a recurring task is due next (TASK-56 to TASK-58)."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Literal

from dateutil import rrule

from .recurrence import Frequency, Rule
from .rule_text import write_rule

_FREQUENCIES: dict[Frequency, Literal[0, 1, 2, 3, 4, 5]] = {
    "YEARLY": rrule.YEARLY,
    "MONTHLY": rrule.MONTHLY,
    "WEEKLY": rrule.WEEKLY,
    "DAILY": rrule.DAILY,
    "HOURLY": rrule.HOURLY,
    "MINUTELY": rrule.MINUTELY,
}
_LONGEST_MONTH_DAYS = 31


def next_date(rule: Rule, base: date) -> date | None:
    """Return the first date of a rule after the day that it starts on, None where there is none.

    A rule of months or years that names no day takes the last day of a month that is too short (TASK-57).
    """
    found = _after(rule, base)
    if rule.months or rule.frequency not in ("MONTHLY", "YEARLY"):
        return found
    if rule.frequency == "MONTHLY" and " on " in write_rule(rule):
        return found
    while found is not None and _units_between(rule, base, found) > rule.interval:
        base -= timedelta(days=1)
        found = _after(rule, base)
    return found


def _units_between(rule: Rule, first: date, last: date) -> int:
    years = last.year - first.year
    return years if rule.frequency == "YEARLY" else years * 12 + last.month - first.month


def _after(rule: Rule, base: date) -> date | None:
    """The first occurrence after the day `base` of the rule that starts on it."""
    if rule.month_days and all(abs(day) > _LONGEST_MONTH_DAYS for day in rule.month_days):
        return None
    occurrences = rrule.rrule(
        _FREQUENCIES[rule.frequency],
        dtstart=datetime.combine(base, time.min),
        interval=rule.interval,
        wkst=rrule.MO,
        until=None if rule.until is None else datetime.combine(rule.until, time.min),
        count=rule.count,
        bymonth=rule.months or None,
        bymonthday=rule.month_days or None,
        byweekno=rule.weeks or None,
        byweekday=[rrule.weekday(day, nth or None) for day, nth in rule.weekdays] or None,
        byhour=rule.hours or None,
    )
    found = occurrences.after(datetime.combine(base, time.max))
    return None if found is None else found.date()
