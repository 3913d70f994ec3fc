"""Dates and durations in Luxon's formats, as Dataview has them (specs/dataview.md, DV-76 to DV-78)."""

from __future__ import annotations

from datetime import datetime

from obsidian_mcp.core.calendar import luxon
from obsidian_mcp.core.calendar.luxon import split_format
from obsidian_mcp.core.dataview.durations import shift_to
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.javascript import number_text
from obsidian_mcp.core.expressions.values import ExpressionError


def parse_date_as(text: str, form: str, now: datetime) -> Date:
    """The date that the whole text is in this format (DV-77). Raises: ExpressionError."""
    try:
        found = luxon.read(text, form, now)
    except luxon.MixedUnits as error:
        raise ExpressionError(str(error)) from None
    if found is None:
        raise ExpressionError(f"Can't handle format ({form}) on date string ({text})")
    return Date(found[0], has_time=found[1])


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
