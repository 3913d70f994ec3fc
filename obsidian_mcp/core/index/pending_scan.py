"""A search's look at the files that are not indexed yet (INDEX-46)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.errors import AppError

from .database import Busy, Replaced
from .freshness import CURRENT, Freshness, end_of_wait
from .pending_files import Awaited, PendingFiles

SCAN_SECONDS = 1.0
"""A search reads files that are not indexed for so long, and stores matches for half as long
again."""
SCAN_STORED = 256
"""At most so many files are stored for one search."""
SCAN_BATCH_FILES = 32
STORE_WAIT_SECONDS = 0.1
"""How long one batch waits for another program or thread that stores files."""

Weigh = Callable[[FileEntry, bytes], float]
"""Returns the share of a query that the bytes of a file hold, 0 to 1. Raises: AppError."""


class PendingScan:
    """The scans of the pending files of one vault, by any number of threads."""

    def __init__(self, pending: PendingFiles) -> None:
        self._pending = pending
        self._running = 0
        """Searches that read pending files now; guarded by the lock of the files."""

    def store_matches(self, weigh: Weigh) -> Freshness:
        """Read the pending files, newest first, and store those with all, else with most, of a
        query.

        A file that another program writes meanwhile is pending again, with another entry, and what
        was seen of its earlier contents says nothing about it. It is looked at again while there is
        time. So the rows are said to be current only where every file that is pending at the end
        was looked at as it is then, and is no match.
        """
        end = end_of_wait(SCAN_SECONDS)
        weights: dict[FileEntry, float | None] = {}
        with self._block_parsing():
            while entries := self._not_in(weights):
                if not self._weigh(entries, weigh, end, weights):
                    break
        pending = self._pending.by_path.values()
        weighed = {entry: weights[entry] for entry in pending if entry in weights}
        heaviest = max((weight for weight in weighed.values() if weight is not None), default=0)
        unsure = [entry for entry, weight in weighed.items() if weight is None]
        matches = [
            entry
            for entry, weight in weighed.items()
            if weight and (weight == heaviest or heaviest < 1)
        ]
        matches.sort(key=lambda entry: -(weights[entry] or 0))
        self._store([*matches, *unsure][:SCAN_STORED], end + SCAN_SECONDS / 2)
        unmatched = weights.keys() - {*matches, *unsure}
        return (
            CURRENT
            if unmatched.issuperset(self._pending.by_path.values())
            else self._pending.freshness
        )

    def wait_until_done(self) -> None:
        """Wait, in the background, while searches read what is not indexed."""
        self._pending.wait(SCAN_SECONDS, lambda: self._running > 0, None)

    @contextlib.contextmanager
    def _block_parsing(self) -> Iterator[None]:
        """Keep other threads of this process from parsing.

        After every read, Python would let them run for 5 ms.
        """
        state = self._pending.state
        with state:
            self._running += 1
        try:
            yield
        finally:
            with state:
                self._running -= 1
                state.notify_all()

    def _not_in(self, weights: Mapping[FileEntry, float | None]) -> list[FileEntry]:
        """Return the pending files that were not looked at as they are now."""
        return [entry for entry in self._pending.by_path.values() if entry not in weights]

    def _weigh(
        self,
        entries: Iterable[FileEntry],
        weigh: Weigh,
        end: float,
        weights: dict[FileEntry, float | None],
    ) -> bool:
        """Add the weight of each file to `weights`; return False where time ended before the last
        one.

        The weight is None where the bytes do not say what the file holds: it cannot be read,
        another program is writing it at this moment, or only its beginning was read, because it is
        long. Storing the file answers that.
        """
        for entry in entries:
            if time.monotonic() > end:
                return False
            weights[entry] = None
            with contextlib.suppress(AppError):
                data = self._pending.read(entry)
                weight = weigh(entry, data)
                if weight or len(data) == entry.size:
                    weights[entry] = weight
        return True

    def _store(self, entries: Sequence[FileEntry], end: float) -> None:
        """Store files, until `end` where others hold the database or are at these files."""
        awaited: Awaited = [(entry.path, entry) for entry in entries]
        while (awaited := self._pending.filter_pending(awaited)) and time.monotonic() < end:
            stored = 0
            with contextlib.suppress(Busy, Replaced):
                stored = self._pending.step(
                    STORE_WAIT_SECONDS,
                    SCAN_BATCH_FILES,
                    [entry for _, entry in awaited if entry is not None],
                )
            if not stored:  # others are at them
                with self._pending.state:
                    self._pending.state.wait(STORE_WAIT_SECONDS)
