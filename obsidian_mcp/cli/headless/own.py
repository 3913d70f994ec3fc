"""Commands about the program itself: version, help, vaults (HEADLESS-08)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from obsidian_mcp import __version__

from .words import COMMANDS, KEYS, DropInCommand, Words, unknown

if TYPE_CHECKING:
    from obsidian_mcp.config import Config

APP_VERSION = "1.13.8"
"""The version of the app whose command line this one follows."""
NAME_WIDTH, KEY_WIDTH = 22, 20


def version() -> str:
    return f"{APP_VERSION} (obsidian-mcp {__version__})"


def vaults(words: Words, settings: Config) -> str:
    from obsidian_mcp.adapters.app_access import registries  # imports the reader of settings

    paths = [Path(vault.path) for vault in next(registries(settings.app_folders), ())]
    if not paths:
        paths = [path.absolute() for path in settings.vaults]
    if words.has("total"):
        return str(len(paths))
    return "\n".join(f"{path.name}\t{path}" if words.has("verbose") else path.name for path in paths)


def help_text(name: str = "") -> str:
    """The help, or that of a command and those below it. Raises: DropInRefused."""
    shown = [
        command
        for command in COMMANDS.values()
        if not name or command.name == name or command.name.startswith(f"{name}:")
    ]
    if not shown:
        raise unknown(name)
    if name:
        return "".join(map(_entry, shown))
    parts = [Path(__file__).with_name("introduction.txt").read_text(encoding="utf-8"), "Commands:\n"]
    parts += [_entry(command) for command in shown if "developer" not in command.marks]
    parts += ["\nDeveloper:\n", *(_entry(command) for command in shown if "developer" in command.marks)]
    return "".join(parts)


def _entry(command: DropInCommand) -> str:
    note = " [needs the app]" if command.verdict == "app" else ""
    parts = [f"  {command.name:<{NAME_WIDTH}}{command.summary}{note}\n"]
    for parameter in command.parameters:
        shown = parameter.form
        padded = f"{shown:<{KEY_WIDTH}}" if len(shown) < KEY_WIDTH else f"{shown}  "
        parts.append(f"    {padded}- {KEYS[parameter.name][1]}{' (required)' if parameter.required else ''}\n")
    return "".join(parts) + "\n"
