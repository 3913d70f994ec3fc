"""What the core needs of the outside world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .paths import VaultPath


@dataclass(frozen=True, slots=True)
class DiskFile:
    """A file as the disk lists it: the raw relative path, `/`-separated (NFD and surrogate escapes possible)."""

    disk: str
    size: int
    """Bytes."""
    mtime_ns: int
    """Nanoseconds since the epoch."""


class Files(Protocol):
    """The vault's folder. Every method translates the system's errors to AppError.

    Hidden files, symbolic links and anything that is not a regular file do not exist for it, but a path that would
    pass through a symbolic link or leave the folder raises PermissionDenied.
    """

    @property
    def root(self) -> Path: ...

    def scan(self, folder: str = "") -> Iterator[DiskFile]:
        """Every file below a folder, in no particular order. Folders that cannot be listed are passed over."""
        ...

    def stat(self, disk: str) -> DiskFile | None: ...

    def read(self, disk: str, limit: int | None = None) -> bytes:
        """The whole content. Raises: NoteNotFound, PermissionDenied, StorageFailed (over `limit` bytes)."""
        ...

    def write(self, disk: str, data: bytes) -> DiskFile:
        """Replace or create, atomically: the old or the new content is there at every instant. Keeps the mode."""
        ...

    def create(self, disk: str, data: bytes) -> DiskFile:
        """Create, folders too. Raises: NoteExists when something is there, without touching it."""
        ...

    def move(self, source: str, target: str) -> DiskFile:
        """Rename inside the vault, folders made. Raises: NoteExists when the target is another file."""
        ...

    def delete(self, disk: str) -> None: ...

    def trash(self, disk: str, *, system: bool) -> str:
        """Put a file into the system's bin, or into `.trash`; says where it went."""
        ...

    def subfolders(self, disk: str) -> list[str] | None:
        """Visible folders directly below one, as the disk spells them; None when there is no such folder."""
        ...

    def config(self, name: str) -> bytes | None:
        """A file of the app's settings folder (`app.json`), None when absent."""
        ...


@dataclass(frozen=True, slots=True)
class Change:
    """The file at this path of the vault appeared or is different, or is gone."""

    path: VaultPath
    gone: bool = False
