"""How long a note is, as the app counts (COUNT-1, COUNT-2)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.note.counts import count


@pytest.mark.parametrize(
    ("text", "words", "characters"),
    [
        ("hello world", 2, 11),
        ("你好世界", 4, 4),
        ("안녕하세요", 1, 5),
        ("3.14", 1, 4),
        ("", 0, 0),
        ("don't well-known it’s 1,000.5", 4, 29),
        ("a -- b --- c", 5, 12),
        ("ひらカタ漢字ー abc", 8, 11),
        ("---\na: not counted\n---\n\n x y \n", 2, 3),
        ("😀 é", 1, 4),
        ("one, two; (three)", 3, 17),
    ],
)
def test_words_and_characters(text: str, words: int, characters: int) -> None:
    """COUNT-1, COUNT-2"""
    counted = count(text)
    assert (counted.words, counted.characters) == (words, characters)
