"""The vaults that the Obsidian app has registered on this computer (`obsidian.json`, semantics 6.1)."""

from __future__ import annotations

from pathlib import Path

from obsidian_mcp.core.files.settings import RegisteredVault, app_registry


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


def registered(folder: Path, app_folders: tuple[Path, ...]) -> RegisteredVault | None:
    """What the app has registered about the vault in this folder, as it stands now."""
    for place in app_folders:
        try:
            text = (place / "obsidian.json").read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        for row in app_registry(text).vaults:
            if is_same_folder(row.path, folder):
                return row
    return None


def is_same_folder(path: str, folder: Path) -> bool:
    try:
        return folder.samefile(path)
    except OSError:
        return False
