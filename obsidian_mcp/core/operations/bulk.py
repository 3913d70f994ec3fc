"""One change to many notes: which are meant, their new texts, and how it is made (TOOL-14)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.query.parser import with_days
from obsidian_mcp.core.search.hits import Hits, Request
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.text.fit import name_first
from obsidian_mcp.core.text.vault_path import CANVAS_EXTENSION, extension, is_note
from obsidian_mcp.core.vault.change_checks import check_total
from obsidian_mcp.core.vault.planned_change import PlannedChange
from obsidian_mcp.core.vault.rewritten import rewritten
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import (
    AppError,
    InvalidArguments,
    NoteExists,
    NoteNotFound,
    OperationTimeout,
    PropertiesUnreadable,
    StaleEtag,
    StorageFailed,
)

MOST_NOTES = 10_000
"""Notes of one change."""
NOTES_NAMED = 3
"""Notes that an answer names which another search would find."""
PLANS_AHEAD = 2
"""Times that a change is planned before other writers have to wait for it."""


P = TypeVar("P", bound=PlannedChange)


class Selection(NamedTuple):
    """The files that one change is about."""

    entries: list[FileEntry]
    warnings: tuple[str, ...] = ()
    """What the search that found them did not look through."""


def select_files(
    vault: Vault,
    names: Sequence[str],
    query: str,
    accepts: Callable[[str], bool] = is_note,
    *,
    is_read: bool = True,
) -> Selection:
    """Return the files of `names`, or those that an exact search for `query` finds and `accepts`,
    by path.

    Where the change reads them (`is_read`), what a search finds and nobody can read, because it is
    too large, is left out and named: one such file would hinder the change of all others.

    Raises: InvalidArguments for both or neither, and where nothing is found; NoteNotFound,
    AmbiguousName, QueryInvalid.
    """
    if bool(names) == bool(query.strip()):
        raise InvalidArguments(
            "Give either `names` (a list of notes) or `query` (a search that finds them)."
        )
    if names:
        return Selection(list({entry.path: entry for entry in map(vault.find, names)}.values()))
    vault.indexer.complete()  # what is changed must be all that the query finds (INDEX-43)
    dated = with_days(query, lambda: vault.calendar.today)
    hits = vault.search.find(
        Request(dated, "exact", limit=MOST_NOTES, snippets=0, characters=1 << 40)
    )
    assert isinstance(hits, Hits)  # noqa: S101  an ungrouped search answers with Hits
    if hits.total > MOST_NOTES:
        raise InvalidArguments(
            f"The query finds {hits.total:,} files, more than {MOST_NOTES:,}. Narrow it."
        )
    entries = [
        entry for hit in hits.hits if (entry := vault.catalog.get(hit.path)) and accepts(entry.path)
    ]
    notes = sorted(
        (entry for entry in entries if not (is_read and entry.is_too_large)),
        key=lambda entry: entry.path,
    )
    unsearched = (hits.incomplete,) if hits.incomplete else ()
    smart = _find_smart(vault, dated, accepts)
    if not notes:
        from .query_advice import advise  # needed where nothing is found

        advice = advise(vault, query) or "Try it with obsidian_search and match=exact."
        if smart:
            forms = name_first(smart, NOTES_NAMED)
            advice = f"It is matched exactly; other forms of the words are in {forms}."
        reasons = " ".join((*unsearched, advice))
        raise InvalidArguments(f"The query {query!r} finds no note. {reasons}", argument="query")
    return Selection(notes, (*unsearched, *_describe_exactness(notes, smart)))


def _find_smart(vault: Vault, query: str, accepts: Callable[[str], bool]) -> list[str]:
    """Return the files that obsidian_search finds by default, where all have all the words."""
    hits = vault.search.find(Request(query, limit=MOST_NOTES, snippets=0, characters=1 << 40))
    if hits.widened or hits.total > MOST_NOTES:
        return []
    return sorted(str(hit.path) for hit in hits.hits if accepts(hit.path))


def _describe_exactness(notes: Sequence[FileEntry], smart: Sequence[str]) -> list[str]:
    """Return a sentence where a search by word forms finds other notes than the exact one by which
    a change is made (TOOL-39)."""
    exact = [str(entry.path) for entry in notes]
    only_exact = [path for path in exact if path not in {*smart}]
    only_smart = [path for path in smart if path not in {*exact}]
    parts = []
    if only_exact:
        named = name_first(only_exact, NOTES_NAMED)
        have = "has" if len(only_exact) == 1 else "have"
        parts.append(f"{len(only_exact)} {have} it inside other words only ({named})")
    if only_smart:
        named = name_first(only_smart, NOTES_NAMED)
        are_left = "is left as it is" if len(only_smart) == 1 else "are left as they are"
        parts.append(f"{len(only_smart)} with other forms of the words {are_left} ({named})")
    if not smart or not parts:
        return []
    return [f"query is matched exactly, as with match=exact: {' and '.join(parts)}."]


def plan_rewrites(
    vault: Vault,
    entries: Sequence[FileEntry],
    change: Callable[[str], str],
    label: str,
    in_canvas: Callable[[str], str] | None = None,
) -> PlannedChange:
    """Plan to replace the text of each note by `change(text)`.

    `in_canvas` does the same for canvases, where it is given. Files that stay the same are left
    out. Raises: NotText, OperationTimeout, InvalidArguments for more bytes than one change may
    have; PropertiesUnreadable and StorageFailed of `change`, with the path, because the caller
    names many.
    """
    rewritten_files = []
    size = 0
    for count, entry in enumerate(entries):
        report_progress(count, len(entries), label)
        is_canvas = in_canvas is not None and extension(entry.path) == CANVAS_EXTENSION
        content = vault.read_text(entry) if is_canvas else vault.read_note(entry)
        try:
            after = (in_canvas if in_canvas and is_canvas else change)(content.text.body)
        except (
            PropertiesUnreadable,
            StorageFailed,
        ) as error:  # nobody can tell which note of several is meant
            message = f"{str(entry.path)!r}: {error.message} Nothing was written."
            raise type(error)(message, path=entry.path, **error.data) from error
        if after != content.text.body:
            rewritten_files.append(rewritten(content, after))
            size += len(rewritten_files[-1].after.data)
            check_total(size)
    return PlannedChange(tuple(rewritten_files))


def make(
    vault: Vault,
    tool: str,
    plan: Callable[[], P],
    *,
    dry_run: bool = False,
    awaits_index: bool = True,
) -> P:
    """Make the change that `plan` plans without holding up other calls.

    Where files change meanwhile it is planned again, at last while nobody else may write (SAFE-23).
    With `awaits_index` the index is waited for before the first plan, so that no plan waits for it
    under the lock (INDEX-43); a plan that may do without it waits by itself.

    Raises: what `plan` and `Vault.commit` raise; OperationTimeout during a first build.
    """
    if dry_run:
        vault.look_everywhere()
        made = plan()
        vault.check(tool, made.operations)
        return made
    if awaits_index:
        vault.indexer.complete()
    for _ in range(PLANS_AHEAD):
        revision = vault.catalog.revision
        try:
            planned: P | AppError = plan()
        except OperationTimeout:
            raise
        except AppError as error:  # true only if no other process has moved what it was about
            planned = error
        with vault.lock_changes():
            if isinstance(planned, AppError) or planned.depends_on_all:
                # else links would be left behind that were written a moment ago (WATCH-10)
                vault.look_everywhere()
                if vault.catalog.revision != revision:
                    continue
            if isinstance(planned, AppError):
                raise planned
            # another program has changed, made or moved one of the files since it was looked at
            with suppress(StaleEtag, NoteExists, NoteNotFound):
                made = _commit(vault, tool, planned)
                break
    else:
        with vault.lock_changes():
            made = _commit(vault, tool, plan())
    if made.depends_on_all:
        vault.indexer.catch_up()
    return made


def _commit(vault: Vault, tool: str, planned: P) -> P:
    """Make a planned change, unless it changes nothing."""
    if planned.operations:
        vault.commit(tool, planned.operations)
    return planned
