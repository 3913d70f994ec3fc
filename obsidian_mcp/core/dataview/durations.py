"""Lengths of time as Luxon's durations treat and write them (specs/dataview.md, DV-70 to DV-78).

A year counts 365 days or 12 months, a month 30 days or 4 weeks. Which of them it is depends on the
units that a conversion passes through, so that 30 days are shown as `1 month, 2 days`.
"""

from __future__ import annotations

import math
from itertools import pairwise

from obsidian_mcp.core.calendar import luxon
from obsidian_mcp.core.expressions.dates import UNIT_MS, UNITS, Date, Duration, shift
from obsidian_mcp.core.expressions.javascript import number_text, shown_decimal


def _count_in_one(larger: str, smaller: str) -> float:
    """Return how many of the smaller unit one of the larger is, converted directly (DV-72)."""
    if larger == "years" and smaller in ("months", "weeks"):
        return 12 if smaller == "months" else 52
    return 4 if larger == "months" and smaller == "weeks" else UNIT_MS[larger] / UNIT_MS[smaller]


def convert_to_unit(duration: Duration, unit: str) -> float:
    """Return the whole duration in one unit, as a fraction: `.days` and the like (DV-72)."""
    value: float = getattr(shift_to(duration, [unit]), unit)
    return value


def shift_to(duration: Duration, units: list[str]) -> Duration:
    """Return the duration spread over these units (DV-73).

    What remains becomes a fraction of the last one.
    """
    built: dict[str, float] = {}
    remaining: dict[str, float] = {}
    last = ""
    for unit in UNITS:
        own = getattr(duration, unit)
        if unit in units:
            last = unit
            for larger, amount in remaining.items():
                own += _count_in_one(larger, unit) * amount
                remaining[larger] = 0.0
            whole = float(math.trunc(own)) if math.isfinite(own) else own
            built[unit] = whole
            # as Luxon computes it, and so with its errors of rounding
            remaining[unit] = (own * 1000 - whole * 1000) / 1000
        else:
            remaining[unit] = own
    for unit, amount in remaining.items():
        if amount and last:
            built[last] += amount if unit == last else amount / _count_in_one(last, unit)
    _balance(built)
    return Duration(**built)


def normalize(duration: Duration) -> Duration:
    """Return a duration with fractions moved down, full units up, fractions down (DV-71)."""
    return shift_to(duration, list(UNITS))


def _balance(values: dict[str, float]) -> None:
    """Move full units up and then fractions down, among the units in `values`.

    The sign of the sum is kept.
    """
    units = [unit for unit in UNITS if unit in values]
    if not all(math.isfinite(value) for value in values.values()):
        return
    sign = -1.0 if sum(values[unit] * UNIT_MS[unit] for unit in units) < 0 else 1.0
    for larger, smaller in reversed(list(pairwise(units))):
        factor = _count_in_one(larger, smaller)
        carried = math.floor(values[smaller] * sign / factor)
        values[larger] += carried * sign
        values[smaller] -= carried * factor * sign
    for larger, smaller in pairwise(units):
        fraction = math.fmod(values[larger], 1)
        values[larger] -= fraction
        values[smaller] += fraction * _count_in_one(larger, smaller)


def duration_text(duration: Duration) -> str:
    """Return a duration as `1 day, 2 hours`; empty for no time at all (DV-74)."""
    spread = normalize(duration)
    parts = []
    for unit in UNITS:
        amount = getattr(spread, unit)
        if amount:
            number = _write_amount(amount)
            parts.append(f"{number} {unit[:-1] if number in ('1', '-1') else unit}")
    return ", ".join(parts)


def _write_amount(number: float) -> str:
    """Return a number with at most three decimals, as English writes it, without commas."""
    if not math.isfinite(number):
        return number_text(number).replace("Infinity", "∞")
    return format(shown_decimal(number, 3), "f").rstrip("0").rstrip(".")


def duration_between(left: Date, right: Date) -> Duration:
    """Return `left - right`: the calendar difference, normalized (DV-70)."""
    if left.milliseconds < right.milliseconds:
        return normalize(_difference(left, right).scale(-1.0))
    return normalize(_difference(right, left))


def _difference(start: Date, end: Date) -> Duration:
    """Return years, months, days, then the time that remains, from `start` to the later `end`."""
    first, last = start.moment, end.moment
    years = float(last.year - first.year)
    cursor, years = _not_beyond(start, end, {}, "years", years)
    months = float(last.month - cursor.moment.month + 12 * (last.year - cursor.moment.year))
    cursor, months = _not_beyond(start, end, {"years": years}, "months", months)
    days = float((last.date() - cursor.moment.date()).days)
    cursor, days = _not_beyond(start, end, {"years": years, "months": months}, "days", days)
    time_left = shift_to(
        Duration(milliseconds=end.milliseconds - cursor.milliseconds),
        ["hours", "minutes", "seconds", "milliseconds"],
    )
    return Duration(years=years, months=months, days=days).add(time_left)


def _not_beyond(
    start: Date, end: Date, whole: dict[str, float], unit: str, amount: float
) -> tuple[Date, float]:
    """Return `start` later by `whole` and as much of `unit` as does not pass `end`.

    Also return how much that is: at most `amount`, which is too much by two at most.
    """
    for fewer in range(3):
        cursor = shift(start, Duration(**whole, **{unit: amount - fewer}), elapsed=True)
        if cursor.milliseconds <= end.milliseconds:
            break
    return cursor, amount - fewer


_DURATION_LETTERS = dict(zip("yMwdhmsS", UNITS, strict=True))


def format_duration(duration: Duration, form: str) -> str:
    """Return the duration spread over the units that the format names, the smallest cut (DV-78)."""
    parts = luxon.split_format(form)
    units = [
        _DURATION_LETTERS[text[0]]
        for text, is_run in parts
        if is_run and text[0] in _DURATION_LETTERS
    ]
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
