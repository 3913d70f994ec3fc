"""What tells a file or folder from another one at the same path."""

from __future__ import annotations

import os
from typing import NamedTuple

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class FileIdentity(NamedTuple):
    """The device and the inode, which stay with a file while its path changes."""

    device: int
    inode: int

    @classmethod
    def from_stat(cls, facts: os.stat_result) -> FileIdentity:
        return cls(facts.st_dev, facts.st_ino)


def identity_at(path: Path) -> FileIdentity | None:
    """Return what is at a path now; None where nothing is, or it cannot be asked for."""
    try:
        return FileIdentity.from_stat(path.stat())
    except OSError:
        return None
