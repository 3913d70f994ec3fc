"""Which files the vault holds, in memory: what names, links and listings are resolved against."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from .paths import VaultPath, name_key
from .ports import Change, DiskFile


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of the vault: `path` is what the vault calls it (NFC), `disk` how the disk spells it."""

    path: VaultPath
    disk: str
    size: int
    """Bytes."""
    mtime_ns: int
    """Modification time in nanoseconds since the epoch."""


class Names(Protocol):
    """What link resolution asks of a set of files."""

    def named(self, filename: str) -> tuple[VaultPath, ...]:
        """Paths whose file name (with extension) compares equal to `filename`; sorted."""
        ...

    def at(self, path: str) -> VaultPath | None:
        """The file at exactly this path from the root, compared as the app compares."""
        ...


class Catalog:
    """All files of a vault by path and by file name.

    A file's path is the NFC form of its disk spelling. Where several spellings have one NFC form (twins, semantics
    12), the one already in NFC, else the smallest, gets it and the others keep their raw spelling: a function of the
    set of files alone, so that any order of changes gives the same catalog. Not thread-safe: the vault's lock guards
    it.
    """

    def __init__(self, files: Iterable[DiskFile] = ()) -> None:
        self._by_path: dict[str, FileEntry] = {}
        self._by_key: dict[str, list[VaultPath]] = {}
        self._by_name: dict[str, list[VaultPath]] = {}
        self._twins: dict[str, list[str]] = {}
        """Normal form -> disk spellings, kept only for groups with a spelling that is not in normal form."""
        self._path_of: dict[str, VaultPath] = {}
        self._folders: tuple[int, dict[str, tuple[str, str]]] = (-1, {})
        self.generation = 0
        """Grows whenever a file appears or disappears, so that what was derived from the names can be cached."""
        for file in files:
            self.put(file)

    def __len__(self) -> int:
        return len(self._by_path)

    def __iter__(self) -> Iterator[FileEntry]:
        return iter(self._by_path.values())

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def __getitem__(self, path: str) -> FileEntry:
        return self._by_path[path]

    def get(self, path: str) -> FileEntry | None:
        return self._by_path.get(path)

    def on_disk(self, disk: str) -> FileEntry | None:
        """The entry of the file that the disk spells so."""
        path = self._path_of.get(disk)
        return self._by_path[path] if path is not None else None

    def put(self, file: DiskFile) -> list[Change]:
        """A file is there with this size and time; the paths whose file is new or different now."""
        known = self._path_of.get(file.disk)
        if known is not None:
            if self._by_path[known].size == file.size and self._by_path[known].mtime_ns == file.mtime_ns:
                return []
            self._by_path[known] = FileEntry(known, file.disk, file.size, file.mtime_ns)
            return [Change(known)]
        normal = normal_form(file.disk)
        group = self._twins.get(normal)
        if group is None and normal == file.disk:
            self._add(FileEntry(VaultPath(normal), file.disk, file.size, file.mtime_ns))
            return [Change(VaultPath(normal))]
        files = {file.disk: file}
        if group is None:
            group = self._twins[normal] = [normal] if normal in self._path_of else []
        group.append(file.disk)
        return self._reassign(normal, group, files)

    def drop(self, disk: str) -> list[Change]:
        """The file that the disk spelled so is gone."""
        path = self._path_of.get(disk)
        if path is None:
            return []
        normal = normal_form(disk)
        group = self._twins.get(normal)
        self._remove(path)
        changes = [Change(path, gone=True)]
        if group is not None:
            group.remove(disk)
            if not group or group == [normal]:
                del self._twins[normal]
            again = self._reassign(normal, group, {})
            back = {change.path for change in again if not change.gone}
            changes = [change for change in changes if change.path not in back] + again
        return changes

    def folders(self) -> dict[str, tuple[str, str]]:
        """Folders that hold a file at any depth: comparison key -> (spelling in the vault, spelling on disk)."""
        if self._folders[0] != self.generation:
            found: dict[str, tuple[str, str]] = {}
            for entry in self._by_path.values():
                path, disk = entry.path.rpartition("/")[0], entry.disk.rpartition("/")[0]
                while path and (key := name_key(path)) not in found:
                    found[key] = (path, disk)
                    path, disk = path.rpartition("/")[0], disk.rpartition("/")[0]
            self._folders = (self.generation, found)
        return self._folders[1]

    def _reassign(self, normal: str, group: list[str], new: dict[str, DiskFile]) -> list[Change]:
        """Give the spellings of one normal form their paths; the changes that follow."""
        group.sort(key=lambda disk: (disk != normal, disk))
        wanted = {disk: VaultPath(normal if rank == 0 else disk) for rank, disk in enumerate(group)}
        facts = dict(new)
        before: dict[VaultPath, str] = {}
        for disk in group:
            path = self._path_of.get(disk)
            if path is not None:
                entry = self._by_path[path]
                facts[disk] = DiskFile(disk, entry.size, entry.mtime_ns)
                before[path] = disk
        after = {path: disk for disk, path in wanted.items()}
        for path, disk in before.items():
            if after.get(path) != disk:
                self._remove(path)
        changes = [Change(path, gone=True) for path in before if path not in after]
        for path, disk in after.items():
            if before.get(path) != disk:
                self._add(FileEntry(path, disk, facts[disk].size, facts[disk].mtime_ns))
                changes.append(Change(path))
        return changes

    def _add(self, entry: FileEntry) -> None:
        self.generation += 1
        self._by_path[entry.path] = entry
        self._path_of[entry.disk] = entry.path
        self._by_key.setdefault(name_key(entry.path), []).append(entry.path)
        self._by_name.setdefault(name_key(entry.path.rpartition("/")[2]), []).append(entry.path)

    def _remove(self, path: VaultPath) -> None:
        self.generation += 1
        entry = self._by_path.pop(path)
        del self._path_of[entry.disk]
        for table, key in (
            (self._by_key, name_key(path)),
            (self._by_name, name_key(path.rpartition("/")[2])),
        ):
            bucket = table[key]
            bucket.remove(path)
            if not bucket:
                del table[key]

    def named(self, filename: str) -> tuple[VaultPath, ...]:
        return tuple(sorted(self._by_name.get(name_key(filename), ())))

    def at(self, path: str) -> VaultPath | None:
        """Exact spelling first, then the smallest path that compares equal."""
        if path in self._by_path:
            return self._by_path[path].path
        return min(self._by_key.get(name_key(path), ()), default=None)

    def all_at(self, path: str) -> tuple[VaultPath, ...]:
        """Every file whose path compares equal: several on a case-sensitive disk."""
        return tuple(sorted(self._by_key.get(name_key(path), ())))


def normal_form(disk: str) -> str:
    """NFC of a disk spelling; bytes that are not UTF-8 become U+FFFD."""
    if disk.isascii():
        return disk
    clean = disk.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return unicodedata.normalize("NFC", clean)
