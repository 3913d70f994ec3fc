"""Parameters that several tools share. Their descriptions are read by models: every word costs tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, TypeVar

from obsidian_mcp.core.text.call import current_call

from .arguments import Argument
from .outcome import as_json

T = TypeVar("T")

MOST_BYTES: Final = 100_000
"""Of JSON in one page of a list for a model."""
VIEW_BYTES: Final = 9_500
"""Of JSON in an answer that opens a view: a model should see at most 10 000 (VIEW-06)."""
PAGE: Final = 40_000
"""Characters of a note in one answer: hosts cut or divert longer results (TOOL-07)."""
DIFF_CHARACTERS: Final = 10_000
FILES_SHOWN: Final = 50
"""Files that an answer about many of them names."""
LINES_SHOWN: Final = 100
"""Lines of one file that an answer about many files names."""
MOST_RESULTS: Final = 500
"""Entries of one page for a model."""


def next_offset(offset: int, limit: int, total: int) -> int | None:
    """Return where the next page begins; None after the last one (TOOL-07)."""
    return offset + limit if offset + limit < total else None


def page_of(found: Sequence[T], offset: int, limit: int) -> tuple[Sequence[T], int | None]:
    """Return one page of a list, and where the next one begins."""
    return found[offset : offset + limit], next_offset(offset, limit, len(found))


def first_of(found: Sequence[T], most: int) -> tuple[list[T], int | None]:
    """Return the first entries, for a person all of them (CLI-10), and how many are left out (TOOL-07)."""
    shown = list(found if current_call.get().wants_all else found[:most])
    return shown, len(found) - len(shown) or None


def fitting(items: list[T], room: int) -> list[T]:
    """Return the first items whose JSON fits so many bytes."""
    for number, item in enumerate(items):
        room -= len(as_json(item)) + 1
        if room < 0:
            return items[:number]
    return items


def count_fitting(*columns: Sequence[object]) -> int:
    """Return how many rows of lists that are shown side by side fit an answer for a model, at least one (TOOL-07)."""
    longest = max(map(len, columns))
    if current_call.get().wants_all:
        return longest
    room = MOST_BYTES
    for row in range(longest):
        room -= sum(len(as_json(column[row])) for column in columns if row < len(column))
        if room < 0:
            return max(row, 1)
    return longest


Name = Annotated[str, Argument(description="Name or path", min_length=1)]
Query = Annotated[str, Argument(description="Instead: notes that a search finds")]
VaultNames = Annotated[str, Argument(description="Vault; * all")]
VaultName = Annotated[str, Argument(description="Vault")]
Etag = Annotated[str, Argument(description="Refuse if changed since")]
DryRun = Annotated[bool, Argument(description="Preview")]
Limit = Annotated[int, Argument(description="At most", ge=1, le=MOST_RESULTS, pages=True)]
Offset = Annotated[int, Argument(description="Skip", ge=0)]
