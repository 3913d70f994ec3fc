"""The journal of changes: a SQLite file in the user's state folder (specs/safety.md).

A change is synced here before the first file is touched, and marked as done after the last; one
that was cut off is rolled back.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from obsidian_mcp import logger
from obsidian_mcp.core.files.ports import Author, ChangeHead, Recorded, Step, Undoing
from obsidian_mcp.core.text.call import checkpoint, current_call
from obsidian_mcp.core.text.digest import content_name
from obsidian_mcp.errors import OperationTimeout, StorageFailed

from .begun_steps import BegunSteps
from .file_lock import acquire_lock
from .journal_pruning import KEEP_BYTES, PRUNE_EVERY, prune, size_in_use
from .private_database import open_private_database

LOCK_SECONDS = 10.0
"""A writer waits this long for another one: a change takes milliseconds, a large move some
seconds."""
ETAG_DIGITS = 16
FULL_BYTES = 100_000
"""A disk with less free space is called full when it refuses a write."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS change (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    time REAL NOT NULL,
    tool TEXT NOT NULL,
    undoes INTEGER,
    undoes_part INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    process TEXT NOT NULL DEFAULT '',
    client TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS step (
    change INTEGER NOT NULL REFERENCES change ON DELETE CASCADE,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,
    disk BLOB NOT NULL,
    target BLOB,
    before TEXT,
    after TEXT,
    PRIMARY KEY (change, position)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS step_disk ON step (disk);
CREATE INDEX IF NOT EXISTS step_target ON step (target);
CREATE TABLE IF NOT EXISTS seen (
    change INTEGER PRIMARY KEY REFERENCES change ON DELETE CASCADE
);
CREATE TABLE IF NOT EXISTS content (digest TEXT PRIMARY KEY, data BLOB NOT NULL);
"""


_PROCESS = os.urandom(8).hex()
"""Identifies this process in the journal: the system reuses process ids."""


class SqliteJournal:
    """`Journal` (core/files/ports.py, which documents the methods) in a folder, which is created.

    Threads and processes may share it.
    """

    def __init__(
        self,
        folder: Path,
        clock: Callable[[], float] = time.time,
        *,
        keep_bytes: int = KEEP_BYTES,
        patience: float = LOCK_SECONDS,
        process: str = "",
    ) -> None:
        """Open nothing yet: a vault can be read where no journal can be written.

        `process` is the author of changes; this process where it is empty.
        """
        self._folder = folder
        self._file = folder / "journal.sqlite3"
        self._process = process or _PROCESS
        self._clock = clock
        self._keep_bytes = keep_bytes
        self._patience = patience
        self._connection: sqlite3.Connection | None = None
        self._begun = BegunSteps(folder / "begun")
        self._closed = False
        self._writers = threading.RLock()
        """Held by the thread that changes the vault."""
        self._is_held = False
        """Whether that thread holds the lock between programs, too."""
        self._mutex = threading.RLock()
        """Guards the connection, so that the history can be read while another thread changes the
        vault."""

    @contextlib.contextmanager
    def lock_for_writing(self) -> Iterator[None]:
        limit = current_call.get().limit
        patience = self._patience if limit is None else min(self._patience, limit.remaining)
        if not self._writers.acquire(timeout=patience):
            checkpoint()
            raise self._too_long()
        try:
            if self._is_held:
                yield
                return
            try:
                self._make_folder()
                held = acquire_lock(self._folder / "write.lock", patience)
            except TimeoutError as error:
                checkpoint()
                raise self._too_long() from error
            except OSError as error:
                raise _failure(error, self._folder) from error
            with held:
                self._is_held = True
                try:
                    yield
                finally:
                    self._is_held = False
        finally:
            self._writers.release()

    def _too_long(self) -> OperationTimeout:
        return OperationTimeout(
            "Another call or program has been writing to this vault for more than "
            f"{self._patience:g} s. Nothing was changed; try again.",
            seconds=self._patience,
        )

    def author(self) -> Author:
        call = current_call.get()
        caller, key = call.client, call.key
        name = f"{caller.name} (key {key})".lstrip() if key else caller.name
        return Author(
            f"{self._process}/{caller.session}" if caller.session else self._process, name
        )

    def begin(self, tool: str, steps: Sequence[Step], undoes: Undoing | None = None) -> int:
        author = self.author()
        with self._database() as database:
            number = database.execute(
                "INSERT INTO change (time, tool, undoes, undoes_part, process, client) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (self._clock(), tool, *(undoes or (None, False)), author.process, author.client),
            ).lastrowid
            assert number is not None  # noqa: S101  an INSERT gives a row
            keep = partial(self._keep, database)
            rows = [
                (
                    number,
                    at,
                    step.kind,
                    _encode(step.disk),
                    _encode(step.target),
                    keep(step.before),
                    keep(step.after),
                )
                for at, step in enumerate(steps)
            ]
            database.executemany("INSERT INTO step VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        return number

    def _keep(self, database: sqlite3.Connection, data: bytes | None) -> str | None:
        if data is None:
            return None
        digest = content_name(data)
        if database.execute("SELECT 1 FROM content WHERE digest = ?", (digest,)).fetchone() is None:
            database.execute("INSERT INTO content VALUES (?, ?)", (digest, zlib.compress(data, 1)))
        return digest

    def begin_step(self, number: int, count: int) -> None:
        try:
            self._begun.write(number, count)
        except OSError as error:
            raise _failure(error, self._folder) from error

    def finish(self, number: int) -> None:
        with self._database() as database:
            database.execute("UPDATE change SET done = 1 WHERE number = ?", (number,))
            is_full = size_in_use(database) > self._keep_bytes
        if is_full or number % PRUNE_EVERY == 0:
            try:
                self.prune()
            # the change is made and kept; the next check removes old changes
            except StorageFailed as error:
                logger(__name__).warning("the journal was not pruned: %s", error.message)

    def discard(self, number: int) -> None:
        with self._database() as database:
            database.execute("DELETE FROM change WHERE number = ?", (number,))

    def list_unfinished(self) -> list[Recorded]:
        changes = self._read_changes("done = 0 ORDER BY number DESC", content=True)
        return [
            change._replace(steps=change.steps[: self._begun.count(change.number)])
            for change in changes
        ]

    def latest(self) -> int:
        # A vault that is only read gets no journal. `os.path.exists` is False for any error.
        if self._connection is None and not os.path.exists(self._file):  # noqa: PTH110
            return 0
        with self._database() as database:
            return database.execute("SELECT max(number) FROM change").fetchone()[0] or 0

    def list_since(self, number: int) -> list[Recorded]:
        return self._read_changes("number > :number AND done = 1", content=False, number=number)

    def changes(
        self, disk: str | None, limit: int, offset: int, *, anywhere: bool = False
    ) -> tuple[list[Recorded], int]:
        where, values = "done = 1", {"disk": _encode(disk)}
        if disk is not None:
            matches = "disk = :disk OR target = :disk"
            if anywhere:
                matches += " OR substr(disk, -length(:disk) - 1) = cast('/' || :disk AS BLOB)"
            where += f" AND number IN (SELECT change FROM step WHERE {matches})"
        with self._database() as database:
            sql = f"SELECT count(*) FROM change WHERE {where}"
            total: int = database.execute(sql, values).fetchone()[0]
        page = f"{where} ORDER BY number DESC LIMIT {limit:d} OFFSET {offset:d}"
        return self._read_changes(page, content=False, **values), total

    def change(self, number: int) -> Recorded | None:
        return next(
            iter(self._read_changes("number = :number AND done = 1", content=True, number=number)),
            None,
        )

    def list_heads(self) -> list[ChangeHead]:
        with self._database() as database:
            rows = database.execute(
                "SELECT number, time, tool, process, client, undoes, undoes_part, "
                "EXISTS (SELECT 1 FROM seen WHERE change = number) "
                "FROM change WHERE done = 1 ORDER BY number DESC"
            ).fetchall()
            undone = _find_undone(database) if rows else {}
        return [
            ChangeHead(
                number,
                moment,
                tool,
                Author(process, client),
                _read_undoing(undoes, is_part),
                undone.get(number),
                bool(is_seen),
            )
            for number, moment, tool, process, client, undoes, is_part, is_seen in rows
        ]

    def list_numbered(self, numbers: Sequence[int]) -> list[Recorded]:
        listed = ",".join(str(int(number)) for number in numbers)
        condition = f"number IN ({listed}) AND done = 1 ORDER BY number DESC"
        return self._read_changes(condition, content=False)

    def mark_seen(self, numbers: Sequence[int]) -> None:
        with self._database() as database:
            database.executemany(
                "INSERT OR IGNORE INTO seen SELECT number FROM change WHERE number = ?",
                [(number,) for number in numbers],
            )

    def _read_changes(self, condition: str, *, content: bool, **values: object) -> list[Recorded]:
        """Return the changes that fulfil a condition of SQL; with `content` the bytes of their
        steps too."""
        columns = "number, time, tool, undoes, undoes_part, process, client"
        changes = []
        with self._database() as database:
            sql = f"SELECT {columns} FROM change WHERE {condition}"
            rows = database.execute(sql, values).fetchall()
            undone = _find_undone(database) if rows else {}
            for number, moment, tool, undone_change, is_part, *author in rows:
                steps = []
                for kind, disk, target, before, after in database.execute(
                    "SELECT kind, disk, target, before, after FROM step WHERE change = ? ORDER "
                    "BY position",
                    (number,),
                ).fetchall():
                    old = self._content(database, before) if content else None
                    new = self._content(database, after) if content else None
                    steps.append(Step(kind, _decode(disk) or "", _decode(target), old, new))
                undoes = _read_undoing(undone_change, is_part)
                record = Recorded(
                    number, moment, tool, tuple(steps), undoes, undone.get(number), Author(*author)
                )
                changes.append(record)
        return changes

    def _content(self, database: sqlite3.Connection, digest: str | None) -> bytes | None:
        if digest is None:
            return None
        (data,) = database.execute(
            "SELECT data FROM content WHERE digest = ?", (digest,)
        ).fetchone()
        return zlib.decompress(data)

    def version(self, disk: str, etag: str) -> bytes | None:
        if len(etag) != ETAG_DIGITS or not etag.isalnum():
            return None
        sql = (
            "SELECT DISTINCT data FROM step JOIN content ON digest IN (before, after) "
            "WHERE disk = ? AND digest >= ? AND digest < ?"
        )
        with self._database() as database:
            rows = database.execute(sql, (_encode(disk), etag, etag + "g")).fetchall()
            return zlib.decompress(rows[0][0]) if len(rows) == 1 else None

    def prune(self) -> None:
        """Delete the oldest changes; see `journal_pruning`."""
        with self._database() as database:
            prune(database, self._clock(), self._keep_bytes)

    def close(self) -> None:
        with self._mutex:
            self._closed = True
            self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._begun.close()

    @contextlib.contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """The connection in a transaction: committed and synced on leaving, rolled back on an
        error. Raises: StorageFailed for whatever the disk or SQLite has against it."""
        with self._mutex:
            try:
                if self._connection is None:
                    self._connection = self._open()
                with self._connection:
                    yield self._connection
            except (OSError, sqlite3.Error, zlib.error) as error:
                raise _failure(error, self._folder) from error
            finally:
                if self._closed:  # `close` came while this call ran
                    self._disconnect()

    def _open(self) -> sqlite3.Connection:
        self._make_folder()
        return open_private_database(self._file, _SCHEMA, patience=LOCK_SECONDS)

    def _make_folder(self) -> None:
        """Create the folder for the user only: it holds old versions of notes. Raises: OSError."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)


def _read_undoing(change: int | None, is_part: int) -> Undoing | None:
    return None if change is None else Undoing(change, bool(is_part))


def _find_undone(database: sqlite3.Connection) -> dict[int, int]:
    """Return the changes that are undone as a whole, each with the undo that has not been undone
    itself."""
    undone: dict[int, int] = {}
    for number, undoes in database.execute(
        "SELECT number, undoes FROM change "
        "WHERE undoes IS NOT NULL AND NOT undoes_part AND done = 1 ORDER BY number DESC"
    ):
        if number not in undone:  # whatever undoes it is later
            undone.setdefault(undoes, number)
    return undone


def _encode(disk: str | None) -> bytes | None:
    """Disk spellings may hold surrogate escapes, which SQLite's text cannot."""
    return None if disk is None else disk.encode("utf-8", "surrogateescape")


def _decode(raw: bytes | None) -> str | None:
    return None if raw is None else raw.decode("utf-8", "surrogateescape")


def _failure(error: Exception, folder: Path) -> StorageFailed:
    reason = (isinstance(error, OSError) and error.strerror) or str(error)
    # SQLite says so too where a full disk has no room for its memory shared between processes
    if "I/O" in reason:
        import shutil

        with contextlib.suppress(OSError):
            if shutil.disk_usage(folder).free < FULL_BYTES:
                reason = "the disk is full"
    return StorageFailed(
        f"The journal that keeps old versions of notes cannot be used ({reason}), so nothing was "
        f"changed. Check the folder '{folder}', or name another one in OBSIDIAN_MCP_STATE.",
        folder=str(folder),
    )
