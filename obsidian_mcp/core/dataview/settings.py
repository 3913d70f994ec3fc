"""What the vault's settings say that changes results: the plugin's own, and the bookmarks (DV-03, DV-14)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from obsidian_mcp.core.files.settings import Members, read_json
from obsidian_mcp.core.note.query_blocks import INLINE_PREFIX

SETTINGS_FILE = "plugins/dataview/data.json"
BOOKMARKS_FILE = "bookmarks.json"
"""Both in the app's settings folder."""
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


def read_bookmarks(data: object) -> frozenset[str]:
    """Paths of the files in a parsed `bookmarks.json`, in groups too."""
    found: set[str] = set()
    pending: list[Any] = [data.get("items") if isinstance(data, Mapping) else None]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending += item
        elif isinstance(item, Mapping):
            path = item.get("path")
            if item.get("type") == "file" and isinstance(path, str):
                found.add(path)
            pending.append(item.get("items"))
    return frozenset(found)


@lru_cache(maxsize=16)
def read_settings(data: bytes | None) -> Settings:
    """The settings in the bytes of `data.json`; what is missing or no text has its default."""
    members, standard = Members(read_json(data)), Settings()
    return Settings(**{name: members.value(key, getattr(standard, name)) for name, key in _NAMES.items()})
