"""What the plugin's own settings say that changes results (DV-03)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

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


class Settings(NamedTuple):
    null_text: str = "\\-"
    date_format: str = "MMMM dd, yyyy"
    date_time_format: str = "h:mm a - MMMM dd, yyyy"
    id_column: str = "File"
    inline_prefix: str = INLINE_PREFIX


@lru_cache(maxsize=16)
def read_settings(data: bytes | None) -> Settings:
    """The settings in the bytes of `data.json`; what is missing or no text has its default."""
    members, standard = Members(read_json(data)), Settings()
    return Settings(
        **{name: members.value(key, getattr(standard, name)) for name, key in _NAMES.items()}
    )
