"""The SQLite file of one vault's index: opened, shared, and begun anew when it is damaged (specs/index.md).

The index can always be made again from the notes, so nothing here ever fails for want of a good file: a damaged one is
left behind, and where no file can be written the index lives in the system's temporary folder or in memory.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

Connection = sqlite3.Connection

PATIENCE = 5.0
"""Seconds that a write waits for another one. Batches take a tenth of a second."""
IDLE_READERS = 4
"""Connections kept open for reading; more are opened when more threads read at once."""
FRESH_STARTS = 3
"""Damaged files replaced at one place before the place itself is given up."""
OTHER_VERSION_DAYS = 30
"""Files of another version of the program are removed when untouched for so long: it may still be in use."""

SMALL_CACHE = "PRAGMA cache_size=-512"
"""KiB of pages that a connection keeps for itself. The system keeps them too, at 1 µs a page."""

_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA}
_UNUSABLE = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the folder is read-only",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened",
    sqlite3.SQLITE_IOERR: "the disk reported an input/output error",
    sqlite3.SQLITE_PERM: "the system refused access",
    sqlite3.SQLITE_AUTH: "the system refused access",
    sqlite3.SQLITE_NOLFS: "the disk cannot hold so large a file",
    sqlite3.SQLITE_PROTOCOL: "the disk does not support locking",
    sqlite3.SQLITE_NOMEM: "there was not enough memory",
    sqlite3.SQLITE_TOOBIG: "a value was too large",
}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class Replaced(Exception):
    """The database had to be begun anew and is empty; ask again, with every file as not indexed."""


class Busy(Exception):
    """Another process held the database for too long; nothing was written. Try again later."""


class Database:
    """Connections to one SQLite database. Every method may be called from any thread.

    Files are numbered: `vault.db` is kept as `vault.<version>.<number>.db`, and the highest number counts. A damaged
    file is never emptied in place, where other processes still have it open, but followed by the next number.
    """

    def __init__(self, place: Path | None, schema: Sequence[str], version: int) -> None:
        """`place` None keeps everything in memory. Never fails: see `warning`."""
        self.warning: str | None = None
        """One sentence when the database is not where it should be."""
        self.file: Path | None = None
        """The file in use, None in memory."""
        self.epoch = 0
        """Grows when the database was begun anew in this process."""
        self._place = place
        self._schema = schema
        self._version = version
        self._state = threading.RLock()
        self._write = threading.RLock()
        self._readers: list[Connection] = []
        self._writer: Connection | None = None
        self._only: Connection | None = None
        """In memory the one connection, which readers and the writer take in turns under `_write`."""
        self._temporary: Path | None = None
        self._tidy: Callable[[], object] | None = None
        """Removes the temporary folder; at the end of the program if not before."""
        self._starts = 0
        self._closed = False
        self._open_somewhere()

    # -- using -------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view of everything committed so far.

        Raises: Replaced, Busy.
        """
        epoch = self.epoch
        with self._used(epoch):
            if self._only is not None:
                with self._write:
                    yield self._only
                return
            connection = self._take_reader()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection, epoch)

    @contextlib.contextmanager
    def writing(self, patience: float = PATIENCE) -> Iterator[Connection]:
        """One transaction, alone among all processes: all of it or, after an exception, nothing.

        `patience` is how many seconds to wait for other writers.
        Raises: Replaced, Busy.
        """
        with self.alone(patience):
            epoch = self.epoch
            with self._used(epoch):
                connection = self._only or self._writing_connection()
                connection.execute(f"PRAGMA busy_timeout={int(patience * 1000)}")
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        with contextlib.suppress(sqlite3.Error):
                            connection.execute("ROLLBACK")
                    raise

    @contextlib.contextmanager
    def alone(self, patience: float = PATIENCE) -> Iterator[None]:
        """The only writer of this process, after at most so many seconds. Raises: Busy."""
        if not self._write.acquire(timeout=patience):
            raise Busy
        try:
            yield
        finally:
            self._write.release()

    def check(self) -> bool:
        """Look for damage in the whole file; True when it is sound, else it was begun anew. Costs a full read."""
        try:
            with self.reading() as connection:
                (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if found != "ok":
                    raise sqlite3.DatabaseError(found)
        except Replaced:
            return False
        return True

    def size(self) -> int:
        """Bytes on disk, 0 in memory."""
        with contextlib.suppress(OSError):
            if self.file is not None:
                return sum(_size(each) for each in _with_companions(self.file))
        return 0

    def begin_anew(self) -> None:
        """Leave the present file, whatever is in it, and go on with an empty one."""
        with self._write, self._state:
            self._replace(self.epoch, None)

    def close(self) -> None:
        """Close every connection, one that is in use when its use ends. Temporary files are removed."""
        with self._write, self._state:
            self._closed = True
            self._close_all()
            if self._tidy is not None:
                self._tidy()

    # -- connections -------------------------------------------------------------------------------------------

    def _take_reader(self) -> Connection:
        with self._state:
            if self._readers:
                return self._readers.pop()
            file = self.file
        if file is None:  # went to memory between two looks
            raise Replaced
        return _connect(str(file), "PRAGMA query_only=ON", SMALL_CACHE)

    def _give_back(self, connection: Connection, epoch: int) -> None:
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            with self._state:
                if epoch == self.epoch and not self._closed and len(self._readers) < IDLE_READERS:
                    self._readers.append(connection)
                    return
        connection.close()

    def _writing_connection(self) -> Connection:
        if self._writer is None:
            if self.file is None:
                raise Replaced
            self._writer = _connect(str(self.file), SMALL_CACHE)
        return self._writer

    def _close_all(self) -> None:
        for connection in (*self._readers, self._writer, self._only):
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()
        self._readers, self._writer, self._only = [], None, None

    @contextlib.contextmanager
    def _used(self, epoch: int) -> Iterator[None]:
        """SQLite's errors as ours; where the file is at fault it is replaced first.

        A use that ends after `close` leaves nothing open.
        """
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = _code(error)
            if code in _BUSY:
                raise Busy from error
            wrong_call = isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError)
            if wrong_call or (code == sqlite3.SQLITE_ERROR and not str(error).startswith("no such ")):
                raise  # the statement is at fault, not the file
            with self._write, self._state:
                self._replace(epoch, error)
            raise Replaced from error
        finally:
            if self._closed:
                self.close()

    # -- finding a place ---------------------------------------------------------------------------------------

    def _replace(self, epoch: int, error: sqlite3.DatabaseError | None) -> None:
        if epoch != self.epoch:  # another thread did it
            return
        old = self.file
        self._close_all()
        self.epoch += 1
        self._starts += 1
        unusable = error is not None and _code(error) in _UNUSABLE
        if error is not None and (unusable or self._starts > FRESH_STARTS):
            self._step_down(_reason(error))
        self._open_somewhere(after=old)
        if old is not None and old != self.file:
            _remove(old)

    def _step_down(self, reason: str) -> None:
        """Go on in the temporary folder, or in memory when that was the place already."""
        if self._temporary is None:
            with contextlib.suppress(OSError):
                self._temporary = Path(tempfile.mkdtemp(prefix="obsidian-mcp-"))
                self._tidy = weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
                self._place = self._temporary / "index.db"
                self._starts = 0
                self.warning = f"The index cannot be kept ({reason}); it is made anew at every start of the program."
                return
        self._place = None
        self.warning = f"The index cannot be kept ({reason}); it is in memory for the time of this program."

    def _open_somewhere(self, after: Path | None = None) -> None:
        """Open the newest sound file at the best place that can be written."""
        while self._place is not None:
            try:
                self._open_at(self._place, after)
            except (sqlite3.DatabaseError, OSError) as error:
                damaged = isinstance(error, sqlite3.DatabaseError) and _code(error) in _DAMAGED
                self._starts += 1
                if damaged and self._starts <= FRESH_STARTS and self.file is not None:
                    after = self.file
                else:
                    self._step_down(_reason(error))
            else:
                return
        self.file = None
        self._only = _connect(":memory:")
        self._prepare(self._only)

    def _open_at(self, place: Path, after: Path | None) -> None:
        """Open the file with the highest number at `place`, a new one when that is `after`."""
        place.parent.mkdir(parents=True, exist_ok=True)
        numbers = self._numbers(place)
        newest = max(numbers, default=1)
        if after is not None and after == self._numbered(place, newest):
            newest += 1
        self.file = self._numbered(place, newest)
        connection = _connect(str(self.file), SMALL_CACHE)
        try:
            _write_ahead(connection)
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._writer = connection
        for number in numbers:
            if number < newest:
                _remove(self._numbered(place, number))
        self._remove_other_versions(place)

    def _prepare(self, connection: Connection) -> None:
        """Make the tables where there are none. Raises: sqlite3.DatabaseError when there are others."""
        if _user_version(connection) == self._version:
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = _user_version(connection)  # another process may have been faster
            if found not in (0, self._version):
                raise _damage(f"version {found:#x} where {self._version:#x} was expected")
            if found == 0:
                for statement in self._schema:
                    connection.execute(statement)
                connection.execute("INSERT INTO state VALUES (?, 0)", (secrets.token_hex(8),))
                connection.execute(f"PRAGMA user_version={self._version}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _numbered(self, place: Path, number: int) -> Path:
        return place.with_name(f"{place.stem}.{self._version:08x}.{number}{place.suffix}")

    def _numbers(self, place: Path) -> list[int]:
        name = re.compile(rf"{re.escape(place.stem)}\.{self._version:08x}\.(\d+){re.escape(place.suffix)}")
        return [int(found[1]) for each in place.parent.iterdir() if (found := name.fullmatch(each.name))]

    def _remove_other_versions(self, place: Path) -> None:
        name = re.compile(rf"{re.escape(place.stem)}\.([0-9a-f]{{8}})\.\d+{re.escape(place.suffix)}")
        oldest = time.time() - OTHER_VERSION_DAYS * 86_400
        with contextlib.suppress(OSError):
            for each in place.parent.iterdir():
                found = name.fullmatch(each.name)
                if found and int(found[1], 16) != self._version and each.stat().st_mtime < oldest:
                    _remove(each)


_SETTINGS = (
    "PRAGMA page_size=16384",  # of new files: most notes lie on one page, and all are read in half the time
    "PRAGMA synchronous=NORMAL",  # a power cut may cost the last batches, never the file
    "PRAGMA secure_delete=OFF",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA journal_size_limit=16777216",
)


class Guest(Database):
    """A database that another process has opened and looks after: this one leaves everything as it finds it.

    Where the file is damaged, `Replaced` is raised and nothing is replaced.
    """

    def __init__(self, file: Path, schema: Sequence[str], version: int) -> None:
        """Raises: sqlite3.DatabaseError where there is no such database of this version."""
        super().__init__(file, schema, version)

    def _open_somewhere(self, after: Path | None = None) -> None:  # noqa: ARG002  the base class's signature
        if self._place is None or not self._place.exists():
            raise _damage("no such file")
        connection = _connect(str(self._place))
        try:
            if _user_version(connection) != self._version:
                raise _damage("another version")
        except BaseException:
            connection.close()
            raise
        self.file, self._writer = self._place, connection

    def _replace(self, epoch: int, error: sqlite3.DatabaseError | None) -> None:
        pass


def _connect(name: str, *more: str) -> Connection:
    connection = sqlite3.connect(name, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        for setting in (*_SETTINGS, *more):
            connection.execute(setting)
    except BaseException:  # the first of them reads the file, which may be none of SQLite's
        connection.close()
        raise
    return connection


def _write_ahead(connection: Connection) -> None:
    """Switch to write-ahead logging, so that readers and a writer do not wait for each other.

    The switch does not wait for other processes that open the file in the same moment, whatever the busy timeout.
    """
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
    """Primary result code; damage when SQLite gave none (a file that is no database, text that is not UTF-8)."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


def _reason(error: sqlite3.DatabaseError | OSError) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return _UNUSABLE.get(_code(error), str(error))


def _with_companions(file: Path) -> list[Path]:
    return [file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")]


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _remove(file: Path) -> None:
    """Best effort: on Windows a file that another process has open stays until a later start."""
    for each in _with_companions(file):
        with contextlib.suppress(OSError):
            each.unlink(missing_ok=True)
