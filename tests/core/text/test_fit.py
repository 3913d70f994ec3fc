"""What fits (TOOL-07)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.text.fit import (
    LINE_MARK,
    Room,
    count_fitting,
    cut_and_count,
    cut_text,
    cut_text_within,
    mark_excerpt,
    name_first,
    take_fitting,
)


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


def test_room_is_taken_up_to_its_last_byte() -> None:
    room = Room(5)
    assert room.take(2)
    assert room.take(3)
    assert not room.take(1)


def test_items_are_written_only_as_far_as_they_are_named() -> None:
    written: list[int] = []

    def write(number: int) -> str:
        written.append(number)
        return f"<{number}>"

    assert name_first(range(1_000), 2, write=write) == "<0>, <1> and 998 more"
    assert written == [0, 1]


def test_a_text_that_is_cut_can_say_how_much_more_there_is() -> None:
    assert cut_and_count("abc", 3) == "abc"
    assert cut_and_count("a" * 1_203, 3) == "aaa… (1,200 more characters)"
    assert cut_text("ab\ncd\n", 3, LINE_MARK) == "ab\n\n… (cut)\n"


def test_an_excerpt_has_a_mark_on_each_side_that_was_cut() -> None:
    assert mark_excerpt("b", cut_before=True, cut_after=True) == "…b…"
    assert mark_excerpt("b", cut_before=False, cut_after=True) == "b…"
    assert mark_excerpt("b", cut_before=False, cut_after=False) == "b"


def test_sizes_are_counted_as_long_as_there_is_room() -> None:
    assert count_fitting([2, 3, 1], 5) == 2
    assert count_fitting([2, 3, 1], 1) == 0
    assert count_fitting([2, 3, 1], 1, least=1) == 1
