"""All that an index holds, to compare two of them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from obsidian_mcp.core.index.compression import Decompressor
from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.index.index import Index
from obsidian_mcp.core.index.piece_rows import read_pieces
from obsidian_mcp.core.index.rows import TABLES
from obsidian_mcp.core.index.text_cache import PlainText


def has_page_statistics() -> bool:
    """Return whether the SQLite of this Python counts pages."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        return any("DBSTAT" in option for (option,) in connection.execute("PRAGMA compile_options"))


def dump(index: Index) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table with paths in place of row ids, in order: equal for equal vaults."""
    with index.database.write_transaction() as connection:
        connection.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.places USING fts5vocab(main, search, 'instance')")
        return dict(_tables(connection))


def _tables(connection: Connection) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    def rows(table: str, columns: Sequence[str], key: str, order: str) -> tuple[str, list[tuple[Any, ...]]]:
        found = connection.execute(
            f"SELECT files.path, {', '.join(f't.{column}' for column in columns)} FROM {table} t"
            f" LEFT JOIN files ON files.id = t.{key} ORDER BY {order}"
        )
        return table, list(found)

    yield (
        "files",
        list(connection.execute("SELECT path, disk, size, mtime_ns, digest, warnings FROM files ORDER BY path")),
    )
    for table, row in TABLES.items():
        yield rows(table, ("n", *row._fields), "file", "1, 2")
    yield "notes", sorted(_notes(connection), key=lambda note: note[0])
    yield rows("places", ("col", "offset", "term"), "doc", "1, 2, 3")


def _notes(connection: Connection) -> Iterator[tuple[Any, ...]]:
    """The decompressed pieces: what they are compressed with depends on the order of the changes."""
    (identity,) = connection.execute("SELECT identity FROM state").fetchone()
    flags = dict(connection.execute("SELECT file, odd FROM odd_notes").fetchall())
    paths = dict(connection.execute("SELECT id, path FROM files").fetchall())
    decompressor = Decompressor(connection, identity)
    for file, piece in read_pieces(connection):
        plain = PlainText(decompressor.decompress(piece.dictionary, piece.content), piece.head)
        head = plain.read_head()
        parts = (*head.short_fields, head.structure, head.headings, head.list_items)
        yield (paths[file], flags.get(file, 0), *parts, plain.decode_text())
