"""The PDFs whose text is not in the index yet: no question waits for them (PDF-2, PDF-3)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import inf
from typing import Protocol

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.text.call import report_progress
from obsidian_mcp.core.text.vault_path import VaultPath

from .index import Index
from .row_writer import Record, Stat


class Background(Protocol):
    """Takes batches or PDFs and stores them, beside the calls (adapters/index_workers.py)."""

    def wake(self) -> None:
        """Take note that there is work. Returns at once; called with the indexer's lock held."""

    def stop(self) -> None:
        """End after the batch that is being stored.

        A PDF that is being read is read again later.
        """


class PdfBackground(Background, Protocol):
    """Takes PDFs from a `PdfQueue` (adapters/pdf_reader.py)."""

    @property
    def is_reading(self) -> bool:
        """Whether PDFs are read as they come."""

    @property
    def notice(self) -> str:
        """What becomes of PDFs that are not read yet: a sentence for people and models."""

    def begin(self) -> bool:
        """Read PDFs as they come from now on; False where nothing is there to read them."""


class NoteQueue(Protocol):
    """What a queue of PDFs uses of the indexer, whose notes come first (PDF-3)."""

    index: Index
    state: threading.Condition
    stat: Stat | None

    @property
    def is_behind(self) -> bool: ...
    @property
    def gone(self) -> frozenset[VaultPath]: ...
    def begin_once(self) -> None: ...
    def step(self) -> int: ...
    def wait(
        self, seconds: float, is_left: Callable[[], bool], report: Callable[[], None]
    ) -> object: ...


class PdfQueue:
    """The unread PDFs of an indexer, whose lock guards them."""

    def __init__(self, indexer: NoteQueue) -> None:
        self.background: PdfBackground | None = None
        self.files: dict[VaultPath, FileEntry] = {}
        self._indexer = indexer

    def unread(self) -> list[FileEntry]:
        """Return the PDFs whose text is not in the index."""
        self._indexer.begin_once()
        with self._indexer.state:
            return list(self.files.values())

    def next_pdf(self) -> FileEntry | None:
        """Return the smallest PDF to read; None while notes are pending (PDF-3).

        Raises: Busy, Replaced.
        """
        indexer = self._indexer
        while not indexer.is_behind and indexer.gone and indexer.step():
            pass  # the rows of earlier contents
        if indexer.is_behind:  # outside the lock: it may compare the files with the index
            return None
        with indexer.state:
            gone = indexer.gone
            ready = (entry for entry in self.files.values() if entry.path not in gone)
            return min(ready, key=lambda entry: entry.size, default=None)

    def store(self, entry: FileEntry, record: Record | None) -> None:
        """Store what was read of a PDF; None: another program has. Raises: Busy, Replaced."""
        indexer = self._indexer
        if record is not None:
            # if it is refused, the change will be noted
            indexer.index.store([record], stat=indexer.stat)
        with indexer.state:
            if self.files.get(entry.path) == entry:
                del self.files[entry.path]
            indexer.state.notify_all()

    def forget_read(self) -> None:
        """Take note of what other programs have read. Raises: Busy, Replaced."""
        unread = set(self._indexer.index.find_stale(list(self.files.values())))
        with self._indexer.state:
            self.files = {path: entry for path, entry in self.files.items() if entry in unread}
            self._indexer.state.notify_all()

    def complete(self, seconds: float = inf) -> bool:
        """Wait until every PDF is read; return False where nothing reads them.

        It waits for `seconds`, and as far as the call's time allows.
        """
        total = len(self.unread())
        if self.background is None or not self.background.begin():
            return not total
        background = self.background
        self._indexer.wait(
            seconds,
            lambda: bool(self.files) and background.is_reading,
            lambda: report_progress(total - len(self.files), total, "Reading PDFs"),
        )
        return True
