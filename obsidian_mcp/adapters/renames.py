"""Renames of files: never over another one unless that is meant, by each system's own calls."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path
from typing import Literal

from .file_metadata import take_over
from .place import (
    BINARY,
    CLOEXEC,
    NOFOLLOW,
    DiskPlace,
    patiently,
)


def temporary_file(place: DiskPlace, data: bytes, like: int | None = None) -> str:
    """Create a synced file with `data` beside a place; return its name.

    It has the metadata of the open file `like`, where one is given.
    """
    name = place.temporary_name()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY | CLOEXEC
    descriptor = os.open(name, flags, 0o666, dir_fd=place.folder)
    try:
        remaining = memoryview(data)
        while remaining:
            remaining = remaining[os.write(descriptor, remaining) :]
        if like is not None:
            take_over(like, descriptor)
        os.fsync(descriptor)
    except BaseException:
        os.close(descriptor)
        discard(place, name)
        raise
    os.close(descriptor)
    return name


def place_new(place: DiskPlace, temporary: str) -> None:
    """Rename a synced file to its final name, which no file has.

    link() and Windows' rename() refuse an existing target.
    """
    if os.name == "nt":
        patiently(lambda: os.rename(temporary, place.name))
        return
    try:
        os.link(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    # the target exists, or there are no hard links here (exFAT, some network and FUSE disks)
    except OSError:
        rename_new(DiskPlace(place.folder, temporary), place)
    else:
        discard(place, temporary)


def rename_new(old: DiskPlace, new: DiskPlace) -> None:
    """Rename, never over another file. Raises: FileExistsError, OSError."""
    if _rename_with("exclusive", old, new):
        return
    if new.exists():  # this disk cannot rename exclusively: check, then rename
        raise FileExistsError(errno.EEXIST, "exists", new.name)
    rename(old, new)


def rename(old: DiskPlace, new: DiskPlace) -> None:
    """Rename, over another file where the system does so. Raises: OSError."""
    patiently(lambda: os.rename(old.name, new.name, src_dir_fd=old.folder, dst_dir_fd=new.folder))


def replace(place: DiskPlace, temporary: str) -> None:
    """Put a temporary file in its place. Raises: OSError."""
    patiently(lambda: _rename_over(temporary, place.name, place.folder))
    place.sync()


def exchange(place: DiskPlace, name: str) -> bool:
    """Swap two files of one folder in one step; False where the disk or system cannot. Raises:
    OSError."""
    return _rename_with("exchange", DiskPlace(place.folder, name), place)


_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_FLAGS = {
    "renameat2": {"exclusive": 1, "exchange": 2},
    "renameatx_np": {"exclusive": 4, "exchange": 2},
}
"""RENAME_NOREPLACE and RENAME_EXCHANGE of Linux, RENAME_EXCL and RENAME_SWAP of macOS."""


def _rename_with(kind: Literal["exclusive", "exchange"], old: DiskPlace, new: DiskPlace) -> bool:
    """Rename with a flag of the system; False where there is none. Raises: OSError."""
    if old.folder is None or new.folder is None:
        return False
    import ctypes  # readers do without

    library = ctypes.CDLL(None, use_errno=True)
    name = next((name for name in _FLAGS if hasattr(library, name)), None)
    if name is None:
        return False
    function = getattr(library, name)
    function.argtypes = (
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.c_uint,
    )
    if not function(
        old.folder, os.fsencode(old.name), new.folder, os.fsencode(new.name), _FLAGS[name][kind]
    ):
        return True
    problem = ctypes.get_errno()
    if problem in _UNSUPPORTED:
        return False
    raise OSError(problem, os.strerror(problem), old.name)


def discard(place: DiskPlace, name: str) -> None:
    """Remove a temporary file beside a place if it is there."""
    with contextlib.suppress(OSError):
        patiently(lambda: os.unlink(name, dir_fd=place.folder))


def _rename_over(temporary: str, name: str, folder: int | None) -> None:
    """Rename the file `temporary` over the file `name`, both in one open folder or whole paths.
    Raises: OSError."""
    # ReplaceFile keeps the time of creation, the access control list and the streams of the file it
    # replaces. That is renamed first: a process may die before the new file has the name.
    if sys.platform == "win32":
        import ctypes

        replaced = Path(DiskPlace(folder, name).replaced)
        if ctypes.windll.kernel32.ReplaceFileW(name, temporary, str(replaced), 0x2, None, None):
            with contextlib.suppress(OSError):
                patiently(replaced.unlink)
            return
        if replaced.exists() and not Path(name).exists():  # it stopped half-way
            replaced.rename(name)
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
