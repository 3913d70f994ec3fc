"""Compare the headings of a note, and look them up by the parts of a subpath (semantics 2.1,
2.2)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from obsidian_mcp.core.text.call import check_each
from obsidian_mcp.core.text.text import to_printable

_SPACED = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\r\n]")
_LINK_BREAKING = re.compile(r"%%|\[\[|\]\]|[:#|^\\\r\n]")
DEEPEST: Final = 6
"""The lowest level of a heading."""


def heading_key(text: str) -> str:
    """Return the form in which headings and the parts of a subpath compare (the app's
    `stripHeading`)."""
    return " ".join(_SPACED.sub(" ", to_printable(text)).split()).lower()


def heading_for_link(text: str) -> str:
    """Return a heading's text as it is written into a link (the app's `stripHeadingForLink`)."""
    return " ".join(_LINK_BREAKING.sub(" ", text).split())


class HeadingIndex:
    """The headings of a note by their keys.

    A note may have tens of thousands of headings, and as many links to them. One pass over the
    headings serves all links.
    """

    def __init__(self, headings: Iterable[tuple[int, str]]) -> None:
        """`headings` are levels and keys in the order of the note; those of level 0 are not found,
        because they start no section."""
        self._numbers: dict[tuple[int, str], list[int]] = {}
        """By level and key, ascending."""
        for number, heading in enumerate(check_each(headings)):
            self._numbers.setdefault(heading, []).append(number)

    def chain(self, parts: Sequence[str]) -> list[int] | None:
        """Return the numbers of the headings that the parts of a subpath name; None where one is
        missing.

        Of equal headings the first counts, and each is of a deeper level than the one before
        (semantics 2.2).
        """
        chain: list[int] = []
        number = -1
        deepest = 0
        for part in parts:
            key = heading_key(part)
            following = [
                (after, level)
                for level in range(deepest + 1, DEEPEST + 1)
                if (after := self._first_after(number, level, key)) is not None
            ]
            if not following:
                return None
            number, deepest = min(following)
            chain.append(number)
        return chain

    def _first_after(self, number: int, level: int, key: str) -> int | None:
        numbers = self._numbers.get((level, key), ())
        at = bisect_right(numbers, number)
        return numbers[at] if at < len(numbers) else None
