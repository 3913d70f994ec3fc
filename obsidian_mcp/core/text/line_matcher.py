"""Which lines of two texts are the same, found in a time that a person waits for (TOOL-09)."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import eq
from typing import Literal, NamedTuple

from .call import checkpoint

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]

MOST_COMPARISONS = 5_000_000
"""Comparisons of lines for one pair of texts, beside COMPARISONS_PER_LINE for each of their lines.

They take about a second.
"""
COMPARISONS_PER_LINE = 4
MOST_LINES_SEARCHED = 10_000
"""Lines of both texts in which the longest equal runs are looked for."""
MOST_CHANGES = 300
"""Deleted and inserted lines of the shortest way that is looked for; its square is remembered."""


def common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Return how many lines two texts have in common at their start and then at their end."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    remaining = shorter - head
    return head, next((at for at in range(remaining) if old[-1 - at] != new[-1 - at]), remaining)


class LineMatcher(SequenceMatcher[str]):
    """A `SequenceMatcher` of lines whose time does not grow with the square of their number.

    `SequenceMatcher` needs minutes for a table of 40 000 rows in another order: it looks for the
    longest run that is equal, in the whole text, and then on both sides of it. So it compares only
    what takes few comparisons. In a longer text the fewest changes are looked for, as long as they
    are few (Myers 1986). Else the text is parted at the lines that stand once in each version, as
    far as they are in the same order ("patience diff"), or at the rarest ones; and where no line
    parts it, each line is compared with the one of the same number. Every result makes the new
    text of the old one; a coarse one only calls more lines changed.
    """

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None)
        self._old, self._new = old, new

    def get_opcodes(self) -> list[Opcode]:
        """Return how the new text is made of the old one.

        Raises: OperationTimeout.
        """
        opcodes: list[Opcode] = []
        old_at = new_at = 0
        end = EqualRun(len(self._old), len(self._new), 0)
        for block in [*_join_adjacent(_Comparison(self._old, self._new).blocks()), end]:
            if old_at < block.old or new_at < block.new:
                opcodes.append((_kind(old_at, new_at, block), old_at, block.old, new_at, block.new))
            old_at, new_at = block.old + block.size, block.new + block.size
            if block.size:
                opcodes.append(("equal", block.old, old_at, block.new, new_at))
        return opcodes


class EqualRun(NamedTuple):
    """Lines that are equal: where they begin in the old and in the new text, and how many."""

    old: int
    new: int
    size: int


class _LineRange(NamedTuple):
    """Lines of the old text and of the new one, from the first number to before the second."""

    old: int
    old_end: int
    new: int
    new_end: int


def _kind(old_at: int, new_at: int, block: EqualRun) -> Literal["replace", "delete", "insert"]:
    """Return what becomes of the lines in front of a block of equal ones."""
    if new_at == block.new:
        return "delete"
    return "insert" if old_at == block.old else "replace"


def _join_adjacent(blocks: Sequence[EqualRun]) -> Iterator[EqualRun]:
    """Yield blocks in their order, those as one that follow each other in both texts."""
    last = EqualRun(0, 0, 0)
    for block in sorted(blocks):
        if last.size and (last.old + last.size, last.new + last.size) == (block.old, block.new):
            last = last._replace(size=last.size + block.size)
        else:
            if last.size:
                yield last
            last = block
    if last.size:
        yield last


class _Comparison:
    """Finds the blocks of equal lines of two texts with a limited number of comparisons."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self._old, self._new = old, new
        self._left = MOST_COMPARISONS + COMPARISONS_PER_LINE * (len(old) + len(new))
        self._blocks: list[EqualRun] = []

    def blocks(self) -> list[EqualRun]:
        """Return the blocks of equal lines, in no order.

        Raises: OperationTimeout.
        """
        parts = [_LineRange(0, len(self._old), 0, len(self._new))]
        while parts:
            checkpoint()
            part = self._without_common_ends(parts.pop())
            if part.old < part.old_end and part.new < part.new_end:
                parts += self._match(part)
        return self._blocks

    def _without_common_ends(self, part: _LineRange) -> _LineRange:
        old, new = self._old[part.old : part.old_end], self._new[part.new : part.new_end]
        head, tail = common_ends(old, new)
        self._left -= head + tail
        self._add(part.old, part.new, head)
        self._add(part.old_end - tail, part.new_end - tail, tail)
        ends = part.old + head, part.old_end - tail, part.new + head, part.new_end - tail
        return _LineRange(*ends)

    def _add(self, old: int, new: int, size: int) -> None:
        if size:
            self._blocks.append(EqualRun(old, new, size))

    def _match(self, part: _LineRange) -> list[_LineRange]:
        """Find equal lines of a part; return the parts between them that are to be looked at."""
        old, new = self._old[part.old : part.old_end], self._new[part.new : part.new_end]
        blocks = self._longest_runs(old, new)
        if blocks is None:
            blocks = self._fewest_changes(old, new)
        if blocks is None and self._left > 0:
            pairs = _pairs_in_order(old, new)
            self._left -= len(old) + len(new)
            if pairs:
                return self._part_at(part, pairs)
        for block in _line_by_line(old, new) if blocks is None else blocks:
            self._add(part.old + block.old, part.new + block.new, block.size)
        return []

    def _part_at(self, part: _LineRange, pairs: Sequence[tuple[int, int]]) -> list[_LineRange]:
        """Take pairs of lines of a part for equal, and return the parts between them."""
        parts: list[_LineRange] = []
        old_at, new_at = part.old, part.new
        for old, new in pairs:
            self._add(part.old + old, part.new + new, 1)
            parts.append(_LineRange(old_at, part.old + old, new_at, part.new + new))
            old_at, new_at = part.old + old + 1, part.new + new + 1
        return [*parts, _LineRange(old_at, part.old_end, new_at, part.new_end)]

    def _longest_runs(self, old: Sequence[str], new: Sequence[str]) -> list[EqualRun] | None:
        """Return the longest runs that are equal; None if they take too many comparisons."""
        if len(old) + len(new) > MOST_LINES_SEARCHED:
            return None
        old_counts, new_counts = Counter(old), Counter(new)
        common = old_counts.keys() & new_counts.keys()
        pairs = sum(old_counts[line] * new_counts[line] for line in common)
        most_runs = sum(min(old_counts[line], new_counts[line]) for line in common)
        comparisons = (len(old) + pairs) * (most_runs + 1)
        if comparisons > self._left:
            return None
        self._left -= comparisons
        matches = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        return [EqualRun(*match) for match in matches]

    def _fewest_changes(self, old: Sequence[str], new: Sequence[str]) -> list[EqualRun] | None:
        """Return the blocks that the fewest deleted and inserted lines leave (Myers 1986).

        Return None if those are more than `MOST_CHANGES`, or take more comparisons than are left. A
        diagonal has the places whose number in the old text is so much larger than in the new one.
        """
        furthest = {1: 0}
        trace: list[dict[int, int]] = []
        for changes in range(MOST_CHANGES + 1):
            checkpoint()
            reached = dict[int, int]()
            for diagonal in range(-changes, changes + 1, 2):
                at = _step(furthest, diagonal, changes)
                start = at
                while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                    at += 1
                self._left -= at - start + 1
                reached[diagonal] = at
            trace.append(reached)
            if reached.get(len(old) - len(new), 0) >= len(old):
                return _walk_back(trace, len(old), len(new))
            if self._left <= 0:
                return None
            furthest = reached
        return None


def _is_down(furthest: Mapping[int, int], diagonal: int, changes: int) -> bool:
    """Return whether the furthest place on a diagonal is reached by inserting a line."""
    if diagonal in (-changes, changes):
        return diagonal == -changes
    return furthest[diagonal - 1] < furthest[diagonal + 1]


def _step(furthest: Mapping[int, int], diagonal: int, changes: int) -> int:
    """Return the place in the old text that one change more reaches on a diagonal."""
    if _is_down(furthest, diagonal, changes):
        return furthest[diagonal + 1]
    return furthest[diagonal - 1] + 1


def _walk_back(trace: Sequence[Mapping[int, int]], old_end: int, new_end: int) -> list[EqualRun]:
    """Return the equal lines on the way that reached both ends."""
    blocks: list[EqualRun] = []
    at, diagonal = old_end, old_end - new_end
    for changes in range(len(trace) - 1, 0, -1):
        before = trace[changes - 1]
        start = _step(before, diagonal, changes)
        blocks.append(EqualRun(start, start - diagonal, at - start))
        is_down = _is_down(before, diagonal, changes)
        diagonal += 1 if is_down else -1
        at = before[diagonal]
    return [*blocks, EqualRun(0, 0, at)]


def _line_by_line(old: Sequence[str], new: Sequence[str]) -> Iterator[EqualRun]:
    """Yield the runs of lines that are equal to those of the same number."""
    at = 0
    for is_equal, run in groupby(map(eq, old, new)):
        size = len(list(run))
        if is_equal:
            yield EqualRun(at, at, size)
        at += size


def _pairs_in_order(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the same lines stand in both texts, in the same order.

    They are the rarest of the lines that stand as often in the old text as in the new one.
    """
    old_counts, new_counts = Counter(old), Counter(new)
    equal = {line: count for line, count in old_counts.items() if new_counts.get(line) == count}
    rarest = min(equal.values(), default=0)
    places: dict[str, list[int]] = {}
    for at, line in enumerate(new):
        if equal.get(line) == rarest:
            places.setdefault(line, []).append(at)
    backwards = reversed(range(len(old)))  # `pop` takes the last of several places first
    pairs = [(at, places[old[at]].pop()) for at in backwards if old[at] in places]
    return _longest_in_order(pairs[::-1])


def _longest_in_order(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the most pairs whose second numbers grow with the first ones, which grow already."""
    smallest_ends: list[int] = []
    """The smallest second number at which so many pairs in order can end."""
    ends: list[int] = []
    """The numbers of the pairs with these."""
    before: list[int] = []
    """For each pair the number of the one before it in the longest order that it ends."""
    for number, (_, new) in enumerate(pairs):
        length = bisect_left(smallest_ends, new)
        before.append(ends[length - 1] if length else -1)
        smallest_ends[length : length + 1] = [new]
        ends[length : length + 1] = [number]
    longest = []
    number = ends[-1] if ends else -1
    while number >= 0:
        longest.append(pairs[number])
        number = before[number]
    return longest[::-1]
