"""The path in the vault of a file whose name the disk may spell in any normal form (specs/names.md
NAME-09)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from obsidian_mcp.core.text.text import UNREADABLE, to_printable
from obsidian_mcp.core.text.vault_path import VaultPath

_FIRST_BYTE = 0xDC00
"""The disk's spelling has a byte that is not UTF-8 as this code point plus the byte
(`surrogateescape`)."""
_BYTE = re.compile("[\udc80-\udcff]")


def normal_form(disk: str) -> str:
    """Return the NFC form of a disk spelling; bytes that are not UTF-8 become U+FFFD."""
    if disk.isascii():
        return disk
    return unicodedata.normalize("NFC", to_printable(disk))


def _spell(part: str) -> str:
    """Return a part of a spelling in which every byte that is not UTF-8 can be told from others:
    U+FFFD, and its number in hexadecimal."""
    return _BYTE.sub(
        lambda escaped_byte: f"{UNREADABLE}{ord(escaped_byte[0]) - _FIRST_BYTE:02X}", part
    )


class Spellings:
    """The files of a vault that have twins: other files whose spelling on disk has the same normal
    form.

    A file's path is the normal form of its spelling on disk, so that a name reaches it however it
    is typed. Twins keep their own spellings (NAME-06), or one would be taken for the other: a
    folder that a Mac and Linux share can hold two files `é.md` with different texts, one composed
    (U+00E9) and one decomposed (e and U+0301). Nobody's path depends on the order in which the
    files came.
    """

    def __init__(self, has_file: Callable[[str], bool]) -> None:
        """`has_file` tells whether a file of this spelling is known."""
        self._has_file = has_file
        self._groups: dict[str, set[str]] = {}
        """Normal form -> spellings on disk, where there is or was one that is not in normal
        form."""

    def path(self, disk: str) -> VaultPath:
        """Return the path of a file: twins keep the spelling of those folders and names in which
        they differ."""
        normal = normal_form(disk)
        group = self._groups.get(normal)
        if group is None or len(group) < 2 or disk not in group:
            return VaultPath(normal)
        columns = zip(
            normal.split("/"),
            disk.split("/"),
            *(spelling.split("/") for spelling in group),
            strict=True,
        )
        parts = (
            _spell(own) if len({*of_all}) > 1 else composed for composed, own, *of_all in columns
        )
        return VaultPath("/".join(parts))

    def add(self, disk: str) -> tuple[VaultPath, AbstractSet[str]]:
        """Take note of a new file; return its path, and its twins, whose paths may be others
        now."""
        normal = disk if disk.isascii() else normal_form(disk)
        group = self._groups.get(normal)
        if group is None:
            if normal == disk:
                return VaultPath(normal), frozenset()
            group = self._groups[normal] = {normal} if self._has_file(normal) else set()
        group.add(disk)
        return self.path(disk), group - {disk}

    def remove(self, disk: str) -> AbstractSet[str]:
        """Take note that a file is gone; return its twins, whose paths may be others now."""
        if not self._groups:
            return frozenset()
        group = self._groups.get(normal_form(disk), set())
        group.discard(disk)
        return frozenset(group)
