"""One vault: its files, what is known of them, and the one way to change them."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from obsidian_mcp.errors import NotText, PermissionDenied, StaleEtag

from . import deadline, names
from .catalog import Catalog, FileEntry
from .paths import NOTE_EXTENSION, VaultPath
from .ports import Change, Files
from .settings import AppSettings, app_settings
from .text import Text

RESCAN_ABOVE = 200
"""More changed paths than this are found faster by one scan than one by one."""


class Dirty(Protocol):
    """Says what may have changed on disk since the last question."""

    def drain(self) -> set[str] | None:
        """Raw paths of files or folders that may have changed; None when only a scan can tell."""
        ...


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was read: `etag` names exactly these bytes."""

    entry: FileEntry
    data: bytes
    etag: str

    @property
    def text(self) -> Text:
        return Text.decode(self.data)


@dataclass(frozen=True, slots=True)
class Write:
    """Replace a file's bytes; `before` is what the new bytes were made from."""

    entry: FileEntry
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Create:
    path: VaultPath
    disk: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Move:
    entry: FileEntry
    target: VaultPath
    disk: str


Operation = Write | Create | Move


def etag_of(data: bytes) -> str:
    """Content hash that a write can be made conditional on: 16 hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=8).hexdigest()


class Vault:
    """A folder of notes. Every method may be called from any thread."""

    def __init__(self, name: str, files: Files, dirty: Dirty) -> None:
        self.name = name
        self.files = files
        self.lock = threading.RLock()
        self.catalog = Catalog()
        self._dirty = dirty
        self._scanned = False

    # -- what is there -----------------------------------------------------------------------------------------

    def refresh(self) -> list[Change]:
        """Bring the catalog in step with the disk; what changed since the last time."""
        with self.lock:
            dirty = self._dirty.drain()
            if not self._scanned or dirty is None or len(dirty) > RESCAN_ABOVE:
                return self._rescan()
            return [change for disk in sorted(dirty) for change in self._look_at(disk)]

    def _rescan(self) -> list[Change]:
        changes: list[Change] = []
        gone = {entry.disk for entry in self.catalog}
        for count, file in enumerate(self.files.scan()):
            if count % 1000 == 0:
                deadline.checkpoint()
            gone.discard(file.disk)
            changes += self.catalog.put(file)
        for disk in sorted(gone):
            changes += self.catalog.drop(disk)
        self._scanned = True
        return changes

    def _look_at(self, disk: str) -> list[Change]:
        """One path that may have changed: a file, or a folder with all that is below it."""
        try:
            file = self.files.stat(disk)
        except PermissionDenied:  # a symbolic link took the place of a file or folder: not part of the vault
            file = None
        if file is not None:
            return self.catalog.put(file)
        if self.catalog.on_disk(disk) is not None:
            return self.catalog.drop(disk)
        changes: list[Change] = []
        below = {found.disk for found in self.files.scan(disk)}
        known = [entry.disk for entry in self.catalog if entry.disk.startswith(disk + "/")]
        for found in below:
            if (there := self.files.stat(found)) is not None:
                changes += self.catalog.put(there)
        for lost in known:
            if lost not in below:
                changes += self.catalog.drop(lost)
        return changes

    def entries(self) -> list[FileEntry]:
        """Every file, by path."""
        with self.lock:
            return sorted(self.catalog, key=lambda entry: entry.path)

    def find(self, raw: str) -> FileEntry:
        """The file that a person's name or path means.

        Raises: NoteNotFound with near names, AmbiguousName with candidates, PermissionDenied.
        """
        with self.lock:
            entry = names.find(self.catalog, raw)
            if entry is not None:
                return entry
            path, disk = names.spelled(self.catalog, raw)
            unnoticed = self.look_for(disk) or self.look_for(disk + NOTE_EXTENSION)
            if unnoticed is None:
                raise names.not_found(self.catalog, path)
            return unnoticed

    def at(self, path: VaultPath) -> FileEntry | None:
        """The file at this path, in any case and normal form."""
        with self.lock:
            known = self.catalog.at(path)
            return None if known is None else self.catalog[known]

    def folder(self, path: VaultPath) -> tuple[str, str]:
        """A folder's spelling in the vault and on disk."""
        with self.lock:
            return names.existing_folder(self.catalog, path)

    def look_for(self, disk: str) -> FileEntry | None:
        """A file that may be newer than what the watcher has told. Raises: PermissionDenied for a symbolic link."""
        with self.lock:
            file = self.files.stat(disk)
            if file is None:
                return None
            self.catalog.put(file)
            return self.catalog.on_disk(disk)

    @property
    def settings(self) -> AppSettings:
        """The app's settings of this vault as they stand now."""
        data = self.files.config("app.json")
        return app_settings(None if data is None else data.decode("utf-8", "replace"))

    # -- reading -----------------------------------------------------------------------------------------------

    def read(self, entry: FileEntry) -> Content:
        data = self.files.read(entry.disk)
        return Content(entry, data, etag_of(data))

    def read_text(self, entry: FileEntry) -> Content:
        """As `read`, for text only. Raises: NotText."""
        content = self.read(entry)
        if b"\0" in content.data[:8192]:
            raise NotText(
                f"{str(entry.path)!r} is not a text file ({entry.size:,} bytes of binary data).", path=entry.path
            )
        return content

    # -- changing ----------------------------------------------------------------------------------------------

    def edit(self, entry: FileEntry, change: Callable[[str], str], etag: str = "") -> tuple[Content, Content]:
        """Replace a file's text by `change(text)`, as one step; the content before and after.

        The text is the body after a byte order mark, which is kept. `etag`, where given, must be that of the file.
        Raises: StaleEtag, and whatever `change` raises, with nothing written.
        """
        with self.lock:
            before = self.read_text(entry)
            check_etag(before, etag)
            text = before.text
            after = Text(change(text.body), text.bom).encode()
            if after != before.data:
                self.commit([Write(entry, before.data, after)])
            fresh = self.catalog.get(entry.path) or entry
            return before, Content(fresh, after, etag_of(after))

    def commit(self, operations: Sequence[Operation]) -> None:
        """Make the changes, all or none: what was done is taken back when a later one fails.

        Raises: StaleEtag when a file no longer holds the bytes that its change was made from, and the errors of the
        disk.
        """
        with self.lock:
            for operation in operations:
                if isinstance(operation, Write):
                    self._expect(operation.entry, operation.before)
            deadline.checkpoint()
            undo: list[Callable[[], object]] = []
            try:
                for operation in operations:
                    take_back = self._perform(operation)
                    undo.append(take_back)
            except BaseException:
                for take_back in reversed(undo):
                    take_back()
                raise
            finally:
                for operation in operations:
                    for disk in _touched(operation):
                        self._look_at(disk)

    def _expect(self, entry: FileEntry, data: bytes) -> None:
        if self.files.read(entry.disk) != data:
            raise StaleEtag(
                f"{str(entry.path)!r} was changed by another program in this moment. "
                "Read it again and repeat the edit.",
                path=entry.path,
            )

    def _perform(self, operation: Operation) -> Callable[[], object]:
        """Do one operation; what takes it back."""
        if isinstance(operation, Write):
            self.files.write(operation.entry.disk, operation.after)
            return lambda: self.files.write(operation.entry.disk, operation.before)
        if isinstance(operation, Create):
            self.files.create(operation.disk, operation.data)
            return lambda: self.files.delete(operation.disk)
        self.files.move(operation.entry.disk, operation.disk)
        return lambda: self.files.move(operation.disk, operation.entry.disk)

    def remove(self, entry: FileEntry, *, permanent: bool, system: bool) -> str | None:
        """Take a file out of the vault; where it went, None when it is gone for good."""
        with self.lock:
            deadline.checkpoint()
            place = None if permanent else self.files.trash(entry.disk, system=system)
            if permanent:
                self.files.delete(entry.disk)
            self._look_at(entry.disk)
            return place


def check_etag(content: Content, etag: str) -> None:
    """Raises: StaleEtag when `etag` is given and names other bytes."""
    if etag and etag != content.etag:
        raise StaleEtag(
            f"{str(content.entry.path)!r} has changed since it was read: its etag is {content.etag} now, not {etag}. "
            "Read it again and repeat the edit.",
            path=content.entry.path,
            etag=content.etag,
        )


def _touched(operation: Operation) -> Iterable[str]:
    if isinstance(operation, Move):
        return (operation.entry.disk, operation.disk)
    return (operation.entry.disk if isinstance(operation, Write) else operation.disk,)


class Scanning:
    """`Dirty` without a watcher: a scan at most every `interval` seconds tells what changed."""

    def __init__(self, interval: float = 0.5, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = interval
        self._clock = clock
        self._last = float("-inf")

    def drain(self) -> set[str] | None:
        now = self._clock()
        if now - self._last < self._interval:
            return set()
        self._last = now
        return None
