"""The MCP clients that can be set up: where each keeps its servers, and how an entry looks (specs/install.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from .system import System

Format = Literal["json", "jsonc", "toml", "yaml"]
Shape = Callable[[str, str, list[str]], dict[str, Any]]
"""Makes of a server's name, its command and its arguments what a file says of it."""


def _usual(_: str, command: str, arguments: list[str]) -> dict[str, Any]:
    return {"command": command, "args": arguments}


@dataclass(frozen=True, slots=True)
class McpClient:
    id: str
    title: str
    format: Format
    """`json`: the client reads strict JSON; `jsonc`: it takes comments and trailing commas too."""
    key: str
    """Top-level member of the file that holds the servers by name."""
    files: Callable[[System], tuple[Path, ...]]
    """Where the file may be, likeliest first. A place counts when its folder exists; the last one is the default."""
    next_step: Callable[[System], str]
    """What a person must do before the client uses the entry."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Members of every entry beside `command` and `args`; they come first."""
    first: Mapping[str, Any] = field(default_factory=dict)
    """Members that a new entry gets and that the user may change afterwards."""
    windowed: bool = True
    """Started from the desktop: with another, shorter PATH than a terminal has."""
    shape: Shape = _usual
    environment: str = "env"
    """Member of an entry that holds environment variables."""

    def file(self, system: System) -> Path:
        """The configuration file to write: the first that exists, else the first whose folder does."""
        places = self.files(system)
        return next(
            (place for place in places if place.exists()),
            next((place for place in places if place.parent.is_dir()), places[-1]),
        )

    def is_present(self, system: System) -> bool:
        """Whether there are signs of the client on this computer."""
        return any(place.exists() or _own_folder(place, system).is_dir() for place in self.files(system))

    def entry(self, name: str, command: str, arguments: tuple[str, ...]) -> dict[str, Any]:
        """What the file says about a server; the members of `first` are not in it."""
        return {**self.fixed, **self.shape(name, command, list(arguments))}


def _own_folder(place: Path, system: System) -> Path:
    """The folder that only this client makes. The home itself proves nothing; a package is there before its files."""
    package = next((folder for folder in place.parents if folder.name.startswith("Claude_")), None)
    return place if place.parent == system.home else package or place.parent


def _claude_desktop(system: System) -> tuple[Path, ...]:
    """On Windows the packaged app (MSIX, the default since February 2026) is shown a folder of its own as %APPDATA%
    and never reads the classic one, which may still be there."""
    name = "claude_desktop_config.json"
    classic = system.app_data / "Claude" / name
    if system.platform != "win32":
        return (classic,)
    packages = system.folder("LOCALAPPDATA", "AppData/Local") / "Packages"
    packaged = sorted(folder / "LocalCache/Roaming/Claude" / name for folder in packages.glob("Claude_*"))
    return tuple(packaged) or (classic,)


def _vscode(system: System) -> tuple[Path, ...]:
    folders = [system.app_data / "Code", system.app_data / "Code - Insiders"]
    if system.platform == "linux":
        folders.append(system.home / ".var/app/com.visualstudio.code/config/Code")
    return tuple(folder / "User/mcp.json" for folder in (*folders, folders[0]))


def _zed(system: System) -> tuple[Path, ...]:
    if system.platform == "win32":
        return (system.app_data / "Zed/settings.json",)
    if system.platform == "darwin":  # not Application Support
        return (system.home / ".config/zed/settings.json",)
    return (system.app_data / "zed/settings.json",)


def _opencode(system: System) -> tuple[Path, ...]:
    """On every system, as XDG has it."""
    folder = system.folder("XDG_CONFIG_HOME", ".config") / "opencode"
    return folder / "opencode.jsonc", folder / "opencode.json"


def _cline(system: System) -> tuple[Path, ...]:
    """One file for every editor and the command line; before 2026 each editor had its own."""
    name = "settings/cline_mcp_settings.json"
    shared = system.folder("CLINE_DIR", ".cline") / "data" / name
    return shared, system.app_data / "Code/User/globalStorage/saoudrizwan.claude-dev" / name, shared


def _goose(system: System) -> tuple[Path, ...]:
    if system.platform == "win32":
        return (system.app_data / "Block/goose/config/config.yaml",)
    return (system.folder("XDG_CONFIG_HOME", ".config") / "goose/config.yaml",)


def _lm_studio(system: System) -> tuple[Path, ...]:
    """Installations of before 2025 keep everything below `.cache`."""
    current = system.home / ".lmstudio/mcp.json"
    return current, system.home / ".cache/lm-studio/mcp.json", current


def _in_home(path: str, variable: str = "", default: str = "") -> Callable[[System], tuple[Path, ...]]:
    """A file in the folder that a variable names, else in `default` below the home."""
    return lambda system: (system.folder(variable, default) / path,)


def _say(text: str) -> Callable[[System], str]:
    return lambda _: text


def _quit_claude(system: System) -> str:
    how = {
        "darwin": "press Cmd-Q (closing the window is not enough)",
        "win32": "right-click its icon beside the clock and choose Quit (closing the window is not enough)",
    }.get(system.platform, "choose Quit in its tray icon (closing the window is not enough)")
    return f"Quit Claude Desktop fully: {how}. Then start it again; the server is under + > Connectors."


_CLAUDE_PROGRAM = {
    "darwin": re.compile(r"/Claude\.app/Contents/MacOS/Claude$"),
    "win32": re.compile(r"(?i)\\(WindowsApps\\Claude_[^\\]*|AnthropicClaude)\\(.*\\)?claude\.exe$"),
    "linux": re.compile(r"/claude-desktop(/.*)?$"),
}
"""Where the program of Claude Desktop lies. `claude` alone is the command line of Claude Code."""


def is_claude(path: str, platform: str) -> bool:
    """Whether the executable at `path` is Claude Desktop's."""
    pattern = _CLAUDE_PROGRAM.get(platform)
    return pattern is not None and pattern.search(path) is not None


def is_claude_running(platform: str) -> bool:
    """Whether Claude Desktop runs: while it does, it writes its own copy of its configuration file back (INST-08)."""
    import psutil  # takes 20 ms to import

    for process in psutil.process_iter():
        try:
            if is_claude(process.exe(), platform):
                return True
        except psutil.Error:  # gone, or somebody else's
            continue
    return False


ERRORS_AS_RESULTS: Mapping[str, str] = {"OBSIDIAN_MCP_ERRORS": "result"}
"""For clients that are not known to show JSON-RPC errors to the model: they must show failed results (INST-14)."""

CLIENTS: dict[str, McpClient] = {
    client.id: client
    for client in (
        McpClient("claude-desktop", "Claude Desktop", "json", "mcpServers", _claude_desktop, _quit_claude),
        McpClient(
            "claude-code",
            "Claude Code",
            "json",
            "mcpServers",
            _in_home(".claude.json", "CLAUDE_CONFIG_DIR"),
            _say("Start a new session of claude; /mcp shows the server."),
            fixed={"type": "stdio"},
            windowed=False,
        ),
        McpClient(
            "cursor",
            "Cursor",
            "jsonc",
            "mcpServers",
            _in_home(".cursor/mcp.json"),
            _say("In Cursor open Settings > MCP and switch the server on; restart Cursor if it is not listed."),
        ),
        McpClient(
            "vscode",
            "VS Code",
            "jsonc",
            "servers",
            _vscode,
            _say("In VS Code run the command 'MCP: List Servers', choose the server and start it; agent mode uses it."),
            fixed={"type": "stdio"},
        ),
        McpClient(
            "windsurf",
            "Windsurf",
            "jsonc",
            "mcpServers",
            _in_home(".codeium/windsurf/mcp_config.json"),
            _say("In Windsurf open Cascade's MCP panel and press Refresh."),
        ),
        McpClient(
            "gemini-cli",
            "Gemini CLI",
            "jsonc",
            "mcpServers",
            _in_home(".gemini/settings.json", "GEMINI_CLI_HOME"),
            _say(
                "Start a new session of gemini; /mcp shows the server. Gemini CLI serves no personal accounts any "
                "more: with one, use Antigravity (obsidian-mcp install antigravity)."
            ),
            windowed=False,
        ),
        McpClient(
            "codex",
            "Codex",
            "toml",
            "mcp_servers",
            _in_home("config.toml", "CODEX_HOME", ".codex"),
            _say(
                "Start a new session of codex (or restart its app or extension); /mcp shows the server. The ChatGPT "
                "desktop app reads the same file: restart it too."
            ),
            first={"startup_timeout_sec": 60},  # 10 s by default: too short for a cold disk
        ),
        McpClient(
            "zed",
            "Zed",
            "jsonc",
            "context_servers",
            _zed,
            _say("Zed starts the server at once: a green dot stands beside it in the agent panel's settings."),
            fixed={"source": "custom"},  # versions before 2026 need it, later ones ignore it
        ),
        McpClient(
            "antigravity",
            "Antigravity",
            "jsonc",
            "mcpServers",
            _in_home(".gemini/antigravity/mcp_config.json"),
            _say("In Antigravity open ... > MCP Servers > Manage MCP Servers and press Refresh."),
            first={"env": ERRORS_AS_RESULTS},
        ),
        McpClient(
            "opencode",
            "OpenCode",
            "jsonc",
            "mcp",
            _opencode,
            _say("Start opencode again; opencode mcp list shows the server."),
            fixed={"type": "local"},
            first={"enabled": True, "timeout": 60_000},  # milliseconds; 5 s by default: too short for a cold disk
            windowed=False,
            shape=lambda _, command, arguments: {"command": [command, *arguments]},
            environment="environment",
        ),
        McpClient(
            "cline",
            "Cline",
            "jsonc",
            "mcpServers",
            _cline,
            _say("Cline starts the server at once; its MCP Servers panel shows it."),
        ),
        McpClient(
            "goose",
            "Goose",
            "yaml",
            "extensions",
            _goose,
            _say("Start a new session of goose; its app lists the server under Extensions."),
            fixed={"type": "stdio"},
            first={"enabled": True},
            shape=lambda name, command, arguments: {"name": name, "cmd": command, "args": arguments},
            environment="envs",
        ),
        McpClient(
            "kiro",
            "Kiro",
            "jsonc",
            "mcpServers",
            _in_home(".kiro/settings/mcp.json"),
            _say("Kiro starts the server when the file is saved; its MCP Servers panel and /mcp of kiro-cli show it."),
            first={"env": ERRORS_AS_RESULTS},
        ),
        McpClient(
            "lm-studio",
            "LM Studio",
            "jsonc",
            "mcpServers",
            _lm_studio,
            _say("In LM Studio open Program > Integrations and switch the server on."),
            first={"env": ERRORS_AS_RESULTS},
        ),
    )
}
