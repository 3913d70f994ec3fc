"""Variables in templates: the app's own, and those of the plugins in periodic notes.

See PERIODIC-10.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from obsidian_mcp.core.calendar.clock import shift
from obsidian_mcp.core.calendar.locale import ENGLISH, WEEKDAYS, Locale
from obsidian_mcp.core.calendar.moment import format_moment
from obsidian_mcp.core.calendar.periods import PERIODS, Period, start_of
from obsidian_mcp.core.text.call import checkpoint

from .notes import weeks_of
from .settings import PeriodRule, TemplateSettings

_PLAIN = re.compile(r"\{\{(title|date|time)(?::((?:(?!\}\})[^\n])*))?(\}\})?", re.IGNORECASE)
"""A variable; one without `}}` matches up to the end of its line.

So the rest of that line is not searched again for every `{{`.
"""
_PERIODIC = re.compile(
    r"\{\{\s*(title|date|time|yesterday|tomorrow|" + "|".join([*WEEKDAYS, *PERIODS[1:]]) + r")"
    r"\s*(?:([+-]\d+)(?-i:([yQqMwdhms])))?\s*(?::((?:(?!\}\})[^\n])*))?(\}\})?",
    re.IGNORECASE,
)


NO_SETTINGS = TemplateSettings()
"""Formats where the vault names none: those of the app."""


@dataclass(frozen=True, slots=True)
class Variables:
    """The values of the variables of a template.

    `title` is the name of the note without its extension, `now` the present time, local and without
    a zone.
    """

    title: str
    now: datetime
    settings: TemplateSettings = NO_SETTINGS
    locale: Locale = ENGLISH


def fill(template: str, variables: Variables) -> str:
    """Return a template with `{{title}}`, `{{date}}`, `{{time}}` and `{{date:FORMAT}}` replaced.

    Other variables stay.
    """

    def value(match: re.Match[str]) -> str:
        checkpoint()
        if not match[3]:
            return match[0]
        name = match[1].lower()
        if name == "title":
            return match[0] if match[2] else variables.title
        settings = variables.settings
        pattern = (match[2] or "").strip() or (
            settings.date_format if name == "date" else settings.time_format
        )
        return format_moment(variables.now, pattern, variables.locale)

    return _PLAIN.sub(value, template)


def fill_periodic(template: str, variables: Variables, rule: PeriodRule, day: date) -> str:
    """Return the template of a periodic note with its variables replaced.

    `day` is the first day of the note's period.
    """
    at = datetime.combine(day, variables.now.time())

    def value(match: re.Match[str]) -> str:
        checkpoint()
        try:
            written = _value(match, variables, rule, at)
        except (ValueError, OverflowError):  # a date outside the calendar
            written = None
        return match[0] if written is None else written

    return _PERIODIC.sub(value, template)


def _value(
    match: re.Match[str], variables: Variables, rule: PeriodRule, at: datetime
) -> str | None:
    """Return the text of one variable; None leaves it as it is."""
    if not match[5]:
        return None
    name, count, unit, pattern = match[1].lower(), match[2], match[3], (match[4] or "").strip()
    bare = not count and not pattern

    def write(when: datetime, default: str) -> str:
        moved = shift(when, int(count), "Q" if unit == "q" else unit) if count else when
        return format_moment(moved, pattern or default, variables.locale)

    if name == "title":
        return variables.title if bare else None
    if name in ("date", "time"):
        if not bare:
            return write(at, rule.format)
        if rule.source == "core":
            settings = variables.settings
            return write(at, settings.date_format if name == "date" else settings.time_format)
        return variables.title if name == "date" else write(at, "HH:mm")
    if name in ("yesterday", "tomorrow"):
        if rule.period != "day" or not bare:
            return None
        return write(at + timedelta(days=1 if name == "tomorrow" else -1), rule.format)
    if bare:
        return None
    weeks = weeks_of(rule, variables.locale)
    if name in WEEKDAYS:
        if rule.period != "week" or not pattern:
            return None
        day = start_of("week", at, weeks) + timedelta(
            days=(WEEKDAYS.index(name) - weeks.first_day) % 7
        )
        return write(datetime.combine(day, at.time()), "")
    period: Period = next(period for period in PERIODS if period == name)
    return write(datetime.combine(start_of(period, at.date(), weeks), at.time()), rule.format)
