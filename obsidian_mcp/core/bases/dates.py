"""Dates and durations as Bases read and write them (BASE-40 to BASE-46)."""

from __future__ import annotations

import math
import re
from datetime import datetime

from obsidian_mcp.core.calendar import iso
from obsidian_mcp.core.calendar.clock import read_zone
from obsidian_mcp.core.expressions import dates
from obsidian_mcp.core.expressions.dates import DAY_MS, UNITS, Date, Duration, shift
from obsidian_mcp.core.expressions.javascript import round_half_up
from obsidian_mcp.core.expressions.values import ExpressionError

_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})?(\d{2})?", re.ASCII)
_TERM = re.compile(r"\s*+([+-]?)\s*+(\d+(?:\.\d+)?|\.\d+)\s*([A-Za-z]+)\s*,?", re.ASCII)
_ISO_DURATION = re.compile(
    r"([+-]?)P(?:([\d.]+)Y)?(?:([\d.]+)M)?(?:([\d.]+)W)?(?:([\d.]+)D)?"
    r"(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?",
    re.ASCII,
)
_UNIT = {
    word: unit
    for letter, unit in zip("yMwdhms", UNITS, strict=False)
    for word in (letter, unit[:-1], unit)
}
_UNIT["ms"] = "milliseconds"
_DAYS_PER_MONTH = 146_097 / 4800
"""Moment's mean month, which the humanized text counts with."""
MAX_DURATION_TEXT = 200
"""Characters; no duration is longer."""


def parse_date(text: str) -> Date | None:
    """Return the date that a text is as a whole, in the forms of BASE-40; None for other texts."""
    text = text.strip()
    compact = _COMPACT.fullmatch(text)
    if compact:
        year, month, day, *clock = compact.groups()
        text = f"{year}-{month}-{day}" + (f"T{':'.join(clock)}" if all(clock) else "")
    written = iso.read_iso(text)
    if written is None or written.mark == "t":
        return None
    try:
        moment = written.moment
        if written.zone:
            zone = read_zone(written.zone.strip())
            return dates.from_milliseconds(Date(moment.replace(tzinfo=zone)).milliseconds)
    except (ValueError, OverflowError, ExpressionError):
        return None
    return Date(moment, has_time=written.hour != "")


def parse_duration(text: str) -> Duration | None:
    """Return the duration that a text is, such as `1d`, `-2 weeks`, `1M 4h`, `P1DT2H` (BASE-41).

    None for any other text.
    """
    text = text.strip()
    if not text or len(text) > MAX_DURATION_TEXT:
        return None
    if text.lstrip("+-").startswith("P"):
        return _iso_duration(text)
    amounts = dict.fromkeys(UNITS, 0.0)
    at = 0
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None:
            return None
        # the case of M (months) and m (minutes) counts, that of other units does not
        unit = _UNIT.get(term[3]) or _UNIT.get(term[3].lower())
        if unit is None:
            return None
        amounts[unit] += float(term[2]) * (-1 if term[1] == "-" else 1)
        at = term.end()
    return Duration(**amounts)


def _iso_duration(text: str) -> Duration | None:
    match = _ISO_DURATION.fullmatch(text)
    if match is None or not any(match.groups()[1:]):
        return None
    try:
        amounts = [float(amount or 0) for amount in match.groups()[1:]]
    except ValueError:
        return None
    return Duration(*amounts).scale(-1 if match[1] == "-" else 1)


def add(date: Date, duration: Duration) -> Date:
    """Return the date later by a duration (BASE-42, BASE-43).

    A date without a time stays one when whole days or longer units are added.
    """
    later = shift(date, duration, elapsed=False)
    has_whole_days = (duration.days + duration.weeks * 7).is_integer()
    has_time = date.has_time or duration.time_ms != 0 or not has_whole_days
    return Date(later.moment, has_time)


def difference(left: Date, right: Date) -> Duration:
    """Return the time that passed between two dates, in milliseconds only (BASE-44)."""
    return Duration(milliseconds=left.milliseconds - right.milliseconds)


def total(duration: Duration, unit: str) -> float:
    """Return the whole duration in one unit, as a fraction (BASE-45).

    Months of the duration count as months, not as days, where the unit is years or months.
    """
    days = duration.weeks * 7 + duration.days + duration.time_ms / DAY_MS
    months = duration.years * 12 + duration.months
    if unit == "years":
        return months / 12 + days / dates.YEAR_DAYS
    if unit == "months":
        return months + days / dates.MONTH_DAYS
    return duration.total_ms / dates.UNIT_MS[unit]


def humanize(duration: Duration) -> str:
    """Return Moment's text of a duration, its sign dropped: `a day`, `14 days` (BASE-46).

    Every unit is used up to Moment's threshold for it: 44 seconds, 44 minutes, 21 hours, 25 days,
    10 months.
    """
    months = duration.years * 12 + duration.months
    days = duration.weeks * 7 + duration.days + duration.time_ms / DAY_MS
    all_days = abs(months * _DAYS_PER_MONTH + days)
    all_months = abs(months + days / _DAYS_PER_MONTH)
    if not math.isfinite(all_days):
        return "NaN years"
    if round_half_up(all_days * 86_400) <= 44:
        return "a few seconds"
    for amount, limit, singular, plural in (
        (all_days * 1440, 45, "a minute", "minutes"),
        (all_days * 24, 22, "an hour", "hours"),
        (all_days, 26, "a day", "days"),
        (all_months, 11, "a month", "months"),
        (all_months / 12, math.inf, "a year", "years"),
    ):
        count = round_half_up(amount)
        if count <= 1:
            return singular
        if count < limit:
            return f"{int(count)} {plural}"
    return "a few seconds"


def relative_text(date: Date, now: datetime) -> str:
    """Return how far a date is from `now`: `in 3 days`, `a day ago` (BASE-46).

    As for Moment, these are whole months of the calendar, and then the time that remains.
    """
    present = Date(now)
    first, last = sorted((present, date), key=lambda end: end.milliseconds)
    months = (last.moment.year - first.moment.year) * 12 + last.moment.month - first.moment.month
    reached = shift(first, Duration(months=months), elapsed=False)
    if reached.milliseconds > last.milliseconds:
        months -= 1
        reached = shift(first, Duration(months=months), elapsed=False)
    text = humanize(Duration(months=months, milliseconds=last.milliseconds - reached.milliseconds))
    return f"in {text}" if date.milliseconds > present.milliseconds else f"{text} ago"
