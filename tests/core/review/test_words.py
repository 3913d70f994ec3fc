"""Which words of a text change, and how much two texts have in common (specs/console.md)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.review.words import compare_words, share_in_common


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ("the wheel", "the wheel", 1),
        ("the wheel", "the  wheel", 1),
        ("abc", "xyz", 0),
        ("abc def", "abc xyz", 0.5),
        ("abc", "abc xyz", 2 / 3),
    ],
)
def test_the_share_in_common_counts_the_characters_of_both_texts_but_no_white_space(
    before: str, after: str, share: float
) -> None:
    assert share_in_common(compare_words(before, after)) == pytest.approx(share)
    assert share_in_common(compare_words(after, before)) == pytest.approx(share)
