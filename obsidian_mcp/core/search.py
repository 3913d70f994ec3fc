"""Find notes by the app's query language, exactly or by what is meant, best first (semantics 5; specs/search.md)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from obsidian_mcp.errors import QueryInvalid, StorageFailed

from . import finding, ordering, roster, stems, vocabulary
from .catalog import Catalog
from .database import Connection
from .hits import ANSWER_CHARACTERS, Hit, Hits, Request
from .index import Busy, Replaced
from .keeper import ATTEMPTS, Keeper
from .paths import VaultPath, name_key
from .query import Node, parse
from .roster import Roster
from .rows import Rows, Stamp, marks
from .scene import Read, Scene
from .settings import IgnoreFilters
from .showing import Showing
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
        query = parse(request.query)
        return self._ask(lambda scene, building: _found(scene, request, query, building))

    def show(self, request: Request, named: Sequence[VaultPath]) -> Hits:
        """Where a query stands in files that somebody else has found, in their order; hidden ones are left out.

        Raises: OperationTimeout, StorageFailed.
        """
        try:
            exact = [parse(request.query)]
        except QueryInvalid:  # the app reads what we do not
            exact = []
        return self._ask(lambda scene, _: _named(scene, request, exact, named))

    def _ask(self, question: Callable[[Scene, str | None], Hits]) -> Hits:
        filters = self._filters()
        self._keeper.settle()
        for _ in range(ATTEMPTS):
            pending, building = self._keeper.pending()
            try:
                with self._keeper.asking(), self._keeper.index.rows() as rows:
                    known = self._brought_up(rows, filters)
                    connection = rows.connection
                    scene = Scene(
                        connection, known.roster, known.words, known.languages, pending, self._catalog, self._read
                    )
                    return question(scene, building)
            except (Replaced, Busy):
                continue
        raise StorageFailed("The index could not be read. Try again in a moment.")

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
                languages = known.languages if grown is known.words else stems.languages(_counter(rows.connection))
                self._known = _Known(stamp, generation, filters, listed, grown, languages)
            return self._known


def _found(scene: Scene, request: Request, query: Node, building: str | None) -> Hits:
    found = finding.exactly(scene, query) if request.match == "exact" else finding.smartly(scene, query)
    others = scene.others_matching(query)
    if request.folder is not None:
        inside = name_key(request.folder) + "/"
        found = replace(found, files={each for each in found.files if name_key(scene.path(each)).startswith(inside)})
        others = [entry for entry in others if name_key(entry.path).startswith(inside)]
    total = len(found.files) + len(others)
    start, stop = request.offset, request.offset + request.limit
    listed = ordering.best(scene, found, request.query, stop)[start:stop]
    page = Showing(scene, found.shown, found.exact, request.snippets).page(listed)
    if len(page) == len(listed):
        after = max(0, start - len(found.files))
        page += [Hit(entry.path) for entry in others[after : after + request.limit - len(page)]]
    following = start + len(page)
    return Hits(total, page, following if following < total else None, found.widened, building)


def _named(scene: Scene, request: Request, exact: Sequence[Node], named: Sequence[VaultPath]) -> Hits:
    inside = "" if request.folder is None else name_key(request.folder) + "/"
    listed = [path for path in named if name_key(path).startswith(inside) and not scene.hides(path)]
    showing = Showing(scene, (), exact, request.snippets)
    page: list[Hit] = []
    for path in listed[request.offset : request.offset + request.limit]:
        number = scene.number(path)
        page += [Hit(path)] if number is None else showing.page([(number, None)])
    room = ANSWER_CHARACTERS
    fitting = [hit for hit in page if (room := room - hit.size) >= 0] or page[:1]
    following = request.offset + len(fitting)
    return Hits(len(listed), fitting, following if following < len(listed) else None)


@dataclass(frozen=True)
class _Known:
    """What is kept in memory of one state of the index and the catalog."""

    stamp: Stamp | None = None
    catalog: int = -1
    filters: IgnoreFilters | None = None
    roster: Roster = field(default_factory=lambda: roster.of([], [], None))
    words: Vocabulary = field(default_factory=Vocabulary)
    languages: tuple[str, ...] = stems.ALWAYS

    def covers(self, rows: Rows, stamp: Stamp) -> bool:
        """Whether no file has come to the rows since."""
        if self.stamp is None or self.stamp.generation == stamp.generation:
            return True
        changed = rows.connection.execute("SELECT id FROM files WHERE changed > ?", (self.stamp.generation,))
        return all(number in self.roster.paths for (number,) in changed)


def _counter(connection: Connection) -> Callable[[Sequence[str]], int]:
    """Says how many of some words are in the vocabulary."""

    def count(words: Sequence[str]) -> int:
        sql = f"SELECT count(*) FROM words WHERE word IN ({marks(words)})"  # noqa: S608 - only placeholders
        (found,) = connection.execute(sql, words).fetchone()
        return int(found)

    return count
