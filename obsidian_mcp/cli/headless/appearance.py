"""Commands about what is installed below the settings folder: plugins, themes, snippets (HEADLESS-15)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from obsidian_mcp.core.files.settings import ENABLED_PLUGINS_FILE, SETTINGS_FOLDER, Members, enabled_plugins, read_json
from obsidian_mcp.core.text import json_text

from .call import DropInCall, in_order, order, pairs
from .words import DropInRefused

APPEARANCE = "appearance.json"
ENABLED, THEME = "enabledCssSnippets", "cssTheme"


def _list_folder(call: DropInCall, folder: str) -> list[Path]:
    with suppress(OSError):
        return list((call.root / SETTINGS_FOLDER / folder).iterdir())
    return []


def _manifest(folder: Path) -> dict[str, Any] | None:
    """What a plugin or theme says of itself; None where it says nothing."""
    with suppress(OSError):
        found = read_json((folder / "manifest.json").read_bytes())
        return found if isinstance(found, dict) else None
    return None


def plugins(call: DropInCall) -> str:
    return _plugins(call, only_enabled=False)


def plugins_enabled(call: DropInCall) -> str:
    return _plugins(call, only_enabled=True)


def _plugins(call: DropInCall, *, only_enabled: bool) -> str:
    wanted, versions = call.text("filter"), dict[str, str]()
    if wanted != "community":
        known = read_json(call.vault.files.config("core-plugins.json"))
        if isinstance(known, list):  # older versions of the app list those that are on
            known = {name: True for name in known if isinstance(name, str)}
        stated = known if isinstance(known, dict) else {}
        versions |= {name: "" for name, is_on in stated.items() if is_on is True or not only_enabled}
    if wanted != "core":
        enabled = enabled_plugins(call.vault.files.config(ENABLED_PLUGINS_FILE))
        for folder in _list_folder(call, "plugins"):
            if (manifest := _manifest(folder)) is not None:
                name = str(manifest.get("id") or folder.name)
                if name in enabled or not only_enabled:
                    versions[name] = str(manifest.get("version") or "")
    with_versions = call.has("versions")
    table = [
        {"id": name, **({"version": versions[name]} if with_versions and (versions[name] or call.words.format) else {})}
        for name in sorted(versions, key=order)
    ]
    return call.format_rows(table, "No plugins found.")


def _themes(call: DropInCall) -> dict[str, dict[str, Any]]:
    """What each installed theme says of itself, by name."""
    folders = (folder for folder in _list_folder(call, "themes") if (folder / "theme.css").is_file())
    return {folder.name: _manifest(folder) or {} for folder in folders}


def themes(call: DropInCall) -> str:
    found = _themes(call)
    versions = {name: found[name].get("version") for name in found if call.has("versions")}
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


def snippets(call: DropInCall) -> str:
    return call.join_lines(in_order(_snippets(call)), "No snippets found.")


def snippets_enabled(call: DropInCall) -> str:
    return call.join_lines(in_order(_enabled_snippets(call)), "No snippets found.")


def _snippets(call: DropInCall) -> list[str]:
    return [path.stem for path in _list_folder(call, "snippets") if path.suffix == ".css"]


def _enabled_snippets(call: DropInCall) -> tuple[str, ...]:
    return Members(call.config(APPEARANCE)).texts(ENABLED)


def snippet_enable(call: DropInCall) -> str:
    return _switch(call, is_on=True)


def snippet_disable(call: DropInCall) -> str:
    return _switch(call, is_on=False)


def _switch(call: DropInCall, *, is_on: bool) -> str:
    name, before = call.text("name"), _enabled_snippets(call)
    if name not in _snippets(call) and (is_on or name not in before):
        raise DropInRefused(f'Snippet "{name}" not found.')
    if (name in before) != is_on:
        after = [*before, name] if is_on else [other for other in before if other != name]
        call.change_settings("set_snippets", APPEARANCE, lambda text: json_text.put(text, [ENABLED], after))
    return f"{'Enabled' if is_on else 'Disabled'}: {name}"
