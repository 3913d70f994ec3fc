"""The answer of tools that change many files at once, bounded for a model (TOOL-07)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, Protocol

from obsidian_mcp.core.text.text import write_count

from .paging import FILES_SHOWN, first_of, kinds_of_changes, shown_diff

SHOWN_BYTES: Final = 600
"""UTF-8 of the lines that the answer to a change shows."""
COMPARED_BYTES: Final = 1_000_000
"""Of the files of one change whose lines are compared for its answer."""
_LINE_OF_DIFF: Final = re.compile(r"^(.*\n)(\\ No newline.*\n)?", re.MULTILINE)
"""A line of a unified diff, and the mark that it ends without a line end."""


class ChangedFile(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def diff(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    total: int
    """Files that were changed, or with dry_run would be."""
    changed: list[str]
    """The first of them."""
    more_changed: int | None = None
    """How many are not named."""
    diff: str | None = None
    """What would change; only with dry_run."""
    etag: str | None = None
    """Of the note, where it is one."""
    warnings: list[str] | None = None


def changed_files(
    files: Sequence[ChangedFile], *, dry_run: bool, etag: str | None = None, warnings: Sequence[str] = ()
) -> ChangedFiles:
    """Name the first files and, for a dry run, show as much of their differences as fits."""
    changed, more_changed = first_of([str(file.path) for file in files], FILES_SHOWN)
    return ChangedFiles(
        len(files),
        changed,
        more_changed,
        diff=shown_diff(file.diff for file in files) if dry_run else None,
        etag=etag,
        warnings=list(warnings) or None,
    )


def _shorten(line: str) -> str:
    """Return a line of a difference, of which the old and the new one fit an answer together."""
    return line if len(line) <= SHOWN_BYTES // 3 else f"{line[: SHOWN_BYTES // 3]}…\n"


def change_made(
    number: int, operations: Sequence[Any], given: Mapping[str, Any], answer: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the answer to a call says of its change (TOOL-31): its number, the lines that changed or, of several
    files, how many lines changed alike, and line ends that are not LF; no new text that the call itself brought, and no
    lines that the answer has as `old` and `new`."""
    from obsidian_mcp.core.vault.changes import Create, Write, difference, is_of_text  # with the first change

    said = {str(value).strip() for value in given.values() if isinstance(value, str)}
    texts = [one for one in operations if isinstance(one, Write | Create) and is_of_text(one)]
    shown = [one for one in texts if isinstance(one, Write) or one.after.decode("utf-8", "replace").strip() not in said]
    shown = [] if "old" in answer else shown
    data: dict[str, Any] = {"change": number}
    diffs = [difference(one, context=0) for one in _first_of_size(shown)]
    if len(shown) == 1:
        _, _, lines = diffs[0].partition("\n+++ b/")  # the answer has the names of the file
        pieces = [_shorten(line) + mark for line, mark in _LINE_OF_DIFF.findall(lines.partition("\n")[2])]
    else:
        pieces = kinds_of_changes(diffs)
    sizes = accumulate(len(piece.encode("utf-8", "surrogateescape")) for piece in pieces)
    fitting = sum(size <= SHOWN_BYTES for size in sizes)
    left_out = []
    if more := len(pieces) - fitting:
        left_out.append(write_count(more, "line") if len(shown) == 1 else f"{write_count(more, 'kind')} of changes")
    if unread := len(shown) - len(diffs):
        left_out.append(write_count(unread, "file"))
    if left_out:
        data["diff_left_out"] = " and ".join(left_out)
    if fitting:
        data["diff"] = "".join(pieces[:fitting])
    if any(b"\r\n" in one.after for one in texts):
        data["line_ends"] = "CRLF"
    return data


def _first_of_size(writes: Sequence[Any]) -> list[Any]:
    """Return the first files of a change, at least one, whose lines are compared for its answer."""
    sizes = accumulate(len(one.after) for one in writes)
    return [one for at, (one, size) in enumerate(zip(writes, sizes, strict=True)) if not at or size <= COMPARED_BYTES]
