"""What merging notes and extracting a part of one share (specs/composer.md).

Both take notes only, and put the text that they move into the template of the app's note composer.
"""

from __future__ import annotations

import re

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note import edits
from obsidian_mcp.core.periodic.template import fill
from obsidian_mcp.core.text.vault_path import (
    VaultPath,
    basename,
    is_note,
)
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    NoteNotFound,
    NotText,
)

from .templates import Templates

_VARIABLE = re.compile(r"\{\{(content|fromTitle|newTitle)\}\}", re.IGNORECASE)


def check_are_notes(*entries: FileEntry) -> None:
    """Check that files are notes. Raises: NotText."""
    for entry in entries:
        if not is_note(entry.path):
            raise NotText(f"{str(entry.path)!r} is not a note.", path=entry.path)


def fill_composer_template(vault: Vault, content: str, source: VaultPath, target: VaultPath) -> str:
    """Return a text as the template of the note composer has it (COMPOSE-5).

    Raises: NoteNotFound, or PermissionDenied where the policy may hide the template.
    """
    name = vault.periodic.settings.composer_template
    if not name:
        return content
    template_path = resolve(vault.catalog, "", name)
    if template_path is None:
        if vault.policy.restricts_reading:
            raise vault.policy.refused_setting("the template of the note composer")
        raise NoteNotFound(
            f'The template of the note composer, "{name}", is not in the vault.', template=name
        )
    template = fill(
        vault.read_text(vault.catalog.entry(template_path)).text.body,
        Templates(vault).variables(target),
    )
    values = {"content": content, "fromtitle": basename(source), "newtitle": basename(target)}
    if not any(variable[1].lower() == "content" for variable in _VARIABLE.finditer(template)):
        template = edits.insert_text(template, "{{content}}")
    return _VARIABLE.sub(lambda variable: values[variable[1].lower()], template)
