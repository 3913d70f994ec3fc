"""What only the running app can do: show a note, run a command, and tell of Sync, of plugins and of
the versions that it keeps.

These tools are offered only where the app's own command is there (`needs_app`). Everything else
works on the files, with the app open or closed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.files.obsidian import Plugin, Version
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import VaultPath, extension
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments, NoteNotFound, PermissionDenied

from .arguments import Argument, Name, VaultName
from .outcome import DocumentAnswer
from .paging import PAGE
from .registry import tool

SHOWN = 200
"""Commands, versions or plugins of one answer."""

Topic = Literal["commands", "history", "history_read", "plugins", "sync"]


@dataclass(frozen=True, slots=True)
class AppAnswer:
    path: str | None = None
    commands: list[str] | None = None
    plugins: list[Plugin] | None = None
    versions: list[Version] | None = None
    total: int | None = None
    """How many there are; the first are shown."""
    answer: str | None = None
    """What the app said."""
    cut: bool | None = None
    """True where the text was longer than one answer."""


@tool(title="Obsidian app: commands, plugins, Sync", needs_app=True)
def app_info(
    app: App,
    topic: Annotated[
        Topic, Argument(description="history, history_read: a note's versions")
    ] = "commands",
    name: Annotated[str, Argument(description="Note of the history")] = "",
    text: Annotated[str, Argument(description="Part of command ids")] = "",
    version: Annotated[int, Argument(description="1: newest", ge=1)] = 1,
    vault: VaultName = "",
) -> AppAnswer | DocumentAnswer:
    """Read from the running Obsidian app: commands, plugins, state of Sync, older versions of a
    note."""
    if topic.startswith("history") and not name.strip():
        raise InvalidArguments(f"{topic} needs `name`: the note.", argument="name")
    opened = app.vaults.get(vault)
    path = _path(opened, name) if name else VaultPath("")
    if topic in ("commands", "sync") and opened.policy.restricts_reading:
        # Commands of plugins bear the names of notes, such as templates and bookmarks (POL-18).
        raise PermissionDenied(
            f"{topic.capitalize()} tell of the whole vault, of which only a part may be read here."
        )
    obsidian = app.vaults.obsidian(vault)
    match topic:
        case "commands":
            commands = [
                command for command in obsidian.commands() if text.lower() in command.lower()
            ]
            return AppAnswer(commands=commands[:SHOWN], total=len(commands))
        case "history":
            versions = obsidian.history(path)
            return AppAnswer(path, versions=[*versions[:SHOWN]], total=len(versions))
        case "history_read":
            version_text = to_printable(obsidian.history_read(path, version))
            return DocumentAnswer(
                AppAnswer(path, cut=len(version_text) > PAGE or None), version_text[:PAGE]
            )
        case "plugins":
            plugins = obsidian.plugins()
            return AppAnswer(plugins=[*plugins[:SHOWN]], total=len(plugins))
        case "sync":
            return _cut_answer(obsidian.sync_status())


@tool(title="Open in Obsidian", writes=True, idempotent=True, needs_app=True)
def open_note(app: App, name: Name, vault: VaultName = "") -> AppAnswer:
    """Show a note in the running Obsidian app."""
    path = app.vaults.get(vault).find(name).path
    return AppAnswer(app.vaults.obsidian(vault).open(path))


@tool(title="Run Obsidian command", writes=True, destructive=True, open_world=True, needs_app=True)
def app_command(
    app: App,
    command: Annotated[str, Argument(description="Such as app:reload")] = "",
    javascript: Annotated[str, Argument(description="Instead, if allowed")] = "",
    vault: VaultName = "",
) -> AppAnswer:
    """Run a command of the running Obsidian app, or JavaScript in it."""
    if bool(command.strip()) == bool(javascript.strip()):
        raise InvalidArguments("Give either `command` (an id) or `javascript`.", argument="command")
    opened = app.vaults.get(vault)
    if javascript and not app.config.app.allow_eval:
        raise PermissionDenied(
            "JavaScript is not run in the app: the user has not allowed it. It needs the option "
            "--allow-eval."
        )
    opened.policy.check_free_hand(
        f"run the app's command {command!r}" if command else "run JavaScript in the app"
    )
    obsidian = app.vaults.obsidian(vault)
    return _cut_answer(obsidian.run_command(command) if command else obsidian.evaluate(javascript))


def _path(vault: Vault, name: str) -> VaultPath:
    """Return the file that is meant, also one that is not there any more, of which the app has
    versions."""
    try:
        return vault.find(name).path
    except NoteNotFound:
        path = vault.catalog.parse(name)
        path = path if extension(path) else VaultPath(f"{path}.md")
        if not vault.policy.is_visible(path):
            raise
        return path


def _cut_answer(answer: str) -> AppAnswer:
    return AppAnswer(answer=answer[:PAGE], cut=len(answer) > PAGE or None)
