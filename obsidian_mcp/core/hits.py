"""What is asked of a search, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .paths import VaultPath
from .snippets import Snippet

SNIPPETS = 2
ANSWER_CHARACTERS = 10_000
"""Most of an answer that models get by default."""

Match = Literal["smart", "exact"]


@dataclass(frozen=True, slots=True)
class Request:
    query: str
    match: Match = "smart"
    folder: VaultPath | None = None
    """Only below this one."""
    limit: int = 20
    offset: int = 0
    snippets: int = SNIPPETS


@dataclass(frozen=True, slots=True)
class Hit:
    path: VaultPath
    score: float | None = None
    """How well it answers; None where nothing was weighed."""
    snippets: list[Snippet] | None = None

    @property
    def size(self) -> int:
        """Characters of it in an answer, roughly."""
        return len(self.path) + 40 + sum(len(each.text) + len(each.heading or "") + 40 for each in self.snippets or ())


@dataclass(frozen=True, slots=True)
class Hits:
    total: int
    """Files that match, on all pages."""
    hits: list[Hit]
    next_offset: int | None = None
    widened: str | None = None
    """What was looked for instead, where nothing had all words."""
    building: str | None = None
    """A sentence when the index is not complete: the answer is, but took longer."""
