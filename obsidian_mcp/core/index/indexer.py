"""Keeps the index in step with the files: at the start, after every change, and while questions are asked.

What the index does not know yet is `pending`. A few changed files are taken in at once; many by threads in the
background, in batches that are committed one by one, so that a build can be stopped at any moment and goes on from
there at the next start. A question never waits for the threads: what is pending it reads from the files itself.
"""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.files.ports import Change, DiskFile
from obsidian_mcp.core.text import deadline, progress
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import OperationTimeout

from . import extract
from .database import PATIENCE
from .index import Busy, Index, Outdated, Record, Replaced
from .ingest import Intake
from .pending_texts import Shelf

BATCH_FILES = 64
BATCH_BYTES = 1_000_000
"""A batch is one transaction: long enough to be cheap, short enough (0.1 s) that nobody waits for it."""
LARGE_FILES = 512
LARGE_BYTES = 4_000_000
"""The largest batch of another process. Of 512 notes each costs two thirds of what it costs of 64 to store."""
LARGE_PART = 32
"""The part of what is pending that such a batch is, so that all processes come to the end together."""
GONE_AT_ONCE = 500
AT_ONCE = 16
"""So many changed files or fewer are taken in before a question is answered, instead of in the background."""
BUILDING_FROM = 200
"""With so many files pending, answers say that the index is being built."""
IMPATIENCE = 0.3
"""Seconds that a question waits for other writers before it is answered from the files."""
BUSY_PAUSE = 0.5
"""Seconds until the next attempt when another process is writing."""
GIVE_WAY = 0.05
"""Seconds that a batch in this process waits at most for questions that run: threads that compute cost them 5 ms at
every file read."""
RECRUITED_FROM = 500
"""Pending files for which it pays to start other processes: that takes as long as 300 notes."""
LINGER = 2.0
"""Seconds until workers without work are let go: changes come in bursts."""
STALLED = 5.0
"""Seconds without progress after which whoever needs the whole index does not wait for the workers any more."""
LAST_WORD = 1.0
"""Seconds before the time limit of a call at which it says how far the index is, instead of waiting on."""
ATTEMPTS = 3
"""Times that the index is asked again after it was found damaged."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Progress:
    """Of the files that had to be read since the last moment at which nothing was pending."""

    done: int
    total: int

    def __str__(self) -> str:
        return f"{self.done:,} of {self.total:,} notes".replace(",", " ")


class Worker(Protocol):
    """Takes in batches for one thread, in this process or in another."""

    @property
    def apart(self) -> bool:
        """Whether another process does the work, so that questions in this one need not wait for it."""
        ...

    def take_in(self, here: Intake, entries: Sequence[FileEntry], gone: Sequence[VaultPath]) -> list[FileEntry]:
        """What `here.take_in` does."""
        ...

    def rest(self) -> None:
        """There is nothing to do for now: let go of what costs memory."""
        ...


class InThisProcess:
    apart = False

    def take_in(self, here: Intake, entries: Sequence[FileEntry], gone: Sequence[VaultPath]) -> list[FileEntry]:
        return here.take_in(entries, gone)

    def rest(self) -> None:
        pass


class Keeper:
    """One per vault. Every method may be called from any thread.

    `entries` lists the vault's files; `read` and `stat` are those of `Intake`. They are called in many threads, and
    must not wait for a lock that somebody holds while asking a question.
    """

    def __init__(
        self,
        index: Index,
        entries: Callable[[], Iterable[FileEntry]],
        read: Callable[[FileEntry], bytes],
        stat: Callable[[str], DiskFile | None] | None = None,
    ) -> None:
        self.index = index
        self.shelf = Shelf(lambda entry: self._pending.get(entry.path) == entry)
        self._entries = entries
        self._intake = Intake(index, read, stat)
        self._state = threading.Condition()
        self._beginning = threading.Lock()
        self._meanwhile: dict[VaultPath, FileEntry | None] | None = None
        """What was noted while the files are compared with the index."""
        self._pending: dict[VaultPath, FileEntry] = {}
        self._gone: dict[VaultPath, None] = {}
        self._taken: set[VaultPath] = set()
        """Paths of batches that are being worked on."""
        self._deferred: set[VaultPath] = set()
        """Pending files that cannot be taken in as they are now; a later notice or question tries them again."""
        self._total = 0
        self._epoch = -1
        self.revision = 0
        """Grows with everything that becomes pending or is taken in: while it is the same and nothing is pending, rows
        that have the same stamp have the same times too."""
        self._many = False
        """Whether the threads in the background have work: from more than AT_ONCE pending files down to none."""
        self._asking = 0
        self.recruit: Callable[[], Sequence[Worker]] | None = None
        """Gives workers for a large build where none were started."""
        self.is_first = True
        """Whether something is still pending that was so at the start, as in a first build."""
        self._stopping = False
        self._apart = False
        """Whether workers are other processes."""
        self._threads: list[threading.Thread] = []

    # -- what is to do -----------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Compare all files with the index, by size and time; what differs is pending from now on."""
        with self._beginning:
            self._begin()

    def begin_once(self) -> None:
        """`begin`, unless it was done for the present index; of threads that come together one does it for all."""
        if self.index.epoch != self._epoch:
            with self._beginning:
                if self.index.epoch != self._epoch:
                    self._begin()

    def _begin(self) -> None:
        with self._state:
            self._meanwhile = {}
        entries = list(self._entries())
        epoch, outdated = self._compare(entries)
        with self._state:
            self._epoch = epoch
            self.revision += 1
            self._pending = {entry.path: entry for entry in outdated.changed}
            self._gone = dict.fromkeys(outdated.gone)
            self._deferred.clear()
            self.shelf.clear()
            for path, entry in self._meanwhile.items():
                self._noted(path, entry)
            self._meanwhile = None
            self._total = len(self._pending)
            self.is_first = bool(self._pending)
            self._wake()

    def _compare(self, entries: Sequence[FileEntry]) -> tuple[int, Outdated]:
        for _ in range(ATTEMPTS):
            epoch = self.index.epoch
            with contextlib.suppress(Replaced, Busy):
                return epoch, self.index.outdated(entries)
        return epoch, Outdated(tuple(each for each in entries if extract.indexable(each.path)), ())

    def note(self, changes: Iterable[Change], entry_of: Callable[[VaultPath], FileEntry | None]) -> None:
        """Files changed, appeared or went, as the catalog tells it. Before the first `begin` it is not needed."""
        with self._state:
            if self._epoch < 0 and self._meanwhile is None:
                return
            for change in changes:
                if extract.indexable(change.path):
                    entry = None if change.gone else entry_of(change.path)
                    self._noted(change.path, entry)
                    if self._meanwhile is not None:
                        self._meanwhile[change.path] = entry
            self._wake()

    def _noted(self, path: VaultPath, entry: FileEntry | None) -> None:
        self.revision += 1
        self._deferred.discard(path)
        self.shelf.forget(path)
        if entry is None:
            self._pending.pop(path, None)
            self._gone[path] = None
        else:
            self._gone.pop(path, None)
            if path not in self._pending:
                self._total += 1
            self._pending[path] = entry

    def _wake(self) -> None:
        if len(self._pending) + len(self._gone) > AT_ONCE:
            self._many = True
            self._state.notify_all()

    def pending(self) -> tuple[dict[VaultPath, FileEntry], str | None]:
        """What the rows do not say yet, and a sentence for the answer when that is much of the vault.

        To be asked before the rows are looked at: what is taken in between then counts twice, never not at all.
        """
        self.begin_once()
        with self._state:
            pending = dict(self._pending)
            progress = self._progress()
        return pending, f"The index is being built: {progress}." if len(pending) >= BUILDING_FROM else None

    @property
    def progress(self) -> Progress:
        with self._state:
            return self._progress()

    def _progress(self) -> Progress:
        return Progress(self._total - len(self._pending), self._total)

    # -- doing it ----------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Take in what is pending if that is quickly done. To be called before a question is answered."""
        self.begin_once()
        with self._state:
            self._deferred.clear()
            few = len(self._pending) + len(self._gone) <= AT_ONCE
        if few:
            with contextlib.suppress(Busy, Replaced):
                self.step(patience=IMPATIENCE)

    def finish(self, patience: float = PATIENCE, seconds: float = math.inf) -> None:
        """Take in everything, or let the workers, and wait for the last batch; for so many seconds, about.

        What cannot be taken in now stays pending. `patience` is how many seconds to wait for other writers.
        Raises: OperationTimeout.
        """
        end = time.monotonic() + seconds
        self.begin_once()
        with self._beginning:
            if self.recruit is not None and not self._threads and len(self._pending) >= RECRUITED_FROM:
                self.start(self.recruit())
        self._wait_for_workers(end)
        with contextlib.suppress(Busy):
            for _ in range(ATTEMPTS):
                with contextlib.suppress(Replaced):
                    while time.monotonic() < end and self.step(patience=patience):
                        self._report()
                    break
        with self._state:
            while self._taken and not self._stopping and time.monotonic() < end:
                self._state.wait(0.1)
                deadline.checkpoint()

    def _wait_for_workers(self, end: float) -> None:
        """Where other processes take in what is pending, this one would only be in their way."""
        last, since = -1, time.monotonic()
        while self._apart and not self._stopping and time.monotonic() < end:
            with self._state:
                if not self._many or not (self._has_work() or self._taken):
                    return
                self._state.wait(0.1)
                done = self._total - len(self._pending)
            self._report()
            if done != last:
                last, since = done, time.monotonic()
            elif time.monotonic() - since > STALLED:
                return

    def _report(self) -> None:
        """Raises: OperationTimeout, which says how far the index is."""
        now = self.progress
        if not now.total:
            return
        limit = deadline.current.get()
        if limit is not None and limit.remaining < min(LAST_WORD, limit.seconds / 2):
            raise OperationTimeout(
                f"The index is being built: {now}. This question needs all of them; ask it again in a while.",
                seconds=limit.seconds,
            )
        progress.report(now.done, now.total, "Building the index")

    def step(self, patience: float = PATIENCE) -> int:
        """Take in one batch in this thread; how many files and rows it was about, 0 when there is nothing to do.

        `patience` is how many seconds to wait for other writers.
        Raises: Busy, Replaced (after which everything is pending).
        """
        return self._step(lambda entries, gone: self._intake.take_in(entries, gone, patience))

    def _step(
        self, take_in: Callable[[list[FileEntry], list[VaultPath]], list[FileEntry]], *, apart: bool = False
    ) -> int:
        self.begin_once()
        entries, gone = self._take(apart=apart)
        if not entries and not gone:
            return 0
        try:
            refused = take_in(entries, gone)
        except BaseException:
            self._release(entries, gone)
            raise
        self._done(entries, gone, refused)
        return len(entries) + len(gone)

    def offer(self, records: Sequence[Record]) -> None:
        """What a question had to read of pending files, so that nobody reads it again."""
        with self._state:
            records = [
                each
                for each in records
                if each.entry.path not in self._taken and self._pending.get(each.entry.path) == each.entry
            ]
            entries = [each.entry for each in records]
            self._taken.update(entry.path for entry in entries)
        try:
            refused = self.index.store(records, (), self._intake.stat, IMPATIENCE) if records else []
        except (Busy, Replaced):
            self._release(entries, ())
        except BaseException:
            self._release(entries, ())
            raise
        else:
            self._done(entries, (), refused)

    def _take(self, *, apart: bool) -> tuple[list[FileEntry], list[VaultPath]]:
        """The next batch, nobody else's until it is released."""
        part = len(self._pending) // LARGE_PART
        is_large = apart and part > BATCH_FILES
        most, most_bytes = (min(part, LARGE_FILES), LARGE_BYTES) if is_large else (BATCH_FILES, BATCH_BYTES)
        with self._state:
            gone = [path for path in self._gone if path not in self._taken][:GONE_AT_ONCE]
            entries: list[FileEntry] = []
            size = 0
            for path, entry in self._pending.items():
                if path in self._taken or path in self._deferred:
                    continue
                if entries and (len(entries) == most or size + entry.size > most_bytes):
                    break
                entries.append(entry)
                size += min(entry.size, extract.BODY_LIMIT)
            self._taken.update(entry.path for entry in entries)
            self._taken.update(gone)
            return entries, gone

    def _done(self, entries: Iterable[FileEntry], gone: Iterable[VaultPath], refused: Iterable[FileEntry]) -> None:
        with self._state:
            self.revision += 1
            for entry in refused:
                if self._pending.get(entry.path) == entry:
                    self._deferred.add(entry.path)
            for entry in entries:
                if self._pending.get(entry.path) == entry and entry.path not in self._deferred:
                    del self._pending[entry.path]
                    self.shelf.forget(entry.path)
            for path in gone:
                self._gone.pop(path, None)
            if not self._pending:
                self._total = 0
                self.is_first = False
                self._many = bool(self._gone)
        self._release(entries, gone)

    def _release(self, entries: Iterable[FileEntry], gone: Iterable[VaultPath]) -> None:
        with self._state:
            self._taken.difference_update(entry.path for entry in entries)
            self._taken.difference_update(gone)
            self._state.notify_all()

    # -- in the background -------------------------------------------------------------------------------------

    @property
    def is_asked(self) -> bool:
        """Whether a question runs."""
        return self._asking > 0

    @contextlib.contextmanager
    def asking(self) -> Iterator[None]:
        """While a question runs, the threads in the background begin no batch for a moment."""
        with self._state:
            self._asking += 1
        try:
            yield
        finally:
            with self._state:
                self._asking -= 1
                self._state.notify_all()

    def start(self, workers: Sequence[Worker] = ()) -> None:
        """Take in what is pending, now and later, in one thread for each of the workers; in one without any."""
        self._apart = any(worker.apart for worker in workers)
        for number, worker in enumerate(workers or [InThisProcess()]):
            name = f"index-{number}"
            thread = threading.Thread(target=self._run, args=(worker,), name=name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """End the threads after their present batch."""
        with self._state:
            self._stopping = True
            self._state.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _run(self, worker: Worker) -> None:
        state = self._state
        while True:
            with state:
                if not state.wait_for(lambda: self._stopping or self._has_work(), LINGER):
                    worker.rest()
                    state.wait_for(lambda: self._stopping or self._has_work())
                if self._stopping:
                    worker.rest()
                    return
                if not worker.apart:
                    state.wait_for(lambda: self._stopping or not self._asking, GIVE_WAY)
            self._try_step(worker)

    def _try_step(self, worker: Worker) -> None:
        try:
            self._step(lambda entries, gone: worker.take_in(self._intake, entries, gone), apart=worker.apart)
        except Replaced:
            pass
        except Busy:
            with self._state:
                self._state.wait_for(lambda: self._stopping, BUSY_PAUSE)
        except Exception:
            log.exception("The index was not brought up to date; it goes on with the next change.")
            with self._state:
                self._deferred.update(self._pending)

    def _has_work(self) -> bool:
        """Whether there is something that a thread in the background should take."""
        return self._many and (
            any(path not in self._taken for path in self._gone)
            or any(path not in self._taken and path not in self._deferred for path in self._pending)
        )
