"""What the settings of a vault say of notes made by rule (PERIODIC-1, PERIODIC-5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from obsidian_mcp.core.calendar.locale import WEEKDAYS, Locale, locale
from obsidian_mcp.core.calendar.periods import ADJECTIVES, PERIODS, Period

ReadSetting = Callable[[str], str | None]
"""Gives the text of a file below the vault's configuration folder; None where it is absent."""

Source = Literal["core", "periodic-notes", "calendar", "default"]

DEFAULT_FORMATS: Mapping[Period, str] = {
    "day": "YYYY-MM-DD",
    "week": "gggg-[W]ww",
    "month": "YYYY-MM",
    "quarter": "YYYY-[Q]Q",
    "year": "YYYY",
}
_PERIODIC_NOTES: Source = "periodic-notes"
_CALENDAR = "calendar"
TEMPLATER = "templater-obsidian"


@dataclass(frozen=True, slots=True)
class PeriodRule:
    """Where the notes of one period are and what they are made from."""

    period: Period
    folder: str
    format: str
    template: str
    source: Source
    configured: bool
    """Whether something in the app makes notes of this period."""


PeriodRules = Mapping[Period, PeriodRule]


@dataclass(frozen=True, slots=True)
class TemplateSettings:
    """`templates.json`: where templates are, and how `{{date}}` and `{{time}}` are written."""

    folder: str = ""
    date_format: str = "YYYY-MM-DD"
    time_format: str = "HH:mm"


@dataclass(frozen=True, slots=True)
class UniqueNotes:
    """`zk-prefixer.json`: notes named by the minute they are made in."""

    folder: str = ""
    format: str = "YYYYMMDDHHmm"
    template: str = ""


@dataclass(frozen=True, slots=True)
class TemplaterSettings:
    """Templater's own: its folder of templates, and the template for new notes of a folder."""

    folder: str = ""
    folder_templates: Mapping[str, str] = field(default_factory=dict)

    def template_for(self, folder: str) -> str:
        """Return the template of the deepest rule that a folder is in, `/` is the rest; "" without one."""
        while folder:
            if folder in self.folder_templates:
                return self.folder_templates[folder]
            folder = folder.rpartition("/")[0]
        return self.folder_templates.get("/", "")


@dataclass(frozen=True, slots=True)
class PeriodicSettings:
    """Everything the vault says of notes made by rule."""

    rules: PeriodRules
    locale: Locale
    templates: TemplateSettings
    unique: UniqueNotes
    composer_template: str
    templater: TemplaterSettings | None
    """None where Templater is not enabled in the vault."""
    warnings: tuple[str, ...] = ()


def read_settings(read: ReadSetting, language: str = "", week_start: str = "") -> PeriodicSettings:
    """Return the settings in force. `language` and `week_start` (a weekday) go before those of the vault."""
    warnings: list[str] = []

    def load(name: str) -> object:
        text = read(name)
        try:
            return json.loads(text.removeprefix("\ufeff")) if text and text.strip("\ufeff \t\r\n") else None
        except (ValueError, RecursionError) as error:
            warnings.append(f"{name}: it is not readable as JSON ({error}); the default is used.")
            return None

    plugins = _list(load("community-plugins.json"))
    periodic = (
        _periodic_notes(_object(load(f"plugins/{_PERIODIC_NOTES}/data.json"))) if _PERIODIC_NOTES in plugins else {}
    )
    calendar = _object(load(f"plugins/{_CALENDAR}/data.json")) if _CALENDAR in plugins else None
    rules: dict[Period, PeriodRule] = {}
    for period in PERIODS:
        if period in periodic:
            rules[period] = periodic[period]
        elif period == "day":
            daily = _object(load("daily-notes.json"))
            rules[period] = _rule(period, daily, "core", configured=_core_plugin(load("core-plugins.json")))
        elif period == "week" and calendar is not None:
            keys = {"folder": "weeklyNoteFolder", "format": "weeklyNoteFormat", "template": "weeklyNoteTemplate"}
            rules[period] = _rule(period, {name: calendar.get(key) for name, key in keys.items()}, "calendar")
        else:
            rules[period] = _rule(period, {}, "default", configured=False)
    of_calendar = calendar or {}
    of_app = _object(load("app.json"))
    in_order = (of_calendar, of_app) if rules["week"].source == "calendar" else (of_app, of_calendar)
    templates = _object(load("templates.json"))
    unique = _object(load("zk-prefixer.json"))
    return PeriodicSettings(
        rules,
        _locale(language, week_start, in_order),
        TemplateSettings(
            _text(templates, "folder"),
            _text(templates, "dateFormat") or TemplateSettings().date_format,
            _text(templates, "timeFormat") or TemplateSettings().time_format,
        ),
        UniqueNotes(
            _text(unique, "folder"), _text(unique, "format") or UniqueNotes().format, _text(unique, "template")
        ),
        _text(_object(load("note-composer.json")), "template"),
        _templater(_object(load(f"plugins/{TEMPLATER}/data.json"))) if TEMPLATER in plugins else None,
        tuple(dict.fromkeys(warnings)),
    )


def _periodic_notes(values: Mapping[str, Any]) -> dict[Period, PeriodRule]:
    """The periods that Periodic Notes makes notes of, by the settings of either of its versions."""
    sets = [entry for entry in _list(values.get("calendarSets")) if isinstance(entry, dict)]
    if sets:
        active = values.get("activeCalendarSet")
        chosen = next((entry for entry in sets if entry.get("id") == active), sets[0])
        found = {period: chosen.get(period) for period in PERIODS}
    else:
        found = {period: values.get(adjective) for adjective, period in ADJECTIVES.items()}
    return {
        period: _rule(period, rule, _PERIODIC_NOTES, template="templatePath" if sets else "template")
        for period, rule in found.items()
        if isinstance(rule, dict) and rule.get("enabled") is True
    }


def _templater(values: Mapping[str, Any]) -> TemplaterSettings:
    rules = [rule for rule in _list(values.get("folder_templates")) if isinstance(rule, dict)]
    named = {
        _text(rule, "folder").strip("/") or "/": _text(rule, "template") for rule in rules if _text(rule, "folder")
    }
    return TemplaterSettings(
        _text(values, "templates_folder"), {folder: template for folder, template in named.items() if template}
    )


def _rule(
    period: Period,
    values: Mapping[str, Any],
    source: Source,
    *,
    template: str = "template",
    configured: bool = True,
) -> PeriodRule:
    written = _text(values, "format") or DEFAULT_FORMATS[period]
    return PeriodRule(period, _text(values, "folder"), written, _text(values, template), source, configured)


def _core_plugin(document: object) -> bool:
    """Whether the core plugin for daily notes is on; it is where nothing says otherwise."""
    if isinstance(document, list):
        return "daily-notes" in document
    return not isinstance(document, dict) or document.get("daily-notes", True) is True


def _locale(language: str, week_start: str, settings: tuple[Mapping[str, Any], ...]) -> Locale:
    tags = [language, *(_text(members, "localeOverride") for members in settings)]
    starts = [week_start, *(_text(members, "weekStart") for members in settings)]
    tag = next((tag for tag in tags if tag and tag != "system-default"), "en")
    first = next((start.lower() for start in starts if start.lower() in WEEKDAYS), None)
    return locale(tag).starting(None if first is None else WEEKDAYS.index(first))


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value.strip() if isinstance(value, str) else ""


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
