"""Functions on texts (DV-93 to DV-96), and default, choice, display, formats and hash (DV-97 to DV-99)."""

from __future__ import annotations

import math
import re
import time
from functools import cache

import regex

from obsidian_mcp.core.calendar import luxon
from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, by_name
from obsidian_mcp.core.dataview.pages import Run
from obsidian_mcp.core.dataview.values import format_duration, is_true, link_text, value_text
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import (
    ExpressionError,
    LinkValue,
    Value,
    day_of,
    from_milliseconds,
)
from obsidian_mcp.core.query.regexp import LEAST_SECONDS, limited
from obsidian_mcp.core.text.table_file import read_rows
from obsidian_mcp.core.text.text import utf16_length


def _test(run: Run, pattern: str, text: str) -> bool:
    run.budget.tick()
    return RegExpValue(pattern).matches(text)


def _match(run: Run, pattern: str, text: str) -> bool:
    """`^…$` around it, unless one of them is there already (DV-94)."""
    if not pattern.startswith("^") and not pattern.endswith("$"):
        pattern = f"^{pattern}$"
    return _test(run, pattern, text)


def _regex_replace(run: Run, text: str, pattern: str, replacement: str) -> str:
    run.budget.tick()
    try:
        regexp = RegExpValue(pattern)
    except ExpressionError:
        raise ExpressionError(f"Invalid regexp '{pattern}' in regexreplace") from None
    return regexp.replace(text, replacement, everywhere=True, budget=run.budget)


def _replace(run: Run, text: str, part: str, replacement: str) -> str:
    if not part:
        count = max(len(text) - 1, 0)
        run.budget.charge(len(text) + count * len(replacement))
        return replacement.join(text)
    run.budget.charge(len(text) + text.count(part) * len(replacement))
    return text.replace(part, replacement)


def _split(run: Run, text: str, pattern: str, limit: float | None = None) -> list[str]:
    run.budget.tick()
    parts = RegExpValue(pattern).split(text, run.budget)
    if limit is None or limit < 0 or not math.isfinite(limit):
        return parts
    return parts[: int(limit)]


def _padding(run: Run, text: str, length: float, pad: str = " ") -> str:
    missing = (int(length) if math.isfinite(length) else 0) - utf16_length(text)
    if missing <= 0 or not pad:
        return ""
    run.budget.charge(missing + len(text))
    size = utf16_length(pad)
    return javascript.substring(pad * (missing // size + 1), 0, missing)


def _substring(_run: Run, text: str, start: float, end: float | None = None) -> str:
    length = utf16_length(text)

    def place(index: float) -> int:
        return 0 if index != index else int(min(max(index, 0), length))

    first, last = sorted((place(start), length if end is None else place(end)))
    return javascript.substring(text, first, last)


def _truncate(run: Run, text: str, length: float, suffix: str = "...") -> str:
    """Cut when it is longer than what the suffix leaves room for (DV-96)."""
    room = length - utf16_length(suffix)
    if not utf16_length(text) > room:
        return text
    run.budget.charge(len(text) + len(suffix))
    return _substring(run, text, 0, max(0, room)) + suffix


_PAIR = {2: (0, 1)}
_PAIR_OR_THREE = {2: (0, 1), 3: (0, 1, 2)}


_PLAIN_LINK = re.compile(r"\[\[(?:([^|]*?)\]\]|[^|]*)")
_SHOWN_LINK = re.compile(r"\[\[(?:[^|\n]*\|(.*?)\]\]|.*)")
"""A link that is not closed is found with all the text in which no other one can be, so that none is searched twice."""
_CURRENCY_CODE = re.compile("[A-Za-z]{3}", re.ASCII)


@cache
def _markdown() -> list[tuple[regex.Pattern[str], str]]:
    """What the package remove-markdown 0.5.5 takes out, in its order."""
    return [
        (regex.compile(pattern), replacement)
        for replacement, pattern in read_rows(__file__, "remove_markdown")
    ]


@cache
def _currencies() -> dict[str, tuple[str, int]]:
    """Sign and decimals of the currencies that do not have their code and two."""
    return {
        code: (symbol, int(digits)) for code, symbol, digits in read_rows(__file__, "currencies")
    }


def _default(_run: Run, value: Value, fallback: Value) -> Value:
    return fallback if value is None else value


def without_markdown(text: str) -> str:
    """The text as it reads without Markdown; links by their display (DV-98). Raises: ExpressionError."""
    text = _PLAIN_LINK.sub(lambda found: found[0] if found[1] is None else found[1], text)
    shown = next((found for found in _SHOWN_LINK.finditer(text) if found[1] is not None), None)
    if shown is not None:
        text = text[: shown.start()] + shown[1] + text[shown.end() :]

    def without_marks(timeout: float) -> str:
        end, left = time.monotonic() + timeout, text
        for pattern, replacement in _markdown():
            left = pattern.sub(
                replacement, left, timeout=max(end - time.monotonic(), LEAST_SECONDS)
            )
        return left

    try:
        return limited(without_marks)
    except TimeoutError:
        raise ExpressionError("display() took too long on a text.") from None


def _display_link(_run: Run, link: LinkValue) -> Value:
    if link.display:
        return without_markdown(link.display)
    text = link_text(link)
    start, end = text.find("[["), text.rfind("]]")
    bar = text.rfind("|", start, end) if 0 <= start < end else -1
    return f"{text[:start]}{text[bar + 1 : end]}{text[end + 2 :]}" if bar >= 0 else text


def _currency(_run: Run, number: float, code: str = "USD") -> str:
    if not _CURRENCY_CODE.fullmatch(code):
        raise ExpressionError(f"Invalid currency code : {code}")
    code = code.upper()
    symbol, digits = _currencies().get(code, (f"{code}\u00a0", 2))
    if not math.isfinite(number):
        amount = "NaN" if number != number else "∞"
    else:
        amount = f"{javascript.shown_decimal(abs(number), digits):,f}"
    return f"{'-' if number < 0 else ''}{symbol}{amount}"


def _hash(_run: Run, text: str, *more: str | float) -> float:
    """cyrb53 of the texts, with a number as seed (DV-99)."""
    seed = 0.0
    for part in more:
        if isinstance(part, str):
            text += part
        else:
            seed = part
    return float(_cyrb53(text, int(seed) if math.isfinite(seed) else 0))


def _cyrb53(text: str, seed: int) -> int:
    mask = 0xFFFFFFFF
    first, second = 0xDEADBEEF ^ (seed & mask), 0x41C6CE57 ^ (seed & mask)
    units = text.encode("utf-16-le", "surrogatepass")
    for at in range(0, len(units), 2):
        unit = units[at] | units[at + 1] << 8
        first = (first ^ unit) * 2654435761 & mask
        second = (second ^ unit) * 1597334677 & mask
    first = ((first ^ first >> 16) * 2246822507 & mask) ^ (
        (second ^ second >> 13) * 3266489909 & mask
    )
    second = ((second ^ second >> 16) * 2246822507 & mask) ^ (
        (first ^ first >> 13) * 3266489909 & mask
    )
    return 4294967296 * (second & 2097151) + first


_display: Overloads = (
    Overloads("display")
    .on("null", lambda *_: "")
    .on("array", lambda run, values: run.budget.join(str(_display(run, value)) for value in values))
    .on("string", lambda _, text: without_markdown(text))
    .on("link", _display_link)
    .on("*", lambda run, value: value_text(value, run.settings, run.budget))
)

FUNCTIONS: dict[str, Implementation] = by_name(
    Overloads("default", {2: (0, 1)}).on("* *", _default),
    Overloads("ldefault").on("* *", _default),
    Overloads("choice", {3: (0,)}).on(
        "* * *", lambda _, condition, chosen, otherwise: chosen if is_true(condition) else otherwise
    ),
    _display,
    Overloads("striptime", {1: (0,)}).on("date", lambda _, date: day_of(date)).null_on_null(),
    Overloads("localtime", {1: (0,)})
    .on(
        "date", lambda _, date: from_milliseconds(date.milliseconds) if date.moment.tzinfo else date
    )
    .null_on_null(),
    Overloads("dateformat", {2: (0,)})
    .on("date string", lambda _, date, form: luxon.write(date.moment, form))
    .null_on("null string"),
    Overloads("durationformat", {2: (0,)})
    .on("duration string", lambda _, duration, form: format_duration(duration, form))
    .null_on("null string"),
    Overloads("currencyformat", {2: (0,)}).on("number string?", _currency).null_on("null string?"),
    Overloads("hash").on("string number", _hash).on("string string number?", _hash),
    *(
        Overloads(name, _PAIR)
        .on("string string", test)
        .on("null *", lambda *_: False)
        .on("* null", lambda *_: False)
        for name, test in (("regextest", _test), ("regexmatch", _match))
    ),
    Overloads("regexreplace", {3: (0, 1, 2)})
    .on("string string string", _regex_replace)
    .null_on_null(),
    Overloads("replace", {3: (0, 1, 2)}).on("string string string", _replace).null_on_null(),
    Overloads("lower", {1: (0,)}).on("string", lambda _, text: text.lower()).null_on_null(),
    Overloads("upper", {1: (0,)}).on("string", lambda _, text: text.upper()).null_on_null(),
    Overloads("split").on("string string number?", _split).null_on_null(),
    Overloads("startswith", _PAIR)
    .on("string string", lambda _, text, part: text.startswith(part))
    .null_on_null(),
    Overloads("endswith", _PAIR)
    .on("string string", lambda _, text, part: text.endswith(part))
    .null_on_null(),
    Overloads("padleft", _PAIR_OR_THREE)
    .on("string number string?", lambda run, text, *given: _padding(run, text, *given) + text)
    .null_on_null(),
    Overloads("padright", _PAIR_OR_THREE)
    .on("string number string?", lambda run, text, *given: text + _padding(run, text, *given))
    .null_on_null(),
    Overloads("substring", _PAIR_OR_THREE).on("string number number?", _substring).null_on_null(),
    Overloads("truncate", _PAIR_OR_THREE).on("string number string?", _truncate).null_on_null(),
)
