"""What a search looks for: words and their forms, and what must match exactly (SEARCH-50 to 59)."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from typing import NamedTuple

from obsidian_mcp.core.query.nodes import And, Or, Phrase, QueryNode, ScopedQuery, Word
from obsidian_mcp.core.text import analysis

from .term import PREFIX, SAME, Term
from .vocabulary import Vocabulary

PART_WORDS = 4
"""Words of the vocabulary that stand for a part of a word where results are ranked."""


def quote_words(words: Sequence[str], *, prefix: bool = False) -> str:
    """Return words that follow each other as an expression of the full-text index; `prefix`: the
    last may go on."""
    return f'"{" ".join(words)}"{"*" if prefix else ""}'


class Alternative(NamedTuple):
    """What one alternative of a query requires of a file."""

    expression: str | None
    """For the full-text index: None if it is not used, empty if no file can satisfy it."""
    exact: QueryNode | None
    """What must match exactly besides."""


class SearchPlan(NamedTuple):
    """A query in the words of a vault: a file that satisfies one of the alternatives is a
    result."""

    alternatives: tuple[Alternative, ...]
    terms: tuple[Term, ...] = ()
    """What results are weighed by."""
    expression: str = ""
    """The same for the full-text index; empty if there is nothing to weigh."""
    shown: tuple[Term, ...] = ()
    """Terms whose places are shown."""
    exact: tuple[QueryNode, ...] = ()
    """Queries whose places are shown."""
    light: tuple[Term, ...] = ()
    """Words that are not required, but say which files come first (SEARCH-56)."""
    is_wide: bool = False
    """Whether any of the words is enough (SEARCH-51)."""
    missing: tuple[str, ...] = ()
    """Words of a wide plan that no note has in any form."""
    found: int = 0
    """Files that have all the words, of a wide plan."""
    is_weak: bool = False
    """Whether even the best file says too little of the question to answer it."""
    withheld: int = 0
    """Files that are left out therefore."""
    complete: str = ""
    """For the full-text index: all the words of a wide plan, near words for those that no note
    has."""


# Exact plans


def exact_plan(query: QueryNode, vocabulary: Vocabulary) -> SearchPlan:
    """Return the plan of an exact search: results are weighed by the words that the query
    affirms."""
    terms: list[Term] = []
    expression = _affirmed_expression(query, vocabulary, terms)
    return SearchPlan((Alternative(None, query),), tuple(terms), expression, (), (query,))


def _affirmed_expression(query: QueryNode, vocabulary: Vocabulary, terms: list[Term]) -> str:
    match query:
        case And():
            parts = [
                part
                for node in query.parts
                if (part := _affirmed_expression(node, vocabulary, terms))
            ]
            return " AND ".join([f"({part})" for part in parts])
        case Or():
            parts = [_affirmed_expression(node, vocabulary, terms) for node in query.parts]
            return " OR ".join([f"({part})" for part in parts]) if all(parts) else ""
        case ScopedQuery() if query.operator not in {"tag", "path", "file"}:
            return _affirmed_expression(query.part, vocabulary, terms)
        case Word() | Phrase():
            term = literal_term(query, vocabulary)
            if term.variants or term.phrases:
                terms.append(term)
            return term.expression
    return ""


def literal_term(leaf: Word | Phrase, vocabulary: Vocabulary) -> Term:
    text = analysis.fold(leaf.text)
    sought = analysis.parse_sought_words(text, bounded=isinstance(leaf, Phrase))
    if len(sought.words) != 1:
        return Term(text, {}, {sought.words: SAME} if sought.words else {})
    (word,) = sought.words
    words = vocabulary.words_containing(
        word, from_start=not sought.open_start, to_end=not sought.open_end
    )
    nearest = nsmallest(PART_WORDS, words, key=lambda other: (len(other), other))
    variants = {other: SAME if other == word else PREFIX for other in nearest}
    return Term(text, variants, is_part=True)
