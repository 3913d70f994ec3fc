"""One search, step by step: plan, retrieve, widen, add what is near in meaning, order, render
(SEARCH-85)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from operator import attrgetter

from obsidian_mcp.core.index.rows import Rows
from obsidian_mcp.core.query.nodes import QueryNode, Word
from obsidian_mcp.core.text.analysis import fold
from obsidian_mcp.core.text.page_order import continue_order, has_moved
from obsidian_mcp.core.text.vault_path import VaultPath

from . import sort
from .current_first import Currency
from .file_table import FileTable
from .found_files import FoundFiles
from .groups import render_groups
from .hits import Facet, Grouped, Hits, Request, request_filter
from .lexicon import Lexicon
from .past import speaks_of_past
from .plan import SearchPlan, exact_plan
from .rank import Ranked, WideQuestion, fuse, rank, rank_wide
from .reading import PlanAlternative, read_groups
from .remarks import describe_inside_words
from .render import render_page
from .retrieve import retrieve
from .search_pdfs import describe_unread, finds_pages, may_find_pages
from .search_tools import SearchTools
from .signals import Item, Signals
from .silence import limit_hits
from .smart_plan import smart_plan
from .snapshot import Snapshot
from .state import SearchState
from .unsearched import note_unsearched
from .within import files_within, find_textless

LONG_QUERY = 3
"""Words of a query that is rather a question: a file need not have all of them to come first."""
ENOUGH_FILES, ENOUGH_FILES_OF_LONG_QUERY = 3, 500
"""Files with all the words from which on nothing else is listed (SEARCH-51)."""
NEAR_FILES = 10
"""Files that are found by meaning."""
NO_FILES: AbstractSet[int] = frozenset()
_PATH_OF = attrgetter("path")
"""Of an item."""
BY_APP = "The Obsidian app found these: it matches exactly, not smart."


@dataclass(slots=True)
class _SearchProgress:
    """What the steps have found so far."""

    plan: SearchPlan
    files: AbstractSet[int]
    ranked: Ranked | None = None
    """The files in their order, where finding them gave it."""
    wide_plan: SearchPlan | None = None
    """The plan of any of the words, which knows the words that no note has."""
    starts: dict[int, int] | None = None
    """Of files that only their meaning found, where the part begins."""
    successors: frozenset[int] = frozenset()
    """Files without the words, which are listed before what they supersede."""
    lowered: frozenset[int] = frozenset()
    """Files that come later because they, or what they say of this, are outdated."""
    is_about_past: bool = False


class FileSearch:
    """One search of the files of a vault."""

    def __init__(
        self,
        tools: SearchTools,
        request: Request,
        query: QueryNode | None,
        *,
        named: Sequence[VaultPath] | None = None,
        by: Facet | None = None,
    ) -> None:
        """`query` None: only the app can read it, and `named` are the files that it found. `by`:
        what the files are grouped by."""
        self._tools = tools
        self._request = request
        self._query = query
        self._named = named
        self._by = by
        self._render = render_page if by is None else partial(render_groups, by=by)
        self._within: AbstractSet[int] | None = None
        """The files in the folder and times of the request; None for all."""
        self._without = NO_FILES
        self._groups: list[PlanAlternative] = []
        self._is_loose = True
        """Whether no part of the query has to match exactly where any of the words is enough."""

    def answer_from_rows(self, rows: Rows, *, notice: str | None, is_whole: bool) -> Hits | Grouped:
        """Return the page of the request from one view of the rows.

        Raises: InvalidArguments for an order by a property that no note has, OperationTimeout.
        """
        state = self._tools.states.current(rows, self._tools.filters)
        snapshot = self._look(state, rows, notice=notice, is_whole=is_whole)
        request, query = self._request, self._query
        self._within = files_within(snapshot, request)
        if self._named is not None or query is None:
            return self._render(self._take_named(snapshot, self._named or ()), request)
        lexicon = None  # a query that is matched exactly does without word forms
        if request.match == "smart":
            languages = self._tools.states.find_languages(state, rows)
            self._groups = read_groups(query, languages)
            self._is_loose = all(group.strict is None for group in self._groups)
            if any(group.loose for group in self._groups):
                lexicon = Lexicon(snapshot.vocabulary, languages, rows.full_text.find_used)
        if lexicon is not None and any(group.choices for group in self._groups):
            plan = smart_plan(self._groups, lexicon)
        else:
            plan = exact_plan(query, snapshot.vocabulary)
        if snapshot.table.has_pdfs and not finds_pages(query):
            self._without = snapshot.table.pdfs  # a query that only excludes would list every PDF
        if request.current:
            self._without |= snapshot.signals.outdated.marks.keys()
        result = _SearchProgress(plan, retrieve(snapshot, plan, self._within) - self._without)
        if lexicon is not None:
            self._widen(snapshot, result, lexicon)
            if request.ranks and self._is_loose and (result.plan.is_wide or not result.files):
                self._add_near(snapshot, result)
        if snapshot.table.has_pdfs and may_find_pages(query):
            snapshot = self._with_unread_pdfs(snapshot, query, len(result.files))
        textless = find_textless(snapshot, query, self._request)
        is_exact = request.match == "exact"
        if is_exact or not result.files or result.plan.is_wide:
            snapshot = note_unsearched(snapshot, query, self._within, is_exact=is_exact)
        if result.wide_plan is not None and not result.files and not textless:
            result.plan = result.wide_plan
        if not snapshot.signals.outdated.is_empty:
            self._put_current_first(snapshot, result)
        elif result.ranked is None and request.ranks:
            ranked_count = self._count_ranked(len(result.files))
            result.ranked = rank(snapshot, result.plan, result.files, request.query, ranked_count)
        return self._render(*self._arrange_pages(snapshot, result, textless))

    def _arrange_pages(
        self, snapshot: Snapshot, result: _SearchProgress, textless: list[Item]
    ) -> tuple[FoundFiles, Request]:
        """Return the files in the order in which the pages of the request began, and the request
        with the place of its page in it (TOOL-41)."""
        request, plan = self._request, result.plan
        if snapshot.unscanned:
            notice = " ".join(filter(None, (snapshot.notice, *dict.fromkeys(snapshot.unscanned))))
            snapshot = snapshot._replace(notice=notice, is_whole=False)
        files = self._order(snapshot, result, textless)
        if request.note is not None or self._by is not None:
            return files, request
        is_part = request.ranks and not plan.is_wide and len(files.items) < files.total
        if request.offset and is_part and has_moved(files.items, _PATH_OF):
            # What the pages before have given may be anywhere now.
            count = len(result.files)
            result.ranked = rank(snapshot, plan, result.files, request.query, count)
            files = self._order(snapshot, result, textless)
        items, start = continue_order(files.items, request.offset, _PATH_OF)
        return files._replace(items=items), request._replace(offset=start)

    def _put_current_first(self, snapshot: Snapshot, result: _SearchProgress) -> None:
        """Rank the files, if nothing did yet, with what is outdated behind (MEM-10 to 12)."""
        request = self._request
        may_follow = self._may_follow if request.match == "smart" and not request.current else None
        result.is_about_past = speaks_of_past(request.query, snapshot.signals.outdated.today)
        currency = Currency(snapshot, result.plan, result.is_about_past, may_follow)
        if request.current:
            result.files = currency.leave_out_outdated(result.files)
            if result.ranked is not None:
                listed = [pair for pair in result.ranked.scored if pair[0] in result.files]
                result.ranked = result.ranked._replace(scored=listed)
        if not request.ranks:
            return
        if result.ranked is None:
            count = self._count_ranked(len(result.files))
            result.ranked = currency.rank_files(result.files, request.query, count)
        else:
            result.ranked, result.lowered = currency.reorder(result.ranked)
        if request.note is None:
            ranked, added = currency.put_successors_first(result.ranked, result.files)
            result.ranked, result.successors = ranked, added
            result.files = result.files | added

    def _look(
        self, state: SearchState, rows: Rows, *, notice: str | None, is_whole: bool
    ) -> Snapshot:
        """Return what a search of these rows sees."""
        tools = self._tools
        today = tools.today().isoformat()
        outdated = tools.states.find_outdated(state, rows, tools.validity_names, today)
        tables, now = tools.property_tables, self._request.now
        return Snapshot(
            rows=rows,
            table=FileTable(rows.file_paths, state.file_cache),
            vocabulary=state.words,
            catalog=tools.catalog,
            signals=Signals(rows, tools.catalog, outdated, tables, now),
            read=tools.read,
            text_counts={},
            expression_counts={},
            flags=state.flags,
            unscanned=[],
            notice=notice,
            is_whole=is_whole,
        )

    def _widen(self, snapshot: Snapshot, result: _SearchProgress, lexicon: Lexicon) -> None:
        """Let any of the words be enough where few files have all of them (SEARCH-51)."""
        complete = result.files
        is_long = self._is_long(result.plan)
        if len(complete) >= (ENOUGH_FILES_OF_LONG_QUERY if is_long else ENOUGH_FILES):
            return
        wide_plan = result.wide_plan = smart_plan(self._groups, lexicon, wide=True)
        if wide_plan.alternatives == result.plan.alternatives:
            return
        with_any_word = retrieve(snapshot, wide_plan, self._within) - self._without
        if len(with_any_word) <= len(complete):
            return
        result.plan = wide_plan._replace(found=len(complete))
        result.files = with_any_word
        is_single_word = len({term.word for term in result.plan.terms}) <= 1
        if not complete and is_single_word and not (is_long and wide_plan.missing):
            return  # the files have the word in another spelling, each of them
        question = WideQuestion(
            self._request.query,
            is_long=is_long,
            is_question=any(len(group.spoken) > len(group.loose) for group in self._groups),
            may_follow=self._may_follow,
        )
        result.ranked = rank_wide(snapshot, result.plan, with_any_word, complete, question)
        if not complete and is_long:
            self._list_few(snapshot, result)
        result.files = frozenset(number for number, _ in result.ranked.scored)

    def _is_long(self, plan: SearchPlan) -> bool:
        """Return whether a query is rather a question; words that no note has count, too."""
        word_counts = [len(group.loose) for group in self._groups]
        return max(len(plan.terms), *word_counts) >= LONG_QUERY

    def _list_few(self, snapshot: Snapshot, result: _SearchProgress) -> None:
        """List few files, or none, where even the best says too little of a question
        (SEARCH-100)."""
        ranked = result.ranked
        is_asked = self._is_loose and self._request.note is None
        if not is_asked or ranked is None or not ranked.scored:
            return
        best_score = max(score or 0.0 for _, score in ranked.scored)
        limit = limit_hits(snapshot, result.plan, ranked.weighted, best_score)
        if limit is not None:
            withheld = len(result.files) - min(limit, len(ranked.scored))
            result.plan = result.plan._replace(is_weak=True, withheld=withheld)
            result.wide_plan = result.plan
            result.ranked = ranked._replace(scored=ranked.scored[:limit])

    def _may_follow(self, number: int) -> bool:
        """Whether a file may be listed that has none of the words, but is linked to under them."""
        return self._is_loose and (self._within is None or number in self._within)

    def _add_near(self, snapshot: Snapshot, result: _SearchProgress) -> None:
        """Add the files whose meaning is near, and let both orders count (SEM-04)."""
        if self._tools.near is None:
            return
        query, file_count = self._request.query, len(result.files)
        by_words = result.ranked or rank(snapshot, result.plan, result.files, query, file_count)
        near = {
            number: note.start
            for note in self._tools.near(query, NEAR_FILES)
            if (number := snapshot.table.find_number(note.path)) is not None
            and (self._within is None or number in self._within)
        }
        of_words = {number for number, _ in by_words.scored}
        result.starts = {number: near[number] for number in near.keys() - of_words}
        result.ranked = by_words
        if near:
            result.ranked = by_words._replace(scored=fuse(by_words.scored, near))
        result.files = frozenset(number for number, _ in result.ranked.scored)

    def _with_unread_pdfs(self, snapshot: Snapshot, query: QueryNode, file_count: int) -> Snapshot:
        """Return a snapshot whose notice says which PDFs were not searched."""
        if self._tools.pdfs is None:
            return snapshot
        unread = describe_unread(
            snapshot, self._request, query, background=self._tools.pdfs, file_count=file_count
        )
        notice = " ".join(filter(None, (snapshot.notice, unread)))
        return snapshot._replace(notice=notice or None)

    def _order(
        self, snapshot: Snapshot, result: _SearchProgress, textless: list[Item]
    ) -> FoundFiles:
        """Return the files in the order of the request. Raises: InvalidArguments."""
        request = self._request
        is_exact = request.match == "exact"
        note = None
        if not is_exact and not result.plan.is_wide:
            note = self._describe_others(snapshot, result)
        total, order = len(result.files) + len(textless), request.order
        if order is not None and result.ranked is None:
            all_paths = snapshot.table.paths.look_up(result.files)
            items = [Item(all_paths[number], number) for number in result.files]
            items = sort.sort_items(snapshot, items + textless, order)
            return FoundFiles(snapshot, items, total, order, result.plan, {}, note)
        ranked, starts = result.ranked or Ranked((), {}), result.starts or {}
        paths: Mapping[int, VaultPath] = snapshot.table.paths
        if len(ranked.scored) > len(ranked.fields):  # the texts of the others were not read
            paths = snapshot.table.paths.look_up({number for number, _ in ranked.scored})
        items = [
            Item(paths[number], number, score, starts.get(number))
            for number, score in ranked.scored
        ]
        items += textless
        if order is not None and not order.descending:
            items.reverse()
        files = FoundFiles(snapshot, items, total, order, result.plan, ranked.fields, note)
        return files._replace(
            successors=result.successors,
            lowered=result.lowered,
            is_about_past=result.is_about_past,
        )

    def _describe_others(self, snapshot: Snapshot, result: _SearchProgress) -> str | None:
        """Return how many more files an exact search for a single word finds (SEARCH-95)."""
        query, within = self._query, self._within
        request = self._request
        if request.note is not None or not isinstance(query, Word):
            return None

        def is_within(number: int) -> bool:
            return number not in self._without and (within is None or number in within)

        word = fold(query.text)
        return describe_inside_words(snapshot, result.plan, word, result.files, is_within)

    def _count_ranked(self, file_count: int) -> int:
        """Return how many of the files found are listed, best first: all where the last ones come
        first, or are grouped with others."""
        request = self._request
        is_reversed = request.order is not None and not request.order.descending
        if is_reversed or self._by is not None:
            return file_count
        return request.offset + request.limit if request.note is None else 1

    def _take_named(self, snapshot: Snapshot, named: Sequence[VaultPath]) -> FoundFiles:
        """Return the files that the app found, in its order or in that of the request; hidden ones
        are left out (SEARCH-18)."""
        request, is_hidden = self._request, snapshot.table.is_hidden
        is_wanted = request_filter(request)
        items = []
        for path in named:
            number, entry = snapshot.table.find_number(path), snapshot.catalog.get(path)
            is_within = self._within is None or number in self._within
            if number is None and entry is not None:
                is_within = is_wanted(entry)
            if is_within and not (is_hidden is not None and is_hidden(path)):
                items.append(Item(path, number))
        order = request.order
        if order is not None and order.facet.kind == "relevance":
            items = items if order.descending else items[::-1]
        elif order is not None:
            items = sort.sort_items(snapshot, items, order)
        plan = SearchPlan((), exact=() if self._query is None else (self._query,))
        note = BY_APP if request.match == "smart" else None
        return FoundFiles(snapshot, items, len(items), order, plan, {}, note=note)
