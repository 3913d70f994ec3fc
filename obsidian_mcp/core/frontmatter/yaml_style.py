"""Write a property's value in the app's style (FM-50 to FM-58).

Block lists with two-space indent, no folding, no anchors, quotes only where the text would read as
something else. Everything written here reads back equal through `yaml12`. (semantics 4.4)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from obsidian_mcp.core.text.javascript_number import LEAST_EXPONENTIAL
from obsidian_mcp.errors import InvalidArguments

from . import yaml12
from .yaml_values import YamlValue, resolve_scalar

STEP = "  "
"""Indent of one level."""
MAX_KEY = 1000
"""Longest written key, in characters: a YAML parser looks no further than 1024 for the colon."""
_INTEGER_LIMIT = 10**290
"""Integers from here on are refused: `resolve_scalar` reads no number of 300 characters."""

_NEEDS_QUOTES = re.compile(
    r"""^[\n\t ,\[\]{}#&*!|>'"%@`]|^[?-](?:[ \t]|$)|^(?:---|\.\.\.)$|^<<$
    |[\n:][ \t]|[ \t]\n|[\n\t ]\#|[\n\t :]\Z""",
    re.VERBOSE,
)
"""Text that YAML would not read back unchanged: the `yaml` package's rule for plain text."""
_FLOW_BREAKING = re.compile(r"[\[\]{},:?]|^-")
_HIGH_SURROGATE = re.compile("[\ud800-\udbff]")
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"
)


def check_value(value: Any, *, depth: int = 0) -> YamlValue:
    """Return the value in the form in which it reads back.

    Raises: InvalidArguments for a value that a property cannot have.
    """
    if depth >= yaml12.MAX_DEPTH:
        raise InvalidArguments(
            f"The value is nested deeper than {yaml12.MAX_DEPTH} levels. Give a flatter value."
        )
    match value:
        case None | bool():
            return value
        case str():
            return join_surrogates(value)
        case int():
            if abs(value) < _INTEGER_LIMIT:
                return value
        case float():
            if value - value == 0:  # neither infinite nor no number
                return (
                    int(value) if value.is_integer() and abs(value) < LEAST_EXPONENTIAL else value
                )
        case list() | tuple():
            return [check_value(item, depth=depth + 1) for item in value]
        case Mapping():
            if not all(isinstance(key, str) for key in value):
                raise InvalidArguments("The keys of a mapping must be text.")
            return {
                join_surrogates(key): check_value(item, depth=depth + 1)
                for key, item in value.items()
            }
    raise InvalidArguments(
        f"A property cannot hold {value!r:.80}. Give text, a finite number, true, false, null, a "
        "list or a mapping."
    )


def join_surrogates(text: str) -> str:
    """Return the text with surrogate pairs joined into single characters."""
    if not _HIGH_SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def lines(value: YamlValue, indent: str, *, literal: bool = True) -> tuple[str, list[str]]:
    """Return the text after a key's colon on its line, and the lines below it.

    `indent` is the key's own. With `literal` off, text of several lines is quoted and escaped on
    one.
    """
    if isinstance(value, str) and literal and _is_literal(value):
        chomp = "" if value.endswith("\n") else "-"
        inner = indent + STEP
        return "|" + chomp, [
            inner + line if line else "" for line in value.removesuffix("\n").split("\n")
        ]
    if isinstance(value, str):
        return text(value), []
    if isinstance(value, list) and value:
        return "", list(list_lines(value, indent + STEP, literal=literal))
    if isinstance(value, dict) and value:
        return "", list(_mapping_lines(value, indent + STEP, literal=literal))
    return "" if value is None else flow(value, as_json=False), []


def list_lines(items: list[YamlValue], indent: str, *, literal: bool = True) -> Iterator[str]:
    """Yield the lines of a block list whose dashes follow `indent`."""
    inner = indent + STEP
    for item in items:
        if isinstance(item, list | dict) and item:
            below = (
                list_lines(item, inner, literal=literal)
                if isinstance(item, list)
                else _mapping_lines(item, inner, literal=literal)
            )
            yield indent + "- " + next(below).removeprefix(inner)
            yield from below
        else:
            first, further_lines = lines(item, indent, literal=literal)
            yield f"{indent}- {first}".rstrip(" ") if not first else f"{indent}- {first}"
            yield from further_lines


def _mapping_lines(mapping: dict[str, YamlValue], indent: str, *, literal: bool) -> Iterator[str]:
    for name, value in mapping.items():
        first, further_lines = lines(value, indent, literal=literal)
        yield f"{indent}{key(name)}:{' ' if first else ''}{first}"
        yield from further_lines


def flow(value: YamlValue, *, as_json: bool) -> str:
    """Return a value on one line, as inside `{…}` and `[…]`; `as_json` writes it as JSON does."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _quote(value) if as_json else text(value, in_flow=True)
        case list():
            return "[" + ", ".join(flow(item, as_json=as_json) for item in value) + "]"
        case _:
            pairs = (
                f"{key(name, in_flow=True, as_json=as_json)}: {flow(item, as_json=as_json)}"
                for name, item in value.items()
            )
            return "{" + ", ".join(pairs) + "}"


def key(name: str, *, in_flow: bool = False, as_json: bool = False) -> str:
    """Return a key as it is written before its colon.

    Raises: InvalidArguments for one too long to be a key.
    """
    written = _quote(name) if as_json else text(name, in_flow=in_flow)
    if len(written) > MAX_KEY:
        raise InvalidArguments(
            f"The property name is longer than {MAX_KEY} characters. Choose a shorter one."
        )
    return written


def text(value: str, *, in_flow: bool = False) -> str:
    """Return text on one line, quoted only if necessary.

    It is quoted with `'` if it contains `"` and no `'`, else with `"`.
    """
    if _UNPRINTABLE.search(value) or "\n" in value:
        return _quote(value)
    if (
        _NEEDS_QUOTES.search(value)
        or resolve_scalar(value) != value
        or (in_flow and _FLOW_BREAKING.search(value))
    ):
        return f"'{value}'" if '"' in value and "'" not in value else _quote(value)
    return value


def write_like(written: str, value: str) -> str:
    """Return text in the quotes that another text has, such as an item of a list has."""
    if written.startswith('"'):
        return _quote(value)
    if written.startswith("'") and not _UNPRINTABLE.search(value) and "\n" not in value:
        return "'" + value.replace("'", "''") + "'"
    return text(value)


def _quote(value: str) -> str:
    return _UNPRINTABLE.sub(
        lambda character: f"\\u{ord(character[0]):04x}", json.dumps(value, ensure_ascii=False)
    )


def _is_literal(value: str) -> bool:
    """Return whether text is written as a block (`|`).

    Such text has several lines that need no escapes and no indentation indicator.
    """
    if "\n" not in value or _UNPRINTABLE.search(value) or value[0] in " \t\n":
        return False
    return value.removesuffix("\n").rpartition("\n")[2].strip(" \t") != ""
