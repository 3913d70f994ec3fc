"""Commands about what is installed below the settings folder: plugins, themes, snippets (HEADLESS-15)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from obsidian_mcp.core.files.settings import ENABLED_PLUGINS_FILE, SETTINGS_FOLDER, enabled_plugins
from obsidian_mcp.core.text import json_text

from .call import DropInCall
from .output import in_order, order, pairs
from .words import DropInRefused

APPEARANCE = "appearance.json"
ENABLED, THEME = "enabledCssSnippets", "cssTheme"


def _list_folder(call: DropInCall, folder: str) -> list[Path]:
    """What lies directly in a folder of the settings; nothing where there is no such folder."""
    try:
        return list((call.root / SETTINGS_FOLDER / folder).iterdir())
    except OSError:
        return []


def _manifest(folder: Path) -> dict[str, Any] | None:
    """What a plugin or theme says of itself; None where it says nothing."""
    try:
        found = json.loads((folder / "manifest.json").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


# Plugins


def _core(call: DropInCall) -> dict[str, bool]:
    """The core plugins by id, and whether each is on; older versions of the app list those that are on."""
    found = call.settings_file("core-plugins.json")
    if isinstance(found, list):
        return {name: True for name in found if isinstance(name, str)}
    return {name: value is True for name, value in found.items()} if isinstance(found, dict) else {}


def _community(call: DropInCall) -> dict[str, str]:
    """The versions of the installed plugins, by id."""
    return {
        str(manifest.get("id") or folder.name): str(manifest.get("version") or "")
        for folder in _list_folder(call, "plugins")
        if (manifest := _manifest(folder)) is not None
    }


def plugins(call: DropInCall) -> str:
    return _plugins(call, dict.fromkeys(_core(call), ""), _community(call))


def plugins_enabled(call: DropInCall) -> str:
    enabled = enabled_plugins(call.vault.files.config(ENABLED_PLUGINS_FILE))
    community = {name: version for name, version in _community(call).items() if name in enabled}
    return _plugins(call, {name: "" for name, is_on in _core(call).items() if is_on}, community)


def _plugins(call: DropInCall, core: Mapping[str, str], community: Mapping[str, str]) -> str:
    wanted = call.text("filter")
    found = {**({} if wanted == "community" else core), **({} if wanted == "core" else community)}
    with_versions = call.has("versions")
    table = [
        {"id": name, **({"version": found[name]} if with_versions and (found[name] or call.words.format) else {})}
        for name in sorted(found, key=order)
    ]
    return call.format_rows(table, "No plugins found.")


# Themes


def _themes(call: DropInCall) -> dict[str, dict[str, Any]]:
    """What each installed theme says of itself, by name."""
    folders = (folder for folder in _list_folder(call, "themes") if (folder / "theme.css").is_file())
    return {folder.name: _manifest(folder) or {} for folder in folders}


def themes(call: DropInCall) -> str:
    found = _themes(call)
    versions = {name: str(found[name].get("version") or "") for name in found if call.has("versions")}
    return call.join_lines(
        [f"{name}\t{versions[name]}" if versions.get(name) else name for name in in_order(found)], "No themes found."
    )


def theme(call: DropInCall) -> str:
    name = call.text("name")
    if not name:
        return str(call.config(APPEARANCE).get(THEME) or "Default")
    manifest = _existing_theme(call, name)
    return pairs({"name": name} | {key: manifest[key] for key in ("version", "author") if manifest.get(key)})


def theme_set(call: DropInCall) -> str:
    name = call.text("name")
    if name:
        _existing_theme(call, name)
    call.change_settings("set_theme", APPEARANCE, lambda text: json_text.put(text, [THEME], name))
    return f"Set theme: {name or 'Default'}"


def _existing_theme(call: DropInCall, name: str) -> dict[str, Any]:
    """Raises: DropInRefused."""
    found = _themes(call)
    if name not in found:
        raise DropInRefused(f'Theme "{name}" not found.')
    return found[name]


# Snippets


def snippets(call: DropInCall) -> str:
    return call.join_lines(in_order(_snippets(call)), "No snippets found.")


def snippets_enabled(call: DropInCall) -> str:
    return call.join_lines(in_order(_read_enabled(call)), "No snippets found.")


def _snippets(call: DropInCall) -> list[str]:
    return [path.stem for path in _list_folder(call, "snippets") if path.suffix == ".css"]


def _read_enabled(call: DropInCall) -> list[str]:
    found = call.config(APPEARANCE).get(ENABLED)
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def snippet_enable(call: DropInCall) -> str:
    return _switch(call, is_on=True)


def snippet_disable(call: DropInCall) -> str:
    return _switch(call, is_on=False)


def _switch(call: DropInCall, *, is_on: bool) -> str:
    name, before = call.text("name"), _read_enabled(call)
    if name not in _snippets(call) and (is_on or name not in before):
        raise DropInRefused(f'Snippet "{name}" not found.')
    if (name in before) != is_on:
        after = [*before, name] if is_on else [other for other in before if other != name]
        call.change_settings("set_snippets", APPEARANCE, lambda text: json_text.put(text, [ENABLED], after))
    return f"{'Enabled' if is_on else 'Disabled'}: {name}"
