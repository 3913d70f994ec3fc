"""Move and rename notes, attachments and folders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.operations import bulk, move
from obsidian_mcp.core.text.vault_path import link_warning
from obsidian_mcp.core.vault.changes import PlannedChange
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, DryRun, Query, VaultName
from .paging import FILES_SHOWN, LINES_SHOWN, first_of, shown_diff
from .registry import tool


@dataclass(frozen=True, slots=True)
class UpdatedFile:
    path: str
    lines: list[int]
    more_lines: int | None = None


@dataclass(frozen=True, slots=True)
class MovedFile:
    path: str
    to: str


@dataclass(frozen=True, slots=True)
class Moved:
    moved: bool
    path: str | None = None
    """Where it was."""
    to: str | None = None
    renamed: bool | None = None
    """True where the name itself changed."""
    files: int | None = None
    """Files that were moved: with a folder, or of several."""
    moves: list[MovedFile] | None = None
    """The first of several."""
    updated: list[UpdatedFile] | None = None
    """Files whose links were rewritten."""
    more_updated: int | None = None
    diff: str | None = None
    warnings: list[str] | None = None


@tool(title="Move or rename", writes=True, destructive=True)
def move_note(
    app: App,
    *,
    name: Annotated[str, Argument(description="Note, attachment or folder")] = "",
    to: Annotated[str, Argument(description="New path or name, or Folder/ to go into", min_length=1)],
    names: Annotated[list[str], Argument(description="Instead: several notes")] = [],  # noqa: B006
    query: Query = "",
    update_links: bool = True,
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> Moved:
    """Move or rename a note, attachment or folder, or many notes into a folder; links follow, not text."""
    opened = app.vaults.get(vault)
    if not name:
        return _gather(opened, bulk.selected(opened, names, query), to, update_links=update_links, dry_run=dry_run)
    if names or query:
        raise InvalidArguments("Give name, names or query, not several of them.", argument="name")
    plan = partial(move.relocate, opened, name, to, update_links=update_links)
    moved = bulk.make(opened, "move_note", plan, dry_run=dry_run)
    warning = link_warning(moved.target)
    answer = _answer(moved, [warning] if warning else [], dry_run=dry_run)
    return replace(
        answer,
        path=moved.source,
        to=moved.target,
        renamed=moved.source.rpartition("/")[2] != moved.target.rpartition("/")[2] or None,
        files=None if moved.source in moved.moved else len(moved.moved),
    )


def _gather(vault: Vault, entries: list[FileEntry], to: str, *, update_links: bool, dry_run: bool) -> Moved:
    plan = partial(move.gather, vault, entries, to, update_links=update_links)
    moved = bulk.make(vault, "move_note", plan, dry_run=dry_run)
    shown, _ = first_of([MovedFile(source, target) for source, target in moved.moved.items()], FILES_SHOWN)
    return replace(_answer(moved, [], dry_run=dry_run), files=len(moved.moved), moves=shown)


def _answer(change: PlannedChange, warnings: list[str], *, dry_run: bool) -> Moved:
    files, more_updated = first_of(change.rewritten, FILES_SHOWN)
    shown = shown_diff(change.diffs()) if dry_run else ""
    return Moved(
        moved=not dry_run,
        updated=[UpdatedFile(file.path, *first_of(file.lines, LINES_SHOWN)) for file in files],
        more_updated=more_updated,
        diff=shown or None,
        warnings=[*change.warnings, *warnings] or None,
    )
