"""Which files folder, times and note of a request leave (SEARCH-11, SEARCH-12), and those that only
their names can find."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.query.nodes import QueryNode, has_scope

from .hits import Request, folder_filter, request_filter
from .signals import Item
from .snapshot import Snapshot


def files_within(snapshot: Snapshot, request: Request) -> AbstractSet[int] | None:
    """Return the notes and canvases in the folder and times of a request; None for all (SEARCH-11,
    SEARCH-12)."""
    table = snapshot.table
    files: AbstractSet[int] | None = None
    if request.since is not None or request.until is not None:
        changed = snapshot.rows.file_sets.changed_between(request.times)
        files = changed - table.excluded
    if request.folder is not None:
        is_inside = folder_filter(request.folder)
        below = table.find_below(request.folder, is_inside)
        files = below if files is None else files & below
    if request.note is not None:
        number = table.find_number(request.note)
        is_within = number is not None and (files is None or number in files)
        files = {number} if is_within and number is not None else set()
    return files


def find_textless(snapshot: Snapshot, query: QueryNode, request: Request) -> list[Item]:
    """Return files without text that a query finds; only one that names paths can find them
    (QUERY-11, QUERY-15)."""
    # asked first: for the others, all files of the vault are looked through
    if not has_scope(query, "file", "path") or not snapshot.table.others:
        return []
    from obsidian_mcp.core.query.document import Document  # most searches do without
    from obsidian_mcp.core.query.evaluate import Matcher

    matcher, is_wanted = Matcher(query), request_filter(request)
    return [
        Item(entry.path, None)
        for entry in snapshot.table.others
        if matcher.matches(Document(normal_form(entry.path), "", "other"))
        and is_wanted(snapshot.catalog.get(entry.path) or entry)
    ]
