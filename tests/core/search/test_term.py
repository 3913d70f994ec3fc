"""Where a term of a query is in a text (SEARCH-54)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.search.term import INFIX, SAME, Term

TERMS = {
    "a part of words": Term("fox", {}, is_part=True),
    "a word": Term("fox", {"fox": SAME}),
    "a phrase": Term("fox", {}, {("fox",): SAME}),
}


@pytest.mark.parametrize("term", TERMS.values(), ids=TERMS)
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_no_more_places_are_looked_for_than_asked(term: Term, limit: int) -> None:
    text = "fox " * 3
    places = term.places(text, limit)
    assert [(start, end) for start, end, _ in places] == [(0, 3), (4, 7), (8, 11)][:limit]
    assert {text[start:end] for start, end, _ in places} == {"fox"}


def test_a_part_within_a_word_weighs_less_than_the_word() -> None:
    assert [weight for _, _, weight in TERMS["a part of words"].places("fox foxes", 9)] == [SAME, INFIX]
