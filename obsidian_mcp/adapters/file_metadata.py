"""The metadata that a new file takes over from the one that it replaces (FILE-02)."""

from __future__ import annotations

import contextlib
import os
import stat as stat_module
import sys

COPYFILE_ACL_AND_XATTR = 0b101
"""COPYFILE_ACL | COPYFILE_XATTR of macOS's copyfile.h."""


def take_over(source: int, target: int) -> None:
    """Copy permissions, owner and attributes from one open file to another.

    As far as the system allows: only an administrator may give a file away.
    """
    if sys.platform == "win32":  # `replace` does it
        return
    facts = os.fstat(source)
    own = os.fstat(target)
    if (facts.st_uid, facts.st_gid) != (own.st_uid, own.st_gid):
        try:
            os.fchown(target, facts.st_uid, facts.st_gid)
        # only the administrator may give a file away; a group of one's own is possible
        except OSError:
            with contextlib.suppress(OSError):
                os.fchown(target, -1, facts.st_gid)
    os.fchmod(target, stat_module.S_IMODE(facts.st_mode))
    _take_over_attributes(source, target)
    born = getattr(facts, "st_birthtime", None)
    if born is not None and sys.platform == "darwin":
        # A modification time before the time of creation sets that too (utimes(2)); then the real
        # one is set.
        os.utime(target, ns=(facts.st_atime_ns, int(born * 1e9)))
        os.utime(target)


def _take_over_attributes(source: int, target: int) -> None:
    """Copy the attributes of one open file to another.

    The access control list is one of them on Linux, and has a call of its own on macOS.
    """
    if sys.platform == "darwin":
        import ctypes  # readers do without

        ctypes.CDLL(None).fcopyfile(source, target, None, COPYFILE_ACL_AND_XATTR)
    elif sys.platform == "linux":
        with contextlib.suppress(OSError):  # a disk without attributes
            names = os.listxattr(source)
            for name in os.listxattr(target):
                if name not in names:  # the folder's default list
                    with contextlib.suppress(OSError):
                        os.removexattr(target, name)
            for name in names:
                with contextlib.suppress(OSError):  # one that only the system may set
                    os.setxattr(target, name, os.getxattr(source, name))
