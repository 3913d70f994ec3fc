"""The tables of the index, and the fingerprint of the program that made them (specs/index.md)."""

from __future__ import annotations

import zlib

from obsidian_mcp import __version__
from obsidian_mcp.core.text import analysis

from . import compression, facts, link_rows, listed_files, piece_rows, search_document
from .interned import INTERNED
from .rows import TABLES

SCHEMA = (
    "CREATE TABLE state (identity TEXT NOT NULL, generation INTEGER NOT NULL)",
    "INSERT INTO state VALUES (lower(hex(randomblob(8))), 0)",
    """CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, key TEXT NOT NULL,
    disk BLOB, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, digest BLOB,
    warnings TEXT NOT NULL, changed INTEGER NOT NULL)""",
    *(
        f"CREATE TABLE {table} (file INTEGER NOT NULL, n INTEGER NOT NULL, "
        f"{', '.join(row._fields)},"
        " PRIMARY KEY (file, n)) WITHOUT ROWID"
        for table, row in TABLES.items()
        if table not in INTERNED
    ),
    *(statement for table in INTERNED.values() for statement in table.schema),
    *(f"CREATE INDEX {table}_by_key ON {table} (key)" for table in ("aliases", "inline_fields")),
    "CREATE INDEX files_unreadable ON files (path) WHERE digest IS NULL",
    f"CREATE INDEX files_long ON files (path) WHERE size > {facts.BODY_LIMIT}",
    # else every change would cost a scan of all files
    "CREATE INDEX files_by_change ON files (changed)",
    "CREATE INDEX files_by_time ON files (mtime_ns DESC, path)",
    *compression.SCHEMA,
    *piece_rows.SCHEMA,
    "CREATE INDEX tasks_by_day ON tasks (last_day, first_day, mark) WHERE last_day > ''",
    "CREATE INDEX tasks_linked ON tasks (file) WHERE linked",
    # every search asks which files have such a field; the condition is that of `with_task_fields`
    "CREATE INDEX tasks_with_fields ON tasks (file) WHERE instr(text, '::')",
    *link_rows.SCHEMA,
    *listed_files.SCHEMA,
    *search_document.SCHEMA,
)
VERSION = (
    zlib.crc32("\n".join((*SCHEMA, facts.VERSION, analysis.VERSION, __version__)).encode())
    & 0x7FFFFFFF
    or 1
)
"""Fingerprint of the tables and of the program: files of another one are not used."""
COLUMNS = {
    **{
        table: ("file", "n", *row._fields) for table, row in TABLES.items() if table not in INTERNED
    },
    **{table.rows: ("file", "n", "name", *table.own_fields) for table in INTERNED.values()},
}
"""Table -> its columns, of the tables of the facts of files."""
INSERT = {
    table: f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})"
    for table, columns in COLUMNS.items()
}
