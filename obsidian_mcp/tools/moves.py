"""Move and rename notes, attachments and folders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core.text.vault_path import link_warning
from obsidian_mcp.core.vault import move

from .params import DryRun, VaultName
from .registry import tool

FILES_SHOWN = 50
DIFF_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class UpdatedFile:
    path: str
    lines: list[int]


@dataclass(frozen=True, slots=True)
class Moved:
    path: str
    """Where it was."""
    to: str
    moved: bool
    files: int | None = None
    """Files moved with a folder."""
    updated: list[UpdatedFile] | None = None
    """Files whose links were rewritten."""
    more_updated: int | None = None
    diff: str | None = None
    warnings: list[str] | None = None


@tool("move", title="Move or rename", writes=True, destructive=True)
def move_note(
    app: App,
    name: Annotated[str, Field(description="Note, attachment or folder", min_length=1)],
    to: Annotated[str, Field(description="New path, Folder/ to go into, or a new name", min_length=1)],
    update_links: Annotated[bool, Field(description="Rewrite links that lead there")] = True,
    dry_run: DryRun = False,
    vault: VaultName = "",
) -> Moved:
    """Move or rename a note, attachment or folder; links in all notes, properties and canvases follow."""
    place = app.vaults.get(vault)

    def plan() -> move.Relocation:
        return move.relocate(place, name, to, update_links=update_links)

    moved = plan() if dry_run else place.make("move_note", plan)
    shown = "".join(each.diff for each in moved.links.rewritten)[:DIFF_CHARACTERS] if dry_run else ""
    warnings = [*moved.links.warnings]
    if warning := link_warning(moved.target):
        warnings.append(warning)
    updated = [UpdatedFile(each.path, list(each.lines)) for each in moved.links.rewritten]
    return Moved(
        path=moved.source,
        to=moved.target,
        moved=not dry_run,
        files=len(moved.files) if moved.is_folder else None,
        updated=updated[:FILES_SHOWN],
        more_updated=len(updated) - FILES_SHOWN if len(updated) > FILES_SHOWN else None,
        diff=shown or None,
        warnings=warnings or None,
    )
