"""Find notes by the app's query language, exactly or by what is meant, best first (semantics 5; specs/search.md)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.index.index import Busy, Replaced
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.rows import Rows, Stamp, marks
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.text import stems
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import QueryInvalid

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


class Search:
    """The searches of one vault. Every method may be called from any thread.

    `read` gives the bytes of one or raises AppError, `filters` what the user hides.
    """

    def __init__(
        self,
        indexer: Indexer,
        catalog: Catalog,
        read: Callable[[FileEntry], bytes],
        filters: Callable[[], IgnoreFilters],
    ) -> None:
        self._indexer = indexer
        self._catalog = catalog
        self._read = read
        self._filters = filters
        self._lock = threading.Lock()
        self._known = _Known()

    def find(self, request: Request, named: Sequence[VaultPath] | None = None) -> Hits:
        """The files that a query finds, or of those `named` by the app, in its order, where the query stands in them.

        Raises: QueryInvalid with the column of a mistake, InvalidArguments for an order by what no note has,
        OperationTimeout, StorageFailed.
        """
        found = _finding(request, named)
        return self._ask(lambda scene, building: result.hits(found(scene, building), request))

    def grouped(self, request: Request, by: Facet, named: Sequence[VaultPath] | None = None) -> Grouped:
        """As `find`, in groups."""
        found = _finding(request, named)
        return self._ask(lambda scene, building: result.groups(found(scene, building), request, by))

    def _ask(self, question: Callable[[Scene, str | None], Answer]) -> Answer:
        filters = self._filters()
        freshness = self._indexer.freshen()

        def found(rows: Rows) -> Answer:
            known = self._brought_up(rows, filters, self._catalog.generation, self._indexer.revision)
            scene = Scene(
                rows.connection, known.roster, known.words, known.languages, {}, self._catalog, self._text, known.kept
            )
            return question(scene, freshness.notice)

        return self._indexer.query(found)

    def _text(self, entry: FileEntry) -> str:
        return searched(entry.path, self._read(entry))

    def prepare(self) -> None:
        """Make ready what every search needs: with 50 000 notes this takes 0.1 s."""
        with suppress(Replaced, Busy), self._indexer.index.rows() as rows:
            self._brought_up(rows, self._filters(), self._catalog.generation, self._indexer.revision)
        self._catalog.named("")

    def prepare_paths(self) -> None:
        """Make ready what searches for names need: with 50 000 notes this takes 15 ms."""
        self._known.roster.spell()

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
    """The indexer's."""

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
