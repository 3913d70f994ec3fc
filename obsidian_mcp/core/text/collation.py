"""The order of texts for people, by the root collation of Unicode.

Two keys stand on one table of the characters of ASCII. `collation_key` counts numbers by value;
scripts beyond Latin follow each other by code point (EXPR-25, TASK-110). `exact_key` takes digits
one by one and is exact for every character (DV-53): texts beyond ASCII are compared by the package
pyuca, whose table is read when it is first needed, in 80 ms.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    from pyuca.collator import Collator_10_0_0

_LETTER_WEIGHTS = (
    7341, 7366, 7392, 7413, 7440, 7499, 7514, 7550, 7576, 7602, 7627, 7645, 7696,
    7711, 7747, 7794, 7815, 7833, 7895, 7931, 7963, 8009, 8027, 8037, 8049, 8071,
)  # fmt: skip
_ASCII_WEIGHTS = (
    521, 609, 781, 921, 7287, 922, 919, 774, 792, 793, 912, 1580, 546, 525, 632, 917, 7331, 7332,
    7333, 7334, 7335, 7336, 7337, 7338, 7339, 7340, 570, 564, 1584, 1585, 1586, 615, 911,
    *_LETTER_WEIGHTS, 794, 918, 795, 1179, 523, 1176, *_LETTER_WEIGHTS, 796, 1588, 797, 1590,
)  # fmt: skip
"""Primary weights of the characters from space to `~` in the table of Unicode 10.

`_collator` reads the same table, so keys of both kinds order among each other.
"""
_WEIGHTS = {code: chr(weight) for code, weight in enumerate(_ASCII_WEIGHTS, 32)}
_CASE = {code: "\x08" if chr(code).isupper() else "\x02" for code in range(32, 127)}
_PLAIN_SECONDARY = " "


@lru_cache(maxsize=65_536)
def exact_key(text: str) -> str:
    """Return a text whose code points order as `text` does among others (DV-53)."""
    if text.isascii() and text.isprintable():
        return (
            f"{text.translate(_WEIGHTS)}\0{_PLAIN_SECONDARY * len(text)}\0{text.translate(_CASE)}\0"
        )
    return "".join(map(chr, _collator().sort_key(text)))


def compare_texts(first: str, second: str) -> int:
    """Return a number below 0, 0 or above 0, as the first of two texts comes before, with or
    after."""
    if first == second:
        return 0
    first_key, second_key = exact_key(first), exact_key(second)
    return (first_key > second_key) - (first_key < second_key)


def is_same_text(first: str, second: str) -> bool:
    """Return whether two texts are equal by `exact_key`, as canonical equivalents are."""
    return first == second or (
        not (first.isascii() and second.isascii()) and exact_key(first) == exact_key(second)
    )


@cache
def _collator() -> Collator_10_0_0:
    from pyuca.collator import Collator_10_0_0

    return Collator_10_0_0()


# Numbers by value

_SPACE, _PUNCTUATION, _SYMBOL, _NUMBER = chr(521), chr(1000), chr(1700), chr(7330)
_FIRST_LETTER = 0x2000
"""Letters beyond ASCII become this code point plus their own in a key.

Spaces, punctuation and symbols begin with the weights above, so that the kinds follow each other.
Digits stay as they are, behind _NUMBER and the count of the digits.
"""
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)
_MOST_DIGITS = 0xFFFF
_KATAKANA = {code: chr(code - 0x60) for code in range(0x30A1, 0x30F7)}
"""Katakana -> hiragana."""
_LETTERS = {
    ord(letter): plain
    for letter, plain in zip("ßæœøđłı", ("ss", "ae", "oe", "o", "d", "l", "i"), strict=True)
}

_find_numbers = re.compile("[0-9]+").sub

CollationKey = tuple[str, str, str]
"""Characters by kind; then accents with their places; then case, small letters first."""


@lru_cache(maxsize=16_384)
def collation_key(text: str) -> CollationKey:
    """Return a sort key of a text.

    White space comes before punctuation, symbols, numbers (by value) and letters. Texts that are
    equal so far are ordered by accents, then by case.
    """
    decomposed = unicodedata.normalize("NFD", text.replace("ß", "ss"))
    accents = "" if text.isascii() else decomposed.translate(_ACCENTS).rstrip("\0")
    return natural_key(text), accents, decomposed.swapcase()


def natural_key(text: str) -> str:
    """Return the first part of `collation_key`, without case and accents.

    `2` comes before `10`; `a`, `A` and `ä` are equal.
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKD", text)
    return _find_numbers(_number, plain.lower().translate(_PRIMARY))


def _number(match: re.Match[str]) -> str:
    digits = match[0].lstrip("0")
    return f"{_NUMBER}{chr(_FIRST_LETTER + min(len(digits), _MOST_DIGITS))}{digits}"


class _Primary(dict[int, str]):
    """Code point -> its replacement in a key, worked out at its first use.

    It is empty for a character without weight.
    """

    def __missing__(self, code: int) -> str:
        letters = _LETTERS.get(code) or _KATAKANA.get(code) or chr(code)
        self[code] = weights = "".join(map(_primary, letters))
        return weights


def _primary(char: str) -> str:
    """Return the primary weight of a character, which ignores case and accents.

    White space comes first, then punctuation, symbols, digits and letters; marks and control
    characters weigh nothing.
    """
    category = unicodedata.category(char)
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if char.isspace():
        return _SPACE
    if category == "Sc":
        return _WEIGHTS[ord("$")] + char
    if ord(char) in _WEIGHTS:
        return _WEIGHTS[ord(char)]
    if category in ("Mn", "Cc", "Cf"):
        return ""
    if category[0] in "PS":
        return (_PUNCTUATION if category[0] == "P" else _SYMBOL) + char
    return chr(min(_FIRST_LETTER + ord(char), 0x10FFFF))


class _Accents(dict[int, str]):
    """Code point -> itself for an accent, U+0000 for any other character that has a place in a
    key."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        is_accent = unicodedata.category(char) == "Mn"
        self[code] = mark = ("" if code in _VARIATION_SELECTORS else char) if is_accent else "\0"
        return mark


_PRIMARY, _ACCENTS = _Primary(), _Accents()
