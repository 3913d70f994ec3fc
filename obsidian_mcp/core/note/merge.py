"""Three-way merge of texts by lines (specs/safety.md SAFE-07)."""

from __future__ import annotations

from operator import itemgetter

from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.diff import LineMatcher
from obsidian_mcp.core.text.text import split_lines

Hunk = tuple[int, int, tuple[str, ...]]
"""Lines of the base, from the first number to before the second, and what they became."""


def changes(base: list[str], other: list[str]) -> list[Hunk]:
    """Return the changed regions from `base` to `other`, in order."""
    checkpoint()
    return [
        (start, end, tuple(other[other_start:other_end]))
        for kind, start, end, other_start, other_end in LineMatcher(base, other, autojunk=False).get_opcodes()
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
