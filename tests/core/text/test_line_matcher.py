"""Equal lines of two texts are found in little time, and what is called changed makes the new text of the old one."""

from __future__ import annotations

import random
from collections import Counter
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.text import line_matcher
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.core.text.line_matcher import LineMatcher
from obsidian_mcp.errors import OperationTimeout

LINES = st.lists(st.sampled_from("abcdef"), max_size=30)
ROWS = 20_000


def check_comparison(old: list[str], new: list[str]) -> int:
    """Check that the opcodes make the new text of the old one; return how many lines they call the same."""
    lines: list[str] = []
    equal = 0
    for kind, start, end, new_start, new_end in LineMatcher(old, new).get_opcodes():
        assert (kind == "equal") == (old[start:end] == new[new_start:new_end])
        lines += old[start:end] if kind == "equal" else new[new_start:new_end]
        equal += end - start if kind == "equal" else 0
    assert lines == new
    return equal


def most_equal_lines(old: list[str], new: list[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(new) + 1)
    for line in old:
        before = row[:]
        for at, other in enumerate(new, 1):
            row[at] = before[at - 1] + 1 if line == other else max(before[at], row[at - 1])
    return row[-1]


@given(LINES, LINES, st.sampled_from([0, 30, 5_000]), st.sampled_from([0, 10, 10_000]), st.integers(0, 40))
def test_whatever_way_lines_are_compared_the_changes_make_the_new_text(
    old: list[str], new: list[str], comparisons: int, searched: int, most_changes: int
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(line_matcher, "MOST_COMPARISONS", comparisons)
        patched.setattr(line_matcher, "MOST_LINES_SEARCHED", searched)
        patched.setattr(line_matcher, "MOST_CHANGES", most_changes)
        check_comparison(old, new)


@given(LINES, LINES)
def test_short_texts_are_compared_as_python_does(old: list[str], new: list[str]) -> None:
    ends = ["old"], ["new"]
    old, new = [*ends[0], *old, *ends[0]], [*ends[1], *new, *ends[1]]

    assert LineMatcher(old, new).get_opcodes() == SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


@given(LINES, LINES)
def test_few_changes_of_a_long_text_are_the_fewest_there_are(old: list[str], new: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(line_matcher, "MOST_LINES_SEARCHED", 0)
        assert check_comparison(old, new) == most_equal_lines(old, new)


def rows(kinds: int, copies: int = 1) -> list[str]:
    """Return rows of a table, each so many times, with one of so many values."""
    shuffled = random.Random(1)
    unlike = range(ROWS // copies)
    return [row for number in unlike for row in [f"| {number} | {shuffled.randrange(kinds)} |\n"] * copies]


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("order", ["sorted", "shuffled", "reversed", "rotated"])
def test_very_many_lines_in_another_order_are_compared_at_once(order: str, copies: int) -> None:
    """TOOL-09: looking for the longest run, and then on both sides of it, takes minutes"""
    old = rows(3, copies)
    new = {
        "sorted": lambda: sorted(old, key=lambda row: row.split("|")[2]),
        "shuffled": lambda: random.Random(2).sample(old, ROWS),
        "reversed": lambda: old[::-1],
        "rotated": lambda: old[ROWS // 3 :] + old[: ROWS // 3],
    }[order]()
    least = {"sorted": ROWS // 4, "shuffled": 100, "reversed": 1, "rotated": ROWS // 2}[order]

    with call_with(limit=Deadline(20)):
        equal = check_comparison(old, new)
    assert equal >= least


def test_lines_of_few_kinds_in_another_order_are_compared_at_once() -> None:
    """TOOL-09"""
    old = random.Random(1).choices("abc", k=ROWS)
    new = random.Random(2).sample(old, ROWS)

    with call_with(limit=Deadline(20)):
        equal = check_comparison(old, new)
    assert equal > ROWS // 4
    assert Counter(old) == Counter(new)


def test_a_comparison_asks_the_limit_of_the_call() -> None:
    """SAFE-17"""
    with call_with(limit=Deadline(0)), pytest.raises(OperationTimeout):
        LineMatcher(["a", "b"], ["b", "c"]).get_opcodes()
