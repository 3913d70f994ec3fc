"""Lengths of time as Luxon treats and writes them (DV-70 to DV-74, DV-78): a year counts 365 days or 12 months, a month
30 days or 4 weeks, by the units that a conversion passes through, so 30 days are shown as `1 month, 2 days`."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from itertools import pairwise

from obsidian_mcp.core.calendar.luxon import split_format
from obsidian_mcp.core.expressions.dates import UNIT_MS, UNITS, Date, Duration, shift
from obsidian_mcp.core.expressions.javascript import number_text, shown_decimal


def in_one(larger: str, smaller: str) -> float:
    """How many of the smaller unit one of the larger is, converted directly (DV-72)."""
    if larger == "years" and smaller in ("months", "weeks"):
        return 12 if smaller == "months" else 52
    if larger == "months" and smaller == "weeks":
        return 4
    return UNIT_MS[larger] / UNIT_MS[smaller]


def in_unit(duration: Duration, unit: str) -> float:
    """The whole duration in one unit, as a fraction: `.days` and the like (DV-72)."""
    value: float = getattr(shift_to(duration, [unit]), unit)
    return value


def shift_to(duration: Duration, units: list[str]) -> Duration:
    """The duration spread over these units; what is left over becomes a fraction of the last one (DV-73)."""
    built: dict[str, float] = {}
    left: dict[str, float] = {}
    last = ""
    for unit in UNITS:
        own = getattr(duration, unit)
        if unit in units:
            last = unit
            for larger, amount in left.items():
                own += in_one(larger, unit) * amount
                left[larger] = 0.0
            whole = float(math.trunc(own)) if math.isfinite(own) else own
            built[unit] = whole
            left[unit] = (own * 1000 - whole * 1000) / 1000
        else:
            left[unit] = own
    for unit, amount in left.items():
        if amount and last:
            built[last] += amount if unit == last else amount / in_one(last, unit)
    _normalize(built)
    return Duration(**built)


def normalized(duration: Duration) -> Duration:
    """Fractions moved down, full units moved up, fractions moved down again (DV-71)."""
    return shift_to(duration, list(UNITS))


def _normalize(values: dict[str, float]) -> None:
    """Move full units up and then fractions down, among the units that are there; the sum's sign is kept."""
    units = [unit for unit in UNITS if unit in values]
    if not all(math.isfinite(value) for value in values.values()):
        return
    sign = -1.0 if sum(values[unit] * UNIT_MS[unit] for unit in units) < 0 else 1.0
    for larger, smaller in reversed(list(pairwise(units))):
        factor = in_one(larger, smaller)
        carried = math.floor(values[smaller] * sign / factor)
        values[larger] += carried * sign
        values[smaller] -= carried * factor * sign
    for larger, smaller in pairwise(units):
        fraction = math.fmod(values[larger], 1)
        values[larger] -= fraction
        values[smaller] += fraction * in_one(larger, smaller)


def duration_text(duration: Duration) -> str:
    """`1 day, 2 hours`; empty for no time at all (DV-74)."""
    spread = normalized(duration)
    parts = []
    for unit in UNITS:
        amount = getattr(spread, unit)
        if amount:
            shown = _amount(amount)
            parts.append(f"{shown} {unit[:-1] if shown in ('1', '-1') else unit}")
    return ", ".join(parts)


def _amount(number: float) -> str:
    """With at most three decimals, as English numbers are written without commas."""
    if not math.isfinite(number):
        return number_text(number).replace("Infinity", "∞")
    text = format(shown_decimal(number, 3), "f")
    return text.rstrip("0").rstrip(".")


def between(later: Date, earlier: Date) -> Duration:
    """`later - earlier`: the calendar difference, normalized (DV-70); negative where the first is the earlier one."""
    if later.milliseconds < earlier.milliseconds:
        return normalized(_difference(later, earlier).scaled(-1.0))
    return normalized(_difference(earlier, later))


def _difference(start: Date, end: Date) -> Duration:
    """Years, months, days, then the time that is left, from `start` to the later `end`."""
    first, last = start.moment, end.moment
    years = float(last.year - first.year)
    cursor, years = _not_beyond(start, end, {}, "years", years)
    months = float(last.month - cursor.moment.month + 12 * (last.year - cursor.moment.year))
    cursor, months = _not_beyond(start, end, {"years": years}, "months", months)
    days = float((_day(last) - _day(cursor.moment)).days)
    cursor, days = _not_beyond(start, end, {"years": years, "months": months}, "days", days)
    rest = shift_to(
        Duration(milliseconds=end.milliseconds - cursor.milliseconds), ["hours", "minutes", "seconds", "milliseconds"]
    )
    return Duration(years=years, months=months, days=days).plus(rest)


def _not_beyond(start: Date, end: Date, whole: dict[str, float], unit: str, amount: float) -> tuple[Date, float]:
    """`start` later by `whole` and as much of `unit` as does not pass `end`, and how much that is."""
    for fewer in range(3):
        cursor = shift(start, Duration(**whole, **{unit: amount - fewer}), elapsed=True)
        if cursor.milliseconds <= end.milliseconds:
            break
    return cursor, amount - fewer


def _day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC)


_DURATION_LETTERS = {
    "y": "years", "M": "months", "w": "weeks", "d": "days",
    "h": "hours", "m": "minutes", "s": "seconds", "S": "milliseconds",
}  # fmt: skip


def format_duration(duration: Duration, form: str) -> str:
    """The duration spread over the units that the format names, the smallest one cut (DV-78)."""
    parts = split_format(form)
    units = [_DURATION_LETTERS[text[0]] for text, is_run in parts if is_run and text[0] in _DURATION_LETTERS]
    spread = shift_to(duration, units) if units else duration
    written = []
    for text, is_run in parts:
        unit = _DURATION_LETTERS.get(text[0]) if is_run else None
        if unit is None:
            written.append(text)
            continue
        amount = getattr(spread, unit)
        whole = number_text(abs(float(amount // 1)))
        written.append(("-" if amount < 0 else "") + whole.rjust(len(text), "0"))
    return "".join(written)
