"""Files that appear whole or not at all, and never over another one (specs/files.md)."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Callable
from functools import cache
from typing import Any

from .folder import BINARY, CLOEXEC, NOFOLLOW, Place

TEMP_PREFIX = ".obsidian-mcp-"
"""Temporary files stand beside their target, because only a rename inside one file system is atomic; the dot keeps
them out of every listing, the app's too."""


def temporary_file(place: Place, data: bytes, mode: int | None) -> str:
    """A synced file beside a place that holds `data`; its name there."""
    name = place.beside(f"{TEMP_PREFIX}{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | BINARY | CLOEXEC
    descriptor = os.open(name, flags, 0o666, dir_fd=place.folder)
    try:
        with open(descriptor, "wb") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
    except BaseException:
        discard(place, name)
        raise
    return name


def place_new(place: Place, temporary: str) -> None:
    """Give the synced file its name, never over another: link() and Windows' rename() refuse an existing target."""
    if os.name == "nt":
        os.rename(temporary, place.name)
        return
    try:
        os.link(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
    except FileExistsError:
        raise
    except OSError:  # no hard links here (exFAT, some network and FUSE disks)
        rename_new(Place(place.folder, temporary), place)
    else:
        discard(place, temporary)


def rename_new(old: Place, new: Place) -> None:
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


def discard(place: Place, name: str) -> None:
    """Remove a temporary file beside a place, if that can be done."""
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=place.folder)
