"""Which file system a folder is on, and on which of them nobody reports what others change."""

from __future__ import annotations

import os

REMOTE = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "vboxsf", "fuse.sshfs", "fuse.rclone", "drvfs",
    "afs", "afpfs", "ceph", "webdav",
}  # fmt: skip
"""File systems on which the kernel does not report the changes of other clients."""
SHARE, DEVICES = "\\\\", ("\\\\?\\", "\\\\.\\")
"""How the path of a folder of another computer begins on Windows, also of one behind the letter of
a mapped drive and of the disks of its Linux (`\\\\wsl$`), which no list of disks names; and other
paths that begin so."""


def filesystem_of(root: str) -> str:
    """Return the type of the file system that holds `root`, "" where it is unknown."""
    if root.startswith(SHARE) and not root.startswith(DEVICES):
        return "cifs"
    from . import processes  # psutil not before somebody watches

    mounts = {point.rstrip(os.sep): kind for point, kind in processes.mounts().items()}
    holding = [point for point in mounts if root == point or root.startswith(point + os.sep)]
    return mounts[max(holding, key=len)] if holding else ""
