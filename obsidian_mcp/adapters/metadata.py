"""What a file is beside its bytes: owner, group, mode, access control list, attributes, time of creation. The new file
that replaces a note takes all of it over (FILE-01, FILE-02), but for the time of creation on Linux."""

from __future__ import annotations

import contextlib
import os
import stat as stat_module
import sys
from pathlib import Path

from .place import patiently

COPYFILE_ACL_AND_XATTR = 0b101


def take_over(source: int, target: int) -> None:
    """Copy permissions, owner and attributes from the open file `source` to `target`, as far as the system allows."""
    if sys.platform == "win32":  # `replace` does it
        return
    facts = os.fstat(source)
    own = os.fstat(target)
    if (facts.st_uid, facts.st_gid) != (own.st_uid, own.st_gid):
        try:
            os.fchown(target, facts.st_uid, facts.st_gid)
        except OSError:  # only the administrator may give a file away; a group of one's own is possible
            with contextlib.suppress(OSError):
                os.fchown(target, -1, facts.st_gid)
    os.fchmod(target, stat_module.S_IMODE(facts.st_mode))
    _take_over_attributes(source, target)
    born = getattr(facts, "st_birthtime", None)
    if born is not None and sys.platform == "darwin":
        # A modification time before the time of creation sets that too (utimes(2)); then the real one is set.
        os.utime(target, ns=(facts.st_atime_ns, int(born * 1e9)))
        os.utime(target)


def _take_over_attributes(source: int, target: int) -> None:
    """The access control list is one of the attributes on Linux, and has a call of its own on macOS."""
    if sys.platform == "darwin":
        import ctypes  # readers do without

        ctypes.CDLL(None).fcopyfile(source, target, None, COPYFILE_ACL_AND_XATTR)
    elif sys.platform == "linux":
        with contextlib.suppress(OSError):  # a disk without attributes
            wanted = os.listxattr(source)
            for name in os.listxattr(target):
                if name not in wanted:  # the folder's default list
                    with contextlib.suppress(OSError):
                        os.removexattr(target, name)
            for name in wanted:
                with contextlib.suppress(OSError):  # one that only the system may set
                    os.setxattr(target, name, os.getxattr(source, name))


def replace(temporary: str, name: str, folder: int | None) -> None:
    """Rename the file `temporary` over the file `name`, both in one open folder or whole paths. Raises: OSError."""
    # ReplaceFile keeps the time of creation, the access control list and the streams of the file it replaces. Where it
    # may choose the name of the replaced file itself, it can leave that in the folder.
    if sys.platform == "win32":
        import ctypes

        replaced = Path(f"{temporary.removesuffix('.tmp')}-replaced.tmp")
        if ctypes.windll.kernel32.ReplaceFileW(name, temporary, str(replaced), 0x2, None, None):
            with contextlib.suppress(OSError):
                patiently(replaced.unlink)
            return
        if replaced.exists() and not Path(name).exists():  # it stopped half-way
            replaced.rename(name)
    os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
