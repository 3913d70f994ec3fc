"""Queries over a vault in any of the languages, and those that stand in a note (specs/queries.md).

A language is one entry in LANGUAGES: a function that reads the text of a query, and returns what
runs it at one moment of the index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from obsidian_mcp import TYPE_CHECKING
from obsidian_mcp.core.dataview.settings import (
    SETTINGS_FILE,
    DataviewSettings,
    read_dataview_settings,
)
from obsidian_mcp.core.expressions.answer import Page, QueryAnswer
from obsidian_mcp.core.expressions.values import File
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.graph.indexed_vault import IndexedVault, Moment
from obsidian_mcp.core.index.freshness import Answer as IndexAnswer
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.note.query_blocks import (
    BASE_EXTENSION,
    JAVASCRIPT_REFUSED,
    QueryBlock,
    is_base,
    is_dataview,
    query_blocks,
    remove_fence,
)
from obsidian_mcp.core.tasks.answer import TaskPage
from obsidian_mcp.core.text.vault_path import VaultPath, is_note
from obsidian_mcp.errors import AppError, InvalidArguments, NotText, OperationTimeout, QueryInvalid

if TYPE_CHECKING:
    from obsidian_mcp.core.expressions.evaluate import Context
    from obsidian_mcp.core.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """One query as a language runs it."""

    text: str
    page: Page
    now: datetime
    """Naive, local."""
    language: str = ""
    """One of LANGUAGES; empty to be told from the text."""
    view: str = ""
    """Name of a view of a base; the first one without."""
    this: VaultPath | None = None
    """The note that the query stands in."""
    section: str = ""
    number: int = 0
    """Which table of `this`."""


SEARCH_REFUSED = "This is a search of the app. Give its text to obsidian_search with match=exact."

LanguageAnswer = IndexAnswer[QueryAnswer] | TaskPage
"""What a language answers: columns and rows, or a list of tasks."""
LanguageReader = Callable[["Vault", QueryRequest], Callable[[Moment], QueryAnswer] | TaskPage]
"""Reads a query: the function that runs it, or of tasks the answer."""


def run_query(vault: Vault, query: QueryRequest) -> LanguageAnswer:
    """Return the answer of one query (QUERIES-01).

    Raises: QueryInvalid, NoteNotFound for a base that is not there, InvalidArguments for an unknown
    language.
    """
    query = _identify(vault, query)
    language = LANGUAGES.get(query.language)
    if language is None:
        raise InvalidArguments(
            f"There is no query language {query.language!r}; there are {', '.join(LANGUAGES)}.",
            argument="language",
        )
    read = language(vault, query)
    return read if isinstance(read, TaskPage) else vault.graph.evaluate(read)


@dataclass(frozen=True)
class BaseViews:
    """The views of a base, and which of them a query asks for."""

    names: tuple[str, ...] = ()
    name: str = ""
    type: str = ""
    """As the base gives it to the view, such as `cards`."""


def base_views(vault: Vault, query: QueryRequest) -> BaseViews:
    """Return the views of the base that a query is; none for other languages.

    Raises: QueryInvalid, NoteNotFound.
    """
    query = _identify(vault, query)
    if query.language != "base":
        return BaseViews()
    from obsidian_mcp.core.bases.base_reader import read_base

    base = read_base(query.text)
    view = base.view(query.view or None)
    return BaseViews(tuple(dict.fromkeys(entry.name for entry in base.views)), view.name, view.type)


def _identify(vault: Vault, query: QueryRequest) -> QueryRequest:
    """Return a query with its language, and without the fence around it (QUERIES-03).

    Where its text is the path of a base, the text becomes that of the file, and `this` the base
    (QUERIES-02). Raises: QueryInvalid for a text of no known language, NoteNotFound.
    """
    path, _, view = query.text.strip().partition("#")
    if (
        query.language in ("", "base")
        and "\n" not in path
        and path.lower().endswith(BASE_EXTENSION)
    ):
        entry = vault.find(path)
        text = vault.read_text(entry).text.body
        query = replace(
            query,
            language="base",
            text=text,
            view=query.view or view,
            this=query.this or entry.path,
        )
    fence, inside = remove_fence(query.text)
    if query.language:
        return replace(query, text=inside) if fence in (None, query.language) else query
    if fence == "dataviewjs":
        raise QueryInvalid(JAVASCRIPT_REFUSED)
    if fence is not None and fence in LANGUAGES:
        return replace(query, language=fence, text=inside)
    for name, is_meant in _MEANT.items():
        if is_meant(inside):
            return replace(query, language=name, text=inside)
    raise QueryInvalid(
        "This is no query of a known language. A base is YAML with views, filters or formulas, or "
        "the path of a .base file; a Dataview query begins with TABLE, LIST, TASK or CALENDAR, or "
        f"with = for one expression. The languages are {', '.join(LANGUAGES)}."
    )


@dataclass(frozen=True, slots=True)
class BlockAnswer:
    """What a query of a note answers, or why it is refused."""

    block: QueryBlock
    answer: LanguageAnswer | None
    error: str | None = None


def run_blocks(
    vault: Vault, note: FileEntry, page: Page, now: datetime, language: str = ""
) -> Iterator[BlockAnswer]:
    """Yield the answers of the queries that stand in a note, in the order of its text (QUERIES-04).

    `language` leaves only those in one language. A query that is refused does not hinder the
    others: its answer has the reason. Raises: NotText for a file that is no note, OperationTimeout.
    """
    if not is_note(note.path):
        raise NotText(
            f"{str(note.path)!r} is no note, so its queries cannot be run together. Give one as "
            "`query`, with `this`.",
            path=note.path,
        )
    for block in query_blocks(parse(vault.read_text(note).text.body), inline_prefix(vault)):
        if language not in ("", block.language):
            continue
        try:
            if block.language not in LANGUAGES:
                is_javascript = block.language == "dataviewjs"
                raise QueryInvalid(JAVASCRIPT_REFUSED if is_javascript else SEARCH_REFUSED)
            query = QueryRequest(block.text, page, now, block.language, block.view, note.path)
            yield BlockAnswer(block, run_query(vault, query))
        except OperationTimeout:
            raise
        except AppError as error:
            yield BlockAnswer(block, None, error.message)


def inline_prefix(vault: Vault) -> str:
    """Return what a code span begins with that is a Dataview expression."""
    return _dataview_settings(vault).inline_prefix


def _bases(vault: Vault, query: QueryRequest) -> Callable[[Moment], QueryAnswer]:
    from obsidian_mcp.core.bases.base_reader import read_base  # loaded when it is needed
    from obsidian_mcp.core.bases.view import run_view

    base = read_base(query.text)
    return lambda moment: run_view(
        base, _context(vault, query, moment), query.page, query.view or None
    )


def _table(vault: Vault, query: QueryRequest) -> Callable[[Moment], QueryAnswer]:
    from obsidian_mcp.core.bases.table_rows import run_table  # loaded when it is needed
    from obsidian_mcp.core.note.table import locate

    if not query.this:
        raise InvalidArguments(
            "A query of a table needs `this`: the note that the table is in.", argument="this"
        )
    note = query.this
    located = locate(vault.read_text(vault.find(note)).text.body, query.number, query.section)

    def run_base(moment: Moment) -> QueryAnswer:
        context = _context(vault, query, moment)
        context.this = context.this or File(note)
        return run_table(query.text, context.this, located, context, query.page, view=query.view)

    return run_base


def _context(vault: Vault, query: QueryRequest, moment: Moment) -> Context:
    from obsidian_mcp.core.expressions.evaluate import Context

    view = IndexedVault(moment, partial(_created_ns, vault))
    this = view.file(query.this) if query.this else None
    return Context(view, query.now, this=this, source=query.this or "")


def _dataview(vault: Vault, query: QueryRequest) -> Callable[[Moment], QueryAnswer]:
    from obsidian_mcp.core.dataview.query import read_query  # loaded when it is needed
    from obsidian_mcp.core.dataview.query import run_query as run_dql
    from obsidian_mcp.core.files.bookmarks import bookmarked_files
    from obsidian_mcp.core.graph.indexed_notes import IndexedNotes

    settings, this = _dataview_settings(vault), query.this or ""
    read = read_query(query.text, query.now, settings)

    def run_dataview(moment: Moment) -> QueryAnswer:
        notes = IndexedNotes(
            moment,
            partial(_created_ns, vault),
            read_text=partial(_read_text, vault),
            bookmarks=partial(bookmarked_files, vault.files),
        )
        return run_dql(read, notes, now=query.now, this=this, settings=settings, page=query.page)

    return run_dataview


def _created_ns(vault: Vault, entry: FileEntry) -> int:
    return vault.files.created_ns(entry.disk)


def _read_text(vault: Vault, entry: FileEntry) -> str | None:
    try:
        return vault.read_text(entry).text.body
    except AppError:  # gone, or no text
        return None


def _dataview_settings(vault: Vault) -> DataviewSettings:
    return read_dataview_settings(vault.files.config(SETTINGS_FILE))


def _tasks(vault: Vault, query: QueryRequest) -> TaskPage:
    this = vault.entry_at(query.this) if query.this else None
    from .tasks import query_tasks

    return query_tasks(vault, query.text, this, query.page)


LANGUAGES: Mapping[str, LanguageReader] = {
    "base": _bases,
    "table": _table,
    "dataview": _dataview,
    "tasks": _tasks,
}
_MEANT: Mapping[str, Callable[[str], bool]] = {"base": is_base, "dataview": is_dataview}
"""Whether a text is meant in a language, sound or not; languages without such a test must be
named."""
