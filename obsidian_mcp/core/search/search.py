"""Search one vault: parse, plan, retrieve, rank, render (SEARCH-10 to 19)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, overload

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index.database import Connection
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.pdf_queue import PdfBackground
from obsidian_mcp.core.index.rows import PROPERTIES, WITH_INLINE_FIELDS, FileNumbers, NumberedFiles, Rows, Stamp
from obsidian_mcp.core.query.nodes import And, Node, Not, Or, Phrase, Property, ScopedQuery, Word, has_scope
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.text import analysis
from obsidian_mcp.core.text.vault_path import VaultPath, is_pdf
from obsidian_mcp.errors import QueryInvalid

from . import similar, sort, unindexed, vocabulary
from .groups import render_groups
from .hits import Facet, Grouped, Hits, Request, inside, wanted
from .plan import SearchPlan, exact_plan, read_groups, smart_plan
from .rank import Ranked, fuse, rank, rank_wide
from .render import Found, render_page
from .retrieve import retrieve
from .snapshot import FileTable, Snapshot, table_of
from .sort import Item
from .vocabulary import Lexicon, Vocabulary, used_words

if TYPE_CHECKING:
    from obsidian_mcp.core.semantic.meaning import Near

EMPTY: AbstractSet[int] = frozenset()
LONG_QUERY = 3
"""Words of a query that is rather a question: a file need not have all of them to come first."""
ENOUGH, PLENTY = 3, 500
"""Files with all the words, of a short and a long query, from which on nothing else is listed (SEARCH-51)."""
NEAR_FILES = 10
"""Files that are found by meaning."""
LANGUAGE_FILES = 500
"""Of so many files one must have a word that identifies a language: a few quotations do not make a vault's language."""
WITHOUT_PDFS = ("tag", "task", "task-todo", "task-done")
PROBLEMS = 5
"""PDFs that could not be read, of which a result names so many."""
BY_APP = "The Obsidian app found these: it matches exactly, not smart."


class _State(NamedTuple):
    """What is kept in memory of one state of the index and the catalog (SEARCH-48)."""

    stamp: Stamp | None
    generation: int
    """Of the catalog."""
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
        self._state = _State(None, -1, nothing, None, table_of(nothing, {}, None), Vocabulary(), {})
        self._languages: tuple[Vocabulary, tuple[str, ...]] = (self._state.words, analysis.DEFAULT_LANGUAGES)
        """Those of the vault when it had these words."""

    @overload
    def find(self, request: Request, named: Sequence[VaultPath] | None = None) -> Hits: ...
    @overload
    def find(self, request: Request, named: Sequence[VaultPath] | None, by: Facet | None) -> Hits | Grouped: ...

    def find(
        self, request: Request, named: Sequence[VaultPath] | None = None, by: Facet | None = None
    ) -> Hits | Grouped:
        """Return the files that a query finds, in groups where `by` is given; with `named`, those files, which the app
        has found. Raises: QueryInvalid, InvalidArguments for an order by a property that no note has, OperationTimeout,
        StorageFailed."""
        filters, query = self._filters(), _parsed(request, named)
        search = partial(self._search, request, query, named, filters, by=by)
        if self._indexer.is_first_build and query is not None and named is None:
            # First the files are scanned for what is searched for (INDEX-46).
            scanned = self._indexer.scan.store_matches(unindexed.weigher(query, request, self._languages[1]))
            is_whole = not self._indexer.is_first_build
            if (found := self._indexer.query(partial(search, notice=scanned.notice, is_whole=is_whole))).total:
                return found
        freshness = self._indexer.freshen()
        notice = freshness.notice if freshness.pending else None
        return self._indexer.query(partial(search, notice=notice, is_whole=not freshness.pending))

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
        rows: Rows,
        *,
        by: Facet | None,
        notice: str | None,
        is_whole: bool,
    ) -> Hits | Grouped:
        """Plan, retrieve, rank and render. `query` None: only the app can read it."""
        state = self._current(rows, filters)
        words, is_smart = state.words, request.match == "smart"
        properties = WITH_INLINE_FIELDS if is_smart and self._inline_fields() else PROPERTIES
        snapshot = Snapshot(
            rows, state.table, words, self._catalog, self._read, {}, {}, state.flags, notice, is_whole, properties
        )
        render = render_page if by is None else partial(render_groups, by=by)
        if named is not None or query is None:
            return render(_named(snapshot, request, query, named or ()), request)
        within = _within(snapshot, request)
        languages = self._languages_of(state, rows) if is_smart else analysis.DEFAULT_LANGUAGES
        groups = read_groups(query, languages) if is_smart else []
        is_loose = all(group.strict is None for group in groups)
        lexicon = None
        if any(group.loose for group in groups):
            lexicon = Lexicon(words, languages, partial(used_words, rows.connection))
        if lexicon is not None and any(group.choices for group in groups):
            plan = smart_plan(groups, lexicon)
        else:
            plan = exact_plan(query, words)
        without = snapshot.table.pdfs if snapshot.table.has_pdfs and not finds_pages(query) else EMPTY
        files = retrieve(snapshot, plan, within) - without
        wide: Ranked | None = None
        wider: SearchPlan | None = None
        is_long = len(plan.terms) >= LONG_QUERY
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
        if (background := self._indexer.pdfs.background) and snapshot.table.has_pdfs and may_find_pages(query):
            notices = snapshot.notice, _unseen_pdfs(snapshot, request, background, len(files))
            snapshot = snapshot._replace(notice=" ".join(filter(None, notices)) or None)
        others = _other_files(snapshot, request, query)
        total, order, paths = len(files) + len(others), request.order, snapshot.table.paths
        if wider is not None and not total:
            plan = wider  # it knows the words that no note has
        if order is not None and not request.ranks:
            items = sort.ordered(snapshot, [Item(paths[number], number) for number in files] + others, order)
            return render(Found(snapshot, items, total, order, plan, {}), request)
        is_reversed = order is not None and not order.descending
        most = request.offset + request.limit if request.note is None else 1
        scored, fields = wide or rank(
            snapshot, plan, files, request.query, total if is_reversed or by is not None else most
        )
        items = [Item(paths[number], number, score, starts.get(number)) for number, score in scored] + others
        return render(Found(snapshot, items[::-1] if is_reversed else items, total, order, plan, fields), request)

    def _with_meaning(
        self, snapshot: Snapshot, request: Request, within: AbstractSet[int] | None, by_words: Ranked
    ) -> tuple[Ranked, dict[int, int]]:
        """The files found by words and by meaning; and where the part begins of each that only its meaning found."""
        scored, fields = by_words
        near = {
            number: found.start
            for found in (self._near(request.query, NEAR_FILES) if self._near is not None else ())
            if (number := snapshot.table.numbers.get(found.path)) is not None and (within is None or number in within)
        }
        starts = {number: near[number] for number in near.keys() - {number for number, _ in scored}}
        return (fuse(scored, near), fields) if near else by_words, starts

    def _current(self, rows: Rows, filters: IgnoreFilters) -> _State:
        """The state of these rows and the catalog; the file table is built anew only when files came or went."""
        generation = self._catalog.generation
        with self._lock:
            known = self._state
            if (known.stamp, known.generation, known.filters) == (rows.stamp, generation, filters):
                return known
            files = self._files.at(rows)
            table = known.table
            if known.files is not files or known.filters is not filters:
                table = table_of(files, self._catalog.by_path(), filters.match if filters else None)
            is_same = known.stamp is not None and known.stamp.identity == rows.stamp.identity
            words = vocabulary.grown(known.words if is_same else Vocabulary(), rows.connection)
            self._state = _State(rows.stamp, generation, files, filters, table, words, {})
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
    # One statement, as in `used_words`
    is_common = "(SELECT count(*) = ? FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?))"
    sql = "SELECT " + " + ".join([is_common] * len(words))
    parameters = [value for word in words for value in (least, f'"{word}"', least)]
    return int(connection.execute(sql, parameters).fetchone()[0])


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
        sql = "SELECT id FROM files WHERE mtime_ns BETWEEN ? AND ?"
        found = {number for (number,) in snapshot.rows.connection.execute(sql, request.times) if number in paths}
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


# What a search sees of PDFs


def finds_pages(query: Node) -> bool:
    """Return whether a file is found for what is in it: a query that only excludes finds no PDF (PDF-4)."""
    match query:
        case And():
            return any(map(finds_pages, query.parts))
        case Or():
            return all(map(finds_pages, query.parts))
        case Not():
            return False
        case ScopedQuery():
            return finds_pages(query.part)
        case Word() | Phrase():
            return bool(query.text)
    return True


def may_find_pages(query: Node) -> bool:
    """Return whether a PDF that is not read could be found: it has no properties, tags or tasks (PDF-4)."""
    match query:
        case And():
            return all(map(may_find_pages, query.parts))
        case Or():
            return any(map(may_find_pages, query.parts))
        case ScopedQuery():
            return query.operator not in WITHOUT_PDFS and may_find_pages(query.part)
    return not isinstance(query, Property)


def _unseen_pdfs(snapshot: Snapshot, request: Request, background: PdfBackground, found: int) -> str | None:
    """Say of PDFs that they are not read yet, and where nothing was found, of others that they are not readable."""
    is_wanted, parts = wanted(request), []
    left = sum(is_pdf(entry.path) and is_wanted(entry) for entry in snapshot.table.others)
    if left and (background.is_reading or not found):
        parts.append(f"{left} {'PDF is' if left == 1 else 'PDFs are'} not read yet. {background.notice}".rstrip())
    if not found:
        problems = [
            f"{path}: {problem}"
            for path, (problem, *_) in snapshot.rows.warnings().items()
            if is_pdf(path) and (entry := snapshot.catalog.get(path)) is not None
            if path in snapshot.table.numbers and is_wanted(entry)
        ]
        if problems:
            more = f"; and {len(problems) - PROBLEMS} more" if len(problems) > PROBLEMS else ""
            parts.append(f"Not searched whole: {'; '.join(problems[:PROBLEMS])}{more}.")
    return " ".join(parts) or None
