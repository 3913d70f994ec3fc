"""Three-way merge: both changes or none (specs/safety.md SAFE-07)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.text.diff import changes, merge
from obsidian_mcp.core.text.text import split_lines

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "日本\n"]), max_size=12).flatmap(
    lambda lines: st.sampled_from(["", "end", "\u2028x"]).map(lambda last: "".join(lines) + last)
)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n"),
        ("a\nb\nc\n", "a\nb\nc\nx\n", "0\na\nb\nc\n", "0\na\nb\nc\nx\n"),
        ("a\nb\nc\nd\n", "a\nc\nd\n", "a\nb\nc\nd2\n", "a\nc\nd2\n"),
        ("a\n", "b\n", "b\n", "b\n"),
        ("a\n", "b\n", "c\n", None),
        ("a\nb\n", "A\nb\n", "a\nB\n", None),
        ("a\n", "a\nx\n", "a\ny\n", None),
    ],
)
def test_changes_that_do_not_touch_are_both_kept(base: str, ours: str, theirs: str, merged: str | None) -> None:
    assert merge(base, ours, theirs) == merged
    assert merge(base, theirs, ours) == merged


def test_of_two_lines_added_at_one_place_ours_is_the_first() -> None:
    """SAFE-22"""
    for number in range(20):
        ours, theirs = f"a\nours {number}\nb\n", f"a\ntheirs {number}\nb\n"
        assert merge("a\nb\n", ours, theirs) is None
        merged = merge("a\nb\n", ours, theirs, neighbours=True)
        assert merged == f"a\nours {number}\ntheirs {number}\nb\n"


@given(TEXTS, TEXTS)
def test_changes_turn_one_text_into_the_other(base: str, other: str) -> None:
    lines = split_lines(base)
    for start, end, new in reversed(changes(lines, split_lines(other))):
        lines[start:end] = new
    assert "".join(lines) == other


@given(TEXTS, TEXTS, TEXTS)
def test_a_merge_loses_no_line_that_either_side_added(base: str, ours: str, theirs: str) -> None:
    merged = merge(base, ours, theirs)
    assert merge(base, ours, base) == ours
    assert merge(base, base, theirs) == theirs
    if merged is not None:
        for side in (ours, theirs):
            for _, _, new in changes(split_lines(base), split_lines(side)):
                assert "".join(new) in merged


def test_a_text_with_very_many_changes_is_merged_at_once() -> None:
    """SAFE-07"""
    base = "\n".join(f"## {number}\n\n[[A]] {number}\n" for number in range(5_000))  # otherwise minutes
    ours = base.replace("[[A]]", "[[B]]")
    theirs = base.replace("## 70\n", "## seventy\n")

    assert merge(base, ours, theirs) == ours.replace("## 70\n", "## seventy\n")
