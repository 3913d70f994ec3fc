"""The computer as the installer sees it: which system, whose home, which environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
    def here(cls) -> System:
        """Raises: InvalidArguments for an account without a home folder."""
        home = expand_home("~")
        if not home.is_absolute():
            raise InvalidArguments("This account has no home folder, where clients keep settings. Set HOME.")
        return cls(sys.platform, home, os.environ)

    def folder(self, variable: str, default: str) -> Path:
        """The folder that a variable names, or `default` below the home. A relative one does not count (XDG)."""
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
