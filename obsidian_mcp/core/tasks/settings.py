"""The settings of the Tasks plugin, and its statuses: what the character between the brackets of a task means (TASK-01,
TASK-03, TASK-10 to TASK-14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

from obsidian_mcp.core.files.settings import Members, enabled_plugins, read_json

TYPES = ("IN_PROGRESS", "TODO", "ON_HOLD", "DONE", "CANCELLED", "NON_TASK")
"""In the order in which they sort."""
LINE_ENDS = frozenset("\n\r\u2028\u2029")
"""Characters that end a line for the plugin, whose expressions are JavaScript's: none of them can stand in a task."""
_DONE_TYPES = frozenset(("DONE", "CANCELLED", "NON_TASK"))


class Status(NamedTuple):
    symbol: str
    """One code point."""
    name: str
    next_symbol: str
    """The symbol that a toggle sets."""
    type: str
    """One of TYPES."""

    @property
    def is_done(self) -> bool:
        """Whether the query `done` finds it (TASK-12)."""
        return self.type in _DONE_TYPES


TODO = Status(" ", "Todo", "x", "TODO")
DEFAULTS = (
    TODO,
    Status("x", "Done", " ", "DONE"),
    Status("/", "In Progress", "x", "IN_PROGRESS"),
    Status("-", "Cancelled", " ", "CANCELLED"),
)


@dataclass(frozen=True)
class StatusRegistry:
    """The statuses of a vault in the order of the settings."""

    statuses: tuple[Status, ...] = DEFAULTS

    @cached_property
    def _by_symbol(self) -> dict[str, Status]:
        return {status.symbol: status for status in reversed(self.statuses)}

    def get(self, symbol: str) -> Status:
        """Return the status of a symbol; one that is not registered is to do (TASK-11)."""
        return self._by_symbol.get(symbol) or Status(symbol, "Unknown", "x", "TODO")

    def first_of_type(self, kind: str) -> Status | None:
        """Return the first registered status of a type."""
        return next((status for status in self.statuses if status.type == kind), None)

    def toggled(self, status: Status) -> Status:
        """Return the status that a click on the checkbox sets (TASK-13)."""
        return self.get(status.next_symbol)

    def recurring(self, done: Status) -> Status:
        """Return the status of the new occurrence after one was completed with the status `done` (TASK-14)."""
        kinds = ("TODO", "IN_PROGRESS")
        return next(
            (status for kind in kinds for status in self._chain(done) if status.type == kind),
            self.get(" "),
        )

    def _chain(self, status: Status) -> Iterator[Status]:
        """Follow the links to the next status, at most once around."""
        for _ in self.statuses:
            status = self.toggled(status)
            yield status


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
    "hide_non_date_fields": "hide id\nhide depends on\nhide recurrence rule\nhide on completion\nhide priority",
    "hide_query_elements": "hide toolbar\nhide postpone button\nhide edit button\nhide backlinks\nhide task count",
    "hide_everything": "preset hide_date_fields\npreset hide_non_date_fields\npreset hide_query_elements",
}


@dataclass(frozen=True)
class TaskSettings:
    """What the user has set in the plugin; the defaults are the plugin's."""

    plugin_enabled: bool = True
    """False: the plugin is off or absent, and only the app's own rules for checkboxes hold (TASK-03)."""
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
    """A moment format."""
    filename_date_folders: tuple[str, ...] = ()
    global_query: str = ""
    presets: Mapping[str, str] = field(default_factory=lambda: DEFAULT_PRESETS)
    statuses: StatusRegistry = field(default_factory=StatusRegistry)

    def is_task(self, body: str) -> bool:
        """Whether a checkbox with this text is a task (TASK-02)."""
        return self.global_filter in body


WITHOUT_PLUGIN = TaskSettings(plugin_enabled=False, notation="both")


@lru_cache(maxsize=16)
def read(enabled: bytes | None, data: bytes | None) -> TaskSettings:
    """Return the settings in ENABLED_PLUGINS_FILE and SETTINGS_FILE; a missing or broken file means the defaults."""
    return (
        parse_settings(read_json(data)) if PLUGIN_ID in enabled_plugins(enabled) else WITHOUT_PLUGIN
    )


def parse_settings(said: object) -> TaskSettings:
    """Return the settings in the object of the plugin's file. Members of another type than expected are ignored."""
    members: Mapping[str, Any] = said if isinstance(said, dict) else {}
    value = Members(said).value
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
        filename_date_folders=Members(said).texts("filenameAsDateFolders"),
        global_query=value("globalQuery", ""),
        presets=_presets(members),
        statuses=_statuses(value("statusSettings", {})),
    )


def _presets(members: Mapping[str, Any]) -> Mapping[str, str]:
    for name in ("presets", "includes"):
        if isinstance(found := members.get(name), dict):
            return {key: value for key, value in found.items() if isinstance(value, str)}
    return DEFAULT_PRESETS


def _statuses(value: Mapping[str, Any]) -> StatusRegistry:
    rows: list[Any] = []
    for name, defaults in (("coreStatuses", DEFAULTS[:2]), ("customStatuses", DEFAULTS[2:])):
        found = value.get(name)
        rows += [_status(row) for row in found] if isinstance(found, list) else defaults
    return StatusRegistry(tuple(row for row in rows if row is not None))


def _status(row: Any) -> Status | None:
    if not isinstance(row, dict):
        return None
    symbol, kind = row.get("symbol"), row.get("type")
    if not isinstance(symbol, str) or not symbol:
        return None
    name, following = str(row.get("name") or ""), str(row.get("nextStatusSymbol") or " ")
    return Status(symbol, name, following, kind if kind in TYPES else "TODO")
