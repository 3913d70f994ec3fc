"""What fits (TOOL-07)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.text.fit import cut_text, cut_text_within, name_first, take_fitting


@pytest.mark.parametrize(
    ("text", "most", "after", "within"),
    [("", 3, "", ""), ("abc", 3, "abc", "abc"), ("abcd", 3, "abc…", "ab…"), ("日本語だ", 2, "日本…", "日…")],
)
def test_a_text_that_is_too_long_ends_with_a_mark(text: str, most: int, after: str, within: str) -> None:
    assert cut_text(text, most) == after
    assert cut_text_within(text, most) == within
    assert len(cut_text_within(text, most)) <= most


def test_of_many_names_the_first_are_named_and_the_others_counted() -> None:
    assert name_first([], 2) == ""
    assert name_first(["a", "b"], 2) == "a, b"
    assert name_first(["a", "b", "c"], 2) == "a, b and 1 more"
    assert name_first(list("abcde"), 1, "; ") == "a and 4 more"


def test_entries_are_taken_as_long_as_there_is_room_and_at_least_so_many() -> None:
    assert take_fitting(["aa", "bbb", "c"], 5, len) == ["aa", "bbb"]
    assert take_fitting(["aa", "bbb", "c"], 1, len) == []
    assert take_fitting(["aa", "bbb", "c"], 1, len, least=1) == ["aa"]
    assert take_fitting(["aa", "bbb", "c"], 100, len) == ["aa", "bbb", "c"]
