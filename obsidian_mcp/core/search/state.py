"""What searches keep in memory of one state of the index and the catalog (SEARCH-48)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import NamedTuple

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.rows import Rows, Stamp
from obsidian_mcp.core.note.validity import ValidityNames
from obsidian_mcp.core.text import analysis
from obsidian_mcp.core.text.vault_path import VaultPath, is_indexable

from . import vocabulary
from .file_table import FileCache, VisibleNumbers, VisiblePaths
from .outdated_files import OutdatedFiles, read_outdated
from .vocabulary import Vocabulary

LANGUAGE_FILES = 500
"""Of this many files one must have a word that identifies a language: a few quotations do not make
a vault's language."""


class SearchState(NamedTuple):
    """What searches share while neither the rows nor the files change."""

    stamp: Stamp | None
    generation: int
    """Of the catalog."""
    filters: IgnoreFilters | None
    file_cache: FileCache
    words: Vocabulary
    flags: dict[int, frozenset[int]]


class SearchStates:
    """Keeps the latest state of one vault, for all threads."""

    def __init__(self, indexer: Indexer, catalog: Catalog) -> None:
        self._indexer = indexer
        self._catalog = catalog
        self._lock = threading.Lock()
        self._state = SearchState(None, -1, None, FileCache(), Vocabulary(), {})
        self._words_of_languages = self._state.words
        """The vocabulary in which the languages were looked for."""
        self._outdated: tuple[SearchState, OutdatedFiles] | None = None
        self.languages: tuple[str, ...] = analysis.DEFAULT_LANGUAGES
        """Those of the vault, as far as they were looked for."""

    def forget(self) -> None:
        """Give back the memory of the state: the next search makes it anew."""
        with self._lock:
            self._state = SearchState(None, -1, None, FileCache(), Vocabulary(), {})
            self._outdated = None

    def current(self, rows: Rows, filters: IgnoreFilters) -> SearchState:
        """Return the state of these rows and the catalog; what is kept of the files is read anew
        only when some came or went."""
        generation = self._catalog.generation
        with self._lock:
            last = self._state
            if (last.stamp, last.generation, last.filters) == (rows.stamp, generation, filters):
                return last
            is_same_index = last.stamp is not None and last.stamp.identity == rows.stamp.identity
            words = last.words if is_same_index else Vocabulary()
            words = vocabulary.extend_vocabulary(words, rows.full_text)
            file_cache = self._make_cache(rows, generation, filters)
            self._state = SearchState(rows.stamp, generation, filters, file_cache, words, {})
            return self._state

    def _make_cache(self, rows: Rows, generation: int, filters: IgnoreFilters) -> FileCache:
        """Return what is kept of the files with these rows, which are as before where none came or
        went."""
        last = self._state
        row_count = rows.file_paths.count_files()
        is_comparable = (
            last.stamp is not None
            and last.stamp.identity == rows.stamp.identity
            and last.filters is filters
        )
        changed: dict[int, VaultPath] = {}
        before: frozenset[int] = frozenset()
        if is_comparable and last.stamp is not None:
            changed, before = rows.changed_since(last.stamp.generation), last.file_cache.excluded
            if (
                last.generation == generation
                and last.file_cache.row_count == row_count
                and last.file_cache.agrees_with(changed)
            ):
                return last.file_cache
        is_hidden = filters or None
        excluded = self._find_gone(rows, changed, before)
        if is_hidden is not None:
            changed = changed if is_comparable else dict(rows.file_paths.read_all())
            excluded |= {number for number, path in changed.items() if is_hidden(path)}
        unread = list(self._indexer.pending.pdfs.files)
        has_unread_pdfs = any(is_hidden is None or not is_hidden(path) for path in unread)
        list_others = partial(_list_others, self._catalog, is_hidden)
        odd = {
            number: path
            for number, path in rows.file_paths.read_odd().items()
            if number not in excluded
        }
        return FileCache(
            row_count, frozenset(excluded), is_hidden, odd, has_unread_pdfs, list_others
        )

    def _find_gone(
        self, rows: Rows, changed: Mapping[int, VaultPath], before: AbstractSet[int]
    ) -> set[int]:
        """Return the files that have rows and are not in the vault: those whose rows are to be
        deleted, and what other programs have stored and this one does not see (yet). Hidden ones
        that were excluded `before` stay so."""
        catalog, filters = self._catalog, self._state.filters
        numbers = rows.file_paths.find_numbers(
            [path for path in self._indexer.pending.gone if path not in catalog]
        )
        gone = set(numbers.values())
        paths = {**rows.file_paths.read_paths(before), **changed}
        for number, path in paths.items():
            if path not in catalog or (filters and number in before and filters(path)):
                gone.add(number)
        return gone

    def find_outdated(
        self, state: SearchState, rows: Rows, names: ValidityNames, today: str
    ) -> OutdatedFiles:
        """Return what is outdated in a state on a day, read anew when either changes (MEM-01)."""
        with self._lock:
            if self._outdated is not None:
                last_state, outdated = self._outdated
                if last_state is state and (outdated.names, outdated.today) == (names, today):
                    return outdated if outdated.is_empty else outdated.read_with(rows.text)
            ask = self._indexer.ask_files
            visible = VisiblePaths(ask, state.file_cache), VisibleNumbers(ask, state.file_cache)
            outdated = read_outdated(rows, self._catalog, visible, names, today)
            self._outdated = state, outdated
            return outdated

    def find_languages(self, state: SearchState, rows: Rows) -> tuple[str, ...]:
        """Return the languages of the vault, looked for anew when it has new words."""
        with self._lock:
            if self._words_of_languages is not state.words:
                least = 1 + state.file_cache.row_count // LANGUAGE_FILES
                count_common = partial(rows.full_text.count_common, least)
                self.languages = analysis.languages(count_common)
                self._words_of_languages = state.words
            return self.languages


def _list_others(
    catalog: Catalog, is_hidden: Callable[[str], bool] | None, read_pdfs: AbstractSet[VaultPath]
) -> tuple[FileEntry, ...]:
    """Return the visible files without text and the PDFs that are not read, by path."""
    textless = [
        entry
        for entry in catalog
        if not is_indexable(entry.path)
        and entry.path not in read_pdfs
        and not (is_hidden is not None and is_hidden(entry.path))
    ]
    return tuple(sorted(textless, key=lambda entry: entry.path))
