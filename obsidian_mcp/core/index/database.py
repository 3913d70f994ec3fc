"""What the index needs of the database that holds it.

`adapters/index_database.py` opens the SQLite file.
"""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

Connection = sqlite3.Connection

WRITE_WAIT_SECONDS = 0.1
"""A question waits this long for other writers; then the rows answer as they are."""
PATIENCE = 5.0
"""Seconds that a write waits for another one. Batches take a fifth of a second."""


UNSTORABLE: tuple[type[Exception], ...] = (
    OverflowError,
    UnicodeError,
    sqlite3.DataError,
    sqlite3.IntegrityError,
    sqlite3.InterfaceError,
    sqlite3.ProgrammingError,
)
"""What Python and SQLite raise for a value that no row can hold, such as a number of more than 64
bits."""


class Replaced(Exception):
    """The database had to be begun anew and is empty; ask again, with every file as not indexed."""


class Busy(Exception):
    """Another process held the database for too long; nothing was written. Try again later."""


class Database(Protocol):
    """Connections to one SQLite database, which threads and processes may share.

    Whatever is wrong with a file is no error: it is begun anew, because the index can always be
    made again from the notes.
    """

    @property
    def file(self) -> Path | None:
        """The file in use, None in memory."""

    @property
    def warning(self) -> str | None:
        """One sentence when the database is not where it should be."""

    @property
    def epoch(self) -> int:
        """Grows when the database was begun anew, by whomever."""

    def read_transaction(self) -> AbstractContextManager[Connection]:
        """One consistent view of everything committed so far. Raises: Replaced, Busy."""

    def write_transaction(self, patience: float = PATIENCE) -> AbstractContextManager[Connection]:
        """One transaction, alone among all processes: all of it or, after an exception, nothing.

        Other writers are waited for up to `patience` seconds. Raises: Replaced, Busy.
        """

    def begin_anew(self) -> None:
        """Go on with an empty file.

        Raises: StorageFailed where another program has the present one open (Windows).
        """

    def copy_to_memory(self) -> Database:
        """Return a database in memory with what is committed now. Raises: Replaced, Busy."""

    def truncate_journal(self) -> None:
        """Give unused pages back, move the journal into the file, and empty it.

        It does so as far as nobody else reads or writes.
        """

    def write_anew(self) -> None:
        """Write the file anew without unused pages. Raises: Replaced, Busy, StorageFailed."""

    def release_memory(self) -> None:
        """Give back the memory of connections that nobody uses."""

    def size(self) -> int:
        """Bytes on disk, 0 in memory."""

    def close(self) -> None:
        """Close every connection, one in use when its use ends."""
