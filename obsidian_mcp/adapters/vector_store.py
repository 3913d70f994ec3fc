"""Vectors in an SQLite file beside the index, and in memory as one matrix (specs/semantic.md,
SEM-03)."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.index.columns import to_path, to_stored_path
from obsidian_mcp.core.semantic.meaning import Near
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import SemanticUnavailable

from .index_files import remove_database

if TYPE_CHECKING:
    import numpy as np

FRESH_SECONDS: Final = 10.0
"""While vectors are being made, how long the matrix is used before new ones are read."""


class VectorStore:
    """The vectors of one vault and one model, as 16-bit floats, opened at the first use; a damaged
    file is begun anew. Every method raises SemanticUnavailable while the file cannot be used."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection: sqlite3.Connection | None = None
        self._is_closed = False
        self._lock = threading.Lock()
        self._loaded_at = 0.0
        self._version = -1
        """Of the file, when the matrix was read."""
        self._matrix: np.ndarray[Any, Any] | None = None
        """A row for every piece of a note; the rows of one note follow each other."""
        self._starts: list[int] = []
        """Where the piece of each row begins in its note."""
        self._paths: list[VaultPath] = []
        """The notes, in the order of their rows."""
        self._bounds: list[int] = []
        """The first row of each note."""

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction in the file, and the lock of this store."""
        with self._lock:
            try:
                if self._is_closed:
                    raise sqlite3.ProgrammingError("the store is closed")
                if self._connection is None:
                    self._connection = self._connect()
                with self._connection:
                    yield self._connection
            except (sqlite3.Error, OSError) as error:
                if _is_damage(error):
                    self._discard()
                raise SemanticUnavailable(
                    f"The vectors in '{self._file}' cannot be used now: {error}."
                ) from error

    def _connect(self) -> sqlite3.Connection:
        try:
            return _open_file(self._file)
        except sqlite3.Error as error:
            if not _is_damage(error):
                raise
            self._discard()
            return _open_file(self._file)

    def _discard(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._version = None, -1
        remove_database(self._file)

    def digests(self) -> Mapping[VaultPath, bytes]:
        with self._transaction() as connection:
            return {
                to_path(path): digest
                for path, digest in connection.execute("SELECT path, digest FROM vectors")
            }

    def put(
        self, path: VaultPath, digest: bytes, starts: Sequence[int], vectors: Sequence[bytes]
    ) -> None:
        import numpy as np

        packed = np.frombuffer(b"".join(vectors), dtype="<f4").astype("<f2").tobytes()
        with self._transaction() as connection:
            row = connection.execute(
                "SELECT length(vectors) / json_array_length(starts) FROM vectors LIMIT 1"
            ).fetchone()
            # vectors of another length are of another model under the same name
            if row is not None and row[0] != len(packed) // len(starts):
                connection.execute("DELETE FROM vectors")
            sql = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)"
            connection.execute(
                sql, (to_stored_path(path), digest, json.dumps(list(starts)), packed)
            )

    def drop(self, paths: Iterable[VaultPath]) -> None:
        with self._transaction() as connection:
            connection.executemany(
                "DELETE FROM vectors WHERE path = ?", [(to_stored_path(path),) for path in paths]
            )

    def find_nearest(self, vector: bytes, most: int) -> list[Near]:
        import numpy as np

        query = np.frombuffer(vector, dtype="<f4")
        with self._transaction() as connection:
            self._load(connection)
            matrix, paths, starts, bounds = self._matrix, self._paths, self._starts, self._bounds
        if matrix is None or not paths or matrix.shape[1] != len(query):
            return []
        similarity = matrix @ query
        best = np.maximum.reduceat(similarity, bounds)
        order = np.argsort(-best, kind="stable")[:most]
        nearest = []
        for number in order:
            first = bounds[number]
            last = bounds[number + 1] if number + 1 < len(bounds) else len(starts)
            piece = first + int(similarity[first:last].argmax())
            nearest.append(Near(paths[number], starts[piece], float(best[number])))
        return nearest

    def find_similar(self, path: VaultPath, most: int) -> list[Near]:
        import numpy as np

        sql = "SELECT starts, vectors FROM vectors WHERE path = ?"
        with self._transaction() as connection:
            row = connection.execute(sql, (to_stored_path(path),)).fetchone()
        if row is None:
            return []
        starts, vectors = row
        mean = (
            np.frombuffer(vectors, dtype="<f2")
            .astype("f4")
            .reshape(len(json.loads(starts)), -1)
            .mean(axis=0)
        )
        unit = mean / (float(np.linalg.norm(mean)) or 1.0)
        return [
            near
            for near in self.find_nearest(unit.astype("<f4").tobytes(), most + 1)
            if near.path != path
        ][:most]

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._connection is not None:
                self._connection.close()

    def _load(self, connection: sqlite3.Connection) -> None:
        """Read the matrix anew where the file has changed."""
        import numpy as np

        if self._matrix is not None and time.monotonic() - self._loaded_at < FRESH_SECONDS:
            return
        # the first number changes with the commits of other connections, the second with ours
        version = (
            connection.execute("PRAGMA data_version").fetchone()[0] * 2**32
            + connection.total_changes
        )
        self._loaded_at = time.monotonic()
        if version == self._version:
            return
        self._paths, self._starts, self._bounds, parts = [], [], [], []
        for path, starts, packed in connection.execute(
            "SELECT path, starts, vectors FROM vectors ORDER BY path"
        ):
            piece_starts = json.loads(starts)
            self._paths.append(to_path(path))
            self._bounds.append(len(self._starts))
            self._starts += piece_starts
            parts.append(np.frombuffer(packed, dtype="<f2").reshape(len(piece_starts), -1))
        self._matrix = np.concatenate(parts).astype("f4") if parts else None
        self._version = version


def _open_file(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(file, check_same_thread=False, timeout=5.0)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors (path TEXT PRIMARY KEY, digest BLOB NOT NULL, "
            "starts TEXT NOT NULL, vectors BLOB NOT NULL)"
        )
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _is_damage(error: Exception) -> bool:
    """Return whether the file itself is at fault; else it is busy, full, read-only, or closed."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )
