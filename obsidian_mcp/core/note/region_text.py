"""The text of one region of a note, in which inline syntax is read, and the way back to the note.

A region of several parts, such as a paragraph in a quote, is one text without the prefixes of its
lines: a link may begin on one line and end on the next.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from obsidian_mcp.core.text.text import Span

from .elements import Region

_closing_marks = {
    **{mark: re.compile(re.escape(mark)).search for mark in ("]", ">", "%%", "-->")},
    "$": re.compile(r"(?<![ \t\\])\$(?![0-9])").search,
    "$$": re.compile(r"(?<![ \t\\])\$\$").search,
}
"""Searches for the marks that end an element."""


class RegionText:
    """The text of a region; offsets count in it, from `first` to `end`."""

    __slots__ = ("_froms", "_next", "_parts", "end", "first", "text")

    def __init__(self, body: str, region: Region) -> None:
        self.text = body
        """The whole body for a region of one part: nothing is copied then."""
        self.first, self.end = region.start, region.end
        self._parts = region.parts
        self._froms: list[int] = []
        """Offset of each of several parts in the text."""
        self._next: dict[str, int] = {}
        """Offset of the next closing mark of each kind, as far as searched."""
        if region.parts:
            at = 0
            for part in region.parts:
                self._froms.append(at)
                at += part.end - part.start + 1
            self.text = "\n".join(part.slice(body) for part in region.parts)
            self.first, self.end = 0, at - 1

    def span(self, start: int, end: int) -> Span:
        """Return the place in the note of a part of the text."""
        if not self._froms:
            return Span(start, end)
        return Span(
            self._place(start), self._place(end - 1) + 1 if end > start else self._place(end)
        )

    def _place(self, at: int) -> int:
        k = bisect_right(self._froms, at) - 1
        return min(self._parts[k].start + at - self._froms[k], self._parts[k].end)

    def find(self, mark: str, at: int) -> int:
        """Return the offset of the next closing `mark` from `at` on in the region, -1 without one.

        The offset is remembered for each mark, so that a search which fails for the rest of the
        region is made once.
        """
        offset = self._next.get(mark, -1)
        if offset < at:
            closing = _closing_marks[mark](self.text, at, self.end)
            offset = self._next[mark] = closing.start() if closing else self.end
        return offset if offset < self.end else -1
