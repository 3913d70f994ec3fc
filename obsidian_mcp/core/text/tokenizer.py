"""Tokens of a text for the search index (specs/search.md, SEARCH-20 to SEARCH-25).

A word is a run of letters, digits and marks of a script that puts spaces between words. Every letter of another script
(Chinese, Japanese, Thai, …) is a word by itself, and so is every symbol outside ASCII. What stands between two words is
a word of its own, GAP, unless it is what is usual there: one space between words with spaces, else nothing. So a text
without gaps stands where its words follow each other, and nowhere else.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

import regex

from .casefold import CONTINUOUS, fold, is_spaced

LONGEST = 100
"""Bytes of UTF-8. Longer words (encoded data) are not in the vocabulary: a text with one is scanned by every search for
part of a word."""

GAP = "\x80"
"""Replaces every unusual gap between two words. It is a control character, so it is never a word of a text."""

_GAP_BETWEEN = f" {GAP} ".encode()
_LINE_END = f" {GAP}\n".encode()
_BOUND = "\v"
_SEPARATORS = bytes(byte if byte > 127 or chr(byte).isalnum() or chr(byte) in " \n" else 11 for byte in range(256))
"""Translates UTF-8 bytes: everything between words except spaces and line ends becomes _BOUND."""
_SPACES = re.compile(b"  +")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_ALONE = regex.compile(rf"[{CONTINUOUS}]+|[^\p{{L}}\p{{N}}\p{{M}}\p{{Z}}\p{{C}}]+")
_BLANK = regex.compile(r"[\p{Z}\p{C}]")
_JOINT = "\x81"
"""Separates adjacent words without a gap while the text still contains its own spaces."""
_BESIDE_JOINT = re.compile(f" {_JOINT}|{_JOINT} ")
_LETTERS_ONLY = bytes(
    byte if byte > 127 else ord(chr(byte).lower()) if chr(byte).isalnum() else 32 for byte in range(256)
)
"""Translates UTF-8 bytes: word boundaries become spaces, and ASCII is folded."""
_MARK = regex.compile(r"\p{M}+")

VERSION = f"{unicodedata.unidata_version} {regex.__version__}"
"""Another version of these tables may produce other tokens for the same text."""

_UMLAUTS = re.compile("[äöü]")
_WRITTEN_OUT = {"ä": "ae", "ö": "oe", "ü": "ue"}
_LETTERS = str.maketrans({"ø": "o", "œ": "oe", "æ": "ae", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"})


def spread(text: str) -> str:
    """Return the text with its words and gaps separated by spaces, as the index's tokenizer expects; ASCII is not
    folded.

    A line end stands after the gap where the text has one or more, and nowhere else.
    """
    if text.isascii():
        return _with_gaps(text.encode()).decode()
    joined = _FOREIGN.sub(_spread, fold(text))
    if _JOINT not in joined:
        return _with_gaps(joined.encode()).decode()
    joined = _BESIDE_JOINT.sub(_BOUND, joined)
    return _with_gaps(joined.encode()).decode().replace(_JOINT, " ")


def _with_gaps(data: bytes) -> bytes:
    data = data.translate(_SEPARATORS)
    if b"  " in data:
        data = _SPACES.sub(b"\v", data)
    lines = [
        _GAP_BETWEEN.join([part for part in line.split(b"\v") if part and part != b" "])
        for line in data.split(b"\n")
        if line
    ]
    return _LINE_END.join([line for line in lines if line])


def _spread(run: re.Match[str]) -> str:
    return _spread_short(run[0]) if len(run[0]) <= 4 else _spread_run(run[0])


def _spread_run(run: str) -> str:
    run = _BLANK.sub(_BOUND, run)
    return _ALONE.sub(lambda found: f"{_JOINT}{_JOINT.join(found[0])}{_JOINT}", run)


_spread_short = lru_cache(maxsize=4096)(_spread_run)


def words(spread_text: str) -> list[bytes]:
    """Return the folded words of a text after `spread`, in order, as UTF-8: comparing bytes takes half the time."""
    return spread_text.encode().translate(_LETTERS_ONLY).split()


class Wanted(NamedTuple):
    """The words of a search text: the first may end a longer word, and the last may begin one."""

    words: tuple[str, ...]
    open_start: bool
    open_end: bool
    whole: bool
    """Whether the text consists of exactly these words, so that every occurrence of the words is a match."""


def wanted(text: str, *, bounded: bool = False) -> Wanted:
    """`text` is folded. `bounded`: it begins and ends at the bounds of words, where it has letters there."""
    found = tuple(word.decode() for word in words(spread(text)))
    return Wanted(
        found,
        open_start=bool(found) and not bounded and is_spaced(text[0]),
        open_end=bool(found) and not bounded and is_spaced(text[-1]),
        whole=bool(found) and GAP not in found and _is_in_word(text[0]) and _is_in_word(text[-1]),
    )


def _is_in_word(char: str) -> bool:
    return char.isalnum() if char.isascii() else not _BLANK.match(char)


def plain(word: str) -> str:
    """Return a folded word without accents, in basic letters: `é` is `e`, `ß` is `ss`, full-width forms are ASCII."""
    if word.isascii():
        return word
    return _MARK.sub("", unicodedata.normalize("NFKD", word)).casefold().translate(_LETTERS)


def written_out(word: str) -> str | None:
    """Return a German word spelled without umlauts (`müller` as `mueller`); None if it has none."""
    word = unicodedata.normalize("NFC", word)
    found = _UMLAUTS.sub(lambda umlaut: _WRITTEN_OUT[umlaut[0]], word)
    return plain(found) if found != word else None
