"""What a change does to one file or folder.

These records are dataclasses, not tuples: a removal of an empty folder is not a new one of the same
path, and a plan compares operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from obsidian_mcp.core.files import media
from obsidian_mcp.core.files.settings import TrashOption
from obsidian_mcp.core.text.diff import CONTEXT_LINES, diff
from obsidian_mcp.core.text.text import Text, to_printable
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION


@dataclass(frozen=True, slots=True)
class Write:
    """Replace a file's bytes; `before` are the bytes that the change was made from."""

    disk: str
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Create:
    """Write a file that is not there yet."""

    disk: str
    after: bytes
    before: ClassVar[bytes] = b""


@dataclass(frozen=True, slots=True)
class Move:
    """Move a file, or a folder with its files."""

    disk: str
    target: str
    unlinked: bool = False
    """No link leads to the file, so the app may make the move (APP-FILE-06)."""


@dataclass(frozen=True, slots=True)
class Remove:
    """Move a file to the trash, or delete it for good.

    `system`: to the system's trash, else to the vault's own.
    """

    disk: str
    permanent: bool
    system: bool = False
    before: bytes | None = None
    """Bytes that the file must still have, such as text that went into another note; None removes
    the file whatever it holds."""


def removal(disk: str, option: TrashOption, *, permanent: bool = False) -> Remove:
    """Return the removal of a file by the vault's trash setting; `permanent` overrides it."""
    return Remove(disk, permanent=permanent or option == "none", system=option == "system")


@dataclass(frozen=True, slots=True)
class RemoveFolder:
    """Remove an empty folder; a folder that holds files, or is gone, is left alone."""

    disk: str


@dataclass(frozen=True, slots=True)
class MakeFolder:
    """Make a folder that stays empty."""

    disk: str


Operation = Write | Create | Move | Remove | RemoveFolder | MakeFolder


def difference(operation: Write | Create, context: int = CONTEXT_LINES) -> str:
    """Return the lines of a text that change, as a unified diff.

    For a file that is no text, return one line with its size. The file has its name on disk,
    because the name in normal form (NFC) may belong to another file (NAME-06).
    """
    path = to_printable(operation.disk)
    if not is_of_text(operation):
        return f"{path}: {len(operation.after):,} bytes that are no text\n"
    return diff(
        path, Text.decode(operation.before).body, Text.decode(operation.after).body, context
    )


def is_of_text(operation: Write | Create) -> bool:
    """Return whether a file has lines to show, before and after."""
    is_text = operation.disk.endswith(NOTE_EXTENSION) or media.is_text(
        operation.disk, operation.after
    )
    return is_text and b"\0" not in operation.before + operation.after
