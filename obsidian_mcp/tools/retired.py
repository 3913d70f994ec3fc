"""Old names of tools, which clients may still call for one version (TOOL-13). They are not listed."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from .registry import RETIRED

Call = tuple[str, dict[str, Any]]


def _properties(given: dict[str, Any]) -> Call:
    """`obsidian_properties` became obsidian_get_properties and obsidian_set_properties."""
    action = given.pop("action", "get")
    if action == "get":
        return "obsidian_get_properties", given
    value = given.pop("value", "") if action == "set" else None
    if isinstance(value, str):
        with suppress(ValueError):  # plain text
            value = json.loads(value)
    properties = {given.pop("property", ""): value}
    return "obsidian_set_properties", {"properties": properties, "names": given.pop("name", ""), **given}


def _app(given: dict[str, Any]) -> Call:
    """`obsidian_app` became obsidian_app_info, obsidian_open_note, obsidian_app_command and obsidian_daily_note."""
    action = given.pop("action", "commands")
    match action:
        case "run":
            return "obsidian_app_command", {"command": given.pop("text", ""), **given}
        case "eval":
            return "obsidian_app_command", {"javascript": given.pop("text", ""), **given}
        case "open":
            return "obsidian_open_note", given
        case "daily":
            return "obsidian_daily_note", {"create": False, **given}
        case "daily_append":
            return "obsidian_daily_note", {"content": given.pop("text", ""), **given}
    return "obsidian_app_info", {"topic": action, **given}


RETIRED.update(obsidian_properties=_properties, obsidian_app=_app)
