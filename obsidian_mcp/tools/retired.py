"""Calls in the form of an earlier version, which are not listed but answered for one version (TOOL-13)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

Call = tuple[str, dict[str, Any]]


def _properties(given: dict[str, Any]) -> Call:
    """`obsidian_properties` became obsidian_get_properties and obsidian_set_properties."""
    action = given.pop("action", "get")
    value, dry_run, etag = (given.pop(argument, "") for argument in ("value", "dry_run", "etag"))
    if action == "get":
        return "obsidian_get_properties", given
    if action == "remove":
        value = None
    elif isinstance(value, str):
        with suppress(ValueError):  # plain text
            value = json.loads(value)
        value = "" if value is None else value  # it emptied the property; null removes it now
    for unused in ("limit", "offset"):
        given.pop(unused, None)
    properties = {given.pop("property", ""): value}
    change = {"properties": properties, "names": given.pop("name", ""), "dry_run": dry_run or False, "etag": etag}
    return "obsidian_set_properties", {**change, **given}


def _app(given: dict[str, Any]) -> Call:
    """`obsidian_app` became obsidian_app_info, obsidian_open_note, obsidian_app_command and obsidian_daily_note."""
    action = given.pop("action", "commands")
    name, text, version = (given.pop(argument, None) for argument in ("name", "text", "version"))
    match action:
        case "run":
            return "obsidian_app_command", {"command": text or "", **given}
        case "eval":
            return "obsidian_app_command", {"javascript": text or "", **given}
        case "open":
            return "obsidian_open_note", {"name": name or "", **given}
        case "daily":
            return "obsidian_daily_note", {"create": False, **given}
        case "daily_append":
            return "obsidian_daily_note", {"content": text or "", **given}
    others = {"name": name, "text": text, "version": version}
    kept = {argument: value for argument, value in others.items() if value is not None}
    return "obsidian_app_info", {"topic": action, **kept, **given}


def _tags(given: dict[str, Any]) -> Call:
    """`obsidian_tags` with `rename_to` became obsidian_rename_tag."""
    if new := given.pop("rename_to", ""):
        kept = ("tag", "dry_run", "vault", "confirm")
        return "obsidian_rename_tag", {"to": new, **{key: given[key] for key in kept if key in given}}
    given.pop("dry_run", None)
    return "obsidian_tags", given


RETIRED: Mapping[str, Callable[[dict[str, Any]], Call]] = {
    "obsidian_properties": _properties,
    "obsidian_app": _app,
    "obsidian_tags": _tags,
}
"""By the names of tools that once had another form: what makes of its arguments the call of today."""
