"""A vault's folder on disk: listing, reading, atomic writing, moving, trash (specs/files.md)."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat as stat_module
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from obsidian_mcp.core.ports import DiskFile
from obsidian_mcp.errors import (
    AppError,
    NoteExists,
    NoteNotFound,
    PermissionDenied,
    StaleEtag,
    StorageFailed,
    VaultNotFound,
)

TEMP_PREFIX = ".obsidian-mcp-"
"""Temporary files stand beside their target, because only a rename inside one file system is atomic; the dot keeps
them out of every listing, the app's too."""

SETTINGS_FOLDER = ".obsidian"
TRASH_FOLDER = ".trash"
READ_LIMIT = 64 * 1024 * 1024
"""Bytes. A larger note is refused rather than loaded."""

_ABSENT = {errno.ENOENT, errno.ENOTDIR}
_REFUSED = {errno.EACCES, errno.EPERM}
_EXPLAINED = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the vault's disk is read-only",
    errno.ENAMETOOLONG: "the path is too long for this disk",
    errno.EIO: "the disk reported an input/output error",
    errno.EMFILE: "too many files are open",
} | dict.fromkeys(
    (errno.ESTALE, errno.ENOTCONN, errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENODEV, errno.ENXIO),
    "the disk is not connected any more",
)


def translated(error: OSError, disk: str, doing: str) -> AppError:
    """The one place where the system's errors become ours."""
    shown = _shown(disk)
    if error.errno in _ABSENT:
        return NoteNotFound(f"There is no file {shown!r} in the vault any more.", path=shown)
    if error.errno in _REFUSED:
        return PermissionDenied(
            f"The system does not allow {doing} {shown!r}. Check the file's permissions, or allow this program "
            "to use the folder in the system's privacy settings.",
            path=shown,
        )
    if error.errno == errno.ELOOP:
        return PermissionDenied(f"{shown!r} is a symbolic link, which is not followed.", path=shown)
    reason = _EXPLAINED.get(error.errno or 0, os.strerror(error.errno) if error.errno else str(error))
    return StorageFailed(f"{doing.capitalize()} {shown!r} failed: {reason}. Nothing was changed.", path=shown)


def _shown(disk: str) -> str:
    return disk.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def in_cloud(facts: os.stat_result) -> bool:
    """Whether only the name of a file is here and its content in a cloud: reading would download it or wait forever."""
    return bool(getattr(facts, "st_flags", 0) & _DATALESS or getattr(facts, "st_file_attributes", 0) & _RECALLED)


_DATALESS = 0x4000_0000
"""SF_DATALESS of macOS: iCloud Drive, and other providers of files."""
_RECALLED = 0x1000 | 0x4_0000 | 0x40_0000
"""FILE_ATTRIBUTE_OFFLINE, RECALL_ON_OPEN and RECALL_ON_DATA_ACCESS of Windows: OneDrive's files on demand."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file is: its name in an open folder, or its whole path where the system has no such calls."""

    folder: int | None
    name: str

    def facts(self) -> os.stat_result:
        return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)

    def beside(self, name: str) -> str:
        return name if self.folder is not None else os.path.join(os.path.dirname(self.name), name)

    def there(self) -> bool:
        try:
            self.facts()
        except OSError as error:
            if error.errno in _ABSENT:
                return False
            raise
        return True

    def sync(self) -> None:
        """Make what was done in the folder durable; systems that cannot sync a folder do not need it."""
        with contextlib.suppress(OSError):
            if self.folder is not None:
                os.fsync(self.folder)


class Disk:
    """The files below one folder. Paths are raw relative paths as `scan` gave them or as `VaultPath` spells them."""

    def __init__(self, root: Path, in_cloud: Callable[[os.stat_result], bool] = in_cloud) -> None:
        self.root = Path(os.path.realpath(root))
        self._in_cloud = in_cloud
        self._identity: tuple[int, int] | None = None
        """Device and number of the vault's folder, to notice when another one takes its place."""
        self._settings_seen = os.path.isdir(self.root / SETTINGS_FOLDER)

    # -- reading -----------------------------------------------------------------------------------------------

    def scan(self, folder: str = "") -> Iterator[DiskFile]:
        self._check_root()
        try:
            pending = [folder] if not folder or self._contained(folder) else []
        except PermissionDenied:  # a link in a folder's place
            return
        while pending:
            folder = pending.pop()
            for entry in self._entries(folder):
                disk = f"{folder}/{entry.name}" if folder else entry.name
                try:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(disk)
                    elif entry.is_file(follow_symlinks=False):
                        facts = entry.stat(follow_symlinks=False)
                        yield DiskFile(disk, facts.st_size, facts.st_mtime_ns)
                except OSError:  # gone or locked between listing and stat: the next scan sees it as it is then
                    continue

    def subfolders(self, disk: str) -> list[str] | None:
        try:
            if disk:
                with self._place(disk) as place:
                    if not stat_module.S_ISDIR(self._real(place, disk).st_mode):
                        return None
            return [
                f"{disk}/{entry.name}" if disk else entry.name
                for entry in self._entries(disk)
                if entry.is_dir(follow_symlinks=False)
            ]
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise translated(error, disk, "listing") from error

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._join(folder)) as entries:
                return [entry for entry in entries if not entry.name.startswith(".")]
        except OSError:
            return []

    def stat(self, disk: str) -> DiskFile | None:
        try:
            with self._place(disk) as place:
                facts = self._real(place, disk)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise translated(error, disk, "reading") from error
        if not stat_module.S_ISREG(facts.st_mode):
            return None
        return DiskFile(disk, facts.st_size, facts.st_mtime_ns)

    def exists(self, disk: str) -> bool:
        try:
            with self._place(disk) as place:
                try:
                    self._real(place, disk)
                except OSError as error:
                    if error.errno not in _ABSENT:
                        raise
                    self._check_stub(place, disk)
                    return False
        except OSError as error:
            if error.errno in _ABSENT:
                return False
            raise translated(error, disk, "reading") from error
        return True

    def read(self, disk: str, limit: int | None = None) -> bytes:
        most = READ_LIMIT if limit is None else limit
        try:
            with self._place(disk) as place, self._opened(place, disk) as file:
                size = os.fstat(file.fileno()).st_size
                if size > most:
                    raise StorageFailed(
                        f"{_shown(disk)!r} is {size:,} bytes; the most that is read at once is {most:,}.",
                        path=_shown(disk),
                        size=size,
                    )
                return file.read()
        except OSError as error:
            raise translated(error, disk, "reading") from error

    def head(self, disk: str, most: int) -> bytes:
        try:
            with self._place(disk) as place, self._opened(place, disk) as file:
                # No more than there is: room for all of `most` is made, and that takes longer than reading a note.
                return file.read(min(most, os.fstat(file.fileno()).st_size))
        except OSError as error:
            raise translated(error, disk, "reading") from error

    def _opened(self, place: _Place, disk: str) -> BinaryIO:
        """The regular file at a place, for reading. Raises: OSError, StorageFailed, PermissionDenied."""
        if _RECALL_ON_OPEN:
            self._check_here(place.facts(), disk)
        try:
            descriptor = os.open(
                place.name, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _BINARY | _CLOEXEC, dir_fd=place.folder
            )
        except OSError as error:
            if error.errno == errno.ENOENT:
                self._check_stub(place, disk)
            elif error.errno == errno.ELOOP:
                raise _linked(disk) from error
            raise
        try:
            facts = os.fstat(descriptor)
            self._check_here(facts, disk)
            if not stat_module.S_ISREG(facts.st_mode):
                raise FileNotFoundError(errno.ENOENT, "not a regular file")
        except BaseException:
            os.close(descriptor)
            raise
        return open(descriptor, "rb")

    def _check_here(self, facts: os.stat_result, disk: str) -> None:
        """Raises: StorageFailed for a file that the cloud has not downloaded (SAFE-14)."""
        if self._in_cloud(facts):
            raise _not_downloaded(disk)

    def _check_stub(self, place: _Place, disk: str) -> None:
        """Raises: StorageFailed where iCloud has put `.Note.md.icloud` in the place of an evicted file."""
        name = disk.rpartition("/")[2]
        if not name.startswith(".") and _Place(place.folder, place.beside(f".{name}.icloud")).there():
            raise _not_downloaded(disk)

    def config(self, name: str) -> bytes | None:
        try:
            return (self.root / SETTINGS_FOLDER / name).read_bytes()
        except OSError:
            return None

    # -- writing -----------------------------------------------------------------------------------------------

    def write(self, disk: str, data: bytes, expected: bytes | None = None) -> DiskFile:
        try:
            with self._place(disk) as place:
                mode = None
                try:
                    facts = self._real(place, disk)
                except FileNotFoundError:
                    self._check_stub(place, disk)
                else:
                    self._check_here(facts, disk)
                    mode = stat_module.S_IMODE(facts.st_mode)
                    if not os.access(place.name, os.W_OK, dir_fd=place.folder):
                        raise PermissionError(errno.EACCES, "read-only file")  # a rename would replace it all the same
                temporary = self._temporary(place, data, mode)
                try:
                    if expected is not None:
                        self._check_unchanged(place, disk, expected)
                    os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
                except BaseException:
                    _discard(place, temporary)
                    raise
                place.sync()
                return _listed(place, disk, data)
        except OSError as error:
            raise translated(error, disk, "writing") from error

    def _check_unchanged(self, place: _Place, disk: str, expected: bytes) -> None:
        """The last look before a file is replaced: the app does not know our lock. Raises: StaleEtag."""
        with self._opened(place, disk) as file:
            if file.read(len(expected) + 1) != expected:
                raise StaleEtag(
                    f"{_shown(disk)!r} was changed by another program in this moment. Nothing was written; read it "
                    "again and repeat the edit.",
                    path=_shown(disk),
                )

    def create(self, disk: str, data: bytes) -> DiskFile:
        try:
            with self._place(disk, make=True) as place:
                self._check_stub(place, disk)
                if place.there():
                    self._real(place, disk)
                    raise FileExistsError(errno.EEXIST, "exists")
                temporary = self._temporary(place, data, None)
                try:
                    _place_new(place, temporary)
                except BaseException:
                    _discard(place, temporary)
                    raise
                place.sync()
                return _listed(place, disk, data)
        except FileExistsError as error:
            raise NoteExists(f"There is already a file {_shown(disk)!r}.", path=_shown(disk)) from error
        except OSError as error:
            raise translated(error, disk, "creating") from error

    def move(self, source: str, target: str) -> None:
        try:
            with self._place(source) as old, self._place(target, make=True) as new:
                try:
                    facts = self._real(old, source)
                except FileNotFoundError:
                    self._check_stub(old, source)
                    raise
                if not new.there():
                    self._check_stub(new, target)
                elif os.path.samestat(facts, self._real(new, target)):  # only the case or the normal form changes
                    os.rename(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder)
                    new.sync()
                    return
                _rename_new(old, new)
                new.sync()
                old.sync()
        except FileExistsError as error:
            raise NoteExists(f"There is already a file {_shown(target)!r}.", path=_shown(target)) from error
        except OSError as error:
            raise translated(error, source, "moving") from error

    def delete(self, disk: str) -> None:
        try:
            with self._place(disk) as place:
                self._real(place, disk)
                os.unlink(place.name, dir_fd=place.folder)
                place.sync()
        except OSError as error:
            raise translated(error, disk, "deleting") from error

    def remove_folder(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self._place(disk) as place:
            os.rmdir(place.name, dir_fd=place.folder)

    def sweep(self, disk: str) -> None:
        with contextlib.suppress(OSError, PermissionDenied), self._place(disk) as place:
            for name in os.listdir(place.folder if place.folder is not None else os.path.dirname(place.name)):
                if name.startswith(TEMP_PREFIX) and name.endswith(".tmp"):
                    _discard(place, place.beside(name))

    def trash(self, disk: str, *, system: bool) -> str:
        if system:
            from send2trash import TrashPermissionError, send2trash

            with contextlib.suppress(OSError, TrashPermissionError):
                send2trash(self._contained(disk))
                return "the system's trash"
        name = disk.rpartition("/")[2]
        stem, dot, suffix = name.rpartition(".")
        number = 1
        try:
            with self._place(disk) as place:
                self._real(place, disk)
                while True:
                    kept = name if number == 1 else f"{stem or suffix} {number}{dot and stem and '.' + suffix}"
                    target = f"{TRASH_FOLDER}/{kept}"
                    with self._place(target, make=True) as bin_place, contextlib.suppress(FileExistsError):
                        _rename_new(place, bin_place)
                        bin_place.sync()
                        place.sync()
                        return _shown(target)
                    number += 1
        except OSError as error:
            raise translated(error, disk, "moving to the trash") from error

    # -- paths -------------------------------------------------------------------------------------------------

    def _join(self, disk: str) -> str:
        return os.path.join(self.root, *disk.split("/")) if disk else str(self.root)

    def _contained(self, disk: str) -> str:
        """The absolute path of `disk`. Raises: PermissionDenied where a part of it is a symbolic link."""
        path = str(self.root)
        for part in disk.split("/"):
            path = os.path.join(path, part)
            if part in ("", ".", "..") or os.path.islink(path):
                raise _linked(disk)
        return path

    @contextlib.contextmanager
    def _place(self, disk: str, *, make: bool = False) -> Iterator[_Place]:
        """Where a file is, its folders opened one below the other so that none of them can become a link meanwhile.

        Symbolic links are not followed: they may lead out of the vault, and the app ignores links to its own files
        (semantics 8.2). Systems without such calls (Windows) get a look at each part instead.
        Raises: PermissionDenied; OSError, also for a folder that is not there unless `make` is set.
        """
        self._check_root()
        if not _HAS_AT:
            path = self._contained(disk)
            if make:
                os.makedirs(os.path.dirname(path), exist_ok=True)
            yield _Place(None, path)
            return
        *folders, name = disk.split("/")
        if name in ("", ".", ".."):
            raise _linked(disk)
        folder = os.open(self.root, _FOLDER)
        try:
            for part in folders:
                below = self._below(folder, part, disk, make=make)
                os.close(folder)
                folder = below
            yield _Place(folder, name)
        finally:
            os.close(folder)

    def _check_root(self) -> None:
        """Raises: VaultNotFound when the vault's disk is gone, be it that an empty mount point stands in its place."""
        try:
            facts = os.stat(self.root)
        except OSError as error:
            raise _disconnected(self.root) from error
        identity = (facts.st_dev, facts.st_ino)
        if identity != self._identity:
            settings = os.path.isdir(self.root / SETTINGS_FOLDER)
            if self._settings_seen and not settings:
                raise _disconnected(self.root)
            self._identity = identity

    def _below(self, folder: int, part: str, disk: str, *, make: bool) -> int:
        """One step down. Raises: OSError, PermissionDenied."""
        if part in ("", ".", ".."):
            raise _linked(disk)
        try:
            return os.open(part, _FOLDER | _NOFOLLOW, dir_fd=folder)
        except FileNotFoundError:
            if not make:
                raise
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
                _Place(folder, part).sync()
            return self._below(folder, part, disk, make=False)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                self._real(_Place(folder, part), disk)
            raise

    def _real(self, place: _Place, disk: str) -> os.stat_result:
        """What is at a place. Raises: OSError, PermissionDenied for a symbolic link."""
        facts = place.facts()
        if stat_module.S_ISLNK(facts.st_mode):
            raise _linked(disk)
        return facts

    def _temporary(self, place: _Place, data: bytes, mode: int | None) -> str:
        """A synced file beside a place that holds `data`; its name there."""
        name = place.beside(f"{TEMP_PREFIX}{secrets.token_hex(8)}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY | _CLOEXEC
        descriptor = os.open(name, flags, 0o666, dir_fd=place.folder)
        try:
            with open(descriptor, "wb") as file:
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(descriptor, mode)
                file.write(data)
                file.flush()
                os.fsync(descriptor)
        except BaseException:
            _discard(place, name)
            raise
        return name


_HAS_AT = {os.open, os.stat, os.rename, os.unlink, os.mkdir, os.rmdir, os.link, os.access} <= os.supports_dir_fd
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
"""A named pipe that takes the place of a note must not hold up its reader."""
_BINARY = getattr(os, "O_BINARY", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC
_RECALL_ON_OPEN = os.name == "nt"
"""Whether opening a file is enough to have the cloud download it."""


def _listed(place: _Place, disk: str, data: bytes) -> DiskFile:
    """A file that was just written; the write counts also where it cannot be looked at any more."""
    try:
        facts = place.facts()
    except OSError:
        return DiskFile(disk, len(data), 0)
    return DiskFile(disk, facts.st_size, facts.st_mtime_ns)


def _linked(disk: str) -> PermissionDenied:
    return PermissionDenied(
        f"{_shown(disk)!r} passes through a symbolic link, which may lead out of the vault and is not followed. Give "
        "the path of the real file inside the vault.",
        path=_shown(disk),
    )


def _disconnected(root: Path) -> VaultNotFound:
    return VaultNotFound(
        f"The vault folder {str(root)!r} is not there any more. Nothing was changed. Connect its drive or network "
        "folder again, then repeat this.",
        vault=root.name,
    )


def _not_downloaded(disk: str) -> StorageFailed:
    return StorageFailed(
        f"{_shown(disk)!r} is in the cloud and not downloaded to this computer, so it was neither read nor changed. "
        "Open it once in the Obsidian app or have the cloud keep it on this device, then try again.",
        path=_shown(disk),
        downloaded=False,
    )


def _place_new(place: _Place, temporary: str) -> None:
    """Give the synced file its name, never over another: link() and Windows' rename() refuse an existing target."""
    if os.name == "nt":
        os.rename(temporary, place.name)
        return
    try:
        os.link(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except FileExistsError:
        raise
    except OSError:  # no hard links here (exFAT, some network and FUSE disks)
        _rename_new(_Place(place.folder, temporary), place)
    else:
        _discard(place, temporary)


def _rename_new(old: _Place, new: _Place) -> None:
    """Rename, never over another file. Raises: FileExistsError, OSError."""
    if old.folder is not None and new.folder is not None and (exclusive := _exclusive_rename()) is not None:
        problem = exclusive(old.folder, os.fsencode(old.name), new.folder, os.fsencode(new.name))
        if not problem:
            return
        if problem not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP):
            raise OSError(problem, os.strerror(problem), old.name)
    if new.there():  # this disk cannot rename exclusively: a look, then the rename
        raise FileExistsError(errno.EEXIST, "exists", new.name)
    os.rename(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder)


@cache
def _exclusive_rename() -> Callable[[int, bytes, int, bytes], int] | None:
    """The system's rename that refuses an existing target (Linux, macOS): gives 0 or the error number."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    for name, flag in (("renameat2", 1), ("renameatx_np", 4)):
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

            def rename(a: int, old: bytes, b: int, new: bytes, call: Any = function, flag: int = flag) -> int:
                return ctypes.get_errno() if call(a, old, b, new, flag) else 0

            return rename
    return None


def _discard(place: _Place, name: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=place.folder)
