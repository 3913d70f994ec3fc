"""Find notes by the app's query language, exactly or by what is meant, best first (semantics 5; specs/search.md)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from obsidian_mcp.errors import QueryInvalid, StorageFailed

from . import roster, vocabulary
from .catalog import Catalog
from .finding import Question
from .hits import Hits, Request
from .index import Busy, Replaced
from .keeper import ATTEMPTS, Keeper
from .paths import VaultPath
from .query import Node, parse
from .roster import Roster
from .rows import Rows, Stamp
from .scene import Read, Scene
from .settings import IgnoreFilters
from .vocabulary import Vocabulary


class Search:
    """The searches of one vault. Every method may be called from any thread.

    `read` gives the bytes of one or raises AppError, `filters` what the user hides.
    """

    def __init__(
        self,
        keeper: Keeper,
        catalog: Catalog,
        read: Read,
        filters: Callable[[], IgnoreFilters],
    ) -> None:
        self._keeper = keeper
        self._catalog = catalog
        self._read = read
        self._filters = filters
        self._lock = threading.Lock()
        self._known = _Known()

    def find(self, request: Request) -> Hits:
        """Raises: QueryInvalid with the column of a mistake, OperationTimeout, StorageFailed."""
        tree = parse(request.query)
        return self._ask(request, tree, lambda question, building: question.answer(building))

    def _ask(self, request: Request, tree: Node | None, ask: Callable[[Question, str | None], Hits]) -> Hits:
        filters = self._filters()
        self._keeper.settle()
        for _ in range(ATTEMPTS):
            pending, building = self._keeper.pending()
            try:
                with self._keeper.asking(), self._keeper.index.rows() as rows:
                    known = self._brought_up(rows, filters)
                    scene = Scene(rows.connection, known.roster, known.words, pending, self._catalog, self._read)
                    return ask(Question(request, tree, scene), building)
            except (Replaced, Busy):
                continue
        raise StorageFailed("The index could not be read. Try again in a moment.")

    def show(self, request: Request, named: Sequence[VaultPath]) -> Hits:
        """Where a query stands in files that somebody else has found, in their order; hidden ones are left out.

        Raises: OperationTimeout, StorageFailed.
        """
        try:
            tree: Node | None = parse(request.query)
        except QueryInvalid:  # the app reads what we do not
            tree = None
        return self._ask(request, tree, lambda question, _: question.shown(named))

    def _brought_up(self, rows: Rows, filters: IgnoreFilters) -> _Known:
        """The names and words as they are now; kept between questions."""
        stamp, generation = rows.stamp(), self._catalog.generation
        with self._lock:
            known = self._known
            same = known.stamp is not None and known.stamp.identity == stamp.identity
            if same and known.catalog == generation and known.filters is filters and known.covers(rows, stamp):
                listed = known.roster
            else:
                listed = roster.of(rows.files().items(), list(self._catalog), filters.match if filters else None)
            grown = vocabulary.grown(known.words if same else Vocabulary(), rows.connection)
            if (stamp, generation, filters) != (known.stamp, known.catalog, known.filters):
                self._known = _Known(stamp, generation, filters, listed, grown)
            return self._known


@dataclass(frozen=True)
class _Known:
    """What is kept in memory of one state of the index and the catalog."""

    stamp: Stamp | None = None
    catalog: int = -1
    filters: IgnoreFilters | None = None
    roster: Roster = field(default_factory=lambda: roster.of([], [], None))
    words: Vocabulary = field(default_factory=Vocabulary)

    def covers(self, rows: Rows, stamp: Stamp) -> bool:
        """Whether no file has come to the rows since."""
        if self.stamp is None or self.stamp.generation == stamp.generation:
            return True
        changed = rows.connection.execute("SELECT id FROM files WHERE changed > ?", (self.stamp.generation,))
        return all(number in self.roster.paths for (number,) in changed)
