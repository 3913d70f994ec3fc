"""The rows in which compressed pieces lie: short ones, so that they fill the pages of the file.

A piece takes 1 to 3 KB, and a page of 4 KB holds whole rows: rows of a whole piece would leave a
quarter of the pages unused (specs/index.md, INDEX-59).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import Final

from .compression import CompressedPiece
from .database import Connection

ROW_BYTES: Final = 664
"""Of a piece in one row: six rows fill a page."""
_MOST_ROWS: Final = 64
"""Rows of a piece; the last one of a very long piece holds all that is over."""
_FIRST: Final = f"wanted.value * {_MOST_ROWS}"

SCHEMA = (
    # Only the first row of a piece has a dictionary and the bytes of its head.
    """CREATE TABLE notes (id INTEGER PRIMARY KEY, dictionary INTEGER, head INTEGER,
    content BLOB NOT NULL)""",
    "CREATE TABLE odd_notes (file INTEGER PRIMARY KEY, odd INTEGER NOT NULL)",
)


def read_pieces(
    connection: Connection, files: Collection[int] | None = None
) -> Iterator[tuple[int, CompressedPiece]]:
    """Yield some files in their order, or all, each with its piece put together from its rows."""
    sql, values = "SELECT id, dictionary, head, content FROM notes ORDER BY id", list[str]()
    if files is not None:
        sql = (
            "SELECT notes.id, dictionary, head, content FROM json_each(?) AS wanted "
            f"CROSS JOIN notes WHERE notes.id BETWEEN {_FIRST} AND {_FIRST} + {_MOST_ROWS - 1}"
        )
        values.append(json.dumps(list(files)))
    number, dictionary, head, content = 0, None, 0, b""
    for row_number, row_dictionary, row_head, part in connection.execute(sql, values):
        if row_dictionary is None:
            content += part
            continue
        if dictionary is not None:
            yield number // _MOST_ROWS, CompressedPiece(dictionary, head, content)
        number, dictionary, head, content = row_number, row_dictionary, row_head, part
    if dictionary is not None:
        yield number // _MOST_ROWS, CompressedPiece(dictionary, head, content)


def replace_pieces(
    connection: Connection, stale: Iterable[int], pieces: Mapping[int, CompressedPiece]
) -> None:
    """Delete the pieces of some files, and store those of others.

    Rows that stay are written over: SQLite puts one of the same length where it was (INDEX-53).
    """
    rows = [row for file, piece in pieces.items() for row in _split_piece(file, piece)]
    last_rows = {row[0] // _MOST_ROWS: row[0] for row in rows}
    connection.executemany(
        "DELETE FROM notes WHERE id BETWEEN ? AND ?",
        (
            (last_rows.get(file, file * _MOST_ROWS - 1) + 1, (file + 1) * _MOST_ROWS - 1)
            for file in stale
        ),
    )
    connection.executemany("REPLACE INTO notes VALUES (?, ?, ?, ?)", rows)


def replace_flags(connection: Connection, stale: Iterable[int], flags: Mapping[int, int]) -> None:
    """Delete the bits of `search_document` that some files have, and store those of others."""
    connection.executemany("DELETE FROM odd_notes WHERE file = ?", ((file,) for file in stale))
    rows = ((file, odd) for file, odd in flags.items() if odd)
    connection.executemany("INSERT INTO odd_notes VALUES (?, ?)", rows)


def find_flagged(connection: Connection, bits: int) -> set[int]:
    """Return the files that have one of some bits of `search_document`."""
    rows = connection.execute("SELECT file FROM odd_notes WHERE odd & ?", (bits,))
    return set(chain.from_iterable(rows))


def read_last_file(connection: Connection) -> int:
    """Return the greatest number of a file with a piece; 0 where there is none."""
    (last,) = connection.execute("SELECT max(id) FROM notes").fetchone()
    return (last or 0) // _MOST_ROWS


def _split_piece(
    file: int, piece: CompressedPiece
) -> Iterator[tuple[int, int | None, int | None, bytes]]:
    first, content = file * _MOST_ROWS, piece.content
    row_count = min(_MOST_ROWS, max(1, -(-len(content) // ROW_BYTES)))
    ends = [*range(ROW_BYTES, row_count * ROW_BYTES, ROW_BYTES), len(content)]
    yield first, piece.dictionary, piece.head, content[: ends[0]]
    for n, (start, end) in enumerate(pairwise(ends), 1):
        yield first + n, None, None, content[start:end]
