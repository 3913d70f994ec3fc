"""What fits into an answer: the beginning of a text, the first of many names, the first entries (TOOL-07)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

MARK = "…"
"""Ends a text that was cut."""


def cut_text(text: str, most: int) -> str:
    """Return a text, or its first `most` code points and a mark."""
    return text if len(text) <= most else f"{text[:most]}{MARK}"


def cut_text_within(text: str, most: int) -> str:
    """Return a text, or its beginning with a mark, of `most` code points together: for columns and cells."""
    return text if len(text) <= most else f"{text[: most - len(MARK)]}{MARK}"


def name_first(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """Return the first `most` names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{separator.join(names[:most])}{more}"


def take_fitting(items: Iterable[T], room: int, size: Callable[[T], int], least: int = 0) -> list[T]:
    """Return the first items whose sizes together are at most `room`, and at least `least` of them."""
    taken: list[T] = []
    for item in items:
        room -= size(item)
        if room < 0 and len(taken) >= least:
            break
        taken.append(item)
    return taken
