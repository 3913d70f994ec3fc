"""Whether a question gets few hits, or none, as no note says enough of it (SEARCH-100).

Any word of a question is enough to find a note, so a question about something else finds notes too:
those that share a name or a usual word with it. An assistant takes them for an answer. They are
known by two measures, both of the best file's score: what share it is of all that the question
says, and how many words it is worth that one note alone has. The limits were measured on questions
of people about their own conversations and about those of others; see benchmarks/finding.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from obsidian_mcp.core.text.analysis import fold

from .plan import SearchPlan
from .snapshot import Snapshot
from .term import Term
from .weights import Weighted, rarity_of

FEW_HITS = 3
"""Files that are listed where even the best says too little: the question may still mean one of
them, and whoever asks is told so."""
FEW_SHARE, NO_SHARE = 0.38, 0.18
"""Shares of what the whole question weighs, below which the best file says too little of it: only a
few files are listed, or none."""
ENOUGH_WORDS = 1.5
"""Score of the best file, in words that only one note has, from which on it is never too little: in
a large vault one rare word says much, however long the question is."""


def limit_hits(
    snapshot: Snapshot, plan: SearchPlan, weighted: Sequence[Weighted], best_score: float
) -> int | None:
    """Return how many files of a wide plan are listed if the best has this score; None for all.

    `weighted` are the terms of the plan.
    """
    rarest = _rarest_weight(snapshot.table.count)
    terms = list(weighted)
    if len(terms) == 1:  # its weight is 1 whatever its rarity: nothing was weighed against it
        rarity = rarity_of(snapshot, terms[0].term)
        terms, best_score = [terms[0]._replace(weight=rarity)], best_score * rarity
    if best_score >= ENOUGH_WORDS * rarest:
        return None
    weights: dict[int, float] = {}
    said_otherwise: set[str] = set()
    for word, term, rarity in terms:
        instead_of = term.instead_of.split()
        if len(instead_of) != 1 and not term.is_date:  # words, or what two say together
            weights[word] = max(weights.get(word, 0.0), rarity * _best_form(term))
            said_otherwise.update(instead_of)
    unsaid = [word for word in plan.missing if fold(word) not in said_otherwise]
    whole = sum(weights.values()) + rarest * len(unsaid)
    if best_score >= FEW_SHARE * whole:
        return None
    return FEW_HITS if best_score >= NO_SHARE * whole else 0


def _rarest_weight(file_count: int) -> float:
    """Return what a word weighs that no file has, as BM25 weighs rarity."""
    return math.log(1 + (file_count + 0.5) / 0.5)


def _best_form(term: Term) -> float:
    """Return the weight of the form of a term that weighs most: of a run of letters without spaces
    that is looked for in pieces, each piece weighs a part."""
    return max((*term.variants.values(), *term.phrases.values()), default=0.0)
