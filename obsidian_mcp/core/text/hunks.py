"""The hunks of a change of one text: numbered, and taken back one by one (SAFE-31).

A hunk is what `diff` shows below one `@@`: changed lines with at most four unchanged ones between
them. Its number counts from 1 in the file's own difference, so it stays the same however the file
is changed afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from .call import checkpoint
from .diff import CONTEXT_LINES
from .line_matcher import LineMatcher
from .text import split_lines


@dataclass(frozen=True, slots=True)
class _TextRun:
    """A run of whole lines: what it was before the change, and what it is after it."""

    before: str
    after: str
    hunk: int
    """0 for lines that the change left as they are."""


class ChangedText:
    """A text before and after a change, from which any of its hunks can be taken out."""

    def __init__(self, before: str, after: str) -> None:
        """Raises: OperationTimeout."""
        self._parts = list(_divide(before, after))
        self.numbers = frozenset(part.hunk for part in self._parts if part.hunk)
        """Of all hunks, from 1."""

    def without(self, hunks: Collection[int]) -> str:
        """Return the text after the change, with these hunks as they were before it."""
        return "".join(part.before if part.hunk in hunks else part.after for part in self._parts)

    def find_taken_back(self, now: str) -> frozenset[int] | None:
        """Return the hunks which are as before in a text that is otherwise as after the change.

        None where the text is anything else, such as one that somebody has edited since. Then it
        has lines that are in neither version, and a person has to look at it. Where several sets of
        hunks would give the text, it is one of them. Raises: OperationTimeout.
        """
        taken_by_end: dict[int, frozenset[int]] = {0: frozenset()}
        for part in self._parts:
            checkpoint()
            following: dict[int, frozenset[int]] = {}
            for at, taken in taken_by_end.items():
                choices = ((part.after, taken), (part.before, taken | {part.hunk}))
                for text, hunks in choices if part.hunk else choices[:1]:
                    if now.startswith(text, at):
                        following.setdefault(at + len(text), hunks)
            taken_by_end = following
        return taken_by_end.get(len(now))


def _divide(before: str, after: str) -> Iterator[_TextRun]:
    """Yield the lines of both texts in order, those between two hunks as one part."""
    old, new = split_lines(before), split_lines(after)
    new_at = 0
    for number, group in enumerate(LineMatcher(old, new).get_grouped_opcodes(CONTEXT_LINES), 1):
        changed = [opcode for opcode in group if opcode[0] != "equal"]
        _, old_start, _, new_start, _ = changed[0]
        _, _, old_end, _, new_end = changed[-1]
        unchanged = "".join(new[new_at:new_start])
        yield _TextRun(unchanged, unchanged, 0)
        yield _TextRun("".join(old[old_start:old_end]), "".join(new[new_start:new_end]), number)
        new_at = new_end
    unchanged = "".join(new[new_at:])
    yield _TextRun(unchanged, unchanged, 0)
