"""Find notes by the app's query language, exactly or by what is meant, best first (semantics 5; specs/search.md)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.index.index import Busy, Replaced
from obsidian_mcp.core.index.indexer import AT_ONCE, ATTEMPTS, IMPATIENCE, Keeper
from obsidian_mcp.core.index.rows import Rows, Stamp, marks
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.text import deadline, stems
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import AppError, QueryInvalid, StorageFailed

from . import file_table as roster
from . import result, vocabulary
from .cache import Remembered
from .file_table import Roster
from .hits import Grouped, Hits, Request
from .pending_documents import searched
from .result import Result
from .snapshot import Scene
from .sort_keys import Facet
from .vocabulary import Vocabulary

Answer = TypeVar("Answer")
Pending = Mapping[VaultPath, FileEntry]
"""Files that the rows do not tell of as they are now."""

FRESH = 64
"""So many pending files are parsed for a smart search, 0.6 ms each; of more the rows count as they are."""
READING = 0.01
"""Seconds that an exact search reads pending files which have rows; of those that are left the rows count."""
SOME_ARE_OLD = "Notes changed a moment ago are not in the index yet and were searched as they were before."
BUILD_SECONDS = 20.0
"""How long a smart search waits for a first build."""


class Search:
    """The searches of one vault. Every method may be called from any thread.

    `read` gives the bytes of one or raises AppError, `filters` what the user hides.
    """

    def __init__(
        self,
        keeper: Keeper,
        catalog: Catalog,
        read: Callable[[FileEntry], bytes],
        filters: Callable[[], IgnoreFilters],
    ) -> None:
        self._keeper = keeper
        self._catalog = catalog
        self._read = keeper.shelf.keeping(lambda entry: searched(entry.path, read(entry)))
        self._filters = filters
        self._lock = threading.Lock()
        self._known = _Known()

    def find(self, request: Request, named: Sequence[VaultPath] | None = None) -> Hits:
        """The files that a query finds, or of those `named` by the app, in its order, where the query stands in them.

        Raises: QueryInvalid with the column of a mistake, InvalidArguments for an order by what no note has,
        OperationTimeout, StorageFailed.
        """
        found = _finding(request, named)
        return self._ask(request, lambda scene, building: result.hits(found(scene, building), request))

    def grouped(self, request: Request, by: Facet, named: Sequence[VaultPath] | None = None) -> Grouped:
        """As `find`, in groups."""
        found = _finding(request, named)
        return self._ask(request, lambda scene, building: result.groups(found(scene, building), request, by))

    def _ask(self, request: Request, question: Callable[[Scene, str | None], Answer]) -> Answer:
        filters = self._filters()
        self._keeper.settle()
        smart = request.match == "smart"
        if smart:
            self._wait_for_rows()
        for _ in range(ATTEMPTS):
            # before what is pending: of the same moment, or an older one
            generation, revision = self._catalog.generation, self._keeper.revision
            pending, building = self._keeper.pending()
            try:
                with self._keeper.asking(), self._keeper.index.rows() as rows:
                    known = self._brought_up(rows, filters, generation, revision)
                    connection = rows.connection
                    fresh: Pending = pending
                    if len(pending) > FRESH:
                        old = known.roster.numbers
                        fresh = _without_old_rows(pending, old) if smart else self._readable(pending, old)
                        if len(fresh) < len(pending):
                            building = (smart and building) or SOME_ARE_OLD
                    scene = Scene(
                        connection,
                        known.roster,
                        known.words,
                        known.languages,
                        fresh,
                        self._catalog,
                        self._read,
                        Remembered(known.room) if pending else known.kept,
                    )
                    return question(scene, building)
            except (Replaced, Busy):
                continue
        raise StorageFailed("The index could not be read. Try again in a moment.")

    def prepare(self) -> None:
        """Make ready what every search needs: with 50 000 notes this takes 0.1 s."""
        with suppress(Replaced, Busy), self._keeper.index.rows() as rows:
            self._brought_up(rows, self._filters(), self._catalog.generation, self._keeper.revision)
        self._catalog.named("")

    def prepare_paths(self) -> None:
        """Make ready what searches for names need: with 50 000 notes this takes 15 ms."""
        self._known.roster.spell()

    def _readable(self, pending: Pending, numbers: Mapping[VaultPath, int]) -> Pending:
        """The pending files that have no rows, are read, or can be read in a moment."""
        end = time.monotonic() + READING
        unread = self._read.unread(pending.keys() & numbers.keys())
        while unread and time.monotonic() < end:
            with suppress(AppError):  # it has gone or is locked, which is known now
                self._read(pending[unread.pop()])
        return {path: entry for path, entry in pending.items() if path not in unread} if unread else pending

    def read_ahead(self) -> bool:
        """Read what changed and waits for the index, so that no question has to. It stops as soon as one runs; whether
        it came to the end."""
        if self._keeper.is_first:  # then most questions wait for the index
            return True
        pending, _ = self._keeper.pending()
        for entry in pending.values() if len(pending) > AT_ONCE else ():
            if self._keeper.is_asked:
                return False
            with suppress(AppError):  # gone, or locked: the question will see
                self._read(entry)
        return True

    def _wait_for_rows(self) -> None:
        """During a first build, for a while: with thousands of notes unknown, what a smart search says is not worth
        much, and to parse them for it would take longer than to wait."""
        pending, _ = self._keeper.pending()
        # Most often what changes has rows already; to read all their names takes 10 ms for 10 000.
        if len(pending) > FRESH and len(_without(pending, self._known.roster.numbers)) > FRESH:
            with suppress(Replaced, Busy):
                with self._keeper.index.rows() as rows:
                    known = rows.numbers()
                if len(_without(pending, known)) > FRESH:
                    limit = deadline.current.get()
                    seconds = BUILD_SECONDS if limit is None else min(BUILD_SECONDS, limit.remaining * 2 / 3)
                    self._keeper.finish(IMPATIENCE, seconds)

    def _brought_up(self, rows: Rows, filters: IgnoreFilters, generation: int, revision: int) -> _Known:
        """The names and words as they are now; kept between questions."""
        stamp = rows.stamp()
        with self._lock:
            known = self._known
            same = known.stamp is not None and known.stamp.identity == stamp.identity
            moved = self._catalog.moved_since(known.catalog)
            if same and known.filters is filters and known.stamp is not None and moved is not None:
                changed = {} if known.stamp == stamp else rows.changed_since(known.stamp.generation)
                listed = known.roster
                if moved or any(listed.numbers.get(each) != changed[each] for each in changed):
                    get = self._catalog.get
                    listed = roster.moved_on(listed, get, moved, changed, rows.numbers_of, rows.count())
            else:
                listed = roster.of(rows.numbers(), self._catalog.by_path(), filters.match if filters else None)
            grown = vocabulary.grown(known.words if same else Vocabulary(), rows.connection)
            if (stamp, generation, filters) != (known.stamp, known.catalog, known.filters):
                languages = known.languages if grown is known.words else stems.languages(_counter(rows.connection))
                self._known = _Known(stamp, generation, filters, listed, grown, languages, revision)
            elif revision != known.revision:
                self._known = replace(known, revision=revision)
            return self._known


def _without_old_rows(pending: Pending, numbers: Mapping[VaultPath, int]) -> Pending:
    """The pending files that are looked at beside the rows, when those that have rows are found by these."""
    new = _without(pending, numbers)
    return new if len(new) <= FRESH else {}


def _without(pending: Pending, numbers: Mapping[VaultPath, int]) -> Pending:
    """The pending files without rows; the difference of the two views would go through all the rows."""
    return {path: entry for path, entry in pending.items() if path not in numbers}


def _finding(request: Request, named: Sequence[VaultPath] | None) -> Callable[[Scene, str | None], Result]:
    if named is None:
        query = parse(request.query)
        return lambda scene, building: result.found(scene, request, query, building)
    try:
        read = parse(request.query)
    except QueryInvalid:  # the app reads what we do not
        read = None
    return lambda scene, _: result.named(scene, request, read, named)


@dataclass(frozen=True)
class _Known:
    """What is kept in memory of one state of the index and the catalog."""

    stamp: Stamp | None = None
    catalog: int = -1
    filters: IgnoreFilters | None = None
    roster: Roster = field(default_factory=lambda: roster.of({}, {}, None))
    words: Vocabulary = field(default_factory=Vocabulary)
    languages: tuple[str, ...] = stems.ALWAYS
    revision: int = 0
    """The keeper's."""

    @property
    def room(self) -> int:
        """For answers: as for some words that are everywhere."""
        return 10_000 + 3 * len(self.roster.paths)

    @cached_property
    def kept(self) -> Remembered:
        """Answers of this state, while nothing is pending."""
        return Remembered(self.room)


def _counter(connection: Connection) -> Callable[[Sequence[str]], int]:
    """Says how many of some words are in the vocabulary."""

    def count(words: Sequence[str]) -> int:
        sql = f"SELECT count(*) FROM words WHERE word IN ({marks(words)})"  # noqa: S608 - only placeholders
        (found,) = connection.execute(sql, words).fetchone()
        return int(found)

    return count
