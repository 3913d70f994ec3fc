"""Which changes the journal forgets, so that it does not grow for ever (SAFE-12)."""

from __future__ import annotations

import sqlite3

KEEP_DAYS = 60
KEEP_CHANGES = 200
"""The latest changes are kept whatever their age: a clock that jumps ahead must not empty the
journal (SAFE-12)."""
KEEP_BYTES = 500_000_000
"""Journal size on disk above which the oldest changes go first."""
PRUNE_EVERY = 100
"""Number of changes between two checks of age."""


def prune(database: sqlite3.Connection, now: float, keep_bytes: int) -> None:
    """Delete changes older than KEEP_DAYS, then the oldest until the rest fits into `keep_bytes`.

    The latest KEEP_CHANGES are kept whatever their age, and the last one whatever its size. `now`:
    seconds since the epoch.
    """
    database.execute(
        "DELETE FROM change WHERE done = 1 AND time < ? AND number <= ("
        "SELECT coalesce(max(number), 0) FROM change) - ?",
        (now - KEEP_DAYS * 86_400, KEEP_CHANGES),
    )
    _forget_unused(database)
    while size_in_use(database) > keep_bytes:
        numbers = database.execute(
            "SELECT number FROM change WHERE done = 1 ORDER BY number"
        ).fetchall()
        oldest = numbers[: max(len(numbers) // 10, 1)]
        if len(numbers) < 2:
            break
        database.executemany("DELETE FROM change WHERE number = ?", oldest)
        _forget_unused(database)


def _forget_unused(database: sqlite3.Connection) -> None:
    database.execute(
        "DELETE FROM content WHERE digest NOT IN (SELECT before FROM step WHERE before IS NOT "
        "NULL UNION SELECT after FROM step WHERE after IS NOT NULL)"
    )


def size_in_use(database: sqlite3.Connection) -> int:
    """Return the bytes of the file that are in use; the pages of deleted changes are filled
    again."""
    values = ("page_count", "freelist_count", "page_size")
    pages, free, page_bytes = (
        int(database.execute(f"PRAGMA {name}").fetchone()[0]) for name in values
    )
    return (pages - free) * page_bytes
