"""What the words of a query weigh (SEARCH-87)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from .snapshot import Snapshot
from .term import Term

OTHER_WORD = 0.7
"""Weight of a word that says the same, beside that of the word itself."""
LEAST_RARITY = 0.2
"""What a word weighs that nearly every file has."""


class Weighted(NamedTuple):
    """A term, and what it weighs."""

    word: int
    """Number of the word of the query that it stands for."""
    term: Term
    weight: float


def weigh_terms(snapshot: Snapshot, terms: Sequence[Term]) -> list[Weighted]:
    """Return terms with their weights: the rarer a word, the more.

    A word that stands for another one, such as a synonym, weighs no more than that: a rare synonym
    of a common word would decide the order otherwise.
    """
    if len(terms) == 1:
        return [Weighted(0, terms[0], OTHER_WORD if terms[0].instead_of else 1.0)]
    rarities = [rarity_of(snapshot, term) for term in terms]
    own = {
        term.text: rarity
        for term, rarity in zip(terms, rarities, strict=True)
        if not term.instead_of
    }
    numbers: dict[str, int] = {}
    weighted: list[Weighted] = []
    for term, rarity in zip(terms, rarities, strict=True):
        weight = rarity
        if term.instead_of:
            weight = OTHER_WORD * min(rarity, own.get(term.word, rarity))
        weighted.append(Weighted(numbers.setdefault(term.word, len(numbers)), term, weight))
    return weighted


def rarity_of(snapshot: Snapshot, term: Term) -> float:
    """Return the inverse document frequency of a term, as BM25 has it."""
    count = snapshot.text_counts.get(term.text) if term.is_part else None
    if count is None:
        count = count_files(snapshot, term.expression)
    file_count = snapshot.table.count
    return max(LEAST_RARITY, math.log(1 + (file_count - count + 0.5) / (count + 0.5)))


def count_files(snapshot: Snapshot, expression: str) -> int:
    """Return how many files of the index satisfy an expression; each is looked up once in a
    search."""
    if expression and expression not in snapshot.expression_counts:
        snapshot.expression_counts[expression] = snapshot.rows.full_text.count(expression)
    return snapshot.expression_counts.get(expression, 0)
