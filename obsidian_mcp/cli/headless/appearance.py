"""Commands that list what is installed below the settings folder: plugins, themes, snippets (HEADLESS-15)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from .call import SETTINGS, Answer, Call
from .output import lines, order, rows


def _inside(call: Call, folder: str) -> list[Path]:
    """What lies directly in a folder of the settings; nothing where there is no such folder."""
    try:
        return list((call.place.folder / SETTINGS / folder).iterdir())
    except OSError:
        return []


def _core(call: Call) -> dict[str, bool]:
    """The core plugins by id, and whether each is on; older versions of the app list those that are on."""
    found = call.config("core-plugins.json")
    if isinstance(found, list):
        return {name: True for name in found if isinstance(name, str)}
    return {name: value is True for name, value in found.items()} if isinstance(found, dict) else {}


def _community(call: Call) -> dict[str, str]:
    """The versions of the installed plugins, by id."""
    found = {}
    for folder in _inside(call, "plugins"):
        try:
            manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8-sig"))
        except (OSError, ValueError):
            continue
        if isinstance(manifest, dict):
            found[str(manifest.get("id") or folder.name)] = str(manifest.get("version") or "")
    return found


def plugins(call: Call) -> str:
    return _listed(call, dict.fromkeys(_core(call), ""), _community(call))


def plugins_enabled(call: Call) -> str:
    enabled = call.config("community-plugins.json")
    names = enabled if isinstance(enabled, list) else []
    community = {name: version for name, version in _community(call).items() if name in names}
    return _listed(call, {name: "" for name, is_on in _core(call).items() if is_on}, community)


def _listed(call: Call, core: Mapping[str, str], community: Mapping[str, str]) -> str:
    wanted = call.text("filter")
    found = {**({} if wanted == "community" else core), **({} if wanted == "core" else community)}
    with_versions = call.has("versions")
    table = [
        {"id": name, **({"version": found[name]} if with_versions and (found[name] or call.words.format) else {})}
        for name in sorted(found, key=order)
    ]
    return rows(table, call.words.format) if table else "No plugins found."


def themes(call: Call) -> str:
    found = sorted((path.name for path in _inside(call, "themes") if (path / "theme.css").is_file()), key=order)
    return lines(found, "No themes found.")


def snippets(call: Call) -> str:
    found = sorted((path.stem for path in _inside(call, "snippets") if path.suffix == ".css"), key=order)
    return lines(found, "No snippets found.")


def snippets_enabled(call: Call) -> str:
    saved = call.config("appearance.json")
    enabled = saved.get("enabledCssSnippets") if isinstance(saved, dict) else None
    found = [name for name in enabled if isinstance(name, str)] if isinstance(enabled, list) else []
    return lines(sorted(found, key=order), "No snippets found.")


ANSWERS: dict[str, Answer] = {
    "plugins": plugins,
    "plugins:enabled": plugins_enabled,
    "snippets": snippets,
    "snippets:enabled": snippets_enabled,
    "themes": themes,
}
