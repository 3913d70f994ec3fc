"""What stands for one word of a query, and where it is in a text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import regex

from obsidian_mcp.core.text.analysis import GAP, is_spaced

SAME, ACCENTS, FORM, PREFIX, INFIX, TYPO = 1.0, 0.95, 0.85, 0.6, 0.45, 0.4
"""Weights of words that stand for a word of the query."""
_BETWEEN = regex.compile(r"[^\p{L}\p{N}\p{M}]{0,3}+")
"""What may stand between two words that follow each other."""


Variants = dict[str, float]
"""Words of the vocabulary and their weights."""


Place = tuple[int, int, float]
"""Start and end of a match in a folded text, in code points, and its weight."""


class Term(NamedTuple):
    """One word of a query and what is searched for in its place."""

    text: str
    """As in the query, folded."""
    variants: Mapping[str, float] = {}
    """Words of the vocabulary and their weights."""
    phrases: Mapping[tuple[str, ...], float] = {}
    """Words that follow each other (of scripts without spaces, letters) and their weights."""
    is_part: bool = False
    """The text itself is searched for, also inside words; the variants all contain it."""
    instead_of: str = ""
    """What it says in other words (SEARCH-87): the text of another term, or words of the query."""
    is_date: bool = False
    """Whether it is a date alone, which a note may say as "yesterday"."""

    @property
    def word(self) -> str:
        """What of the query it stands for."""
        return self.instead_of or self.text

    @property
    def expression(self) -> str:
        """For the full-text index; empty if no note has any of it. Sorted: in another order the
        weights would add up to sums that differ in their last digits, and files that weigh the same
        would change places."""
        # All variants are words: they need no more than quotes.
        return " OR ".join(
            sorted(
                f'"{" ".join(words)}"' for words in (*((w,) for w in self.variants), *self.phrases)
            )
        )

    def places(self, text: str, limit: int) -> list[Place]:
        """Return where the term is in a folded text, at most so many places of each word or
        phrase."""
        places: list[Place] = []
        if self.is_part:
            at = text.find(self.text)
            while at >= 0 and len(places) < limit:
                end = at + len(self.text)
                places.append((at, end, INFIX if _is_glued(text, at, end) else SAME))
                at = text.find(self.text, end)
            return places
        for word, weight in self.variants.items():
            remaining, at = limit, text.find(word)
            while at >= 0 and remaining:
                end = at + len(word)
                if not _is_glued(text, at, end):
                    places.append((at, end, weight))
                    remaining -= 1
                at = text.find(word, end)
        for phrase, weight in self.phrases.items():
            _add_phrase(places, phrase, weight, text, limit)
        return places


def _is_glued(text: str, start: int, end: int) -> bool:
    return is_spaced(text[start - 1 : start]) or is_spaced(text[end : end + 1])


def _add_phrase(
    places: list[Place], phrase: tuple[str, ...], weight: float, text: str, limit: int
) -> None:
    """Where folded words follow each other with little between; compiling a pattern to use once
    takes longer."""
    first, *following = without_gaps(phrase)
    is_begun, is_ended = is_spaced(phrase[0][0]), is_spaced(phrase[-1][-1])
    at = text.find(first)
    while at >= 0 and limit:
        end = -1
        if not (is_begun and at and is_spaced(text[at - 1])):
            ends = _ends(following, text, at + len(first))
            end = max(
                (stop for stop in ends if not (is_ended and is_spaced(text[stop : stop + 1]))),
                default=-1,
            )
        if end > at:
            places.append((at, end, weight))
            limit -= 1
        at = text.find(first, max(end, at + 1))


def _ends(words: Sequence[str], text: str, at: int) -> Collection[int]:
    """Where words may end that follow each other from a place on: symbols are words, and stand
    between words."""
    ends: Collection[int] = (at,)
    for word in words:
        ends = {
            start + len(word)
            for end in ends
            if (between := _BETWEEN.match(text, end))
            for start in range(end, between.end() + 1)
            if text.startswith(word, start)
        }
        if not ends:
            break
    return ends


def without_gaps(phrase: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a phrase."""
    return tuple([word for word in phrase if word != GAP])
