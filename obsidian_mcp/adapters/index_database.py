"""The SQLite file of a vault's index: opened, shared, and replaced when it is damaged
(specs/index.md). It can be made again from the notes, so a bad file is no error; where none can be
written, the index is temporary."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from obsidian_mcp.core.index.database import PATIENCE, UNSTORABLE, Busy, Connection, Replaced
from obsidian_mcp.core.index.index import Index
from obsidian_mcp.core.index.schema import SCHEMA, VERSION
from obsidian_mcp.errors import StorageFailed

from .file_identity import FileIdentity, identity_at
from .index_files import database_files, remove_database

IDLE_READERS = 4
"""Connections kept open for reading; more are opened when more threads read at once."""
FRESH_STARTS = 3
"""Damaged files replaced at one place before the place itself is given up."""

_SETTINGS = (
    "PRAGMA page_size=4096",  # of new files: a change writes two dozen, whatever their size
    # KiB for a connection; the system keeps the pages too, at 1 µs a page
    "PRAGMA cache_size=-512",
    "PRAGMA synchronous=NORMAL",  # a power cut may cost the last batches, never the file
    "PRAGMA secure_delete=OFF",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA journal_size_limit=2097152",
)
_UNUSABLE = {
    getattr(sqlite3, f"SQLITE_{name}")
    for name in (
        "FULL",
        "READONLY",
        "CANTOPEN",
        "IOERR",
        "PERM",
        "AUTH",
        "NOLFS",
        "PROTOCOL",
        "NOMEM",
        "TOOBIG",
    )
}
"""Result codes that are the place's fault and not the file's."""
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def open_index(file: Path | None) -> Index:
    """Return the index in a file, in memory for None. Never fails: `status().problem` says what was
    wrong."""
    return Index(IndexDatabase(file, SCHEMA, VERSION))


class IndexDatabase:
    """`Database` in a file that processes and threads share; the port documents the methods. Before
    every use the file is compared with the one that was opened: another process may have replaced
    it."""

    def __init__(self, place: Path | None, schema: Sequence[str], version: int) -> None:
        """`place` is the file, None keeps everything in memory. Never fails: see `warning`."""
        self.warning: str | None = None
        self.file: Path | None = None
        self.epoch = 0
        self._place = place
        self._schema = schema
        self._version = version
        self._state = threading.RLock()
        self._write = threading.RLock()
        self._readers: list[Connection] = []
        self._writer: Connection | None = None
        """In memory the only connection, which readers and the writer take in turns."""
        self._identity: FileIdentity | None = None
        """Of the opened file."""
        self._remove_temporary: Callable[[], object] | None = None
        """At the end of the program if not before."""
        self._starts = 0
        self._closed = False
        self._open()

    # -- using
    @contextlib.contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        with self._guard():
            if self.file is None:
                with self._write:
                    yield self._get_writer()
                return
            epoch, connection = self._take_reader(self.file)
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection, epoch)

    @contextlib.contextmanager
    def write_transaction(self, patience: float = PATIENCE) -> Iterator[Connection]:
        if not self._write.acquire(timeout=patience):
            raise Busy
        try:
            with self._guard():
                connection = self._get_writer()
                connection.execute(f"PRAGMA busy_timeout={int(patience * 1000)}")
                connection.execute("BEGIN IMMEDIATE")
                with connection:
                    yield connection
        finally:
            self._write.release()

    def copy_to_memory(self) -> IndexDatabase:
        copy = IndexDatabase(None, (), self._version)  # its tables come with the copy
        try:
            with self.read_transaction() as connection, copy.read_transaction() as target:
                connection.backup(target)
            copy._schema = self._schema
        except BaseException:
            copy.close()
            raise
        return copy

    def truncate_journal(self) -> None:
        if not self._write.acquire(blocking=False):
            return  # whoever writes now will come here
        try:
            with contextlib.suppress(Busy, Replaced), self._guard():
                writer = self._get_writer()
                # a step gives one page back, and `execute` steps once
                writer.executescript("PRAGMA incremental_vacuum")
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._write.release()

    def write_anew(self) -> None:
        with self._write, self._guard():
            try:
                self._get_writer().execute("VACUUM")
            except sqlite3.OperationalError as error:  # the file is as it was
                if _code(error) != sqlite3.SQLITE_FULL:
                    raise
                raise StorageFailed(
                    "The disk has no room for a second copy of the index. Free some space and try "
                    "again."
                ) from error
        self.truncate_journal()

    def release_memory(self) -> None:
        with self._state, contextlib.suppress(sqlite3.Error):
            while self._readers:
                self._readers.pop().close()

    def size(self) -> int:
        with contextlib.suppress(OSError):
            if self.file is not None:
                return sum(
                    part.stat().st_size for part in database_files(self.file) if part.exists()
                )
        return 0

    def begin_anew(self) -> None:
        with self._write, self._state:
            self._starts = 0
            self._close_all()
            if self.file is not None and not self._closed and not remove_database(self.file):
                raise StorageFailed(
                    "The index is open in another program, such as a server; end that and try "
                    "again."
                )
            self._replace(self.epoch, _damage("to be begun anew"))

    def close(self) -> None:
        with self._write, self._state:
            self._closed = True
            self._close_all()
            if self._remove_temporary is not None:
                self._remove_temporary()

    @contextlib.contextmanager
    def _guard(self) -> Iterator[None]:
        """SQLite's errors as ours; where the file is at fault it is replaced first."""
        epoch = self.epoch
        if self.file is not None and identity_at(self.file) != self._identity and not self._closed:
            self._replace(epoch, None)
            raise Replaced
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = _code(error)
            if code in _BUSY:
                raise Busy from error
            is_statement = code == sqlite3.SQLITE_ERROR and not str(error).startswith("no such ")
            if is_statement or isinstance(error, UNSTORABLE):
                raise  # the statement is at fault, not the file
            self._replace(epoch, error)
            raise Replaced from error
        finally:
            if self._closed:  # meanwhile: leave nothing open
                self.close()

    # -- connections
    def _get_writer(self) -> Connection:
        if self._writer is None:
            if self.file is None:
                raise Replaced
            self._writer = _connect(str(self.file))
        return self._writer

    def _take_reader(self, file: Path) -> tuple[int, Connection]:
        with self._state:
            epoch = self.epoch
            if self._readers:
                return epoch, self._readers.pop()
        return epoch, _connect(str(file), "PRAGMA query_only=ON")

    def _give_back(self, connection: Connection, epoch: int) -> None:
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            with self._state:
                if epoch == self.epoch and not self._closed and len(self._readers) < IDLE_READERS:
                    self._readers.append(connection)
                    return
        connection.close()

    def _close_all(self) -> None:
        for connection in (*self._readers, self._writer):
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()
        self._readers, self._writer = [], None

    # -- finding a place
    def _replace(self, epoch: int, error: sqlite3.DatabaseError | None) -> None:
        """Go on with another file, unless another thread did it since `epoch`. No `error`: another
        process did it."""
        with self._write, self._state:
            if epoch != self.epoch or self._closed:
                return
            self._close_all()
            self.epoch += 1
            if error is not None:
                self._starts += 1
                if _code(error) in _UNUSABLE or self._starts > FRESH_STARTS:
                    self._fall_back(_reason(error))
                elif self.file is not None and identity_at(self.file) == self._identity:
                    remove_database(self.file)
            self._open()

    def _open(self) -> None:
        """Open the file at the best place that can be written."""
        while self._place is not None:
            self.file = self._place
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True)
                self._writer = _connect(str(self.file))
                if not _user_version(self._writer):
                    # for `truncate_journal`; of a new file alone, because it takes a writer's lock
                    self._writer.execute("PRAGMA auto_vacuum=INCREMENTAL")
                _write_ahead(self._writer)
                self._prepare(self._writer)
                self._identity = identity_at(self.file)
            except (sqlite3.DatabaseError, OSError) as error:
                self._close_all()
                self._starts += 1
                if (
                    isinstance(error, OSError)
                    or _code(error) in _UNUSABLE
                    or self._starts > FRESH_STARTS
                ):
                    self._fall_back(_reason(error))
                elif _code(error) not in _BUSY:
                    remove_database(self.file)
            else:
                return
        self.file = None
        self._writer = _connect(":memory:")
        self._prepare(self._writer)

    def _fall_back(self, reason: str) -> None:
        """Go on in the temporary folder, or in memory when that was the place already."""
        self._starts, self._place = 0, None
        self.warning = (
            f"The index cannot be kept ({reason}); it is in memory for the time of this program."
        )
        if self._remove_temporary is None:
            import shutil
            import tempfile

            with contextlib.suppress(OSError):
                folder = Path(tempfile.mkdtemp(prefix="obsidian-mcp-"))
                self._remove_temporary = weakref.finalize(
                    self, shutil.rmtree, folder, ignore_errors=True
                )
                self._place = folder / "index.db"
                self.warning = (
                    f"The index cannot be kept ({reason}); it is made anew at every start of the "
                    "program."
                )

    def _prepare(self, connection: Connection) -> None:
        """Create the tables in an empty file. Raises: sqlite3.DatabaseError when there is something
        else."""
        if _user_version(connection) == self._version:
            return
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            found = _user_version(connection)  # another process may have been faster
            if found not in (0, self._version):
                raise _damage("not an index")
            if found == 0:
                for statement in self._schema:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version={self._version}")


def _connect(name: str, *more: str) -> Connection:
    connection = sqlite3.connect(
        name, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        for setting in (*_SETTINGS, *more):
            connection.execute(setting)
    except BaseException:  # the first of them reads the file, which may be none of SQLite's
        connection.close()
        raise
    return connection


def _write_ahead(connection: Connection) -> None:
    """Switch to write-ahead logging, so that readers and a writer do not wait for each other.
    SQLite itself does not wait for a process that opens the file at the same moment."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            if _code(error) not in _BUSY or time.monotonic() > end:
                raise
            time.sleep(0.005)
        else:
            if mode != "wal":
                raise sqlite3.OperationalError(f"no write-ahead log here (mode {mode})")
            return


def _user_version(connection: Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version) & 0xFFFFFFFF


def _damage(message: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(message)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _code(error: sqlite3.Error) -> int:
    """Primary result code; damage when SQLite gave none (a file that is no database, text that is
    not UTF-8)."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


def _reason(error: sqlite3.DatabaseError | OSError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
