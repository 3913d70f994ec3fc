"""Inline fields of a note's text: `key:: value`, `[key:: value]`, shorthands (DV-04 to DV-06).

What is read here is raw text; `literals.inline_value` makes values of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

import regex

from obsidian_mcp.core.dataview.characters import SPACE
from obsidian_mcp.core.expressions.javascript import SPACES

MAX_LINE = 32_768
"""Characters of the longest line that is looked at outside of lists."""

_CLOSING = {"[": "]", "(": ")"}

_OPENINGS = {opening: re.compile(rf"\{opening}((?:(?!::)[^\[\]()])*)::") for opening in _CLOSING}
"""A bracket and a key; a key holds no bracket."""

_ESCAPE_OR_BRACKET = re.compile(r"\\.|[\[\]()]", re.DOTALL)

_DATE = rf"{SPACE}*([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})"

_SHORTHANDS = {
    "created": re.compile("\u2795" + _DATE),
    "start": re.compile("\U0001f6eb" + _DATE),
    "scheduled": re.compile("[\u23f3\u231b]" + _DATE),
    "due": re.compile("(?:\U0001f4c5|\U0001f4c6|\U0001f5d3\ufe0f?)" + _DATE),
    "completion": re.compile("\u2705" + _DATE),
}

_EMOJI = r"[0-9#*]\ufe0f?\u20e3|(?!\p{ASCII})(?=\p{Emoji})[\u0000-\uffff]\ufe0f?"
"""Those that the plugin takes within a key: no pictures beyond U+FFFF, by a slip in its pattern."""

_KEY = regex.compile(
    rf"[^0-9A-Za-z_\p{{L}}]*+((?:{_EMOJI}|(?:[0-9A-Za-z\p{{L}}_/-]|{SPACE})++)*+)[_*~`]*"
)


class InlineField(NamedTuple):
    """A key and the text of its value, both as written."""

    key: str
    value: str


class _FieldMatch(NamedTuple):
    """A field and where it stands in its line."""

    start: int
    end: int
    field: InlineField


def line_fields(line: str) -> list[InlineField]:
    """Return the fields of a line outside of lists (DV-04).

    These are the bracketed ones, else the one that the whole line is.
    """
    if "::" not in line or len(line) > MAX_LINE:
        return []
    line = line.strip(SPACES)
    return bracketed_fields(line) or _full_line_fields(line)


def item_fields(text: str, *, is_task: bool) -> list[InlineField]:
    """Return the fields of a list item, whose lines are joined by spaces (DV-06).

    Only in one that is no task may the whole text be a field.
    """
    fields = bracketed_fields(text, shorthands=True)
    return fields if fields or is_task else _full_line_fields(text)


def _full_line_fields(line: str) -> list[InlineField]:
    whole = full_line_field(line)
    return [whole] if whole else []


def full_line_field(line: str) -> InlineField | None:
    """Return the field that a whole line is: a plain key before its first `::` (DV-04)."""
    key, separator, value = line.partition("::")
    if not separator:
        return None
    key_match = _KEY.fullmatch(key.strip(SPACES))
    return InlineField(key_match[1], value.strip(SPACES)) if key_match else None


def bracketed_fields(line: str, *, shorthands: bool = False) -> list[InlineField]:
    """Return `[key:: value]` and `(key:: value)` of a line, with emoji shorthands where they count.

    A field that overlaps or touches an earlier one is left out (DV-05, DV-06).
    """
    matches: list[_FieldMatch] = []
    if "::" in line:
        for opening in _CLOSING:
            matches += _find_wrapped(line, opening)
    if shorthands and not line.isascii():
        for key, pattern in _SHORTHANDS.items():
            date = pattern.search(line)
            if date:
                matches.append(_FieldMatch(date.start(), date.end(), InlineField(key, date[1])))
    matches.sort(key=lambda candidate: candidate.start)
    apart: list[_FieldMatch] = []
    for candidate in matches:
        if not apart or apart[-1].end < candidate.start:
            apart.append(candidate)
    return [candidate.field for candidate in apart]


def _find_wrapped(line: str, opening: str) -> list[_FieldMatch]:
    """Return the fields in brackets of one sort, in order, none inside another of its sort."""
    matches: list[_FieldMatch] = []
    opened = _OPENINGS[opening]
    candidate = opened.search(line)
    brackets = _Brackets(line, opening, _CLOSING[opening]) if candidate else None
    while candidate and brackets:
        end = brackets.close(candidate.end())
        if end >= 0:
            value = line[candidate.end() : end].strip(SPACES)
            matches.append(
                _FieldMatch(
                    candidate.start(), end + 1, InlineField(candidate[1].strip(SPACES), value)
                )
            )
        candidate = opened.search(line, candidate.start() + 1 if end < 0 else end + 1)
    return matches


class _Brackets:
    """Where brackets of one sort close in a line, nesting counted.

    A bracket after a backslash does not count. A line is read once, so that one of very many open
    brackets takes no more time than its length allows.
    """

    def __init__(self, line: str, opening: str, closing: str) -> None:
        self._places: list[int] = []
        """Where each bracket stands."""
        self._depths: list[int] = [0]
        """How many are open before the first bracket, and behind each one."""
        self._reaching: dict[int, list[int]] = {}
        """By depth, the numbers of the brackets behind which so many are open."""
        depth = 0
        for mark in _ESCAPE_OR_BRACKET.finditer(line):
            if mark[0] in (opening, closing):
                depth += 1 if mark[0] == opening else -1
                self._reaching.setdefault(depth, []).append(len(self._places))
                self._places.append(mark.start())
                self._depths.append(depth)

    def close(self, start: int) -> int:
        """Return the place of the bracket that closes what was opened right before `start`.

        -1 where none does.
        """
        first = bisect_left(self._places, start)
        closers = self._reaching.get(self._depths[first] - 1, [])
        at = bisect_left(closers, first)
        return self._places[closers[at]] if at < len(closers) else -1
