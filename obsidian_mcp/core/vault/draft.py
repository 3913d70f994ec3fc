"""A draft of a vault: calls change it in memory, over the files, and the result is one change (specs/batch.md)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import inf
from pathlib import Path
from typing import NamedTuple, TypeVar

from obsidian_mcp.core.files.catalog import normal_form
from obsidian_mcp.core.files.ports import DiskFile, Files, Step
from obsidian_mcp.core.files.settings import SETTINGS_FOLDER
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.text.vault_path import basename, name_key
from obsidian_mcp.errors import InvalidArguments, NoteExists, NoteNotFound, StaleEtag

from .changes import Changes, Create, Done, Move, Operation, Remove, RemoveFolder, Write
from .sync_tree import Scanning
from .vault import Vault

Answer = TypeVar("Answer")


class _Drafted(NamedTuple):
    """A file that the draft has made, changed or moved."""

    origin: str | None
    """Where it is on disk; None for a file that the draft has made."""
    data: bytes | None
    """Its bytes; None for those of its origin."""
    mtime_ns: int


class DraftFiles:
    """`Files` (core/files/ports.py, which documents the methods) whose changes stay in memory."""

    def __init__(self, base: Files) -> None:
        self._base = base
        self._drafted: dict[str, _Drafted] = {}
        self._left: dict[str, Remove | None] = {}
        """Files on disk that are not at their place any more, and how those were removed that were not moved."""
        self._left_folders: dict[str, None] = {}
        """Folders that were moved or removed, in this order."""
        self._clock_ns = time.time_ns()

    @property
    def root(self) -> Path:
        return self._base.root

    def scan(self, folder: str = "", is_wanted: Callable[[str], bool] | None = None) -> Iterator[DiskFile]:
        for file in self._base.scan(folder, is_wanted):
            if file.disk not in self._left and file.disk not in self._drafted:
                yield file
        for disk in list(self._drafted):
            is_inside = not folder or disk.startswith(f"{folder}/")
            if is_inside and (is_wanted is None or is_wanted(disk)) and (drafted := self.stat(disk)) is not None:
                yield drafted

    def evicted(self) -> Iterator[str]:
        return self._base.evicted()

    def stat(self, disk: str) -> DiskFile | None:
        drafted = self._drafted.get(disk)
        if drafted is None:
            return None if disk in self._left else self._base.stat(disk)
        if drafted.data is not None:
            return DiskFile(disk, len(drafted.data), drafted.mtime_ns)
        found = self._base.stat(drafted.origin or disk)
        return None if found is None else found._replace(disk=disk)

    def created_ns(self, disk: str) -> int:
        drafted = self._drafted.get(disk)
        if drafted is not None and drafted.origin is None:
            return drafted.mtime_ns
        return self._base.created_ns(self._source(disk))

    def exists(self, disk: str) -> bool:
        if disk in self._drafted or any(path.startswith(f"{disk}/") for path in self._drafted):
            return True
        return disk not in self._left and disk not in self._left_folders and self._base.exists(disk)

    def read(self, disk: str, limit: int | None = None) -> bytes:
        drafted = self._drafted.get(disk)
        if drafted is not None and drafted.data is not None:
            return drafted.data
        return self._base.read(self._source(disk), limit)

    def head(self, disk: str, most: int) -> bytes:
        drafted = self._drafted.get(disk)
        if drafted is not None and drafted.data is not None:
            return drafted.data[:most]
        return self._base.head(self._source(disk), most)

    def subfolders(self, disk: str) -> list[str] | None:
        start = f"{disk}/" if disk else ""
        below = (path[len(start) :] for path in self._drafted if path.startswith(start))
        made = {start + path.split("/", 1)[0] for path in below if "/" in path}
        there = None if disk in self._left_folders else self._base.subfolders(disk)
        if there is None and not any(path.startswith(start) for path in self._drafted):
            return None
        return sorted({folder for folder in there or () if folder not in self._left_folders} | made)

    def spelled(self, disks: Iterable[str]) -> set[str]:
        asked = set(disks)
        drafted = asked & self._drafted.keys()
        return drafted | self._base.spelled(asked - drafted - self._left.keys())

    def config(self, name: str) -> bytes | None:
        drafted = self._drafted.get(f"{SETTINGS_FOLDER}/{name}")
        return self._base.config(name) if drafted is None else drafted.data

    def _source(self, disk: str) -> str:
        """Return where on disk a file's bytes are. Raises: NoteNotFound."""
        drafted = self._drafted.get(disk)
        if drafted is not None and drafted.origin is not None:
            return drafted.origin
        if disk in self._left:
            raise NoteNotFound(f"There is no file {normal_form(disk)!r}.", path=normal_form(disk))
        return disk

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> None:
        there = self.stat(disk) is not None
        if there and expected is not None and self.read(disk) != expected:
            raise StaleEtag(f"{normal_form(disk)!r} was changed in this moment. Nothing was written.", path=disk)
        known = self._drafted.get(disk)
        self._put(disk, known.origin if known is not None else disk if there else None, data)

    def create(self, disk: str, data: bytes) -> None:
        self._check_free(disk)
        self._put(disk, None, data)

    def move(self, source: str, target: str) -> None:
        is_file = self.stat(source) is not None
        if not is_file and self.subfolders(source) is None:
            raise NoteNotFound(f"There is no file or folder {normal_form(source)!r}.", path=normal_form(source))
        if name_key(source) != name_key(target):
            self._check_free(target)
        if is_file:
            self._move_file(source, target)
            return
        for file in list(self.scan(source)):
            self._move_file(file.disk, target + file.disk[len(source) :])
        self._left_folders.pop(target, None)
        self._leave_folder(source)

    def _move_file(self, source: str, target: str) -> None:
        known = self._drafted.pop(source, None)
        if known is None:
            self._left[source] = None
            known = _Drafted(source, None, 0)
        self._put(target, known.origin, known.data)

    def delete(self, disk: str) -> None:
        self._remove(Remove(disk, permanent=True))

    def trash(self, disk: str, *, system: bool) -> str:
        self._remove(Remove(disk, permanent=False, system=system))
        return "the system's trash" if system else f".trash/{normal_form(basename(disk))}"

    def _remove(self, removal: Remove) -> None:
        disk = removal.disk
        if self.stat(disk) is None:
            raise NoteNotFound(f"There is no file {normal_form(disk)!r}.", path=normal_form(disk))
        known = self._drafted.pop(disk, None)
        origin = disk if known is None else known.origin
        if origin is not None:
            self._left[origin] = Remove(origin, permanent=removal.permanent, system=removal.system)

    def remove_folder(self, disk: str) -> None:
        if not any(self.scan(disk)):
            self._leave_folder(disk)

    def _leave_folder(self, disk: str) -> None:
        if self._base.subfolders(disk) is not None:
            self._left_folders[disk] = None

    def sweep(self, disk: str) -> None:
        """Nothing is written, so nothing is left behind."""

    def _check_free(self, disk: str) -> None:
        if self.exists(disk):
            raise NoteExists(f"There is already a file {normal_form(disk)!r}.", path=normal_form(disk))

    def _put(self, disk: str, origin: str | None, data: bytes | None) -> None:
        if origin == disk:
            self._left.pop(disk, None)
        elif origin is not None:
            self._left[origin] = None
        self._clock_ns = max(self._clock_ns + 1, time.time_ns())
        self._drafted[disk] = _Drafted(origin, data, self._clock_ns)

    def operations(self) -> list[Operation]:
        """Return what makes the files on disk the draft: first what is written in place, then removed, moved, made."""
        placed = {drafted.origin: disk for disk, drafted in self._drafted.items() if drafted.origin is not None}
        moves = {origin: disk for origin, disk in placed.items() if origin != disk}
        after: dict[str, bytes] = {}
        for origin, disk in placed.items():
            if (data := self._drafted[disk].data) is not None:
                after[origin] = data
        for circle in _circles(moves):
            texts = {moves[origin]: after.get(origin, self._base.read(origin)) for origin in circle}
            after |= texts
            for origin in circle:
                del moves[origin]
        made = {disk: drafted.data or b"" for disk, drafted in self._drafted.items() if drafted.origin is None}
        removed = [removal for removal in self._left.values() if removal is not None and removal.disk not in placed]
        for removal in [removal for removal in removed if removal.disk in made]:  # deleted, and made again
            after[removal.disk] = made.pop(removal.disk)
            removed.remove(removal)
        written = {disk: (self._base.read(disk), data) for disk, data in after.items()}
        return [
            *(Write(disk, before, data) for disk, (before, data) in written.items() if before != data),
            *removed,
            *(Move(origin, disk) for origin, disk in _in_order(moves)),
            *(Create(disk, data) for disk, data in made.items()),
            *(RemoveFolder(disk) for disk in sorted(self._left_folders, key=len, reverse=True)),
        ]


def _circles(moves: dict[str, str]) -> list[list[str]]:
    """Return the files that take each other's places, each group once."""
    found: list[list[str]] = []
    seen: set[str] = set()
    for start, at in moves.items():
        chain = [start]
        while at in moves and at != start and len(chain) <= len(moves):
            chain.append(at)
            at = moves[at]
        if at == start and start not in seen:
            seen.update(chain)
            found.append(chain)
    return found


def _in_order(moves: dict[str, str]) -> list[tuple[str, str]]:
    """Return moves so that each finds its target free: one that leaves a place comes before the one that takes it."""
    ordered: list[tuple[str, str]] = []
    rest = dict(moves)
    while rest:
        free = [(source, target) for source, target in rest.items() if target not in rest or target == source]
        ordered += free
        for source, _ in free:
            del rest[source]
    return ordered


class _DraftChanges(Changes):
    """Makes changes in the files of a draft; the vault's lock is held by whoever holds the draft."""

    @contextmanager
    def changing(self) -> Iterator[None]:
        yield

    def commit(self, tool: str, operations: Sequence[Operation], undoes: int | None = None) -> Done:
        if undoes is not None:
            raise InvalidArguments("A batch cannot undo changes: an undo is a change of its own. Nothing was changed.")
        self._check(tool, operations)
        location = None
        for operation in operations:
            location = self._perform(operation, self._files) or location
        self._listing.look_at_all([Step("write", one.disk, getattr(one, "target", None)) for one in operations])
        return Done(0, location)


class DraftVault(Vault):
    """A vault whose changes stay in memory. Close it after use; the vault that it was made from stays open."""

    def __init__(self, vault: Vault) -> None:
        """Begin a draft of a vault; the index is copied when it is first needed."""
        self.drafted = DraftFiles(vault.files)
        scanning = Scanning(inf)  # once: nobody else changes it
        journal, copied = vault.journal, vault.indexer.index.copied
        super().__init__(vault.name, self.drafted, scanning, journal, copied, vault.policy, calendar=vault.calendar)

    @cached_property
    def _changes(self) -> Changes:
        return _DraftChanges(self.files, self.journal, self.policy, self._listing, None, None)

    def look_everywhere(self) -> None:
        """As `refresh`: a whole scan for each call of a batch would find what the first one found."""
        self.refresh()

    def close(self) -> None:
        """Close the copy of the index; the journal stays open for the vault."""
        self.close_index()

    def operations(self) -> list[Operation]:
        """Return what the draft changes, as one change of the vault it was made from."""
        return self.drafted.operations()


def draft(vault: Vault, calls: Sequence[Callable[[DraftVault], Answer]]) -> tuple[list[Answer], list[Operation]]:
    """Make calls one after the other on a draft of a vault; return their answers, and their changes as one."""
    drafted = DraftVault(vault)
    answers: list[Answer] = []
    try:
        for done, make in enumerate(calls):
            report_progress(done, len(calls), "Working out the batch")
            drafted.refresh()
            answers.append(make(drafted))
        return answers, drafted.operations()
    finally:
        drafted.close()
