"""Templates: listed, read, and put into notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core.note.insertion import Position, insert_template
from obsidian_mcp.core.vault.templates import Templates
from obsidian_mcp.errors import InvalidArguments

from .params import VaultName
from .registry import Document, tool


@dataclass(frozen=True, slots=True)
class TemplateList:
    folders: list[str]
    """Folders of templates that the vault's settings name."""
    templates: list[str]


@dataclass(frozen=True, slots=True)
class TemplateText:
    path: str


@dataclass(frozen=True, slots=True)
class InsertedTemplate:
    path: str
    template: str
    changed: bool
    etag: str
    warnings: list[str] | None = None


@tool("templates", title="Templates", writes=True, mixed="note")
def templates(
    app: App,
    template: Annotated[str, Field(description="Template name or path; empty lists them")] = "",
    note: Annotated[str, Field(description="Put it into this note")] = "",
    position: Position = "append",
    heading: Annotated[str, Field(description="Heading or ^block for section")] = "",
    vault: VaultName = "",
) -> TemplateList | InsertedTemplate | Document:
    """List the vault's templates, read one, or put one into a note: variables filled in, properties merged. For a new
    note, obsidian_create_note takes a template.
    """
    place = app.vaults.get(vault)
    known = Templates(place)
    if not template:
        if note:
            raise InvalidArguments("note needs template: the template to put into it.", argument="template")
        return TemplateList(known.folders, [str(entry.path) for entry in known.listed()])
    found = known.find(template)
    if not note:
        return Document(TemplateText(found.path), place.read_text(found).text.body)
    if position == "section" and not heading:
        raise InvalidArguments("position section needs heading: the heading or ^block.", argument="heading")
    with place.changing():
        entry = place.find(note)
        filled = known.fill(found, entry.path, entry)
        edited = place.edit("templates", entry, lambda body: insert_template(body, filled.text, position, heading))
    changed = edited.before.etag != edited.after.etag
    return InsertedTemplate(entry.path, found.path, changed, edited.after.etag, [*filled.warnings] or None)
