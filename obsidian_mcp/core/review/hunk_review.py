"""The hunks of a changed text, line by line, as a person reads them (UI-31).

They are numbered as `core/text/hunks.py` numbers them, so that each can be taken back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from obsidian_mcp.core.note.elements import Heading
from obsidian_mcp.core.note.parser import Note
from obsidian_mcp.core.note.table import read_row
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.diff import CONTEXT_LINES
from obsidian_mcp.core.text.line_matcher import LineMatcher
from obsidian_mcp.core.text.text import split_lines

from .line_kinds import LineKind, kinds_of_lines
from .words import LEAST_ALIKE, WordRun, compare_words, share_in_common

MOST_PAIRS: Final = 144
"""Pairs of a removed and an added line that are compared to find which one became which."""

LineFate = Literal["same", "changed", "removed", "added"]


@dataclass(frozen=True, slots=True)
class ReviewedLine:
    """One line of both texts, or of one of them."""

    kind: LineKind
    fate: LineFate
    before: int
    """Its number before the change, from 1; 0 for a line that is added."""
    after: int
    """Its number after the change; 0 for a line that is removed."""
    runs: tuple[WordRun, ...]
    """Its words, with its line end."""
    cells: tuple[tuple[WordRun, ...], ...] = ()
    """Of a table's row that was and is one: the words of each cell, with the pipe before it."""


@dataclass(frozen=True, slots=True)
class ReviewedHunk:
    """Lines that are taken back together, with some around them."""

    number: int
    heading: str
    """That the lines stand under; empty for none."""
    lines: tuple[ReviewedLine, ...]


def review_text(
    before: str, after: str, notes: tuple[Note, Note] | None = None
) -> list[ReviewedHunk]:
    """Return the hunks of a text. `notes`: both texts parsed; without them all lines are code.

    Raises: OperationTimeout.
    """
    old, new = split_lines(before), split_lines(after)
    if notes is None:
        kinds = (_code_kinds(old), _code_kinds(new))
        outline: Sequence[Heading] = ()
    else:
        kinds = (kinds_of_lines(notes[0]), kinds_of_lines(notes[1]))
        outline = (notes[1] if after else notes[0]).outline
    reviewed = []
    groups = LineMatcher(old, new).get_grouped_opcodes(CONTEXT_LINES)
    for number, group in enumerate(groups, 1):
        lines: list[ReviewedLine] = []
        for opcode, *ends in group:
            checkpoint()
            block = _LineBlock(old, new, kinds, *ends)
            lines += block.same_lines() if opcode == "equal" else block.changed_lines()
        first = group[0][3] if after else group[0][1]
        reviewed.append(ReviewedHunk(number, _heading_above(outline, first), tuple(lines)))
    return reviewed


def _code_kinds(lines: Sequence[str]) -> list[LineKind]:
    return ["code"] * len(lines)


def _heading_above(outline: Sequence[Heading], line: int) -> str:
    """Return the text of the heading above a line, counted from 0; "" for none."""
    place = bisect_right(outline, line, key=lambda heading: heading.line)
    return outline[place - 1].text if place else ""


@dataclass(frozen=True)
class _LineBlock:
    """Lines of both texts between two places."""

    old: Sequence[str]
    new: Sequence[str]
    kinds: tuple[Sequence[LineKind], Sequence[LineKind]]
    start: int
    end: int
    new_start: int
    new_end: int

    def same_lines(self) -> Iterator[ReviewedLine]:
        """Yield lines that are in both texts."""
        for offset, line in enumerate(self.old[self.start : self.end]):
            before, after = self.start + offset, self.new_start + offset
            runs = (WordRun("same", line),)
            yield ReviewedLine(self.kinds[1][after], "same", before + 1, after + 1, runs)

    def changed_lines(self) -> Iterator[ReviewedLine]:
        """Yield removed lines, added lines, and those that were and are one, in order."""
        at, new_at = self.start, self.new_start
        for before, after, runs in self._pairs():
            yield from map(self._removed_line, range(at, before))
            yield from map(self._added_line, range(new_at, after))
            kind = self.kinds[1][after]
            cells = _compare_cells(self.old[before], self.new[after]) if kind == "table" else ()
            joined = tuple(run for cell in cells for run in cell) if cells else runs
            yield ReviewedLine(kind, "changed", before + 1, after + 1, joined, cells)
            at, new_at = before + 1, after + 1
        yield from map(self._removed_line, range(at, self.end))
        yield from map(self._added_line, range(new_at, self.new_end))

    def _pairs(self) -> list[tuple[int, int, tuple[WordRun, ...]]]:
        """Return which removed line became which added one, with its words, in order.

        The most similar lines are paired first; a pair never crosses another one.
        """
        before, after = range(self.start, self.end), range(self.new_start, self.new_end)
        if not before or not after:
            return []
        if len(before) * len(after) > MOST_PAIRS:
            candidates = list(zip(before, after, strict=False))[:MOST_PAIRS]
        else:
            candidates = [(old, new) for old in before for new in after]
        compared = [
            (old, new, compare_words(self.old[old], self.new[new]))
            for old, new in candidates
            if self.kinds[0][old] == self.kinds[1][new]
        ]
        ranked = sorted(compared, key=lambda pair: -share_in_common(pair[2]))
        pairs: list[tuple[int, int, tuple[WordRun, ...]]] = []
        for pair in ranked:
            if share_in_common(pair[2]) < LEAST_ALIKE:
                break
            if all(
                (pair[0] < old) == (pair[1] < new) and pair[0] != old and pair[1] != new
                for old, new, _ in pairs
            ):
                pairs.append(pair)
        return sorted(pairs)

    def _removed_line(self, number: int) -> ReviewedLine:
        runs = (WordRun("removed", self.old[number]),)
        return ReviewedLine(self.kinds[0][number], "removed", number + 1, 0, runs)

    def _added_line(self, number: int) -> ReviewedLine:
        runs = (WordRun("added", self.new[number]),)
        return ReviewedLine(self.kinds[1][number], "added", 0, number + 1, runs)


def _compare_cells(before: str, after: str) -> tuple[tuple[WordRun, ...], ...]:
    """Return the cells of a row before and after; () where their number changes."""
    old, new = _split_cells(before), _split_cells(after)
    if len(old) != len(new):
        return ()
    return tuple(compare_words(*cell) for cell in zip(old, new, strict=True))


def _split_cells(line: str) -> list[str]:
    """Return the parts of a table's row, each cell with the pipe before it; joined they are the
    line."""
    row = read_row(line)
    first, *following = row.cells
    parts = [row.lead + first, *(f"|{cell}" for cell in following), row.tail]
    return parts if "".join(parts) == line else [line]
