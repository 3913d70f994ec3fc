"""The MCP clients that can be set up: where each keeps its servers, and how an entry looks
(specs/install.md).

The facts are in the table `clients.toml`; here is what reads it, and the little that is no table:
where Claude Desktop's packaged app hides its file, and the forms of two clients' entries.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from obsidian_mcp import computer

from .system import System

Format = Literal["json", "jsonc", "toml", "yaml"]
EntryShape = Callable[[str, str, list[str]], dict[str, Any]]
"""Makes of a server's name, its command and its arguments what a file says of it."""


def _usual(_: str, command: str, arguments: list[str]) -> dict[str, Any]:
    return {"command": command, "args": arguments}


@dataclass(frozen=True, slots=True)
class McpClient:
    """A program that starts MCP servers, as its table says."""

    id: str
    title: str
    format: Format
    """`json`: the client reads strict JSON; `jsonc`: it takes comments and trailing commas too."""
    key: str
    """Top-level member of the file that holds the servers by name."""
    by_platform: Mapping[str, Any]
    """`files` and `next_step`, and those of a system with its name behind."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Members of every entry beside `command` and `args`; they come first."""
    first: Mapping[str, Any] = field(default_factory=dict)
    """Members that a new entry gets and that the user may change afterwards."""
    windowed: bool = True
    """Started from the desktop: with another, shorter PATH than a terminal has."""
    shape: EntryShape = _usual
    environment: str = "env"
    """Member of an entry that holds environment variables."""

    def files(self, system: System) -> tuple[Path, ...]:
        """Return where the file may be, likeliest first. A place counts if its folder exists; the
        last one is the default."""
        if "files" not in self.by_platform:
            return _claude_desktop(system)
        return tuple(_expand(path, system) for path in self._select("files", system))

    def next_step(self, system: System) -> str:
        """Return what a person must do before the client uses the entry."""
        return str(self._select("next_step", system))

    def _select(self, key: str, system: System) -> Any:
        return self.by_platform.get(f"{key}_{system.platform}", self.by_platform[key])

    def file(self, system: System) -> Path:
        """Return the configuration file to write: the first that exists, else the first whose
        folder does."""
        places = self.files(system)
        return next(
            (place for place in places if place.exists()),
            next((place for place in places if place.parent.is_dir()), places[-1]),
        )

    def is_present(self, system: System) -> bool:
        """Return whether there are signs of the client on this computer."""
        return any(
            place.exists() or _own_folder(place, system).is_dir() for place in self.files(system)
        )

    def entry(self, name: str, command: str, arguments: tuple[str, ...]) -> dict[str, Any]:
        """Return what the file says about a server; the members of `first` are not in it."""
        return {**self.fixed, **self.shape(name, command, list(arguments))}


def _own_folder(place: Path, system: System) -> Path:
    """Return the folder that only this client makes. The home itself proves nothing; a package is
    there before its files."""
    package = next((folder for folder in place.parents if folder.name.startswith("Claude_")), None)
    return place if place.parent == system.home else package or place.parent


def _claude_desktop(system: System) -> tuple[Path, ...]:
    """On Windows the packaged app (MSIX, the default since February 2026) is shown a folder of its
    own as %APPDATA% and never reads the classic one, which may still be there."""
    name = "claude_desktop_config.json"
    classic = system.app_data / "Claude" / name
    if system.platform != "win32":
        return (classic,)
    packages = system.folder("LOCALAPPDATA", "AppData/Local") / "Packages"
    packaged = sorted(
        folder / "LocalCache/Roaming/Claude" / name for folder in packages.glob("Claude_*")
    )
    return tuple(packaged) or (classic,)


_FOLDER = re.compile(r"\{(\w+)(?::([^{}]*))?\}")
"""In the table: a folder of `System` by its name, or that of an environment variable with the
default behind it."""


def _expand(path: str, system: System) -> Path:
    """Return a path of the table with this system's folders in it."""

    def folder(variable: re.Match[str]) -> str:
        name, default = variable.groups()
        return str(getattr(system, name) if default is None else system.folder(name, default))

    return Path(_FOLDER.sub(folder, path))


_CLAUDE_PROGRAM = {
    "darwin": re.compile(r"/Claude\.app/Contents/MacOS/Claude$"),
    "win32": re.compile(r"(?i)\\(WindowsApps\\Claude_[^\\]*|AnthropicClaude)\\(.*\\)?claude\.exe$"),
    "linux": re.compile(r"/claude-desktop(/.*)?$"),
}
"""Where the program of Claude Desktop lies. `claude` alone is the command line of Claude Code."""


def is_claude(path: str, platform: str) -> bool:
    """Return whether the executable at `path` is Claude Desktop's."""
    pattern = _CLAUDE_PROGRAM.get(platform)
    return pattern is not None and pattern.search(path) is not None


def is_claude_running(platform: str) -> bool:
    """Return whether Claude Desktop runs: while it does, it writes its own copy of its
    configuration file back (INST-08)."""
    return any(is_claude(program, platform) for program in computer.running_programs())


ERRORS_AS_RESULTS: Mapping[str, str] = {"OBSIDIAN_MCP_ERRORS": "result"}
"""For clients that are not known to show JSON-RPC errors to the model: they must show failed
results (INST-14)."""

_SHAPES: Mapping[str, EntryShape] = {
    "opencode": lambda _, command, arguments: {"command": [command, *arguments]},
    "goose": lambda name, command, arguments: {"name": name, "cmd": command, "args": arguments},
}


def _client(name: str, row: dict[str, Any]) -> McpClient:
    by_platform = {key: row.pop(key) for key in list(row) if key.startswith(("files", "next_step"))}
    return McpClient(id=name, by_platform=by_platform, shape=_SHAPES.get(name, _usual), **row)


CLIENTS: dict[str, McpClient] = {
    name: _client(name, row)
    for name, row in tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    ).items()
}
