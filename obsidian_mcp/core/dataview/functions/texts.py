"""Functions on texts (specs/dataview.md, DV-93 to DV-96, DV-99)."""

from __future__ import annotations

import math

from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, index_by_name
from obsidian_mcp.core.dataview.pages import QueryRun
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import ExpressionError
from obsidian_mcp.core.text.text import utf16_length


def _test(run: QueryRun, pattern: str, text: str) -> bool:
    run.budget.tick()
    return RegExpValue(pattern).matches(text)


def _match(run: QueryRun, pattern: str, text: str) -> bool:
    """Test the whole text: `^…$` is set around the pattern, unless one of them is there (DV-94)."""
    if not pattern.startswith("^") and not pattern.endswith("$"):
        pattern = f"^{pattern}$"
    return _test(run, pattern, text)


def _regex_replace(run: QueryRun, text: str, pattern: str, replacement: str) -> str:
    run.budget.tick()
    try:
        regexp = RegExpValue(pattern)
    except ExpressionError:
        raise ExpressionError(f"Invalid regexp '{pattern}' in regexreplace") from None
    return regexp.replace(text, replacement, everywhere=True, budget=run.budget)


def _replace(run: QueryRun, text: str, part: str, replacement: str) -> str:
    if not part:
        count = max(len(text) - 1, 0)
        run.budget.charge(len(text) + count * len(replacement))
        return replacement.join(text)
    run.budget.charge(len(text) + text.count(part) * len(replacement))
    return text.replace(part, replacement)


def _split(run: QueryRun, text: str, pattern: str, limit: float | None = None) -> list[str]:
    run.budget.tick()
    parts = RegExpValue(pattern).split(text, run.budget)
    if limit is None or limit < 0 or not math.isfinite(limit):
        return parts
    return parts[: int(limit)]


def _padding(run: QueryRun, text: str, length: float, pad: str = " ") -> str:
    missing = (int(length) if math.isfinite(length) else 0) - utf16_length(text)
    if missing <= 0 or not pad:
        return ""
    run.budget.charge(missing + len(text))
    size = utf16_length(pad)
    return javascript.substring(pad * (missing // size + 1), 0, missing)


def _substring(_run: QueryRun, text: str, start: float, end: float | None = None) -> str:
    length = utf16_length(text)

    def place(index: float) -> int:
        return 0 if index != index else int(min(max(index, 0), length))

    first, last = sorted((place(start), length if end is None else place(end)))
    return javascript.substring(text, first, last)


def _truncate(run: QueryRun, text: str, length: float, suffix: str = "...") -> str:
    """Cut a text when it is longer than what the suffix leaves room for (DV-96)."""
    room = length - utf16_length(suffix)
    if not utf16_length(text) > room:
        return text
    run.budget.charge(len(text) + len(suffix))
    return _substring(run, text, 0, max(0, room)) + suffix


_PAIR = {2: (0, 1)}
_PAIR_OR_THREE = {2: (0, 1), 3: (0, 1, 2)}
"""Which arguments lists map the call over, by the number of arguments (DV-81)."""


def _hash(_run: QueryRun, text: str, *more: str | float) -> float:
    """Return cyrb53 of the texts, with a number as seed (DV-99)."""
    seed = 0.0
    for part in more:
        if isinstance(part, str):
            text += part
        else:
            seed = part
    return float(_cyrb53(text, int(seed) if math.isfinite(seed) else 0))


def _cyrb53(text: str, seed: int) -> int:
    """Return the hash that the plugin uses, of the UTF-16 units of a text."""
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


FUNCTIONS: dict[str, Implementation] = index_by_name(
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
    .on(
        "string number string?",
        lambda run, text, *arguments: _padding(run, text, *arguments) + text,
    )
    .null_on_null(),
    Overloads("padright", _PAIR_OR_THREE)
    .on(
        "string number string?",
        lambda run, text, *arguments: text + _padding(run, text, *arguments),
    )
    .null_on_null(),
    Overloads("substring", _PAIR_OR_THREE).on("string number number?", _substring).null_on_null(),
    Overloads("truncate", _PAIR_OR_THREE).on("string number string?", _truncate).null_on_null(),
)
