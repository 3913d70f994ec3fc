"""The unified diff of two texts, and the three-way merge (SAFE-07)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from .line_matcher import LineMatcher
from .text import split_lines

CONTEXT_LINES = 2
DIFF_IN_ERROR = 5_000


def diff(path: str, before: str, after: str, context: int = CONTEXT_LINES) -> str:
    """Return the unified diff, with so many lines around each change; a missing last newline is said as by diff(1)."""
    old, new = split_lines(before), split_lines(after)
    parts = [f"--- a/{path}\n+++ b/{path}\n"]
    for hunk in _hunks(old, new, context):
        counts = [sum(line[0] != other for line in hunk.lines) for other in "+-"]
        ranges = [_range(first, count) for first, count in zip((hunk.old, hunk.new), counts, strict=True)]
        parts += [f"@@ -{ranges[0]} +{ranges[1]} @@\n", *hunk.lines]
    shown = [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts]
    return "".join(shown) if len(shown) > 1 else ""


def short_diff(path: str, before: str, after: str) -> str:
    """Return `diff` for an error, which shows at most `DIFF_IN_ERROR` characters of it."""
    shown = diff(path, before, after)
    return shown if len(shown) <= DIFF_IN_ERROR else f"{shown[:DIFF_IN_ERROR]}\n… (cut)\n"


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first if count else first - 1},{count}"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of a file that change, with those around them. `old` and `new` number the first line, from 1."""

    old: int
    new: int
    lines: list[str]
    """The first character is a space, `-` or `+`."""


def hunks(before: str, after: str) -> list[Hunk]:
    """Return what `diff` shows, as lines without line ends."""
    found = _hunks(split_lines(before), split_lines(after), CONTEXT_LINES)
    return [Hunk(hunk.old, hunk.new, [line.removesuffix("\n") for line in hunk.lines]) for hunk in found]


def _hunks(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[Hunk]:
    for group in LineMatcher(old, new).get_grouped_opcodes(context):
        lines = []
        for kind, start, end, new_start, new_end in group:
            if kind == "equal":
                lines += [f" {line}" for line in old[start:end]]
            else:
                lines += [f"-{line}" for line in old[start:end]]
                lines += [f"+{line}" for line in new[new_start:new_end]]
        yield Hunk(group[0][1] + 1, group[0][3] + 1, lines)


def count_differences(old: str, new: str) -> int:
    """Return how many lines only one of two texts has, counted in both."""
    opcodes = LineMatcher(split_lines(old), split_lines(new)).get_opcodes()
    return sum(
        old_end - old_start + new_end - new_start
        for kind, old_start, old_end, new_start, new_end in opcodes
        if kind != "equal"
    )


# Merging

Change = tuple[int, int, tuple[str, ...]]
"""Lines of the base, from the first number to before the second, and what they became."""


def changes(base: list[str], other: list[str]) -> list[Change]:
    """Return the changed regions from `base` to `other`, in order."""
    return [
        (start, end, tuple(other[other_start:other_end]))
        for kind, start, end, other_start, other_end in LineMatcher(base, other).get_opcodes()
        if kind != "equal"
    ]


def merge(base: str, ours: str, theirs: str, *, neighbours: bool = False) -> str | None:
    """The text with both changes; None where different ones are on the same or neighbouring lines, so that a person
    looks at them; with `neighbours` only on the same lines."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    lines = split_lines(base)
    mine = changes(lines, split_lines(ours))
    other = changes(lines, split_lines(theirs))
    hunks = sorted(dict.fromkeys([*mine, *other]), key=itemgetter(0, 1))  # ours before theirs
    result: list[str] = []
    at = 0
    for number, (start, end, new) in enumerate(hunks):
        if number and (start < at or (start == at and not neighbours)):
            return None
        result += [*lines[at:start], *new]
        at = end
    return "".join([*result, *lines[at:]])
