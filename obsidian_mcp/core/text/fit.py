"""What fits into an answer: the beginning of a text, the first names, the first entries.

See TOOL-07.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

MARK = "…"
"""Ends a text that was cut."""


def cut_text(text: str, limit: int) -> str:
    """Return a text, or its first `limit` code points and a mark."""
    return text if len(text) <= limit else f"{text[:limit]}{MARK}"


def cut_text_within(text: str, limit: int) -> str:
    """Return a text, or its beginning with a mark, of `limit` code points together.

    Columns and cells need it: there the mark counts, too.
    """
    return text if len(text) <= limit else f"{text[: limit - len(MARK)]}{MARK}"


def name_first(names: Sequence[str], limit: int, separator: str = ", ") -> str:
    """Return the first `limit` names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return f"{separator.join(names[:limit])}{more}"


def take_fitting(
    items: Iterable[T], room: int, size: Callable[[T], int], least: int = 0
) -> list[T]:
    """Return the first items whose sizes together are at most `room`.

    At least `least` of the items are returned, whatever their size.
    """
    taken: list[T] = []
    for item in items:
        room -= size(item)
        if room < 0 and len(taken) >= least:
            break
        taken.append(item)
    return taken
