"""Three-way merge of texts by lines (specs/safety.md SAFE-07)."""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.core.text import deadline
from obsidian_mcp.core.text.line_matcher import Matcher
from obsidian_mcp.core.text.text import split_lines


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `start` to `end` of the base became `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]


def changes(base: list[str], other: list[str]) -> list[Hunk]:
    """Return the changed regions from `base` to `other`, in order."""
    deadline.checkpoint()
    return [
        Hunk(start, end, tuple(other[other_start:other_end]))
        for kind, start, end, other_start, other_end in Matcher(base, other, autojunk=False).get_opcodes()
        if kind != "equal"
    ]


def merge(base: str, ours: str, theirs: str, *, neighbours: bool = False) -> str | None:
    """The text with both changes; None where they touch each other and are not the same.

    Changes touch when they are on the same or on neighbouring lines, so that nothing is decided that a person would
    want to look at; with `neighbours` only on the same lines.
    """
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    lines = split_lines(base)
    mine = changes(lines, split_lines(ours))
    other = changes(lines, split_lines(theirs))
    hunks = sorted(dict.fromkeys([*mine, *other]), key=lambda hunk: (hunk.start, hunk.end))  # ours before theirs
    result: list[str] = []
    at = 0
    for number, hunk in enumerate(hunks):
        end = hunks[number - 1].end if number else -1
        if hunk.start < end or (hunk.start == end and not neighbours):
            return None
        result += lines[at : hunk.start]
        result += hunk.lines
        at = hunk.end
    result += lines[at:]
    return "".join(result)
