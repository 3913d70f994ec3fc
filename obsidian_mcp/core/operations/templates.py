"""The templates of a vault: found by name or folder, filled in, and put into notes.

The rules are PERIODIC-14, 15 and 18.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.calendar.clock import local_time
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.frontmatter.block import text_start
from obsidian_mcp.core.frontmatter.edits import merge_properties
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note import parser, sections
from obsidian_mcp.core.note.edits import Position, insert_text
from obsidian_mcp.core.periodic.template import Variables, fill
from obsidian_mcp.core.periodic.templater import (
    Surroundings,
    TemplateTarget,
    has_commands,
    render,
    take_cursor,
)
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.typed_text import typed_key
from obsidian_mcp.core.text.vault_path import VaultPath, basename, is_note, name_key
from obsidian_mcp.errors import AppError, NoteNotFound, TemplateFailed

from .template_folders import template_folders

if TYPE_CHECKING:
    from obsidian_mcp.core.vault.vault import Vault


SHOWN = 10
"""Templates that an error names."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The text of a template for one note; `cursor` is a line and a column in it, counted from
    1."""

    text: str
    cursor: tuple[int, int] | None = None
    warnings: tuple[str, ...] = ()


class Templates:
    """The templates of one vault."""

    def __init__(self, vault: Vault, day: date | None = None) -> None:
        """`day` takes the place of today in templates."""
        self._vault = vault
        now = vault.calendar.now()
        self._now = datetime.combine(day, now.time()) if day else now
        self._settings = vault.periodic.settings

    def list_templates(self) -> list[FileEntry]:
        """Return the notes below the folders of templates, by path; none where no folder is set."""
        below = tuple(name_key(folder) + "/" for folder in template_folders(self._vault))
        notes_of_vault = (entry for entry in self._vault.entries() if is_note(entry.path))
        return [
            entry for entry in notes_of_vault if below and name_key(entry.path).startswith(below)
        ]

    def find(self, name: str) -> FileEntry:
        """Return the template of a name in the folders of templates, or of a path; `.md` and case
        do not matter. Raises: NoteNotFound with the templates there are."""
        key = name_key(name.strip().strip("/"))
        key = key if key.endswith(".md") else f"{key}.md"
        templates = self.list_templates()
        direct = [f"{name_key(folder)}/{key}" for folder in template_folders(self._vault)]
        for entry in templates:
            if name_key(entry.path) in direct:
                return entry
        deeper = [entry for entry in templates if name_key(entry.path).endswith(f"/{key}")]
        if len(deeper) == 1:
            return deeper[0]
        typed = f"/{typed_key(key)}"
        alike = [entry for entry in templates if f"/{typed_key(entry.path)}".endswith(typed)]
        if not deeper and len(alike) == 1:
            return alike[0]
        path = self._vault.catalog.path_at(VaultPath(key))
        if path is not None:
            return self._vault.catalog.entry(path)
        named = [str(entry.path) for entry in templates]
        if named:
            advice = f"Templates there are: {name_first(named, SHOWN, write=repr)}."
        elif folders := template_folders(self._vault):
            advice = f"The templates folder {folders[0]!r} is empty."
        else:
            advice = "No templates folder is set in Obsidian; give the path of a note."
        raise NoteNotFound(
            f"There is no template {name!r}. {advice}", template=name, templates=named[:SHOWN]
        )

    def find_for_folder(self, folder: str) -> FileEntry | None:
        """Return the template that Templater has for new notes of a folder; None where it has
        none."""
        templater = self._settings.templater
        name = templater.template_for(folder) if templater else ""
        return self.configured_template(name, "the template of this folder") if name else None

    def configured_template(self, name: str, what: str) -> FileEntry:
        """As `find`, for a name in the vault's settings. Raises: PermissionDenied where the policy
        may hide it."""
        try:
            return self.find(name)
        except NoteNotFound:
            if self._vault.policy.restricts_reading:
                raise self._vault.policy.refused_setting(what) from None
            raise

    def variables(self, path: str) -> Variables:
        """Return what the variables of a template stand for in the note at a path."""
        settings = self._settings
        return Variables(basename(path), self._now, settings.templates, settings.locale)

    def fill(self, template: FileEntry, path: str, target: FileEntry | None = None) -> Filled:
        """Return a template filled in for the note at a path, which `target` is if it exists.
        Raises: TemplateFailed."""
        text = self._vault.read_text(template).text.body
        return self.run_templater(
            basename(template.path), fill(text, self.variables(path)), path, target
        )

    def run_templater(
        self, name: str, text: str, path: str, target: FileEntry | None = None
    ) -> Filled:
        """Run the commands of Templater in a text, where the vault has Templater. Raises:
        TemplateFailed."""
        if self._settings.templater is None or not has_commands(text):
            return Filled(text)
        vault = self._vault
        now = self._now
        body = vault.read_text(target).text.body if target else ""
        parsed = parser.parse(body)
        modified = local_time(target.mtime_ns) if target else now
        about = TemplateTarget(
            path,
            now,
            created=modified,
            modified=modified,
            system_path=str(vault.files.root / path),
            content=body,
            tags=tuple(parsed.all_tags),
            properties=parsed.properties,
        )
        catalog = vault.catalog
        surroundings = Surroundings(
            lambda path: catalog.path_at(VaultPath(path.strip("/"))) is not None,
            self._read_included,
            self._settings.locale,
        )
        rendered = render(name, text, about, surroundings)
        plain, cursor = take_cursor(rendered.text)
        return Filled(plain, cursor, rendered.warnings)

    def _read_included(self, link: str) -> str | None:
        linkpath, mark, subpath = link.partition("#")
        included_path = resolve(self._vault.catalog, "", linkpath)
        if included_path is None:
            return None
        try:
            body = Text.decode(
                self._vault.read_content(self._vault.catalog.entry(included_path)).data
            ).body
            return sections.locate(body, subpath).whole.slice(body) if mark else body
        except AppError:
            return None


def insert_template(
    body: str, template: str, position: Position = "append", heading: str = ""
) -> str:
    """Return a note with a filled template's text at a place, and its properties merged in. Raises:
    SectionNotFound, PropertiesUnreadable, TemplateFailed."""
    read = frontmatter.read_frontmatter(template)
    fault = frontmatter.find_fault(template)
    if fault is not None:
        raise TemplateFailed(
            f"The properties of the template cannot be read. {fault.message} Nothing was written."
        )
    text = template[text_start(template) :]
    if text.strip():
        body = insert_text(body, text, position, heading)
    elif heading:
        sections.locate(body, heading)
    if read is not None and read.values:
        body = merge_properties(body, read.values)
    return body
