"""What tells a vault that its files changed: a watcher, or a scan now and then (WATCH-02)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Protocol

SCAN_SECONDS = 0.5
"""From the end of a quick scan to the next one."""
SCAN_SHARE = 9
"""The pause after a scan is at least nine times as long as the scan took."""
LONGEST_SCAN_PAUSE_SECONDS = 60.0


class Dirty(Protocol):
    """Reports what may have changed on disk since the last question."""

    problem: str
    """A sentence for people about why the folder is not watched; empty where it is, or need not
    be."""

    def drain(self) -> set[str] | None:
        """Return the raw paths of files or folders that may have changed.

        None when the whole folder must be scanned.
        """

    def scan_due(self) -> float | None:
        """Return the seconds until a scan beside the calls is due; at 0.0 the scan counts as begun.

        None where it is the calls that scan.
        """

    def note_scan(self) -> None:
        """Take note that a scan has ended."""

    def note_missed(self, paths: Collection[str]) -> None:
        """Take note of changes that a scan beside the calls has found, and that nobody reported."""


class Scanning:
    """`Dirty` without a watcher: a scan finds what changed.

    The next scan is due `interval` seconds after the end of the last one, and later where scans
    take long, as on a network drive: at most a tenth of the time is spent on scanning, and no scan
    waits longer than a minute (WATCH-02).
    """

    def __init__(
        self, interval: float = SCAN_SECONDS, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.problem = ""
        self._interval = interval
        self._clock = clock
        self._due = float("-inf")
        self._begun: float | None = None
        """When the scan that `drain` has called for began; None where none is under way."""

    def drain(self) -> set[str] | None:
        now = self._clock()
        if now < self._due:
            return set()
        self._begun, self._due = now, now + self._interval
        return None

    def scan_due(self) -> None:
        return None

    def note_missed(self, paths: Collection[str]) -> None:
        """Nothing is reported, so nothing is missed."""

    @property
    def pause(self) -> float:
        """Seconds until the next scan is due."""
        return max(0.0, self._due - self._clock())

    def note_scan(self) -> None:
        end = self._clock()
        cost = 0.0 if self._begun is None else end - self._begun
        self._begun = None
        self._due = end + max(self._interval, min(cost * SCAN_SHARE, LONGEST_SCAN_PAUSE_SECONDS))
