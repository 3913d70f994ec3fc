"""The files of a draft, over those on disk, and the operations that make the disk equal to them.

The rules are in specs/batch.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from obsidian_mcp.core.files.ports import DiskFile, Files
from obsidian_mcp.core.files.settings import SETTINGS_FOLDER
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.vault_path import basename, name_key
from obsidian_mcp.errors import NoteExists, NoteNotFound, StaleEtag, StorageFailed

from .change_checks import check_total
from .draft_folders import DraftFolders, ancestors
from .operation import Create, MakeFolder, Move, Operation, Remove, RemoveFolder, Write


class _Drafted(NamedTuple):
    """A file that the draft has made, changed or moved."""

    origin: str | None
    """Where it is on disk; None for a file that the draft has made."""
    data: bytes | None
    """Its bytes; None for those of its origin."""
    mtime_ns: int


class DraftFiles:
    """`Files` (core/files/ports.py, which documents the methods) whose changes stay in memory.

    The disk goes on changing under a draft. What a file held when the draft first changed it is
    kept, and the operations expect just that: a line that another program has written since is
    noticed, and not overwritten (BATCH-03).
    """

    def __init__(self, base: Files) -> None:
        self._base = base
        self._drafted: dict[str, _Drafted] = {}
        self._left: dict[str, Remove | None] = {}
        """Files on disk that are not at their place any more, and how those were removed that were
        not moved."""
        self._folders = DraftFolders(base)
        self._first: dict[str, bytes] = {}
        """What files on disk held when the draft first changed or removed them."""
        self._clock_ns = time.time_ns()
        self._total = 0
        """Bytes of what is written."""
        self.call = 0
        """Number of the call that is being made, from 1."""
        self._calls: dict[str, int] = {}
        """The calls that first changed files, by their places on disk."""

    @property
    def root(self) -> Path:
        return self._base.root

    # -- reading
    # ----------------------------------------------------------------------------------------------

    def scan(
        self, folder: str = "", is_wanted: Callable[[str], bool] | None = None
    ) -> Iterator[DiskFile]:
        for file in self._base.scan(folder, is_wanted):
            if file.disk not in self._left and file.disk not in self._drafted:
                yield file
        for disk in list(self._drafted):
            is_inside = not folder or disk.startswith(f"{folder}/")
            if (
                is_inside
                and (is_wanted is None or is_wanted(disk))
                and (drafted := self.stat(disk)) is not None
            ):
                yield drafted

    def list_evicted(self) -> Iterator[str]:
        return self._base.list_evicted()

    def stat(self, disk: str) -> DiskFile | None:
        drafted = self._drafted.get(disk)
        if drafted is None:
            return None if disk in self._left else self._base.stat(disk)
        if drafted.data is not None:
            return DiskFile(disk, len(drafted.data), drafted.mtime_ns)
        file = self._base.stat(drafted.origin or disk)
        return None if file is None else file._replace(disk=disk)

    def created_ns(self, disk: str) -> int:
        drafted = self._drafted.get(disk)
        if drafted is not None and drafted.origin is None:
            return drafted.mtime_ns
        return self._base.created_ns(self._source(disk))

    def exists(self, disk: str) -> bool:
        if disk in self._drafted or any(path.startswith(f"{disk}/") for path in self._drafted):
            return True
        return self._folders.is_made(disk) or (
            (there := self._folders.place_on_disk(disk)) is not None
            and there not in self._left
            and self._base.exists(there)
        )

    def read_file(self, disk: str, limit: int | None = None) -> bytes:
        drafted = self._drafted.get(disk)
        if drafted is not None and drafted.data is not None:
            return drafted.data
        return self._base.read_file(self._source(disk), limit)

    def head(self, disk: str, most: int) -> bytes:
        drafted = self._drafted.get(disk)
        if drafted is not None and drafted.data is not None:
            return drafted.data[:most]
        return self._base.head(self._source(disk), most)

    def subfolders(self, disk: str) -> list[str] | None:
        return self._folders.subfolders(disk, self._drafted)

    def filter_exact_spellings(self, disks: Iterable[str]) -> set[str]:
        sought = set(disks)
        drafted = sought & self._drafted.keys()
        return drafted | self._base.filter_exact_spellings(sought - drafted - self._left.keys())

    def config(self, name: str) -> bytes | None:
        drafted = self._drafted.get(f"{SETTINGS_FOLDER}/{name}")
        return self._base.config(name) if drafted is None else drafted.data

    def _source(self, disk: str) -> str:
        """Return where on disk a file's bytes are. Raises: NoteNotFound."""
        drafted = self._drafted.get(disk)
        if drafted is not None and drafted.origin is not None:
            return drafted.origin
        if disk in self._left:
            raise _no_file(disk)
        return disk

    # -- changing
    # ----------------------------------------------------------------------------------------------

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> None:
        if self.stat(disk) is None:
            self._put(disk, None, data)
            return
        present = self.read_file(disk)
        if expected is not None and present != expected:
            raise StaleEtag(
                f"{normal_form(disk)!r} was changed in this moment. Nothing was written.", path=disk
            )
        drafted = self._drafted.get(disk)
        origin = disk if drafted is None else drafted.origin
        if origin is not None:
            self._first.setdefault(origin, present)
        self._put(disk, origin, data)

    def create(self, disk: str, data: bytes) -> None:
        self._check_free(disk)
        self._put(disk, None, data)

    def move(self, source: str, target: str) -> None:
        is_file = self.stat(source) is not None
        if not is_file and self.subfolders(source) is None:
            raise NoteNotFound(
                f"There is no file or folder {normal_form(source)!r}.", path=normal_form(source)
            )
        if name_key(source) != name_key(target):
            self._check_free(target)
        if is_file:
            self._move_file(source, target)
            return
        files = [file.disk for file in self.scan(source)]
        self._folders.move(source, target)
        for disk in files:
            self._move_file(disk, target + disk[len(source) :])

    def _move_file(self, source: str, target: str) -> None:
        drafted = self._take(source)
        if drafted is None:
            self._left[source] = None
            drafted = _Drafted(source, None, 0)
        self._put(target, drafted.origin, drafted.data)

    def delete(self, disk: str, expected: bytes | None = None) -> None:
        self._remove(Remove(disk, permanent=True, before=expected))

    def trash(self, disk: str, *, system: bool, expected: bytes | None = None) -> str:
        self._remove(Remove(disk, permanent=False, system=system, before=expected))
        return "the system's trash" if system else f".trash/{normal_form(basename(disk))}"

    def _remove(self, removal: Remove) -> None:
        disk = removal.disk
        if self.stat(disk) is None:
            raise _no_file(disk)
        drafted = self._take(disk)
        origin = disk if drafted is None else drafted.origin
        if origin is None:
            return
        self._calls.setdefault(origin, self.call)
        if origin not in self._first:
            with suppress(StorageFailed):  # too large to be read: it goes into the trash as it is
                self._first[origin] = self._base.read_file(origin)
        self._left[origin] = replace(removal, disk=origin, before=self._first.get(origin))

    def make_folder(self, disk: str) -> None:
        self._folders.make(disk)

    def remove_folder(self, disk: str) -> None:
        if not any(self.scan(disk)):
            self._folders.remove(disk)

    def sweep(self, disk: str) -> None:
        """Nothing is written, so nothing is left behind."""

    def _check_free(self, disk: str) -> None:
        if self.exists(disk):
            raise NoteExists(
                f"There is already a file {normal_form(disk)!r}.", path=normal_form(disk)
            )

    def _take(self, disk: str) -> _Drafted | None:
        drafted = self._drafted.pop(disk, None)
        if drafted is not None:
            self._total -= len(drafted.data or b"")
        return drafted

    def _put(self, disk: str, origin: str | None, data: bytes | None) -> None:
        if origin == disk:
            self._left.pop(disk, None)
        elif origin is not None:
            self._left[origin] = None
        self._take(disk)
        self._total += len(data or b"")
        check_total(self._total)
        self._calls.setdefault(origin or disk, self.call)
        for folder in ancestors(disk):
            if not self.exists(folder):
                self._folders.make(folder)
        self._clock_ns = max(self._clock_ns + 1, time.time_ns())
        self._drafted[disk] = _Drafted(origin, data, self._clock_ns)

    # -- the change
    # --------------------------------------------------------------------------------------------

    def call_of(self, path: str) -> int | None:
        """Return the number of the call that first changed a file, by its path on disk in normal
        form."""
        return next((call for disk, call in self._calls.items() if normal_form(disk) == path), None)

    def operations(self) -> list[Operation]:
        """Return what makes the files on disk the draft.

        Files are written where they still are, then removed; folders move, then single files; at
        last the new ones are made. A file that is deleted and made again is written, so that it
        keeps its permissions.
        """
        origins = {
            disk: drafted.origin
            for disk, drafted in self._drafted.items()
            if drafted.origin is not None
        }
        new_files = {
            disk: drafted.data or b""
            for disk, drafted in self._drafted.items()
            if drafted.origin is None
        }
        placed_origins = set(origins.values())
        removed = [
            removal
            for removal in self._left.values()
            if removal is not None and removal.disk not in placed_origins
        ]
        after = {
            origin: data
            for disk, origin in origins.items()
            if (data := self._drafted[disk].data) is not None
        }
        places = {self._folders.place_after_moves(origin): disk for disk, origin in origins.items()}
        moves = {place: disk for place, disk in places.items() if place != disk}
        self._exchange(moves, origins, after)
        for removal in [
            removal for removal in removed if removal.disk in new_files
        ]:  # deleted, and made again
            after[removal.disk] = new_files.pop(removal.disk)
            removed.remove(removal)
        written = {disk: (self._first_bytes(disk), data) for disk, data in after.items()}
        return [
            *(
                Write(disk, before, data)
                for disk, (before, data) in written.items()
                if before != data
            ),
            *removed,
            *self._folders.moves,
            *(Move(source, target) for source, target in _order_moves(moves)),
            *(Create(disk, data) for disk, data in new_files.items()),
            *(MakeFolder(disk) for disk in self._folders.made_empty(self._drafted)),
            *(RemoveFolder(disk) for disk in self._folders.removed_folders()),
        ]

    def _exchange(
        self, moves: dict[str, str], origins: dict[str, str], after: dict[str, bytes]
    ) -> None:
        """Turn moves of files that take each other's places into changes of their texts in `after`.

        No move of one of them would find its target free.
        """
        for circle in _circles(moves):
            texts = {}
            for place in circle:
                origin = origins[moves[place]]
                replaced = self._folders.place_on_disk(moves[place]) or moves[place]
                texts[replaced] = after.get(origin, self._first_bytes(origin))
            after |= texts
            for place in circle:
                del moves[place]

    def _first_bytes(self, disk: str) -> bytes:
        """Return what a file on disk held when the draft first changed it.

        A file that only moved is read now.
        """
        if disk not in self._first:
            self._first[disk] = self._base.read_file(disk)
        return self._first[disk]


def _no_file(disk: str) -> NoteNotFound:
    return NoteNotFound(f"There is no file {normal_form(disk)!r}.", path=normal_form(disk))


def _circles(moves: dict[str, str]) -> list[list[str]]:
    """Return the files that take each other's places, each group once."""
    circles: list[list[str]] = []
    visited: set[str] = set()
    for start, at in moves.items():
        chain = [start]
        while at in moves and at != start and len(chain) <= len(moves):
            chain.append(at)
            at = moves[at]
        if at == start and start not in visited:
            visited.update(chain)
            circles.append(chain)
    return circles


def _order_moves(moves: dict[str, str]) -> list[tuple[str, str]]:
    """Return moves in an order in which each finds its target free.

    A move that leaves a place comes before the one that takes it.
    """
    ordered: list[tuple[str, str]] = []
    waiting = dict(moves)
    while waiting:
        free = [
            (source, target)
            for source, target in waiting.items()
            if target not in waiting or target == source
        ]
        ordered += free
        for source, _ in free:
            del waiting[source]
    return ordered
