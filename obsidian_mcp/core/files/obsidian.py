"""What the running app tells: the values that its drivers give to the tools."""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.core.text.vault_path import VaultPath


@dataclass(frozen=True, slots=True)
class AppVersion:
    app: str
    installer: str | None


@dataclass(frozen=True, slots=True)
class NoteText:
    """A note, byte for byte: `text.encode()` is the content of the file."""

    path: VaultPath
    text: str
    modified: int
    """Milliseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Written:
    path: VaultPath
    created: bool
    """False where a note was overwritten."""


@dataclass(frozen=True, slots=True)
class Moved:
    source: VaultPath
    target: VaultPath


@dataclass(frozen=True, slots=True)
class Backlink:
    path: str
    count: int


@dataclass(frozen=True, slots=True)
class OutgoingLink:
    target: str
    """Path of the file, or the text of a link that leads nowhere."""
    resolved: bool


@dataclass(frozen=True, slots=True)
class UnresolvedLink:
    link: str
    count: int
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Version:
    number: int
    """1 is the newest."""
    label: str
    """The line as the app prints it (time, size)."""


@dataclass(frozen=True, slots=True)
class Plugin:
    id: str
    name: str | None
    version: str | None
    enabled: bool
