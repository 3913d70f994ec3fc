"""Create, read, move and delete notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core import names
from obsidian_mcp.core.edits import adapted
from obsidian_mcp.core.paths import link_warning
from obsidian_mcp.core.text import Text
from obsidian_mcp.core.vault import Create, Remove, Write, etag_of
from obsidian_mcp.errors import NoteExists

from .params import Name, VaultName
from .registry import tool

PAGE = 40_000
"""Characters of a note in one answer: hosts cut or divert longer results (specs/tools.md TOOL-07)."""


@dataclass(frozen=True, slots=True)
class Created:
    path: str
    created: bool
    """False where an existing note was replaced."""
    etag: str
    warnings: list[str] | None = None


@tool("create", title="Create note", writes=True, destructive=True, idempotent=True)
def create_note(
    app: App,
    name: Annotated[str, Field(description="Note name, or path with folders; .md optional", min_length=1)],
    content: Annotated[str, Field(description="Markdown")] = "",
    overwrite: Annotated[bool, Field(description="Replace an existing note")] = False,
    vault: VaultName = "",
) -> Created:
    """Create a note; missing folders are made. An existing note is refused unless overwrite is true: to change one,
    prefer obsidian_edit_note.
    """
    place = app.vaults.get(vault)
    with place.changing():
        path, disk = names.new_path(place.catalog, name)
        warnings = [warning] if (warning := link_warning(path)) else []
        entry = place.at(path) or place.look_for(disk)
        if entry is not None:
            if not overwrite:
                raise NoteExists(
                    f"{str(entry.path)!r} exists already. Change it with obsidian_edit_note, choose another name, or "
                    "set overwrite to true to replace the whole note.",
                    path=str(entry.path),
                )
            before = place.read(entry)
            old = Text.decode(before.data)
            data = Text(adapted(content, old.newline), old.bom).encode()
            place.commit("create_note", [Write(entry.disk, before.data, data)])
            return Created(entry.path, created=False, etag=etag_of(data), warnings=warnings or None)
        same = [other for other in place.catalog.named(path.rpartition("/")[2]) if other != path]
        if same:
            warnings.append(f"The name is now ambiguous: {same[0]!r} has it too. Links need the path.")
        data = content.encode()
        place.commit("create_note", [Create(disk, data)])
        return Created(path, created=True, etag=etag_of(data), warnings=warnings or None)


@dataclass(frozen=True, slots=True)
class Deleted:
    path: str
    trashed: bool
    location: str | None = None
    """Where the note can be found again."""


@tool("delete", title="Delete note", writes=True, destructive=True)
def delete_note(
    app: App,
    name: Name,
    permanent: Annotated[bool, Field(description="Do not use the trash")] = False,
    vault: VaultName = "",
) -> Deleted:
    """Delete a note or attachment; it goes to the trash that the vault's settings name. Links to it stay."""
    place = app.vaults.get(vault)
    entry = place.find(name)
    option = place.settings.trash_option
    gone = permanent or option == "none"
    done = place.commit("delete_note", [Remove(entry.disk, permanent=gone, system=option == "system")])
    return Deleted(entry.path, trashed=not gone, location=done.location)
