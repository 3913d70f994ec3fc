"""Raw inline fields of a text: `key:: value`, `[key:: value]`, emoji shorthands (specs/dataview.md, DV-04 to DV-06)."""

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
_KEY = regex.compile(rf"[^0-9A-Za-z_\p{{L}}]*+((?:{_EMOJI}|(?:[0-9A-Za-z\p{{L}}_/-]|{SPACE})++)*+)[_*~`]*")


class InlineField(NamedTuple):
    """A key and the text of its value, both as written."""

    key: str
    value: str


class _Found(NamedTuple):
    start: int
    end: int
    field: InlineField


def line_fields(line: str) -> list[InlineField]:
    """The fields of a line outside of lists: the bracketed ones, else the one that the whole line is (DV-04)."""
    if "::" not in line or len(line) > MAX_LINE:
        return []
    line = line.strip(SPACES)
    found = bracketed_fields(line)
    if found:
        return found
    whole = full_line_field(line)
    return [whole] if whole else []


def item_fields(text: str, *, is_task: bool) -> list[InlineField]:
    """The fields of a list item, its lines joined by spaces; only one that is no task may be a full line (DV-06)."""
    found = bracketed_fields(text, shorthands=True)
    if found or is_task or "::" not in text:
        return found
    whole = full_line_field(text)
    return [whole] if whole else []


def full_line_field(line: str) -> InlineField | None:
    """The field that a whole line is: a plain key before its first `::` (DV-04)."""
    key, separator, value = line.partition("::")
    if not separator:
        return None
    found = _KEY.fullmatch(key.strip(SPACES))
    return InlineField(found[1], value.strip(SPACES)) if found else None


def bracketed_fields(line: str, *, shorthands: bool = False) -> list[InlineField]:
    """`[key:: value]`, `(key:: value)` and shorthands of a line; none touches an earlier one (DV-05, DV-06)."""
    found: list[_Found] = []
    if "::" in line:
        for opening in _CLOSING:
            found += _find_wrapped(line, opening)
    if shorthands and not line.isascii():
        for key, pattern in _SHORTHANDS.items():
            date = pattern.search(line)
            if date:
                found.append(_Found(date.start(), date.end(), InlineField(key, date[1])))
    found.sort(key=lambda candidate: candidate.start)
    kept: list[_Found] = []
    for candidate in found:
        if not kept or kept[-1].end < candidate.start:
            kept.append(candidate)
    return [candidate.field for candidate in kept]


def _find_wrapped(line: str, opening: str) -> list[_Found]:
    """The fields in brackets of one kind, in order, none inside another of its kind."""
    found: list[_Found] = []
    opened = _OPENINGS[opening]
    candidate = opened.search(line)
    brackets = _Brackets(line, opening, _CLOSING[opening]) if candidate else None
    while candidate and brackets:
        end = brackets.close(candidate.end())
        if end >= 0:
            value = line[candidate.end() : end].strip(SPACES)
            found.append(_Found(candidate.start(), end + 1, InlineField(candidate[1].strip(SPACES), value)))
        candidate = opened.search(line, candidate.start() + 1 if end < 0 else end + 1)
    return found


class _Brackets:
    """Where brackets of one kind close in a line, nesting counted; one after a backslash does not count."""

    def __init__(self, line: str, opening: str, closing: str) -> None:
        self._places: list[int] = []
        self._depths: list[int] = [0]
        self._reaching: dict[int, list[int]] = {}
        depth = 0
        for found in _ESCAPE_OR_BRACKET.finditer(line):
            if found[0] in (opening, closing):
                depth += 1 if found[0] == opening else -1
                self._reaching.setdefault(depth, []).append(len(self._places))
                self._places.append(found.start())
                self._depths.append(depth)

    def close(self, start: int) -> int:
        """The bracket that closes what was opened right before `start`; -1 where none does."""
        first = bisect_left(self._places, start)
        closers = self._reaching.get(self._depths[first] - 1, [])
        at = bisect_left(closers, first)
        return self._places[closers[at]] if at < len(closers) else -1
