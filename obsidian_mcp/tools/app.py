"""What only the running app can do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core.files.policy import confirmed
from obsidian_mcp.core.files.ports import Obsidian
from obsidian_mcp.core.note import edits
from obsidian_mcp.core.text import deadline
from obsidian_mcp.core.text.vault_path import VaultPath, extension, parse
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    AppCommandFailed,
    ConfirmationRequired,
    InvalidArguments,
    NoteNotFound,
    PermissionDenied,
)

from .params import VaultName
from .registry import Document, tool

PAGE = 40_000
"""Characters of one answer (TOOL-07)."""
SHOWN = 200
"""Commands, versions or plugins of one answer."""
MADE_SECONDS = 1.0
"""How long the app may take until a note that it has made is on the disk."""

Action = Literal[
    "commands", "run", "open", "daily", "daily_append", "history", "history_read", "plugins", "sync", "eval"
]
_NEEDS: dict[Action, str] = {
    "run": "text",
    "open": "name",
    "daily_append": "text",
    "history": "name",
    "history_read": "name",
    "eval": "text",
}


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    id: str
    name: str | None
    version: str | None
    enabled: bool


@dataclass(frozen=True, slots=True)
class KeptVersion:
    version: int
    """1 is the newest."""
    label: str


@dataclass(frozen=True, slots=True)
class AppAnswer:
    path: str | None = None
    exists: bool | None = None
    """Whether today's daily note is there."""
    changed: bool | None = None
    etag: str | None = None
    commands: list[str] | None = None
    plugins: list[InstalledPlugin] | None = None
    versions: list[KeptVersion] | None = None
    total: int | None = None
    """How many there are; the first are shown."""
    answer: str | None = None
    """What the app said."""
    cut: bool | None = None
    """True where the text was longer than one answer."""


@tool("app", title="Obsidian app", writes=True, destructive=True, mixed="action", needs_app=True)
def app(
    app: App,
    action: Action = "commands",
    name: Annotated[str, Field(description="Note, for open and history")] = "",
    text: Annotated[str, Field(description="Filter of commands, id to run, Markdown to append, JavaScript")] = "",
    version: Annotated[int, Field(description="1 is the newest", ge=1)] = 1,
    vault: VaultName = "",
) -> AppAnswer | Document:
    """Use the running Obsidian app: its commands, open a note, today's daily note, file history, plugins, sync."""
    _check(action, name, text)
    place = app.vaults.get(vault)
    if action == "eval" and not app.config.app.allow_eval:
        raise PermissionDenied(
            "JavaScript is not run in the app: the user has not allowed it. It needs the option --allow-eval."
        )
    if action in ("run", "eval"):
        _check_free_hand(place, f"run the app's command {text!r}" if action == "run" else "run JavaScript in the app")
    path = _path(place, name, gone=action != "open") if name else VaultPath("")
    obsidian = app.vaults.obsidian(vault)
    match action:
        case "commands":
            found = [each for each in obsidian.commands() if text.lower() in each.lower()]
            return AppAnswer(commands=found[:SHOWN], total=len(found))
        case "run":
            return _said(obsidian.run_command(text))
        case "open":
            return AppAnswer(obsidian.open(path))
        case "daily":
            return _daily(place, obsidian)
        case "daily_append":
            return _daily_append(place, obsidian, text)
        case "history":
            kept = obsidian.history(path)
            shown = [KeptVersion(each.number, each.label) for each in kept[:SHOWN]]
            return AppAnswer(path, versions=shown, total=len(kept))
        case "history_read":
            return _document(AppAnswer(path), obsidian.history_read(path, version))
        case "plugins":
            plugins = [InstalledPlugin(each.id, each.name, each.version, each.enabled) for each in obsidian.plugins()]
            return AppAnswer(plugins=plugins[:SHOWN], total=len(plugins))
        case "sync":
            return _said(obsidian.sync_status())
        case "eval":
            return _said(obsidian.evaluate(text))


def _check(action: Action, name: str, text: str) -> None:
    """Raises: InvalidArguments for an argument that is missing."""
    needed = _NEEDS.get(action)
    if needed is not None and not {"name": name, "text": text}[needed].strip():
        what = {"run": "the id of a command", "eval": "JavaScript", "daily_append": "what to add"}.get(action, "a note")
        raise InvalidArguments(f"{action} needs {needed}: {what}.", argument=needed)


def _check_free_hand(place: Vault, what: str) -> None:
    """What the app does by itself cannot be held to the user's policy, so it is done only where there is none.

    Raises: PermissionDenied, ConfirmationRequired.
    """
    policy = place.policy
    if policy.read_only:
        raise PermissionDenied("The vault is open for reading only: nothing is run in the app.")
    if policy.restricts_reading or policy.write or policy.largest_write is not None or not policy.permanent_delete:
        raise PermissionDenied(
            f"The user's policy limits what may be read or changed in this vault, and nothing could hold the app to "
            f"it: this program does not {what}."
        )
    if policy.confirm and not confirmed.get():
        raise ConfirmationRequired(
            f"The user wants to confirm this: {what}. Ask, and after a yes call again with confirm set to true.",
            action=what,
        )


def _path(place: Vault, name: str, *, gone: bool) -> VaultPath:
    """The file that is meant; with `gone` also one that is not there any more, of which the app has versions."""
    try:
        return place.find(name).path
    except NoteNotFound:
        path = parse(name)
        path = path if extension(path) else VaultPath(f"{path}.md")
        if not gone or not place.policy.visible(path):
            raise
        return path


def _daily(place: Vault, obsidian: Obsidian) -> AppAnswer | Document:
    path = obsidian.daily_path()
    entry = place.at(path) or place.look_for(path)
    if entry is None:
        return AppAnswer(path, exists=False)
    content = place.read_text(entry)
    return _document(AppAnswer(entry.path, exists=True, etag=content.etag), content.text.body)


def _daily_append(place: Vault, obsidian: Obsidian, text: str) -> AppAnswer:
    path = obsidian.daily_path()
    entry = place.at(path) or place.look_for(path)
    if entry is None:
        place.policy.check_write(path)
        place.policy.check_confirmed("create", f"create {str(path)!r}")
        obsidian.daily_create()
        end = time.monotonic() + MADE_SECONDS
        while (entry := place.look_for(path)) is None:
            deadline.checkpoint()
            if time.monotonic() > end:
                raise AppCommandFailed(
                    f"Obsidian did not make the daily note {str(path)!r}. See that the core plugin Daily notes is on.",
                    path=path,
                )
            time.sleep(0.05)
    edited = place.edit("app", entry, lambda body: edits.append(body, text))
    return AppAnswer(entry.path, changed=edited.before.etag != edited.after.etag, etag=edited.after.etag)


def _said(answer: str) -> AppAnswer:
    return AppAnswer(answer=answer[:PAGE], cut=len(answer) > PAGE or None)


def _document(facts: AppAnswer, text: str) -> Document:
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if len(shown) <= PAGE:
        return Document(facts, shown)
    return Document(AppAnswer(facts.path, facts.exists, etag=facts.etag, cut=True), shown[:PAGE])
