"""Find the span of a text that holds another span, among many."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from .text import Span


class SortedSpans:
    """Spans of one text that do not overlap.

    A lookup takes a few steps however many there are, so that the links of a note with tens of
    thousands of footnotes are sorted by footnote in a moment.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(spans)
        self._starts = [span.start for span in self._spans]

    def span_around(self, start: int, end: int) -> Span | None:
        """Return the span that holds everything from `start` to `end`; None where none does."""
        at = bisect_right(self._starts, start) - 1
        return self._spans[at] if at >= 0 and end <= self._spans[at].end else None
