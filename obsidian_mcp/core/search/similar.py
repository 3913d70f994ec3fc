"""Notes that are like a note, by the words they share (specs/search.md, SEARCH-90 to SEARCH-92)."""

from __future__ import annotations

from collections import Counter

from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.text.analysis import GAP, spread, words
from obsidian_mcp.core.text.stopwords import ASKING, STOP_WORDS
from obsidian_mcp.core.text.vault_path import VaultPath

TERMS = 48
"""Words of the note that are looked for: the most frequent ones that say something."""
SHORTEST_WORD = 3
"""Letters of an ASCII word below which it says nothing."""
RUN = 3
"""Words of a run by which two texts are compared."""


def alike(rows: Rows, text: str, most: int) -> list[VaultPath]:
    """Return the files that share the note's words, the most alike first by BM25 over any of them (SEARCH-90)."""
    terms = characteristic_words(text)
    if not terms:
        return []
    # Sorted: in another order the weights would add up to sums that differ in their last digits
    expression = " OR ".join(sorted('"' + term.replace('"', '""') + '"' for term in terms))
    found = rows.connection.execute(
        "SELECT files.path FROM search JOIN files ON files.id = search.rowid WHERE search MATCH ? "
        "AND files.path NOT LIKE '%.pdf' ORDER BY search.rank, files.path LIMIT ?",
        (expression, most),
    )
    return [VaultPath(path) for (path,) in found]


def characteristic_words(text: str) -> list[str]:
    """Return the most frequent words of a text without those that say nothing by themselves."""
    counted = Counter(_words(text))
    empty = ASKING.union(*STOP_WORDS.values())
    return [
        word
        for word, _ in counted.most_common()
        if word not in empty and not (word.isascii() and len(word) < SHORTEST_WORD)
    ][:TERMS]


def overlap(one: str, other: str) -> float:
    """How much two texts have in common, from 0 to 1: the share of their runs of three words in both (SEARCH-91)."""
    first, second = _runs(one), _runs(other)
    together = len(first | second)
    return len(first & second) / together if together else 0.0


def _runs(text: str) -> set[tuple[str, ...]]:
    found = _words(text)
    return {tuple(found[at : at + RUN]) for at in range(max(len(found) - RUN + 1, 1))} if found else set()


def _words(text: str) -> list[str]:
    return [word for word in (token.decode() for token in words(spread(text))) if word != GAP]
