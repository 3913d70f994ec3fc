"""Values that an expression can have (EXPR-01).

Null is None, a boolean bool, a number float (never int: arithmetic is that of JavaScript), a text
str, a list list, an object dict with its keys in order. Links and files are here, dates and
durations in `dates`, regular expressions in `regexps`; a language may add types of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

Value = Any
"""None, bool, float, str, list, dict, Date, Duration, Link, File, RegExp, or a type of one language
alone."""


class ExpressionError(Exception):
    """An expression that has no value for one row.

    `message` is in the words of the app or plugin.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


MAX_VALUE_DEPTH = 40
"""Lists and objects inside each other in a cell or text, or in values that are compared."""


def check_depth(depth: int) -> None:
    """Raise ExpressionError for a value that is nested too deep."""
    if depth >= MAX_VALUE_DEPTH:
        raise ExpressionError(f"The value is nested more than {MAX_VALUE_DEPTH} deep.")


@dataclass(frozen=True, slots=True)
class LinkValue:
    """A link: what is written, and the file that holds it, from which it resolves."""

    path: str
    """Without the subpath."""
    subpath: str = ""
    """Begins with `#`, or is empty."""
    display: str | None = None
    """None where none is written."""
    embed: bool = False
    source: str = ""
    """Path of the file from which the link is resolved; empty for the vault's root."""

    @property
    def target(self) -> str:
        return self.path + self.subpath


class File(NamedTuple):
    """A file of the vault.

    It is a tuple because a query makes one for every file of the vault, and tuples are made
    fastest.
    """

    path: str
    size: int = 0
    """Bytes."""
    modified_ns: int = 0
    """Nanoseconds since 1970, UTC. `VaultView.created_ns` has the time of creation."""

    @property
    def name(self) -> str:
        """With extension."""
        return self.path.rpartition("/")[2]

    @property
    def basename(self) -> str:
        stem, dot, _ = self.name.rpartition(".")
        return stem if dot and stem else self.name

    @property
    def extension(self) -> str:
        """Without dot; empty where there is none."""
        stem, dot, extension = self.name.rpartition(".")
        return extension if dot and stem else ""

    @property
    def folder(self) -> str:
        """Path of the folder; empty at the vault's root."""
        return self.path.rpartition("/")[0]


def from_json(raw: Value, read_text: Callable[[str], Value] = str) -> Value:
    """Return a value of a note's frontmatter with every number as float.

    Texts at any depth become what `read_text` makes of them.
    """
    match raw:
        case str():
            return read_text(raw)
        case bool() | None | float():
            return raw
        case int():
            try:
                return float(raw)
            except OverflowError:
                return float("inf") if raw > 0 else float("-inf")
        case list():
            return [from_json(item, read_text) for item in raw]
        case dict():
            return {str(key): from_json(item, read_text) for key, item in raw.items()}
        case _:
            return str(raw)
