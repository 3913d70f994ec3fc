"""The lines in which two texts differ are found, and shown as diff(1) does."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.contracts.plugin.patch import apply, parse
from obsidian_mcp.core.text import diff, line_matcher
from obsidian_mcp.core.text.text import split_lines

LINES = st.lists(st.text("ab \t#-é日😀", max_size=8), max_size=8)


def test_a_diff_tells_of_a_missing_last_newline() -> None:
    assert diff.diff("n.md", "a\nb", "a\nc\n") == (
        "--- a/n.md\n+++ b/n.md\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
    )


@given(LINES, LINES, st.booleans())
def test_a_diff_shows_what_is_between_the_lines_that_both_begin_and_end_with_as_diff_does(
    old: list[str], new: list[str], ended: bool
) -> None:
    before, after = "\n".join(["first", *old, "last"]) + "\n" * ended, "\n".join(["start", *new, "end"])
    wanted = difflib.unified_diff(split_lines(before), split_lines(after), "a/n.md", "b/n.md", n=diff.CONTEXT_LINES)
    lines = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in wanted]

    assert diff.diff("n.md", before, after) == "".join(lines)
    assert apply(before, parse("".join(lines))) == after


def test_a_diff_of_a_note_of_the_same_lines_shows_the_one_that_changes() -> None:
    """EDIT-07"""
    before = "# Log\n[[Alpha]]\n" + "- nothing\n" * 9_000
    after = before.replace("Alpha", "Omega")

    assert diff.diff("n.md", before, after) == (
        "--- a/n.md\n+++ b/n.md\n@@ -1,4 +1,4 @@\n # Log\n-[[Alpha]]\n+[[Omega]]\n - nothing\n - nothing\n"
    )


@given(LINES, LINES)
def test_a_diff_of_very_many_lines_makes_the_new_text_of_the_old_one(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old), "\n".join(new)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(line_matcher, "MOST_COMPARISONS", 0)
        shown = diff.diff("n.md", before, after)

    assert apply(before, parse(shown)) == after if before != after else shown == ""


def test_a_diff_of_very_many_changes_is_made_at_once() -> None:
    before = "\n".join(f"## {n}\n[[A]] {n}" for n in range(20_000))  # otherwise minutes
    shown = diff.hunks(before, before.replace("[[A]]", "[[B]]"))

    assert sum(line.startswith("+[[B]]") for hunk in shown for line in hunk.lines) == 20_000
