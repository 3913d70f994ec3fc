"""The unified diff of two texts, and the three-way merge (SAFE-07).

Which lines differ is worked out by `line_matcher`, in a time that a person waits for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from .call import checkpoint
from .fit import LINE_MARK, cut_text
from .line_matcher import LineMatcher
from .text import split_lines

CONTEXT_LINES = 2
"""Unchanged lines that a diff has before and after each change."""
CHARACTERS_IN_ERROR = 5_000
"""Maximum length of a diff in an error's message."""


def diff(
    path: str,
    before: str,
    after: str,
    context: int = CONTEXT_LINES,
    *,
    is_numbered: bool = False,
) -> str:
    """Return the unified diff of two texts; "" if they are equal.

    `context` is the number of unchanged lines around each change. A last line without a line end is
    marked as diff(1) marks it. With `is_numbered` every hunk says its number, by which it can be
    taken back, where patch(1) and git allow a comment.
    """
    old, new = split_lines(before), split_lines(after)
    parts = [f"--- a/{path}\n+++ b/{path}\n"]
    for number, hunk in enumerate(_hunks(old, new, context), 1):
        counts = [sum(line[0] != absent for line in hunk.lines) for absent in "+-"]
        ranges = [
            _range(first, count) for first, count in zip((hunk.old, hunk.new), counts, strict=True)
        ]
        comment = f" hunk {number}" if is_numbered else ""
        parts += [f"@@ -{ranges[0]} +{ranges[1]} @@{comment}\n", *hunk.lines]
    marked_lines = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts
    ]
    return "".join(marked_lines) if len(marked_lines) > 1 else ""


def short_diff(path: str, before: str, after: str) -> str:
    """Return `diff` for an error's message, cut to CHARACTERS_IN_ERROR."""
    return cut_text(diff(path, before, after), CHARACTERS_IN_ERROR, LINE_MARK)


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first if count else first - 1},{count}"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of a file that change, with those around them.

    `old` and `new` number the first line in either text, from 1.
    """

    old: int
    new: int
    lines: list[str]
    """The first character is a space, `-` or `+`."""


def hunks(before: str, after: str) -> list[Hunk]:
    """Return what `diff` shows, as lines without line ends."""
    changed = _hunks(split_lines(before), split_lines(after), CONTEXT_LINES)
    return [
        Hunk(hunk.old, hunk.new, [line.removesuffix("\n") for line in hunk.lines])
        for hunk in changed
    ]


def _hunks(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[Hunk]:
    for group in LineMatcher(old, new).get_grouped_opcodes(context):
        checkpoint()
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

LineChange = tuple[int, int, tuple[str, ...]]
"""Lines of the base, from the first number to before the second, and the lines in their place."""


def changes(base: list[str], revised: list[str]) -> list[LineChange]:
    """Return the changed regions from `base` to `revised`, in order."""
    return [
        (start, end, tuple(revised[new_start:new_end]))
        for kind, start, end, new_start, new_end in LineMatcher(base, revised).get_opcodes()
        if kind != "equal"
    ]


def merge(base: str, first: str, second: str, *, neighbours: bool = False) -> str | None:
    """Return the text with both changes; None where they touch each other and are not the same.

    Changes touch when they are on the same or on neighbouring lines, so that the program decides
    nothing that a person would want to look at. With `neighbours`, changes on neighbouring lines
    are merged, too.
    """
    if first == second or second == base:
        return first
    if first == base:
        return second
    lines = split_lines(base)
    first_changes = changes(lines, split_lines(first))
    second_changes = changes(lines, split_lines(second))
    changes_in_order = sorted(
        dict.fromkeys([*first_changes, *second_changes]), key=itemgetter(0, 1)
    )  # the first text's before the second's
    result: list[str] = []
    at = 0
    for number, (start, end, new) in enumerate(changes_in_order):
        if number and (start < at or (start == at and not neighbours)):
            return None
        result += [*lines[at:start], *new]
        at = end
    return "".join([*result, *lines[at:]])
