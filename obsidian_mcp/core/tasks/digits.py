"""Numbers in the lines of queries and rules, which may have any number of digits."""

from __future__ import annotations

MOST_DIGITS = 9
"""Digits that are read; Python takes quadratic time for a line of them, and refuses 5 000."""


def read_digits(digits: str) -> int:
    """Return the number that digits are, or of very many the first MOST_DIGITS.

    A number of so many digits is above every limit, ordinal and number of tasks, whatever follows.
    """
    return int(digits[:MOST_DIGITS])
