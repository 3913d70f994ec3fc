"""The notes of days, weeks and longer periods in one vault: found, named, made and added to (PERIODIC-11, 13 to 16)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from obsidian_mcp.core.calendar.periods import ADJECTIVES, Period
from obsidian_mcp.core.files import names
from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.periodic.notes import TRIES, find_elsewhere, first_day, note_path, period_notes, unique_path
from obsidian_mcp.core.periodic.settings import PeriodicSettings, PeriodRule, read_settings
from obsidian_mcp.core.periodic.spoken import read_date
from obsidian_mcp.core.periodic.template import fill_periodic
from obsidian_mcp.core.text.text import Text
from obsidian_mcp.core.text.vault_path import VaultPath, basename, check_creatable, is_note, name_key, parse
from obsidian_mcp.errors import NoteExists, NoteNotFound

from .changes import Create
from .templates import Filled, Templates

if TYPE_CHECKING:
    from .content import Content
    from .vault import Vault

_PREFIXED = re.compile(rf"\s*({'|'.join(ADJECTIVES)}):(.*)", re.IGNORECASE | re.DOTALL)
_BARE = {"": "this", "current": "this"}
_STEPS = {"last": "yesterday", "this": "today", "next": "tomorrow"}
"""What a bare word means of days; of longer periods it means the last, this or next one."""


@dataclass(frozen=True, slots=True)
class Located:
    """The note of one period: where it is or would be. `entry` is None where there is none yet."""

    rule: PeriodRule
    path: VaultPath
    day: date
    """The day that was named."""
    first: date
    """First day of the period."""
    entry: FileEntry | None
    warnings: tuple[str, ...]
    """Settings that cannot be read, so that this may be another place than the user's."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A periodic note after it was opened, made or added to."""

    located: Located
    content: Content
    created: bool
    changed: bool
    cursor: tuple[int, int] | None = None
    warnings: tuple[str, ...] = ()


class PeriodicNotes:
    """The periodic notes of one vault."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self.calendar = vault.calendar

    @property
    def settings(self) -> PeriodicSettings:
        """The settings as they stand now."""

        def read(name: str) -> str | None:
            data = self._vault.files.config(name)
            return None if data is None else data.decode("utf-8", "replace")

        return read_settings(read, self.calendar.language, self.calendar.week_start)

    def locate(self, period: Period, text: str = "today") -> Located:
        """Return where the note of a period is that a person names: `yesterday`, `2026-W47`, `last` (PERIODIC-9).

        Raises: InvalidArguments for a text that names no such period, InvalidName for a path that cannot be.
        """
        settings = self.settings
        said = _BARE.get(text.strip().lower(), text)
        if said in _STEPS:
            said = _STEPS[said] if period == "day" else f"{said} {period}"
        day = read_date(said, period, settings.rules, settings.locale, self.calendar.today)
        return self._at(settings, period, day)

    def named(self, raw: str) -> Located | None:
        """Return the note that a name such as `daily:today` means; None for any other name (PERIODIC-11)."""
        found = _PREFIXED.fullmatch(raw)
        return self.locate(ADJECTIVES[found[1].lower()], found[2]) if found else None

    def missing(self, located: Located) -> NoteNotFound:
        """The error for a periodic note that is not there."""
        rule, adjective = located.rule, _adjective(located.rule.period)
        would_be = f"There is no {adjective} note of {_shown(located)} yet. It would be {str(located.path)!r}"
        hint = "; obsidian_daily_note makes it." if _can_be_made(rule) else f". {_not_set_up(rule)}"
        return NoteNotFound(would_be + hint, path=str(located.path))

    def listed(self, period: Period) -> list[tuple[FileEntry, date]]:
        """Return the notes of a period with the days they name, the latest first.

        Raises: NoteNotFound where the folder of the settings is missing.
        """
        settings = self.settings
        rule = settings.rules[period]
        self._check_folder(rule)
        paths = self._vault.catalog.by_path()
        found = period_notes(rule, paths, settings.locale, self.calendar.today)
        return sorted(
            ((paths[path], day) for path, day in found), key=lambda note: (note[1], note[0].path), reverse=True
        )

    def open(
        self,
        tool: str,
        period: Period,
        text: str,
        change: Callable[[str], str] | None = None,
        *,
        create: bool = True,
    ) -> Opened:
        """Open the note of a period, made from its template where it is missing, and change its text, as one step.

        Raises: InvalidArguments, NoteNotFound for a missing template or folder and with `create` off for a missing
        note, TemplateFailed, whatever `change` raises; nothing is written then.
        """
        vault = self._vault
        with vault.changing():
            located = self.locate(period, text)
            if located.entry is not None:
                return self._change(tool, located, located.entry, change)
            if not create:
                raise self.missing(located)
            filled = self.draft(located)
            body = filled.text if change is None else change(filled.text)
            disk = names.spelled(vault.catalog, located.path)[1]
            data = body.encode("utf-8", "surrogateescape")
            vault.commit(tool, [Create(disk, data)])
            entry = vault.look_for(disk)
            if entry is None:
                raise self.missing(located)
            return Opened(
                located, vault.read(entry), created=True, changed=True, cursor=filled.cursor, warnings=filled.warnings
            )

    def unique(self, name: str, template: str = "") -> tuple[str, str]:
        """Return the path of a new note that is named by the minute, and its template (PERIODIC-19).

        Raises: NoteExists where an hour is taken.
        """
        settings = self.settings
        now = self.calendar.now()

        def is_taken(path: str) -> bool:
            return self._vault.at(parse(path)) is not None

        path = unique_path(settings.unique, now, is_taken, name.strip(), settings.locale)
        if path is None:
            raise NoteExists(f"The names of the next {TRIES} minutes are taken. Give a name of your own.")
        return path, template or settings.unique.template

    def _change(self, tool: str, located: Located, entry: FileEntry, change: Callable[[str], str] | None) -> Opened:
        if change is None:
            return Opened(located, self._vault.shown(entry), created=False, changed=False)
        edited = self._vault.edit(tool, entry, change)
        changed = edited.before.etag != edited.after.etag
        return Opened(located, edited.after, created=False, changed=changed)

    def _at(self, settings: PeriodicSettings, period: Period, day: date) -> Located:
        rule = settings.rules[period]
        vault = self._vault
        when = datetime.combine(day, self.calendar.now().time())
        path = parse(note_path(rule, when, settings.locale))
        first = first_day(rule, day, settings.locale)
        entry = vault.at(path) or vault.look_for(names.spelled(vault.catalog, path)[1])
        if entry is None and rule.source != "core":
            elsewhere = find_elsewhere(rule, day, settings.locale, vault.catalog.by_path())
            entry = None if elsewhere is None else vault.at(VaultPath(elsewhere))
        return Located(rule, entry.path if entry else path, day, first, entry, settings.warnings)

    def draft(self, located: Located) -> Filled:
        """Return what a missing note would be made with.

        Raises: NoteNotFound for a missing template or folder, TemplateFailed, InvalidName.
        """
        rule = located.rule
        adjective = _adjective(rule.period)
        if not _can_be_made(rule):
            raise NoteNotFound(_not_set_up(rule), period=rule.period)
        check_creatable(located.path)
        failure = f"Failed to create {adjective} note."
        if rule.source not in ("periodic-notes", "calendar"):  # which make their folders
            self._check_folder(rule, f"{failure} ")
        if not rule.template:
            return Filled("")
        templates = Templates(self._vault)
        template = resolve(self._vault.catalog, "", rule.template)
        if template is None or not is_note(template):
            raise NoteNotFound(f'{failure} Template file "{rule.template}" not found.', template=rule.template)
        variables = templates.variables(located.path)
        text = Text.decode(self._vault.read(self._vault.catalog[template]).data).body
        filled = fill_periodic(text, variables, rule, located.day)
        return templates.run(basename(template), filled, located.path)

    def _check_folder(self, rule: PeriodRule, failure: str = "") -> None:
        """Raises: NoteNotFound for a folder of the settings that is missing, after the words of `failure`."""
        folder = rule.folder.strip("/ ")
        if not folder:
            return
        with self._vault.lock:
            _, disk = names.existing_folder(self._vault.catalog, parse(folder))
            known = name_key(parse(folder)) in self._vault.catalog.folders()
        if not known and not self._vault.files.exists(disk):
            raise NoteNotFound(f'{failure}Folder "{folder}" not found.', folder=folder)


def _can_be_made(rule: PeriodRule) -> bool:
    return rule.configured or rule.period == "day"


def _not_set_up(rule: PeriodRule) -> str:
    return (
        f"{_adjective(rule.period).capitalize()} notes are not set up. The user can set them up in Obsidian with the "
        f"plugin Periodic Notes{' or Calendar' if rule.period == 'week' else ''}; daily notes need no plugin."
    )


def _adjective(period: Period) -> str:
    return next(word for word, named in ADJECTIVES.items() if named == period)


def _shown(located: Located) -> str:
    return located.day.isoformat() if located.rule.period == "day" else basename(located.path)
