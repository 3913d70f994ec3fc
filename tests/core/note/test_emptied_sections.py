"""Headings that go with the last text below them (specs/composer.md, COMPOSE-9)."""

from __future__ import annotations

from itertools import pairwise

from obsidian_mcp.core.note.edits import Edit, apply
from obsidian_mcp.core.note.emptied_sections import remove_emptied_sections
from obsidian_mcp.core.text.text import Span

NOTE = "# Title\nkept\n## A\nfirst\n## B\nsecond\n## C\nthird\n"


def removal_of(text: str) -> Edit:
    start = NOTE.index(text)
    return Edit(Span(start, start + len(text)), "")


def test_a_section_beside_one_that_is_taken_whole_goes_by_an_edit_of_its_own() -> None:
    """COMPOSE-9"""
    emptied = remove_emptied_sections(NOTE, [removal_of("first\n"), removal_of("## B\nsecond\n")], lambda _: False)

    assert [heading.text for heading in emptied.removed] == ["A"]
    assert emptied.edits == [removal_of("## A\nfirst\n"), removal_of("## B\nsecond\n")]
    assert all(edit.span.end <= later.span.start for edit, later in pairwise(emptied.edits))
    assert apply(NOTE, emptied.edits) == "# Title\nkept\n## C\nthird\n"


def test_text_that_comes_to_the_end_of_a_section_keeps_its_heading() -> None:
    """COMPOSE-9"""
    at_the_end = Edit(Span(NOTE.index("## B"), NOTE.index("## B")), "[[Elsewhere]]\n")
    emptied = remove_emptied_sections(NOTE, [removal_of("first\n"), at_the_end], lambda _: False)

    assert not emptied.removed
    assert apply(NOTE, emptied.edits) == NOTE.replace("first\n", "[[Elsewhere]]\n")
