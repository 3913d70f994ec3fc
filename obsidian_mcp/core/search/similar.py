"""Notes that are like a note, by the words they share (specs/search.md, SEARCH-90 to SEARCH-92)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.text.analysis import GAP, spread, words
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.stopwords import ASKING, STOP_WORDS
from obsidian_mcp.core.text.vault_path import VaultPath

TERMS = 48
"""Words of the note that are looked for: the most frequent ones that say something."""
SHORTEST_WORD = 3
"""Letters of an ASCII word below which it says nothing."""
RUN = 3
"""Words of a run by which two texts are compared."""


MARKS, SHARED_MARKS = 16, 4
"""Hashes by which texts are found that may be alike, and how many of them these must have in
common."""
LEAST_RUNS = 8
"""A shorter text is a stub, like many others."""
DUPLICATE_OVERLAP = 0.5
COMPARED_CHARACTERS = 20_000_000
"""Of all texts; more would take longer than a call may."""


class NearDuplicates(NamedTuple):
    pairs: list[tuple[VaultPath, VaultPath, float]]
    """By path, with their overlap."""
    is_whole: bool
    """Whether all texts were compared."""


def find_alike_by_words(rows: Rows, text: str, limit: int) -> list[VaultPath]:
    """Return the files that share the note's words, the most alike first by BM25 over any of them
    (SEARCH-90)."""
    empty = ASKING.union(*STOP_WORDS.values())
    counted = [word for word, _ in Counter(_words(text)).most_common() if word not in empty]
    terms = [word for word in counted if not (word.isascii() and len(word) < SHORTEST_WORD)][:TERMS]
    if not terms:
        return []
    # Sorted: in another order the weights would add up to sums that differ in their last digits
    expression = " OR ".join(sorted('"' + term.replace('"', '""') + '"' for term in terms))
    return rows.full_text.most_alike(expression, limit)


def overlap(text: str, other_text: str) -> float:
    """How much two texts have in common, from 0 to 1: the share of their runs of three words in
    both (SEARCH-91)."""
    first, second = _runs(text), _runs(other_text)
    together = len(first | second)
    return len(first & second) / together if together else 0.0


def near_duplicates(texts: Iterable[tuple[VaultPath, str]]) -> NearDuplicates:
    """Return the texts of which at least DUPLICATE_OVERLAP is the same, in pairs (SEARCH-92). Texts
    are compared that have some of the least hashes of their runs in common, which alike texts
    nearly always have."""
    compared: list[tuple[VaultPath, str]] = []
    first_with: dict[int, int] = {}
    shared: Counter[tuple[int, int]] = Counter()
    room = COMPARED_CHARACTERS
    for path, text in texts:
        checkpoint()
        room -= len(text)
        if room < 0:
            break
        split = text.lower().split()
        runs = set(map(hash, zip(*(split[at:] for at in range(RUN)), strict=False)))
        if len(runs) >= LEAST_RUNS:
            for mark in sorted(runs)[:MARKS]:
                if (first := first_with.setdefault(mark, len(compared))) < len(compared):
                    shared[first, len(compared)] += 1
            compared.append((path, text))
    pairs = []
    for (earlier, later), marks in shared.items():
        checkpoint()
        if (
            marks >= SHARED_MARKS
            and (same := overlap(compared[earlier][1], compared[later][1])) >= DUPLICATE_OVERLAP
        ):
            low, high = sorted((compared[earlier][0], compared[later][0]))
            pairs.append((low, high, same))
    return NearDuplicates(sorted(pairs), is_whole=room >= 0)


def _runs(text: str) -> set[tuple[str, ...]]:
    text_words = _words(text)
    return (
        {tuple(text_words[at : at + RUN]) for at in range(max(len(text_words) - RUN + 1, 1))}
        if text_words
        else set()
    )


def _words(text: str) -> list[str]:
    return [word for word in (token.decode() for token in words(spread(text))) if word != GAP]
