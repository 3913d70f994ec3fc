"""What all questions to the index of one vault share: how they are asked, and of which files.

An answer says how current it is. What is stored of files that are gone, or that the user hides, is
left out here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from obsidian_mcp.core.files.file_entry import FileEntry
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
    question: Callable[Concatenate[Q, Rows, P], T], *, of_all: bool = False
) -> Callable[Concatenate[Q, P], Answer[T]]:
    """Make a question to the rows a method that answers it; see `Indexer.ask`."""

    @wraps(question)
    def ask(self: Q, /, *args: P.args, **kwargs: P.kwargs) -> Answer[T]:
        return self._indexer.ask(lambda rows: question(self, rows, *args, **kwargs), of_all=of_all)

    return ask


def ask_whole_index(
    question: Callable[Concatenate[Q, Rows, P], T],
) -> Callable[Concatenate[Q, P], Answer[T]]:
    """As `ask_indexer`, for a question whose answer is untrue while a file is not indexed.

    It waits until all are (INDEX-47).
    """
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
        self._files = files
        self._catalog = files.catalog
        self._hides = hides
        self._inline_fields = inline_fields
        self._read = read or indexer.pending.read
        self._kept = KeptAnswers()
        indexer.resting.add(lambda _: self._kept.forget())

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
        hidden, files = self._hides(), self._files.numbered_files(rows)
        return {
            *files.gone,
            *(
                number
                for number, path in files.paths.items()
                if hidden(path) or (notes_only and not is_note(path))
            ),
        }

    def _state(self, rows: Rows) -> object:
        """Return what an answer from these rows depends on: a value that equals it while nothing
        has changed."""
        return rows.stamp, self._catalog.generation, self._hides()
