"""Keeps the index in step with the files, and decides alone, by `ask`, how current answers are
(INDEX-40 to 43)."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import TypeVar

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.observers import Observers
from obsidian_mcp.core.files.ports import Change
from obsidian_mcp.core.text.call import current_call, report_progress
from obsidian_mcp.core.text.vault_path import VaultPath, indexable, is_pdf
from obsidian_mcp.errors import OperationTimeout, StorageFailed

from . import facts
from .database import PATIENCE
from .freshness import CURRENT, Answer, Freshness, Progress, end_of_wait
from .index import Busy, Index, IndexBatch, Outdated, Read, Replaced, Stat, ingest
from .pdf_queue import Background, PdfQueue
from .pending_scan import PendingScan
from .rows import Rows, Stamp

FRESH_FILES = 32
"""Up to this many changed files are parsed and stored before a question is answered."""
BATCH_FILES = 512
BATCH_BYTES = 8_000_000
"""One batch is one transaction, of at most so many files and bytes: 0.2 s. Smaller ones cost more a
file."""
FIRST_FILES = 32
"""Files of the first batches of a build, so that something is there at once; the later ones are
larger."""
BATCH_GONE = 500
"""Most removed files whose rows one batch deletes."""
WRITE_WAIT_SECONDS = 0.1
"""A question waits this long for other writers; then the rows answer as they are."""
BUILD_WAIT_SECONDS = 1.5
"""A question to a server waits this long for a first build; the answer is there within 2 s."""
NEARLY_DONE = 4
"""A build that at its pace takes no more than so many times as long is waited for to its end."""
CATCH_UP_SECONDS = 5.0
"""A change of many files waits this long for the index to know them."""
ATTEMPTS = 3
"""How often a question is repeated after the index was found damaged."""

T = TypeVar("T")


class Indexer:
    """One per vault, for all threads. `entries` lists the vault's files; it, `read` and `stat` must
    not wait for a lock that is held while a question is asked."""

    def __init__(
        self,
        index: Index,
        entries: Callable[[], Iterable[FileEntry]],
        read: Read,
        stat: Stat | None = None,
    ) -> None:
        self.index = index
        self.background: Background | None = None
        """Stores what is pending beside the calls; without one, every question stores everything
        first."""
        self.pdfs = PdfQueue(self)
        self.scan = PendingScan(self)
        self.stored: Observers[None] = Observers()
        """Told, with the lock held, each time files were stored: they only set a flag or an
        event."""
        self.is_patient = False
        """Whether a question waits until nothing is pending, as where a process answers one
        question and ends."""
        self.read = read
        self._entries = entries
        self.stat = stat
        self.state = threading.Condition()
        """Held to read and change what is pending; notified of what was stored."""
        self._beginning = threading.Lock()
        self._meanwhile: dict[VaultPath, FileEntry | None] | None = None
        """What was noted while the files are compared with the index."""
        self._pending: dict[VaultPath, FileEntry] = {}
        """In the order in which they were noted."""
        self._gone: dict[VaultPath, None] = {}
        self._taken: set[VaultPath] = set()
        """Paths of batches that are being worked on."""
        self._long: dict[VaultPath, FileEntry] = {}
        self._deferred: set[VaultPath] = set()
        """Pending files that cannot be stored as they are now; a later notice or question tries
        them again."""
        self._total = 0
        self._epoch = -1
        self._unindexed: set[VaultPath] = set()
        """Files that had no rows at the beginning and have none yet: many in a first build."""

    def close(self) -> None:
        """Finish what is half done, and close the index."""
        for background in (self.pdfs.background, self.background):
            if background is not None:
                background.stop()
        self.index.close()

    # -- which files are pending
    # -------------------------------------------------------------------------------

    def begin(self) -> None:
        """Compare all files with the index, by size and time; what differs is pending from now
        on."""
        with self._beginning:
            self._begin()

    def begin_once(self) -> None:
        """`begin`, unless it was done for the present index; of threads that come together one does
        it for all."""
        if self.index.database.epoch != self._epoch:
            with self._beginning:
                if self.index.database.epoch != self._epoch:
                    self._begin()

    def _begin(self) -> None:
        with self.state:
            self._meanwhile = {}
        entries = list(self._entries())
        epoch, outdated = self._compare(entries)
        with self.state:
            self._epoch = epoch
            # Newest first: questions are mostly about what was written last.
            newest = sorted(outdated.changed, key=lambda entry: -entry.mtime_ns)
            self._pending = {entry.path: entry for entry in newest}
            self._long = {entry.path: entry for entry in entries if _is_long(entry)}
            self._gone = dict.fromkeys(outdated.gone)
            self._deferred.clear()
            self.pdfs.files = {entry.path: entry for entry in outdated.pdfs}
            for path, entry in self._meanwhile.items():
                self._note(path, entry)
            self._meanwhile = None
            self._total = len(self._pending)
            self._unindexed = set(outdated.new)
            self.wake()

    def _compare(self, entries: list[FileEntry]) -> tuple[int, Outdated]:
        for _ in range(ATTEMPTS):
            epoch = self.index.database.epoch
            with contextlib.suppress(Replaced, Busy):
                return epoch, self.index.outdated(entries)
        changed = tuple(entry for entry in entries if indexable(entry.path))
        pdfs = tuple(entry for entry in entries if is_pdf(entry.path))
        return epoch, Outdated(changed, (), frozenset(entry.path for entry in changed), pdfs)

    def note(
        self, changes: Iterable[Change], entry_of: Callable[[VaultPath], FileEntry | None]
    ) -> None:
        """Make files pending that changed, appeared or went. Before the first `begin` nothing needs
        to be noted."""
        with self.state:
            if self._epoch < 0 and self._meanwhile is None:
                return
            for change in changes:
                if indexable(change.path) or is_pdf(change.path):
                    entry = None if change.gone else entry_of(change.path)
                    self._note(change.path, entry)
                    if self._meanwhile is not None:
                        self._meanwhile[change.path] = entry
            self.wake()

    def _note(self, path: VaultPath, entry: FileEntry | None) -> None:
        self._deferred.discard(path)
        self._long.pop(path, None)
        if entry is not None and _is_long(entry):
            self._long[path] = entry
        if is_pdf(path):
            self._gone[path] = None  # what was read of it is no longer true
            self.pdfs.files.pop(path, None)
            if entry is not None:
                self.pdfs.files[path] = entry
        elif entry is None:
            self._pending.pop(path, None)
            self._unindexed.discard(path)
            self._gone[path] = None
        else:
            self._gone.pop(path, None)
            if path not in self._pending:
                self._total += 1
            self._pending[path] = entry

    def wake(self) -> None:
        """Have the background store what is pending, where that is much, and then read PDFs."""
        if self.background is not None and self._is_much():
            self.background.wake()
        elif self.pdfs.background is not None and self.pdfs.files:
            self.pdfs.background.wake()

    @property
    def is_behind(self) -> bool:
        """Whether more files are pending than a question stores by itself."""
        self.begin_once()
        with self.state:
            return self._is_much()

    def _is_much(self) -> bool:
        return len(self._pending) > FRESH_FILES or len(self._gone) > FRESH_FILES

    def _is_first(self) -> bool:
        return len(self._unindexed) > FRESH_FILES

    @property
    def gone(self) -> frozenset[VaultPath]:
        """The files that have rows of earlier contents, or are no longer there."""
        with self.state:
            return frozenset(self._gone)

    @property
    def is_first_build(self) -> bool:
        """Whether a background builds an index in which many files have no rows yet."""
        self.begin_once()
        with self.state:
            return self.background is not None and not self.is_patient and self._is_first()

    @property
    def unindexed(self) -> frozenset[VaultPath]:
        """The files that had no rows at the beginning and have none yet."""
        with self.state:
            return frozenset(self._unindexed)

    @property
    def long_files(self) -> dict[VaultPath, FileEntry]:
        """The files of which only the first `facts.BODY_LIMIT` bytes are indexed (INDEX-26)."""
        self.begin_once()
        with self.state:
            return dict(self._long)

    @property
    def cut(self) -> tuple[VaultPath, ...]:
        """The paths of `long_files`."""
        return tuple(sorted(self.long_files))

    def pending(self) -> dict[VaultPath, FileEntry]:
        """The files that the rows do not know as they are now."""
        self.begin_once()
        with self.state:
            return dict(self._pending)

    @property
    def progress(self) -> Progress:
        with self.state:
            return Progress(self._total - len(self._pending), self._total)

    # -- questions
    # ---------------------------------------------------------------------------------------------

    def ask(self, question: Callable[[Rows], T], *, of_all: bool = False) -> Answer[T]:
        """Answer a question about many files by the freshness rule; see `query`. One `of_all` would
        be untrue if it missed a file: it waits for the whole index, as an empty answer does
        (INDEX-47). Raises: OperationTimeout, and as `query`."""
        if of_all and not self._store_whole() and self._is_first():
            raise self._too_early()
        freshness = self.freshness if of_all else self.freshen()
        value = self.query(question)
        if value or not freshness.pending or of_all:
            return Answer(value, freshness, self.cut)
        return self.ask(question, of_all=True)

    def query(self, question: Callable[[Rows], T]) -> T:
        """Answer a question from one consistent view of the rows, perhaps twice; rows of files that
        are gone may still be there. Raises: StorageFailed when the index is lost again and again,
        and whatever the question raises."""
        for _ in range(ATTEMPTS):
            with contextlib.suppress(Replaced, Busy), self.index.database.reading() as connection:
                stamp = Stamp(
                    *connection.execute("SELECT identity, generation FROM state").fetchone()
                )
                return question(Rows(connection, stamp))
            self.freshen()
        raise StorageFailed("The index could not be read. Try again in a moment.")

    def freshen(self) -> Freshness:
        """Bring the rows up to date as far as a question may wait for it; what is left then
        (INDEX-40, 41)."""
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
                while (awaited := self.left_of(awaited)) and self.step(
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
        """Wait, without the vault's lock, until the rows know every file, for a change that must
        not miss a link (INDEX-43). Raises: OperationTimeout, which says how far the index is."""
        if not self._store_whole():
            raise self._too_early()

    def _store_whole(self) -> bool:
        """Wait until the rows know every file, a first build to the end of the call's time; return
        whether they do."""
        self.begin_once()
        with self.state:
            self._deferred.clear()
            self.wake()
            is_built_in_time = current_call.get().limit is not None and self._is_first()
        return (
            self._store_all(inf, inf if is_built_in_time else PATIENCE) or not self.progress.total
        )

    def _too_early(self) -> OperationTimeout:
        limit = current_call.get().limit
        return OperationTimeout(
            f"The index is being built: {self.progress}. This needs all of them; ask for it "
            "again in a while.",
            seconds=None if limit is None else limit.seconds,
        )

    def catch_up(self) -> None:
        """Wait until the rows know a change of many files that was just made, for a while
        (INDEX-44)."""
        if self.background is not None and self.is_behind:
            self.wake()
            self.wait(CATCH_UP_SECONDS, self._is_background_at_work, None)

    def _store_all(self, seconds: float, patience: float = PATIENCE) -> bool:
        """Store what is pending now in this thread too, for so long, and as the time of the call
        allows; give up where others hold the database and nothing of it is stored for `patience`
        seconds. Return whether all is stored."""
        start, end = time.monotonic(), end_of_wait(seconds)
        last, stuck = end_of_wait(seconds * NEARLY_DONE), start + patience
        with self.state:
            awaited = [*self._pending.items(), *((path, None) for path in self._gone)]
        awaited_count = fewest = len(awaited)
        while awaited := self.left_of(awaited):
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

    def left_of(
        self, files: Iterable[tuple[VaultPath, FileEntry | None]]
    ) -> list[tuple[VaultPath, FileEntry | None]]:
        """Return those of some pending (None: gone) files that can be stored and are not yet."""
        with self.state:
            return [
                (path, entry)
                for path, entry in files
                if path not in self._deferred
                and (path in self._gone if entry is None else self._pending.get(path) == entry)
            ]

    def wait(
        self, seconds: float, condition: Callable[[], bool], report: Callable[[], None] | None
    ) -> None:
        """Wait while a condition holds; at most so long, and not to the end of the call's time."""
        end = end_of_wait(seconds)
        while condition() and (seconds_left := end - time.monotonic()) > 0:
            with self.state:
                self.state.wait(min(seconds_left, 0.1))
            if report is not None:
                report()

    def _report(self) -> None:
        now = self.progress
        if now.total:
            report_progress(now.done, now.total, "Building the index")

    # -- storing
    # ----------------------------------------------------------------------------------------------

    def step(
        self,
        patience: float = PATIENCE,
        most: int = BATCH_FILES,
        among: Sequence[FileEntry] | None = None,
    ) -> int:
        """Store one batch of at most `most` files, `among` these, in this thread; return how many
        it was about, 0 for none. Others are waited for up to `patience` seconds. Raises: Busy,
        Replaced (after which everything is pending)."""
        self.begin_once()
        batch = self.take(most, among)
        if batch is None:
            return 0
        try:
            refused = self.ingest(batch, patience)
        except BaseException:
            self.release(batch)
            raise
        self.done(batch, refused)
        return len(batch.entries) + len(batch.gone)

    def ingest(self, batch: IndexBatch, patience: float = PATIENCE) -> list[FileEntry]:
        """Read, parse and store a batch in this thread; the files that were refused. Raises: Busy,
        Replaced."""
        return ingest(self.index, self.read, self.stat, batch.entries, batch.gone, patience)

    def take(
        self, most: int = BATCH_FILES, among: Sequence[FileEntry] | None = None
    ) -> IndexBatch | None:
        """The next batch, small at first (INDEX-15); None where others are at it. End it by `done`
        or `release`."""
        with self.state:
            busy = self._taken | self._deferred
            gone = (
                []
                if among is not None
                else [path for path in self._gone if path not in busy][:BATCH_GONE]
            )
            entries: list[FileEntry] = []
            size = 0
            most = min(most, max(FIRST_FILES, self._total - len(self._pending)))
            for entry in among if among is not None else self._pending.values():
                path = entry.path
                if path in busy or self._pending.get(path) != entry:
                    continue
                if entries and (
                    len(entries) == most or size + entry.size > BATCH_BYTES * most // BATCH_FILES
                ):
                    break
                entries.append(entry)
                size += min(entry.size, facts.BODY_LIMIT)
            self._taken.update(entry.path for entry in entries)
            self._taken.update(gone)
            return IndexBatch(tuple(entries), tuple(gone), self._epoch) if entries or gone else None

    def done(self, batch: IndexBatch, refused: Iterable[FileEntry] = ()) -> None:
        """A batch is stored, without the files that were refused: they are no longer as their
        entries say."""
        refused_by_path = {entry.path: entry for entry in refused}
        with self.state:
            if batch.epoch != self._epoch:  # in a database that has been replaced since
                self.release(batch)
                return
            for entry in batch.entries:
                if entry.path not in refused_by_path:
                    self._unindexed.discard(entry.path)
                if self._pending.get(entry.path) != entry:
                    continue  # noted anew meanwhile
                if entry.path in refused_by_path:
                    self._deferred.add(entry.path)
                else:
                    del self._pending[entry.path]
            for path in batch.gone:
                self._gone.pop(path, None)
            if not self._pending:
                self._total = 0
                self._unindexed.clear()
            self.wake()
            self.stored.notify(None)
        self.release(batch)

    def release(self, batch: IndexBatch, *, later: bool = False) -> None:
        """A batch was not stored. `later`: not before the next notice or question, because it
        failed."""
        with self.state:
            paths = [*(entry.path for entry in batch.entries), *batch.gone]
            self._taken.difference_update(paths)
            if later:
                self._deferred.update(paths)
            self.state.notify_all()

    def _is_background_at_work(self) -> bool:
        """Whether files are being worked on, or so many that the background works on them are
        left."""
        with self.state:
            return bool(self._taken) or (
                self._is_much() and not self._pending.keys() <= self._deferred
            )


def _is_long(entry: FileEntry) -> bool:
    return entry.size > facts.BODY_LIMIT and indexable(entry.path)
