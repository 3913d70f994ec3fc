"""Functions on texts (specs/dataview.md, DV-93 to DV-96)."""

from __future__ import annotations

import math

from obsidian_mcp.core.dataview.functions.overloads import Implementation, Overloads, by_name
from obsidian_mcp.core.dataview.pages import Run
from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.values import ExpressionError
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


def _padding(run: Run, text: str, length: float, pad: str) -> str:
    missing = (int(length) if math.isfinite(length) else 0) - utf16_length(text)
    if missing <= 0 or not pad:
        return ""
    run.budget.charge(missing + len(text))
    size = utf16_length(pad)
    return javascript.substring(pad * (missing // size + 1), 0, missing)


def _pad_left(run: Run, text: str, length: float, pad: str = " ") -> str:
    return _padding(run, text, length, pad) + text


def _pad_right(run: Run, text: str, length: float, pad: str = " ") -> str:
    return text + _padding(run, text, length, pad)


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

FUNCTIONS: dict[str, Implementation] = by_name(
    *(
        Overloads(name, _PAIR).on("string string", test).on("null *", lambda *_: False).on("* null", lambda *_: False)
        for name, test in (("regextest", _test), ("regexmatch", _match))
    ),
    Overloads("regexreplace", {3: (0, 1, 2)}).on("string string string", _regex_replace).null_on_null(),
    Overloads("replace", {3: (0, 1, 2)}).on("string string string", _replace).null_on_null(),
    Overloads("lower", {1: (0,)}).on("string", lambda _, text: text.lower()).null_on_null(),
    Overloads("upper", {1: (0,)}).on("string", lambda _, text: text.upper()).null_on_null(),
    Overloads("split").on("string string number?", _split).null_on_null(),
    Overloads("startswith", _PAIR).on("string string", lambda _, text, part: text.startswith(part)).null_on_null(),
    Overloads("endswith", _PAIR).on("string string", lambda _, text, part: text.endswith(part)).null_on_null(),
    Overloads("padleft", _PAIR_OR_THREE).on("string number string?", _pad_left).null_on_null(),
    Overloads("padright", _PAIR_OR_THREE).on("string number string?", _pad_right).null_on_null(),
    Overloads("substring", _PAIR_OR_THREE).on("string number number?", _substring).null_on_null(),
    Overloads("truncate", _PAIR_OR_THREE).on("string number string?", _truncate).null_on_null(),
)
