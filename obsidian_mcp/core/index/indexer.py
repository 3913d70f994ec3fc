"""Keeps the index in step with the files, and decides how current answers are (INDEX-40 to 43)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from math import inf
from typing import TypeVar

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.observers import Observers
from obsidian_mcp.core.text.call import current_call, report_progress
from obsidian_mcp.errors import OperationTimeout, StorageFailed

from .database import PATIENCE, Busy, Replaced
from .file_paths import FilePaths
from .freshness import CURRENT, Answer, Freshness, end_of_wait
from .index import Index
from .ingest import Read
from .pending_files import ATTEMPTS, BATCH_FILES, FIRST_FILES, FRESH_FILES, PendingFiles
from .pending_scan import PendingScan
from .row_writer import Stat
from .rows import Rows, Stamp
from .text_cache import TextCache

WRITE_WAIT_SECONDS = 0.1
"""A question waits this long for other writers; then the rows answer as they are."""
BUILD_WAIT_SECONDS = 1.5
"""A question to a server waits this long for a first build; the answer is there within 2 s."""
NEARLY_DONE = 4
"""A build that at its pace takes no more than so many times as long is waited for to its end."""
CATCH_UP_SECONDS = 5.0
"""A change of many files waits this long for the index to know them."""
LONG_PATIENCE = 60.0
"""A command that builds the index waits so long for a batch on a busy machine."""
T = TypeVar("T")


class Indexer(PendingFiles):
    """Stores the pending files of one vault and answers questions from the rows, for all threads.

    One per vault. Files are stored by the questions that need them, a few before each, or by the
    background, where there is one.
    """

    def __init__(
        self,
        index: Index,
        entries: Callable[[], Iterable[FileEntry]],
        read: Read,
        stat: Stat | None = None,
    ) -> None:
        super().__init__(index, entries, read, stat)
        self.scan = PendingScan(self)
        self._text_cache = TextCache()
        self._has_stored = False
        self.stored.add(self._note_stored)
        self.resting: Observers[None] = Observers()
        """Told when nobody has asked for a while: they give back what they keep in memory."""
        self.is_at_rest = False
        self.last_question = time.monotonic()
        """When the rows were last asked for something."""
        self.is_patient = False
        """Whether a question waits until nothing is pending, as where a process answers one
        question and ends."""

    def close(self) -> None:
        """Finish what is half done, and close the index."""
        for background in (self.pdfs.background, self.background):
            if background is not None:
                background.stop()
        if self._has_stored and (self.background is None or self.is_patient):
            with contextlib.suppress(Busy, Replaced):
                # a step for each command that stores something: nobody else does it
                self.index.merge(patience=WRITE_WAIT_SECONDS)
        self.index.close()

    def _note_stored(self, _: None) -> None:
        self._has_stored = True

    @property
    def is_first_build(self) -> bool:
        """Whether a background builds an index in which many files have no rows yet."""
        self.begin_once()
        with self.state:
            return self.background is not None and not self.is_patient and self._is_first()

    # -- questions
    # ---------------------------------------------------------------------------------------------

    def ask(self, question: Callable[[Rows], T], *, of_all: bool = False) -> Answer[T]:
        """Answer a question about many files by the freshness rule; see `query`.

        With `of_all` the answer would be untrue if it missed one file, such as a note that nobody
        links to: it waits for the whole index, as an empty answer does (INDEX-47). Raises:
        OperationTimeout, and as `query`.
        """
        if of_all and not self._store_whole() and self._is_first():
            raise self._too_early()
        freshness = self.freshness if of_all else self.freshen()
        value = self.query(question)
        if value or not freshness.pending or of_all:
            return Answer(value, freshness, self.cut)
        return self.ask(question, of_all=True)

    def query(self, question: Callable[[Rows], T]) -> T:
        """Answer a question from one consistent view of the rows as they are.

        Rows of files that are gone may still be there: a question looks at the catalog as well. It
        may be asked again. Raises: StorageFailed when the index is lost again and again, and
        whatever the question raises.
        """
        self.last_question = time.monotonic()
        if self.is_at_rest:
            self.is_at_rest = False
            if self.background is not None:  # it counts the time until the next rest
                self.background.wake()
        for _ in range(ATTEMPTS):
            with (
                contextlib.suppress(Replaced, Busy),
                self.index.database.read_transaction() as connection,
            ):
                stamp = Stamp(
                    *connection.execute("SELECT identity, generation FROM state").fetchone()
                )
                return question(Rows(connection, stamp, self._text_cache))
            self.freshen()
        raise StorageFailed("The index could not be read. Try again in a moment.")

    def ask_files(self, question: Callable[[FilePaths], T]) -> T:
        """Answer a question about the numbers and paths of the files with rows, as `query`."""
        return self.query(lambda rows: question(rows.file_paths))

    def go_to_rest(self) -> None:
        """Give back the memory that only makes the next question quicker (INDEX-58)."""
        self.is_at_rest = True
        self.resting.notify(None)
        self._text_cache.forget()
        self.index.database.release_memory()

    def freshen(self) -> Freshness:
        """Bring the rows up to date as far as a question may wait for it (INDEX-40, 41).

        Return what they do not know then. Few pending files are stored first; many are left to the
        background, where there is one.
        """
        self.begin_once()
        with self.state:
            self._deferred.clear()
            is_little, is_first = not self._is_much(), self._is_first()
            awaited = (
                [*self._pending.items(), *((path, None) for path in self._gone)]
                if is_little
                else []
            )
        if is_little:
            with contextlib.suppress(Busy, Replaced):
                # Files of many bytes take more than one batch; what changes meanwhile is the
                # background's.
                while (awaited := self.filter_pending(awaited)) and self.step(
                    WRITE_WAIT_SECONDS, FRESH_FILES
                ):
                    self._report()
            self.wait(BUILD_WAIT_SECONDS, lambda: bool(self._taken), self._report)
        elif self.background is None or self.is_patient:
            self._store_all(inf)
        else:
            self.wake()  # also for files that could not be stored the last time
            self._store_all(BUILD_WAIT_SECONDS if is_first else 0)
        return self.freshness

    @property
    def freshness(self) -> Freshness:
        """Of an answer that the rows give from now on."""
        with self.state:
            if not self._pending:
                return CURRENT
            return Freshness(len(self._pending), self.progress if self._is_first() else None)

    def complete(self) -> None:
        """Wait until the rows know every file, for a change that must not miss a link (INDEX-43).

        To be called without the vault's lock: the background may need it. What cannot be stored
        stays pending. Raises: OperationTimeout, which says how far the index is.
        """
        if not self._store_whole():
            raise self._too_early()

    def _store_whole(self) -> bool:
        """Wait until the rows know every file; return whether they do.

        A first build is waited for to the end of the call's time.
        """
        self.begin_once()
        with self.state:
            self._deferred.clear()
            self.wake()
            is_built_in_time = current_call.get().limit is not None and self._is_first()
        patience = inf if is_built_in_time else LONG_PATIENCE if self.is_patient else PATIENCE
        return self._store_all(inf, patience) or not self.progress.total

    def _too_early(self) -> OperationTimeout:
        limit = current_call.get().limit
        return OperationTimeout(
            f"The index is being built: {self.progress}. This needs all of them; ask for it "
            "again in a while.",
            seconds=None if limit is None else limit.seconds,
        )

    def catch_up(self) -> None:
        """Wait a while until the rows know a change of many files that was just made (INDEX-44)."""
        if self.background is not None and self.is_behind:
            self.wake()
            self.wait(CATCH_UP_SECONDS, self._is_background_at_work, None)

    def _store_all(self, seconds: float, patience: float = PATIENCE) -> bool:
        """Store what is pending now, in this thread too; return whether all is stored.

        It goes on for so many seconds, and as the time of the call allows; longer where it is
        nearly done at its pace. It gives up where others hold the database, and nothing of it is
        stored for `patience` seconds.
        """
        start, end = time.monotonic(), end_of_wait(seconds)
        last, stuck = end_of_wait(seconds * NEARLY_DONE), start + patience
        with self.state:
            awaited = [*self._pending.items(), *((path, None) for path in self._gone)]
        awaited_count = fewest = len(awaited)
        while awaited := self.filter_pending(awaited):
            now = time.monotonic()
            if len(awaited) < fewest:
                fewest, stuck = len(awaited), now + patience
            is_nearly_done = now < last and (now - start) * awaited_count <= (last - start) * (
                awaited_count - len(awaited)
            )
            if now >= end and not is_nearly_done:
                return False
            stored = 0
            try:
                stored = self.step(
                    WRITE_WAIT_SECONDS, BATCH_FILES if self.background is None else FIRST_FILES
                )
            except (Busy, Replaced):
                if now > stuck:
                    return False
            if not stored:
                with self.state:
                    self.state.wait(WRITE_WAIT_SECONDS)
            self._report()
        return True

    def _report(self) -> None:
        now = self.progress
        if now.total:
            report_progress(now.done, now.total, "Building the index")

    def _is_background_at_work(self) -> bool:
        """Whether files are being worked on, or so many are left that the background takes them."""
        with self.state:
            return bool(self._taken) or (
                self._is_much() and not self._pending.keys() <= self._deferred
            )
