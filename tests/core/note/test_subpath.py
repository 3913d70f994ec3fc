"""Where the part of a link behind `#` leads (specs/note.md, NOTE-60 to NOTE-66)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.note.headings import heading_for_link, heading_key
from obsidian_mcp.core.note.parser import Note, parse
from obsidian_mcp.core.note.subpath import resolve_subpath

OUTLINE = parse("# A\na\n## X\nx1\n# B\nb\n## X\nx2\n### Y\ny\n")


def text_at(note: Note, subpath: str) -> str | None:
    place = resolve_subpath(note, subpath)
    return place.span.slice(note.body) if place else None


@pytest.mark.parametrize(
    ("heading", "key"),
    [
        ("What: is `this` #1?", "what is this 1"),
        ("Don't-do_it", "don't-do_it"),
        ("Ünï 日本", "ünï 日本"),
        ("A link in a [[link]]", "a link in a link"),
        ("  a \t/ b\u00a0c ", "a b c"),
        ("é (nfd)", "é nfd"),
        ("***", ""),
    ],
)
def test_headings_compare_without_punctuation_white_space_and_case(heading: str, key: str) -> None:
    """NOTE-60"""
    assert heading_key(heading) == key


def test_unicode_forms_of_a_heading_are_told_apart() -> None:
    """NOTE-60"""
    assert heading_key("e\u0301") != heading_key("é")


def test_the_text_of_a_heading_in_a_link_loses_what_would_break_the_link() -> None:
    """NOTE-61"""
    assert heading_for_link("A: b | c [[d]] %%e%%") == "A b c d e"
    assert heading_for_link("50 % of #x ^y [z]") == "50 % of x y [z]"


@pytest.mark.parametrize(
    ("subpath", "text"),
    [
        ("#X", "## X\nx1\n"),
        ("#B#X", "## X\nx2\n### Y\ny\n"),
        ("#B#Y", "### Y\ny\n"),
        ("#A", "# A\na\n## X\nx1\n"),
        ("#b#y", "### Y\ny\n"),
        ("#X#B", None),
        ("#Missing", None),
        ("#X#Missing", None),
    ],
)
def test_a_chain_of_headings_leads_to_the_first_that_is_deeper_each_time(subpath: str, text: str | None) -> None:
    """NOTE-63, NOTE-64"""
    assert text_at(OUTLINE, subpath) == text


@pytest.mark.parametrize("subpath", ["", "#", "##", "# # "])
def test_an_empty_subpath_is_the_whole_note(subpath: str) -> None:
    """NOTE-62"""
    place = resolve_subpath(OUTLINE, subpath)
    assert place is not None
    assert (place.heading, place.span.slice(OUTLINE.body)) == (None, OUTLINE.body)


def test_a_heading_is_found_by_the_text_a_person_writes_for_it() -> None:
    """NOTE-62"""
    note = parse("# What: is `this` #1?\nx\n# Ünï 日本\n")
    assert text_at(note, "#what is this 1") == "# What: is `this` #1?\nx\n"
    assert text_at(note, "#ünï 日本") == "# Ünï 日本\n"


def test_headings_in_quotes_neither_are_found_nor_end_a_section() -> None:
    """NOTE-15"""
    note = parse("# A\n> # Q\nx\n# B")
    assert text_at(note, "#Q") is None
    assert text_at(note, "#A") == "# A\n> # Q\nx\n"


def test_a_block_is_found_by_its_id_in_any_case_and_the_last_of_two_wins() -> None:
    """NOTE-65"""
    note = parse("text ^Ab-1\n\n- item ^x\n  - child\n\nlast ^x")
    assert text_at(note, "#^ab-1") == "text ^Ab-1"
    assert text_at(note, "#^X") == "last ^x"
    assert text_at(note, "#^none") is None


def test_a_footnote_is_found_by_its_mark() -> None:
    """NOTE-66"""
    note = parse("a[^n]\n\n[^n]: the note\n")
    assert text_at(note, "#[^n]") == "[^n]: the note"
    assert text_at(note, "#[^m]") is None
