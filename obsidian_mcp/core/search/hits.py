"""What is asked of a search, and what it answers (specs/search.md, SEARCH-10 to 19 and SEARCH-70 to 77)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

from obsidian_mcp.core.text.vault_path import VaultPath

from .snippets import Snippet
from .sorting import Order

SNIPPETS = 2
ANSWER_CHARACTERS = 10_000
"""Most of an answer, as it stands in JSON."""

Match = Literal["smart", "exact"]

_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Request:
    query: str
    match: Match = "smart"
    folder: VaultPath | None = None
    """Only below this one."""
    limit: int = 20
    offset: int = 0
    snippets: int = SNIPPETS
    since: int | None = None
    until: int | None = None
    """Only files changed last at or after the one, and before the other; nanoseconds since the epoch."""
    order: Order | None = None
    """None: best first."""
    characters: int = ANSWER_CHARACTERS
    """Most of the answer, as it stands in JSON."""


@dataclass(frozen=True, slots=True)
class Hit:
    path: VaultPath
    score: float | None = None
    """How well it answers; None where nothing was weighed."""
    value: str | None = None
    """What it was sorted by, where the path does not say it."""
    snippets: list[Snippet] | None = None

    @property
    def size(self) -> int:
        """Characters of it in an answer, with the comma behind it."""
        told: dict[str, object] = {"path": self.path, "score": self.score, "value": self.value}
        if self.snippets is not None:
            told["snippets"] = [
                _told({"line": each.line, "text": each.text, "heading": each.heading}) for each in self.snippets
            ]
        return len(_written(_told(told))) + 1

    def within(self, room: int) -> Hit:
        """As much of it as has room: fewer snippets, then a part of the path."""
        hit = self
        while hit.snippets and hit.size > room:
            hit = replace(hit, snippets=hit.snippets[:-1] or None)
        path = hit.path
        while hit.size > room and path:
            path = VaultPath(path[: len(path) * 3 // 4])
            hit = replace(hit, path=VaultPath(f"{path}…"))
        return hit


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
    note: str | None = None
    """Who else found these files, and how."""


@dataclass(frozen=True, slots=True)
class Group:
    group: str
    count: int
    """Files in it, on all pages."""
    hits: list[Hit] | None = None
    """Those of this page; None where they come on a later one."""

    @property
    def size(self) -> int:
        """Characters of it in an answer without its hits, with the comma behind it."""
        return len(_written({"group": self.group, "count": self.count, "hits": []})) + 1


@dataclass(frozen=True, slots=True)
class Grouped:
    """As `Hits`; a file with several tags or values is in several groups."""

    total: int
    group_count: int
    groups: list[Group]
    next_offset: int | None = None
    widened: str | None = None
    building: str | None = None
    note: str | None = None


def _told(members: dict[str, object]) -> dict[str, object]:
    """What is None is not sent."""
    return {name: member for name, member in members.items() if member is not None}


def room_beside(characters: int, *remarks: str | None) -> int:
    """Characters that an answer has for its hits."""
    return characters - 240 - sum(len(_written(each)) for each in remarks if each)
