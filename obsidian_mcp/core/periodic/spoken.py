"""The day that a person names for a note of a period (PERIODIC-8)."""

from __future__ import annotations

from datetime import date

from obsidian_mcp.core.calendar.days import DayRules, read_days
from obsidian_mcp.core.calendar.locale import Locale
from obsidian_mcp.core.calendar.periods import PERIODS, SHIFT_UNITS, Period
from obsidian_mcp.errors import InvalidArguments

from .notes import note_day, weeks_of
from .settings import PeriodRules

_PERIOD_OF_UNIT = {unit: period for period, unit in SHIFT_UNITS.items()}


def read_date(text: str, period: Period, rules: PeriodRules, locale: Locale, today: date) -> date:
    """Return a day of the note of this period that a text names: `yesterday`, `2026-W47`, `Q4`.

    A day, or a shorter period, means the period that contains it. A name in the period's own format
    is that period.
    Raises: InvalidArguments for a text that names no date, for a longer period and for several
    days.
    """
    if rules[period].configured and (own := note_day(rules[period], text.strip(), locale, today)):
        return own
    weeks = weeks_of(rules["week"], locale)
    numbered = (weeks.first_day, weeks.doy) if rules["week"].configured else DayRules().numbered
    days = read_days(text, today, DayRules(weeks=weeks, numbered=numbered))
    if days is None:
        raise InvalidArguments(
            f'Cannot read the date "{text}". Try 2026-11-22, yesterday, last monday or 2026-W47.',
            argument="date",
        )
    unit = _PERIOD_OF_UNIT.get(days.unit)
    if unit is None or PERIODS.index(unit) > PERIODS.index(period):
        raise InvalidArguments(
            f'"{text}" names {f"a {unit}" if unit else "several days"}, and a {period} is needed. '
            f"Try {today.isoformat()}, yesterday or last monday.",
            argument="date",
        )
    return days.first
