"""Texts that are near another one, as a slip of the pen is."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from itertools import islice

LEAST_NEARNESS = 0.6
"""Likeness from which a text is near, between 0 and 1: one wrong letter in five is near."""
MOST_SEARCHED = 20_000
"""Maximum number of texts that are compared by pairs of letters; a comparison takes 1 µs."""
MOST_COMPARED = 50
"""Maximum number of texts that are compared letter by letter.

A comparison takes 20 µs, and 8 ms where letters repeat.
"""
COMPARED_CHARACTERS = 100
"""Of a longer text only the beginning is compared: the time grows with the square of the length."""


def edit_distance(text: str, goal: str) -> int:
    """Return the number of characters to insert, remove or replace that make one text of
    another."""
    row = list(range(len(goal) + 1))
    for line, char in enumerate(text, 1):
        before, row[0] = row[0], line
        for column, candidate in enumerate(goal, 1):
            replaced = before + (char != candidate)
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, replaced)
    return row[-1]


def nearest_texts(text: str, candidates: Iterable[str], count: int) -> list[str]:
    """Return up to `count` similar texts, the nearest first.

    Comparing letter by letter is slow, so only the texts that share most pairs of letters get
    there, of equal ones those whose length differs least: many names have one pair of a short text.
    """
    import difflib  # loaded here: only errors and suggestions need it

    beginning = text[:COMPARED_CHARACTERS]
    pairs = {beginning[at : at + 2] for at in range(len(beginning) - 1)} or {beginning}
    whole: dict[str, str] = {}
    for candidate in islice(candidates, MOST_SEARCHED):
        whole.setdefault(candidate[:COMPARED_CHARACTERS], candidate)

    def likeness(start: str) -> tuple[int, int]:
        return sum(pair in start for pair in pairs), -abs(len(start) - len(beginning))

    alike = heapq.nlargest(MOST_COMPARED, whole, likeness)
    return [
        whole[match] for match in difflib.get_close_matches(beginning, alike, count, LEAST_NEARNESS)
    ]
