"""What a change means to the person who reviews it (specs/console.md UI-31 to 33)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.review.file_review import review_file
from obsidian_mcp.core.review.hunk_review import ReviewedHunk, ReviewedLine, review_text
from obsidian_mcp.core.review.link_review import LinkChange, compare_links
from obsidian_mcp.core.review.property_review import PropertyChange, compare_properties
from obsidian_mcp.core.review.words import WordRun, compare_words, runs_after, runs_before
from obsidian_mcp.core.text.hunks import ChangedText
from obsidian_mcp.core.text.text import split_lines
from tests.examples import examples

TABLE = ("| a | b |\n", "| - | - |\n", "| c \\| d | e |\n", "> | q |\n")
BLOCKS = ("one two\n", "```\n", "code\n", "\n", "---\n", "k: v\n", "# Head\n", "[[A|x]] and\n", "[x](B.md)\n")
PIECES = st.sampled_from((*TABLE, *BLOCKS, "a\r\n", "caf\xe9 \udce9\n", "end", " ", "two", "%%\n"))
TEXTS = st.lists(PIECES, max_size=25).map("".join)


def marked(runs: Iterable[WordRun]) -> str:
    """Words with what is removed in [-…-] and what is added in {+…+}."""
    signs = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(signs[run.fate].format(run.text) for run in runs)


def joined(runs: Iterable[WordRun]) -> str:
    return "".join(run.text for run in runs)


def review_note(before: str, after: str) -> list[ReviewedHunk]:
    return review_text(before, after, (parse(before), parse(after)))


def only_hunk(before: str, after: str, *, is_note: bool = True) -> list[ReviewedLine]:
    (hunk,) = review_note(before, after) if is_note else review_text(before, after)
    return [line for line in hunk.lines if line.fate != "same"]


@given(before=TEXTS, after=TEXTS)
@examples(300)
def test_the_joined_parts_are_the_bytes_of_both_sides(before: str, after: str) -> None:
    """UI-31"""
    hunks = review_note(before, after)

    assert join_hunks(hunks, split_lines(before), before=True) == before
    assert join_hunks(hunks, split_lines(after), before=False) == after
    assert {hunk.number for hunk in hunks} == ChangedText(before, after).numbers
    for hunk in hunks:
        for line in hunk.lines:
            assert not line.cells or tuple(run for cell in line.cells for run in cell) == line.runs


def join_hunks(hunks: list[ReviewedHunk], lines: list[str], *, before: bool) -> str:
    """One side of a text, with its unchanged lines between the hunks."""
    parts, at = [], 0
    for line in (line for hunk in hunks for line in hunk.lines):
        number = line.before if before else line.after
        if number:
            parts += [*lines[at : number - 1], joined(runs_before(line.runs) if before else runs_after(line.runs))]
            at = number
    return "".join([*parts, *lines[at:]])


@given(before=st.text(max_size=60), after=st.text(max_size=60))
@examples(200)
def test_the_words_of_both_sides_are_both_texts(before: str, after: str) -> None:
    runs = compare_words(before, after)

    assert (joined(runs_before(runs)), joined(runs_after(runs))) == (before, after)


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("The oil is thin.\n", "The oil is thick.\n", ["The oil is [-thin-]{+thick+}.\n"]),
        ("Same.\n\nOld text here.\n", "Same.\n\nOld text is here.\n", ["Old text {+is +}here.\n"]),
        ("a\n", "a\nWholly new\n", ["{+Wholly new\n+}"]),
        ("Nothing in common\n", "zyx wvu\n", ["[-Nothing in common\n-]", "{+zyx wvu\n+}"]),
        ("One.\nTwo words.\n", "Two words more.\n", ["[-One.\n-]", "Two words{+ more+}.\n"]),
        ("- [ ] Oil it\n", "- [x] Oil it\n", ["- [[- -]{+x+}] Oil it\n"]),
    ],
    ids=["word", "insertion", "new line", "another line", "moved up", "task"],
)
def test_prose_is_shown_word_by_word(before: str, after: str, lines: list[str]) -> None:
    """UI-31"""
    assert [marked(line.runs) for line in only_hunk(before, after)] == lines


def test_a_table_is_shown_by_cell() -> None:
    """UI-31: a word of one cell is never part of another one"""
    head = "| part | mm |\n| --- | --- |\n"
    (line,) = only_hunk(f"{head}| wheel | 42 |\n", f"{head}| wheel | 43 |\n")

    assert line.kind == "table"
    assert [marked(cell) for cell in line.cells] == [" wheel ".join(["|", ""]), "| [-42-]{+43+} ", "|\n"]


def test_code_and_properties_are_told_apart_from_prose() -> None:
    """UI-31"""
    before = "---\nstatus: open\n---\ntext one\n\n```py\nx = 1\n```\n"
    after = before.replace("open", "done").replace("one", "two").replace("x = 1", "x = 2")

    lines = [line for hunk in review_note(before, after) for line in hunk.lines if line.fate != "same"]
    assert [line.kind for line in lines] == ["property", "text", "code"]
    assert {line.kind for line in only_hunk("a\n", "b\n", is_note=False)} == {"code"}


def test_properties_are_compared_by_key() -> None:
    """UI-31"""
    before = "---\nstatus: open\ntags: [a, b]\nold: 1\nsame: x\n---\n"
    after = "---\nsame: x\ntags:\n  - a\n  - c\nstatus: open\nnew:\nis: true\n---\n"

    assert compare_properties(parse(before), parse(after)) == [
        PropertyChange("tags", "a, b", "a, c"),
        PropertyChange("new", None, ""),
        PropertyChange("is", None, "true"),
        PropertyChange("old", "1", None),
    ]
    assert compare_properties(parse("---\na: 1\n---\n"), parse("---\n: [\n---\n")) == []


def test_a_link_that_reads_the_same_and_leads_elsewhere_is_shown() -> None:
    """UI-32"""
    before = "See [[Alpha|the plan]], [oil](Oil.md) and [[Same]].\n"
    after = "See [[Beta|the plan]], [oil](Old/Oil.md#Thin) and [[Same]] [[New]].\n"

    assert compare_links(parse(before), parse(after)) == [
        LinkChange("the plan", "Alpha", "Beta"),
        LinkChange("oil", "Oil.md", "Old/Oil.md#Thin"),
    ]


def test_a_hunk_names_the_heading_that_it_stands_under() -> None:
    hunks = review_note("# A\n\nx\n\n## B\n\ny\nz\n", "# A\n\nx\n\n## B\n\ny\nzz\n")

    assert [hunk.heading for hunk in hunks] == ["B"]


def test_a_canvas_is_code_and_has_no_properties() -> None:
    """UI-33"""
    review = review_file("Board.canvas", '{"a": "[[x]]"}', '{"a": "[[y]]"}')

    assert [line.kind for line in review.hunks[0].lines] == ["code"]
    assert (review.properties, review.links) == ((), ())


def test_a_table_of_many_rows_in_another_order_is_compared_in_a_moment() -> None:
    """TOOL-09"""
    rows = [f"| {number} | {number * 7919 % 10_007} |\n" for number in range(3_000)]
    head = "| a | b |\n| - | - |\n"

    hunks = review_note(head + "".join(rows), head + "".join(reversed(rows)))

    assert sum(len(hunk.lines) for hunk in hunks) > 3_000
