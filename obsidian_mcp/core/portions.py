"""Looks for words in the blocks, sections or tasks of a note, without taking the note apart (specs/search.md).

`core/match.py` says what a query means; this finds the same for the plainest of them in a tenth of the time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import le

from .finders import Literal
from .letters import fold, phrase
from .query import Phrase, Word
from .structure import bounds
from .tokens import Operator

FEW = 8
"""So few parts are looked at one by one; of more those in which the first text stands."""


@dataclass(frozen=True, slots=True)
class Portions:
    """Finds notes with a part in which all of some texts stand."""

    operator: Operator
    anchor: str
    """Folded; one of the texts, to be looked for first."""
    others: tuple[Callable[[str, int, int], object], ...]
    """Say of each of the other texts whether it stands in a part of a folded text."""

    def found(self, text: str, packed: bytes) -> bool:
        """`packed` is what `structure.pack` gives for the text, and not empty."""
        starts, ends = bounds(packed, self.operator)
        text, anchor, others = fold(text), self.anchor, self.others
        if len(starts) < FEW or not all(map(le, ends, starts[1:])):  # an item of a list may hold others
            for start, end in zip(starts, ends, strict=True):
                if text.find(anchor, start, end) >= 0 and all(held(text, start, end) for held in others):
                    return True
            return False
        at = 0
        while (first := text.find(anchor, at)) >= 0:
            at = first + 1
            part = bisect_right(starts, first) - 1
            if part < 0:
                continue
            start, end = starts[part], ends[part]
            if first + len(anchor) <= end:
                for held in others:
                    if not held(text, start, end):
                        break
                else:
                    return True
                at = end
        return False


def portions(operator: Operator, leaves: Sequence[Word | Phrase], match_case: bool | None) -> Portions | None:
    """None where a text may go over the end of a part, where case counts, and where there is no word to begin with."""
    if match_case or any("\n" in leaf.text or "\r" in leaf.text or not leaf.text for leaf in leaves):
        return None
    words = [(len(leaf.text), n) for n, leaf in enumerate(leaves) if isinstance(leaf, Word)]
    if not words:
        return None
    _, anchor = max(words)
    others = tuple(_held(leaf) for n, leaf in enumerate(leaves) if n != anchor)
    return Portions(operator, fold(leaves[anchor].text), others)


def _held(leaf: Word | Phrase) -> Callable[[str, int, int], object]:
    text = fold(leaf.text)
    if isinstance(leaf, Word):
        return lambda folded, start, end: folded.find(text, start, end) >= 0
    return Literal(phrase(text, match_case=False), looks_around=True).found
