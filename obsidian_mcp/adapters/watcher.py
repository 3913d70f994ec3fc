"""Finds what other programs change in a vault's folder: by watchdog, or by scans.

The rules are in specs/watching.md. The core asks, so that no answer is older than what the system
had reported when the question came.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Collection
from pathlib import Path

from obsidian_mcp import TYPE_CHECKING, logger
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.vault.scanning import Scanning

from .file_identity import identity_at
from .filesystems import REMOTE, filesystem_of
from .watch_limits import check_room, describe_polling, explain_polling

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver

MOST_PATHS = 20_000
"""More changed paths than this are not kept one by one: one scan is cheaper."""
SAFETY_NET_SECONDS = 600.0
"""After so long the whole folder is scanned although events came: no system promises to report
all."""
SETTLE_SECONDS = 0.5
"""From the last event of a burst to the scan that follows it."""
GOING = ("moved", "deleted")
"""Types of watchdog's events; a folder that moves to where nobody watches yet is said to be
deleted."""
BURST_PATHS = 100
"""So many changed paths are a burst, and so is a folder that is made or moved: what is put into it
at once may not be reported."""
REPORT_SECONDS = 2.0
"""A change that a scan has found is reported within this time, or the system has lost sight of its
folder."""

WAKE_SECONDS = 0.2
"""On Windows watchdog reports changes when none has come for so long."""


WATCHES_EACH_FOLDER = sys.platform not in ("darwin", "win32")
"""Whether the system watches each folder by itself, and watchdog has to know where each is now."""

_ELSEWHERE = (-1, -1)
"""The identity of a folder that is not watched."""
_starting = threading.Lock()
"""Held while watchdog starts its threads, so that those of two vaults are not taken for one
another's."""


class Watcher:
    """`Dirty` for one folder (WATCH rules).

    Until watchdog has started, and where it cannot, scans find changes.
    """

    def __init__(
        self,
        root: Path,
        notify: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`notify` is called with every report, in a thread of watchdog's: it only sets a flag or
        an event."""
        self._folder = root
        self.root = str(root)
        self._notify = notify
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._overflow = False
        self._live = False
        self._blind = False
        """Changes from before the system began to report, or from a burst, have yet to be found by
        a scan."""
        self._is_astray = False
        """Whether folders moved or went since the watch began: watchdog (7.1) may report what
        happens in one of them under the path of another, or not at all."""
        self._clock = clock
        self._burst = float("-inf")
        """When the last event of a burst came."""
        self._missed: set[str] = set()
        """Paths whose change a scan has found and nobody has reported."""
        self._missed_at = 0.0
        self._is_caught_up = False
        """Whether a scan was made since the system began to report, or lost reports: what it finds,
        nobody reports."""
        self._observer: BaseObserver | None = None
        self._threads: list[threading.Thread] = []
        """All that watchdog has started to bring the reports."""
        self._watched: tuple[int, int] | None = _ELSEWHERE
        """Identity of the folder that is watched: a disk that was away, or a copy that was
        restored, has another."""
        self.problem = ""
        self._stopped = False
        self._scanning = Scanning(clock=clock)
        self._net = Scanning(SAFETY_NET_SECONDS, clock=clock)

    @property
    def mode(self) -> str:
        """`events` if the system reports changes, else `scans`."""
        if not self._live or identity_at(self._folder) != self._watched:
            return "scans"
        return "events" if all(thread.is_alive() for thread in self._threads) else "scans"

    def start(self) -> None:
        """Begin to watch, or to watch anew, in a new thread: a large folder takes a while.

        Scans serve until then.
        """
        broken, self._observer, self._live = self._observer, None, False
        self._start_in_thread(broken)

    def _start_in_thread(self, broken: BaseObserver | None) -> None:
        threading.Thread(
            target=self._start, args=(broken,), name="watcher-start", daemon=True
        ).start()

    def _start(self, broken: BaseObserver | None) -> None:
        """Begin to watch; what watched until now, if it is not `broken`, ends after that."""
        if broken is not None:
            _end(broken)
        kind, watched = filesystem_of(self.root), identity_at(self._folder)
        if kind in REMOTE:
            self.problem = describe_polling(f"changes on {kind} are not reported")
            logger(__name__).info(
                "watching %s by scans: changes on %s are not reported", self.root, kind
            )
            return
        try:
            observer, threads = self._observe()
        # whatever the system's watcher raises, scans take its place
        except Exception as error:  # noqa: BLE001
            if self._live:  # perhaps the system watches no folder twice
                self.start()
                return
            self.problem = explain_polling(error)
            logger(__name__).warning("watching %s by scans: %s", self.root, error)
            return
        self.problem = ""
        _losses.add(self)
        with self._lock:
            replaced: BaseObserver | None = observer
            if not self._stopped:
                replaced, self._observer = self._observer, observer
                self._watched = watched
                self._threads = threads
                self._live = self._blind = True
                self._is_caught_up = False
        if replaced is not None:
            _end(replaced)
        if not self._stopped:
            self._notify()

    def _observe(self) -> tuple[BaseObserver, list[threading.Thread]]:
        """Have watchdog report what happens in the folder; return its observer, and the threads
        that bring the reports. Raises: whatever the system's watcher raises."""
        from watchdog.events import FileSystemEventHandler
        from watchdog.observers import Observer
        from watchdog.utils import BaseThread

        # it finds a new folder twice, and prints the list of all folders then
        warnings.filterwarnings("ignore", "Callback with id .* already exists", RuntimeWarning)
        logging.getLogger("watchdog.observers.inotify").addFilter(_is_news)
        report = self.report

        class VaultEvents(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                goes = event.is_directory and event.event_type in GOING
                for path in (event.src_path, event.dest_path):
                    if path:
                        report(os.fsdecode(path), is_folder=event.is_directory, goes=goes)

        with _starting:
            before = threading.enumerate()
            observer = Observer(timeout=WAKE_SECONDS)
            observer.schedule(VaultEvents(), self.root, recursive=True, event_filter=_changes())
            observer.start()
            threads: list[threading.Thread] = [
                thread
                for thread in threading.enumerate()
                if isinstance(thread, BaseThread) and thread not in before
            ]
        check_room(observer)
        return observer, threads

    def stop(self) -> None:
        """Stop to watch."""
        with self._lock:
            self._stopped = True
            observer, self._observer, self._live = self._observer, None, False
        if observer is not None:
            _end(observer)

    def drain(self) -> set[str] | None:
        """Return the paths that were reported since the last call; None if the folder must be
        scanned."""
        with self._lock:
            if self.mode == "events":
                paths, self._paths = self._paths, set()
                scan, self._overflow = self._overflow, False
                return None if scan else paths
            if self._live:  # broken; after this scan the folder is watched anew
                self._watched = _ELSEWHERE  # a disk that comes back may have the same numbers
                return None
        return self._scanning.drain()

    def scan_due(self) -> float | None:
        with self._lock:
            if self.mode != "events":
                return None
            now = self._clock()
            if self._missed and now >= self._missed_at + REPORT_SECONDS:
                self._missed.clear()
                self._start_in_thread(None)
                return None
            timer = self._scanning if self._blind else self._net
            pause = max(timer.pause, self._burst + SETTLE_SECONDS - now if self._blind else 0.0)
            if pause > 0:
                return min(pause, REPORT_SECONDS) if self._missed else pause
            if self._is_astray:  # the scan is due when the new watch has begun
                self._is_astray = False
                self._start_in_thread(None)
                return None
            timer.drain()
            self._blind = False
            return 0.0

    def note_scan(self) -> None:
        """Note that a scan has ended; watch anew where the watch is broken (WATCH-06)."""
        self._scanning.note_scan()
        self._net.note_scan()
        with self._lock:
            if self._live and self.mode != "events":
                self.start()
        if self._live:
            self._notify()

    def note_missed(self, paths: Collection[str]) -> None:
        """Note changes that a scan has found: if they are not reported soon, the system has lost
        sight of a folder, as of one moved into a new one, and it is watched anew (WATCH-11)."""
        with self._lock:
            self._missed = set(paths) if self._is_caught_up else set()
            self._missed_at = self._clock()
            self._is_caught_up = True

    def has_died(self, thread: threading.Thread | None) -> bool:
        """Note that a thread ends of an error; return whether it brought reports: then the folder
        is watched anew."""
        with self._lock:
            if thread not in self._threads:
                return False
            self._watched = _ELSEWHERE
        self._notify()
        return True

    def note_lost_events(self) -> None:
        """Note that events were dropped: a scan is due, and one more when the system has caught
        up."""
        with self._lock:
            self._overflow = self._blind = True
            self._is_caught_up = False
            self._paths.clear()
        self._notify()

    def report(self, path: str, *, is_folder: bool = False, goes: bool = False) -> None:
        """Note that the file or folder at an absolute path may have changed.

        `goes`: a folder moved or went.
        """
        if goes and WATCHES_EACH_FOLDER:
            self._is_astray = True
        relative = relative_path(self.root, path)
        # not looked at since the last report: most come in fours
        if relative is None or relative in self._paths:
            return
        with self._lock:
            if self._missed:
                self._missed.discard(normal_form(relative))
            if is_folder or len(self._paths) >= BURST_PATHS:
                self._blind, self._burst = True, self._clock()
            if relative == "" or len(self._paths) >= MOST_PATHS:
                self._overflow = True
                self._paths.clear()
            else:
                self._paths.add(relative)
        self._notify()


class _Losses(logging.Handler):
    """Notices that the system dropped events, because its queue of 16 384 was full: watchdog only
    logs that; and that a thread of watchdog's dies, as where a folder was moved over another one
    and is deleted (7.1: a KeyError)."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._watchers: weakref.WeakSet[Watcher] = weakref.WeakSet()
        self._otherwise = threading.excepthook

    def add(self, watcher: Watcher) -> None:
        self.acquire()  # `emit` is called with it
        try:
            self._watchers.add(watcher)
            if threading.excepthook != self.note_death:
                self._otherwise, threading.excepthook = threading.excepthook, self.note_death
        finally:
            self.release()
        logging.getLogger("watchdog.observers").addHandler(self)

    def note_death(self, death: threading.ExceptHookArgs) -> None:
        """Tell the watcher of a thread that ends of an error; those of other threads are shown as
        before."""
        if any(watcher.has_died(death.thread) for watcher in list(self._watchers)):
            logger(__name__).info(
                "A thread of watchdog's ended (%r); its folder is watched anew.", death.exc_value
            )
        else:
            self._otherwise(death)

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower():
            for watcher in list(self._watchers):
                watcher.note_lost_events()


_losses = _Losses()


def _is_news(record: logging.LogRecord) -> bool:
    """Return whether a message is no error of watchdog's about an event that it held back until it
    was stopped."""
    return "when the thread is inactive" not in record.getMessage()


def _end(observer: BaseObserver) -> None:
    """Let go of an observer's folder; its threads end by themselves. After a folder left the vault
    and another one at its place was deleted, watchdog misses it (7.1: a KeyError); they stay idle
    then."""
    with contextlib.suppress(KeyError):
        for emitter in list(observer.emitters):
            emitter.stop()
    threading.Thread(target=observer.stop, name="watcher-end", daemon=True).start()


def relative_path(root: str, path: str) -> str | None:
    """Return the `/`-separated path below `root`; "" for the root, None for what is hidden or
    elsewhere."""
    if path == root:
        return ""
    prefix = root.rstrip(os.sep) + os.sep
    if not path.startswith(prefix):
        return None
    relative = path[len(prefix) :].replace(os.sep, "/")
    return None if f"/{relative}".find("/.") >= 0 else relative


def _changes() -> list[type[FileSystemEvent]]:
    """Return the events to subscribe to: not those of reading, which would wake two threads for
    every note read, and of modified folders, because the change inside is reported too."""
    from watchdog import events

    return [
        events.FileAttribEvent,
        events.FileCreatedEvent,
        events.FileModifiedEvent,
        events.FileClosedEvent,
        events.FileMovedEvent,
        events.FileDeletedEvent,
        events.DirCreatedEvent,
        events.DirMovedEvent,
        events.DirDeletedEvent,
    ]
