"""Unified diffs are applied exactly (specs/http.md PLUGIN-04)."""

from __future__ import annotations

import difflib
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from obsidian_mcp.contracts.plugin.patch import apply, parse
from obsidian_mcp.core.text.text import split_lines
from obsidian_mcp.errors import InvalidArguments, TextNotFound, TextNotUnique
from tests.examples import examples

TODAY = "# Entry\nToday\nmore\n"


@pytest.mark.parametrize(
    ("note", "patch", "expected"),
    [
        (TODAY, "@@ -2,1 +2,2 @@\n Today\n+Tomorrow\n", "# Entry\nToday\nTomorrow\nmore\n"),
        ("", "@@ -0,0 +1,3 @@\n+one\n+two\n+three\n", "one\ntwo\nthree\n"),
        ("", "--- /dev/null\n+++ b/New.md\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n", "one"),
        ("alpha\nbeta\ngamma\n", "@@ -2,0 +3 @@\n+50% delta\n", "alpha\nbeta\n50% delta\ngamma\n"),
        ("alpha\nbeta\n", "@@ -0,0 +1 @@\n+first\n", "first\nalpha\nbeta\n"),
        ("alpha\nbeta\n", "@@ -2,0 +3 @@\n+last\n", "alpha\nbeta\nlast\n"),
        ("alpha\nbeta\n", "@@ -1 +0,0 @@\n-alpha\n", "beta\n"),
        ("100%25 %0A\n", "@@ -1 +1 @@\n-100%25 %0A\n+%C3%A9\n", "%C3%A9\n"),
        ("-- x\n++ y\n", "@@ -1,2 +1,2 @@\n--- x\n+-- z\n ++ y\n", "-- z\n++ y\n"),
        ("a\u2028b\nc\n", "@@ -1,2 +1,2 @@\n a\u2028b\n-c\n+d\n", "a\u2028b\nd\n"),
    ],
)
def test_lines_are_replaced_where_the_hunk_says(note: str, patch: str, expected: str) -> None:
    assert apply(note, parse(patch)) == expected


@pytest.mark.parametrize(
    "header",
    [
        "",
        "--- a/Note.md\n+++ b/Note.md\n",
        "--- Note.md\t2026-01-01 10:00:00\n+++ Note.md\t2026-01-01 10:01:00\n",
        "diff --git a/Note.md b/Note.md\nindex 83db48f..bf2a1c3 100644\n--- a/Note.md\n+++ b/Note.md\n",
        "Index: Note.md\n===================================\n--- Note.md\n+++ Note.md\n",
        "\ufeff",
    ],
)
@pytest.mark.parametrize("ranges", ["@@ -2,2 +2,2 @@", "@@ -2,2 +2,2 @@ # Entry", "@@", "@@ @@", "@@ ... @@"])
def test_headers_of_files_and_ranges_of_hunks_may_be_missing(header: str, ranges: str) -> None:
    patch = f"{header}{ranges}\n Today\n-more\n+less\n"
    for sent in (patch, patch.replace("\n", "\r\n"), patch + "\n\n", patch.removesuffix("\n")):
        assert apply(TODAY, parse(sent)) == "# Entry\nToday\nless\n"


def test_a_patch_may_be_nothing_but_its_lines() -> None:
    assert apply(TODAY, parse(" Today\n-more\n+less\n")) == "# Entry\nToday\nless\n"
    assert apply(TODAY, parse("--- a/x\n+++ b/x\n Today\n+Tomorrow\n")) == "# Entry\nToday\nTomorrow\nmore\n"


def test_an_empty_context_line_may_have_lost_its_space() -> None:
    patch = "@@ -1,3 +1,3 @@\n one\n\n-two\n+2\n"
    assert apply("one\n\ntwo\n", parse(patch)) == "one\n\n2\n"
    assert apply("one\n\ntwo\n", parse(patch.replace("-1,3 +1,3 ", ""))) == "one\n\n2\n"


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ("", "adds and removes no line"),
        ("hello", "Line 1 of the patch is 'hello': expected a line that begins with @@"),
        ("@@ -1 +1 @@\n*what", "announces 1 old and 1 new lines, and other lines follow"),
        ("@@ nonsense @@\n a\n+b", "Line 1 .* expected a line that begins with @@"),
        ("@@ -1,2 +1,2 @@\n a\n-b\n", "announces 2 old and 2 new lines"),
        ("@@ -1,1 +1,2 @@\n a\n+b\n+c\n", "announces 1 old and 2 new lines"),
        ("@@ -1 +1 @@\n-a\n+b\n--- x\n+++ y\n@@ -1 +1 @@\n-a\n+b\n", "another file; send one patch for each note"),
        ("@@ -1,1 +1,1 @@\n a\n", "adds and removes no line"),
        ("```diff\n@@ -1 +1 @@\n-a\n+b\n```", "Line 1"),
        ("@@ -1,5 +1,5 @@\n Go to \n-%5B%5BPlan%5D%5D\n+x\n", "announces 5 old and 5 new lines"),
    ],
)
def test_what_is_no_unified_diff_is_refused(patch: str, problem: str) -> None:
    with pytest.raises(InvalidArguments, match=problem):
        parse(patch)


def test_a_hunk_applies_at_its_line_even_where_its_text_stands_elsewhere_too() -> None:
    assert apply("x\nx\nx\n", parse("@@ -2 +2 @@\n-x\n+y\n")) == "x\ny\nx\n"


def test_a_hunk_whose_lines_have_moved_follows_them_and_so_do_the_next_hunks() -> None:
    patch = "@@ -1 +1 @@\n-one\n+1\n@@ -3 +3 @@\n-x\n+y\n"
    assert apply("zero\none\nx\nx\n", parse(patch)) == "zero\n1\nx\ny\n"


def test_lines_that_are_not_there_are_not_guessed() -> None:
    with pytest.raises(TextNotFound, match="the line 'Todya' is not in the note"):
        apply(TODAY, parse("@@ -2 +2 @@\n-Todya\n+Tomorrow\n"))
    with pytest.raises(TextNotFound, match="line 2 of the note is 'Today', not 'more'"):
        apply(TODAY, parse("@@ -1,2 +1,1 @@\n # Entry\n-more\n"))


def test_lines_that_stand_at_several_other_places_are_not_guessed() -> None:
    with pytest.raises(TextNotUnique, match="fits at lines 1, 2 and not at the line that it names"):
        apply("x\nx\ny\n", parse("@@ -3 +3 @@\n-x\n+z\n"))
    with pytest.raises(TextNotUnique, match="lines 1, 2"):
        apply("x\nx\ny\n", parse("@@\n-x\n+z\n"))


def test_added_lines_without_any_place_are_not_guessed() -> None:
    with pytest.raises(InvalidArguments, match="nothing says where"):
        apply(TODAY, parse("@@\n+Tomorrow\n"))
    with pytest.raises(TextNotFound, match="adds lines after line 9; the note has 3 lines"):
        apply(TODAY, parse("@@ -9,0 +10 @@\n+Tomorrow\n"))
    moved = "@@ -1 +1 @@\n-Today\n+Now\n@@ -2,0 +3 @@\n+Tomorrow\n"
    with pytest.raises(InvalidArguments, match=r"Hunk 2 .* nothing says where"):
        apply(TODAY, parse(moved))


def test_hunks_apply_in_order_and_never_overlap() -> None:
    with pytest.raises(TextNotFound, match="Hunk 2"):
        apply("a\nb\n", parse("@@ -2 +2 @@\n-b\n+B\n@@ -1 +1 @@\n-a\n+A\n"))


@pytest.mark.parametrize(
    ("note", "patch", "expected"),
    [
        ("a\nlast", "@@ -1,2 +1,2 @@\n-a\n+b\n last\n\\ No newline at end of file\n", "b\nlast"),
        ("a\nlast", "@@ -2 +2 @@\n-last\n\\ No newline at end of file\n+end\n", "a\nend\n"),
        ("a\nlast\n", "@@ -2 +2 @@\n-last\n+end\n\\ No newline at end of file\n", "a\nend"),
        # A patch made from what a client shows has no marker: then the end of the note stays as it is.
        ("a\nlast", "@@ -2 +2 @@\n-last\n+end\n", "a\nend"),
        ("a\nlast", "@@ -2 +2,2 @@\n last\n+more\n", "a\nlast\nmore"),
        ("a\r\nlast", "@@ -2 +2,2 @@\n last\n+more\n", "a\r\nlast\r\nmore"),
        ("a\r\nlast", "@@ -1,2 +1 @@\n a\n-last\n", "a"),
        ("a\nlast\r", "@@ -1,2 +1,2 @@\n-a\n+b\n last\n", "b\nlast\r"),
    ],
)
def test_the_line_end_at_the_end_of_a_note_changes_only_when_the_patch_says_so(
    note: str, patch: str, expected: str
) -> None:
    assert apply(note, parse(patch)) == expected


def test_a_marked_end_must_be_the_end_of_the_note() -> None:
    for note in ("a\nb\n", "b\na"):
        with pytest.raises(TextNotFound, match="without a line end"):
            apply(note, parse("@@\n-b\n\\ No newline at end of file\n+c\n"))


@pytest.mark.parametrize("patch", ["@@ -1,2 +1,3 @@\n one\n+new\n two\n", "@@ -1,2 +1,3 @@\n one\r\n+new\r\n two\r\n"])
def test_added_lines_get_the_line_ends_of_the_note(patch: str) -> None:
    assert apply("one\r\ntwo\r\n", parse(patch)) == "one\r\nnew\r\ntwo\r\n"
    assert apply("one\ntwo\r\nx\r\ny\r\n", parse(patch)) == "one\nnew\r\ntwo\r\nx\r\ny\r\n"


LINES = st.lists(
    st.sampled_from(["a", "b", "", " ", "- x", "-- x", "++ y", "@@ -1 +1 @@", "50%", "日本 😀", "u\u2028v", "\\ z"]),
    max_size=12,
)
EDITS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3), LINES.map(lambda lines: lines[:3])), max_size=3)


def edited(lines: list[str], edits: list[tuple[int, int, list[str]]]) -> list[str]:
    result = list(lines)
    for at, removed, added in edits:
        result[at : at + removed] = added
    return result


def unified(before: str, after: str, context: int) -> str:
    """A unified diff as `diff -u` writes it, with its markers for a missing line end."""
    written = difflib.unified_diff(split_lines(before), split_lines(after), "a/Note.md", "b/Note.md", n=context)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in written)


def anchored_at_an_end(patch: str) -> bool:
    """Whether a hunk has more context on one side of its changes than on the other."""
    for hunk in patch.split("\n@@")[1:]:
        signs = [line[:1] for line in hunk.split("\n")[1:] if line[:1] in {" ", "+", "-"}]
        changed = [number for number, sign in enumerate(signs) if sign != " "]
        if changed[0] != len(signs) - 1 - changed[-1]:
            return True
    return False


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str, str]:
    """A note, the note after an edit, and the diff between them."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines = draw(LINES)
    before = newline.join(lines) + (newline if draw(st.booleans()) else "")
    after = newline.join(edited(lines, draw(EDITS))) + (newline if draw(st.booleans()) else "")
    return before, after, unified(before, after, draw(st.integers(0, 3)))


@given(changes(), st.booleans())
@examples(400)
def test_a_diff_of_two_notes_makes_the_second_from_the_first(change: tuple[str, str, str], headers: bool) -> None:
    before, after, patch = change
    if before == after:
        return
    sent = patch if headers else patch[patch.index("@@") :]
    assert apply(before, parse(sent)) == after


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_line_that_is_added_behind_an_unended_last_line_is_a_line_of_its_own(newline: str) -> None:
    """PLUGIN-04"""
    body = f"a{newline}b"
    assert apply(body, parse("@@ -2,0 +3 @@\n+c\n")) == f"a{newline}b{newline}c"
    assert apply(body, parse("@@ -2,0 +3,2 @@\n+c\n+d\n\\ No newline at end of file\n")) == newline.join("abcd")


@pytest.mark.skipif(shutil.which("patch") is None, reason="the program patch is not installed")
@given(changes(), EDITS)
@examples(120, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_where_the_program_patch_applies_a_diff_the_result_is_the_same(
    tmp_path: Path, change: tuple[str, str, str], edits: list[tuple[int, int, list[str]]]
) -> None:
    """`patch` without fuzz is an independent applier. It guesses between several places, and we refuse to.

    It also reads unequal context before and after a change as "at an end of the file", whatever line the hunk names;
    the plugin and we go by the line.
    """
    before, after, patch = change
    if before == after or anchored_at_an_end(patch):
        return
    newline = "\r\n" if "\r\n" in before else "\n"
    now = newline.join(edited(before.split(newline), edits))
    (tmp_path / "note").write_bytes(now.encode())
    (tmp_path / "diff").write_bytes(patch.encode())
    done = subprocess.run(
        ["patch", "-s", "-f", "-F0", "--binary", "-r", "-", "-o", "out", "note", "diff"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    try:
        ours = apply(now, parse(patch))
    except (TextNotUnique, TextNotFound, InvalidArguments):
        assert now != before
        return
    if done.returncode == 0:
        assert ours.encode() == (tmp_path / "out").read_bytes()
