"""How current an answer from the index is (specs/index.md, "Freshness")."""

from __future__ import annotations

import time
from typing import Generic, NamedTuple, TypeVar

from obsidian_mcp.core.text.call import current_call

T = TypeVar("T")

TIME_TO_ANSWER_SECONDS = 1.0
"""So long before the end of a call's time, at most half of it, waiting for the index ends."""


def end_of_wait(seconds: float) -> float:
    """Return when a wait of so many seconds ends, as `time.monotonic`: before the end of the call's time."""
    if (limit := current_call.get().limit) is not None:
        seconds = min(seconds, limit.remaining - min(TIME_TO_ANSWER_SECONDS, limit.seconds / 2))
    return time.monotonic() + seconds


class Progress(NamedTuple):
    """Of the files that had to be read since the last moment at which nothing was pending."""

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

    @property
    def notice(self) -> str | None:
        """A sentence for the answer; None where the rows are current."""
        if not self.pending:
            return None
        if self.building is not None:
            return f"The index is being built: {self.building}. This answer covers only those; ask again in a while."
        count = "1 changed file is" if self.pending == 1 else f"{self.pending:,} changed files are".replace(",", " ")
        return f"{count} not in the index yet; this answer shows what was indexed before."


CURRENT = Freshness()


class Answer(NamedTuple, Generic[T]):
    """`value` is complete when `freshness.pending` is 0."""

    value: T
    freshness: Freshness

    @property
    def notice(self) -> str | None:
        return self.freshness.notice
