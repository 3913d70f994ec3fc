"""Looks for words in the blocks, sections or tasks of a note, without taking the note apart (specs/search.md).

`core/query/evaluate.py` says what a query means; this finds the same for the plainest of them in a tenth of the time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import le

from .matchers import Literal, finder
from .parser import Phrase, Word
from .scopes import bounds
from .tokens import Operator

FEW = 8
"""So few parts are looked at one by one; of more those in which the first text stands."""


@dataclass(frozen=True, slots=True)
class Portions:
    """Finds notes with a part in which all of some texts stand."""

    operator: Operator
    anchor: Literal
    """One of the texts, to be looked for first."""
    others: tuple[Literal, ...]

    def found(self, text: str, packed: bytes) -> bool:
        """`packed` is what `structure.pack` gives for the text, and not empty."""
        starts, ends = bounds(packed, self.operator)
        search, others = self.anchor.pattern.search, self._others
        if len(starts) < FEW or not all(map(le, ends, starts[1:])):  # an item of a list may hold others
            for start, end in zip(starts, ends, strict=True):
                if search(text, start, end, concurrent=False) and all(held(text, start, end) for held in others):
                    return True
            return False
        at = 0
        while (place := search(text, at, concurrent=False)) is not None:
            first = place.start()
            at = first + 1
            part = bisect_right(starts, first) - 1
            if part < 0:
                continue
            start, end = starts[part], ends[part]
            if place.end() <= end:
                for held in others:
                    if not held(text, start, end):
                        break
                else:
                    return True
                at = end
        return False

    @property
    def _others(self) -> list[Callable[[str, int, int], object]]:
        return [
            other.found if other.looks_around else partial(other.pattern.search, concurrent=False)
            for other in self.others
        ]


def portions(operator: Operator, leaves: Sequence[Word | Phrase], match_case: bool | None) -> Portions | None:
    """None where a text may go over the end of a part, and where there is no word to begin with."""
    if any("\n" in leaf.text or "\r" in leaf.text for leaf in leaves):
        return None
    finders = [found for leaf in leaves if isinstance(found := finder(leaf, match_case), Literal)]
    anchors = [
        (len(leaf.text), n) for n, leaf in enumerate(leaves) if isinstance(leaf, Word) and len(finders) == len(leaves)
    ]
    if not anchors:
        return None
    _, anchor = max(anchors)
    return Portions(operator, finders[anchor], tuple(found for n, found in enumerate(finders) if n != anchor))
