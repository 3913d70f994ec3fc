"""The vault's settings for notes made by rule (PERIODIC-1, PERIODIC-5).

A missing file, a missing key and a value that the app could not have written all mean the app's
default. Nothing is ever written back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from obsidian_mcp.core.calendar.locale import WEEKDAYS, Locale, locale
from obsidian_mcp.core.calendar.periods import ADJECTIVES, PERIODS, Period
from obsidian_mcp.core.files.settings import Members

ReadSetting = Callable[[str], str | None]
"""Returns the text of a file below the vault's configuration folder; None where it is absent."""

RuleSource = Literal["core", "periodic-notes", "calendar", "default"]

DEFAULT_FORMATS: Mapping[Period, str] = {
    "day": "YYYY-MM-DD",
    "week": "gggg-[W]ww",
    "month": "YYYY-MM",
    "quarter": "YYYY-[Q]Q",
    "year": "YYYY",
}
_PERIODIC_NOTES: RuleSource = "periodic-notes"
_CALENDAR = "calendar"
TEMPLATER = "templater-obsidian"
_QUICK_ADD = "quickadd"
_MOST_NESTED = 20
"""Choices of QuickAdd within choices."""


class PeriodRule(NamedTuple):
    """Where the notes of one period are, and from which template they are made."""

    period: Period
    folder: str
    format: str
    template: str
    source: RuleSource
    configured: bool
    """Whether something in the app makes notes of this period."""


PeriodRules = Mapping[Period, PeriodRule]


class TemplateSettings(NamedTuple):
    """`templates.json`: where templates are, and how `{{date}}` and `{{time}}` are written."""

    folder: str = ""
    date_format: str = "YYYY-MM-DD"
    time_format: str = "HH:mm"


class UniqueNotes(NamedTuple):
    """`zk-prefixer.json`: notes named by the minute they are made in."""

    folder: str = ""
    format: str = "YYYYMMDDHHmm"
    template: str = ""


@dataclass(frozen=True, slots=True)
class TemplaterSettings:
    """The settings of Templater: its folder of templates, and templates for new notes by folder."""

    folder: str = ""
    folder_templates: Mapping[str, str] = field(default_factory=dict)

    def template_for(self, folder: str) -> str:
        """Return the template of the deepest rule whose folder contains a folder; "" without one.

        The rule for `/` is for all other folders.
        """
        while folder:
            if folder in self.folder_templates:
                return self.folder_templates[folder]
            folder = folder.rpartition("/")[0]
        return self.folder_templates.get("/", "")


class QuickAddSettings(NamedTuple):
    """The templates that QuickAdd makes notes from."""

    folders: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()


class PeriodicSettings(NamedTuple):
    """All settings of a vault for notes made by rule."""

    rules: PeriodRules
    locale: Locale
    templates: TemplateSettings
    unique: UniqueNotes
    composer_template: str
    templater: TemplaterSettings | None
    """None where Templater is not enabled in the vault."""
    quick_add: QuickAddSettings = QuickAddSettings()
    warnings: tuple[str, ...] = ()


class _SettingsFiles:
    """The settings files of a vault, with a warning for each that cannot be read."""

    def __init__(self, read_setting: ReadSetting) -> None:
        self._read_setting = read_setting
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(self._warnings)

    def load(self, name: str) -> object:
        """Return the value of a file; None for an absent, empty or broken one."""
        text = self._read_setting(name)
        if not text or not text.strip("\ufeff \t\r\n"):
            return None
        try:
            return json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            warning = f"{name}: it is not readable as JSON ({error}); the default is used."
            self._warnings[warning] = None
            return None

    def load_members(self, name: str) -> Members:
        return Members(self.load(name))

    def load_plugins(self, *plugins: str) -> list[Members | None]:
        """Return the settings of community plugins; None for one that is not enabled."""
        value = self.load("community-plugins.json")
        enabled = value if isinstance(value, list) else []
        return [
            self.load_members(f"plugins/{plugin}/data.json") if plugin in enabled else None
            for plugin in plugins
        ]


def read_settings(
    read_setting: ReadSetting, language: str = "", week_start: str = ""
) -> PeriodicSettings:
    """Return the settings in force.

    `language` and `week_start` (a weekday) go before those of the vault.
    """
    files = _SettingsFiles(read_setting)
    periodic, calendar, templater, quick_add = files.load_plugins(
        _PERIODIC_NOTES, _CALENDAR, TEMPLATER, _QUICK_ADD
    )
    rules = _read_rules(files, periodic, calendar)
    of_calendar, of_app = calendar or Members(None), files.load_members("app.json")
    by_precedence = (of_app, of_calendar)
    if rules["week"].source == "calendar":
        by_precedence = (of_calendar, of_app)
    templates = files.load_members("templates.json")
    unique = files.load_members("zk-prefixer.json")
    composer = files.load_members("note-composer.json")
    return PeriodicSettings(
        rules,
        _locale(language, week_start, by_precedence),
        TemplateSettings(
            templates.text("folder"),
            templates.text("dateFormat", TemplateSettings().date_format),
            templates.text("timeFormat", TemplateSettings().time_format),
        ),
        UniqueNotes(
            unique.text("folder"),
            unique.text("format", UniqueNotes().format),
            unique.text("template"),
        ),
        composer.text("template"),
        None if templater is None else _templater(templater),
        QuickAddSettings() if quick_add is None else _quick_add(quick_add),
        files.warnings,
    )


def _read_rules(
    files: _SettingsFiles, periodic: Members | None, calendar: Members | None
) -> dict[Period, PeriodRule]:
    """Return the rule of each period: of Periodic Notes, else of the core plugin or Calendar."""
    rules = {} if periodic is None else _periodic_notes(periodic)
    for period in PERIODS:
        if period in rules:
            continue
        if period == "day":
            daily = files.load_members("daily-notes.json")
            is_on = _has_daily_notes(files.load("core-plugins.json"))
            rules[period] = _rule(period, daily, "core", configured=is_on)
        elif period == "week" and calendar is not None:
            keys = ("weeklyNoteFolder", "weeklyNoteFormat", "weeklyNoteTemplate")
            rules[period] = _rule(period, calendar, "calendar", keys)
        else:
            rules[period] = _rule(period, Members(None), "default", configured=False)
    return rules


def _periodic_notes(values: Members) -> dict[Period, PeriodRule]:
    """Return the rules of the periods of which Periodic Notes makes notes.

    The settings may be those of either of its versions.
    """
    sets = [entry for entry in values.entries("calendarSets") if isinstance(entry, dict)]
    if sets:
        active = values.value("activeCalendarSet", "")
        chosen = next((entry for entry in sets if entry.get("id") == active), sets[0])
        by_period = {period: chosen.get(period) for period in PERIODS}
    else:
        by_period = {
            period: values.value(adjective, {}) for adjective, period in ADJECTIVES.items()
        }
    keys = ("folder", "format", "templatePath" if sets else "template")
    enabled = {
        period: Members(rule)
        for period, rule in by_period.items()
        if Members(rule).value("enabled", False)
    }
    return {period: _rule(period, rule, _PERIODIC_NOTES, keys) for period, rule in enabled.items()}


def _templater(values: Members) -> TemplaterSettings:
    rules = [
        (rule.text("folder"), rule.text("template"))
        for rule in map(Members, values.entries("folder_templates"))
    ]
    named = {folder.strip("/") or "/": template for folder, template in rules if folder}
    return TemplaterSettings(
        values.text("templates_folder"),
        {folder: template for folder, template in named.items() if template},
    )


def _quick_add(values: Members) -> QuickAddSettings:
    folders = (values.text("templateFolderPath"), *values.texts("templateFolderPaths"))
    templates: list[str] = []
    choices = [(choice, 0) for choice in map(Members, values.entries("choices"))]
    for choice, depth in choices:
        new_file = Members(choice.value("createFileIfItDoesntExist", {}))
        templates += (choice.text("templatePath"), new_file.text("template"))
        if depth < _MOST_NESTED:
            inner = map(Members, choice.entries("choices"))
            choices += [(inner_choice, depth + 1) for inner_choice in inner]
    return QuickAddSettings(tuple(filter(None, folders)), tuple(filter(None, templates)))


def _rule(
    period: Period,
    values: Members,
    source: RuleSource,
    keys: tuple[str, str, str] = ("folder", "format", "template"),
    *,
    configured: bool = True,
) -> PeriodRule:
    folder, form, template = (values.text(key) for key in keys)
    return PeriodRule(period, folder, form or DEFAULT_FORMATS[period], template, source, configured)


def _has_daily_notes(document: object) -> bool:
    """Return whether the core plugin for daily notes is on, as it is unless the settings say
    otherwise."""
    if isinstance(document, list):
        return "daily-notes" in document
    return not isinstance(document, dict) or document.get("daily-notes", True) is True


def _locale(language: str, week_start: str, settings: tuple[Members, ...]) -> Locale:
    tags = [language, *(members.text("localeOverride") for members in settings)]
    starts = [week_start, *(members.text("weekStart") for members in settings)]
    tag = next((tag for tag in tags if tag and tag != "system-default"), "en")
    first = next((start.lower() for start in starts if start.lower() in WEEKDAYS), None)
    return locale(tag).with_first_day(None if first is None else WEEKDAYS.index(first))
