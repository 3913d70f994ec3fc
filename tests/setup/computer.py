"""A computer of any system, made of folders below one: its home, its environment, its clients' files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from obsidian_mcp.setup.system import System

PLATFORMS = ("darwin", "win32", "linux")
_WINDOWS = {"APPDATA": "AppData/Roaming", "LOCALAPPDATA": "AppData/Local"}


def computer(home: Path, platform: str, environ: Mapping[str, str] | None = None) -> System:
    """A System whose folders are all below `home`; the environment is what that system always has."""
    home.mkdir(parents=True, exist_ok=True)
    usual = _WINDOWS if platform == "win32" else {}
    return System(platform, home, {**{name: str(home / path) for name, path in usual.items()}, **(environ or {})})


def home_variables(home: Path) -> dict[str, str]:
    """What makes a folder the home of a process, on any system."""
    return {"HOME": str(home), "USERPROFILE": str(home), **{name: str(home / path) for name, path in _WINDOWS.items()}}


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file by its path below `folder`, with its bytes."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def is_backup(name: str) -> bool:
    return re.search(r"\.obsidian-mcp-\d{8}-\d{6}(-\d+)?\.bak$", name) is not None
