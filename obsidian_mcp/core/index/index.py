"""The stored rows of every note and canvas, and how they change (specs/index.md).

None depends on which other files exist: a link is kept with the key of its name, and resolved when
it is asked for.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from obsidian_mcp import logger
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.ports import COARSEST_TICK_NS, may_repeat
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.core.text.digest import content_digest
from obsidian_mcp.core.text.vault_path import VaultPath, is_indexable, is_pdf
from obsidian_mcp.errors import AppError, OperationTimeout

from . import facts, search_document
from .columns import IN_LIST, disk_column, to_path, to_stored_path
from .compression import Compressor, add_dictionary, choose_dictionary
from .database import PATIENCE, UNSTORABLE, Busy, Database, Replaced
from .facts import PARSE_SECONDS, Facts
from .interned import INTERNED, drop_unused_names
from .listed_files import ListedFiles
from .piece_rows import read_last_file
from .row_writer import CompressedRecord, Record, RowWriter, Stat, is_there
from .rows import TABLES
from .space import measure_space
from .stored_note import PlainPiece, write_piece

MOST_STORED_WORDS: Final = 50_000
"""Words of the vocabulary that a process knows to be there: 5 MB."""


class Outdated(NamedTuple):
    """The difference between a vault and its index, by path."""

    changed: tuple[FileEntry, ...]
    """Files without rows, or with rows that are not of the file as it is."""
    gone: tuple[VaultPath, ...]
    """Files that have rows and are not there."""
    new: frozenset[VaultPath]
    """Those of the changed files that have no rows."""
    pdfs: tuple[FileEntry, ...] = ()
    """PDFs that have no rows; rows of their earlier contents are among those that are gone."""
    textless: tuple[FileEntry, ...] = ()
    """Files of which no rows are made from text, such as images, and PDFs without rows."""


class IndexStatus(NamedTuple):
    """Where the index is and what it holds, for people."""

    file: Path | None
    """None in memory."""
    bytes: int
    files: int
    rows: Mapping[str, int]
    """Table -> rows."""
    warnings: int
    """Files that could not be read whole."""
    problem: str | None
    """Why the index is not where it should be."""


class Index:
    """The rows of one vault, for all threads and processes.

    Every method but `close` and `status` may raise `Replaced` (the file was damaged: it is empty
    now, and all files are outdated) and `Busy` (another process is writing: nothing was done).
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._latest_compressor: Compressor | None = None
        self._stored_words: tuple[str, set[bytes]] = ("", set())
        """The identity of an index, and words that its vocabulary has."""

    def close(self) -> None:
        self.database.close()

    def copy_to_memory(self) -> Index:
        """Return an index with the same rows in memory, which no other program sees."""
        return Index(self.database.copy_to_memory())

    # -- comparing with the files
    # ------------------------------------------------------------------------------

    def find_outdated(self, entries: Iterable[FileEntry]) -> Outdated:
        """Return which files must be parsed and which rows are of no file.

        `entries` are all files of the vault. Size and time tell it: no file is read. Files that
        could not be read the last time count as changed.
        """
        differing: dict[str, FileEntry] = {entry.path: entry for entry in entries}
        plain = "disk IS NULL AND digest NOTNULL AND digest != x''"
        unmatched: list[str] = []
        with self.database.read_transaction() as connection:
            # An entry equals its row as a tuple, and no attribute is read. Row by row: a set of all
            # rows would take 250 bytes for each file.
            for row in connection.execute(
                f"SELECT path, path, size, mtime_ns FROM files WHERE {plain}"
            ):
                if differing.get(row[0]) == row:
                    del differing[row[0]]
                else:
                    unmatched.append(row[0])
            odd_rows = connection.execute(f"SELECT path FROM files WHERE NOT ({plain})")
            unmatched += [path for (path,) in odd_rows]
        changed, new = self._find_stale(
            [entry for path, entry in differing.items() if is_indexable(path)]
        )
        pdfs = self.find_stale([entry for path, entry in differing.items() if is_pdf(path)])
        pdf_paths = {entry.path for entry in pdfs}
        gone = [
            path for path in map(to_path, unmatched) if path not in differing or path in pdf_paths
        ]
        textless = tuple(entry for path, entry in differing.items() if not is_indexable(path))
        return Outdated(tuple(changed), tuple(sorted(gone)), new, tuple(pdfs), textless)

    def store_listing(self, textless: Sequence[FileEntry], patience: float) -> None:
        """Store the names of the files without rows, where others are stored (INDEX-65)."""
        with self.database.read_transaction() as connection:
            listed = ListedFiles(connection)
            by_path = {entry.path: entry for entry in textless}
            if listed.is_whole() and not listed.has_others_than(by_path):
                return
        with self.database.write_transaction(patience) as connection:
            ListedFiles(connection).replace(textless)

    def find_stale(self, entries: Sequence[FileEntry]) -> list[FileEntry]:
        """Return the files that must be parsed; another process may have stored some of them."""
        return self._find_stale(entries)[0]

    def _find_stale(
        self, entries: Sequence[FileEntry]
    ) -> tuple[list[FileEntry], frozenset[VaultPath]]:
        """Return the files that must be parsed, and those of them that have no rows."""
        rows_by_path = self._read_stored([entry.path for entry in entries])
        stale_entries = [
            entry
            for entry in entries
            if (row := rows_by_path.get(entry.path)) is None
            or (row.disk, row.size, row.mtime_ns)
            != (disk_column(entry), entry.size, entry.mtime_ns)
            or not row.digest
        ]
        return stale_entries, frozenset(
            entry.path for entry in entries if entry.path not in rows_by_path
        )

    # -- changing
    # ----------------------------------------------------------------------------------------------

    def parse(
        self, contents: Iterable[tuple[FileEntry, bytes | AppError]], read_ns: int
    ) -> list[Record]:
        """Parse the bytes of files into records; what is indexed already is not parsed again.

        They were read at `read_ns` or soon after. An error in place of the bytes becomes a warning.
        """
        from . import extract  # most questions find nothing to parse

        read_files = list(contents)
        rows_by_path = self._read_stored([entry.path for entry, _ in read_files])
        records = []
        for entry, data in read_files:
            if isinstance(data, AppError):
                records.append(Record(entry, None, extract.unreadable_facts(data)))
                continue
            is_settled = (
                not may_repeat(entry.mtime_ns) or abs(read_ns - entry.mtime_ns) > COARSEST_TICK_NS
            )
            digest = content_digest(data) if is_settled else b""
            row = rows_by_path.get(entry.path)
            same = digest and row is not None and (row.size, row.digest) == (entry.size, digest)
            records.append(Record(entry, digest, None if same else _facts(entry, data)))
        return records

    def store(
        self,
        records: Sequence[Record],
        gone: Iterable[VaultPath] = (),
        stat: Stat | None = None,
        patience: float = PATIENCE,
    ) -> list[FileEntry]:
        """Store records and delete the rows of files that are gone, in one transaction.

        Return the refused entries. With `stat`, which is called inside the transaction, a record is
        refused whose file is no longer as its entry says, and rows of a file that is there are
        kept: another process may have stored something newer. Other writers are waited for up to
        `patience` seconds. A record that SQLite cannot hold is stored as one of an unreadable file,
        and costs no other file anything (INDEX-26).
        """
        latest = {record.entry.path: record for record in records}
        gone = [path for path in gone if path not in latest]
        try:
            return self._store(latest, gone, stat, patience)
        except UNSTORABLE:
            refused = self._store({}, gone, stat, patience)
            for record in latest.values():
                refused += self._store_alone(record, stat, patience)
            return refused

    def _store_alone(self, record: Record, stat: Stat | None, patience: float) -> list[FileEntry]:
        """Store one record, or that its file cannot be stored; return its entry if it is
        refused."""
        for attempt in (record, Record(record.entry, None, Facts(warnings=(facts.UNSTORABLE,)))):
            try:
                return self._store({record.entry.path: attempt}, (), stat, patience)
            except UNSTORABLE as error:
                logger(__name__).warning("%s could not be stored: %r", record.entry.path, error)
        return [record.entry]

    def _store(
        self,
        latest: Mapping[VaultPath, Record],
        gone: Iterable[VaultPath],
        stat: Stat | None,
        patience: float,
    ) -> list[FileEntry]:
        compressed_records = self._compress(latest.values(), patience)  # before others have to wait
        with self.database.write_transaction(patience) as connection:
            identity, generation = connection.execute("SELECT * FROM state").fetchone()
            generation += 1
            stored_words = self._find_stored_words(identity)
            batch = RowWriter(connection, identity, generation, stored_words)
            for path in gone:
                batch.remove(path, stat)
            refused = [
                compressed.record.entry
                for compressed in compressed_records
                if (stat is not None and not is_there(stat, compressed.record.entry))
                or not batch.put(compressed)
            ]
            if batch.finish():
                connection.execute("UPDATE state SET generation = ?", (generation,))
        if len(stored_words) < MOST_STORED_WORDS:
            stored_words.update(batch.new_words)
        return refused

    def _find_stored_words(self, identity: str) -> set[bytes]:
        """Return words that the vocabulary of the index with this identity has."""
        if self._stored_words[0] != identity:
            self._stored_words = identity, set()
        return self._stored_words[1]

    def _compress(self, records: Iterable[Record], patience: float) -> list[CompressedRecord]:
        """Return records with the pieces that are stored of them."""
        with_facts = [(record, record.stored_facts) for record in records]
        pieces = [write_piece(facts) for _, facts in with_facts if facts is not None]
        if not pieces:
            return [CompressedRecord(record, None, None) for record, _ in with_facts]
        compressed = map(self._compressor(pieces, patience).compress, pieces)
        return [
            CompressedRecord(record, facts, None if facts is None else next(compressed))
            for record, facts in with_facts
        ]

    def _compressor(self, pieces: Sequence[PlainPiece], patience: float) -> Compressor:
        """Return what compresses with the latest dictionary; make one where that is due."""
        with self.database.read_transaction() as connection:
            dictionary = choose_dictionary(connection, len(pieces), read_last_file(connection))
        if dictionary is None:
            with self.database.write_transaction(patience) as connection:
                last_file = read_last_file(connection)
                dictionary = choose_dictionary(connection, len(pieces), last_file)
                if dictionary is None:
                    dictionary = add_dictionary(connection, pieces, last_file)
        if self._latest_compressor is None or self._latest_compressor.dictionary != dictionary:
            self._latest_compressor = Compressor(dictionary)
        return self._latest_compressor

    def merge(self, *, is_whole: bool = False, patience: float = PATIENCE) -> bool:
        """Take a short step of merging segments of the full-text index; return whether more are
        to follow (INDEX-45).

        `is_whole`: into one, as after a build. Other writers are waited for up to `patience`
        seconds.
        """
        with self.database.read_transaction() as connection:
            if search_document.count_segments(connection) <= search_document.FEW_SEGMENTS:
                return False
        with self.database.write_transaction(patience) as connection:
            return search_document.merge(connection, is_whole=is_whole)

    def shrink(self) -> None:
        """Merge the full-text index whole, and give unused pages back (INDEX-54).

        Raises: StorageFailed where the disk has no room for a second copy, for the time of this.
        """
        with self.database.write_transaction() as connection:
            search_document.merge_whole(connection)
            drop_unused_names(connection)
        self.database.write_anew()

    def measure_space(self) -> dict[str, int]:
        """Return the bytes that the index takes, by what they hold."""
        with self.database.read_transaction() as connection:
            return measure_space(connection)

    def _read_stored(self, paths: Sequence[VaultPath]) -> dict[VaultPath, _Known]:
        with self.database.read_transaction() as connection:
            sql = f"SELECT path, disk, size, mtime_ns, digest FROM files WHERE path {IN_LIST}"
            rows = connection.execute(sql, (json.dumps([to_stored_path(path) for path in paths]),))
            return {to_path(path): _Known(*cells) for path, *cells in rows}

    # -- looking
    # ----------------------------------------------------------------------------------------------

    def status(self) -> IndexStatus:
        """Return where the index is and what it holds."""
        counts: dict[str, int] = {}
        files = warned = 0
        with contextlib.suppress(Busy, Replaced), self.database.read_transaction() as connection:
            files, warned = connection.execute(
                "SELECT count(*), count(nullif(warnings, '')) FROM files"
            ).fetchone()
            for table in TABLES:
                rows = INTERNED[table].rows if table in INTERNED else table
                (counts[table],) = connection.execute(f"SELECT count(*) FROM {rows}").fetchone()
        database = self.database
        return IndexStatus(database.file, database.size(), files, counts, warned, database.warning)


class _Known(NamedTuple):
    disk: bytes | None
    size: int
    mtime_ns: int
    digest: bytes | None


def _facts(entry: FileEntry, data: bytes) -> Facts:
    """Parse a file to store it, under a limit of its own.

    The end of a call's time would leave it without facts, and without a reason (INDEX-48).
    """
    from . import extract

    try:
        with call_with(limit=Deadline(PARSE_SECONDS)):
            return extract.read_facts(entry.path, data, entry.size)
    except OperationTimeout:
        return Facts(warnings=(facts.TOO_SLOW,))


# Reading, parsing and storing: the same in every process that does it
