"""Where a file is on disk, and what the system's errors about it mean (FILE-08)."""

from __future__ import annotations

import contextlib
import errno
import os
import stat as stat_module
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.errors import (
    AppError,
    InvalidName,
    NoteNotFound,
    PermissionDenied,
    StorageFailed,
    VaultNotFound,
)

T = TypeVar("T")

ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG} | (
    {errno.EINVAL} if os.name == "nt" else set()
)
"""No file is there: no file has a name that is too long for the disk, or one with `?` or `|` on
Windows."""
_REFUSED = {errno.EACCES, errno.EPERM}
NOT_LISTED = ABSENT | _REFUSED | {errno.ELOOP}
"""What a folder below the vault's own is passed over for: it is gone, a link, or the system forbids
it."""
_SHARING_VIOLATION = 32
_EXPLAINED = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the vault's disk is read-only",
    errno.ENAMETOOLONG: "the path is too long for this disk",
    errno.EIO: "the disk reported an input/output error",
    errno.EMFILE: "too many files are open",
} | dict.fromkeys(
    (
        errno.ESTALE,
        errno.ENOTCONN,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.ENETDOWN,
        errno.ENODEV,
        errno.ENXIO,
    ),
    "the disk is not connected any more",
)


def translate_error(error: OSError, disk: str, doing: str) -> AppError:
    """Return the AppError for a system error (FILE-08)."""
    path = to_printable(disk)
    if error.errno in ABSENT and error.errno not in _EXPLAINED:
        return NoteNotFound(f"There is no file {path!r} in the vault any more.", path=path)
    if getattr(error, "winerror", None) == _SHARING_VIOLATION:
        return PermissionDenied(
            f"Another program has {path!r} open, and Windows does not allow {doing} it meanwhile. "
            "Close it there, or try again in a moment.",
            path=path,
        )
    if error.errno in _REFUSED:
        return PermissionDenied(
            f"The system does not allow {doing} {path!r}. Check the file's permissions, or allow "
            "this program to use the folder in the system's privacy settings.",
            path=path,
        )
    if error.errno == errno.ELOOP:
        return symbolic_link_error(disk)
    reason = _EXPLAINED.get(
        error.errno or 0, os.strerror(error.errno) if error.errno else str(error)
    )
    return StorageFailed(
        f"{doing.capitalize()} {path!r} failed: {reason}. Nothing was changed.", path=path
    )


REPLACES_OPEN_FILES = os.name != "nt"
"""Whether the system lets a file be renamed and replaced that another program has open."""
PATIENCE_SECONDS = 1.0
"""How long a change is tried again while another program has the file open; a read, a tenth of
it."""
_RETRY_SECONDS = 0.02


def patiently(
    call: Callable[[], T], seconds: float = PATIENCE_SECONDS, place: DiskPlace | None = None
) -> T:
    """Return what a call returns; try it again where Windows refuses it (FILE-11).

    It refuses while another program has the file open, and finds no file at the `place` of one that
    is being replaced.
    """
    begun = time.monotonic()
    while True:
        try:
            return call()
        except PermissionError:
            if REPLACES_OPEN_FILES or time.monotonic() > begun + seconds:
                raise
        except FileNotFoundError:
            if (
                place is None
                or place.folder is not None
                or time.monotonic() > begun + PATIENCE_SECONDS
            ):
                raise
            if not os.path.lexists(place.replaced):
                return patiently(call, seconds)  # another one may have taken its place since
        time.sleep(_RETRY_SECONDS)


RELATIVE_CALLS = {
    os.open,
    os.stat,
    os.rename,
    os.unlink,
    os.mkdir,
    os.rmdir,
    os.link,
    os.access,
} <= os.supports_dir_fd
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
NONBLOCK = getattr(os, "O_NONBLOCK", 0)
"""A named pipe in the place of a note must not block its reader."""
BINARY = getattr(os, "O_BINARY", 0)
CLOEXEC = getattr(os, "O_CLOEXEC", 0)
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | CLOEXEC
TEMP_PREFIX = ".obsidian-mcp-"
"""Temporary files are created beside their target, because only a rename within one file system is
atomic. The dot hides them from every listing, the app's too."""
TEMPORARY = ".tmp"
"""Ends the hidden name of a file that has not got its own name yet, or is about to be deleted."""
REPLACED = ".replaced"
"""Ends the hidden name that a file has from before Windows replaces it until the new one is in its
place."""


def real_path(folder: Path) -> Path:
    """Return the path of a folder without links, as the disk spells it (SAFE-08).

    Another spelling of the same folder, which Windows and macOS take too, would get an index, a
    journal and locks of its own. Windows gives the real one by itself.
    """
    path = os.path.realpath(folder)
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):
            descriptor = os.open(path, FOLDER)
            try:
                path = os.fsdecode(
                    fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0")
                )
            finally:
                os.close(descriptor)
    return Path(path)


def long_path(folder: Path) -> str:
    """Return the absolute path in the form for which Windows has no limit of 260 characters.

    The app uses it, too (FILE-12).
    """
    path = str(folder)
    if os.name != "nt" or path.startswith("\\\\?\\"):
        return path
    return f"\\\\?\\UNC{path[1:]}" if path.startswith("\\\\") else f"\\\\?\\{path}"


_JUNCTION = 0xA000_0003
"""The tag of a folder of Windows that leads to another one (`mklink /J`), and needs no privilege to
make."""
_NO_LINK = 4390
"""Windows' error for a folder that leads to no other one; any other leaves open whether it does."""


def leads_elsewhere(facts: os.stat_result) -> bool:
    """Return whether a file is a symbolic link or a junction.

    Windows and Python take a junction for a folder.
    """
    return stat_module.S_ISLNK(facts.st_mode) or getattr(facts, "st_reparse_tag", 0) == _JUNCTION


def is_link(path: str) -> bool:
    """Return whether a symbolic link or a junction has this path."""
    with contextlib.suppress(OSError, ValueError):
        try:
            return bool(os.readlink(path))  # of Windows' answers the quickest
        except OSError as error:
            if getattr(error, "winerror", _NO_LINK) == _NO_LINK:
                return False
        return leads_elsewhere(os.lstat(path))
    return False


class DiskPlace(NamedTuple):
    """Where a file is: its name in an open folder.

    Where the system has no calls relative to a folder, it is the whole path.
    """

    folder: int | None
    name: str

    def facts(self) -> os.stat_result:
        """Return the status of the file, of a link itself. Raises: OSError."""
        look = partial(os.stat, self.name, dir_fd=self.folder, follow_symlinks=False)
        try:
            return look()
        except FileNotFoundError:
            return patiently(look, place=self)
        except ValueError as error:  # Windows says so of a path with more than 32 767 characters
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), self.name) from error

    def stat_file(self, disk: str) -> os.stat_result:
        """Return the status of the file. Raises: OSError, PermissionDenied for a symbolic link."""
        facts = self.facts()
        if leads_elsewhere(facts):
            raise symbolic_link_error(disk)
        return facts

    def sibling_name(self, name: str) -> str:
        """Return the name of another file in the same folder, in the form that `name` has."""
        return name if self.folder is not None else os.path.join(os.path.dirname(self.name), name)

    def temporary_name(self) -> str:
        """Return a new hidden name in the same folder, in the form that `name` has."""
        return self.sibling_name(f"{TEMP_PREFIX}{os.urandom(8).hex()}{TEMPORARY}")

    @property
    def replaced(self) -> str:
        """The hidden name of the file while it is replaced, in the form that `name` has."""
        return os.path.join(
            os.path.dirname(self.name), f"{TEMP_PREFIX}{os.path.basename(self.name)}{REPLACED}"
        )

    def stat_if_exists(self, disk: str) -> os.stat_result | None:
        """Return the status of the file, None where nothing is. Raises as `stat_file` does."""
        try:
            return self.stat_file(disk)
        except OSError as error:
            if error.errno in ABSENT:
                return None
            raise

    def exists(self) -> bool:
        """Return whether a file or folder exists here. Raises: OSError if that cannot be
        determined."""
        try:
            self.facts()
        except OSError as error:
            if error.errno in ABSENT:
                return False
            raise
        return True

    def sync(self) -> None:
        """Make renames in the folder durable; systems that cannot sync a folder do not need it."""
        with contextlib.suppress(OSError):
            if self.folder is not None:
                os.fsync(self.folder)


def symbolic_link_error(disk: str) -> PermissionDenied:
    """Return the error for a path with a symbolic link or a junction in it."""
    return PermissionDenied(
        f"{to_printable(disk)!r} passes through a symbolic link or junction, which may lead out of "
        "the vault and is not followed. Give the path of the real file inside the vault.",
        path=to_printable(disk),
    )


def join_name(folder: str, name: str) -> str:
    """Return the path of a name in a folder.

    On Windows a name such as `A: the plan` would lead to the folder of another drive (NAME-17): no
    file has it.
    Raises: FileNotFoundError.
    """
    if os.path.splitdrive(name)[0]:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return os.path.join(folder, name)


def path_below_file_error(disk: str) -> InvalidName:
    """Return the error for a folder that cannot be made, because a file is in its way."""
    path = to_printable(disk)
    return InvalidName(
        f"{path!r} cannot be made: a part of {path.rpartition('/')[0]!r} is a file, not a folder. "
        "Choose another folder.",
        path=path,
    )


def disconnected_error(root: Path) -> VaultNotFound:
    """Return the error for a vault whose disk is gone."""
    return VaultNotFound(
        f"The vault folder '{root}' is not there any more. Nothing was changed. Connect its drive "
        "or network folder again, then repeat this.",
        vault=root.name,
    )


def make_folders(path: str, disk: str) -> None:
    """Create the folders of a path. Raises: InvalidName where one of them is a file; OSError."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:  # each system has another one for it
        if any(above.is_file() for above in (Path(path), *Path(path).parents)):
            raise path_below_file_error(disk) from error
        raise


def check_absent(error: OSError, disk: str, doing: str) -> None:
    """Raises: AppError where an error says anything but that a file is not there."""
    if error.errno not in ABSENT:
        raise translate_error(error, disk, doing) from error
