"""List, read, write, move and trash the files of a vault on disk (specs/files.md)."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat as stat_module
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.files.settings import SETTINGS_FOLDER
from obsidian_mcp.core.text.text import printable
from obsidian_mcp.errors import NoteExists, PermissionDenied, StaleEtag, StorageFailed

from .atomic import TEMP_PREFIX, discard, exchange, place_new, rename, rename_new, replace, temporary_file
from .folder import (
    ABSENT,
    BINARY,
    CLOEXEC,
    NOFOLLOW,
    NONBLOCK,
    NOT_LISTED,
    PATIENCE_SECONDS,
    Place,
    VaultFolder,
    patiently,
    translated,
)

TRASH_FOLDER = ".trash"
PIECE = 1024 * 1024
"""Bytes of one further read of a file that grows while it is read."""
STUB = ".icloud"
"""Ends the name of the hidden file that iCloud puts in the place of one that it has evicted: `.Note.md.icloud`."""
READ_LIMIT = 64 * 1024 * 1024
"""Bytes. A larger file is refused (FILE-07)."""

_READING = os.O_RDONLY | NOFOLLOW | NONBLOCK | BINARY | CLOEXEC

_RECALL_ON_OPEN = os.name == "nt"
"""Whether opening a file is enough to have the cloud download it."""


def in_cloud(facts: os.stat_result) -> bool:
    """Whether a file's content is only in a cloud: reading would download it or wait forever (SAFE-14)."""
    return bool(getattr(facts, "st_flags", 0) & _DATALESS or getattr(facts, "st_file_attributes", 0) & _RECALLED)


_DATALESS = 0x4000_0000
"""SF_DATALESS of macOS: iCloud Drive, and other providers of files."""
_RECALLED = 0x1000 | 0x4_0000 | 0x40_0000
"""FILE_ATTRIBUTE_OFFLINE, RECALL_ON_OPEN and RECALL_ON_DATA_ACCESS of Windows: OneDrive's files on demand."""


class Disk:
    """`Files` (core/files/ports.py, which documents the methods) below one folder (FILE rules).

    Paths are raw relative paths as `scan` gave them or as `VaultPath` spells them.
    """

    def __init__(
        self,
        root: Path,
        in_cloud: Callable[[os.stat_result], bool] = in_cloud,
        folder: VaultFolder | None = None,
    ) -> None:
        self._folder = folder or VaultFolder(root)
        self.root = self._folder.path
        self._in_cloud = in_cloud

    # -- reading -----------------------------------------------------------------------------------------------

    def scan(self, folder: str = "", is_wanted: Callable[[str], bool] | None = None) -> Iterator[DiskFile]:
        self._folder.check()
        try:
            pending = [folder] if not folder or self._folder.contained(folder) else []
        except PermissionDenied:  # a link in a folder's place
            return
        while pending:
            folder = pending.pop()
            above = f"{folder}/" if folder else ""
            for entry in self._entries(folder):
                disk = above + entry.name
                try:
                    if entry.is_file(follow_symlinks=False):
                        if is_wanted is None or is_wanted(disk):
                            facts = entry.stat(follow_symlinks=False)
                            yield DiskFile(disk, facts.st_size, facts.st_mtime_ns)
                    elif entry.is_dir(follow_symlinks=False):
                        pending.append(disk)
                except OSError:  # gone or locked between listing and stat: the next scan sees it as it is then
                    continue

    def evicted(self) -> Iterator[str]:
        folders = [""]
        while folders:
            folder = folders.pop()
            above = f"{folder}/" if folder else ""
            with contextlib.suppress(OSError), self._folder.listing(folder) as entries:
                for entry in entries:
                    if entry.name[0] != "." and entry.is_dir(follow_symlinks=False):
                        folders.append(above + entry.name)
                    elif entry.name.startswith(".") and entry.name.endswith(STUB):
                        yield above + entry.name[1 : -len(STUB)]

    def subfolders(self, disk: str) -> list[str] | None:
        try:
            if disk:
                with self._folder.place(disk) as place:
                    if not stat_module.S_ISDIR(place.real(disk).st_mode):
                        return None
            return [
                f"{disk}/{entry.name}" if disk else entry.name
                for entry in self._entries(disk)
                if entry.is_dir(follow_symlinks=False)
            ]
        except OSError as error:
            if error.errno in ABSENT:
                return None
            raise translated(error, disk, "listing") from error

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        """Yield what is not hidden in a folder; nothing of one that is gone or that the system forbids (FILE-13).

        Raises: AppError for the vault's own folder, and where a folder cannot be listed for another reason.
        """
        try:
            with self._folder.listing(folder) as entries:
                yield from (entry for entry in entries if entry.name[0] != ".")
        except OSError as error:
            if not folder or error.errno not in NOT_LISTED:
                raise translated(error, folder or self.root.name, "listing") from error

    def _lists(self, disk: str) -> bool:
        """Whether a folder lists a file by this name, not only by another case or normal form."""
        folder, _, name = disk.rpartition("/")
        return any(entry.name == name for entry in self._entries(folder))

    def spelled(self, disks: Iterable[str]) -> set[str]:
        listed: dict[str, set[str]] = {}

        def is_spelled(disk: str) -> bool:
            folder, _, name = disk.rpartition("/")
            if folder not in listed:
                listed[folder] = {entry.name for entry in self._entries(folder)}
            return name in listed[folder] and (not folder or is_spelled(folder))

        return {disk for disk in disks if is_spelled(disk)}

    def stat(self, disk: str) -> DiskFile | None:
        try:
            with self._folder.place(disk) as place:
                facts = place.real(disk)
        except OSError as error:
            _check_absent(error, disk)
            return None
        return DiskFile(disk, facts.st_size, facts.st_mtime_ns) if stat_module.S_ISREG(facts.st_mode) else None

    def created_ns(self, disk: str) -> int:
        try:
            with self._folder.place(disk) as place:
                facts = place.real(disk)
        except (OSError, PermissionDenied):
            return 0
        born: float | None = getattr(facts, "st_birthtime", None)  # seconds; not on Linux
        return min(facts.st_ctime_ns, facts.st_mtime_ns) if born is None else int(born * 1e9)

    def exists(self, disk: str) -> bool:
        try:
            with self._folder.place(disk) as place:
                try:
                    place.real(disk)
                except OSError as error:
                    if error.errno not in ABSENT:
                        raise
                    self._check_stub(place, disk)
                    return False
        except OSError as error:
            _check_absent(error, disk)
            return False
        return True

    def read(self, disk: str, limit: int | None = None) -> bytes:
        most = READ_LIMIT if limit is None else limit
        try:
            with self._folder.place(disk) as place, self._opened(place, disk) as (descriptor, size):
                if size > most:
                    raise StorageFailed(
                        f"{printable(disk)!r} is {size:,} bytes; the most that is read at once is {most:,}.",
                        path=printable(disk),
                        size=size,
                    )
                return _bytes(descriptor, size)
        except OSError as error:
            raise translated(error, disk, "reading") from error

    def head(self, disk: str, most: int) -> bytes:
        try:
            with self._folder.place(disk) as place, self._opened(place, disk) as (descriptor, size):
                return _bytes(descriptor, size, most)
        except OSError as error:
            raise translated(error, disk, "reading") from error

    @contextlib.contextmanager
    def _opened(self, place: Place, disk: str) -> Iterator[tuple[int, int]]:
        """Open the regular file at a place for reading: its descriptor and its size in bytes.

        Raises: OSError, StorageFailed, PermissionDenied.
        """
        opening = partial(os.open, place.name, _READING, dir_fd=place.folder)
        try:
            if _RECALL_ON_OPEN and self._in_cloud(place.facts()):
                raise _not_downloaded(disk)
            try:
                descriptor = opening()
            except PermissionError:
                descriptor = patiently(opening, PATIENCE_SECONDS / 10)
        except OSError as error:
            if error.errno == errno.ENOENT:
                self._check_stub(place, disk)
            raise
        try:
            facts = os.fstat(descriptor)
            if self._in_cloud(facts):
                raise _not_downloaded(disk)
            if not stat_module.S_ISREG(facts.st_mode):
                raise FileNotFoundError(errno.ENOENT, "not a regular file")
            yield descriptor, facts.st_size
        finally:
            os.close(descriptor)

    def _check_stub(self, place: Place, disk: str) -> None:
        """Raises: StorageFailed where iCloud has put `.Note.md.icloud` in the place of an evicted file."""
        name = disk.rpartition("/")[2]
        if Place(place.folder, place.beside(f".{name}{STUB}")).there():
            raise _not_downloaded(disk)

    def config(self, name: str) -> bytes | None:
        try:
            return (self.root / SETTINGS_FOLDER / name).read_bytes()
        except OSError:
            return None

    # -- writing -----------------------------------------------------------------------------------------------

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> None:
        with _translating(disk, "writing"), self._folder.place(disk) as place:
            if place.there():
                if not os.access(place.name, os.W_OK, dir_fd=place.folder):  # a rename would replace it all the same
                    os.close(os.open(place.name, os.O_WRONLY | NOFOLLOW, dir_fd=place.folder))  # fails with the reason
                with self._opened(place, disk) as (old, _):
                    temporary = temporary_file(place, data, old)
            else:
                self._check_stub(place, disk)
                temporary = temporary_file(place, data)
            try:
                self._replace(place, temporary, disk, expected)
            finally:
                discard(place, temporary)

    def _replace(self, place: Place, temporary: str, disk: str, expected: bytes | None) -> None:
        """Put a temporary file in its place if the file there holds `expected` in the last moment (SAFE-08).

        The app and other programs do not know our lock. Where the disk can swap two files, the replaced file is
        compared again after the swap, so that nothing is lost that a program with an open file has written.
        Raises: StaleEtag, and the file is as the other program left it.
        """
        if expected is None:
            replace(place, temporary)
            return
        self._check_unchanged(place, disk, expected)
        if not exchange(place, temporary):
            replace(place, temporary)
            return
        replaced = Place(place.folder, temporary)
        try:
            self._check_unchanged(replaced, disk, expected)
            place.sync()
            self._check_unchanged(replaced, disk, expected)
        except BaseException:  # nothing but the expected bytes may be lost
            exchange(place, temporary)
            place.sync()
            raise

    def _check_unchanged(self, place: Place, disk: str, expected: bytes) -> None:
        """Raises: StaleEtag where the file at a place does not hold `expected`."""
        with self._opened(place, disk) as (descriptor, size):
            if _bytes(descriptor, size, len(expected) + 1) != expected:
                raise StaleEtag(
                    f"{printable(disk)!r} was changed by another program in this moment. Nothing was written; read it "
                    "again and repeat the edit.",
                    path=printable(disk),
                )

    def create(self, disk: str, data: bytes) -> None:
        with _translating(disk, "creating", target=disk), self._folder.place(disk, make=True) as place:
            self._check_stub(place, disk)
            if place.there():
                place.real(disk)
                raise FileExistsError(errno.EEXIST, "exists")
            temporary = temporary_file(place, data)
            try:
                place_new(place, temporary)
            except BaseException:
                discard(place, temporary)
                raise
            place.sync()

    def move(self, source: str, target: str) -> None:
        with (
            _translating(source, "moving", target=target),
            self._folder.place(source) as old,
            self._folder.place(target, make=True) as new,
        ):
            try:
                facts = old.real(source)
            except FileNotFoundError:
                self._check_stub(old, source)
                raise
            if not new.there():
                self._check_stub(new, target)
            elif os.path.samestat(facts, new.real(target)) and not self._lists(target):
                # a change of case or normal form
                rename(old, new)
                new.sync()
                return
            rename_new(old, new)
            new.sync()
            old.sync()

    def delete(self, disk: str) -> None:
        with _translating(disk, "deleting"), self._folder.place(disk) as place:
            place.real(disk)
            patiently(lambda: os.unlink(place.name, dir_fd=place.folder))
            place.sync()

    def remove_folder(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self._folder.place(disk) as place:
            os.rmdir(place.name, dir_fd=place.folder)

    def sweep(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self._folder.place(disk) as place:
            for name in os.listdir(place.folder if place.folder is not None else os.path.dirname(place.name)):
                if name.startswith(TEMP_PREFIX) and name.endswith(".tmp"):
                    discard(place, place.beside(name))

    def trash(self, disk: str, *, system: bool) -> str:
        if system:
            from send2trash import TrashPermissionError, send2trash

            with contextlib.suppress(OSError, TrashPermissionError):
                self._folder.contained(disk)
                send2trash(self.root / disk)  # Windows' trash takes no paths in the extended form
                return "the system's trash"
        name = disk.rpartition("/")[2]
        stem, dot, suffix = name.rpartition(".")
        with _translating(disk, "moving to the trash"), self._folder.place(disk) as place:
            place.real(disk)
            for number in itertools.count(1):
                kept = name if number == 1 else f"{stem or suffix} {number}{dot and '.' + suffix}"
                target = f"{TRASH_FOLDER}/{kept}"
                with self._folder.place(target, make=True) as bin_place, contextlib.suppress(FileExistsError):
                    rename_new(place, bin_place)
                    bin_place.sync()
                    place.sync()
                    break
        return printable(target)


@contextlib.contextmanager
def _translating(disk: str, doing: str, *, target: str = "") -> Iterator[None]:
    """Raises: AppError for a system error while a file is changed (FILE-08); NoteExists where `target` is taken."""
    try:
        yield
    except OSError as error:
        if isinstance(error, FileExistsError) and target:
            raise NoteExists(f"There is already a file {printable(target)!r}.", path=printable(target)) from error
        raise translated(error, disk, doing) from error


def _check_absent(error: OSError, disk: str) -> None:
    """Raises: AppError where an error says anything but that a file is not there."""
    if error.errno not in ABSENT:
        raise translated(error, disk, "reading") from error


def _bytes(descriptor: int, size: int, most: int | None = None) -> bytes:
    """Return the file to its end, or its first `most` bytes.

    A file of the expected `size` takes one system call: every call releases the interpreter's lock, which another
    thread may then keep for 5 ms.
    """
    first = os.read(descriptor, (size if most is None else min(size, most)) + 1)
    if len(first) == size or (most is not None and len(first) > most):
        return first[:most]
    parts = [first]
    while parts[-1]:  # the file is being written, or its disk returns it in pieces
        parts.append(os.read(descriptor, PIECE))
    return b"".join(parts)[:most]


def _not_downloaded(disk: str) -> StorageFailed:
    return StorageFailed(
        f"{printable(disk)!r} is in the cloud and not downloaded to this computer, so it was neither read nor changed. "
        "Open it once in the Obsidian app or have the cloud keep it on this device, then try again.",
        path=printable(disk),
        downloaded=False,
    )
