"""Order texts as `localeCompare` with numeric order does (TASK-110).

An approximation of the root collation of ICU: scripts follow each other by code point.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_PUNCTUATION = {char: rank for rank, char in enumerate("_-,;:!?.'\"()[]{}@*/\\&#%")}
_SYMBOLS = {char: rank for rank, char in enumerate("`^+<=>|~")}
_BEHIND_KNOWN = 1000
_CURRENCY = 0x110000 + _BEHIND_KNOWN
_SPACE, _MARK, _SYMBOL, _NUMBER, _LETTER = range(5)

Key = tuple[tuple[tuple[int, int], ...], tuple[tuple[int, str], ...], tuple[bool, ...]]
"""Characters by kind; then accents with their places; then capitals."""


@lru_cache(maxsize=16_384)
def collation_key(text: str) -> Key:
    """Return a sort key: white space < punctuation < symbols < numbers by value < letters, then accents, then case."""
    primary: list[tuple[int, int]] = []
    accents: list[tuple[int, str]] = []
    capitals: list[bool] = []
    in_number = False
    for char in unicodedata.normalize("NFD", text.replace("ß", "ss")):
        category = unicodedata.category(char)
        if category == "Nd":
            digit = unicodedata.decimal(char)
            if in_number:
                primary[-1] = (_NUMBER, primary[-1][1] * 10 + digit)
            else:
                primary.append((_NUMBER, digit))
                capitals.append(False)
            in_number = True
            continue
        if category == "Mn":
            if not 0xFE00 <= ord(char) <= 0xFE0F:  # variation selectors do not count
                accents.append((len(primary), char))
            continue
        if category in ("Cc", "Cf") and not char.isspace():
            continue
        in_number = False
        lower = char.lower()
        primary.append(_primary(lower if len(lower) == 1 else char, category))
        capitals.append(lower != char)
    return tuple(primary), tuple(accents), tuple(capitals)


def _primary(char: str, category: str) -> tuple[int, int]:
    if char.isspace():
        return _SPACE, ord(char)
    if category[0] == "P" or char in _PUNCTUATION:
        return _MARK, _PUNCTUATION.get(char, _BEHIND_KNOWN + ord(char))
    if category == "Sc":
        return _SYMBOL, _CURRENCY + ord(char)
    if category[0] == "S":
        return _SYMBOL, _SYMBOLS.get(char, _BEHIND_KNOWN + ord(char))
    return _LETTER, ord(char)
