"""The list of a vault's files, by path and by file name, and how it changes.

Links and listings are answered from it; `catalog` adds what the names that people write mean.

It is kept up to date file by file, because a scan of a large vault takes longer than most calls.
What is made from it elsewhere, such as the graph, compares `generation` or `revision` to know
whether it still holds.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Protocol

from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import NOTE_EXTENSION, VaultPath, name_key

from .file_entry import FileEntry
from .folder_table import FolderTable
from .name_errors import file_gone
from .ports import Change, DiskFile
from .spellings import Spellings, normal_form


class Names(Protocol):
    """The questions of link resolution to a set of files."""

    def find_by_name(self, filename: str) -> tuple[VaultPath, ...]:
        """Paths whose file name (with extension) compares equal to `filename`; sorted."""

    def path_at(self, path: str) -> VaultPath | None:
        """Return the file at exactly this path from the root, compared as the app compares."""


class FileList:
    """All files of a vault by path and by file name.

    A path is the NFC form of the disk spelling. Twins are files whose spellings have one NFC form,
    such as `é` as one character and as two: each keeps its own spelling as its path (NAME-09),
    whichever came first, so a file can get another path when its twin comes or goes. The vault's
    lock guards the list.
    """

    def __init__(self, files: Iterable[DiskFile] = ()) -> None:
        self._by_path: dict[str, FileEntry] = {}
        self._spellings = Spellings(lambda disk: self.on_disk(disk) is not None)
        self._path_of: dict[str, VaultPath] = {}
        """Disk spelling -> path, where the two differ."""
        self._names = threading.Lock()
        self._by_name: dict[str, list[VaultPath]] | None = None
        """Comparison key of a file name -> paths; made when it is first needed, which no search
        does."""
        self._folders = -1, FolderTable(())
        """The generation in which the folders were collected, and these."""
        self.generation = 0
        """Grows whenever a file appears or disappears; caches of derived data compare it."""
        self.revision = 0
        """Grows with every change of a file, of its size or time too."""
        if files:
            self.replace(files)

    def __len__(self) -> int:
        return len(self._by_path)

    def __iter__(self) -> Iterator[FileEntry]:
        # as they are now: others may take in changes meanwhile
        return iter(list(self._by_path.values()))

    def __contains__(self, path: str) -> bool:
        return path in self._by_path

    def get(self, path: str) -> FileEntry | None:
        return self._by_path.get(path)

    def entry(self, path: str) -> FileEntry:
        """Return the file at exactly this path. Raises: NoteNotFound, as where another program has
        just taken it."""
        if (entry := self._by_path.get(path)) is None:
            raise file_gone(path)
        return entry

    def entries_by_path(self) -> dict[str, FileEntry]:
        """Return all files as they are now; a copy."""
        return self._by_path.copy()

    def on_disk(self, disk: str) -> FileEntry | None:
        """Return the entry of the file that the disk spells so."""
        entry = self._by_path.get(self._path_of.get(disk, disk))
        return entry if entry is not None and entry.disk == disk else None

    def path_of(self, disk: str) -> VaultPath:
        """Return the path of a file or folder that the disk spells so, also of one that is not
        there (any more): then never the path of a file that is."""
        path = self._spellings.path(disk)
        namesake = self._by_path.get(path)
        return path if namesake is None or namesake.disk == disk else VaultPath(to_printable(disk))

    def replace(self, files: Iterable[DiskFile]) -> Iterable[Change]:
        """Replace the list of files; return the paths whose file is new, different or gone."""
        listed = {file.disk: file for file in files}
        before = self.entries_by_path()
        first: dict[str, FileEntry] = {}
        changes: list[Change] = []
        # The first list, of most files at once: an ASCII spelling is its own NFC form, so the file
        # has no twin, and nothing needs to be compared.
        if not self._by_path:
            first = {
                disk: FileEntry._make((disk, *file))
                for disk, file in listed.items()
                if disk.isascii()
            }
            with self._names:
                self._by_path.update(first)
                self._by_name = None
            self._bump_revision()
            listed = {disk: file for disk, file in listed.items() if disk not in first}
        else:
            for disk in sorted(entry.disk for entry in self if entry.disk not in listed):
                changes += self.drop(disk)
        for file in listed.values():
            changes += self.put(file)
        latest = {change.path: change for change in changes}.values()
        # a file has the path in normal form only until its twin comes
        last = [
            change
            for change in latest
            if not change.gone or change.path in before or change.path in first
        ]
        # nobody asks for the first ones of a short command
        return chain(map(Change, map(VaultPath, first)), last)

    def put(self, file: DiskFile) -> list[Change]:
        """Add or update a file; return the paths whose file is new or different."""
        earlier = self.on_disk(file.disk)
        if earlier is not None:
            if earlier.size == file.size and earlier.mtime_ns == file.mtime_ns:
                return []
            self._by_path[earlier.path] = FileEntry(earlier.path, *file)
            self.revision += 1
            return [Change(earlier.path)]
        path, twins = self._spellings.add(file.disk)
        if not twins:
            self._add(FileEntry(path, *file))
            return [Change(path)]
        twin_entries = self._entries_of(twins)
        return self._reassign(twin_entries, [*(twin.disk_file for twin in twin_entries), file])

    def drop(self, disk: str) -> list[Change]:
        """Remove a file; return the paths whose file is gone or different."""
        earlier = self.on_disk(disk)
        if earlier is None:
            return []
        self._remove(earlier.path)
        twins = self._spellings.remove(disk)
        if not twins:
            return [Change(earlier.path, gone=True)]
        twin_entries = self._entries_of(twins)
        changes = self._reassign(twin_entries, [twin.disk_file for twin in twin_entries])
        if any(change.path == earlier.path for change in changes):
            return changes
        return [Change(earlier.path, gone=True), *changes]

    def _entries_of(self, disks: Iterable[str]) -> list[FileEntry]:
        return [entry for disk in sorted(disks) if (entry := self.on_disk(disk)) is not None]

    def _reassign(self, taken: Iterable[FileEntry], files: Iterable[DiskFile]) -> list[Change]:
        """Take entries out and put files in, each under the path that it has now; return the
        changes that follow."""
        before = {entry.path: entry for entry in taken}
        after = {
            path: FileEntry(path, *file)
            for file in files
            for path in [self._spellings.path(file.disk)]
        }
        for path, entry in before.items():
            if after.get(path) != entry:
                self._remove(path)
        for path, entry in after.items():
            if before.get(path) != entry:
                self._add(entry)
        changes = [Change(path, gone=True) for path in before if path not in after]
        return changes + [
            Change(path) for path, entry in after.items() if before.get(path) != entry
        ]

    @property
    def folders(self) -> FolderTable:
        """The folders that hold a file at any depth, at this moment."""
        generation = self.generation
        if self._folders[0] != generation:
            self._folders = generation, FolderTable([entry.disk for entry in self])
        return self._folders[1]

    def as_listed(self, path: str) -> VaultPath:
        """Return the normal form of a path, but for a file that has it byte for byte, without `.md`
        or with it, the path of that file (NAME-06)."""
        if normal_form(path) == path:
            return VaultPath(path)
        if (entry := self._find_exact(path)) is not None:
            return entry.path
        if (note := self._find_exact(path + NOTE_EXTENSION)) is not None:
            return VaultPath(note.path[: -len(NOTE_EXTENSION)])
        return VaultPath(unicodedata.normalize("NFC", path))

    def _find_exact(self, path: str) -> FileEntry | None:
        """Return the file whose path, or spelling on disk, is exactly this."""
        return self._by_path.get(path) or self.on_disk(path)

    def _add(self, entry: FileEntry) -> None:
        with self._names:
            self._by_path[entry.path] = entry
            if self._by_name is not None:
                self._by_name.setdefault(_name(entry.path), []).append(entry.path)
        self._bump_revision()
        if entry.path != entry.disk:
            self._path_of[entry.disk] = entry.path

    def _bump_revision(self) -> None:
        self.generation += 1
        self.revision += 1

    def _remove(self, path: VaultPath) -> None:
        with self._names:
            entry = self._by_path.pop(path)
            if self._by_name is not None:
                key = _name(path)
                paths = self._by_name[key]
                paths.remove(path)
                if not paths:
                    del self._by_name[key]
        self._bump_revision()
        self._path_of.pop(entry.disk, None)

    def paths_by_key(self) -> dict[str, list[VaultPath]]:
        """Return every comparison key of a file name, with the paths that have it."""
        by_name = self._by_name
        if by_name is None:
            with self._names:
                by_name = {}
                for entry in self._by_path.values():
                    by_name.setdefault(_name(entry.path), []).append(entry.path)
                self._by_name = by_name
        return by_name

    def find_by_name(self, *filenames: str) -> tuple[VaultPath, ...]:
        """As `Names.find_by_name`, for any of several file names."""
        by_name = self._by_name or self.paths_by_key()
        return tuple(
            sorted({path for name in filenames for path in by_name.get(name_key(name), ())})
        )

    def read_ahead(self, paths: Collection[str]) -> None:
        """Do nothing: all files are here. A list that reads them one by one reads these at once."""

    def check_missing(self, name: str) -> None:
        """Do nothing: all files are listed here, so one that is not found is not there.

        A list that lacks files raises, because nobody may say that there is no such file.
        """

    def path_at(self, path: str) -> VaultPath | None:
        """Return the file at a path: of this very spelling, else of its normal form, else the
        smallest path that compares equal."""
        entry = self._by_path.get(path)
        if entry is None and not path.isascii():
            entry = self._by_path.get(self.as_listed(path))
        return min(self.find_equal(path), default=None) if entry is None else entry.path

    def find_respelled(self, disks: Iterable[str]) -> list[str]:
        """Return the spellings of all files whose paths compare equal to one of these, where it is
        not the only one."""
        asked_by_key: dict[str, set[str]] = {}
        for disk in disks:
            asked_by_key.setdefault(name_key(normal_form(disk)), set()).add(disk)
        listed_by_key: dict[str, set[str]] = {}
        for name in {key.rpartition("/")[2] for key in asked_by_key}:
            for path in self.paths_by_key().get(name, ()):
                listed_by_key.setdefault(name_key(path), set()).add(self.entry(path).disk)
        return [
            disk
            for key, spellings in listed_by_key.items()
            if key in asked_by_key and (len(spellings) > 1 or spellings != asked_by_key[key])
            for disk in spellings
        ]

    def find_equal(self, path: str) -> list[VaultPath]:
        """Return every file whose path compares equal, by path: several on a case-sensitive
        disk."""
        key = name_key(path)
        return sorted(
            path
            for path in list(self.paths_by_key().get(key.rpartition("/")[2], ()))
            if name_key(path) == key
        )


def _name(path: str) -> str:
    return name_key(path.rpartition("/")[2])
