"""A regular expression asked of many texts at once: joined by line ends, they are one search instead of thousands.

What matches in the whole is looked at again in its own text, where it may end at another place.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from obsidian_mcp.core.query.regexp import RegExp
from obsidian_mcp.errors import OperationTimeout

CHARACTERS = 500_000
"""Of the texts that are joined at a time."""


def matching(expression: RegExp, texts: Iterable[tuple[int, str]]) -> Iterator[int]:
    """The numbers of the texts that an expression matches. Raises: OperationTimeout."""
    expression = expression.shortest
    if expression.looks_around:
        yield from (number for number, text in texts if expression.found(text))
        return
    numbers: list[int] = []
    some: list[str] = []
    size = 0
    for number, text in texts:
        numbers.append(number)
        some.append(text)
        size += len(text)
        if size > CHARACTERS:
            yield from (numbers[at] for at in _among(expression, some))
            numbers, some, size = [], [], 0
    if some:
        yield from (numbers[at] for at in _among(expression, some))


def _among(expression: RegExp, texts: Sequence[str]) -> Iterator[int]:
    """Positions of the texts that an expression without lookarounds matches."""
    whole = "\n".join(texts)
    starts, at = array("Q"), 0
    for text in texts:
        starts.append(at)
        at += len(text) + 1
    at = 0
    while at <= len(whole):
        try:
            start, end = expression.span(whole, at)
        except OperationTimeout:  # all together had the time of one
            yield from (n for n in range(bisect_right(starts, at) - 1, len(texts)) if expression.found(texts[n]))
            return
        if start < 0:
            return
        number = bisect_right(starts, start) - 1
        stop = starts[number] + len(texts[number])
        # At the end of a text `$` and what may cross lines see more than they would in the text alone.
        if end < stop - 1 or expression.found(texts[number]):
            yield number
        at = stop + 1
