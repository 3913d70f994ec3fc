"""Periodic notes by the names that people give them, such as `daily:today` (PERIODIC-9, 11)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple

from obsidian_mcp.core.calendar.clock import Calendar
from obsidian_mcp.core.calendar.periods import ADJECTIVES, Period
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import Files
from obsidian_mcp.core.text.vault_path import VaultPath, basename, parse
from obsidian_mcp.errors import NoteNotFound

from .notes import find_elsewhere, first_day, note_path
from .settings import PeriodicSettings, PeriodRule, read_settings
from .spoken import read_date

_PREFIXED = re.compile(rf"\s*({'|'.join(ADJECTIVES)}):(.*)", re.IGNORECASE | re.DOTALL)
_BARE = {"": "this", "current": "this"}
_STEPS = {"last": "yesterday", "this": "today", "next": "tomorrow"}
"""The day that a bare word means; of a longer period it means the last, this or next one."""


class LocatedNote(NamedTuple):
    """The note of one period: where it is or would be.

    `entry` is None where there is no note yet.
    """

    rule: PeriodRule
    path: VaultPath
    day: date
    """The day that was named."""
    first: date
    """First day of the period."""
    entry: FileEntry | None
    warnings: tuple[str, ...]
    """Settings that cannot be read, so that the user's place may be another one."""


@dataclass(frozen=True, slots=True)
class PeriodicNames:
    """Finds the periodic notes of one vault by the names that people give them."""

    _files: Files
    _policy: Policy
    _list_files: Callable[[], Catalog]
    _calendar: Calendar
    _look_up: Callable[[VaultPath], FileEntry | None]
    """Returns the file at a path, also a file of which the vault does not know yet."""

    @property
    def settings(self) -> PeriodicSettings:
        """Return the settings as they are now."""

        def read_setting(name: str) -> str | None:
            data = self._files.config(name)
            return None if data is None else data.decode("utf-8", "replace")

        return read_settings(read_setting, self._calendar.language, self._calendar.week_start)

    def locate(self, period: Period, text: str = "today") -> LocatedNote:
        """Return where the note of a period is that a text names: `yesterday`, `2026-W47`, `last`.

        (PERIODIC-9)
        Raises: InvalidArguments for no such period, InvalidName for a path that cannot be,
        PermissionDenied for a hidden path (POL-18).
        """
        settings = self.settings
        spoken = _BARE.get(text.strip().lower(), text)
        if spoken in _STEPS:
            spoken = _STEPS[spoken] if period == "day" else f"{spoken} {period}"
        day = read_date(spoken, period, settings.rules, settings.locale, self._calendar.today)
        rule = settings.rules[period]
        first = first_day(rule, day, settings.locale)
        named_by = datetime.combine(day, self._calendar.now().time()) if period == "day" else first
        path = parse(note_path(rule, named_by, settings.locale))
        entry = self._look_up(path)
        if entry is None and rule.source != "core":
            elsewhere = find_elsewhere(
                rule, day, settings.locale, self._list_files().entries_by_path()
            )
            entry = None if elsewhere is None else self._look_up(VaultPath(elsewhere))
        if entry is None and not self._policy.is_visible(path):
            raise self._policy.refused_setting(f"the place of {adjective_of(period)} notes")
        return LocatedNote(
            rule, entry.path if entry else path, day, first, entry, settings.warnings
        )

    def find_by_name(self, raw: str) -> LocatedNote | None:
        """Return the note that a name such as `daily:today` means; None for any other name.

        See PERIODIC-11.
        """
        match = _PREFIXED.fullmatch(raw)
        return self.locate(ADJECTIVES[match[1].lower()], match[2]) if match else None

    def describe_missing(self, located: LocatedNote) -> NoteNotFound:
        """Return the error for a periodic note that does not exist."""
        rule, adjective = located.rule, adjective_of(located.rule.period)
        name = located.day.isoformat() if rule.period == "day" else basename(located.path)
        would_be = f"There is no {adjective} note of {name} yet. It would be {str(located.path)!r}"
        hint = (
            "; obsidian_daily_note makes it, with content or create."
            if can_be_made(rule)
            else f". {not_set_up(rule)}"
        )
        return NoteNotFound(would_be + hint, path=str(located.path))


def can_be_made(rule: PeriodRule) -> bool:
    """Return whether notes of this period can be made: of days always, of others if set up."""
    return rule.configured or rule.period == "day"


def not_set_up(rule: PeriodRule) -> str:
    return (
        f"{adjective_of(rule.period).capitalize()} notes are not set up. The user can set them up "
        "in Obsidian with the plugin Periodic "
        f"Notes{' or Calendar' if rule.period == 'week' else ''}; daily notes need no plugin."
    )


def adjective_of(period: Period) -> str:
    return next(word for word, named in ADJECTIVES.items() if named == period)
