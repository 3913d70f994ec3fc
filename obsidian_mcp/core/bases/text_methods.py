"""Methods of texts, numbers and regular expressions (BASE-53, BASE-54)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping

from obsidian_mcp.core.expressions import javascript
from obsidian_mcp.core.expressions.evaluate import Scope
from obsidian_mcp.core.expressions.regexps import RegExpValue, escape
from obsidian_mcp.core.expressions.values import ExpressionError, Value
from obsidian_mcp.core.text.text import utf16_length

from .method import NUMBER, PATTERN, STRING, Method, Parameter

_WORD_START = re.compile(r"(^|\s)(\S)")


def _contains(quantify: Callable[[Iterable[bool]], bool]) -> Callable[..., Value]:
    """Return the test whether all, or any, of the values are in a text, in any case."""

    def contains(_: Scope, text: str, *values: str) -> Value:
        lower = text.lower()
        return quantify(value.lower() in lower for value in values)

    return contains


def charge_first(run: Callable[..., Value], units: int = 1) -> Callable[..., Value]:
    """Return a method that charges `units` for each part of its receiver, then calls `run`.

    A part is a character, item or entry; `run` is called without the scope.
    """

    def charge_and_run(
        scope: Scope, receiver: str | list[Value] | dict[str, Value], *arguments: Value
    ) -> Value:
        scope.context.budget.charge(units * len(receiver))
        return run(receiver, *arguments)

    return charge_and_run


def _title(text: str) -> str:
    return _WORD_START.sub(lambda start: start[1] + start[2].upper(), text)


def _replace(scope: Scope, text: str, pattern: str | RegExpValue, replacement: str) -> Value:
    budget = scope.context.budget
    if isinstance(pattern, RegExpValue):
        return pattern.replace(text, replacement, everywhere="g" in pattern.flags, budget=budget)
    count = text.count(pattern)
    budget.charge(len(text) + count * len(replacement))
    if "$" not in replacement:
        return text.replace(pattern, replacement)
    return RegExpValue(escape(pattern), "g").replace(
        text, replacement, everywhere=True, budget=budget
    )


def _repeat(scope: Scope, text: str, count: float) -> Value:
    if not count >= 0 or math.isinf(count):
        raise ExpressionError("Invalid count value: the count of repeat() must be 0 or more.")
    scope.context.budget.charge(len(text) * int(count))
    return text * int(count)


def _split(
    scope: Scope, text: str, separator: str | RegExpValue, count: float | None = None
) -> Value:
    budget = scope.context.budget
    if isinstance(separator, RegExpValue):
        parts = separator.split(text, budget)
    else:
        budget.charge_items((text.count(separator) if separator else len(text)) + 1)
        budget.charge(len(text))
        parts = text.split(separator) if separator else list(text)
    return parts if count is None or count < 0 else parts[: int(count)]


TEXT: Mapping[str, Method] = {
    "contains": Method(_contains(all), (Parameter("value", STRING),)),
    "containsAll": Method(_contains(all), (Parameter("values", STRING, repeats=True),)),
    "containsAny": Method(_contains(any), (Parameter("values", STRING, repeats=True),)),
    "startsWith": Method(
        lambda _, text, query: text.startswith(query), (Parameter("query", STRING),)
    ),
    "endsWith": Method(lambda _, text, query: text.endswith(query), (Parameter("query", STRING),)),
    "lower": Method(charge_first(str.lower)),
    "title": Method(charge_first(_title)),
    "trim": Method(charge_first(lambda text: text.strip(javascript.SPACES))),
    "replace": Method(_replace, (Parameter("pattern", PATTERN), Parameter("replacement", STRING))),
    "repeat": Method(_repeat, (Parameter("count", NUMBER),)),
    "reverse": Method(charge_first(lambda text: text[::-1])),
    "slice": Method(
        charge_first(javascript.slice_text),
        (Parameter("start", NUMBER), Parameter("end", NUMBER, optional=True)),
    ),
    "split": Method(
        _split, (Parameter("separator", PATTERN), Parameter("n", NUMBER, optional=True))
    ),
}
TEXT_FIELDS: Mapping[str, Callable[[str, Scope], Value]] = {
    "length": lambda text, _: float(utf16_length(text))
}


_MAX_DIGITS = 100
"""Of `toFixed`, as in JavaScript."""
_REFUSED_DIGITS = -1
"""`to_fixed` raises an error for it, as for every number of digits that JavaScript refuses."""


def _round(_: Scope, number: float, digits: float | None = None) -> Value:
    if digits is None or not 0 < digits <= _MAX_DIGITS:
        return javascript.round_half_up(number)
    scale = 10.0 ** int(digits)
    scaled = number * scale
    return javascript.round_half_up(scaled) / scale if math.isfinite(scaled) else number


def _to_fixed(_: Scope, number: float, digits: float | None = None) -> Value:
    is_number = digits is None or math.isfinite(digits)
    return javascript.to_fixed(number, int(digits or 0) if is_number else _REFUSED_DIGITS)


NUMBERS: Mapping[str, Method] = {
    "abs": Method(lambda _, number: abs(number)),
    "ceil": Method(javascript.cut_with(math.ceil)),
    "floor": Method(javascript.cut_with(math.floor)),
    "round": Method(_round, (Parameter("digits", NUMBER, optional=True),)),
    "toFixed": Method(_to_fixed, (Parameter("precision", NUMBER, optional=True),)),
}


REGEXPS: Mapping[str, Method] = {
    "matches": Method(
        lambda _, pattern, value: pattern.matches(value), (Parameter("value", STRING),)
    )
}
