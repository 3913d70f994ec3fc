"""The files that an index lacks: which they are, and who is storing them now (INDEX-40 to 43)."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.observers import Observers
from obsidian_mcp.core.files.ports import Change
from obsidian_mcp.core.text.vault_path import VaultPath, is_indexable, is_pdf

from . import facts
from .database import PATIENCE, Busy, Replaced
from .freshness import CURRENT, Freshness, Progress, end_of_wait
from .index import Index, Outdated
from .ingest import IndexBatch, Read, ingest
from .pdf_queue import Background, PdfQueue
from .row_writer import Stat

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
Awaited: TypeAlias = Sequence[tuple[VaultPath, FileEntry | None]]
"""Files whose storing somebody waits for; None in place of an entry: the file is gone."""
ATTEMPTS = 3
"""How often a question is repeated after the index was found damaged."""


class PendingFiles:
    """The files of a vault that its index does not know as they are now, for all threads.

    `entries` lists the vault's files; it, `read` and `stat` must not wait for a lock that is held
    while a question is asked. They are stored in batches: one is taken, stored by the thread or
    process that took it, and then done or released. Meanwhile nobody else gets its files.
    """

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
        self.stored: Observers[None] = Observers()
        """Told, with the lock held, each time files were stored: they only set a flag or an
        event."""
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
        self.unlisted: tuple[FileEntry, ...] | None = None
        """The files without text, until their names are stored (INDEX-65)."""
        self._epoch = -1
        self._unindexed: set[VaultPath] = set()
        """Files that had no rows at the beginning and have none yet: many in a first build."""

    def begin(self) -> None:
        """Compare all files with the index, by size and time; what differs is pending from now
        on."""
        with self._beginning:
            self._begin()

    def begin_once(self) -> None:
        """`begin`, unless it was done for the present index.

        Of threads that come together one does it for all.
        """
        if self.index.database.epoch != self._epoch:
            with self._beginning:
                if self.index.database.epoch != self._epoch:
                    self._begin()

    def _begin(self) -> None:
        self._entries()  # where this is the first look at the folder, all of it is news
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
            self.unlisted = outdated.textless
            self.wake()

    def _compare(self, entries: list[FileEntry]) -> tuple[int, Outdated]:
        for _ in range(ATTEMPTS):
            epoch = self.index.database.epoch
            with contextlib.suppress(Replaced, Busy):
                return epoch, self.index.find_outdated(entries)
        changed = tuple(entry for entry in entries if is_indexable(entry.path))
        pdfs = tuple(entry for entry in entries if is_pdf(entry.path))
        return epoch, Outdated(changed, (), frozenset(entry.path for entry in changed), pdfs)

    def note(
        self, changes: Iterable[Change], entry_of: Callable[[VaultPath], FileEntry | None]
    ) -> None:
        """Make files pending that changed, appeared or went.

        Before the first `begin` nothing needs to be noted: that compares all files.
        """
        with self.state:
            if self._epoch < 0 and self._meanwhile is None:
                return
            for change in changes:
                if is_indexable(change.path) or is_pdf(change.path):
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

    @property
    def is_first_build(self) -> bool:
        """Whether many files have no rows yet."""
        self.begin_once()
        with self.state:
            return self._is_first()

    @property
    def is_being_stored(self) -> bool:
        """Whether somebody is storing a batch now."""
        with self.state:
            return bool(self._taken)

    @property
    def is_background_at_work(self) -> bool:
        """Whether files are being stored, or so many can be that the background takes them."""
        with self.state:
            return bool(self._taken) or (
                self._is_much() and not self._pending.keys() <= self._deferred
            )

    @property
    def freshness(self) -> Freshness:
        """Of an answer that the rows give from now on."""
        with self.state:
            if not self._pending:
                return CURRENT
            return Freshness(len(self._pending), self.progress if self._is_first() else None)

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

    @property
    def too_large(self) -> list[VaultPath]:
        """The paths of the files that are too large to be read whole (INDEX-51).

        A change of many files leaves them as they are, and names them.
        """
        return sorted(path for path, entry in self.long_files.items() if entry.is_too_large)

    @property
    def by_path(self) -> dict[VaultPath, FileEntry]:
        """The files that the rows do not know as they are now."""
        self.begin_once()
        with self.state:
            return dict(self._pending)

    @property
    def progress(self) -> Progress:
        with self.state:
            return Progress(self._total - len(self._pending), self._total)

    def list_for_retry(self) -> Awaited:
        """Return what is pending; what could not be stored the last time is tried again."""
        self.begin_once()
        with self.state:
            self._deferred.clear()
            return [*self._pending.items(), *((path, None) for path in self._gone)]

    def filter_pending(self, files: Awaited) -> Awaited:
        """Return those of some pending files that can be stored and are not yet."""
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

    def step(
        self,
        patience: float = PATIENCE,
        most: int = BATCH_FILES,
        among: Sequence[FileEntry] | None = None,
    ) -> int:
        """Store one batch in this thread; return how many files it was about, 0 for none.

        It has at most `most` files, `among` these. Other writers are waited for up to `patience`
        seconds. Raises: Busy, Replaced (after which everything is pending).
        """
        self.begin_once()
        batch = self.take(most, among)
        if batch is None:
            return 0
        try:
            refused = self.ingest(batch, patience)
        except BaseException:
            self.release(batch)
            raise
        self.finish_batch(batch, refused)
        return len(batch.entries) + len(batch.gone)

    def ingest(self, batch: IndexBatch, patience: float = PATIENCE) -> list[FileEntry]:
        """Read, parse and store a batch in this thread; return the files that were refused.

        Raises: Busy, Replaced.
        """
        return ingest(
            self.index, self.read, self.stat, batch.entries, batch.gone, patience=patience
        )

    def take(
        self, most: int = BATCH_FILES, among: Sequence[FileEntry] | None = None
    ) -> IndexBatch | None:
        """Return the next batch, small at first (INDEX-15); None where others are at all of it.

        Whoever takes it ends it by `finish_batch` or `release`.
        """
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

    def finish_batch(self, batch: IndexBatch, refused: Iterable[FileEntry] = ()) -> None:
        """Note that a batch is stored, without the files that were refused.

        Those are no longer as their entries say.
        """
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
        """Note that a batch was not stored.

        `later`: not before the next notice or question, because it failed.
        """
        with self.state:
            paths = [*(entry.path for entry in batch.entries), *batch.gone]
            self._taken.difference_update(paths)
            if later:
                self._deferred.update(paths)
            self.state.notify_all()


def _is_long(entry: FileEntry) -> bool:
    return entry.size > facts.BODY_LIMIT and is_indexable(entry.path)
