"""The values of YAML 1.2 core (semantics 4.1): what plain text means, and keys as text."""

from __future__ import annotations

import re
from typing import Any

from obsidian_mcp.core.text.javascript_number import LEAST_EXPONENTIAL

YamlScalar = str | int | float | bool | None
YamlValue = Any
"""Text, number, boolean, None, or lists and mappings of these, as JSON has them."""

_MAX_DIGITS = 300
"""Characters from which on an integer is larger than JSON's numbers, or nearly so."""
_MAX_BASED_DIGITS = 250
"""The same for hexadecimal and octal integers."""
_TYPED_FIRST = frozenset("~nNtTfF+-.0123456789")
_CONSTANTS: dict[str, YamlScalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + word: None for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), None),
}
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")


def resolve_scalar(text: str) -> YamlScalar:
    """Return the value of a plain scalar in the core schema.

    Return None for a number that JSON cannot have.
    """
    if text and text[0] not in _TYPED_FIRST:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INT.match(text):
        return int(text) if len(text) < _MAX_DIGITS else None
    if _BASED.match(text):
        return int(text, 0) if len(text) < _MAX_BASED_DIGITS else None
    if _FLOAT.match(text):
        number = float(text)
        if number - number != 0:  # infinite
            return None
        return int(number) if number.is_integer() and abs(number) < LEAST_EXPONENTIAL else number
    return text


def key_text(value: YamlValue, *, nested: bool = False) -> str:
    """Return a key converted to text as in JavaScript.

    Examples are `1`, `true`, "" for null, and `{ a: b }` for a mapping.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return "null" if nested else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        inner = ", ".join(key_text(item, nested=True) for item in value)
        return f"[ {inner} ]" if inner else "[]"
    if isinstance(value, dict):
        # An unquoted template field, `{{title}}`, is a mapping whose key is the mapping { title }.
        pairs = (
            key if item is None else f"{key}: {key_text(item, nested=True)}"
            for key, item in value.items()
        )
        inner = ", ".join(pairs)
        return f"{{ {inner} }}" if inner else "{}"
    return str(value)
