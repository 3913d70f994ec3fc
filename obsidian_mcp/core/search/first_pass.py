"""The first pass of ranking: which files of many are worth a closer look (SEARCH-60, 86). It reads
no text."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet

from obsidian_mcp.core.index.search_document import FIELDS
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.text import analysis

from .bounds import path_contains
from .plan import SearchPlan
from .snapshot import Snapshot
from .term import Term
from .weights import Weighted, count_files

FIELD_WEIGHTS = {"body": 1.0, "name": 10.0, "alias": 9.0, "heading": 4.0, "tag": 4.0, "folder": 1.5}
"""Weight of a word in each field."""
BM25_WEIGHTS = tuple(FIELD_WEIGHTS[field] for field in FIELDS)
MOST_WEIGHED = 3_000
"""Most results that are scored with BM25. Above this number only the words that fewer files have
are looked up, or paths, headings and times count alone."""
WIDE_FILES = 30
"""Files of a wide plan that the second pass looks at; of more, only those with all the words are
listed."""
LINK_SHARE = 0.5
"""Of what a query says, what the text of a link must say to count for the note that it leads to."""
LIGHT_IN_PATH = 1.5
"""How much more a file weighs that has a word which only asks ("notes about …") in its path."""
SPELLINGS = 8
"""Forms of a word that are looked up in paths."""
MOST_OF_WORD = 1.8
"""Times its rarity, what BM25 gives a word at most: one word in a name shall not outweigh several
in a text."""


def find_covering(
    snapshot: Snapshot, terms: Sequence[Weighted], files: AbstractSet[int]
) -> list[int]:
    """Return the files that have most of what the terms of a wide plan say, by BM25.

    Forms of a word count together no more than a word as rare. Very common words select no file,
    unless there are no others: every file would be weighed for what says nothing.
    """
    best_of_words: dict[int, dict[int, float]] = {}
    room = MOST_WEIGHED
    for word, term, rarity in sorted(terms, key=lambda term: -term.weight):
        room -= count_files(snapshot, term.expression)
        if best_of_words and room < 0:
            break
        limit, of_word = MOST_OF_WORD * rarity, best_of_words.setdefault(word, {})
        for number, weight in snapshot.rows.full_text.weights(term.expression, BM25_WEIGHTS):
            if number in files:
                of_word[number] = max(of_word.get(number, 0.0), min(weight, limit))
    weights: Counter[int] = Counter()
    for of_word in best_of_words.values():
        weights.update(of_word)
    return heapq.nlargest(WIDE_FILES, weights, key=lambda number: weights[number])


def find_linked(
    snapshot: Snapshot,
    terms: Sequence[Weighted],
    files: Collection[int],
    may_follow: Callable[[int], bool],
) -> dict[int, set[str]]:
    """Return the notes to which some files link with a text that says much of the query, and these
    texts."""
    texts_by_note: dict[int, set[str]] = {}
    own = [(term, weight) for _, term, weight in terms if not term.instead_of]
    least = LINK_SHARE * sum([weight for _, weight in own])
    links = snapshot.rows.column("links", "path, display", files=files, where="display NOTNULL")
    for source, _, path, display in links:
        text = analysis.fold(display)
        if sum([weight for term, weight in own if term.places(text, 1)]) >= least:
            target = resolve(snapshot.catalog, snapshot.table.paths[source], path)
            number = snapshot.table.find_number(target) if target is not None else None
            if number is not None and (number in files or may_follow(number)):
                texts_by_note.setdefault(number, set()).add(analysis.spread(display))
    return texts_by_note


def weigh_all(
    snapshot: Snapshot, plan: SearchPlan, files: AbstractSet[int], limit: int
) -> dict[int, float]:
    """Return the first `limit` files with what BM25 gives them, the greatest first: 2 µs a file."""
    weights: dict[int, float] = {}
    if plan.expression:
        weights.update(snapshot.rows.full_text.weights(plan.expression, BM25_WEIGHTS))
    for term in plan.light:
        for number in _find_in_paths(snapshot, term) & weights.keys():
            weights[number] *= LIGHT_IN_PATH
    if len(files) > limit:  # with the files of the least weight among the first
        least = heapq.nlargest(limit, (weights.get(number, 0.0) for number in files))[-1]
        files = {number for number in files if weights.get(number, 0.0) >= least}
    newest = snapshot.signals.newest_first(files, len(files))
    heaviest = sorted(newest, key=lambda number: -weights.get(number, 0.0))
    return {number: weights.get(number, 0.0) for number in heaviest[:limit]}


def order_roughly(
    snapshot: Snapshot, plan: SearchPlan, files: AbstractSet[int], limit: int
) -> dict[int, float]:
    """Return the first `limit` of very many files: those with the words in their paths, then those
    with the words in headings and tags, then the newest, with the weight of the field."""
    signals = snapshot.signals
    in_paths = _find_in_paths(snapshot, plan.terms[0])
    for term in plan.terms[1:]:
        in_paths &= _find_in_paths(snapshot, term)
    chosen = dict.fromkeys(signals.newest_first(files & in_paths, limit), FIELD_WEIGHTS["name"])
    if len(chosen) < limit and plan.expression:
        expression = f"{{alias heading tag}} : ({plan.expression})"
        headed = files & snapshot.rows.full_text.find_matching(expression)
        newest = signals.newest_first(headed, limit - len(chosen), chosen)
        chosen |= dict.fromkeys(newest, FIELD_WEIGHTS["heading"])
    if len(chosen) < limit:
        newest = signals.newest_first(files, limit - len(chosen), chosen)
        chosen |= dict.fromkeys(newest, FIELD_WEIGHTS["body"])
    return chosen


def _find_in_paths(snapshot: Snapshot, term: Term) -> set[int]:
    """Return the files whose paths contain a term, as letters: 0.1 ms a word."""
    spellings = [term.text] if term.is_part else [*term.variants, *map("".join, term.phrases)]
    return {
        number for spelling in spellings[:SPELLINGS] for number in path_contains(snapshot, spelling)
    }
