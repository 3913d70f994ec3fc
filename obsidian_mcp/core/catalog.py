"""Which files the vault holds, in memory: what names, links and listings are resolved against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from .paths import VaultPath, name_key


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of the vault. `path` is NFC; `disk` is the path as the disk spells it (may be NFD or not UTF-8)."""

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
    """All files of a vault by path and by file name. Not thread-safe: the vault's lock guards it."""

    def __init__(self, entries: Iterable[FileEntry] = ()) -> None:
        self._by_path: dict[str, FileEntry] = {}
        self._by_key: dict[str, list[VaultPath]] = {}
        self._by_name: dict[str, list[VaultPath]] = {}
        for entry in entries:
            self.put(entry)

    def __len__(self) -> int:
        return len(self._by_path)

    def __iter__(self) -> Iterator[FileEntry]:
        return iter(self._by_path.values())

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def get(self, path: str) -> FileEntry | None:
        return self._by_path.get(path)

    def put(self, entry: FileEntry) -> None:
        known = entry.path in self._by_path
        self._by_path[entry.path] = entry
        if not known:
            self._by_key.setdefault(name_key(entry.path), []).append(entry.path)
            self._by_name.setdefault(name_key(entry.path.rpartition("/")[2]), []).append(entry.path)

    def drop(self, path: str) -> FileEntry | None:
        entry = self._by_path.pop(path, None)
        if entry is not None:
            for table, key in (
                (self._by_key, name_key(entry.path)),
                (self._by_name, name_key(entry.path.rpartition("/")[2])),
            ):
                bucket = table[key]
                bucket.remove(entry.path)
                if not bucket:
                    del table[key]
        return entry

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
