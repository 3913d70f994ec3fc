"""What other programs change in a vault's folder: watchdog, or scans where it cannot be trusted (specs/watching.md).

The core asks (`drain`) instead of being called: an answer is never older than the events that the system has reported
when the question comes. Between two questions `core/vault/sync_worker.py` asks.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from obsidian_mcp.core.vault.sync_tree import Scanning

from .inotify import lighten

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

log = logging.getLogger(__name__)

MOST_PENDING = 20_000
"""More changed paths than this are not kept apart: one scan is cheaper."""

SAFETY_NET = 600.0
"""Seconds after which the next question looks through the whole folder although events came: no system promises all."""

REMOTE = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "vboxsf", "fuse.sshfs", "fuse.rclone", "drvfs", "afs", "ceph"}
"""File systems whose other clients' changes the kernel does not report."""


class Watcher:
    """`Dirty` for one folder. Until watchdog has started, and wherever it cannot, scans tell what changed."""

    def __init__(
        self, root: Path, clock: Callable[[], float] = time.monotonic, news: threading.Event | None = None
    ) -> None:
        """`news` is set with every report, for somebody who waits for the changes of several folders."""
        self.root = str(root)
        self._news = news or threading.Event()
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._overflow = False
        self._live = False
        self._blind = False
        """What changed before the system began to report, or began again, has yet to be found, by a scan."""
        self._observer: BaseObserver | None = None
        self._threads: tuple[threading.Thread, ...] = ()
        """Those that bring the events: when one has died, nothing is reported any more."""
        self._stopped = False
        self.is_asked: Callable[[], bool] = lambda: False
        """Whether a question runs: a flood of events waits for its end, for a moment."""
        self._scanning = Scanning(clock=clock)
        self._net = Scanning(SAFETY_NET, clock)
        self.changed = threading.Event()
        """Set when something was reported that nobody has asked for yet."""

    @property
    def mode(self) -> str:
        """`events` or `scans`."""
        return "events" if self._live and all(thread.is_alive() for thread in self._threads) else "scans"

    def start(self) -> None:
        """Begin to watch, in a thread of its own: a large folder takes a while. Scans serve until then."""
        threading.Thread(target=self._start, name="watcher-start", daemon=True).start()

    def _start(self) -> None:
        kind = filesystem_of(self.root)
        if kind in REMOTE:
            log.info("watching %s by scans: changes on %s are not reported", self.root, kind)
            return
        try:
            from watchdog.events import FileSystemEventHandler
            from watchdog.observers import Observer

            observer, kinds = Observer(), _changes()
            observer.schedule(FileSystemEventHandler(), self.root, recursive=True, event_filter=kinds)
            for emitter in observer.emitters:
                # Past the queue and the thread of the observer: a third of what an event costs.
                emitter.queue_event = partial(self._told, tuple(kinds))  # type: ignore[method-assign]
            lighten(observer, self._report, self._has_question)
            observer.daemon = True
            observer.start()
        except Exception as error:  # noqa: BLE001  whatever the system's watcher raises, scans take its place
            log.warning("watching %s by scans: %s", self.root, error)
            return
        _losses.tell(self)
        with self._lock:
            if not self._stopped:
                self._observer = observer
                self._threads = (observer, *observer.emitters, *_readers())
                self._live = self._blind = True
        if self._stopped:
            observer.stop()
            return
        self._news.set()

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            observer, self._observer, self._live = self._observer, None, False
        if observer is not None:
            observer.stop()
            observer.join(2)

    def drain(self) -> set[str] | None:
        with self._lock:
            self.changed.clear()
            if self.mode == "events":
                paths, self._paths = self._paths, set()
                scan, self._overflow = self._overflow, False
                if self._blind and not scan:
                    scan = self._scanning.drain() is None
                    self._blind = not scan
                return None if scan or self._net.drain() is None else paths
        return self._scanning.drain()

    def scanned(self) -> None:
        self._scanning.scanned()
        self._net.scanned()

    def lost(self) -> None:
        """Events were dropped: only a scan can tell what changed, and one more what changed until watching goes on."""
        with self._lock:
            self._overflow = self._blind = True
            self._paths.clear()
        self.changed.set()
        self._news.set()

    def _has_question(self) -> bool:
        return self.is_asked()

    def _told(self, kinds: tuple[type[FileSystemEvent], ...], event: FileSystemEvent) -> None:
        if isinstance(event, kinds):
            for path in (event.src_path, event.dest_path):
                if path:
                    self._report(os.fsdecode(path))

    def _report(self, path: str) -> None:
        relative = relative_path(self.root, path)
        if relative is None:
            return
        if relative in self._paths:  # nobody has looked since the last report: most come in fours
            return
        with self._lock:
            if relative == "" or len(self._paths) >= MOST_PENDING:
                self._overflow = True
                self._paths.clear()
            else:
                self._paths.add(relative)
        self.changed.set()
        self._news.set()


class _Losses(logging.Handler):
    """That the system dropped events (a queue of 16 384 was full) watchdog tells nobody but its log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._watchers: weakref.WeakSet[Watcher] = weakref.WeakSet()

    def tell(self, watcher: Watcher) -> None:
        self.acquire()  # as whoever calls `emit` has
        try:
            self._watchers.add(watcher)
        finally:
            self.release()
        logging.getLogger("watchdog.observers").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower():
            for watcher in list(self._watchers):
                watcher.lost()


_losses = _Losses()


def _readers() -> list[threading.Thread]:
    """Threads of watchdog that read for all observers together (it has one on Linux since 7.1)."""
    from watchdog.observers.api import BaseObserver, EventEmitter

    return [
        thread
        for thread in threading.enumerate()
        if type(thread).__module__.startswith("watchdog.") and not isinstance(thread, BaseObserver | EventEmitter)
    ]


def relative_path(root: str, path: str) -> str | None:
    """The `/`-separated path below `root`; "" for the root, None for what is hidden or elsewhere."""
    if path == root:
        return ""
    prefix = root.rstrip(os.sep) + os.sep
    if not path.startswith(prefix):
        return None
    relative = path[len(prefix) :].replace(os.sep, "/")
    return None if f"/{relative}".find("/.") >= 0 else relative


def _changes() -> list[type[FileSystemEvent]]:
    """The events to ask the system for. Without those of reading, a note is read in half the time: each would wake
    two threads. A folder that was modified is left out because what changed inside is reported by itself.
    """
    from watchdog import events

    return [
        events.FileCreatedEvent,
        events.FileModifiedEvent,
        events.FileClosedEvent,
        events.FileMovedEvent,
        events.FileDeletedEvent,
        events.DirCreatedEvent,
        events.DirMovedEvent,
        events.DirDeletedEvent,
    ]


def filesystem_of(root: str, mounts: str = "/proc/self/mounts") -> str:
    """The type of the file system that holds `root`, "" where it cannot be told."""
    try:
        lines = Path(mounts).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ").rstrip("/")
        if (root == point or root.startswith(point + "/")) and len(point) >= len(best):
            best, kind = point, fields[2]
    return kind
