"""Hunks of a change, taken back one by one (SAFE-31)."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.text.diff import diff, hunks
from obsidian_mcp.core.text.hunks import ChangedText

LINES = st.lists(st.sampled_from(["", "a", "b", "- a", "same", "終"]), max_size=30)


@given(LINES, LINES, st.booleans())
def test_no_hunk_taken_back_is_the_text_after_and_all_are_the_text_before(
    old: list[str], new: list[str], ends: bool
) -> None:
    before, after = ("\n".join(lines) + "\n" * ends for lines in (old, new))
    text = ChangedText(before, after)

    assert text.without(()) == after
    assert text.without(text.numbers) == before
    assert text.numbers == frozenset(range(1, len(hunks(before, after)) + 1))


@given(LINES, LINES, st.randoms(use_true_random=False))
def test_hunks_taken_back_are_found_again_in_the_text(old: list[str], new: list[str], chance: random.Random) -> None:
    before, after = "\n".join(old), "\n".join(new)
    text = ChangedText(before, after)
    taken = frozenset(number for number in text.numbers if chance.random() < 0.5)
    now = text.without(taken)

    found = text.find_taken_back(now)

    assert found is not None
    assert text.without(found) == now


def test_a_text_that_was_edited_since_is_none_of_a_change_s_own() -> None:
    text = ChangedText("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n")

    assert text.find_taken_back("one\n2\n3\n4\n5\n6\n7\n8\n9\n") == frozenset({2})
    assert text.find_taken_back("one\n2\n3\n4\n5\n6\n7\n8\nninth\n") is None
    assert text.find_taken_back("one\n2\n3\n4\n5\n6\n7\n8\nnine\nand more\n") is None
    assert text.find_taken_back("one\n2\n3\n4\n5\n6\n7\n8\n") is None


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs the program patch")
def test_a_hunk_taken_back_is_what_patch_makes_of_it_in_reverse(tmp_path: Path) -> None:
    """Another program takes the same hunk out by the printed difference."""
    old = [f"line {number}\n" for number in range(60)]
    new = [line for number, line in enumerate(old) if number not in (5, 6, 40)]
    new[20:20] = ["added\n", "added too\n"]
    new[50] = "changed\n"
    before, after = "".join(old), "".join(new)
    shown = diff("note", before, after, is_numbered=True)
    head, *bodies = shown.split("@@ -")
    for number, body in enumerate(bodies, 1):
        assert body.split("\n")[0].endswith(f" @@ hunk {number}")
        (tmp_path / "note").write_text(after, "utf-8")
        command = ["patch", "--reverse", "--silent", "note"]
        subprocess.run(command, input=f"{head}@@ -{body}", encoding="utf-8", cwd=tmp_path, check=True)
        assert (tmp_path / "note").read_text("utf-8") == ChangedText(before, after).without([number])
