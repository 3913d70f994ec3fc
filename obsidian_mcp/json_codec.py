"""JSON for every front, without half surrogate pairs, NaN and deep nesting, which clients refuse
(MSG-…, HTTP-06)."""

from __future__ import annotations

import codecs
import json
import re
from itertools import chain

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, NoReturn

MAX_DEPTH: Final = 200
"""Levels of nesting that `decode` takes."""
MAX_DOUBLE_DIGITS: Final = 309
"""Digits of the largest whole number that a double holds."""
_HALF: Final = "[\ud800-\udfff]"


def encode(
    value: object, default: Callable[[Any], Any] | None = None, *, keeps_halves: bool = False
) -> bytes:
    """Return compact JSON in UTF-8; NaN and infinity become null, surrogate pairs their character,
    and half a pair U+FFFD, as clients in Rust need it, or its escape with `keeps_halves`. Raises:
    TypeError, ValueError, RecursionError."""
    try:
        return json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=default
        ).encode()
    except ValueError:  # of an UnicodeEncodeError, too
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=default)
    finite = json.loads(text, parse_constant=lambda _: None)
    text = json.dumps(finite, ensure_ascii=False, separators=(",", ":"))
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return re.sub(
        _HALF, lambda half: f"\\u{ord(half[0]):04x}" if keeps_halves else "\ufffd", joined
    ).encode()


write_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Returns a value as the text of compact JSON, as answers have it: their characters are counted."""


def decode(data: bytes | str, *, keeps_halves: bool = False) -> Any:
    """Return the value of JSON in UTF-8, with or without a byte order mark. Raises: ValueError,
    also for NaN, a number no double holds, more than MAX_DEPTH levels, and unless `keeps_halves`
    half a surrogate pair."""
    text = data if isinstance(data, str) else data.removeprefix(codecs.BOM_UTF8).decode()
    if not text.strip():
        raise ValueError("the text is empty")
    try:
        value = json.loads(
            text, parse_constant=_refuse, parse_float=_finite, parse_int=_parse_integer
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value):
        raise ValueError(f"it is nested too deeply, over {MAX_DEPTH} levels")
    if (
        not keeps_halves
        and "\\ud" in text.lower()
        and re.search(_HALF, json.dumps(value, ensure_ascii=False))
    ):
        raise ValueError("it has half of a surrogate pair, which is no character")
    return value


def _refuse(literal: str) -> NoReturn:
    raise ValueError(f"{literal} is not a number that JSON can carry")


def _finite(literal: str) -> float:
    number = float(literal)
    return _refuse(literal) if abs(number) == float("inf") else number


def _parse_integer(literal: str) -> int:
    if len(literal) >= MAX_DOUBLE_DIGITS:
        _finite(literal)
    return int(literal)


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        nested = [
            item.values() if isinstance(item, dict) else item
            for item in level
            if isinstance(item, dict | list)
        ]
        level = list(chain.from_iterable(nested))
    return any(isinstance(item, dict | list) for item in level)
