"""Databases of the program's own that several processes share and only the user may read."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path


def open_private_database(
    file: Path, schema: str, *, patience: float, commits_itself: bool = False
) -> sqlite3.Connection:
    """Open a database, which is made with this schema where there is none.

    Every change is on the disk when it is committed. `patience`: seconds to wait for another
    process that writes. With `commits_itself` there is no transaction that the caller does not
    begin. Raises: OSError, sqlite3.Error.
    """
    _create_privately(file)
    connection = sqlite3.connect(file, timeout=patience, check_same_thread=False)
    try:
        if commits_itself:
            connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.executescript(schema)
    except BaseException:
        connection.close()
        raise
    return connection


def _create_privately(file: Path) -> None:
    """Create the file for the user only: SQLite would make it readable for everybody.

    One that is there is not opened. With POSIX locks a process loses those of all its connections
    to a file when it closes any descriptor of it, and another process, which then takes itself for
    the last one, would remove a log into which this one goes on writing: the changes were lost.
    """
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
