"""How far the change in hand has come: which of its steps may have been made (SAFE-03)."""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

_RECORD = struct.Struct("<qqd")
"""Number of the change, number of its begun steps, and the moment at which the machine was
started."""
SAME_START_SECONDS = 5.0
"""Two readings of that moment differ by less while the machine runs: clocks are adjusted in small
steps."""


class BegunSteps:
    """A file of one record beside the journal, for whoever holds the vault's lock.

    After a process died, the journal alone cannot tell which files of a change were written: a file
    that another program has edited since equals neither the old nor the new text. The record can.
    It is written before each step without waiting for the disk, so it survives the process and not
    the machine; the moment at which the machine was started tells the two apart.
    """

    def __init__(self, file: Path) -> None:
        """Open nothing yet."""
        self._path = file
        self._descriptor: int | None = None

    def write(self, number: int, count: int) -> None:
        """Note that the first `count` steps of a change may have been made from now on. Raises:
        OSError."""
        if self._descriptor is None:
            flags = (
                os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
            )
            self._descriptor = os.open(self._path, flags, 0o600)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        os.write(self._descriptor, _RECORD.pack(number, count, _boot_time()))

    def count(self, number: int) -> int | None:
        """Return how many steps of a change may have been made; None where any may have been."""
        try:
            recorded, count, started = _RECORD.unpack(self._path.read_bytes())
        except (OSError, struct.error):
            return None
        is_same_start = abs(started - _boot_time()) < SAME_START_SECONDS
        return count if recorded == number and is_same_start else None

    def close(self) -> None:
        """Close the file; the next `write` opens it again."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _boot_time() -> float:
    """Return when the machine was started, in seconds since the epoch.

    A clock that is set, or a machine that slept, moves it: then the record does not count, and what
    the files hold decides (`take_back`).
    """
    return time.time() - time.monotonic()
