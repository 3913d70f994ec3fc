"""The notes of days, weeks and longer periods in one vault: found, named, made and added to
(PERIODIC-11, 13, 16)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.calendar.periods import Period
from obsidian_mcp.core.files.file_entry import FileContent, FileEntry
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.note import parser, sections
from obsidian_mcp.core.periodic import notes, unique_notes
from obsidian_mcp.core.periodic.names import LocatedNote, adjective_of, can_be_made, not_set_up
from obsidian_mcp.core.periodic.settings import PeriodRule
from obsidian_mcp.core.periodic.template import fill_periodic
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import basename, is_note, parse
from obsidian_mcp.core.vault.operation import Create
from obsidian_mcp.errors import AppError, NoteExists, NoteNotFound

from .templates import Filled, Templates

if TYPE_CHECKING:
    from obsidian_mcp.core.vault.vault import Vault

FOLDER_OF_UNIQUE_NOTES = "the folder of unique notes"


@dataclass(frozen=True, slots=True)
class Opened:
    """A periodic note after it was opened, made or added to."""

    located: LocatedNote
    content: FileContent
    created: bool
    changed: bool
    cursor: tuple[int, int] | None = None
    warnings: tuple[str, ...] = ()


class PeriodicNotes:
    """The periodic notes of one vault."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._names = vault.periodic

    def list_notes(self, period: Period) -> list[tuple[FileEntry, date]]:
        """Return a period's notes with the days they name, the latest first. Raises: NoteNotFound
        for the folder."""
        settings = self._names.settings
        rule = settings.rules[period]
        self._check_folder(rule)
        paths = self._vault.catalog.entries_by_path()
        found = notes.period_notes(rule, paths, settings.locale, self._vault.calendar.today)
        dated = ((paths[path], day) for path, day in found)
        return sorted(dated, key=lambda note: (note[1], note[0].path), reverse=True)

    def open(
        self,
        tool: str,
        period: Period,
        text: str,
        change: Callable[[str], str] | None = None,
        *,
        create: bool = True,
    ) -> Opened:
        """Open the note of a period, made from its template where missing, and change its text, as
        one step. Raises: InvalidArguments, NoteNotFound for a template, folder or with `create` off
        the note, TemplateFailed, whatever `change` raises."""
        vault = self._vault
        for attempt in vault.attempts():
            with attempt.lock:
                located = self._names.locate(period, text)
                if located.entry is not None:
                    with suppress(NoteNotFound):  # gone since: it counts as not there (PERIODIC-13)
                        return self._open_existing(tool, located, located.entry, change)
                if not create:
                    raise self._missing_error(located)
                filled, creation = self.plan(located, change)
                if attempt.commit(tool, [creation]):
                    break
        entry = vault.look_for(creation.disk)
        if entry is None:
            raise self._names.describe_missing(located)
        content = vault.read_content(entry)
        cursor, warnings = filled.cursor, filled.warnings
        return Opened(
            located, content, created=True, changed=True, cursor=cursor, warnings=warnings
        )

    def _open_existing(
        self,
        tool: str,
        located: LocatedNote,
        entry: FileEntry,
        change: Callable[[str], str] | None,
    ) -> Opened:
        """Return a note that is there, with its text changed. Raises: NoteNotFound where it is gone
        since."""
        if change is None:
            return Opened(located, self._vault.read_shown(entry), created=False, changed=False)
        edited = self._vault.edit(tool, entry, change)
        is_changed = edited.before.etag != edited.after.etag
        return Opened(located, edited.after, created=False, changed=is_changed)

    def _missing_error(self, located: LocatedNote) -> NoteNotFound:
        """Return the error for a note that is not there, with the headings that its template would
        give it."""
        error = self._names.describe_missing(located)
        with suppress(AppError):
            headings = [heading.text for heading in parser.parse(self._fill(located).text).outline]
            if headings:
                error.message += (
                    f" Its template has the headings {name_first(headings, sections.SHOWN)}."
                )
        return error

    def unique_note(self, name: str, template: str = "") -> tuple[str, str]:
        """Return the path of a new note named by the minute, and its template (PERIODIC-19).
        Raises: NoteExists."""
        settings = self._names.settings
        self._vault.folders.configured_folder(settings.unique.folder, FOLDER_OF_UNIQUE_NOTES)
        now = self._vault.calendar.now()

        def is_taken(path: str) -> bool:
            return self._vault.entry_at(parse(path)) is not None

        path = unique_notes.unique_path(
            settings.unique, now, is_taken, name.strip(), settings.locale
        )
        if path is not None and settings.unique.folder.strip("/ "):
            self._vault.folders.check_new(parse(path), FOLDER_OF_UNIQUE_NOTES)
        if path is None:
            raise NoteExists(
                f"The names of the next {unique_notes.TRIES} minutes are taken. Give a name of "
                "your own."
            )
        if not template and (named := settings.unique.template):
            template = str(
                Templates(self._vault)
                .configured_template(named, "the template of unique notes")
                .path
            )
        return path, template

    def plan(
        self, located: LocatedNote, change: Callable[[str], str] | None
    ) -> tuple[Filled, Create]:
        """Return what fills a missing note, and its creation with `change` made to that text.
        Raises: as `open`."""
        filled = self._fill(located)
        body = filled.text if change is None else change(filled.text)
        disk = self._vault.catalog.spell_path(located.path)[1]
        return filled, Create(disk, body.encode("utf-8", "surrogateescape"))

    def _fill(self, located: LocatedNote) -> Filled:
        """Return what a missing note would be made with. Raises: NoteNotFound, TemplateFailed,
        InvalidName."""
        rule = located.rule
        adjective = adjective_of(rule.period)
        if not can_be_made(rule):
            raise NoteNotFound(not_set_up(rule), period=rule.period)
        self._vault.catalog.check_creatable(located.path)
        failure = f"Failed to create {adjective} note."
        if rule.source not in ("periodic-notes", "calendar"):  # which make their folders
            self._check_folder(rule, f"{failure} ")
        if not rule.template:
            return Filled("")
        templates = Templates(self._vault)
        template = resolve(self._vault.catalog, "", rule.template)
        if template is None or not is_note(template):
            if self._vault.policy.restricts_reading:
                raise self._vault.policy.refused_setting(f"the template of {adjective} notes")
            raise NoteNotFound(
                f'{failure} Template file "{rule.template}" not found.', template=rule.template
            )
        variables = templates.variables(located.path)
        text = Text.decode(self._vault.read_content(self._vault.catalog.entry(template)).data).body
        filled = fill_periodic(text, variables, rule, located.first)
        return templates.run_templater(basename(template), filled, located.path)

    def _check_folder(self, rule: PeriodRule, failure: str = "") -> None:
        """Raises: NoteNotFound for a folder of the settings that is missing, after the words of
        `failure`."""
        folder = rule.folder.strip("/ ")
        if not folder:
            return
        self._vault.folders.configured_folder(
            folder, f"the folder of {adjective_of(rule.period)} notes"
        )
        with self._vault.lock:
            _, disk = self._vault.catalog.existing_folder(parse(folder))
            is_there = self._vault.catalog.folders.find(folder) is not None
        if not is_there and not self._vault.files.exists(disk):
            raise NoteNotFound(f'{failure}Folder "{folder}" not found.', folder=folder)
