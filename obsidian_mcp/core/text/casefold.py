"""Case folding and word boundaries of a search (specs/query.md, QUERY-20 to QUERY-23).

One rule for words, phrases and regular expressions: Unicode simple case folding, one code point to one code point, so
that a position in the folded text is a position in the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import regex

_DOTTED_CAPITAL_I = "\u0130"
"""The one letter whose lower case is two code points long."""

_DOTLESS_I = "\u0131"
"""The `regex` module pairs it with `I`; here it stands alone, as `I` is the capital of `i`."""

_PAIRS = (
    # Letters with the same capital (Unicode CaseFolding.txt, status C and S), each before what it folds to.
    "µμ ſs \u0345ι \u1fbeι \u1fd3\u0390 \u1fe3\u03b0 ϐβ ϵε ϑθ ϰκ ϖπ ϱρ ςσ ϕφ \u1c80в \u1c81д \u1c82о \u1c83с "
    "\u1c84т \u1c85т \u1c86ъ \u1c87ѣ \u1c88ꙋ ẛṡ \ufb05\ufb06 "
    # Capitals younger than the Unicode tables of the oldest Python in use.
    "\ua7cb\u0264 \ua7d2\ua7d3 \ua7d4\ua7d5 \ua7dc\u019b \ua7dd\u0277 \ua7e2\u027c \uab6c\uab4b \uab6d\uab4c "
    "\U0001df95ß"
)
_TABLE = str.maketrans({pair[0]: pair[1] for pair in _PAIRS.split()})
_VARIANT = re.compile(f"[{''.join(map(chr, _TABLE))}]")
_ASCII = bytes(range(128))
_LONG = 200

CONTINUOUS = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\u3006\u30FC\uFF70"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
)
"""Letters of scripts that put no spaces between words, for a class of the `regex` module."""
SPACED = rf"(?![{CONTINUOUS}])[\p{{L}}\p{{N}}\p{{M}}]"
"""A letter, digit or combining mark of a script that puts spaces between words (semantics 5.3)."""
_IS_SPACED = regex.compile(SPACED)


def fold(text: str) -> str:
    """Return `text` case-folded, with the same number of code points."""
    if text.isascii():
        return text.lower()
    if len(text) > _LONG and len(data := text.encode("utf-8", "surrogatepass")) < 1.2 * len(text):
        return _mostly_ascii(data.lower())
    text = text.replace(_DOTTED_CAPITAL_I, "i").lower()
    return text.translate(_TABLE) if _VARIANT.search(text) else text


def _mostly_ascii(data: bytes) -> str:
    """Fold non-ASCII text letter by letter. Few of its letters differ, so this takes a third of the time."""
    folded = data.decode("utf-8", "surrogatepass")
    for char in set(data.translate(None, _ASCII).decode("utf-8", "surrogatepass")):
        if (other := _folded(char)) != char:
            folded = folded.replace(char, other)
    return folded


@lru_cache(maxsize=8192)
def _folded(char: str) -> str:
    return "i" if char == _DOTTED_CAPITAL_I else char.lower().translate(_TABLE)


def is_caseless(text: str) -> bool:
    """Return whether no letter of `text` has another case."""
    return text.lower() == text == text.upper()


@lru_cache(maxsize=4096)
def is_spaced(char: str) -> bool:
    """Return whether a character belongs to a script that separates words by spaces."""
    return _IS_SPACED.match(char) is not None


@lru_cache(maxsize=512)
def substring(text: str, *, match_case: bool) -> regex.Pattern[str]:
    """Return a pattern that finds `text` anywhere."""
    return regex.compile(literal(text, match_case=match_case), _flags(text, match_case=match_case))


@lru_cache(maxsize=512)
def phrase(text: str, *, match_case: bool) -> regex.Pattern[str]:
    """Return a pattern that finds `text` where it does not continue a word at either end.

    Only an end that is itself part of a spaced word asks for a boundary: `"- [ ]"` and `"東京"` match anywhere.
    """
    before = rf"(?<!{SPACED})" if text and _IS_SPACED.match(text[0]) else ""
    after = rf"(?!{SPACED})" if text and _IS_SPACED.match(text[-1]) else ""
    return regex.compile(before + literal(text, match_case=match_case) + after, _flags(text, match_case=match_case))


def literal(text: str, *, match_case: bool) -> str:
    """Return `text` as source for the `regex` module, under the flag IGNORECASE unless `match_case`."""
    folded = text if match_case else fold(text)
    if match_case or folded.isascii():
        return regex.escape(folded, special_only=True)
    return "".join(map(_literal, folded))


def _literal(char: str) -> str:
    source = regex.escape(char, special_only=True)
    if char == _DOTLESS_I or (not char.isascii() and unicodedata.category(char) == "Cn"):
        return f"(?-i:{source})"  # the module's tables may know a pair that `fold` does not
    return source


def _flags(text: str, *, match_case: bool) -> int:
    # Without the flag the module searches a caseless text faster.
    return int(regex.VERSION0 | (0 if match_case or is_caseless(text) else regex.IGNORECASE))
