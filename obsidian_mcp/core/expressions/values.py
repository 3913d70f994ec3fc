"""Values of expressions (EXPR-01): these, `dates`, None, bool, float (no int, as in JavaScript), str, list, dict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

Value = Any
"""None, bool, float, str, list, dict, Date, Duration, Link, File, RegExp, or a type of one language alone."""


class ExpressionError(Exception):
    """An expression that has no value for one row. `message` is in the words of the app or plugin."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def bare(self) -> ExpressionError:
        """The error without its traceback, which would keep every value that was in use when it was raised."""
        return ExpressionError(self.message)


@dataclass(frozen=True, slots=True)
class LinkValue:
    """A link as written: `path` without the `subpath`, which begins with `#`; `display` is None where not written."""

    path: str
    subpath: str = ""
    display: str | None = None
    embed: bool = False
    source: str = ""
    """Path of the file from which the link is resolved; empty for the vault's root."""

    @property
    def target(self) -> str:
        return self.path + self.subpath


class File(NamedTuple):
    """A file of the vault; a query makes one for each, so it is a tuple."""

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
    """A value of a note's frontmatter with every number as float; texts at any depth are what `read_text` makes of
    them."""
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
