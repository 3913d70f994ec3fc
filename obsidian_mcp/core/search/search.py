"""Search one vault: parse, plan, retrieve, rank, render (SEARCH-10 to 19)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.rows import PROPERTIES, WITH_INLINE_FIELDS, FileNumbers, NumberedFiles, Rows, Stamp
from obsidian_mcp.core.query.nodes import Node, has_scope
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.text import analysis
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import QueryInvalid

from . import pdf_pages, similar, sort, unindexed, vocabulary
from .groups import render_groups
from .hits import Facet, Grouped, Hits, Request, inside, wanted
from .plan import SearchPlan, exact_plan, read_groups, smart_plan
from .rank import Fields, Scored, fuse, rank, rank_wide
from .render import Found, render_page
from .retrieve import retrieve
from .snapshot import FileTable, Snapshot, table_of
from .sort import Item
from .vocabulary import Lexicon, Vocabulary

_FIRST, _LAST = -(2**63), 2**63 - 1
"""The times that SQLite can compare, in nanoseconds."""

if TYPE_CHECKING:
    from obsidian_mcp.core.semantic.meaning import Near

T = TypeVar("T")

EMPTY: AbstractSet[int] = frozenset()
LONG_QUERY = 3
"""Words of a query that is rather a question: a file need not have all of them to come first."""
ENOUGH, PLENTY = 3, 500
"""Files with all the words, of a short and a long query, from which on nothing else is listed (SEARCH-51)."""
NEAR_FILES = 10
"""Files that are found by meaning."""
LANGUAGE_FILES = 500
"""Of so many files one must have a word that identifies a language: a few quotations do not make a vault's language."""
BY_APP = "The Obsidian app found these: it matches exactly, not smart."


class _State(NamedTuple):
    """What is kept in memory of one state of the index and the catalog (SEARCH-48)."""

    stamp: Stamp | None
    files: NumberedFiles
    filters: IgnoreFilters | None
    table: FileTable
    words: Vocabulary
    flags: dict[int, frozenset[int]]


class Search:
    """The searches of one vault. Every method may be called from any thread."""

    def __init__(
        self,
        indexer: Indexer,
        files: FileNumbers,
        read: Callable[[FileEntry], bytes],
        filters: Callable[[], IgnoreFilters],
        inline_fields: Callable[[], bool] = lambda: False,
        near: Callable[[str, int], Sequence[Near]] | None = None,
        like: Callable[[VaultPath, int], Sequence[Near]] | None = None,
    ) -> None:
        """`read` returns a file's bytes or raises AppError, `filters` what the user hides, `inline_fields` whether
        Dataview's fields are properties (SEARCH-79); `near` and `like` the notes nearest in meaning to a text and a
        note (SEM-04)."""
        self._indexer = indexer
        self._files = files
        self._catalog = files.catalog
        self._read = read
        self._filters = filters
        self._inline_fields = inline_fields
        self._near = near
        self._like = like
        self._lock = threading.Lock()
        nothing = NumberedFiles({}, {})
        self._state = _State(None, nothing, None, table_of(nothing, {}, None), Vocabulary(), {})
        self._languages: tuple[Vocabulary, tuple[str, ...]] = (self._state.words, analysis.DEFAULT_LANGUAGES)
        """Those of the vault when it had these words."""

    def find(self, request: Request, named: Sequence[VaultPath] | None = None) -> Hits:
        """Return the files that a query finds; with `named`, those files, which the app has found. Raises:
        QueryInvalid, InvalidArguments for an order by a property that no note has, OperationTimeout, StorageFailed."""
        filters, query = self._filters(), _parsed(request, named)
        last = request.offset + request.limit if request.note is None else 1
        for notice, is_whole in self._stages(request, query, named):
            search = partial(self._search, request, query, named, filters, notice, is_whole, last, render_page)
            found: Hits = self._indexer.query(search)
            if found.total:
                break
        return found

    def grouped(self, request: Request, by: Facet, named: Sequence[VaultPath] | None = None) -> Grouped:
        """As `find`, in groups."""
        filters, query, render = self._filters(), _parsed(request, named), partial(render_groups, by=by)
        for notice, is_whole in self._stages(request, query, named):
            search = partial(self._search, request, query, named, filters, notice, is_whole, None, render)
            found: Grouped = self._indexer.query(search)
            if found.total:
                break
        return found

    def _stages(
        self, request: Request, query: Node | None, named: Sequence[VaultPath] | None
    ) -> Iterator[tuple[str | None, bool]]:
        """Bring the index as far as a search waits for it, and yield what is said of that and whether it is whole.
        During a first build that is the case twice: first the files are scanned for what is searched for (INDEX-46)."""
        if self._indexer.is_first_build and query is not None and named is None:
            scanned = self._indexer.scan(unindexed.weigher(query, request, self._languages[1]))
            yield scanned.notice, not self._indexer.is_first_build
        freshness = self._indexer.freshen()
        yield (freshness.notice if freshness.pending else None), not freshness.pending

    def notice(self) -> str | None:
        """Return a sentence if some files are newer than the index, after it was updated as far as possible."""
        return self._indexer.freshen().notice

    def alike(self, path: VaultPath, text: str, most: int) -> tuple[list[VaultPath], str | None]:
        """Visible files most like one, by vectors or words, and a sentence if the index is not whole (SEARCH-90)."""
        self._indexer.complete()
        notice, hidden = self._indexer.freshness.notice, self._filters()
        found = [near.path for near in self._like(path, most)] if self._like is not None else []
        found = found or self._indexer.query(lambda rows: similar.alike(rows, text, most))
        return [path for path in found if self._catalog.get(path) and not hidden.match(path)], notice

    def prepare(self) -> None:
        """Make ready what every search needs: with 50 000 notes this takes 0.1 s."""
        filters = self._filters()

        def ready(rows: Rows) -> None:
            state = self._current(rows, filters)
            self._languages_of(state, rows)
            _ = state.table.path_lines

        self._indexer.query(ready)
        self._catalog.named("")

    def _search(
        self,
        request: Request,
        query: Node | None,
        named: Sequence[VaultPath] | None,
        filters: IgnoreFilters,
        notice: str | None,
        is_whole: bool,
        most: int | None,
        render: Callable[[Found, Request], T],
        rows: Rows,
    ) -> T:
        """Plan, retrieve, rank and render. `most` None: rank all files; `query` None: only the app can read it."""
        state = self._current(rows, filters)
        words, is_smart = state.words, request.match == "smart"
        with_inline_fields = is_smart and self._inline_fields()
        snapshot = Snapshot(
            rows,
            state.table,
            words,
            self._catalog,
            self._read,
            {},
            {},
            state.flags,
            notice,
            is_whole,
            WITH_INLINE_FIELDS if with_inline_fields else PROPERTIES,
        )
        if named is not None or query is None:
            return render(_named(snapshot, request, query, named or ()), request)
        within = _within(snapshot, request)
        languages = self._languages_of(state, rows) if is_smart else analysis.DEFAULT_LANGUAGES
        groups = read_groups(query, languages) if is_smart else []
        lexicon = (
            Lexicon(words, languages, partial(_used, rows.connection)) if any(group.loose for group in groups) else None
        )
        if lexicon is not None and any(group.choices for group in groups):
            plan = smart_plan(groups, lexicon)
        else:
            plan = exact_plan(query, words)
        without = EMPTY
        if snapshot.table.has_pdfs and not pdf_pages.finds_pages(query):
            without = snapshot.table.pdfs
        files = retrieve(snapshot, plan, within) - without
        wide: tuple[list[Scored], dict[int, Fields]] | None = None
        wider: SearchPlan | None = None
        is_long = len(plan.terms) >= LONG_QUERY
        is_loose = all(group.strict is None for group in groups)
        if lexicon is not None and len(files) < (PLENTY if is_long else ENOUGH):
            wider = smart_plan(groups, lexicon, wide=True)
            if wider.alternatives != plan.alternatives:
                any_word = retrieve(snapshot, wider, within) - without
                if len(any_word) > len(files):
                    plan = wider._replace(found=len(files))
                    if files or len({term.word for term in plan.terms}) > 1:
                        wide = rank_wide(
                            snapshot,
                            plan,
                            any_word,
                            files,
                            request.query,
                            complete_first=not is_long,
                            is_question=any(len(group.spoken) > len(group.loose) for group in groups),
                            may_follow=lambda number: is_loose and (within is None or number in within),
                        )
                        files = frozenset(number for number, _ in wide[0])
                    else:  # other spellings of a single word, and each file has one
                        files = any_word
        starts: dict[int, int] = {}
        is_weak = lexicon is not None and (plan.is_wide or not files)
        if self._near is not None and is_weak and request.ranks and is_loose:
            wide = wide or rank(snapshot, plan, files, request.query, len(files))
            wide, starts = self._with_meaning(snapshot, request, within, wide)
            files = frozenset(number for number, _ in wide[0])
        if snapshot.table.has_pdfs and pdf_pages.may_find_pages(query):
            snapshot = self._with_unseen_pdfs(snapshot, request, len(files))
        others = _other_files(snapshot, request, query)
        total, by = len(files) + len(others), request.order
        if wider is not None and not total:
            plan = wider  # it knows the words that no note has
        if by is not None and by.facet.kind != "relevance":
            items = [Item(snapshot.table.paths[number], number) for number in files] + others
            found = Found(snapshot, sort.ordered(snapshot, items, by), total, by, plan, {})
        else:
            if most is None or (by is not None and not by.descending):
                most = total
            scored, fields = wide or rank(snapshot, plan, files, request.query, most)
            paths = snapshot.table.paths
            items = [Item(paths[number], number, score, starts.get(number)) for number, score in scored] + others
            items = items if by is None or by.descending else items[::-1]
            found = Found(snapshot, items, total, by, plan, fields)
        return render(found, request)

    def _with_meaning(
        self,
        snapshot: Snapshot,
        request: Request,
        within: AbstractSet[int] | None,
        wide: tuple[list[Scored], dict[int, Fields]],
    ) -> tuple[tuple[list[Scored], dict[int, Fields]], dict[int, int]]:
        """The files found by words and by meaning; and where the part begins of each that only its meaning found."""
        numbers = snapshot.table.numbers
        near = {
            number: found
            for found in (self._near(request.query, NEAR_FILES) if self._near is not None else ())
            if (number := numbers.get(found.path)) is not None and (within is None or number in within)
        }
        if not near:
            return wide, {}
        by_words = {number for number, _ in wide[0]}
        return (fuse(wide[0], near), wide[1]), {
            number: found.start for number, found in near.items() if number not in by_words
        }

    def _with_unseen_pdfs(self, snapshot: Snapshot, request: Request, found: int) -> Snapshot:
        """The snapshot with a notice of the PDFs that it does not see."""
        background = self._indexer.pdfs.background
        if background is None:
            return snapshot
        unseen = pdf_pages.unseen(
            snapshot, wanted(request), background.notice, is_temporary=background.is_reading, found=found
        )
        if unseen is None:
            return snapshot
        return snapshot._replace(notice=f"{snapshot.notice} {unseen}" if snapshot.notice else unseen)

    def _current(self, rows: Rows, filters: IgnoreFilters) -> _State:
        """The state of these rows and the catalog; the file table is built anew only when files came or went."""
        files = self._files.at(rows)
        with self._lock:
            known = self._state
            if (known.stamp, known.filters) == (rows.stamp, filters) and known.files is files:
                return known
            table = known.table
            if known.files is not files or known.filters is not filters:
                table = table_of(files, self._catalog.by_path(), filters.match if filters else None)
            is_same = known.stamp is not None and known.stamp.identity == rows.stamp.identity
            words = vocabulary.grown(known.words if is_same else Vocabulary(), rows.connection)
            self._state = _State(rows.stamp, files, filters, table, words, {})
            return self._state

    def _languages_of(self, state: _State, rows: Rows) -> tuple[str, ...]:
        """The languages of the vault, looked for anew when it has new words; an exact search does without."""
        with self._lock:
            words, languages = self._languages
            if words is not state.words:
                least = 1 + state.table.row_count // LANGUAGE_FILES
                languages = analysis.languages(partial(_count, rows.connection, least))
                self._languages = (state.words, languages)
            return languages


def _count(connection: Connection, least: int, words: Sequence[str]) -> int:
    """How many of some words are in so many files at least."""
    # One statement for all: between two of them another busy thread takes the interpreter for 5 ms.
    is_common = "(SELECT count(*) = ? FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?))"
    sql = "SELECT " + " + ".join([is_common] * len(words))
    parameters = [value for word in words for value in (least, f'"{word}"', least)]
    return int(connection.execute(sql, parameters).fetchone()[0])


def _used(connection: Connection, words: Collection[str]) -> list[str]:
    """The words that a file has; others of the vocabulary are of texts that were changed (SEARCH-34)."""
    is_used = ", ".join(["EXISTS (SELECT 1 FROM search WHERE search MATCH ?)"] * len(words))
    # One statement, as in `_count`
    return list(compress(words, connection.execute(f"SELECT {is_used}", [f'"{word}"' for word in words]).fetchone()))


def _parsed(request: Request, named: Sequence[VaultPath] | None) -> Node | None:
    """The query; None if only the app can read it. Raises: QueryInvalid."""
    try:
        return parse(request.query)
    except QueryInvalid:
        if named is None:
            raise
        return None


def _named(snapshot: Snapshot, request: Request, query: Node | None, named: Sequence[VaultPath]) -> Found:
    """The files that the app found, in its order or in that of the request; hidden ones are left out (SEARCH-18)."""
    is_hidden, numbers = snapshot.table.is_hidden, snapshot.table.numbers
    within = _within(snapshot, request)
    is_wanted = wanted(request)
    items = []
    for path in named:
        number, entry = numbers.get(path), snapshot.catalog.get(path)
        is_within = within is None or number in within
        if number is None and entry is not None:
            is_within = is_wanted(entry)
        if is_within and not (is_hidden is not None and is_hidden(path)):
            items.append(Item(path, number))
    by = request.order
    if by is not None and by.facet.kind == "relevance":
        items = items if by.descending else items[::-1]
    elif by is not None:
        items = sort.ordered(snapshot, items, by)
    plan = SearchPlan((), exact=() if query is None else (query,))
    return Found(snapshot, items, len(items), by, plan, {}, note=BY_APP if request.match == "smart" else None)


def _within(snapshot: Snapshot, request: Request) -> AbstractSet[int] | None:
    """The notes and canvases in the folder and times of a request; None for all (SEARCH-11, SEARCH-12)."""
    paths = snapshot.table.paths
    found: AbstractSet[int] | None = None
    if request.since is not None or request.until is not None:
        sql = "SELECT id FROM files WHERE mtime_ns >= ? AND mtime_ns < ?"
        since = _FIRST if request.since is None else request.since
        until = _LAST if request.until is None else request.until
        bounds = [max(_FIRST, min(time, _LAST)) for time in (since, until)]
        found = {number for (number,) in snapshot.rows.connection.execute(sql, bounds) if number in paths}
    if request.folder is not None:
        is_inside = inside(request.folder)
        found = {number for number in (paths if found is None else found) if is_inside(paths[number])}
    if request.note is not None:
        number = snapshot.table.numbers.get(request.note)
        found = {number} & (paths.keys() if found is None else found) if number is not None else set()
    return found


def _other_files(snapshot: Snapshot, request: Request, query: Node) -> list[Item]:
    """Files without text that a query finds; only one that names paths can find them (QUERY-11, QUERY-15)."""
    if not snapshot.table.others or not has_scope(query, "file", "path"):
        return []
    from obsidian_mcp.core.query.document import Document
    from obsidian_mcp.core.query.evaluate import Matcher

    matcher, is_wanted = Matcher(query), wanted(request)
    found = [entry for entry in snapshot.table.others if matcher.matches(Document(entry.path, "", "other"))]
    return [Item(entry.path, None) for entry in found if is_wanted(snapshot.catalog.get(entry.path) or entry)]
