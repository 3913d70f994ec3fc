"""Quoted text in a file: a JSON string or a YAML scalar, read with the offset of each character.

So a part of it can be replaced while every other character of the file, and every other escape,
stays as it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Literal

from obsidian_mcp.core.text.text import Span, join_surrogate_pair

Quote = Literal["json", "double", "single", "none"]
"""A JSON string, YAML's two quoted styles, or plain text."""

_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|"
    r"(?:x(?=[0-9a-fA-F]{2})|u(?=[0-9a-fA-F]{4})|U(?=[0-9a-fA-F]{8}))"
    r"((?<=x)[0-9a-fA-F]{2}|(?<=u)[0-9a-fA-F]{4}|(?<=U)[0-9a-fA-F]{8})|(.))",
    re.DOTALL,
)
"""An escape in YAML's double quotes, and so in JSON, which has some of these escapes."""
_SINGLE_ESCAPE = re.compile(r"''")
_NAMED = {
    "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "0": "\0", "a": "\a", "v": "\v", "e": "\x1b",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class Quoted:
    """A text and its position.

    `span` covers the source with its quotes, in code points of the file's body.
    """

    value: str
    quote: Quote
    span: Span = field(compare=False)
    ascii_only: bool = field(default=False, compare=False)
    """Whether the file escapes non-ASCII characters; inserted text is then escaped too."""
    _starts: tuple[int, ...] | None = field(default=None, compare=False, repr=False)
    """Offset in the body of each character and of the end; None if nothing is escaped."""

    def place(self, part: Span) -> Span:
        """Return the span of a part of `value` in the body."""
        if self._starts is not None:
            return Span(self._starts[part.start], self._starts[part.end])
        first = self.span.start + (0 if self.quote == "none" else 1)
        return Span(first + part.start, first + part.end)

    def write_quoted(self, text: str) -> str:
        """Return `text` escaped for insertion into this text."""
        match self.quote:
            case "json":
                return json.dumps(text, ensure_ascii=self.ascii_only)[1:-1]
            case "double":
                escaped = text.replace("\\", "\\\\").replace('"', '\\"')
                return _CONTROL.sub(lambda control: f"\\x{ord(control[0]):02x}", escaped)
            case "single":
                return text.replace("'", "''")
            case "none":
                return text


def read_json(body: str, span: Span, *, ascii_only: bool = False) -> Quoted:
    """Return the JSON string, valid and with its quotes, at `span`."""
    return _read(body, span, "json", ascii_only=ascii_only)


def read_yaml(body: str, span: Span) -> Quoted:
    """Return the YAML scalar of one line at `span`, which is quoted with `"` or `'`."""
    return _read(body, span, "double" if body.startswith('"', span.start) else "single")


def _read(body: str, span: Span, quote: Quote, *, ascii_only: bool = False) -> Quoted:
    start, end = span.start + 1, span.end - 1
    inner = body[start:end]
    if ("'" if quote == "single" else "\\") not in inner:
        return Quoted(inner, quote, span, ascii_only)
    value: list[str] = []
    starts: list[int] = []
    at = start
    for escape in (_SINGLE_ESCAPE if quote == "single" else _ESCAPE).finditer(body, start, end):
        value.append(body[at : escape.start()])
        starts += range(at, escape.start())
        value.append("'" if quote == "single" else _meaning(escape))
        starts.append(escape.start())
        at = escape.end()
    value.append(body[at:end])
    starts += range(at, end + 1)
    return Quoted("".join(value), quote, span, ascii_only, tuple(starts))


def _meaning(escape: re.Match[str]) -> str:
    high, low, code, name = escape.groups()
    if high:
        return join_surrogate_pair(int(high, 16), int(low, 16))
    return chr(int(code, 16)) if code else _NAMED.get(name, name)
