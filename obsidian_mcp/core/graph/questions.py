"""What all questions to the index of one vault share: how they are asked, and of which files.

An answer says how current it is. What is stored of files that are gone, or that the user hides, is
left out here and nowhere else.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import wraps
from typing import Concatenate, ParamSpec, Self, TypeVar

from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.checked_files import CheckedFiles
from obsidian_mcp.core.index.facts import Facts
from obsidian_mcp.core.index.freshness import CURRENT, Answer
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.rows import FileNumbers, Rows
from obsidian_mcp.core.text.vault_path import VaultPath, is_note
from obsidian_mcp.errors import AppError, NoteNotFound, OperationTimeout

from .kept_answers import KeptAnswers

T = TypeVar("T")
P = ParamSpec("P")
Q = TypeVar("Q", bound="Questions")


def ask_indexer(
    question: Callable[Concatenate[Q, Rows, P], T], *, of_all: bool = False, is_early: bool = True
) -> Callable[Concatenate[Q, P], Answer[T]]:
    """Make a question to the rows a method that answers it; see `Indexer.ask`.

    With `is_early` it is answered before the folder was looked at, too (INDEX-64).
    """

    @wraps(question)
    def ask(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> Answer[T]:
        if is_early:
            early_answer = self._indexer.early.ask(
                lambda rows, files: question(self.replace_files(files), rows, *args, **kwargs)
            )
            if early_answer is not None:
                return early_answer
        return self._indexer.ask(lambda rows: question(self, rows, *args, **kwargs), of_all=of_all)

    return ask


def ask_whole_index(
    question: Callable[Concatenate[Q, Rows, P], T],
) -> Callable[Concatenate[Q, P], Answer[T]]:
    """As `ask_indexer`, for a question whose answer is untrue while a file is not indexed.

    It waits until all are (INDEX-47).
    """
    return ask_indexer(question, of_all=True, is_early=False)


def ask_built_index(
    question: Callable[Concatenate[Q, Rows, P], T],
) -> Callable[Concatenate[Q, P], Answer[T]]:
    """As `ask_whole_index`, for a question that an index which was whole once may answer early."""
    return ask_indexer(question, of_all=True)


class Questions:
    """Answers questions about one vault, for all threads.

    `hides` returns, for one question, the test for files that the user hides (semantics 8.3).
    """

    def __init__(
        self,
        indexer: Indexer,
        files: FileNumbers,
        hides: Callable[[], Callable[[str], bool]] = lambda: lambda _: False,
        inline_fields: Callable[[], bool] = lambda: False,
        read: Callable[[FileEntry], bytes] | None = None,
    ) -> None:
        """`inline_fields` says whether the inline fields of Dataview are properties; `read` reads a
        file whole, as the indexer does not."""
        self._indexer = indexer
        self._files: FileNumbers | CheckedFiles = files
        self._catalog: Catalog = files.catalog
        self._hides = hides
        self._inline_fields = inline_fields
        self._read = read or indexer.pending.read
        self._kept = KeptAnswers()
        indexer.resting.add(lambda _: self._kept.forget())

    def replace_files(self, files: CheckedFiles) -> Self:
        """Return the same questions about other files."""
        questions = copy.copy(self)
        questions._files, questions._catalog = files, files.catalog  # noqa: SLF001  of the copy
        questions._kept = KeptAnswers()  # noqa: SLF001
        return questions

    def facts(self, path: VaultPath) -> Answer[Facts | None]:
        """Return everything that is known of one file; None for no note or canvas.

        A pending one is parsed now (INDEX-20).
        """
        entry = self._indexer.pending.by_path.get(path)
        cut = (path,) if path in self._indexer.pending.long_files else ()
        if entry is not None:
            return Answer(self._parse_file(entry), CURRENT, cut)
        return Answer(self._indexer.query(lambda rows: rows.facts(path)), CURRENT, cut)

    def _parse_file(self, entry: FileEntry) -> Facts | None:
        from obsidian_mcp.core.index import extract

        try:
            return extract.read_facts(entry.path, self._indexer.pending.read(entry), entry.size)
        except NoteNotFound:
            return None
        except OperationTimeout:
            raise
        except AppError as error:
            return extract.unreadable_facts(error)

    def _keep_existing(
        self, located: Iterable[tuple[VaultPath, T]]
    ) -> Iterator[tuple[VaultPath, T]]:
        """Leave out what is stored of files that are gone."""
        if isinstance(located, list):
            self._catalog.read_ahead({path for path, _ in located})
        return ((path, fact) for path, fact in located if path in self._catalog)

    def _keep_visible(
        self, located: Iterable[tuple[VaultPath, T]]
    ) -> Iterator[tuple[VaultPath, T]]:
        """Yield what is stored of files that exist and are not hidden."""
        hidden = self._hides()
        return ((path, fact) for path, fact in self._keep_existing(located) if not hidden(path))

    def _invisible_files(self, rows: Rows, *, notes_only: bool = False) -> Collection[int]:
        """Return the numbers of files with rows that do not count: mostly there are none.

        They are gone or hidden, or with `notes_only` no notes.
        """
        hidden, gone = self._hides(), self._files.numbered_files(rows).gone
        odd = rows.file_paths.read_odd() if notes_only else {}
        invisible = {*gone, *(number for number, path in odd.items() if not is_note(path))}
        if bool(hidden):  # else nothing is, and no path needs to be read
            paths = rows.file_paths.read_all()
            invisible.update(number for number, path in paths if hidden(path))
        return invisible

    def _state(self, rows: Rows) -> object:
        """Return what an answer from these rows depends on: a value that equals it while nothing
        has changed."""
        return rows.stamp, self._catalog.generation, self._hides()
