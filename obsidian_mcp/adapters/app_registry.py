"""The vaults that the Obsidian app has registered on this computer (`obsidian.json`, semantics 6.1)."""

from __future__ import annotations

from pathlib import Path

from obsidian_mcp.core.settings import app_registry


def registered_vaults(app_folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """Folders of the vaults that exist, open ones first, then the last used; empty where the app is not installed."""
    for folder in app_folders:
        try:
            text = (folder / "obsidian.json").read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        rows = sorted(app_registry(text).vaults, key=lambda row: (not row.open, -row.opened))
        found = tuple(path for row in rows if (path := Path(row.path)).is_dir())
        if found:
            return found
    return ()
