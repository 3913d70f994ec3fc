"""The order of texts for people: an approximation of ICU's root collation with numbers by value (EXPR-25, TASK-110).

Scripts follow each other by code point. Dataview compares without numbers and to the letter, by a table of 80 ms
(core/dataview/collation.py).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_PUNCTUATION = "_-,;:!?.'\"()[]{}@*/\\&#%"
_SYMBOLS = "`^+<=>|~"
_SPACE, _FIRST_PUNCTUATION, _PUNCTUATION_ELSE = "\x01", 0x02, "\x28"
_FIRST_SYMBOL, _SYMBOL_ELSE, _CURRENCY, _NUMBER = 0x40, "\x50", "\x51", "\x60"
_FIRST_LETTER = 0x100
"""What characters become in a key, in the order of their kinds. Digits stay: they follow _NUMBER and their count."""
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)
_MOST_DIGITS = 0xFFFF
_KATAKANA = {code: chr(code - 0x60) for code in range(0x30A1, 0x30F7)}
"""Katakana -> hiragana."""
_LETTERS = {ord(letter): plain for letter, plain in zip("ßæœøđłı", ("ss", "ae", "oe", "o", "d", "l", "i"), strict=True)}

_find_numbers = re.compile("[0-9]+").sub

Key = tuple[str, str, str]
"""Characters by kind; then accents with their places; then small letters before capitals."""


@lru_cache(maxsize=16_384)
def collation_key(text: str) -> Key:
    """Return a sort key: white space < punctuation < symbols < numbers by value < letters, then accents, then case."""
    decomposed = unicodedata.normalize("NFD", text.replace("ß", "ss"))
    accents = "" if text.isascii() else decomposed.translate(_ACCENTS).rstrip("\0")
    return natural_key(text), accents, decomposed.swapcase()


def natural_key(text: str) -> str:
    """Return the first part of `collation_key`, without case and accents: `2` before `10`, `a` as `A` as `ä`."""
    plain = text if text.isascii() else unicodedata.normalize("NFKD", text)
    return _find_numbers(_number, plain.lower().translate(_PRIMARY))


def _number(match: re.Match[str]) -> str:
    digits = match[0].lstrip("0")
    return f"{_NUMBER}{chr(_FIRST_LETTER + min(len(digits), _MOST_DIGITS))}{digits}"


class _Primary(dict[int, str]):
    """Code point -> what it is in a key; empty for what does not count."""

    def __missing__(self, code: int) -> str:
        letters = _LETTERS.get(code) or _KATAKANA.get(code) or chr(code)
        self[code] = found = "".join(map(_primary, letters))
        return found


def _primary(char: str) -> str:
    category = unicodedata.category(char)
    if char.isspace():
        return _SPACE
    if char in _PUNCTUATION:
        return chr(_FIRST_PUNCTUATION + _PUNCTUATION.index(char))
    if char in _SYMBOLS:
        return chr(_FIRST_SYMBOL + _SYMBOLS.index(char))
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category in ("Mn", "Cc", "Cf"):
        return ""
    if category == "Sc":
        return _CURRENCY + char
    if category[0] in "PS":
        return (_PUNCTUATION_ELSE if category[0] == "P" else _SYMBOL_ELSE) + char
    return chr(min(_FIRST_LETTER + ord(char), 0x10FFFF))


class _Accents(dict[int, str]):
    """Code point -> itself for an accent, U+0000 for any other character that counts."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        is_accent = unicodedata.category(char) == "Mn"
        self[code] = found = ("" if code in _VARIATION_SELECTORS else char) if is_accent else "\0"
        return found


_PRIMARY, _ACCENTS = _Primary(), _Accents()
