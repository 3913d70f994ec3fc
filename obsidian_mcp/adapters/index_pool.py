"""The processes that store many files in a vault's index (INDEX-29)."""

from __future__ import annotations

import gc
import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.index.database import Replaced
from obsidian_mcp.core.index.facts import BODY_LIMIT
from obsidian_mcp.core.index.index import Index
from obsidian_mcp.core.index.ingest import IndexBatch, ingest

from .disk import Disk
from .index_database import open_index
from .pool_process import begin_worker

PROCESSES: Final = 2
"""One parses while the other writes: SQLite has one writer at a time."""
COLLECT_OBJECTS: Final = 100_000
"""Objects between two collections in a worker: notes make no cycles."""


class WorkerPool(ProcessPoolExecutor):
    """A pool whose processes store batches."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        # a worker imports nothing from the folder it is started in
        os.environ.setdefault("PYTHONSAFEPATH", "1")
        spawn = get_context("spawn")
        self._workers_end, self._own_end = spawn.Pipe(duplex=False)
        super().__init__(PROCESSES, spawn, begin_worker, (self._workers_end,))

    def end(self) -> None:
        """End the processes without waiting.

        Python 3.11 would wait for ever, at its own end, for a process that it started while another
        one died.
        """
        self.shutdown(wait=False, cancel_futures=True)
        self._own_end.close()


_opened: dict[Path, Index] = {}
"""In a worker: the index it writes to."""


@cache
def _lower_priority(niceness: int) -> None:
    """Lower the priority of this process, once."""
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)


def store(root: Path, file: Path, batch: IndexBatch, niceness: int) -> list[FileEntry]:
    """Store a batch of the vault at `root` in a worker process; return the files left out.

    The process has this `niceness` from then on. Raises: Busy; Replaced, also if the index had to
    be moved to another file.
    """
    _lower_priority(niceness)
    if file not in _opened:
        gc.freeze()
        gc.set_threshold(COLLECT_OBJECTS)
        _opened[file] = open_index(file)
    index, disk = _opened[file], Disk(root)
    if index.database.file != file:
        raise Replaced
    return ingest(
        index, lambda entry: disk.head(entry.disk, BODY_LIMIT), disk.stat, batch.entries, batch.gone
    )
