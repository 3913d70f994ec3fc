"""Stores what is pending in a vault's index beside the calls: a thread, and processes for many
files (INDEX-29). Where no process can be started, or one dies, the thread stores the files itself:
slower, never wrong."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from obsidian_mcp import TYPE_CHECKING, logger
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.database import Busy, Replaced
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.ingest import IndexBatch
from obsidian_mcp.errors import AppError
from obsidian_mcp.worker import Worker

from .idle_memory import give_back_memory

if TYPE_CHECKING:
    from concurrent.futures import Future

    from .index_pool import WorkerPool

POOL_FILES: Final = 100
"""Pending files from which on processes are started: a start takes as long as 300 notes, but holds
up no call."""
NICENESS: Final = 19
"""Of the workers of a server, the lowest priority there is: calls come first."""
PROMPT_SECONDS: Final = 1.0
"""The workers begin at normal priority for so long, all at once: the first call wants what they do.
Then those of a server take at most one processor."""
GATHER_SECONDS: Final = 0.02
"""From the first report of a change until the folder is looked at: changes come in bursts."""
LINGER_SECONDS: Final = 2.0
"""Without work, until processes end and the index is tidied."""
REST_SECONDS: Final = 60.0
"""Without a question, until memory is given back that only makes the next one quicker."""
RETRY_SECONDS: Final = 0.5
"""After a batch that could not be stored because another program writes, and after a look that
failed."""
STOP_SECONDS: Final = 2.0
"""How long `stop` waits for a batch that is being stored."""


class IndexWorkers:
    """The `Background` of one vault's indexer."""

    def __init__(
        self,
        indexer: Indexer,
        root: Path,
        look: Callable[[], float | None] | None = None,
        reported: threading.Event | None = None,
        *,
        first_look: Callable[[], None] | None = None,
        niceness: int = 0,
        pool_files: int = POOL_FILES,
    ) -> None:
        """`root` is the vault's folder. `look` takes note of what has changed there, each time
        `reported` was set and after as many seconds as it returns; `first_look` comes before."""
        self._indexer, self._pending = indexer, indexer.pending
        self._root = root
        self._look = look
        self._first_look = first_look
        self._niceness = niceness
        self._pool_files = pool_files
        self._pool: WorkerPool | None = None
        self._is_tidy = not niceness
        """Whether nothing was stored since the segments of the full-text index were merged."""
        self._tidy_at = 0.0
        """When they are to be merged, by the monotonic clock, if nothing more is stored."""
        self._has_journal = False
        """Whether much was written since the journal was emptied."""
        self._has_built = False
        """Whether a first build has left segments of which none was merged."""
        self._pause: float | None = None
        """Seconds until `look` is called again."""
        self._has_processes = not getattr(sys, "frozen", False)  # there the executable is no Python
        self._worker = Worker("indexer", self._work, reported)
        self._pending.stored.add(self._note_stored)

    def start(self) -> None:
        """Start the thread, and store the pending files in it from now on."""
        self._pending.background = self
        self._worker.start()
        if self._first_look is not None:
            self.wake()
        else:
            self._pending.wake()

    def wake(self) -> None:
        """Wake the thread: a change was reported, or files are pending."""
        self._worker.wake()

    def stop(self) -> None:
        """End the thread after the batch that is being stored, or after STOP_SECONDS."""
        if self._worker.stop(STOP_SECONDS):
            self._end_pool()

    def _note_stored(self, _: None) -> None:
        """See to it that the index is tidied after files were stored, by whomever."""
        self._tidy_at = time.monotonic() + LINGER_SECONDS
        if self._is_tidy:
            self._is_tidy = False
            self._worker.wake()

    def _work(self, is_woken: bool) -> float | None:
        if not is_woken and self._seconds_to_tidy == 0.0:
            self._tidy()
        elif not is_woken and self._is_tidy and self._seconds_to_rest == 0.0:
            self._indexer.go_to_rest()
            give_back_memory()
        else:
            try:
                if self._first_look is not None:
                    self._first_look()
                    self._first_look = None
                elif self._look is not None and not self._worker.wait_or_stop(GATHER_SECONDS):
                    self._pause = self._look()
                self._store_pending()
                self._indexer.store_listing()
            except AppError as error:  # the disk is gone; every call says so
                if self._worker.is_stopping:
                    return None
                logger(__name__).warning("%s", error.message)
                self._worker.retry(RETRY_SECONDS)
        if self._worker.is_stopping:
            self._end_pool()
        # A rest that is due now is a pause of 0 s: without any, it would never come.
        chore = self._seconds_to_rest if self._is_tidy else self._seconds_to_tidy
        pauses = (self._pause or None, chore)
        return min((pause for pause in pauses if pause is not None), default=None)

    @property
    def _seconds_to_tidy(self) -> float | None:
        """Seconds until the index is to be tidied; None while it is."""
        return None if self._is_tidy else max(self._tidy_at - time.monotonic(), 0.0)

    @property
    def _seconds_to_rest(self) -> float | None:
        """Seconds until memory is to be given back; None while there is nothing to give back."""
        if self._indexer.is_at_rest or not self._niceness:  # the process of a command ends soon
            return None
        idle = time.monotonic() - self._indexer.last_question
        return max(REST_SECONDS - idle, 0.0)

    def _tidy(self) -> None:
        """End the processes, and merge what many batches left in the index, until something else is
        to be done."""
        self._end_pool()
        self._is_tidy = True
        with suppress(Busy, Replaced):  # another process writes, and may merge as well
            while self._indexer.index.merge(is_whole=self._has_built):
                self._has_journal = True
                if self._worker.is_woken:
                    self._is_tidy = False
                    return
            self._has_built = False
            if self._has_journal:
                self._has_journal = False
                self._indexer.index.database.truncate_journal()

    def _store_pending(self) -> None:
        """If the indexer has many files, store all of them batch by batch, in processes if there
        are very many."""
        if not self._pending.is_behind:
            return
        self._has_journal = True
        self._has_built |= self._indexer.is_first_build
        from concurrent.futures import FIRST_COMPLETED, wait

        running: dict[Future[list[FileEntry]], IndexBatch] = {}
        try:
            while True:
                while len(running) < self._most_running and not self._worker.is_stopping:
                    batch = self._pending.take()
                    if batch is None:
                        break
                    if (future := self._submit(batch)) is not None:
                        running[future] = batch
                    else:
                        self._end(batch, partial(self._pending.ingest, batch))
                        self._indexer.scan.wait_until_done()
                if not running:
                    return
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    self._end(running.pop(future), future.result)
        finally:  # after an error: whoever waits for these files would wait for ever
            for batch in running.values():
                self._pending.release(batch)

    @property
    def _most_running(self) -> int:
        """How many batches may be with the processes at once: one more than there are, so that none
        waits; of a server one after its first second, and so one processor is busy."""
        from .index_pool import PROCESSES

        if not self._niceness or self._pool is None:
            return PROCESSES + 1
        is_prompt = time.monotonic() - self._pool.begun <= PROMPT_SECONDS
        return PROCESSES + 1 if is_prompt else 1

    def _submit(self, batch: IndexBatch) -> Future[list[FileEntry]] | None:
        """Give a batch to the processes; None where this one is to store it."""
        from .index_pool import WorkerPool, store

        file = self._indexer.index.database.file
        try:
            done, total = self._pending.progress
            # a process takes a second to start on a busy machine; the newest files are there before
            if not done:
                return None
            if self._pool is None and self._has_processes and total - done >= self._pool_files:
                self._pool = WorkerPool()
            if self._pool is not None and file is not None:
                is_prompt = time.monotonic() - self._pool.begun < PROMPT_SECONDS
                return self._pool.submit(
                    store, self._root, file, batch, 0 if is_prompt else self._niceness
                )
        # none can be made, or one died: Python has many words for that
        except Exception as error:  # noqa: BLE001
            self._do_without(error)
        return None

    def _end(self, batch: IndexBatch, stored: Callable[[], list[FileEntry]]) -> None:
        """Take note of a batch that is stored, with the files that `stored` returns, or see to it
        that it will be."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            self._pending.finish_batch(batch, stored())
        except Replaced:
            self._pending.release(batch)
            # where a worker cannot use the file, this process finds out why
            with suppress(Busy, Replaced):
                self._pending.step()
        except Busy:
            self._pending.release(batch)
            self._worker.retry(RETRY_SECONDS)
        except BrokenProcessPool as error:
            self._pending.release(batch)
            self._do_without(error)
        except Exception:
            log = logger(__name__)
            log.exception("Files were not indexed; they are tried again with the next change.")
            self._pending.release(batch, later=True)

    def _do_without(self, error: Exception) -> None:
        logger(__name__).info(
            "The worker processes of the index are gone (%r); this process goes on alone.", error
        )
        self._has_processes = False
        self._end_pool()

    def _end_pool(self) -> None:
        if self._pool is not None:
            self._pool.end()
            self._pool = None
