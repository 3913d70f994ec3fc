"""Which file system a folder is on, and on which of them nobody reports what others change."""

from __future__ import annotations

import os

REMOTE = {
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "vboxsf", "fuse.sshfs", "fuse.rclone", "drvfs",
    "afs", "afpfs", "ceph", "webdav",
}  # fmt: skip
"""File systems on which the kernel does not report the changes of other clients."""
SHARE = "\\\\"
"""Begins on Windows the real path of a folder on another computer, also behind the letter of a
mapped drive, and on a disk of WSL (`\\\\wsl$`). The system's list of disks does not have them."""
DEVICES = ("\\\\?\\", "\\\\.\\")
"""Begin paths of this computer that look like a share's."""


def filesystem_of(root: str) -> str:
    """Return the type of the file system that holds `root`, "" where it is unknown."""
    if root.startswith(SHARE) and not root.startswith(DEVICES):
        return "cifs"
    from . import processes  # psutil not before somebody watches

    mounts = {point.rstrip(os.sep): kind for point, kind in processes.mounts().items()}
    above = [point for point in mounts if root == point or root.startswith(point + os.sep)]
    return mounts[max(above, key=len)] if above else ""
