"""How long a note is, as the app counts (COUNT-1, COUNT-2 in specs/note.md)."""

from __future__ import annotations

from typing import NamedTuple

import regex

from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.text.text import utf16_length

_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc]"  # every letter is a word
    r"|\p{Hangul}+"
    r"|(?:[\p{L}\p{M}\p{N}--[\p{Nd}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]]+"
    r"|\p{Nd}+(?:[.,]\p{Nd}+)*|-|(?<=\w)['’](?=\w))+",
    regex.V1,
)


class NoteCounts(NamedTuple):
    words: int
    characters: int
    """Number of UTF-16 code units, as the app counts."""


def count(body: str) -> NoteCounts:
    """Return how many words and characters the text below a note's properties has."""
    text = body[text_start(body) :].strip()
    return NoteCounts(len(_WORD.findall(text)), utf16_length(text))
