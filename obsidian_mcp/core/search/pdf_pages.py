"""PDFs in a search: whether a query finds any, and which it does not see (PDF-3, PDF-4)."""

from __future__ import annotations

from collections.abc import Callable

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.index.rows import to_path
from obsidian_mcp.core.query.nodes import And, Node, Not, Or, Phrase, Property, ScopedQuery, Word
from obsidian_mcp.core.text.vault_path import PDF

from .snapshot import Snapshot

WITHOUT_PDFS = ("tag", "task", "task-todo", "task-done")
PROBLEMS = 5
"""PDFs that could not be read, of which a result names so many."""


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


def unseen(
    snapshot: Snapshot, is_wanted: Callable[[FileEntry], bool], becomes: str, *, is_temporary: bool, found: int
) -> str | None:
    """Return what a search says of PDFs that are not read yet, and, if it found nothing, of unreadable ones."""
    parts = []
    if is_temporary or not found:
        left = sum(map(is_wanted, snapshot.table.unread_pdfs))
        if left:
            parts.append(f"{left} {'PDF is' if left == 1 else 'PDFs are'} not read yet. {becomes}".rstrip())
    if not found:
        sql = "SELECT path, warnings FROM files WHERE warnings != '' ORDER BY path"
        problems = [
            f"{path}: {problem}"
            for path, problem in ((to_path(path), problem) for path, problem in snapshot.rows.connection.execute(sql))
            if path.lower().endswith(PDF) and (entry := snapshot.catalog.get(path)) is not None
            if path in snapshot.table.numbers and is_wanted(entry)
        ]
        if problems:
            more = f"; and {len(problems) - PROBLEMS} more" if len(problems) > PROBLEMS else ""
            parts.append(f"Not searched whole: {'; '.join(problems[:PROBLEMS])}{more}.")
    return " ".join(parts) or None
