"""Dates and periods as a person says them, in English (PERIODIC-9)."""

from __future__ import annotations

from datetime import date

from obsidian_mcp.core.calendar.days import Ways, read_days
from obsidian_mcp.core.calendar.locale import Locale
from obsidian_mcp.core.calendar.periods import PERIODS, SHIFT_UNITS, Period
from obsidian_mcp.errors import InvalidArguments

from .notes import note_day, weeks_of
from .settings import PeriodRules

_PERIOD_OF_UNIT = {unit: period for period, unit in SHIFT_UNITS.items()}


def read_date(text: str, period: Period, rules: PeriodRules, locale: Locale, today: date) -> date:
    """Return the day that a text names (`yesterday`, `2026-W47`, `Q4`, a name in the period's own format) for a note of
    this period, which may be longer. Raises: InvalidArguments for none, a longer period, or several days."""
    if rules[period].configured and (own := note_day(rules[period], text.strip(), locale, today)):
        return own
    weeks = weeks_of(rules["week"], locale)
    numbered = (weeks.first_day, weeks.doy) if rules["week"].configured else Ways().numbered
    days = read_days(text, today, Ways(weeks=weeks, numbered=numbered))
    if days is None:
        raise InvalidArguments(
            f'Cannot read the date "{text}". Try 2026-11-22, yesterday, last monday or 2026-W47.', argument="date"
        )
    named = _PERIOD_OF_UNIT.get(days.unit)
    if named is None or PERIODS.index(named) > PERIODS.index(period):
        raise InvalidArguments(
            f'"{text}" names {f"a {named}" if named else "several days"}, and a {period} is needed. '
            f"Try {today.isoformat()}, yesterday or last monday.",
            argument="date",
        )
    return days.first
