"""Reads a text from left to right for the parsers of expressions and queries (DV-30, DV-31).

Alternatives are tried in a fixed order and never reconsidered after one has matched, as in the
plugin's grammar. The scanner remembers the furthest place where something was missing and what was
expected there: that is what a syntax error says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import regex

from obsidian_mcp.core.dataview.characters import EMOJI, LINK_TEXT, NUMBER, SPACE, TAG
from obsidian_mcp.errors import QueryInvalid

_SPACES = regex.compile(f"{SPACE}*")

_NAME = regex.compile(rf"(?:\p{{L}}|{EMOJI})(?:[0-9\p{{L}}_-]|{EMOJI})*")

_NUMBER = regex.compile(NUMBER)

_TEXT = regex.compile(r'"((?:[^"\\]|\\.)*+)"', regex.DOTALL)

_ESCAPE = regex.compile(r'\\(["\\])')

_TAG = regex.compile(TAG)

LINK = regex.compile(rf"\[\[({LINK_TEXT})\]\]")

_TOKEN = regex.compile(r"[^\s,;()\[\]{}]{1,30}|.", regex.DOTALL)

ReadItem = TypeVar("ReadItem")


class Missing(Exception):
    """What a rule of the grammar needs is not there."""


class Scanner:
    """A text and a position in it.

    A method that reads goes past what it returns, or raises `Missing`; what was missing is
    remembered for the message. `pos` is public: a parser that gives an alternative up sets it back.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self._furthest = 0
        """The furthest place at which something was missing."""
        self._expected: dict[str, None] = {}
        """What was looked for there, in the order in which it was tried; the values are unused."""

    @property
    def at_end(self) -> bool:
        return self.pos >= len(self.text)

    def expect(self, description: str) -> Missing:
        """Record that `description` was looked for at the current position and is not there.

        An empty one is not recorded.
        """
        if description and self.pos > self._furthest:
            self._furthest = self.pos
            self._expected = {}
        if description and self.pos == self._furthest:
            self._expected[description] = None
        return Missing()

    def attempt(self, read_rule: Callable[[], ReadItem]) -> ReadItem | None:
        """Return what `read_rule` reads; None, at the same position, where that is missing."""
        start = self.pos
        try:
            return read_rule()
        except Missing:
            self.pos = start
            return None

    def read_first(self, alternatives: Iterable[Callable[[], ReadItem]]) -> ReadItem:
        """Return what the first of several rules reads that finds what it needs."""
        start = self.pos
        for read_rule in alternatives:
            try:
                return read_rule()
            except Missing:
                self.pos = start
        raise Missing

    def match(self, pattern: regex.Pattern[str], description: str) -> regex.Match[str]:
        """Go past a match of `pattern` at the current position."""
        match = pattern.match(self.text, self.pos)
        if match is None:
            raise self.expect(description)
        self.pos = match.end()
        return match

    def take(self, string: str, description: str = "") -> bool:
        """Go past `string`, in exactly this spelling."""
        if not self.text.startswith(string, self.pos):
            raise self.expect(description or f"'{string}'")
        self.pos += len(string)
        return True

    def skip_space(self) -> bool:
        """Go past white space; return whether there was any."""
        spaces = _SPACES.match(self.text, self.pos)
        assert spaces is not None  # noqa: S101  it matches the empty string
        self.pos = spaces.end()
        return self.pos > spaces.start()

    def need_space(self, description: str = "") -> None:
        if not self.skip_space():
            raise self.expect(description)

    def take_between_spaces(self, string: str) -> None:
        self.skip_space()
        self.take(string)
        self.skip_space()

    def name(self, description: str = "a name") -> str:
        return self.match(_NAME, description)[0]

    def number(self, description: str = "a number") -> float:
        return float(self.match(_NUMBER, description)[0])

    def string(self, description: str = "a text in double quotes") -> str:
        """Read a text in double quotes; `\\"` and `\\\\` are escapes, other backslashes stay."""
        text = self.match(_TEXT, description)[1]
        return _ESCAPE.sub(r"\1", text)

    def name_or_string(self, description: str) -> str:
        name = self.attempt(lambda: self.name(description))
        return self.string() if name is None else name

    def tag(self) -> str:
        """Read a tag with its `#`."""
        return self.match(_TAG, "a tag")[0]

    def error(self, hint: str = "") -> QueryInvalid:
        """Return the syntax error at the furthest place that any alternative reached (DV-31)."""
        at = self._furthest
        before = self.text[:at]
        line, column = before.count("\n") + 1, at - before.rfind("\n")
        token = _TOKEN.match(self.text, at)
        if token is None:
            present = "the end"
        else:
            present = f"'{token[0]}'" if token[0].strip() else "white space"
        *before_last, last = self._expected or ["the end of the query"]
        expected = f"{', '.join(before_last)} or {last}" if before_last else last
        message = (
            f"The query cannot be read at line {line}, column {column}: found {present}, "
            f"expected {expected}."
        )
        return QueryInvalid(
            f"{message} {hint}".rstrip(),
            line=line,
            column=column,
            expected=list(self._expected),
            hint=hint,
        )
