"""Word segmentation for scripts without spaces between words (SEARCH-54).

There is no dictionary: a search looks for the text as it stands, then for its runs of one kind of
letters, then for its pairs of letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

from .analysis import is_spaced
from .stopwords import ASKING_UNSPACED, JOSA, PARTICLES, SPLITTING

_KATAKANA_TO_HIRAGANA = {code: code - 0x60 for code in range(0x30A1, 0x30F7)}
_HIRAGANA_TO_KATAKANA = {code - 0x60: code for code in range(0x30A1, 0x30F7)}
_HALF_WIDTH = {
    unicodedata.normalize("NFKC", chr(code)): chr(code) for code in range(0xFF61, 0xFF9E)
}
_HALF_WIDTH |= {"\u3099": "\uff9e", "\u309a": "\uff9f"}
_ASKING = re.compile("|".join(ASKING_UNSPACED))
SHORTEST_SPLIT = 4
"""Minimum length of a run, in letters, that may consist of several words."""

Letters = tuple[str, ...]
"""Letters that follow each other; a word of a script with spaces is one of them."""


def spellings(text: str) -> Iterator[str]:
    """Yield other spellings of a folded text.

    They are kana of the other kind or of half the width, and a Korean word without its ending.
    """
    for kana in (text.translate(_HIRAGANA_TO_KATAKANA), text.translate(_KATAKANA_TO_HIRAGANA)):
        if kana != text:
            yield kana
    if any("\u30a1" <= char <= "\u30fa" for char in text):
        parts = (part for char in text for part in unicodedata.normalize("NFD", char))
        yield "".join(_HALF_WIDTH.get(part, part) for part in parts)
    bare = without_josa(text)
    if bare != text:
        yield bare


def without_josa(word: str) -> str:
    """Return a Korean word without its ending if at least two letters remain."""
    if _kind(word[-1]) == "hangul":
        for ending in JOSA:
            if len(word) >= len(ending) + 2 and word.endswith(ending):
                return word[: -len(ending)]
    return word


def runs(letters: Letters) -> list[Letters]:
    """Return the words that letters without spaces between them may be; never none.

    A word is a run of one kind of letters, without words that only ask. A word of a script with
    spaces is one of `letters`, and a run by itself.
    """
    return list(_runs(letters)) or [letters]


def _runs(letters: Letters) -> Iterator[Letters]:
    """Yield the runs of letters that are looked for as one.

    A run ends where the script changes. Particles are dropped, and Chinese without kana is split at
    words that stand in nearly every sentence.
    """
    has_kana = any(_kind(letter) in {"hiragana", "katakana"} for letter in letters)
    for pieces in _pieces(letters):
        for kind, run in ((kind, tuple(run)) for kind, run in groupby(pieces, _kind)):
            if kind == "spaced":
                yield from ((word,) for word in run)
            elif kind == "hiragana":
                yield from _without_particles(run, alone=len(run) == len(letters))
            elif kind == "hangul":
                yield tuple(without_josa("".join(run)))
            elif kind == "han" and not has_kana and len(run) >= SHORTEST_SPLIT:
                yield from (
                    tuple(part) for part in re.split(f"[{SPLITTING}]", "".join(run)) if part
                )
            else:
                yield run


def _pieces(letters: Letters) -> Iterator[Letters]:
    """Yield the parts of a text between question words."""
    text = "".join(letter if len(letter) == 1 else "\0" for letter in letters)
    start = 0
    for question in _ASKING.finditer(text):
        if question.end() - question.start() < len(text):
            yield letters[start : question.start()]
            start = question.end()
    yield letters[start:]


def _without_particles(run: Letters, *, alone: bool) -> Iterator[Letters]:
    text = "".join(run)
    if not alone:
        while start := next((particle for particle in PARTICLES if text.startswith(particle)), ""):
            text = text[len(start) :]
        while end := next((particle for particle in PARTICLES if text.endswith(particle)), ""):
            text = text[: -len(end)]
    if alone or len(text) > 1:
        yield tuple(text)


def pairs(run: Letters) -> list[Letters]:
    """Return a run in overlapping pairs of letters."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _kind(letter: str) -> str:
    if len(letter) > 1 or is_spaced(letter):
        return "spaced"
    if letter in "ー々〆":
        return "katakana" if letter == "ー" else "han"
    if "\u3041" <= letter <= "\u309f":
        return "hiragana"
    if "\u30a0" <= letter <= "\u30ff" or "\uff65" <= letter <= "\uff9f":
        return "katakana"
    if "\uac00" <= letter <= "\ud7a3":
        return "hangul"
    return "han"
