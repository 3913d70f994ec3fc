"""The pieces of a note that are embedded (specs/semantic.md, SEM-02)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.semantic.choice import PIECE_BYTES
from obsidian_mcp.core.semantic.meaning import MOST_PIECES, pieces


def test_every_section_is_a_piece_with_the_name_and_its_heading() -> None:
    """SEM-02"""
    text = f"---\ntags: x\n---\nintroduction {'a ' * 120}\n# One\n{'one ' * 60}\n# Two\n{'two ' * 60}\n"
    headings = [(text.index("# One"), "One"), (text.index("# Two"), "Two")]
    found = pieces("Note", text, headings)
    assert [piece.text.splitlines()[0] for piece in found] == ["Note"] * 3
    assert [piece.text.splitlines()[1] for piece in found[1:]] == ["One", "Two"]
    assert "tags" not in found[0].text
    assert [text[piece.start :].split(maxsplit=1)[0] for piece in found] == ["introduction", "#", "#"]


@pytest.mark.parametrize("text", ["---\r\ntags: x\r\n---\r\nText", "---\n---\nText"])
def test_properties_are_left_out_whatever_ends_their_lines(text: str) -> None:
    """SEM-02"""
    (piece,) = pieces("Note", text, [])
    assert (piece.text, piece.start) == ("Note\nText", text.index("Text"))


def test_short_sections_are_read_together() -> None:
    """SEM-02"""
    text = "# One\nshort\n# Two\nshort too\n"
    (piece,) = pieces("Note", text, [(0, "One"), (text.index("# Two"), "Two")])
    assert piece.text == "Note\nOne\n# One\nshort\n# Two\nshort too"


def test_a_piece_of_japanese_has_no_more_than_a_model_reads() -> None:
    """SEM-02"""
    found = pieces("N", "庭の水やり。" * 150, [])
    assert [len(piece.text) - 2 for piece in found] == [333, 333, 234]


def test_an_empty_note_is_its_name() -> None:
    """SEM-02"""
    assert [piece.text for piece in pieces("Idea", "", [])] == ["Idea"]


@given(st.text("ab \n#é漢🦊", max_size=6_000))
def test_pieces_are_short_and_together_the_text(text: str) -> None:
    """SEM-02"""
    found = pieces("N", text, [])
    assert len(found) <= MOST_PIECES
    assert all(len(piece.text.encode()) <= PIECE_BYTES + 2 for piece in found)
    if text.strip():
        assert "".join("".join(piece.text.split()[1:]) for piece in found) == "".join(text.split())
