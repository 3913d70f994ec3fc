"""Which note a name such as `daily:today` means: the rule of the settings, a day, and a path (PERIODIC-9, 11)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

from obsidian_mcp.core.calendar.clock import Calendar
from obsidian_mcp.core.calendar.periods import ADJECTIVES, Period
from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import Files
from obsidian_mcp.core.periodic.notes import find_elsewhere, first_day, note_path, read_date
from obsidian_mcp.core.periodic.settings import PeriodicSettings, PeriodRule, read_settings
from obsidian_mcp.core.text.vault_path import VaultPath, basename, parse
from obsidian_mcp.errors import NoteNotFound

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


class PeriodicNames:
    """Finds the periodic notes of one vault by the names that people give them."""

    def __init__(
        self,
        files: Files,
        policy: Policy,
        catalog: Catalog,
        calendar: Calendar,
        look_up: Callable[[VaultPath], FileEntry | None],
    ) -> None:
        """`look_up` returns the file at a path, also one that was not noticed yet."""
        self._files = files
        self._policy = policy
        self._catalog = catalog
        self._calendar = calendar
        self._look_up = look_up

    @property
    def settings(self) -> PeriodicSettings:
        """The settings as they stand now."""

        def read(name: str) -> str | None:
            data = self._files.config(name)
            return None if data is None else data.decode("utf-8", "replace")

        return read_settings(read, self._calendar.language, self._calendar.week_start)

    def locate(self, period: Period, text: str = "today") -> Located:
        """Return where the note of a period is: `yesterday`, `2026-W47`, `last` (PERIODIC-9). Raises: InvalidArguments
        for no such period, InvalidName for a path that cannot be, PermissionDenied for a hidden one (POL-18)."""
        settings = self.settings
        said = _BARE.get(text.strip().lower(), text)
        if said in _STEPS:
            said = _STEPS[said] if period == "day" else f"{said} {period}"
        day = read_date(said, period, settings.rules, settings.locale, self._calendar.today)
        return self._at(settings, period, day)

    def named(self, raw: str) -> Located | None:
        """Return the note that a name such as `daily:today` means; None for any other name (PERIODIC-11)."""
        found = _PREFIXED.fullmatch(raw)
        return self.locate(ADJECTIVES[found[1].lower()], found[2]) if found else None

    def missing(self, located: Located) -> NoteNotFound:
        """The error for a periodic note that is not there."""
        rule, adjective = located.rule, adjective_of(located.rule.period)
        would_be = f"There is no {adjective} note of {_shown(located)} yet. It would be {str(located.path)!r}"
        hint = (
            "; obsidian_daily_note makes it, with content or create." if can_be_made(rule) else f". {not_set_up(rule)}"
        )
        return NoteNotFound(would_be + hint, path=str(located.path))

    def _at(self, settings: PeriodicSettings, period: Period, day: date) -> Located:
        rule = settings.rules[period]
        first = first_day(rule, day, settings.locale)
        named_by = datetime.combine(day, self._calendar.now().time()) if period == "day" else first
        path = parse(note_path(rule, named_by, settings.locale))
        entry = self._look_up(path)
        if entry is None and rule.source != "core":
            elsewhere = find_elsewhere(rule, day, settings.locale, self._catalog.by_path())
            entry = None if elsewhere is None else self._look_up(VaultPath(elsewhere))
        if entry is None and not self._policy.visible(path):
            raise self._policy.refused_setting(f"the place of {adjective_of(period)} notes")
        return Located(rule, entry.path if entry else path, day, first, entry, settings.warnings)


def can_be_made(rule: PeriodRule) -> bool:
    return rule.configured or rule.period == "day"


def not_set_up(rule: PeriodRule) -> str:
    return (
        f"{adjective_of(rule.period).capitalize()} notes are not set up. The user can set them up in Obsidian with the "
        f"plugin Periodic Notes{' or Calendar' if rule.period == 'week' else ''}; daily notes need no plugin."
    )


def adjective_of(period: Period) -> str:
    return next(word for word, named in ADJECTIVES.items() if named == period)


def _shown(located: Located) -> str:
    return located.day.isoformat() if located.rule.period == "day" else basename(located.path)
