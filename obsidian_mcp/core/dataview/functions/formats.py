"""Values as people read them: display and formats (specs/dataview.md, DV-97 to DV-99)."""

from __future__ import annotations

import math
import re
import time
from functools import cache

import regex

from obsidian_mcp.core.calendar import luxon
from obsidian_mcp.core.dataview.durations import format_duration
from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, index_by_name
from obsidian_mcp.core.dataview.pages import QueryRun
from obsidian_mcp.core.dataview.values import link_text, value_text
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.dates import Date, day_of, from_milliseconds
from obsidian_mcp.core.expressions.values import ExpressionError, LinkValue, Value
from obsidian_mcp.core.query.regexp import LEAST_SECONDS, search_within_limit
from obsidian_mcp.core.text.table_file import read_rows

_PLAIN_LINK = re.compile(r"\[\[(?:([^|]*?)\]\]|[^|]*)")

_LINK_WITH_DISPLAY = re.compile(r"\[\[(?:[^|\n]*\|(.*?)\]\]|.*)")
"""A link that is displayed by other words.

One that is not closed matches all the text in which no other one can be, so that no text is
searched twice.
"""

_CURRENCY_CODE = re.compile("[A-Za-z]{3}", re.ASCII)


@cache
def _markdown() -> list[tuple[regex.Pattern[str], str]]:
    """Return what the package remove-markdown 0.5.5 takes out, in its order."""
    return [
        (regex.compile(pattern), replacement)
        for replacement, pattern in read_rows(__file__, "remove_markdown")
    ]


@cache
def _currencies() -> dict[str, tuple[str, int]]:
    """Return sign and decimals by code; others are written with their code and two decimals."""
    return {
        code: (symbol, int(digits)) for code, symbol, digits in read_rows(__file__, "currencies")
    }


def without_markdown(text: str) -> str:
    """Return the text as it reads without Markdown; links by their display (DV-98).

    As in the plugin, only the first link with a display is replaced by it.
    Raises: ExpressionError where it takes too long.
    """
    text = _PLAIN_LINK.sub(lambda link: link[0] if link[1] is None else link[1], text)
    links = _LINK_WITH_DISPLAY.finditer(text)
    first = next((link for link in links if link[1] is not None), None)
    if first is not None:
        text = text[: first.start()] + first[1] + text[first.end() :]

    def remove_marks(timeout: float) -> str:
        end, plain = time.monotonic() + timeout, text
        for pattern, replacement in _markdown():
            seconds = max(end - time.monotonic(), LEAST_SECONDS)
            plain = pattern.sub(replacement, plain, timeout=seconds)
        return plain

    try:
        return search_within_limit(remove_marks)
    except TimeoutError:
        raise ExpressionError("display() took too long on a text.") from None


def _display_link(_run: QueryRun, link: LinkValue) -> Value:
    if link.display:
        return without_markdown(link.display)
    text = link_text(link)
    start, end = text.find("[["), text.rfind("]]")
    bar = text.rfind("|", start, end) if 0 <= start < end else -1
    return f"{text[:start]}{text[bar + 1 : end]}{text[end + 2 :]}" if bar >= 0 else text


def _local_time(_run: QueryRun, date: Date) -> Date:
    return from_milliseconds(date.milliseconds) if date.moment.tzinfo else date


def _currency(_run: QueryRun, number: float, code: str = "USD") -> str:
    if not _CURRENCY_CODE.fullmatch(code):
        raise ExpressionError(f"Invalid currency code : {code}")
    code = code.upper()
    symbol, digits = _currencies().get(code, (f"{code}\u00a0", 2))
    if not math.isfinite(number):
        amount = "NaN" if number != number else "∞"
    else:
        amount = f"{javascript.shown_decimal(abs(number), digits):,f}"
    return f"{'-' if number < 0 else ''}{symbol}{amount}"


_display: Overloads = (
    Overloads("display")
    .on("null", lambda *_: "")
    .on("array", lambda run, values: run.budget.join(str(_display(run, value)) for value in values))
    .on("string", lambda _, text: without_markdown(text))
    .on("link", _display_link)
    .on("*", lambda run, value: value_text(value, run.settings, run.budget))
)


FUNCTIONS: dict[str, Implementation] = index_by_name(
    _display,
    Overloads("striptime", {1: (0,)}).on("date", lambda _, date: day_of(date)).null_on_null(),
    Overloads("localtime", {1: (0,)}).on("date", _local_time).null_on_null(),
    Overloads("dateformat", {2: (0,)})
    .on("date string", lambda _, date, form: luxon.write_luxon(date.moment, form))
    .null_on("null string"),
    Overloads("durationformat", {2: (0,)})
    .on("duration string", lambda _, duration, form: format_duration(duration, form))
    .null_on("null string"),
    Overloads("currencyformat", {2: (0,)}).on("number string?", _currency).null_on("null string?"),
)
