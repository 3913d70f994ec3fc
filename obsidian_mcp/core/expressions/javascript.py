"""Numbers, texts and indexes as JavaScript treats them (EXPR-20 to EXPR-24)."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from obsidian_mcp.core.text.javascript_number import LEAST_EXPONENTIAL
from obsidian_mcp.core.text.text import utf16_length

from .values import ExpressionError

SPACES = (
    "\t\n\v\f\r \u00a0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What `trim` takes off, as an argument of `str.strip`."""
_WHOLE_FROM = 2**52
"""From here on every number is whole."""
_MAX_FIXED_DIGITS = 100
_CONTEXT = Context(prec=500)
"""Digits enough for the largest number with 100 decimals."""


def number_text(number: float) -> str:
    """Return a number as `Number::toString` writes it (EXPR-20).

    For example `50`, `0.1`, `1e+21`, `1e-7`, `Infinity`, `NaN`.
    """
    if number != number:
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    text = repr(number).removesuffix(".0")
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return "0" if text == "-0" else text
    if -7 < int(exponent) < 21:
        return format(Decimal(text), "f")
    return f"{mantissa}e{int(exponent):+d}"


def round_half_up(number: float) -> float:
    """Return `Math.round(number)`: 2.5 is 3, -1.5 is -1 (EXPR-21)."""
    if not math.isfinite(number) or abs(number) >= _WHOLE_FROM:
        return number
    floor = math.floor(number)
    return float(floor + (number - floor >= 0.5))


def to_fixed(number: float, digits: int) -> str:
    """Return `number.toFixed(digits)`: the exact binary value, ties away from zero (EXPR-22).

    Raises: ExpressionError beyond 100 digits.
    """
    if not 0 <= digits <= _MAX_FIXED_DIGITS:
        raise ExpressionError("toFixed() digits argument must be between 0 and 100")
    if not math.isfinite(number) or abs(number) >= LEAST_EXPONENTIAL:
        return number_text(number)
    rounded = Decimal(number).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _CONTEXT)
    text = format(rounded, "f")
    return text.removeprefix("-") if number == 0 else text


def shown_decimal(number: float, digits: int) -> Decimal:
    """Return a finite number as `Intl.NumberFormat` rounds it (EXPR-22).

    That is what its shortest text says, ties away from zero; `toFixed` rounds the binary value.
    """
    return Decimal(repr(number)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, _CONTEXT)


def cut_with(cut: Callable[[float], int]) -> Callable[[Any, float], float]:
    """Return `Math.floor` or the like as a function of a language.

    The first argument of such a function is the scope or the run, which is not needed.
    """
    return lambda _, number: float(cut(number)) if math.isfinite(number) else number


def divide(left: float, right: float) -> float:
    """Return `left / right`, which is infinite or NaN for a division by zero."""
    if right:
        return left / right
    if not left or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def remainder(left: float, right: float) -> float:
    """Return `left % right`, whose sign is that of the left side."""
    if not right or math.isinf(left) or left != left or right != right:
        return math.nan
    return math.fmod(left, right)


def slice_text(text: str, start: float, end: float | None = None) -> str:
    """Return `text.slice(start, end)`: negative indexes count from the end, in UTF-16 units."""
    first, last = slice_bounds(utf16_length(text), start, end)
    return substring(text, first, last)


def substring(text: str, first: int, last: int) -> str:
    """Return the UTF-16 units from `first` to `last`, both in range."""
    if text.isascii() or utf16_length(text) == len(text):
        return text[first:last]
    units = text.encode("utf-16-le", "surrogatepass")
    return units[2 * first : 2 * last].decode("utf-16-le", "surrogatepass")


def slice_bounds(length: int, start: float, end: float | None) -> tuple[int, int]:
    """Return first and last index of `slice(start, end)` in something of this length (EXPR-24)."""
    first = _bound(length, start)
    last = length if end is None else _bound(length, end)
    return first, max(first, last)


def _bound(length: int, index: float) -> int:
    if index != index:
        return 0
    if math.isinf(index):
        return length if index > 0 else 0
    whole = math.trunc(index)
    return max(length + whole, 0) if whole < 0 else min(whole, length)


def list_index(index: float) -> int | None:
    """Return the place in a list that a number names.

    None for a fraction, a negative number and what is not finite.
    """
    is_index = index >= 0 and index == index // 1 and not math.isinf(index)
    return int(index) if is_index else None
