"""The answer of tools that change many files at once, bounded for a model (TOOL-07)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from .paging import FILES_SHOWN, first_of, shown_diff


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
