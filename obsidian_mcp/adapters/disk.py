"""A vault's folder on disk: listing, reading, atomic writing, moving, trash (specs/files.md)."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat as stat_module
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from obsidian_mcp.core.ports import DiskFile
from obsidian_mcp.errors import AppError, NoteExists, NoteNotFound, PermissionDenied, StorageFailed

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
}


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


class Disk:
    """The files below one folder. Paths are raw relative paths as `scan` gave them or as `VaultPath` spells them."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    # -- reading -----------------------------------------------------------------------------------------------

    def scan(self, folder: str = "") -> Iterator[DiskFile]:
        pending = [folder]
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
            if not os.path.isdir(self._contained(disk) if disk else self.root):
                return None
            return [
                f"{disk}/{entry.name}" if disk else entry.name
                for entry in self._entries(disk)
                if entry.is_dir(follow_symlinks=False)
            ]
        except OSError as error:
            raise translated(error, disk, "listing") from error

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._join(folder)) as entries:
                return [entry for entry in entries if not entry.name.startswith(".")]
        except OSError:
            return []

    def stat(self, disk: str) -> DiskFile | None:
        try:
            facts = os.lstat(self._contained(disk))
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise translated(error, disk, "reading") from error
        if not stat_module.S_ISREG(facts.st_mode):
            return None
        return DiskFile(disk, facts.st_size, facts.st_mtime_ns)

    def exists(self, disk: str) -> bool:
        return os.path.lexists(self._contained(disk))

    def read(self, disk: str, limit: int | None = None) -> bytes:
        most = READ_LIMIT if limit is None else limit
        try:
            with self._opened(disk) as file:
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
            with self._opened(disk) as file:
                return file.read(most)
        except OSError as error:
            raise translated(error, disk, "reading") from error

    def _opened(self, disk: str) -> BinaryIO:
        descriptor = os.open(self._contained(disk), os.O_RDONLY | _NOFOLLOW | _BINARY | _CLOEXEC)
        return open(descriptor, "rb")

    def config(self, name: str) -> bytes | None:
        try:
            return (self.root / SETTINGS_FOLDER / name).read_bytes()
        except OSError:
            return None

    # -- writing -----------------------------------------------------------------------------------------------

    def write(self, disk: str, data: bytes) -> DiskFile:
        target = self._contained(disk)
        try:
            mode = stat_module.S_IMODE(os.lstat(target).st_mode)
            if not os.access(target, os.W_OK):  # a rename would replace a file that its owner made read-only
                raise PermissionError(errno.EACCES, "read-only file")
        except FileNotFoundError:
            mode = None
        except OSError as error:
            raise translated(error, disk, "writing") from error
        try:
            temporary = self._temporary(target, data, mode)
            try:
                os.replace(temporary, target)
            except OSError:
                _discard(temporary)
                raise
            _sync_folder(target)
        except OSError as error:
            raise translated(error, disk, "writing") from error
        return self._after(disk)

    def create(self, disk: str, data: bytes) -> DiskFile:
        target = self._contained(disk)
        try:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            temporary = self._temporary(target, data, None)
            try:
                _place_new(temporary, target)
            except OSError:
                _discard(temporary)
                raise
            _sync_folder(target)
        except FileExistsError as error:
            raise NoteExists(f"There is already a file {_shown(disk)!r}.", path=_shown(disk)) from error
        except OSError as error:
            raise translated(error, disk, "creating") from error
        return self._after(disk)

    def move(self, source: str, target: str) -> None:
        old, new = self._contained(source), self._contained(target)
        try:
            Path(new).parent.mkdir(parents=True, exist_ok=True)
            if os.path.lexists(new) and not os.path.samefile(old, new):
                raise NoteExists(f"There is already a file {_shown(target)!r}.", path=_shown(target))
            os.rename(old, new)
            _sync_folder(new)
        except OSError as error:
            raise translated(error, source, "moving") from error

    def delete(self, disk: str) -> None:
        try:
            os.unlink(self._contained(disk))
        except OSError as error:
            raise translated(error, disk, "deleting") from error

    def sweep(self, disk: str) -> None:
        folder = os.path.dirname(self._contained(disk))
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                if name.startswith(TEMP_PREFIX) and name.endswith(".tmp"):
                    _discard(os.path.join(folder, name))

    def trash(self, disk: str, *, system: bool) -> str:
        if system:
            from send2trash import TrashPermissionError, send2trash

            with contextlib.suppress(OSError, TrashPermissionError):
                send2trash(self._contained(disk))
                return "the system's trash"
        name = disk.rpartition("/")[2]
        stem, dot, suffix = name.rpartition(".")
        number = 1
        while True:
            kept = name if number == 1 else f"{stem or suffix} {number}{dot and stem and '.' + suffix}"
            target = f"{TRASH_FOLDER}/{kept}"
            if not os.path.lexists(self._join(target)):
                break
            number += 1
        try:
            (self.root / TRASH_FOLDER).mkdir(exist_ok=True)
            os.rename(self._contained(disk), self._join(target))
        except OSError as error:
            raise translated(error, disk, "moving to the trash") from error
        return _shown(target)

    # -- paths -------------------------------------------------------------------------------------------------

    def _join(self, disk: str) -> str:
        return os.path.join(self.root, *disk.split("/")) if disk else str(self.root)

    def _contained(self, disk: str) -> str:
        """The absolute path of `disk`.

        Raises: PermissionDenied where a part of it is a symbolic link: it may lead out of the vault, and the app
        ignores links to its own files (semantics 8.2).
        """
        path = str(self.root)
        for part in disk.split("/"):
            path = os.path.join(path, part)
            if os.path.islink(path):
                raise PermissionDenied(
                    f"{_shown(disk)!r} passes through a symbolic link, which may lead out of the vault and is not "
                    "followed. Give the path of the real file inside the vault.",
                    path=_shown(disk),
                )
        return path

    def _temporary(self, target: str, data: bytes, mode: int | None) -> str:
        """A synced file beside `target` that holds `data`."""
        path = os.path.join(os.path.dirname(target), f"{TEMP_PREFIX}{secrets.token_hex(8)}.tmp")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY | _CLOEXEC, 0o666)
        try:
            with open(descriptor, "wb") as file:
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(descriptor, mode)
                file.write(data)
                file.flush()
                os.fsync(descriptor)
        except BaseException:
            _discard(path)
            raise
        return path

    def _after(self, disk: str) -> DiskFile:
        facts = os.lstat(self._join(disk))
        return DiskFile(disk, facts.st_size, facts.st_mtime_ns)


_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)


def _place_new(temporary: str, target: str) -> None:
    """Give the synced file its name, never over another: link() and Windows' rename() refuse an existing target."""
    if os.name == "nt":
        os.rename(temporary, target)
        return
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except OSError:  # no hard links here (exFAT, some network and FUSE disks): check, then rename
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "exists", target) from None
        os.rename(temporary, target)
    else:
        _discard(temporary)


def _discard(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _sync_folder(path: str) -> None:
    """Make a rename durable; systems that cannot sync a folder do not need it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
