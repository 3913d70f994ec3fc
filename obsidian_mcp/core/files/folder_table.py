"""The folders of a vault that hold files, found as names compare (specs/names.md NAME-08)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import accumulate, takewhile

from obsidian_mcp.core.text.vault_path import name_key

from .spellings import normal_form


class FolderTable:
    """The folders that hold a file at any depth, at one moment. Those that differ in normal form
    only are one folder of the vault (MOVE-05); those that differ in case are several."""

    def __init__(self, files: Iterable[str]) -> None:
        """`files`: the spelling on disk of every file."""
        spellings: set[str] = set()
        for disk in files:
            folder = disk.rpartition("/")[0]
            while folder and folder not in spellings:
                spellings.add(folder)
                folder = folder.rpartition("/")[0]
        disks: dict[str, str] = {}
        """Path in the vault -> spelling on disk: the one in normal form, else the smallest."""
        for spelling in sorted(spellings):
            normal = spelling if spelling.isascii() else normal_form(spelling)
            disks[normal] = spelling if spelling == normal else disks.get(normal, spelling)
        self._disks = disks
        self._by_key: dict[str, str] = {}
        for path in sorted(disks):
            self._by_key.setdefault(name_key(path), path)

    @property
    def paths(self) -> Collection[str]:
        """The paths of all folders."""
        return self._disks.keys()

    def find(self, path: str) -> tuple[str, str] | None:
        """Return a folder's spelling in the vault and on disk: of exactly this path, else of the
        smallest one that compares equal."""
        normal = path if path.isascii() else normal_form(path)
        spelled = normal if normal in self._disks else self._by_key.get(name_key(normal))
        return None if spelled is None else (spelled, self._disks[spelled])

    def longest_folder(self, path: str) -> str:
        """Return the longest beginning of a path that is a folder, "" for none."""
        beginnings = accumulate(path.split("/"), "{}/{}".format) if path else ()
        return max(takewhile(self.find, beginnings), key=len, default="")
