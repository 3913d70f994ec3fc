"""What the plugin's own settings say that changes results (DV-03)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from obsidian_mcp.core.files.settings import Members, read_json
from obsidian_mcp.core.note.query_blocks import INLINE_PREFIX

SETTINGS_FILE = "plugins/dataview/data.json"
"""In the app's settings folder."""
_NAMES = {
    "null_text": "renderNullAs",
    "date_format": "defaultDateFormat",
    "date_time_format": "defaultDateTimeFormat",
    "id_column": "tableIdColumnName",
    "inline_prefix": "inlineQueryPrefix",
}


@dataclass(frozen=True, slots=True)
class DataviewSettings:
    """What the user has set in the plugin; the defaults are the plugin's."""

    null_text: str = "\\-"
    """What null is as a text: a hyphen, escaped for Markdown."""
    date_format: str = "MMMM dd, yyyy"
    date_time_format: str = "h:mm a - MMMM dd, yyyy"
    id_column: str = "File"
    inline_prefix: str = INLINE_PREFIX


@lru_cache(maxsize=16)
def read_dataview_settings(data: bytes | None) -> DataviewSettings:
    """Return the settings in the bytes of `data.json`.

    What is missing or no text has its default.
    """
    members, standard = Members(read_json(data)), DataviewSettings()
    return DataviewSettings(
        **{name: members.value(key, getattr(standard, name)) for name, key in _NAMES.items()}
    )
