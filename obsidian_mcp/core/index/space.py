"""What the index takes on disk, by what it holds (specs/index.md, INDEX-54)."""

from __future__ import annotations

import contextlib
import sqlite3

from .database import Connection

_KINDS = {
    "notes": "texts",
    "odd": "texts",
    "dictionaries": "texts",
    "search": "words",
    "words": "words",
    "link": "links",
    "targets": "links",
    "tag": "tags",
    "property": "properties",
    "aliases": "properties",
    "inline_fields": "properties",
    "tasks": "tasks",
}
"""The name of a table, up to its first underscore -> what it holds; all others are about files."""


def measure_space(connection: Connection) -> dict[str, int]:
    """Return the bytes that the index takes, by kind, with the largest first.

    Empty where the SQLite of this Python was made without `dbstat`. It looks at every page: a
    second for a gigabyte.
    """
    sql = (
        "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_schema USING (name) "
        "WHERE aggregate = TRUE GROUP BY tbl_name"
    )
    sizes: dict[str, int] = {}
    with contextlib.suppress(sqlite3.OperationalError):
        for table, size in connection.execute(sql):
            kind = _KINDS.get(table) or _KINDS.get(table.partition("_")[0], "files")
            sizes[kind] = sizes.get(kind, 0) + size
    if sizes:
        (pages,) = connection.execute("PRAGMA freelist_count").fetchone()
        (page_size,) = connection.execute("PRAGMA page_size").fetchone()
        sizes["unused"] = pages * page_size
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))
