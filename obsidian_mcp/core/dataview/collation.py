"""The order of texts: the English root collation (specs/dataview.md, DV-53).

Base letters of the whole text first, then accents, then case with lower before upper. White space and punctuation
count. Texts of printable ASCII are compared by a small table; others by the package pyuca, whose table is read when it
is first needed (80 ms).
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyuca.collator import Collator_10_0_0

_LETTER_WEIGHTS = (
    7341, 7366, 7392, 7413, 7440, 7499, 7514, 7550, 7576, 7602, 7627, 7645, 7696,
    7711, 7747, 7794, 7815, 7833, 7895, 7931, 7963, 8009, 8027, 8037, 8049, 8071,
)  # fmt: skip
_ASCII_WEIGHTS = (
    521, 609, 781, 921, 7287, 922, 919, 774, 792, 793, 912, 1580, 546, 525, 632, 917, 7331, 7332, 7333, 7334, 7335,
    7336, 7337, 7338, 7339, 7340, 570, 564, 1584, 1585, 1586, 615, 911,
    *_LETTER_WEIGHTS, 794, 918, 795, 1179, 523, 1176, *_LETTER_WEIGHTS, 796, 1588, 797, 1590,
)  # fmt: skip
"""Primary weights of the characters from space to `~` in the table of Unicode 10, which `_collator` reads too."""
_PRIMARY = {code: chr(weight) for code, weight in enumerate(_ASCII_WEIGHTS, 32)}
_CASE = {code: "\x08" if chr(code).isupper() else "\x02" for code in range(32, 127)}
_PLAIN_SECONDARY = " "


@lru_cache(maxsize=65_536)
def collation_key(text: str) -> str:
    """A text whose code points order as `text` does among others (DV-53)."""
    if text.isascii() and text.isprintable():
        return f"{text.translate(_PRIMARY)}\0{_PLAIN_SECONDARY * len(text)}\0{text.translate(_CASE)}\0"
    return "".join(map(chr, _collator().sort_key(text)))


def compare_texts(left: str, right: str) -> int:
    """Below 0, 0 or above 0."""
    if left == right:
        return 0
    left_key, right_key = collation_key(left), collation_key(right)
    return (left_key > right_key) - (left_key < right_key)


def same_text(left: str, right: str) -> bool:
    """Whether two texts are equal in the collation: canonical equivalents are."""
    return left == right or (not (left.isascii() and right.isascii()) and collation_key(left) == collation_key(right))


@cache
def _collator() -> Collator_10_0_0:
    from pyuca.collator import Collator_10_0_0

    return Collator_10_0_0()
