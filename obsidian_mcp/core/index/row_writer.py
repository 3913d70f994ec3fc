"""The rows of files, written and deleted in one transaction of the index."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.links.resolve import keys_of
from obsidian_mcp.core.text.text import to_printable
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AppError

from . import search_document
from .columns import IN_LIST, disk_column, to_stored_path
from .compression import CompressedPiece, Decompressor
from .database import Connection
from .facts import Facts
from .interned import INTERNED
from .piece_rows import replace_flags, replace_pieces
from .rows import TABLES
from .schema import COLUMNS, INSERT
from .texts import Texts

Stat = Callable[[str], DiskFile | None]
"""Looks at a file on disk, as `Files.stat`."""


class Record(NamedTuple):
    """What is to be stored of one file.

    `digest` is the hash of the bytes that `facts` come from. It is None where the file could not be
    read, so that it is tried again at the next start; empty where it may be saved again with the
    same size and time, so that it is read again (INDEX-03). `facts` is None where the facts of this
    digest are stored already.
    """

    entry: FileEntry
    digest: bytes | None
    facts: Facts | None

    @property
    def stored_facts(self) -> Facts | None:
        """The facts with something to search in; None where there are no facts."""
        if self.facts is None or self.facts.content.name:
            return self.facts
        # of a file without facts, an exact search looks at the text itself
        content = search_document.compose(to_stored_path(self.entry.path), "", truncated=True)
        return replace(self.facts, content=content)


@dataclass(frozen=True, slots=True)
class CompressedRecord:
    """A record with the piece that is stored of it."""

    record: Record
    facts: Facts | None
    piece: CompressedPiece | None
    """None where there are no facts."""


class RowWriter:
    """Writes the rows of one transaction; see `Index.store`.

    Old rows are deleted and new ones written by table at the end, which is quicker than file by
    file.
    """

    def __init__(
        self,
        connection: Connection,
        identity: str,
        generation: int,
        stored_words: AbstractSet[bytes],
    ) -> None:
        """`identity` is that of the index, and `stored_words` are in its vocabulary already."""
        self._connection = connection
        self._stored_words = stored_words
        self.new_words: Collection[bytes] = ()
        """Words that are in the vocabulary once the transaction is committed."""
        self._identity = identity
        self._generation = generation
        self._stale: list[int] = []
        """Files whose old rows are deleted."""
        self._new: dict[str, list[tuple[Any, ...]]] = {table: [] for table in TABLES}
        self._pieces: dict[int, CompressedPiece] = {}
        self._contents: dict[int, search_document.SearchContent] = {}

    def put(self, compressed: CompressedRecord) -> bool:
        """Store a record; return False when it lacks facts that the index does not have either."""
        record, facts_, piece = compressed.record, compressed.facts, compressed.piece
        entry = record.entry
        stat = (disk_column(entry), entry.size, entry.mtime_ns)
        earlier = self._connection.execute(
            "SELECT id, size, digest FROM files WHERE path = ?", (to_stored_path(entry.path),)
        ).fetchone()
        file, size, digest = earlier or (0, None, None)
        if earlier and record.digest and (size, digest) == (entry.size, record.digest):
            sql = "UPDATE files SET disk = ?, size = ?, mtime_ns = ? WHERE id = ?"
            self._connection.execute(sql, (*stat, file))
            return True
        if facts_ is None or piece is None:
            return False
        stored_cells = (record.digest, "\n".join(facts_.warnings), self._generation)
        if earlier:
            self._stale.append(file)
            sql = (
                "UPDATE files SET disk = ?, size = ?, mtime_ns = ?, digest = ?, warnings = ?, "
                "changed = ? WHERE id = ?"
            )
            self._connection.execute(sql, (*stat, *stored_cells, file))
        else:
            sql = (
                "INSERT INTO files (path, key, disk, size, mtime_ns, digest, warnings, changed) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            )
            key = to_printable(keys_of(entry.path)[0])
            file = self._connection.execute(
                sql, (to_stored_path(entry.path), key, *stat, *stored_cells)
            ).lastrowid
        for table, rows in self._new.items():
            rows += [(file, n, *row) for n, row in enumerate(getattr(facts_, table))]
        self._pieces[file] = piece
        self._contents[file] = facts_.content
        return True

    def remove(self, path: VaultPath, stat: Stat | None) -> None:
        """Delete the rows of a file, unless `stat` says that it is there as they describe it."""
        earlier = self._connection.execute(
            "SELECT id, disk, size, mtime_ns FROM files WHERE path = ?", (to_stored_path(path),)
        ).fetchone()
        if earlier is None:
            return
        file, disk, *further_cells = earlier
        spelling = path if disk is None else disk.decode("utf-8", "surrogateescape")
        if stat is None or not is_there(stat, FileEntry(path, spelling, *further_cells)):
            self._stale.append(file)
            self._connection.execute("DELETE FROM files WHERE id = ?", (file,))

    def finish(self) -> bool:
        """Write what is left; return whether an answer may be different from now on."""
        for table, rows in self._new.items():
            interned = INTERNED.get(table)
            if interned is None:
                replace_rows(self._connection, table, self._stale, rows)
            else:
                stored = list(interned.store_names(self._connection, rows))
                replace_rows(self._connection, interned.rows, self._stale, stored)
        connection = self._connection
        texts = Texts(Decompressor(connection, self._identity))
        old_fields = list(texts.read_indexed_fields(self._stale))
        replace_pieces(connection, self._stale, self._pieces)
        search_document.write(connection, old_fields, self._contents)
        added = search_document.add_words(connection, self._contents, self._stored_words)
        self.new_words = added.words
        flags = {file: content.odd for file, content in self._contents.items()}
        for file in added.long_word_files:
            flags[file] |= search_document.ODD_WORDS
        replace_flags(connection, self._stale, flags)
        return bool(self._stale or self._contents)


def replace_rows(
    connection: Connection, table: str, stale: Sequence[int], rows: Sequence[tuple[Any, ...]]
) -> None:
    """Replace the rows of files in a table by new ones, and write only what is different.

    A changed paragraph leaves most rows of its note as they are, or moves them by some characters:
    then no index of the table is written (INDEX-53).
    """
    sql = f"SELECT * FROM {table} WHERE file {IN_LIST}"
    old_rows = connection.execute(sql, (json.dumps(stale),)).fetchall() if stale else []
    if not old_rows:
        connection.executemany(INSERT[table], rows)
        return
    place_of = itemgetter(0, 1)
    old, new = ({place_of(row): row for row in some} for some in (old_rows, rows))
    gone = old.keys() - new.keys()
    connection.executemany(f"DELETE FROM {table} WHERE file = ? AND n = ?", gone)
    connection.executemany(INSERT[table], [new[place] for place in new if place not in old])
    names = COLUMNS[table]
    for place, row in new.items():
        if (before := old.get(place, row)) != row:
            differing = [n for n, cell in enumerate(row) if cell != before[n]]
            changes = ", ".join(f"{names[n]} = ?" for n in differing)
            connection.execute(
                f"UPDATE {table} SET {changes} WHERE file = ? AND n = ?",
                (*(row[n] for n in differing), *place),
            )


def to_disk_file(stat: Stat, disk: str) -> DiskFile | None:
    """Return a file as it is now; None where it is none of the vault's."""
    try:
        return stat(disk)
    except AppError:  # a symbolic link took its place, or the folder cannot be entered any more
        return None


def is_there(stat: Stat, entry: FileEntry) -> bool:
    """Whether a file is as its entry says."""
    return to_disk_file(stat, entry.disk) == entry.disk_file
