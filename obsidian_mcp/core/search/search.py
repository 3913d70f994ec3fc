"""The searches of one vault (SEARCH-10 to 19)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from math import inf
from typing import TypeVar, overload

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.rows import PROPERTIES, WITH_INLINE_FIELDS, Rows
from obsidian_mcp.core.index.stored_catalog import StoredCatalog
from obsidian_mcp.core.note.validity import DEFAULT_NAMES, ValidityNames
from obsidian_mcp.core.query.nodes import QueryNode
from obsidian_mcp.core.query.parser import parse
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import QueryInvalid

from . import similar, unindexed
from .file_search import FileSearch
from .file_table import FileTable
from .hits import Facet, Grouped, Hits, Request
from .outdated_files import OutdatedFiles
from .plain_question import AS_WORDS, is_emptied_by_marks, read_words_alone
from .search_tools import SearchTools
from .state import SearchStates
from .stored_answer import find_stored, may_answer_stored

if TYPE_CHECKING:
    from obsidian_mcp.core.semantic.meaning import Near

    from .lines_alike import AlikeLine

T = TypeVar("T")

PREPARED_FILES = 50_000
"""Up to so many files, all names are read before a question needs them: 300 bytes a file."""


class Search:
    """The searches of one vault. Every method may be called from any thread."""

    def __init__(
        self,
        indexer: Indexer,
        catalog: Catalog,
        read: Callable[[FileEntry], bytes],
        filters: Callable[[], IgnoreFilters],
        *,
        inline_fields: Callable[[], bool] = lambda: False,
        validity_names: ValidityNames = DEFAULT_NAMES,
        today: Callable[[], date] = date.today,
        near: Callable[[str, int], Sequence[Near]] | None = None,
        like: Callable[[VaultPath, int], Sequence[Near]] | None = None,
    ) -> None:
        """`read` returns a file's bytes or raises AppError, `filters` what the user hides,
        `inline_fields` whether Dataview's fields are properties (SEARCH-79); `near` and `like` the
        notes nearest in meaning to a text and a note (SEM-04)."""
        self._indexer = indexer
        self._catalog = catalog
        self._read = read
        self._filters = filters
        self._inline_fields = inline_fields
        self.validity_names = validity_names
        self._today = today
        self._near = near
        self._like = like
        self._states = SearchStates(indexer, catalog)
        self._knows_files = False
        """Whether the first look at the folder has ended."""
        self._before_look: tuple[StoredCatalog, SearchStates] | None = None
        """What answers until the files are known."""
        indexer.resting.add(lambda _: self._states.forget())

    @overload
    def find(
        self,
        request: Request,
        named: Sequence[VaultPath] | None = None,
        *,
        patience: float | None = None,
    ) -> Hits: ...
    @overload
    def find(
        self,
        request: Request,
        named: Sequence[VaultPath] | None,
        by: Facet | None,
        *,
        patience: float | None = None,
    ) -> Hits | Grouped: ...

    def find(
        self,
        request: Request,
        named: Sequence[VaultPath] | None = None,
        by: Facet | None = None,
        *,
        patience: float | None = None,
    ) -> Hits | Grouped:
        """Return the files that a query finds, in groups where `by` is given; with `named`, those
        files, which the app has found.

        `patience`: seconds to wait for the first look at the folder, if not as many as others wait.
        Raises: QueryInvalid, InvalidArguments for an order by a property that no note has,
        OperationTimeout, StorageFailed.
        """
        request, query, remark = _read_query(request, named)
        if query is not None and named is None and not self._knows_files:
            stored = self._find_before_look(request, query, by, patience)
            if stored is not None:
                return _begin_note(stored, remark)
        search = FileSearch(self._tools(request), request, query, named=named, by=by)
        if self._indexer.is_first_build and query is not None and named is None:
            # First the files are scanned for what is searched for (INDEX-46).
            languages = self._states.languages
            scanned = self._indexer.scan.store_matches(unindexed.weigher(query, request, languages))
            is_whole = not self._indexer.is_first_build
            answer = partial(search.answer_from_rows, notice=scanned.notice, is_whole=is_whole)
            hits = self._indexer.query(answer)
            if hits.total:
                return _begin_note(hits, remark)
        freshness = self._indexer.freshen()
        notice = freshness.notice if freshness.pending else None
        answer = partial(search.answer_from_rows, notice=notice, is_whole=not freshness.pending)
        hits = self._indexer.query(answer)
        if not hits.total and named is None and request.match == "smart":
            words = read_words_alone(request.query) if is_emptied_by_marks(request.query) else ""
            if words not in ("", request.query):
                in_words = self.find(request._replace(query=words), named, by)
                return _begin_note(in_words, AS_WORDS)
        return _begin_note(hits, remark)

    def find_entry(self, path: VaultPath) -> FileEntry | None:
        """Return a file that a search has listed, also before all files are known."""
        before_look = self._before_look
        entry = self._catalog.get(path)
        return before_look[0].get(path) if entry is None and before_look is not None else entry

    def _find_before_look(
        self, request: Request, query: QueryNode, by: Facet | None, patience: float | None
    ) -> Hits | Grouped | None:
        """Return an answer from the rows where the first look at the folder takes long; None where
        the files are known (SEARCH-115)."""
        if may_answer_stored(request, query) and self._indexer.early.are_due(patience):
            catalog, states = self._before_look or self._open_stored()
            tools = self._tools(request)._replace(
                catalog=catalog, states=states, near=None, pdfs=None
            )
            stored = find_stored(self._indexer, tools, catalog, request, query, by=by)
            if stored is not None:
                return stored
        self._knows_files = self._indexer.early.wait_for_files(inf)
        self._before_look = None
        return None

    def _open_stored(self) -> tuple[StoredCatalog, SearchStates]:
        catalog = StoredCatalog(
            self._indexer.ask_files, self._indexer.pending.stat or (lambda _: None)
        )
        self._before_look = catalog, SearchStates(self._indexer, catalog)
        return self._before_look

    def find_alike(
        self, path: VaultPath, text: str, limit: int
    ) -> tuple[list[VaultPath], str | None]:
        """Return the visible files that are most like one, by vectors or words, current ones first
        (MEM-10), and a sentence if the index is not whole (SEARCH-90)."""
        self._indexer.complete()
        notice, hidden = self._indexer.pending.freshness.notice, self._filters()
        paths: list[VaultPath] = []
        if self._like is not None:
            paths = [near.path for near in self._like(path, limit)]
        if not paths:
            paths = self._indexer.query(lambda rows: similar.find_alike_by_words(rows, text, limit))
        visible = [path for path in paths if self._catalog.get(path) and not hidden(path)]
        outdated = self.describe_outdated(visible)
        return sorted(visible, key=lambda alike: alike in outdated), notice

    def describe_outdated(self, paths: Iterable[VaultPath]) -> dict[VaultPath, str]:
        """Return why some notes hold no longer, in words; those that do are left out (MEM-11)."""
        outdated = self.read_outdated()
        numbers = {path: outdated.numbers.get(path) for path in paths}
        return {
            path: outdated.describe(number, outdated.marks[number])
            for path, number in numbers.items()
            if number is not None and number in outdated.marks
        }

    def find_lines_alike(
        self, old_text: str, new_text: str, without: Collection[VaultPath]
    ) -> list[AlikeLine]:
        """Return the current lines that say what the old text says rather than the new one
        (MEM-21)."""
        from .lines_alike import find_lines_alike  # for few changes

        return self.ask_outdated(
            lambda rows, outdated: find_lines_alike(rows, outdated, old_text, new_text, without)
        )

    def read_outdated(self) -> OutdatedFiles:
        """Return what of the vault is outdated today."""
        outdated = self.ask_outdated(lambda _, outdated: outdated)
        return outdated.read_with(lambda path: self._indexer.query(lambda rows: rows.text(path)))

    def ask_outdated(self, question: Callable[[Rows, OutdatedFiles], T]) -> T:
        """Return the answer to a question about the rows, and what of them is outdated today."""
        filters, today = self._filters(), self._today().isoformat()
        self._indexer.pending.begin_once()

        def ask(rows: Rows) -> T:
            state = self._states.current(rows, filters)
            outdated = self._states.find_outdated(state, rows, self.validity_names, today)
            return question(rows, outdated)

        return self._indexer.query(ask)

    def prepare(self) -> None:
        """Make ready what every search needs, and of a vault that is not too large, what most of
        them do: with 50 000 notes this takes 0.1 s."""
        filters = self._filters()

        def make_ready(rows: Rows) -> None:
            state = self._states.current(rows, filters)
            self._states.find_languages(state, rows)
            if state.file_cache.row_count <= PREPARED_FILES:
                _ = FileTable(rows.file_paths, state.file_cache).path_lines

        self._indexer.query(make_ready)
        if len(self._catalog) <= PREPARED_FILES:
            self._catalog.find_by_name("")

    def _tools(self, request: Request) -> SearchTools:
        has_fields = request.match == "smart" and self._inline_fields()
        return SearchTools(
            states=self._states,
            catalog=self._catalog,
            read=self._read,
            filters=self._filters(),
            property_tables=WITH_INLINE_FIELDS if has_fields else PROPERTIES,
            validity_names=self.validity_names,
            today=self._today,
            near=self._near,
            pdfs=self._indexer.pending.pdfs.background,
        )


def _begin_note(result: Hits | Grouped, sentence: str) -> Hits | Grouped:
    """Return an answer whose note begins with a sentence, which may be empty."""
    if not sentence:
        return result
    return replace(result, note=" ".join(filter(None, (sentence, result.note))))


def _read_query(
    request: Request, named: Sequence[VaultPath] | None
) -> tuple[Request, QueryNode | None, str]:
    """Return a request, its query, and how this was read if not as it stands.

    The query is None if only the app can read it. A question that cannot be read is its words alone
    (SEARCH-101). Raises: QueryInvalid.
    """
    try:
        return request, parse(request.query), ""
    except QueryInvalid as error:
        if named is not None:
            return request, None, ""
        words = read_words_alone(request.query) if request.match == "smart" else ""
        if not words:
            raise
        remark = f"{error.message} {AS_WORDS}"
    return request._replace(query=words), parse(words), remark
