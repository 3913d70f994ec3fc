"""As much of an answer as fits: lists by number or by bytes of JSON, texts by characters (TOOL-07).

A person on the command line gets everything (CLI-10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final, TypeVar

from obsidian_mcp.core.text.call import current_call

from .outcome import as_json

T = TypeVar("T")

MOST_BYTES: Final = 100_000
"""Of JSON in one page of a list for a model."""
VIEW_BYTES: Final = 9_500
"""Of JSON in an answer that opens a view: a model should see at most 10 000 (VIEW-06)."""
PAGE: Final = 40_000
"""Characters of a note in one answer: hosts cut or divert longer results."""
DIFF_CHARACTERS: Final = 10_000
FILES_SHOWN: Final = 50
"""Files that an answer about many of them names."""
LINES_SHOWN: Final = 100
"""Lines of one file that an answer about many files names."""


def next_offset(offset: int, limit: int, total: int) -> int | None:
    """Return where the next page begins; None after the last one."""
    return offset + limit if offset + limit < total else None


def page_of(found: Sequence[T], offset: int, limit: int) -> tuple[Sequence[T], int | None]:
    """Return one page of a list, and where the next one begins."""
    return found[offset : offset + limit], next_offset(offset, limit, len(found))


def first_of(found: Sequence[T], most: int) -> tuple[list[T], int | None]:
    """Return the first entries, and how many are left out."""
    shown = list(found if current_call.get().wants_all else found[:most])
    return shown, len(found) - len(shown) or None


def fitting(items: Iterable[T], room: int = MOST_BYTES, least: int = 0) -> list[T]:
    """Return the first items whose JSON fits so many bytes, and at least `least` of them."""
    if current_call.get().wants_all:
        return list(items)
    shown: list[T] = []
    for item in items:
        room -= len(as_json(item)) + 1
        if room < 0 and len(shown) >= least:
            break
        shown.append(item)
    return shown


def count_fitting(*columns: Sequence[object]) -> int:
    """Return how many rows of lists that are shown side by side fit an answer, at least one."""
    return len(fitting(zip_longest(*columns, fillvalue=0), least=1))


def page_end(text: str, start: int, end: int, room: int = PAGE) -> int:
    """Return where a page of a text ends: behind a paragraph, else behind a line, if one ends in its second half."""
    if end - start <= room or current_call.get().wants_all:
        return end
    for mark in ("\n\n", "\n"):
        found = text.rfind(mark, start + room // 2, start + room)
        if found >= 0:
            return found + len(mark)
    return start + room


def shown_diff(diffs: Iterable[str], most: int = DIFF_CHARACTERS) -> str:
    """Return differences one after the other, cut after so many characters."""
    shown = ""
    for diff in diffs:
        shown += diff
        if len(shown) > most and not current_call.get().wants_all:
            return f"{shown[:most]}\n… (cut)\n"
    return shown
