"""Questions to an index that follows its files: how current their answers are (INDEX-40 to 43)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from math import inf
from typing import TypeVar

from obsidian_mcp.core.files.observers import Observers
from obsidian_mcp.core.text.call import current_call, report_progress
from obsidian_mcp.errors import OperationTimeout, StorageFailed

from .database import PATIENCE, WRITE_WAIT_SECONDS, Busy, Replaced
from .early_answers import EarlyAnswers
from .file_paths import FilePaths
from .freshness import Answer, Freshness, end_of_wait
from .pending_files import (
    ATTEMPTS,
    BATCH_FILES,
    FIRST_FILES,
    FRESH_FILES,
    Awaited,
    PendingFiles,
)
from .pending_scan import PendingScan
from .rows import Rows, Stamp
from .text_cache import TextCache

BUILD_WAIT_SECONDS = 1.5
"""A question to a server waits this long for a first build; the answer is there within 2 s."""
NEARLY_DONE = 4
"""A build that at its pace takes no more than so many times as long is waited for to its end."""
CATCH_UP_SECONDS = 5.0
"""A change of many files waits this long for the index to know them."""
LONG_PATIENCE = 60.0
"""A command that builds the index waits so long for a batch on a busy machine."""
T = TypeVar("T")


class Indexer:
    """Answers questions from the rows of one vault, which it brings up to date first.

    One per vault, for all threads. Pending files are stored by the questions that need them, a few
    before each, or by the background, where there is one.
    """

    def __init__(self, pending: PendingFiles) -> None:
        self.pending = pending
        """The files that the index does not know as they are now."""
        self.index = pending.index
        self.scan = PendingScan(pending)
        self.early = EarlyAnswers(pending, self.query)
        self._text_cache = TextCache()
        self._has_stored = False
        pending.stored.add(self._note_stored)
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
        for background in (self.pending.pdfs.background, self.pending.background):
            if background is not None:
                background.stop()
        if self._has_stored and (self.pending.background is None or self.is_patient):
            with contextlib.suppress(Busy, Replaced):
                # a step for each command that stores something: nobody else does it
                self.index.merge(patience=WRITE_WAIT_SECONDS)
        self.index.close()

    def _note_stored(self, _: None) -> None:
        self._has_stored = True

    @property
    def is_first_build(self) -> bool:
        """Whether a background builds an index in which many files have no rows yet."""
        is_aside = self.pending.background is not None and not self.is_patient
        return is_aside and self.pending.is_first_build

    # -- questions
    # ---------------------------------------------------------------------------------------------

    def ask(self, question: Callable[[Rows], T], *, of_all: bool = False) -> Answer[T]:
        """Answer a question about many files by the freshness rule; see `query`.

        With `of_all` the answer would be untrue if it missed one file, such as a note that nobody
        links to: it waits for the whole index, as an empty answer does (INDEX-47). Raises:
        OperationTimeout, and as `query`.
        """
        if of_all and not self._store_whole() and self.pending.is_first_build:
            raise self._too_early()
        freshness = self.pending.freshness if of_all else self.freshen()
        value = self.query(question)
        if value or not freshness.pending or of_all:
            return Answer(value, freshness, self.pending.cut)
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
            if self.pending.background is not None:  # it counts the time until the next rest
                self.pending.background.wake()
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
        pending = self.pending
        awaited = pending.list_for_retry()
        if not awaited or not pending.is_behind:
            with contextlib.suppress(Busy, Replaced):
                # Files of many bytes take more than one batch; what changes meanwhile is the
                # background's.
                while (awaited := pending.filter_pending(awaited)) and pending.step(
                    WRITE_WAIT_SECONDS, FRESH_FILES
                ):
                    self._report()
            pending.wait(BUILD_WAIT_SECONDS, lambda: pending.is_being_stored, self._report)
        elif pending.background is None or self.is_patient:
            self._store_all(awaited, inf)
        else:
            pending.wake()  # also for files that could not be stored the last time
            self._store_all(awaited, BUILD_WAIT_SECONDS if pending.is_first_build else 0)
        return pending.freshness

    def complete(self) -> None:
        """Wait until the rows know every file, for a change that must not miss a link (INDEX-43).

        To be called without the vault's lock: the background may need it. What cannot be stored
        stays pending. Raises: OperationTimeout, which says how far the index is.
        """
        if not self._store_whole():
            raise self._too_early()
        self.store_listing()

    def store_listing(self) -> None:
        """Store the names of the files without text for the next start, once all others have rows
        (INDEX-65); where another program writes, a later start does."""
        textless = self.pending.unlisted
        if textless is not None and not self.pending.unindexed:
            self.pending.unlisted = None
            with contextlib.suppress(Replaced, Busy):
                self.index.store_listing(textless, PATIENCE)

    def _store_whole(self) -> bool:
        """Wait until the rows know every file; return whether they do.

        A first build is waited for to the end of the call's time.
        """
        awaited = self.pending.list_for_retry()
        self.pending.wake()
        is_built_in_time = current_call.get().limit is not None and self.pending.is_first_build
        patience = inf if is_built_in_time else LONG_PATIENCE if self.is_patient else PATIENCE
        return self._store_all(awaited, inf, patience) or not self.pending.progress.total

    def _too_early(self) -> OperationTimeout:
        limit = current_call.get().limit
        return OperationTimeout(
            f"The index is being built: {self.pending.progress}. This needs all of them; "
            "ask for it again in a while.",
            seconds=None if limit is None else limit.seconds,
        )

    def catch_up(self) -> None:
        """Wait a while until the rows know a change of many files that was just made (INDEX-44)."""
        pending = self.pending
        if pending.background is not None and pending.is_behind:
            pending.wake()
            pending.wait(CATCH_UP_SECONDS, lambda: pending.is_background_at_work, None)

    def _store_all(self, awaited: Awaited, seconds: float, patience: float = PATIENCE) -> bool:
        """Store pending files, in this thread too; return whether all are stored.

        It goes on for so many seconds, and as the time of the call allows; longer where it is
        nearly done at its pace. It gives up where others hold the database, and nothing of it is
        stored for `patience` seconds.
        """
        pending = self.pending
        start, end = time.monotonic(), end_of_wait(seconds)
        last, stuck = end_of_wait(seconds * NEARLY_DONE), start + patience
        most = BATCH_FILES if pending.background is None else FIRST_FILES
        awaited_count = fewest = len(awaited)
        while awaited := pending.filter_pending(awaited):
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
                stored = pending.step(WRITE_WAIT_SECONDS, most)
            except (Busy, Replaced):
                if now > stuck:
                    return False
            if not stored:
                with pending.state:
                    pending.state.wait(WRITE_WAIT_SECONDS)
            self._report()
        return True

    def _report(self) -> None:
        now = self.pending.progress
        if now.total:
            report_progress(now.done, now.total, "Building the index")
