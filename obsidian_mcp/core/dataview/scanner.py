"""Reads a text for the parsers of expressions and queries (DV-30, DV-31): alternatives are tried in a fixed order and
never reconsidered; the furthest place where something was missing is what a syntax error says."""

from __future__ import annotations

import regex

from obsidian_mcp.core.dataview.characters import EMOJI, NUMBER, SPACE, TAG
from obsidian_mcp.errors import QueryInvalid

_SPACES = regex.compile(f"{SPACE}*")
_NAME = regex.compile(rf"(?:\p{{L}}|{EMOJI})(?:[0-9\p{{L}}_-]|{EMOJI})*")
_NUMBER = regex.compile(NUMBER)
_TEXT = regex.compile(r'"((?:[^"\\]|\\.)*+)"', regex.DOTALL)
_ESCAPE = regex.compile(r'\\(["\\])')
_TAG = regex.compile(TAG)
_LINK = regex.compile(r"\[\[([^\[\]]*)\]\]")
_SHOWN = regex.compile(r"[^\s,;()\[\]{}]{1,30}|.", regex.DOTALL)


class Scanner:
    """A text and a position in it. `pos` is public: a parser that gives an alternative up sets it back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self._furthest = 0
        self._expected: dict[str, None] = {}

    @property
    def at_end(self) -> bool:
        return self.pos >= len(self.text)

    def expect(self, description: str) -> None:
        """Record that `description` was looked for at the current position and is not there; nothing for none."""
        if not description:
            return
        if self.pos > self._furthest:
            self._furthest = self.pos
            self._expected = {}
        if self.pos == self._furthest:
            self._expected[description] = None

    def match(self, pattern: regex.Pattern[str], description: str) -> regex.Match[str] | None:
        """Go past a match of `pattern` at the current position; None where there is none."""
        found = pattern.match(self.text, self.pos)
        if found is None:
            self.expect(description)
        else:
            self.pos = found.end()
        return found

    def take(self, string: str, description: str = "") -> bool:
        """Go past `string`, in exactly this spelling."""
        if self.text.startswith(string, self.pos):
            self.pos += len(string)
            return True
        self.expect(description or f"'{string}'")
        return False

    def skip_space(self) -> bool:
        """Go past white space; whether there was any."""
        start = self.pos
        self.pos = _SPACES.match(self.text, start).end()  # type: ignore[union-attr]  # it matches the empty string
        return self.pos > start

    def take_between_spaces(self, string: str) -> bool:
        """Go past `string` with white space around it; without it, past nothing."""
        start = self.pos
        self.skip_space()
        if self.take(string):
            self.skip_space()
            return True
        self.pos = start
        return False

    # The smallest parts of the language

    def name(self, description: str = "a name") -> str | None:
        found = self.match(_NAME, description)
        return found[0] if found else None

    def number(self, description: str = "a number") -> float | None:
        found = self.match(_NUMBER, description)
        return float(found[0]) if found else None

    def string(self, description: str = "a text in double quotes") -> str | None:
        """A text in double quotes; `\\"` and `\\\\` are escapes, any other backslash stays."""
        found = self.match(_TEXT, description)
        return _ESCAPE.sub(r"\1", found[1]) if found else None

    def tag(self) -> str | None:
        """A tag with its `#`."""
        found = self.match(_TAG, "a tag")
        return found[0] if found else None

    def link_text(self, description: str = "a link") -> str | None:
        """What stands between `[[` and `]]`."""
        found = self.match(_LINK, description)
        return found[1] if found else None

    # Errors

    def error(self, hint: str = "") -> QueryInvalid:
        """The syntax error at the furthest place that any alternative reached (DV-31)."""
        at = self._furthest
        before = self.text[:at]
        line, column = before.count("\n") + 1, at - before.rfind("\n")
        shown = _SHOWN.match(self.text, at)
        found = f"'{shown[0]}'" if shown and shown[0].strip() else "white space" if shown else "the end"
        expected = _list_words(list(self._expected))
        message = f"The query cannot be read at line {line}, column {column}: found {found}, expected {expected}."
        return QueryInvalid(
            f"{message} {hint}".rstrip(), line=line, column=column, expected=list(self._expected), hint=hint
        )


def _list_words(items: list[str]) -> str:
    if len(items) < 2:
        return items[0] if items else "the end of the query"
    return f"{', '.join(items[:-1])} or {items[-1]}"
