"""Which words of a text change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from obsidian_mcp.core.text.line_matcher import LineMatcher

MOST_CHARACTERS: Final = 20_000
"""Of a line whose words are compared; a longer one is shown as changed whole."""
LEAST_ALIKE: Final = 0.35
"""Share of their characters that two texts must have in common to be one text before and after."""
_WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")

Fate = Literal["same", "removed", "added"]


@dataclass(frozen=True, slots=True)
class WordRun:
    """Words one behind the other with one fate."""

    fate: Fate
    text: str


def compare_words(before: str, after: str) -> tuple[WordRun, ...]:
    """Return both texts as one: those runs that are not added make the text before, and those that
    are not removed the text after. Raises: OperationTimeout."""
    if max(len(before), len(after)) > MOST_CHARACTERS:
        return tuple(_runs("removed", [before])) + tuple(_runs("added", [after]))
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    runs: list[WordRun] = []
    for kind, start, end, new_start, new_end in LineMatcher(old, new).get_opcodes():
        if kind == "equal":
            runs += _runs("same", old[start:end])
        else:
            runs += _runs("removed", old[start:end])
            runs += _runs("added", new[new_start:new_end])
    return tuple(runs)


def runs_before(runs: Iterable[WordRun]) -> list[WordRun]:
    """Return the runs of the text before the change."""
    return [run for run in runs if run.fate != "added"]


def runs_after(runs: Iterable[WordRun]) -> list[WordRun]:
    """Return the runs of the text after the change."""
    return [run for run in runs if run.fate != "removed"]


def share_in_common(runs: Sequence[WordRun]) -> float:
    """Return which part of the characters of both texts, white space left out, is the same: 0 to
    1."""
    sizes = {"same": 0, "removed": 0, "added": 0}
    for run in runs:
        sizes[run.fate] += sum(not character.isspace() for character in run.text)
    total = 2 * sizes["same"] + sizes["removed"] + sizes["added"]
    return 2 * sizes["same"] / total if total else 1.0


def _runs(fate: Fate, words: Sequence[str]) -> Iterator[WordRun]:
    if text := "".join(words):
        yield WordRun(fate, text)
