"""The computer as the installer sees it: which system, whose home, which environment; and the
vaults that the Obsidian app knows on it, with what matters for choosing one (semantics 6.1)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from obsidian_mcp import computer
from obsidian_mcp.config import expand_home
from obsidian_mcp.errors import InvalidArguments


@dataclass(frozen=True, slots=True)
class System:
    """All that decides where programs keep their settings, so that a test can be any computer."""

    platform: str
    """A value of `sys.platform`: `darwin`, `win32`, `linux`."""
    home: Path
    environ: Mapping[str, str]

    @classmethod
    def from_this_computer(cls) -> System:
        """Raises: InvalidArguments for an account without a home folder."""
        home = expand_home("~")
        if not home.is_absolute():
            raise InvalidArguments(
                "This account has no home folder, where clients keep settings. Set HOME."
            )
        return cls(sys.platform, home, os.environ)

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder that a variable names, or `default` below the home. A relative one does
        not count (XDG)."""
        named = Path(self.environ.get(variable, ""))
        return named if named.is_absolute() else self.home / default

    @property
    def app_data(self) -> Path:
        """Where programs with windows keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library/Application Support"
        if self.platform == "win32":
            return self.folder("APPDATA", "AppData/Roaming")
        return self.folder("XDG_CONFIG_HOME", ".config")


@dataclass(frozen=True, slots=True)
class KnownVault:
    """A vault of the app's registry."""

    name: str
    path: Path
    open: bool
    """Whether the app has a window on it, or had one when it last ended."""
    opened: int
    """Time of its last use in milliseconds since the epoch, 0 when unknown."""
    problem: str = ""
    """Why it cannot be used, in a few words; empty when it can."""


def known_vaults(app_folders: Iterable[Path]) -> list[KnownVault]:
    """Return every vault of the first registry there is, those that can be used first, then open
    ones, then the last used."""
    for rows in filter(None, computer.registries(app_folders)):
        paths = [Path(row.path) for row in rows]
        vaults = [
            KnownVault(path.name or str(path), path, row.open, row.opened, problem_of(path))
            for row, path in zip(rows, paths, strict=True)
        ]
        return sorted(
            vaults, key=lambda vault: (bool(vault.problem), not vault.open, -vault.opened)
        )
    return []


def problem_of(folder: Path) -> str:
    """Return why a folder cannot serve as a vault, in a few words; "" when it can."""
    try:
        with os.scandir(folder) as listing:
            next(listing, None)
    except FileNotFoundError:
        return "the folder does not exist"
    except NotADirectoryError:
        return "it is not a folder"
    except PermissionError:
        return "the system does not allow reading it"
    except OSError as error:
        return error.strerror or "it cannot be read"
    return ""
