"""A lock of a file between programs, which the system takes back when its holder dies."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path

POLL_SECONDS = 0.002
"""Interval at which a waiting program tries the lock; another one holds it for some
milliseconds."""


def acquire_lock(file: Path | str, patience: float = 0.0) -> contextlib.closing[sqlite3.Connection]:
    """Return the lock of a file, which is made; it is held until it is closed, or the process dies.

    It is a lock of SQLite's, which is loaded anyway and knows each system. Raises: TimeoutError
    after `patience` seconds, OSError.
    """
    end = time.monotonic() + patience
    try:
        connection = sqlite3.connect(file, timeout=0, isolation_level=None)
    except sqlite3.Error as error:
        raise OSError(str(error)) from error
    while True:
        try:
            connection.execute("PRAGMA journal_mode = OFF")  # nothing is written
            connection.execute("BEGIN EXCLUSIVE")
            return contextlib.closing(connection)
        except sqlite3.Error as error:
            is_held = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
            if not is_held or time.monotonic() >= end:
                connection.close()
                raise (TimeoutError if is_held else OSError)(str(error)) from error
        time.sleep(POLL_SECONDS)
