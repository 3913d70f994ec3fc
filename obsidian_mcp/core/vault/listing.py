"""Keeps the catalog of a vault's visible files in step with the disk (specs/watching.md)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from itertools import chain, islice

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.policy import Policy
from obsidian_mcp.core.files.ports import (
    COARSEST_TICK_NS,
    Change,
    DiskFile,
    Files,
    Step,
    may_repeat,
)
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.vault_path import is_at_or_below, is_below, name_key
from obsidian_mcp.errors import AppError, PermissionDenied, VaultNotFound

from .scanning import Dirty, Scanning

RESCAN_PATHS = 200
RESCAN_PART = 5
"""One scan is faster than more changed paths than 200 and than a fifth of the files: a look at a
path takes 15 µs, listing a file 5."""


class Listing:
    """Brings the catalog in step with the disk, and notes what changed for the index.

    `lock` guards both.
    """

    def __init__(
        self,
        files: Files,
        dirty: Dirty,
        policy: Policy,
        catalog: Catalog,
        note: Callable[[Iterable[Change]], None],
    ) -> None:
        """`note` is called with the files that changed, for the index."""
        self.catalog = catalog
        self.lock = threading.RLock()
        self.scanned = False
        """Whether all files are known; from then on what is reported as changed is enough."""
        self._looked = threading.Event()
        """Set when the first scan has ended and been noted: what is noted after all files were
        compared with the index counts as changed."""
        self._is_closing = False
        self._is_frozen = False
        self._is_scan_due = False
        """Whether a scan came in the middle of a change, so that the next call has to make it."""
        self._scanned_ns: int | None = None
        """When the last scan ended."""
        self._newer: set[str] | None = None
        """The paths looked at since a scan beside the calls began; None without one, or after
        another whole scan."""
        self._files = files
        self._dirty = dirty
        self._misses = Scanning()
        self._evictions = Scanning()
        self._evicted: list[str] = []
        """The files that were only in the cloud when the folder was last searched for them."""
        self._policy = policy
        self._note = note

    @property
    def is_known(self) -> bool:
        """Whether readers have the catalog.

        While a change is made they have it as it was before, whatever a scan failed to see.
        """
        return self.scanned or (self._is_frozen and self._scanned_ns is not None)

    @property
    def has_looked(self) -> bool:
        """Whether the first scan has ended."""
        return self._looked.is_set()

    def wait_for_look(self, seconds: float) -> bool:
        """Wait for the end of the first scan, which another thread makes; return whether it has
        ended."""
        return self._looked.wait(seconds)

    def list_all(self) -> Catalog:
        """Return the catalog when it is known."""
        if not self.has_looked:
            self.refresh()
        return self.catalog

    def stop_looking(self) -> None:
        """End the scan that is under way: nobody wants to know any more."""
        self._is_closing = True

    @property
    def watch_problem(self) -> str:
        """A sentence about why the folder is not watched; empty where it is."""
        return self._dirty.problem

    def refresh(self) -> None:
        """Bring the catalog in step with the disk: by a look at what was reported, or by a scan."""
        with self.lock:
            if self._is_frozen:
                return
            dirty = self._dirty.drain()
            is_behind = not self.scanned or self._is_scan_due or dirty is None
            if not is_behind and not dirty:
                return
            try:
                if (
                    is_behind
                    or dirty is None
                    or len(dirty) > max(RESCAN_PATHS, len(self.catalog) // RESCAN_PART)
                ):
                    self.rescan()
                else:
                    self._look(sorted(dirty))
            # the disk is gone; when it is back, what was reported meanwhile is not known
            except AppError:
                self.scanned = False
                raise

    def look_everywhere(self) -> None:
        """As `refresh`, but with a scan in any case.

        On a busy machine a report comes too late for a change that must miss nothing (WATCH-10).
        """
        with self.lock:
            self.scanned = self.scanned and self._is_frozen
            self.refresh()

    def _list_files(self) -> list[DiskFile]:
        """Return the visible files of the folder as they are now."""
        listed: list[DiskFile] = []
        files = self._files.scan("", self.is_visible if self._policy.restricts_reading else None)
        while some := list(islice(files, 1000)):
            checkpoint()
            if self._is_closing:
                raise VaultNotFound("The program is ending.")
            listed += map(self._share_strings, some) if self.scanned else some
        return listed

    def _share_strings(self, file: DiskFile) -> DiskFile:
        """Return a file with the strings and numbers of the catalog, where it is as listed there:
        those of the scan take 140 bytes more for each file."""
        entry = self.catalog.on_disk(file.disk)
        return file if entry is None or entry.disk_file != file else entry.disk_file

    def _take(self, listed: Sequence[DiskFile]) -> Iterable[Change]:
        """Take a list of all files into the catalog; return what changed.

        A file with the time and size that it had may have been saved again within one tick of the
        clock, so files of the time since the last scan count as changed.
        """
        now, last = time.time_ns(), self._scanned_ns
        if last is not None:
            listed = [*listed, *self._find_overlooked({file.disk for file in listed})]
        changes = self.catalog.replace(listed)
        if last is not None:
            recent = range(last - COARSEST_TICK_NS, now + COARSEST_TICK_NS)
            changes = chain(
                changes, *(self._recheck_file(file) for file in listed if file.mtime_ns in recent)
            )
        self._scanned_ns = now
        self._dirty.note_scan()
        self._misses.note_scan()
        self.scanned = True
        self._is_scan_due = False
        return changes

    def _find_overlooked(self, listed: AbstractSet[str]) -> Iterator[DiskFile]:
        """Yield files that are there although a scan missed them (WATCH-12).

        One that is renamed while its folder is read may be listed under neither name.
        """
        for disk in self._files.filter_exact_spellings(
            entry.disk for entry in self.catalog if entry.disk not in listed
        ):
            with suppress(PermissionDenied):
                if (file := self._files.stat(disk)) is not None:
                    yield file

    def catch_up(self) -> float | None:
        """Bring the catalog in step with the disk, by a scan if one is due (WATCH-02, WATCH-06).

        No call waits for that scan: the lock is free while it runs, and what calls look at
        meanwhile is newer than what it saw. Return the seconds until the next scan is due, None
        where the calls scan. One thread at a time calls this.
        """
        self.refresh()
        due = self._dirty.scan_due()
        if due != 0:
            return due
        with self.lock:
            self._newer = set()
        try:
            listed = self._list_files()
        except AppError:
            self.scanned = False
            raise
        with self.lock:
            if self._is_frozen:
                self._is_scan_due = True
            elif (newer := self._newer) is not None:
                if newer:
                    looked_at = [
                        entry.disk_file
                        for entry in self.catalog
                        if is_at_or_below(entry.disk, newer)
                    ]
                    listed = [
                        file for file in listed if not is_at_or_below(file.disk, newer)
                    ] + looked_at
                changes = list(self._take(listed))
                if newer:  # and may have changed again since, without a report
                    self._compare(sorted(newer), changes)
                self._note(changes)
                self._dirty.note_missed([change.path for change in changes])
            self._newer = None
        return self._dirty.scan_due()

    def list_named(self, names: Iterable[str]) -> Catalog:
        """Return the visible files that have one of these names, as names compare.

        No other file is looked at: it takes a fifth of the time of a whole list.
        """
        keys = {name_key(name) for name in names}

        def is_wanted(disk: str) -> bool:
            name = disk.rpartition("/")[2]
            return name_key(normal_form(name)) in keys and self.is_visible(disk)

        return Catalog(self._files.scan("", is_wanted))

    def rescan(self) -> None:
        """Look at the whole folder; nobody makes a change meanwhile."""
        with self.lock:
            changes = self._take(self._list_files())
            self._newer = None
            self._note(changes)
            self._looked.set()

    def look_for_named(self, names: Iterable[str]) -> None:
        """Look for files of these names that were not reported (WATCH-05).

        Not if the folder was just searched: a name that does not exist is asked for again and
        again.
        """
        with self.lock:
            if not self._is_frozen and self._misses.drain() is None:
                self._look([entry.disk for entry in self.list_named(names)])
                self._misses.note_scan()

    def check_downloaded(self, paths: Iterable[str]) -> None:
        """Check names and partial paths that no visible file has.

        Raises: StorageFailed for a file that is only in the cloud.
        """
        if self._evictions.drain() is None:
            self._evicted = [disk for disk in self._files.list_evicted() if self.is_visible(disk)]
            self._evictions.note_scan()
        ends = tuple(f"/{name_key(path)}" for path in paths)
        for disk in self._evicted:
            if f"/{name_key(normal_form(disk))}".endswith(ends):
                self._files.exists(disk)

    def is_visible(self, disk: str) -> bool:
        """Return whether a file is part of the vault, and the policy shows it.

        The settings of the vault, as all that begins with a dot, are no part of it.
        """
        if disk.startswith(".") or "/." in disk:
            return False
        return not self._policy.restricts_reading or self._policy.is_visible(normal_form(disk))

    def look_at(self, disk: str) -> None:
        """Look at one path that this program has just changed or found."""
        if not self._is_frozen:
            self._look([disk])

    def _look(self, disks: Sequence[str]) -> None:
        """Look at files, or at folders with all that is below them.

        Where the disk fails in between, the changes that the catalog has taken in are noted all the
        same (WATCH-09).
        """
        if self._newer is not None:
            self._newer.update(disks)
        changes: list[Change] = []
        try:
            self._compare(disks, changes)
        finally:
            self._note(changes)

    def _compare(self, disks: Sequence[str], changes: list[Change]) -> None:
        """Take paths into the catalog as they are on disk; add what changed to `changes`."""
        unlisted: set[str] = set()
        unknown = [disk for disk in disks if self.catalog.on_disk(disk) is None]
        # a symbolic link that took the place of a file or folder is not part of the vault
        for disk in disks:
            try:
                file = self._files.stat(disk)
            except PermissionDenied:
                file = None
            if file is not None:
                changes += (
                    (self.catalog.put(file) or self._recheck_file(file))
                    if self.is_visible(disk)
                    else []
                )
            elif self.catalog.on_disk(disk) is not None:
                changes += self.catalog.drop(disk)
            else:
                unlisted.add(disk)
        if unlisted:
            self._look_below({disk for disk in unlisted if not is_below(disk, unlisted)}, changes)
            unknown += [
                entry.disk
                for change in changes
                if (entry := self.catalog.get(change.path)) is not None
            ]
        if unknown:
            self._drop_respelled(unknown, changes)

    def _drop_respelled(self, disks: Sequence[str], changes: list[Change]) -> None:
        """Drop what the catalog has under a former spelling (WATCH-08).

        A disk that ignores case finds the file by that, too.
        """
        spellings = self.catalog.find_respelled(disks)
        spelled = self._files.filter_exact_spellings(spellings)
        for disk in spellings:
            if disk not in spelled:
                changes += self.catalog.drop(disk)
            elif (file := self._files.stat(disk)) is not None:
                changes += self.catalog.put(file)

    def _recheck_file(self, file: DiskFile) -> list[Change]:
        """Return a change of a file that seems unchanged, but may have been saved again (INDEX-03).

        Two saves within one tick of a coarse clock have the same time.
        """
        entry = self.catalog.on_disk(file.disk) if may_repeat(file.mtime_ns) else None
        return [] if entry is None else [Change(entry.path)]

    def _look_below(self, folders: AbstractSet[str], changes: list[Change]) -> None:
        """Look at folders, none below another, that came, changed or are gone."""
        below = {
            file_below.disk
            for folder in folders
            for file_below in self._files.scan(folder)
            if self.is_visible(file_below.disk)
        }
        listed = [entry.disk for entry in self.catalog if is_below(entry.disk, folders)]
        for file_below in below:
            if (there := self._files.stat(file_below)) is not None:
                changes += self.catalog.put(there)
        for lost in listed:
            if lost not in below:
                changes += self.catalog.drop(lost)

    def look_at_all(self, steps: Iterable[Step]) -> None:
        """Look at the files of a change, all at once."""
        paths = {disk for step in steps for disk in (step.disk, step.target) if disk is not None}
        with self.lock:
            try:
                self._look(sorted(paths))
            except AppError:  # the next call looks at everything
                self.scanned = False

    @contextmanager
    def frozen(self, steps: Sequence[Step]) -> Iterator[None]:
        """Keep the catalog as it is while these steps are made, then take in all (SAFE-21).

        Whoever reads meanwhile sees the files as they were before, and does not wait.
        """
        with self.lock:
            self._is_frozen = True
        try:
            yield
        finally:
            with self.lock:
                self._is_frozen = False
                self.look_at_all(steps)
