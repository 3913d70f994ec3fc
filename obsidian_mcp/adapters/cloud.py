"""Files whose content is only in a cloud: reading one would download it, or never end (SAFE-14)."""

from __future__ import annotations

import errno
import os
import stat as stat_module

from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.errors import StorageFailed

STUB = ".icloud"
"""Ends the name of the hidden file that iCloud puts in the place of one that it has evicted:
`.Note.md.icloud`."""
_DATALESS = 0x4000_0000
"""SF_DATALESS of macOS: iCloud Drive, and other providers of files."""
_RECALLED = 0x1000 | 0x4_0000 | 0x40_0000
"""FILE_ATTRIBUTE_OFFLINE, RECALL_ON_OPEN and RECALL_ON_DATA_ACCESS of Windows: OneDrive's files on
demand."""


def is_in_cloud(facts: os.stat_result) -> bool:
    """Return whether a file's content is only in a cloud: reading would download it or wait forever
    (SAFE-14)."""
    return bool(
        getattr(facts, "st_flags", 0) & _DATALESS
        or getattr(facts, "st_file_attributes", 0) & _RECALLED
    )


def check_readable(facts: os.stat_result, disk: str, *, in_cloud: bool) -> None:
    """Raises: StorageFailed for a file in the cloud, FileNotFoundError for what is no regular
    file."""
    if in_cloud:
        raise not_downloaded(disk)
    if not stat_module.S_ISREG(facts.st_mode):
        raise FileNotFoundError(errno.ENOENT, "not a regular file")


def not_downloaded(disk: str) -> StorageFailed:
    return StorageFailed(
        f"{to_printable(disk)!r} is in the cloud and not downloaded to this computer, so it was "
        "neither read nor changed. Open it once in the Obsidian app or have the cloud keep it on "
        "this device, then try again.",
        path=to_printable(disk),
        downloaded=False,
    )
