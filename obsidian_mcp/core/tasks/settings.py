"""The settings of the Tasks plugin (TASK-01, TASK-03)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from obsidian_mcp.core.files.settings import Members, enabled_plugins, read_json

from .statuses import DEFAULTS, TYPES, StatusRegistry, TaskStatus

PLUGIN_ID = "obsidian-tasks-plugin"
SETTINGS_FILE = f"plugins/{PLUGIN_ID}/data.json"
"""Relative to the folder of the app's settings, `.obsidian`."""

ReadNotation = Literal["emoji", "dataview", "both"]
"""How fields are written. `both` reads either, where the plugin is not in use."""

DEFAULT_PRESETS: Mapping[str, str] = {
    "this_file": "path includes {{query.file.path}}",
    "this_folder": "folder includes {{query.file.folder}}",
    "this_folder_only": "filter by function task.file.folder === query.file.folder",
    "this_root": "root includes {{query.file.root}}",
    "hide_date_fields": "hide due date\nhide scheduled date\nhide start date\n"
    "hide created date\nhide done date\nhide cancelled date",
    "hide_non_date_fields": "hide id\nhide depends on\nhide recurrence rule\n"
    "hide on completion\nhide priority",
    "hide_query_elements": "hide toolbar\nhide postpone button\nhide edit button\n"
    "hide backlinks\nhide task count",
    "hide_everything": "preset hide_date_fields\npreset hide_non_date_fields\n"
    "preset hide_query_elements",
}
"""The plugin's own presets, which a user can change or remove."""


@dataclass(frozen=True)
class TaskSettings:
    """What the user has set in the plugin; the defaults are the plugin's."""

    plugin_enabled: bool = True
    """False: the plugin is off or absent, and only the app's rules for checkboxes hold (TASK-03).
    """
    global_filter: str = ""
    """Text that the body of a task must contain; compared with case."""
    notation: ReadNotation = "emoji"
    set_created_date: bool = False
    set_done_date: bool = True
    set_cancelled_date: bool = True
    recurrence_on_next_line: bool = False
    remove_scheduled_date_on_recurrence: bool = False
    use_filename_as_scheduled_date: bool = False
    filename_date_format: str = ""
    """In moment's format language; empty: any ISO date in the name counts."""
    filename_date_folders: tuple[str, ...] = ()
    global_query: str = ""
    presets: Mapping[str, str] = field(default_factory=lambda: DEFAULT_PRESETS)
    statuses: StatusRegistry = field(default_factory=StatusRegistry)

    def is_task(self, body: str) -> bool:
        """Return whether a checkbox with this text is a task (TASK-02)."""
        return self.global_filter in body


WITHOUT_PLUGIN = TaskSettings(plugin_enabled=False, notation="both")


@lru_cache(maxsize=16)
def read_task_settings(enabled: bytes | None, data: bytes | None) -> TaskSettings:
    """Return the settings in the contents of ENABLED_PLUGINS_FILE and SETTINGS_FILE.

    None stands for a missing file. Contents that are no JSON count as missing: the plugin then
    starts with its defaults, too.
    """
    if PLUGIN_ID not in enabled_plugins(enabled):
        return WITHOUT_PLUGIN
    return parse_settings(read_json(data))


def parse_settings(parsed: object) -> TaskSettings:
    """Return the settings in the parsed file of the plugin.

    Members of another type than expected are ignored.
    """
    members: Mapping[str, Any] = parsed if isinstance(parsed, dict) else {}
    value = Members(parsed).value
    return TaskSettings(
        global_filter=value("globalFilter", ""),
        notation="dataview" if members.get("taskFormat") == "dataview" else "emoji",
        set_created_date=value("setCreatedDate", False),
        set_done_date=value("setDoneDate", True),
        set_cancelled_date=value("setCancelledDate", True),
        recurrence_on_next_line=value("recurrenceOnNextLine", False),
        remove_scheduled_date_on_recurrence=value("removeScheduledDateOnRecurrence", False),
        use_filename_as_scheduled_date=value("useFilenameAsScheduledDate", False),
        filename_date_format=value("filenameAsScheduledDateFormat", ""),
        filename_date_folders=Members(parsed).texts("filenameAsDateFolders"),
        global_query=value("globalQuery", ""),
        presets=_presets(members),
        statuses=_statuses(value("statusSettings", {})),
    )


def _presets(members: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the presets by name; versions of the plugin before presets called them includes."""
    for member in ("presets", "includes"):
        texts = members.get(member)
        if isinstance(texts, dict):
            return {name: text for name, text in texts.items() if isinstance(text, str)}
    return DEFAULT_PRESETS


def _statuses(value: Mapping[str, Any]) -> StatusRegistry:
    rows: list[Any] = []
    for name, defaults in (("coreStatuses", DEFAULTS[:2]), ("customStatuses", DEFAULTS[2:])):
        entries = value.get(name)
        rows += [_status(entry) for entry in entries] if isinstance(entries, list) else defaults
    return StatusRegistry(tuple(row for row in rows if row is not None))


def _status(entry: Any) -> TaskStatus | None:
    """Return the status of an entry of the settings; None for one without a symbol."""
    if not isinstance(entry, dict):
        return None
    symbol, status_type = entry.get("symbol"), entry.get("type")
    if not isinstance(symbol, str) or not symbol:
        return None
    return TaskStatus(
        symbol,
        name=str(entry.get("name") or ""),
        next_symbol=str(entry.get("nextStatusSymbol") or " "),
        type=status_type if status_type in TYPES else "TODO",
    )
