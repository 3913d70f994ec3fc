"""What a search sees of PDFs: which queries can find one, and what it says of those that are not
read (PDF-4).

PDFs are read in the background, seconds to hours after the notes. A search that finds nothing must
say whether a PDF which it could not look into might have been a hit: else "nothing found" would be
taken for the truth.
"""

from __future__ import annotations

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.pdf_queue import PdfBackground
from obsidian_mcp.core.query.nodes import (
    And,
    Not,
    Or,
    Phrase,
    Property,
    QueryNode,
    ScopedQuery,
    Word,
)
from obsidian_mcp.core.text.vault_path import is_pdf

from .hits import Request, request_filter
from .snapshot import Snapshot
from .unsearched import describe_problems

OPERATORS_WITHOUT_PDFS = ("tag", "task", "task-todo", "task-done")
"""What these look for is in no PDF."""


def finds_pages(query: QueryNode) -> bool:
    """Return whether a file is found for what is in it: a query that only excludes finds no PDF
    (PDF-4)."""
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


def may_find_pages(query: QueryNode) -> bool:
    """Return whether a PDF that is not read could be found: it has no properties, tags or tasks
    (PDF-4)."""
    match query:
        case And():
            return all(map(may_find_pages, query.parts))
        case Or():
            return any(map(may_find_pages, query.parts))
        case ScopedQuery():
            return query.operator not in OPERATORS_WITHOUT_PDFS and may_find_pages(query.part)
    return not isinstance(query, Property)


def may_be_at(query: QueryNode, path: str) -> bool:
    """Return whether a query could find a file, by what it says of names and folders."""
    match query:
        case And():
            return all(may_be_at(part, path) for part in query.parts)
        case Or():
            return any(may_be_at(part, path) for part in query.parts)
        case ScopedQuery(operator="path" | "file", part=Word() | Phrase() as part):
            return part.text.casefold() in path.casefold()
    return True


def describe_unread(
    snapshot: Snapshot,
    request: Request,
    query: QueryNode,
    *,
    background: PdfBackground,
    file_count: int,
) -> str | None:
    """Say of PDFs that they are not read yet, and where a search found nothing, of others that they
    are not readable. `file_count`: how many files it found."""
    is_of_request, sentences = request_filter(request), []

    def is_wanted(entry: FileEntry) -> bool:
        return is_of_request(entry) and may_be_at(query, entry.path)

    unread = sum(is_pdf(entry.path) and is_wanted(entry) for entry in snapshot.table.others)
    if unread and (background.is_reading or not file_count):
        pdfs = "PDF is" if unread == 1 else "PDFs are"
        sentences.append(f"{unread} {pdfs} not read yet. {background.notice}".rstrip())
    if not file_count:
        problems = [
            f"{path}: {problem}"
            for path, (problem, *_) in snapshot.rows.warnings().items()
            if is_pdf(path) and (entry := snapshot.catalog.get(path)) is not None
            if snapshot.table.find_number(path) is not None and is_wanted(entry)
        ]
        sentences += filter(None, [describe_problems(problems)])
    return " ".join(sentences) or None
