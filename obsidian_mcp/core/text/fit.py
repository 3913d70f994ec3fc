"""What fits into an answer: the beginning of a text, the first names, the first entries.

Everything that is cut to a size is cut here, so that a reader sees in one way that there is more.
`errors.shorten` alone is apart: it keeps the end of a message, which says what to do.
See TOOL-07.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")

MARK = "…"
"""Ends a text that was cut."""
LINE_MARK = f"\n{MARK} (cut)\n"
"""The same for a text of lines, such as a diff: a line of its own."""
UNCOUNTED = f"{MARK} and more"
"""Ends a list of which nobody has counted the entries that are left out."""


def cut_text(text: str, limit: int, mark: str = MARK) -> str:
    """Return a text, or its first `limit` code points and a mark."""
    return text if len(text) <= limit else f"{text[:limit]}{mark}"


def cut_text_within(text: str, limit: int) -> str:
    """Return a text, or its beginning with a mark, of `limit` code points together.

    Columns and cells need it: there the mark counts, too.
    """
    return text if len(text) <= limit else f"{text[: limit - len(MARK)]}{MARK}"


def cut_and_count(text: str, limit: int) -> str:
    """Return a text, or its first `limit` code points and how many more it has."""
    return cut_text(text, limit, f"{MARK} ({len(text) - limit:,} more characters)")


def mark_excerpt(excerpt: str, *, cut_before: bool, cut_after: bool) -> str:
    """Return a part of a longer text with a mark on the sides where it was cut."""
    return f"{MARK if cut_before else ''}{excerpt}{MARK if cut_after else ''}"


def name_first(
    items: Sequence[T], limit: int, separator: str = ", ", write: Callable[[T], str] = str
) -> str:
    """Return the first `limit` items, and how many more there are: `a, b and 3 more`.

    `write` makes the name of an item; it is called for no more than the first ones.
    """
    more = f" and {len(items) - limit:,} more" if len(items) > limit else ""
    return f"{separator.join(map(write, items[:limit]))}{more}"


class Room:
    """What is left of the characters or bytes that an answer may have.

    For what is filled step by step; `take_fitting` is shorter where the entries are all of a kind.
    """

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> bool:
        """Take the room of one more entry; return whether there was so much."""
        self.left -= size
        return self.left >= 0


def take_fitting(
    items: Iterable[T], room: int, size: Callable[[T], int], least: int = 0
) -> list[T]:
    """Return the first items whose sizes together are at most `room`.

    At least `least` of the items are returned, whatever their size. Of the items, no more are
    asked for than these and the first that does not fit.
    """
    taken: list[T] = []
    for item in items:
        room -= size(item)
        if room < 0 and len(taken) >= least:
            break
        taken.append(item)
    return taken


def count_fitting(sizes: Iterable[int], room: int, least: int = 0) -> int:
    """Return how many of the first sizes are together at most `room`, but at least `least`."""
    return len(take_fitting(sizes, room, int, least))
