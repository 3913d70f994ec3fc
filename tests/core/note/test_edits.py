"""Edits of a note's text change what was asked and nothing else (specs/edits.md)."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from obsidian_mcp.core.note import edits, parser
from obsidian_mcp.core.text.text import Lines, Span, Text
from obsidian_mcp.errors import TextNotFound, TextNotUnique

LINES = st.lists(st.text("ab \t#-é日😀", max_size=8), max_size=8)
ENDS = st.sampled_from(["\n", "\r\n"])


@st.composite
def bodies(draw: st.DrawFn) -> str:
    newline = draw(ENDS)
    body = newline.join(draw(LINES))
    return body + newline if draw(st.booleans()) and body else body


@pytest.mark.parametrize(
    ("body", "content", "after"),
    [
        ("t", "a\nb", "t\na\nb"),
        ("t\n", "a", "t\na\n"),
        ("t\n", "a\n", "t\na\n"),
        ("", "a", "a"),
        ("t\r\nu", "a\nb\n", "t\r\nu\r\na\r\nb"),
        ("t\r\n", "a", "t\r\na\r\n"),
        ("t\n\n", "a", "t\n\na\n"),
        ("t\n", "a\r\nb\r\n", "t\na\nb\n"),
        ("t", "a\r\nb", "t\r\na\r\nb"),
        ("", "a\r\nb", "a\r\nb"),
        ("t\r\nu\n", "a\r\nb", "t\r\nu\na\r\nb\n"),
    ],
)
def test_appended_text_stands_on_lines_of_its_own(body: str, content: str, after: str) -> None:
    """EDIT-02"""
    assert edits.insert_text(body, content) == after


@given(bodies(), st.text("xyz\n", min_size=1, max_size=8))
def test_appending_keeps_every_character_and_the_missing_last_newline(body: str, content: str) -> None:
    """EDIT-01, EDIT-02"""
    after = edits.insert_text(body, content)

    assert after.startswith(body)
    if body and not content.endswith("\n"):
        assert after.endswith("\n") == body.endswith("\n")
    assert "\n" not in after[len(body) :].replace("\r\n", "") or Text(body).newline == "\n"


@given(bodies(), st.integers(0, 7), st.text("xyz", min_size=1, max_size=5))
def test_inserting_a_line_keeps_the_other_lines(body: str, line: int, content: str) -> None:
    """EDIT-01, EDIT-03, EDIT-10"""
    starts = Lines(body).starts
    at = starts[min(line, len(starts) - 1)]
    after = edits.insert(body, at, content)

    kept = after.splitlines()
    kept.remove(content)
    assert [line for line in kept if line] == [line for line in body.splitlines() if line]
    assert 0 <= len(kept) - len(body.splitlines()) <= 2


ONE_LINE = [
    "text",
    "text ^a",
    "- item",
    "- [ ] task ^b",
    "> quote",
    "# Heading",
    "[^1]: note",
    "---",
    "===",
    "2. two",
    "^d",
]
MORE_LINES = ["> [!note] T\n> more ^c", "|a|b|\n|-|-|\n|1|2|", "Head\n===", "Sub\n---", "```\ncode\n```", "$$\nx\n$$"]
BLOCKS = st.lists(st.sampled_from(ONE_LINE + MORE_LINES), max_size=5).map("\n\n".join)


@given(BLOCKS, BLOCKS.filter(bool), BLOCKS)
def test_text_between_blocks_keeps_their_headings_and_block_ids(above: str, content: str, below: str) -> None:
    """EDIT-10"""
    assume(not above.startswith("---"))  # properties that the note's own first line begins
    above = above and above + "\n"
    after = edits.insert(above + below, len(above), content)

    for kept in (above, content, below):
        note, whole = parser.parse(kept), parser.parse(after)
        assert {heading.text for heading in note.headings} <= {heading.text for heading in whole.headings}
        assert {block.id for block in note.block_ids} <= {block.id for block in whole.block_ids}
        assert sum(section.kind == "table" for section in note.sections) <= sum(
            section.kind == "table" for section in whole.sections
        )


@pytest.mark.parametrize(
    ("above", "content", "after"),
    [
        ("para ^id\n", "More", "para ^id\n\nMore\n"),
        ("> [!a] b\n> c\n", "More", "> [!a] b\n> c\n\nMore\n"),
        ("> [!a] b\n> c\n", "> More", "> [!a] b\n> c\n> More\n"),
        ("- a\n", "text", "- a\n\ntext\n"),
        ("- a\n", "- b", "- a\n- b\n"),
        ("- a\n", "  of a", "- a\n  of a\n"),
        ("|a|b|\n|-|-|\n|1|2|", "text", "|a|b|\n|-|-|\n|1|2|\n\ntext"),
        ("|a|b|\n|-|-|\n|1|2|\n", "|3|4|", "|a|b|\n|-|-|\n|1|2|\n|3|4|\n"),
        ("para\r\n", "---\r\nx", "para\r\n\r\n---\r\nx\r\n"),
        ("para\n", "|a|b|\n|-|-|", "para\n\n|a|b|\n|-|-|\n"),
        ("para\n", "more", "para\nmore\n"),
        ("para\n", "## H", "para\n## H\n"),
        ("```\n\nopen\n", "text", "```\n\nopen\ntext\n"),
    ],
)
def test_a_blank_line_parts_appended_text_from_a_block_that_it_would_change(
    above: str, content: str, after: str
) -> None:
    """EDIT-10"""
    assert edits.insert_text(above, content) == after


@pytest.mark.parametrize(
    ("content", "below", "after"),
    [
        ("text", "Next\n===\n", "text\n\nNext\n===\n"),
        ("text", "|a|b|\n|-|-|\n", "text\n\n|a|b|\n|-|-|\n"),
        ("> [!note] T", "Para\n", "> [!note] T\n\nPara\n"),
        ("- item", "Para\n", "- item\n\nPara\n"),
        ("text ^id", "Para\n", "text ^id\n\nPara\n"),
        ("text", "Para\n", "text\nPara\n"),
        ("text", "- item\n", "text\n- item\n"),
        ("text", "# H\n", "text\n# H\n"),
        ("---", "text\n\n---\n", "\n---\ntext\n\n---\n"),
        ("---\na: 1\n---", "text\n\n---\n", "---\na: 1\n---\ntext\n\n---\n"),
    ],
)
def test_a_blank_line_parts_inserted_text_from_a_block_that_it_would_change(
    content: str, below: str, after: str
) -> None:
    """EDIT-10"""
    assert edits.insert(below, 0, content) == after


def test_the_one_occurrence_of_a_text_is_replaced() -> None:
    """EDIT-04"""
    assert edits.replace_text("a b\r\nc", "b\nc", "x\ny", every=False) == "a x\r\ny"
    assert edits.replace_text("a b\nc", "b\r\nc", "x\r\ny", every=False) == "a x\ny"
    assert edits.replace_text("one two", " two", "", every=False) == "one"


def test_a_text_that_stands_twice_is_not_replaced_and_its_lines_are_told() -> None:
    """EDIT-04"""
    with pytest.raises(TextNotUnique) as error:
        edits.replace_text("aa\nb\naa", "aa", "x", every=False)

    assert error.value.data["lines"] == [1, 3]
    assert edits.replace_text("aa\nb\naa", "aa", "x", every=True) == "x\nb\nx"


def test_overlapping_occurrences_are_two() -> None:
    with pytest.raises(TextNotUnique):
        edits.replace_text("aaa", "aa", "x", every=False)


def test_a_long_text_that_repeats_itself_and_stands_twice_is_told_at_once() -> None:
    """EDIT-04"""
    find = "x y " * 30_000
    start = time.process_time()
    with pytest.raises(TextNotUnique) as error:
        edits.replace_text(f"{find}\n{find}\n", find, "x", every=False)

    assert error.value.data == {"count": 2, "lines": [1, 2]}
    assert time.process_time() - start < 1  # measured: 0.003 s; 3 s and more by an expression


def test_a_text_that_is_not_there_is_answered_with_the_nearest_line() -> None:
    """EDIT-04"""
    with pytest.raises(TextNotFound) as error:
        edits.replace_text("fir\u2028st\x0c\n\nThe quick brown fox\n", "The quick brwn fox", "x", every=False)

    assert error.value.data["line"] == 3  # only LF ends a line


WRITTEN = (
    "# A\n\nA long line: “it’s — well…”, 5\u00a0km.\nline two\nline three\n第１章　はじめに\nCafe\u0301\nCaf\u00e9s\n"
    "a\u2028here\nor there\n"
)


@pytest.mark.parametrize(
    ("find", "line", "message"),
    [
        ('"it\'s - well..."', 3, "Line 3 has it with “ (U+201C) for '\"', ’ (U+2019) for \"'\", — (U+2014) for '-', …"),
        ('"it\'s - well..."', 3, "as it stands there: “it’s — well…”"),
        ("5 km", 3, "Line 3 has it with U+00A0 for ' '. It must be given as it stands there: 5\u00a0km"),
        ("long  line", 3, "Line 3 has it with ' ' for '  '."),
        ("第1章 はじめに", 6, "Line 6 has it with １ (U+FF11) for '1', U+3000 for ' '."),
        ("Caf\u00e9\nCaf\u00e9s", 7, "Line 7 has it with e\u0301 (U+0065 U+0301) for \u00e9 (U+00E9)."),
        ("Cafe\u0301s", 8, "Line 8 has it with another normal form."),
        ("\u2028here\nor not", 10, "It begins at line 9, but line 10 is 'or there', not 'or not'."),
        ("line two\nline 3", 5, "It begins at line 4, but line 5 is 'line three', not 'line 3'."),
        (
            "or there\nmore",
            11,
            "It begins at line 10, but line 11 is the end of the note, not 'more'.",
        ),
    ],
)
def test_a_text_in_other_characters_is_answered_with_the_line_and_what_is_different(
    find: str, line: int, message: str
) -> None:
    """EDIT-04"""
    with pytest.raises(TextNotFound) as error:
        edits.replace_text(WRITTEN, find, "x", every=False)

    assert error.value.data["line"] == line
    assert message in str(error.value)


def test_a_long_text_is_answered_with_the_nearest_line_alone() -> None:
    """EDIT-04: 300 KB took minutes to be looked for in other characters"""
    find = f"A long line: “it's — well…”, 5 km.\n{'more ' * 400}"
    with pytest.raises(TextNotFound, match="The nearest is line 3"):
        edits.replace_text(WRITTEN, find, "x", every=False)


SECTION = "# A\n\ntext\nmore\n\n# B\n"


def test_a_replaced_section_keeps_the_blank_lines_around_it() -> None:
    """EDIT-05"""
    span = Span(4, SECTION.index("# B"))

    assert edits.replace_span(SECTION, span, "new\n") == "# A\n\nnew\n\n# B\n"
    assert edits.append_to_span(SECTION, span, "last") == "# A\n\ntext\nmore\nlast\n\n# B\n"


def test_an_empty_section_is_filled() -> None:
    body = "# A\n\n# B"

    assert edits.replace_span(body, Span(4, 5), "x") == "# A\nx\n\n# B"
    assert edits.append_to_span(body, Span(8, 8), "x") == "# A\n\n# B\n\nx"


def test_a_section_of_a_crlf_note_gets_crlf_lines() -> None:
    """EDIT-05, FILE-04"""
    body = "# A\r\n\r\ntext\r\n\r\n# B\r\n"

    assert edits.append_to_span(body, Span(5, body.index("# B")), "x\ny") == "# A\r\n\r\ntext\r\nx\r\ny\r\n\r\n# B\r\n"
    assert edits.replace_span(body, Span(5, body.index("# B")), "x\ny\n") == "# A\r\n\r\nx\r\ny\r\n\r\n# B\r\n"


def test_a_last_section_without_a_last_newline_gets_none() -> None:
    """EDIT-02, EDIT-05"""
    body = "# A\n\n  text"

    assert edits.append_to_span(body, Span(4, len(body)), "x\n") == "# A\n\n  text\nx"
    assert edits.replace_span(body, Span(4, len(body)), "x\n") == "# A\n\nx"
