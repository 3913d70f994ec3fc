"""Create and delete notes.

A new note goes where the user's own settings put it, from a template if the call names one. A
deleted one goes to the trash that the app would use (specs/names.md, specs/periodic.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date as Date  # noqa: N812  an argument is called date
from typing import Annotated, Any

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.app import App
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text import vault_path
from obsidian_mcp.core.text.digest import etag_of
from obsidian_mcp.core.text.text import (
    Text,
)
from obsidian_mcp.core.text.vault_path import (
    TEXT_EXTENSIONS,
    VaultPath,
    extension,
)
from obsidian_mcp.core.vault.folders import FOLDER_OF_NEW_NOTES
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments, NoteExists

from .arguments import Argument, Name, VaultName
from .base_mistakes import base_mistakes
from .registry import tool

if TYPE_CHECKING:
    from obsidian_mcp.core.operations.templates import Filled
    from obsidian_mcp.core.periodic.names import LocatedNote


UNIQUE = "unique:"
"""Begins the name of a note that is named by the minute (PERIODIC-19)."""


@dataclass(frozen=True, slots=True)
class Created:
    path: str
    created: bool
    """False where an existing note was replaced."""
    etag: str
    cursor: str | None = None
    """Line and column at which the template wants the cursor, 1-based."""
    warnings: list[str] | None = None


@tool(title="Create note", writes=True, destructive=True, idempotent=True)
def create_note(
    app: App,
    name: Annotated[str, Argument(description="Name, or path with folders", min_length=1)],
    content: Annotated[str, Argument(description="Markdown")] = "",
    overwrite: Annotated[bool, Argument(description="Replace an existing note")] = False,
    template: Annotated[
        str, Argument(description="Its name; auto: Templater's for the folder")
    ] = "",
    # A mutable default is safe here: no code changes it.
    properties: Annotated[dict[str, Any], Argument(description="Frontmatter")] = {},  # noqa: B006
    date: Annotated[
        str, Argument(description="Day of the template's {{date}}: tomorrow, 2026-11-30")
    ] = "",
    vault: VaultName = "",
) -> Created:
    """Create (make) a new note, from a template with content behind it; frontmatter and properties
    merge. The name unique: is the minute."""
    from obsidian_mcp.core.frontmatter.edits import set_properties
    from obsidian_mcp.core.note import edits  # what reading a note does without
    from obsidian_mcp.core.operations.new_file import create_file
    from obsidian_mcp.core.vault.operation import Write

    opened = app.vaults.get(vault)
    with opened.lock_changes():
        located = opened.periodic.find_by_name(name) if ":" in name else None
        if located is not None and located.entry is None and not template:
            _read_date(opened, date, template)  # refuses a date, which needs a template
            return _periodic(opened, located, content, properties)
        if name.lower().startswith(UNIQUE):
            from obsidian_mcp.core.operations.periodic_notes import PeriodicNotes

            name, template = PeriodicNotes(opened).unique_note(name[len(UNIQUE) :], template)
        path, disk, warnings = _new_path(opened, located.path if located else name)
        if warning := vault_path.link_warning(path):
            warnings.append(warning)
        cursor = None
        day = _read_date(opened, date, template)
        if template:
            filled = _fill_template(
                opened, template, path, content=content, properties=properties, day=day
            )
            content = filled.text
            cursor = f"{filled.cursor[0]}:{filled.cursor[1]}" if filled.cursor else None
            warnings += filled.warnings
        elif properties:
            content = set_properties(content, properties, joins_lists=True)
        entry = opened.entry_at(path) or opened.look_for(disk)
        if entry is None:
            warnings += _warn_of_namesake(opened, path)
            data = Text(content).encode()
            warnings += create_file(opened, "create_note", path, disk, data)
        elif overwrite:
            path, before = entry.path, opened.read_content(entry)
            data = edits.overwrite_text(before.data, content)
            opened.commit("create_note", [Write(entry.disk, before.data, data)])
        else:
            raise NoteExists(
                f"{str(entry.path)!r} exists already. Choose another name, or set `overwrite` to "
                "true to replace the whole note; obsidian_edit_note changes a part of it.",
                path=str(entry.path),
            )
        warnings += base_mistakes(path, content)
        return Created(path, entry is None, etag_of(data), cursor, warnings or None)


def _warn_of_namesake(vault: Vault, path: VaultPath) -> list[str]:
    """Return a warning where another file has the name of a new one."""
    same_name = vault.catalog.find_by_name(path.rpartition("/")[2])
    namesakes = [namesake for namesake in same_name if namesake != path]
    if not namesakes:
        return []
    return [f"The name is now ambiguous: {namesakes[0]!r} has it too. Links need the path."]


def _new_path(vault: Vault, name: str) -> tuple[VaultPath, str, list[str]]:
    """Return the path of a new note, its path on disk, and warnings about the vault's settings.

    A bare name, without folder and extension, goes to the folder that the settings choose for new
    notes (NAME-13). It stays in the root if a file there has that name already: that is the note
    meant.
    """
    path, disk = vault.catalog.new_path(name)
    settings = vault.settings
    is_bare = not name.strip().lower().endswith(TEXT_EXTENSIONS) and not {"/", "\\"} & set(name)
    if not is_bare or vault.entry_at(path) is not None:
        return path, disk, []
    if folder := vault.folders.folder_for_notes(settings):
        path, disk = vault.catalog.new_path(f"{folder}/{path}")
        vault.folders.check_new(path, FOLDER_OF_NEW_NOTES)
    return path, disk, [*settings.warnings]


def _read_date(vault: Vault, date: str, template: str) -> Date | None:
    """Return the day of a template; None for today. Raises: InvalidArguments for a text that names
    no day."""
    if not date.strip():
        return None
    if not template:
        raise InvalidArguments(
            "`date` is the day of a template's {{date}}; give `template` too.", argument="date"
        )
    from obsidian_mcp.core.calendar.days import FORMS, read_days

    days = read_days(date, vault.calendar.today)
    if days is None or days.first != days.last:
        message = f"`date` {date!r} names no single day. Give {FORMS}."
        raise InvalidArguments(message, argument="date")
    return days.first


def _fill_template(
    vault: Vault,
    template: str,
    path: VaultPath,
    *,
    content: str,
    properties: Mapping[str, Any],
    day: Date | None,
) -> Filled:
    """Return the text of a new note: the filled template with the content behind it and the
    properties of both. Raises: TemplateFailed, PropertiesUnreadable."""
    from obsidian_mcp.core.frontmatter.block import text_start
    from obsidian_mcp.core.frontmatter.edits import set_properties
    from obsidian_mcp.core.note import edits
    from obsidian_mcp.core.operations.templates import Filled, Templates, insert_template

    templates = Templates(vault, day)
    template_entry = (
        templates.find_for_folder(vault_path.parent(path))
        if template == "auto"
        else templates.find(template)
    )
    if template_entry is None:
        return Filled(
            content, warnings=("Templater has no template for this folder; none was used.",)
        )
    filled = templates.fill(template_entry, path)
    text = set_properties(filled.text, properties, joins_lists=True)
    if text_start(content):
        text = insert_template(content, text, "prepend")
    elif content:
        text = edits.insert_text(text, content)
    # The cursor moves down by the lines that the properties added above the text.
    line, column = filled.cursor or (0, 0)
    line += text.count("\n", 0, text_start(text)) - filled.text.count(
        "\n", 0, text_start(filled.text)
    )
    return replace(filled, text=text, cursor=(line, column) if filled.cursor else None)


def _periodic(
    vault: Vault, located: LocatedNote, content: str, properties: Mapping[str, Any]
) -> Created:
    """Create a periodic note by the vault's own rules, and add the content and the properties."""
    from obsidian_mcp.core.frontmatter.edits import set_properties
    from obsidian_mcp.core.note import edits
    from obsidian_mcp.core.operations.periodic_notes import PeriodicNotes

    def change(body: str) -> str:
        body = set_properties(body, properties, joins_lists=True)
        return edits.insert_text(body, content) if content else body

    opened = PeriodicNotes(vault).open(
        "create_note",
        located.rule.period,
        located.day.isoformat(),
        change if content or properties else None,
    )
    cursor = f"{opened.cursor[0]}:{opened.cursor[1]}" if opened.cursor else None
    return Created(
        opened.located.path, opened.created, opened.content.etag, cursor, [*opened.warnings] or None
    )


@dataclass(frozen=True, slots=True)
class Deleted:
    path: str
    trashed: bool
    location: str | None = None
    """Where the note can be found again."""
    attachments: list[str] | None = None
    """Attachments that were deleted with it."""
    warnings: list[str] | None = None


@tool(title="Delete note", writes=True, destructive=True)
def delete_note(
    app: App,
    name: Name,
    permanent: Annotated[bool, Argument(description="Do not use the trash")] = False,
    attachments: Annotated[bool, Argument(description="Also those used by nothing else")] = False,
    vault: VaultName = "",
) -> Deleted:
    """Delete a note or attachment, into the vault's trash. Links to it stay."""
    from obsidian_mcp.core.operations.stale_names import lost_bookmarks
    from obsidian_mcp.core.vault.operation import removal

    opened = app.vaults.get(vault)
    entry = opened.find(name)
    settings = opened.settings
    along = _own_attachments(opened, entry) if attachments else []
    operations = [
        removal(file.disk, settings.trash_option, permanent=permanent) for file in (*along, entry)
    ]
    warnings = lost_bookmarks(opened, {file.path for file in (*along, entry)})
    if not permanent:
        warnings += settings.warnings
    committed = opened.commit("delete_note", operations)
    files = [str(file.path) for file in along]
    return Deleted(
        entry.path,
        not operations[-1].permanent,
        committed.location,
        files or None,
        warnings or None,
    )


def _own_attachments(vault: Vault, note: FileEntry) -> list[FileEntry]:
    """Return the attachments that this note links to and no other file does."""
    vault.indexer.complete()
    targets = dict.fromkeys(
        link.target for link in vault.graph.outgoing_links(note.path).value if link.target
    )
    entries = (
        vault.catalog.get(target) for target in targets if extension(target) not in TEXT_EXTENSIONS
    )
    attachments = [entry for entry in entries if entry is not None]
    return [
        file
        for file in attachments
        if {link.source for link in vault.graph.backlinks(file.path).value} == {note.path}
    ]
