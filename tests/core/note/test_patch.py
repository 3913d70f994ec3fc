"""Patches in diff-match-patch's text format (specs/http.md PLUGIN-04)."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.core.note.patch import Hunk, apply, parse
from obsidian_mcp.errors import InvalidArguments, TextNotFound, TextNotUnique

CAT = "@@ -1,15 +1,16 @@\n Go to the \n-cat\n+bank\n %0A\n"


def test_a_patch_is_read_with_its_escapes() -> None:
    assert parse(CAT) == [Hunk(0, "Go to the cat\n", "Go to the bank\n")]
    assert parse("@@ -0,0 +1,3 @@\n+%C3%A9%25%0D\n") == [Hunk(0, "", "é%\r")]
    assert parse("@@ -3 +3 @@\n-a\n+b\n@@ -9,2 +9,0 @@\n-xy\n") == [Hunk(2, "a", "b"), Hunk(9, "xy", "")]


def test_only_what_the_writer_escapes_is_unescaped() -> None:
    assert parse("@@ -1,3 +1,3 @@\n a%23b%2Fc%20d%ff%zz\n")[0].before == "a%23b%2Fc d%ff%zz"


@pytest.mark.parametrize("text", ["", "hello", "+no header", "@@ -1,1 +1,1 @@\n*what", "@@ nonsense @@\n a"])
def test_what_is_no_patch_is_refused(text: str) -> None:
    with pytest.raises(InvalidArguments, match="expected a line that begins with @@"):
        parse(text)


def test_a_hunk_goes_where_it_says_even_if_its_text_stands_elsewhere_too() -> None:
    assert apply("ab ab ab", [Hunk(3, "ab", "X")]) == "ab X ab"


def test_a_hunk_whose_text_has_moved_follows_it() -> None:
    assert apply("new line\nGo to the cat\n", parse(CAT)) == "new line\nGo to the bank\n"


def test_hunks_move_with_the_first_of_them() -> None:
    hunks = [Hunk(0, "one ", "1 "), Hunk(2, "x", "y")]
    assert apply("one x x", hunks) == "1 y x"
    assert apply("zero one x x", [Hunk(0, "one ", "1 "), Hunk(2, "x", "y")]) == "zero 1 y x"


def test_text_that_is_not_there_is_not_guessed() -> None:
    with pytest.raises(TextNotFound, match="Go to the cat"):
        apply("Go to the dog\n", parse(CAT))


def test_text_that_is_there_several_times_but_not_in_place_is_refused() -> None:
    with pytest.raises(TextNotUnique, match="lines 1, 2"):
        apply("ab\nab\n", [Hunk(1, "ab", "X")])


def test_the_place_may_count_utf_16_units() -> None:
    assert apply("😀😀 ab ab", [Hunk(8, "ab", "X")]) == "😀😀 ab X"


def test_line_ends_of_the_note_are_kept() -> None:
    assert apply("one\r\ntwo\r\n", parse("@@ -1,7 +1,9 @@\n one%0A\n+new%0A\n two\n")) == "one\r\nnew\r\ntwo\r\n"


BARE = " !~*'();/?:@&=+$,#"
"""What JavaScript's encodeURI and the format's writer do not escape."""
WORDS = st.lists(
    st.sampled_from(["alpha", "日本", "😀", "50%", "#t", "[[l]]", "\n", " ", "%20", "é", "-"]), max_size=30
)


@given(WORDS, WORDS, WORDS, WORDS)
@settings(max_examples=200, deadline=None)
def test_what_a_patch_was_made_from_becomes_what_it_was_made_for(
    head: list[str], old: list[str], new: list[str], tail: list[str]
) -> None:
    parts = ["".join(words) for words in (head, old, new, tail)]
    lines = [f"{sign}{quote(part, safe=BARE)}" for sign, part in zip(" -+ ", parts, strict=True) if part]
    before, after = len(parts[0] + parts[1] + parts[3]), len(parts[0] + parts[2] + parts[3])
    written = "\n".join([f"@@ -{min(1, before)},{before} +{min(1, after)},{after} @@", *lines])
    assert apply(parts[0] + parts[1] + parts[3], parse(written)) == parts[0] + parts[2] + parts[3]
