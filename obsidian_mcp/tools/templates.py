"""Templates: listed, read, and put into notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from obsidian_mcp.app import App
from obsidian_mcp.core.note.edits import Position
from obsidian_mcp.core.text.text import hidden_text_warnings
from obsidian_mcp.errors import InvalidArguments

from .arguments import MOST_RESULTS, Argument, Name, VaultName
from .outcome import DocumentAnswer
from .paging import first_of
from .property_warnings import property_faults
from .registry import tool


@dataclass(frozen=True, slots=True)
class TemplateList:
    folders: list[str]
    """Folders of templates that the vault's settings name."""
    templates: list[str]
    more_templates: int | None = None


@dataclass(frozen=True, slots=True)
class TemplateText:
    path: str
    warnings: list[str] | None = None


@dataclass(frozen=True, slots=True)
class InsertedTemplate:
    path: str
    template: str
    changed: bool
    etag: str
    warnings: list[str] | None = None


@tool(title="Templates")
def list_templates(
    app: App,
    template: Annotated[str, Argument(description="Read this one")] = "",
    vault: VaultName = "",
) -> TemplateList | DocumentAnswer:
    """List templates, or read one."""
    from obsidian_mcp.core.operations.template_folders import template_folders
    from obsidian_mcp.core.operations.templates import Templates

    opened = app.vaults.get(vault)
    templates = Templates(opened)
    if not template:
        return TemplateList(
            template_folders(opened),
            *first_of([str(entry.path) for entry in templates.list_templates()], MOST_RESULTS),
        )
    template_entry = templates.find(template)
    text = opened.read_text(template_entry).text.body
    hidden = hidden_text_warnings(text, template_entry.path, app.hidden_text_reads.add)
    warnings = [*property_faults(text), *hidden] or None
    return DocumentAnswer(TemplateText(template_entry.path, warnings), text)


@tool(title="Insert template", writes=True, destructive=True)
def insert_template(
    app: App,
    template: Name,
    name: Name,
    position: Annotated[Position, Argument(description="In the note")] = "append",
    section: Annotated[str, Argument(description="Heading, Parent#Child or ^block")] = "",
    vault: VaultName = "",
) -> InsertedTemplate:
    """Put a template into a note: variables filled in, properties merged."""
    if position == "section" and not section:
        raise InvalidArguments(
            "position section needs `section`: the heading or ^block.", argument="section"
        )
    from obsidian_mcp.core.operations.templates import Templates, insert_template

    opened = app.vaults.get(vault)
    templates = Templates(opened)
    template_entry = templates.find(template)
    entry = opened.find(name)
    warnings: list[str] = []

    def change(body: str) -> str:
        filled = templates.fill(template_entry, entry.path, entry)
        warnings[:] = filled.warnings
        return insert_template(body, filled.text, position, section)

    edited = opened.edit("insert_template", entry, change)
    changed = edited.before.etag != edited.after.etag
    return InsertedTemplate(
        entry.path, template_entry.path, changed, edited.after.etag, warnings or None
    )
