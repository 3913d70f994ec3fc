"""Answers from the index while the folder is looked at for the first time (SEARCH-115)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from obsidian_mcp.core.index.database import Busy, Replaced
from obsidian_mcp.core.index.early_answers import TRIES
from obsidian_mcp.core.index.freshness import LOOKING_NOTICE
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.stored_catalog import StoredCatalog
from obsidian_mcp.core.query.nodes import QueryNode, has_scope

from .file_search import FileSearch
from .hits import Facet, Grouped, Hit, Hits, Request
from .search_tools import SearchTools


def may_answer_stored(request: Request, query: QueryNode) -> bool:
    """Return whether the rows can answer: they know no names of files without text."""
    is_about_names = has_scope(query, "file", "path")
    return request.note is None and request.folder is None and not is_about_names


def find_stored(
    indexer: Indexer,
    tools: SearchTools,
    catalog: StoredCatalog,
    request: Request,
    query: QueryNode,
    *,
    by: Facet | None,
) -> Hits | Grouped | None:
    """Return the page of a request from the rows as they are; None where nobody knows yet.

    What is listed was looked at on disk: a note that changed is stored and asked for again, and the
    rows of one that is gone are deleted. That nothing is there is not said before all files are
    known. Raises: AppError.
    """
    with suppress(Busy, Replaced):
        for _ in range(TRIES):
            search = FileSearch(tools, request, query, by=by)
            result = indexer.query(
                partial(search.answer_from_rows, notice=LOOKING_NOTICE, is_whole=False)
            )
            if not result.total:
                return None
            if not _store_changes(indexer, catalog, result):
                return result
    return None


def _store_changes(indexer: Indexer, catalog: StoredCatalog, result: Hits | Grouped) -> bool:
    """Bring the rows of the listed files up to date; return whether any was not. Raises: AppError,
    Busy, Replaced."""
    stored = catalog.read_stored({hit.path for hit in _list_hits(result)})
    gone, changed = [], []
    for path, entry in stored.items():
        present = catalog.look_at(entry)
        if present is None:
            gone.append(path)
        elif present != entry:
            changed.append(present)
    return indexer.early.store_changes(changed, gone)


def _list_hits(result: Hits | Grouped) -> Iterator[Hit]:
    if isinstance(result, Hits):
        yield from result.hits
    else:
        for group in result.groups:
            yield from group.hits or ()
