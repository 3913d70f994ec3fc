"""Texts that are near another one, as a slip of the pen is."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import islice

LEAST_NEARNESS = 0.6
"""Likeness from which a text is near, between 0 and 1: one wrong letter in five still is."""
MOST_SEARCHED = 20_000
"""Most texts that are compared by pairs of letters; one takes 1 µs."""
MOST_COMPARED = 50
"""Most of them that are compared letter by letter; one takes 20 µs, of repeated letters 8 ms."""
COMPARED_CHARACTERS = 100
"""Of longer texts the beginnings count: comparing takes the square of the length."""


def nearest(text: str, others: Iterable[str], most: int) -> list[str]:
    """Return similar texts, the nearest first, of those that share most pairs of letters."""
    import difflib

    wanted = text[:COMPARED_CHARACTERS]
    pairs = {wanted[at : at + 2] for at in range(len(wanted) - 1)} or {wanted}
    whole: dict[str, str] = {}
    for other in islice(others, MOST_SEARCHED):
        whole.setdefault(other[:COMPARED_CHARACTERS], other)
    alike = heapq.nlargest(MOST_COMPARED, whole, lambda beginning: sum(pair in beginning for pair in pairs))
    return [whole[near] for near in difflib.get_close_matches(wanted, alike, most, LEAST_NEARNESS)]
