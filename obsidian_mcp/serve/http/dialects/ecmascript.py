"""Writes JSON as `JSON.stringify` does, with sorted keys (specs/http.md HASH-…)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_INDEX_END: Final = 2**32 - 1
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PLAIN_DIGITS: Final = 21
"""Most digits before the point in a number without an exponent."""
_PLAIN_ZEROS: Final = 6
"""Zeros behind the point from which on a number has an exponent."""


def stringify(value: Any) -> str:
    """Return `JSON.stringify(deepSort(value))`, where deepSort sorts the keys of every object.

    Keys are sorted by UTF-16 code units; then, as in every JavaScript object, array indices come first in numeric
    order, and `__proto__` is lost.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return number(value)
        case str():
            return string(value)
        case Mapping():
            members = (
                f"{string(key)}:{stringify(value[key])}" for key in sorted(value, key=_key_order) if key != "__proto__"
            )
            return "{" + ",".join(members) + "}"
        case _:
            return "[" + ",".join(map(stringify, value)) + "]"


def number(value: float) -> str:
    """Return a number as ECMAScript's Number::toString; every number is a double, and infinite ones are null."""
    try:
        double = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(double):
        return "null"
    if double == 0:
        return "0"
    sign, figures, exponent = Decimal(repr(double)).normalize().as_tuple()
    digits = "".join(map(str, figures))
    point = len(digits) + int(exponent)
    if len(digits) <= point <= _PLAIN_DIGITS:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= _PLAIN_DIGITS:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -_PLAIN_ZEROS < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
        text = f"{mantissa}e{point - 1:+d}"
    return f"-{text}" if sign else text


def string(value: str) -> str:
    """Return a string with JSON's short escapes, and lone surrogates escaped in lower case."""
    joined = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _LONE_SURROGATE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", json.dumps(joined, ensure_ascii=False))


def _key_order(key: str) -> tuple[int, int, bytes]:
    if _INDEX.fullmatch(key) and int(key) < _INDEX_END:
        return 0, int(key), b""
    return 1, 0, key.encode("utf-16-be", "surrogatepass")
