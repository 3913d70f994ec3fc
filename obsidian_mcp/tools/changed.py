"""The answer of tools that change many files at once, bounded for a model (TOOL-07)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from .paging import FILES_SHOWN, first_of, shown_diff

SHOWN_BYTES: Final = 600
"""UTF-8 of the lines that the answer to a change shows."""


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


def change_made(number: int, operations: Sequence[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the answer to a call says of its change (TOOL-31): its number, the first lines that changed, how much
    more did, and line ends that are not LF; no new text that the call itself brought."""
    from obsidian_mcp.core.vault.planned_change import Create, Write, difference  # loaded with the first change

    said = {str(value).strip() for value in given.values() if isinstance(value, str)}
    texts = [one for one in operations if isinstance(one, Write | Create)]
    shown = [one for one in texts if isinstance(one, Write) or one.data.decode("utf-8", "replace").strip() not in said]
    data: dict[str, Any] = {"change": number}
    lines: list[str] = []
    room, left = SHOWN_BYTES, 0
    for done, one in enumerate(shown):
        found = difference(one, context=0).splitlines(keepends=True)
        if len(shown) == 1:
            del found[:2]  # the names of the file, which the answer has
        for line in map(_shorten, found):
            room -= len(line.encode("utf-8", "surrogateescape"))
            left += room < 0
            lines += [line] if room >= 0 else []
        if room < 0:
            files = len(shown) - done - 1
            data["diff_left_out"] = f"{left} lines" + (f" and {files} files" if files else "")
            break
    if lines:
        data["diff"] = "".join(lines)
    if any(b"\r\n" in (one.after if isinstance(one, Write) else one.data) for one in texts):
        data["line_ends"] = "CRLF"
    return data
