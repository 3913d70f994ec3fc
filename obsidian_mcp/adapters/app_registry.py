"""The vaults that the Obsidian app has registered on this computer (`obsidian.json`, semantics 6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from obsidian_mcp.core.files.settings import RegisteredVault, parse_registry


def registries(app_folders: Iterable[Path]) -> Iterator[tuple[RegisteredVault, ...]]:
    """Yield the vaults of every registry that can be read, in the order of the file."""
    for folder in app_folders:
        try:
            text = (folder / "obsidian.json").read_text(encoding="utf-8")
        except (OSError, ValueError):
            continue
        yield parse_registry(text)


def registered_vaults(app_folders: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders of the vaults that exist, open ones first, then the last used; empty without the app."""
    for vaults in registries(app_folders):
        rows = sorted(vaults, key=lambda row: (not row.open, -row.opened))
        if found := tuple(path for row in rows if (path := Path(row.path)).is_dir()):
            return found
    return ()


def find_registered(folder: Path, app_folders: Iterable[Path]) -> RegisteredVault | None:
    """Return what the app has registered about the vault in this folder, None if it does not know the vault."""
    rows = (row for vaults in registries(app_folders) for row in vaults)
    return next((row for row in rows if is_same_folder(row.path, folder)), None)


def is_same_folder(path: str, folder: Path) -> bool:
    """Whether the path in the registry leads to this folder."""
    try:
        return folder.samefile(path)
    except OSError:
        return False
