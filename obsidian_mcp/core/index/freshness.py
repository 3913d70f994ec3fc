"""How current an answer from the index is (specs/index.md, "Freshness")."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.vault_path import VaultPath

from . import facts

T = TypeVar("T")

TIME_TO_ANSWER_SECONDS = 1.0
"""So long before the end of a call's time, at most half of it, waiting for the index ends."""


def end_of_wait(seconds: float) -> float:
    """Return when a wait of so many seconds ends, on the clock of `time.monotonic`.

    It ends before the time of the call does, so that the call can still answer.
    """
    if (limit := current_call.get().limit) is not None:
        seconds = min(seconds, limit.remaining - min(TIME_TO_ANSWER_SECONDS, limit.seconds / 2))
    return time.monotonic() + seconds


class Progress(NamedTuple):
    """How far a build is, in files.

    It counts from the last moment at which nothing was pending.
    """

    done: int
    total: int

    @property
    def left(self) -> int:
        return self.total - self.done

    def __str__(self) -> str:
        return f"{self.done:,} of {self.total:,} notes".replace(",", " ")


class Freshness(NamedTuple):
    """How current the rows are that an answer comes from (INDEX-40)."""

    pending: int = 0
    """Files whose rows are missing or older than the file."""
    building: Progress | None = None
    """How far the first build is, while the rows of files are missing."""
    looking: str = ""
    """What is to be said while the folder is still being looked at (INDEX-64)."""

    @property
    def notice(self) -> str | None:
        """A sentence for the answer; None where the rows are current."""
        if self.looking:
            return self.looking
        if not self.pending:
            return None
        if self.building is not None:
            return (
                f"The index is being built: {self.building}. This answer covers only those; ask "
                "again in a while."
            )
        count = (
            "1 changed file is"
            if self.pending == 1
            else f"{self.pending:,} changed files are".replace(",", " ")
        )
        return f"{count} not in the index yet; this answer shows what was indexed before."


CURRENT = Freshness()
_STILL_LOOKING = (
    "The folder is still being looked at: what other programs changed since the last session may "
)
LOOKING_NOTICE = (
    f"{_STILL_LOOKING}be missing. The text of the notes listed here is as it is now; ask again in "
    "a moment for all."
)
LOOKING = Freshness(looking=LOOKING_NOTICE)
LOOKING_AT_MANY = Freshness(
    looking=f"{_STILL_LOOKING}be missing, or shown as it was then; ask again in a moment."
)


MOST_NAMED = 5
"""Files that a notice names."""


class Answer(NamedTuple, Generic[T]):
    """An answer from the index, and what it does not cover.

    `value` is complete when `freshness.pending` is 0 and `cut` is empty.
    """

    value: T
    freshness: Freshness
    cut: tuple[VaultPath, ...] = ()
    """Files that are too long to be indexed whole: what comes late in them is in no answer
    (INDEX-51)."""
    remainder: str = ""
    """A sentence about what was not looked at for want of time (INDEX-57)."""

    @property
    def notice(self) -> str | None:
        """A sentence or two for the answer; None where it is complete."""
        notices = (self.freshness.notice, describe_cut(self.cut), self.remainder)
        return " ".join(filter(None, notices)) or None


def describe_cut(paths: Sequence[VaultPath]) -> str | None:
    """Return a sentence with the files that are too long to be indexed whole; None without any."""
    if not paths:
        return None
    named = name_first(paths, MOST_NAMED, "; ")
    mebibytes = facts.BODY_LIMIT // 2**20
    return (
        f"Only the first {mebibytes} MiB are indexed of {named}: this answer has nothing that "
        "comes later there."
    )
