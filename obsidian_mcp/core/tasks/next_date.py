"""The next date of a recurring task's rule (TASK-57)."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from dateutil import rrule

from .recurrence import Rule
from .rule_text import write_rule

_LONGEST_MONTH_DAYS = 31

_MONTH_WEEKS = 5

_YEAR_WEEKS = 53

_DAY_HOURS = 24
"""Hours of a day. A rule may name days, weekdays and hours that do not exist.

For days and hours above these limits dateutil never finds a date, and it fails for a weekday
that is numbered higher than a month or year has weeks.
"""


def next_date(rule: Rule, base: date) -> date | None:
    """Return the first date of a rule after the day `base` that it starts on; None without one.

    A rule of months or years that names no day takes the last day of a month that is too short
    (TASK-57). dateutil passes over such a month, so an earlier day is tried as the start until no
    month is passed over.
    """
    upcoming = _occurrence_after(rule, base)
    if rule.months or rule.frequency not in ("MONTHLY", "YEARLY"):
        return upcoming
    if rule.frequency == "MONTHLY" and " on " in write_rule(rule):
        return upcoming
    while upcoming is not None and _units_between(rule, base, upcoming) > rule.interval:
        base -= timedelta(days=1)
        upcoming = _occurrence_after(rule, base)
    return upcoming


def _units_between(rule: Rule, first: date, last: date) -> int:
    """Return how many months, or for a yearly rule years, lie between two days."""
    years = last.year - first.year
    return years if rule.frequency == "YEARLY" else years * 12 + last.month - first.month


def _occurrence_after(rule: Rule, base: date) -> date | None:
    """Return the first occurrence after the day `base` of the rule that starts on it."""
    if rule.month_days and all(abs(day) > _LONGEST_MONTH_DAYS for day in rule.month_days):
        return None
    max_nth = _MONTH_WEEKS if rule.months or rule.frequency == "MONTHLY" else _YEAR_WEEKS
    weekdays = [
        rrule.weekday(day, nth or None) for day, nth in rule.weekdays if abs(nth) <= max_nth
    ]
    if rule.weekdays and not weekdays:
        return None
    occurrences = rrule.rrule(
        getattr(rrule, rule.frequency),
        dtstart=datetime.combine(base, time.min),
        interval=rule.interval,
        wkst=rrule.MO,
        until=None if rule.until is None else datetime.combine(rule.until, time.min),
        count=rule.count,
        bymonth=rule.months or None,
        bymonthday=rule.month_days or None,
        byweekno=rule.weeks or None,
        byweekday=weekdays or None,
        byhour=[hour for hour in rule.hours if hour < _DAY_HOURS] or None,
    )
    occurrence = occurrences.after(datetime.combine(base, time.max))
    return None if occurrence is None else occurrence.date()
