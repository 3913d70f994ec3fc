"""What searches keep in memory of one state of the index and the catalog (SEARCH-48)."""

from __future__ import annotations

import threading
from functools import partial
from typing import NamedTuple

from obsidian_mcp.core.files.settings import IgnoreFilters
from obsidian_mcp.core.index.rows import FileNumbers, NumberedFiles, Rows, Stamp
from obsidian_mcp.core.note.validity import ValidityNames
from obsidian_mcp.core.text import analysis

from . import vocabulary
from .outdated_files import OutdatedFiles, read_outdated
from .snapshot import FileTable, table_of
from .vocabulary import Vocabulary

LANGUAGE_FILES = 500
"""Of this many files one must have a word that identifies a language: a few quotations do not make
a vault's language."""


class SearchState(NamedTuple):
    """What searches share while neither the rows nor the files change."""

    stamp: Stamp | None
    generation: int
    """Of the catalog."""
    files: NumberedFiles
    filters: IgnoreFilters | None
    table: FileTable
    words: Vocabulary
    flags: dict[int, frozenset[int]]


class SearchStates:
    """Keeps the latest state of one vault, for all threads."""

    def __init__(self, files: FileNumbers) -> None:
        self._files = files
        self._catalog = files.catalog
        self._lock = threading.Lock()
        nothing = NumberedFiles({}, {})
        table = table_of(nothing, {}, None)
        self._state = SearchState(None, -1, nothing, None, table, Vocabulary(), {})
        self._words_of_languages = self._state.words
        """The vocabulary in which the languages were looked for."""
        self._outdated: tuple[SearchState, OutdatedFiles] | None = None
        self.languages: tuple[str, ...] = analysis.DEFAULT_LANGUAGES
        """Those of the vault, as far as they were looked for."""

    def forget(self) -> None:
        """Give back the memory of the state: the next search makes it anew."""
        with self._lock:
            table = table_of(NumberedFiles({}, {}), {}, None)
            self._state = SearchState(
                None, -1, NumberedFiles({}, {}), None, table, Vocabulary(), {}
            )

    def current(self, rows: Rows, filters: IgnoreFilters) -> SearchState:
        """Return the state of these rows and the catalog; the file table is built anew only when
        files came or went."""
        generation = self._catalog.generation
        with self._lock:
            last = self._state
            if (last.stamp, last.generation, last.filters) == (rows.stamp, generation, filters):
                return last
            files = self._files.numbered_files(rows)
            table = last.table
            if last.files is not files or last.filters is not filters:
                table = table_of(
                    files, self._catalog.entries_by_path(), filters.match if filters else None
                )
            is_same_index = last.stamp is not None and last.stamp.identity == rows.stamp.identity
            words = last.words if is_same_index else Vocabulary()
            words = vocabulary.extend_vocabulary(words, rows.full_text)
            self._state = SearchState(rows.stamp, generation, files, filters, table, words, {})
            return self._state

    def find_outdated(
        self, state: SearchState, rows: Rows, names: ValidityNames, today: str
    ) -> OutdatedFiles:
        """Return what is outdated in a state on a day, read anew when either changes (MEM-01)."""
        with self._lock:
            if self._outdated is not None:
                last_state, outdated = self._outdated
                if last_state is state and (outdated.names, outdated.today) == (names, today):
                    return outdated
            visible = state.table.paths, state.table.numbers
            outdated = read_outdated(rows, self._catalog, visible, names, today)
            self._outdated = state, outdated
            return outdated

    def find_languages(self, state: SearchState, rows: Rows) -> tuple[str, ...]:
        """Return the languages of the vault, looked for anew when it has new words."""
        with self._lock:
            if self._words_of_languages is not state.words:
                least = 1 + state.table.row_count // LANGUAGE_FILES
                count_common = partial(rows.full_text.count_common, least)
                self.languages = analysis.languages(count_common)
                self._words_of_languages = state.words
            return self.languages
