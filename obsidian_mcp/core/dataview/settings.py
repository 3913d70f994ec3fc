"""The plugin's settings that change results (specs/dataview.md, DV-03)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

SETTINGS_PATH = ".obsidian/plugins/dataview/data.json"
"""Where the plugin keeps them, from the vault's root."""
_NAMES = {
    "null_text": "renderNullAs",
    "date_format": "defaultDateFormat",
    "date_time_format": "defaultDateTimeFormat",
    "id_column": "tableIdColumnName",
    "inline_prefix": "inlineQueryPrefix",
}


@dataclass(frozen=True, slots=True)
class Settings:
    null_text: str = "\\-"
    date_format: str = "MMMM dd, yyyy"
    date_time_format: str = "h:mm a - MMMM dd, yyyy"
    id_column: str = "File"
    inline_prefix: str = "="


def read_settings(data: object) -> Settings:
    """The settings of a parsed `data.json`; what is missing or no text has its default."""
    found: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    chosen = {field.name: found.get(_NAMES[field.name]) for field in fields(Settings)}
    return replace(Settings(), **{name: value for name, value in chosen.items() if isinstance(value, str)})
