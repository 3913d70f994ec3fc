"""What a search says of files that it could not look through, or not to their end (SEARCH-93)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from obsidian_mcp.core.index import facts, search_document
from obsidian_mcp.core.query.nodes import And, Not, Or, QueryNode, ScopedQuery
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.text import too_large
from obsidian_mcp.core.text.vault_path import VaultPath, is_pdf

from .bounds import flagged_files
from .snapshot import Snapshot

MOST_PROBLEMS = 5
"""Files that could not be read which a result names."""


def note_unsearched(
    snapshot: Snapshot, query: QueryNode, within: AbstractSet[int] | None, *, is_exact: bool
) -> Snapshot:
    """Return a snapshot whose notice names the files in whose text a search did not look
    everywhere.

    Without it, an exact search that lacks a note of 65 MB would be taken for one of all notes.
    `within`: the files that the search is about; None for all.
    """
    unreadable = snapshot.rows.unreadable_files()
    cut = flagged_files(snapshot, search_document.TRUNCATED)
    if not (unreadable or cut) or not asks_of_text(query):
        return snapshot
    problems = dict(_describe_unreadable(snapshot, unreadable))
    problems |= dict(_describe_cut(snapshot, cut, is_exact=is_exact))
    unsearched = describe_problems(
        [problem for number, problem in problems.items() if within is None or number in within]
    )
    if unsearched is None:
        return snapshot
    notice = " ".join(filter(None, (snapshot.notice, unsearched)))
    return snapshot._replace(notice=notice, is_whole=False)


def asks_of_text(query: QueryNode) -> bool:
    """Return whether a query is about more than the paths of files."""
    match query:
        case And() | Or():
            return any(map(asks_of_text, query.parts))
        case Not():
            return asks_of_text(query.part)
        case ScopedQuery():
            return query.operator not in ("file", "path") and asks_of_text(query.part)
    return True


def describe_problems(problems: Sequence[str]) -> str | None:
    """Return a sentence with the first of some problems, each with its file; None without any."""
    if not problems:
        return None
    return f"Not searched whole: {name_first(problems, MOST_PROBLEMS, '; ')}."


def _describe_unreadable(
    snapshot: Snapshot, unreadable: Mapping[VaultPath, Sequence[str]]
) -> Iterator[tuple[int, str]]:
    """Yield the files, but PDFs, that could not be read when they were indexed, and why."""
    for path, warnings in unreadable.items():
        number = snapshot.table.find_number(path)
        is_read = facts.UNINDEXED.issuperset(warnings) or is_pdf(path)
        if number is not None and not is_read:
            yield number, f"{path}: {warnings[0].rstrip('.')}"


def _describe_cut(
    snapshot: Snapshot, files: AbstractSet[int], *, is_exact: bool
) -> Iterator[tuple[int, str]]:
    """Yield the files of which only the beginning was searched, and why."""
    for number in sorted(files):
        entry = snapshot.catalog.get(path := snapshot.table.paths[number])
        if entry is None:
            continue
        beginning = "only its name is searched"
        if entry.size > facts.BODY_LIMIT:
            beginning = f"only its first {facts.BODY_LIMIT // 2**20} MiB are searched"
        if entry.is_too_large:
            reason = too_large(path, entry.size).message.rstrip(".")
            yield number, f"{reason} ({beginning})"
        elif not is_exact:
            yield number, f"{path}: {beginning}, but by match=exact all of it"
