"""Which lines of two texts are the same, in a time that a person waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Literal

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]

MOST_COMPARISONS = 5_000_000
"""Of lines; about so many are made in a second."""


def matcher(old: Sequence[str], new: Sequence[str], *, autojunk: bool = True) -> SequenceMatcher[str]:
    """Return what compares the lines of two texts; with `autojunk` it is quicker, and coarser where lines repeat.

    `SequenceMatcher` takes a time that grows with the lines and with the changes, minutes for 10 000 of both. Texts
    that differ so much are compared line by line.
    """
    olds, news = Counter(old), Counter(new)
    pairs = len(old) if autojunk else sum(count * news[line] for line, count in olds.items())
    changes = (olds - news).total() + (news - olds).total()
    if pairs * changes < MOST_COMPARISONS:
        return SequenceMatcher(None, old, new, autojunk)
    return _LineByLine(old, new)


class _LineByLine(SequenceMatcher[str]):
    """Compares the lines of the same number; what the longer text has more is inserted or deleted."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new)
        self._old, self._new = old, new

    def get_opcodes(self) -> list[Opcode]:
        found: list[Opcode] = []
        at = 0
        for is_equal, run in groupby(zip_longest(self._old, self._new), key=lambda pair: pair[0] == pair[1]):
            edges = at, at + len(list(run))
            start, end = (min(edge, len(self._old)) for edge in edges)
            new_start, new_end = (min(edge, len(self._new)) for edge in edges)
            found.append(("equal" if is_equal else "replace", start, end, new_start, new_end))
            at = edges[1]
        return found
