"""The templates of one vault: found by name, filled in, and put into notes (PERIODIC-14, 15)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.frontmatter import parser as frontmatter
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note import parser, sections
from obsidian_mcp.core.periodic.template import Variables, fill
from obsidian_mcp.core.periodic.templater import Surroundings, Target, has_commands, render, take_cursor
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import VaultPath, basename, is_note, name_key
from obsidian_mcp.errors import AppError, NoteNotFound

if TYPE_CHECKING:
    from .vault import Vault

SHOWN = 10
"""Templates that an error names."""


@dataclass(frozen=True, slots=True)
class Filled:
    """The text of a template for one note; `cursor` is a line and a column in it, counted from 1."""

    text: str
    cursor: tuple[int, int] | None = None
    warnings: tuple[str, ...] = ()


class Templates:
    """The templates of one vault."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._settings = vault.periodic.settings

    @property
    def folder(self) -> str:
        """The folder of the settings, "" where none is set."""
        return self._settings.templates.folder.strip("/ ")

    def listed(self) -> list[FileEntry]:
        """Return the notes below the templates folder, by path; none where no folder is set."""
        if not self.folder:
            return []
        below = name_key(self.folder) + "/"
        return [
            entry for entry in self._vault.entries() if is_note(entry.path) and name_key(entry.path).startswith(below)
        ]

    def find(self, name: str) -> FileEntry:
        """Return the template of a name, from the templates folder, or of a path of the vault; `.md` and case do not
        matter. Raises: NoteNotFound with the templates there are.
        """
        wanted = name_key(name.strip().strip("/"))
        wanted = wanted if wanted.endswith(".md") else f"{wanted}.md"
        known = self.listed()
        below = name_key(self.folder) + "/"
        for entry in known:
            if name_key(entry.path).removeprefix(below) == wanted:
                return entry
        deeper = [entry for entry in known if name_key(entry.path).endswith(f"/{wanted}")]
        if len(deeper) == 1:
            return deeper[0]
        path = self._vault.catalog.at(VaultPath(wanted))
        if path is not None:
            return self._vault.catalog[path]
        shown = [str(entry.path) for entry in known]
        advice = (
            f"Templates there are: {', '.join(map(repr, shown[:SHOWN]))}."
            if shown
            else (
                "No templates folder is set in Obsidian; give the path of a note."
                if not self.folder
                else f"The templates folder {self.folder!r} is empty."
            )
        )
        raise NoteNotFound(f"There is no template {name!r}. {advice}", template=name, templates=shown[:SHOWN])

    def variables(self, path: str) -> Variables:
        """Return what the variables of a template stand for in the note at a path."""
        settings = self._settings
        return Variables(basename(path), self._vault.periodic.calendar.now(), settings.templates, settings.locale)

    def fill(self, template: FileEntry, path: str, target: FileEntry | None = None) -> Filled:
        """Return a template filled in for the note at a path, which `target` is where it exists already.

        Raises: TemplateFailed for a command of Templater that needs JavaScript.
        """
        text = self._vault.read_text(template).text.body
        return self.run(basename(template.path), fill(text, self.variables(path)), path, target)

    def run(self, name: str, text: str, path: str, target: FileEntry | None = None) -> Filled:
        """Run the commands of Templater in a text, where the vault has Templater. Raises: TemplateFailed."""
        if not self._settings.templater or not has_commands(text):
            return Filled(text)
        vault = self._vault
        now = vault.periodic.calendar.now()
        body = vault.read_text(target).text.body if target else ""
        parsed = parser.parse(body)
        modified = datetime.fromtimestamp(target.mtime_ns / 1e9) if target else now  # noqa: DTZ006  local, as `now` is
        about = Target(
            path,
            now,
            created=modified,
            modified=modified,
            system_path=str(vault.files.root / path),
            content=body,
            tags=tuple(parsed.all_tags),
            properties=parsed.properties,
        )
        surroundings = Surroundings(self._exists, self._included, self._settings.locale)
        rendered = render(name, text, about, surroundings)
        plain, cursor = take_cursor(rendered.text)
        return Filled(plain, cursor, rendered.warnings)

    def _exists(self, path: str) -> bool:
        return self._vault.catalog.at(VaultPath(path.strip("/"))) is not None

    def _included(self, link: str) -> str | None:
        linkpath, mark, subpath = link.partition("#")
        found = resolve(self._vault.catalog, "", linkpath)
        if found is None:
            return None
        try:
            body = Text.decode(self._vault.read(self._vault.catalog[found]).data).body
            if not mark:
                return body[frontmatter.text_start(body) :]
            return sections.locate(body, subpath).whole.of(body)
        except AppError:
            return None
