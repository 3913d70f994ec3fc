"""Finds what other programs change in a vault's folder: by reports, or by scans.

The rules are in specs/watching.md. The core asks, so that no answer is older than what the system
had reported when the question came. The reports come from the system (`folder_events.py`), or from
another server of the vault that watches its folder (`watch_follower.py`).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path

from obsidian_mcp import TYPE_CHECKING, logger
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.vault.scanning import Scanning

from .file_identity import FileIdentity, identity_at
from .filesystems import REMOTE, filesystem_of
from .folder_events import WATCHES_EACH_FOLDER
from .watch_limits import describe_polling, explain_polling

if TYPE_CHECKING:
    from typing import Protocol

    from .watch_follower import WatchFollower
    from .watch_leader import WatchLeader

    class Source(Protocol):
        """Brings reports: the system itself, or another server that has them from the system."""

        @property
        def is_alive(self) -> bool:
            """Whether changes are reported."""

        def answers(self) -> bool:
            """Return whether changes are reported, and make sure of it."""

        def ask_to_renew(self) -> bool:
            """Have another process watch the folder anew; return whether there is one."""

        def stop(self) -> None:
            """Bring no reports any more."""


MOST_PATHS = 20_000
"""More changed paths than this are not kept one by one: one scan is cheaper."""
SAFETY_NET_SECONDS = 600.0
"""After so long the whole folder is scanned although events came: no system promises to report
all."""
SETTLE_SECONDS = 0.5
"""From the last event of a burst to the scan that follows it."""
BURST_PATHS = 100
"""So many changed paths are a burst, and so is a folder that is made or moved: what is put into it
at once may not be reported."""
REPORT_SECONDS = 2.0
"""A change that a scan has found is reported within this time, or the system has lost sight of its
folder."""
MOST_ELECTIONS = 3
"""After so many leaders that ended before they had said anything, a server watches for itself."""


class Watcher:
    """`Dirty` for one folder (WATCH rules).

    `start` looks for a source of reports, in a thread: the server that leads, else the system.
    While there is none that works, `drain` has the calls scan. While there is one, `drain` returns
    the reported paths, and `scan_due` says when a scan in the background is to find what nobody
    reports: after the beginning of a watch, after a burst of changes, after ten minutes, and when
    a folder has moved, which the folders are watched anew for. `note_scan` finds out that the
    source has ended, and begins anew.
    """

    def __init__(
        self,
        root: Path,
        notify: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        *,
        meeting_place: Path | None = None,
    ) -> None:
        """`notify` is called with every report, in a thread of its own: it only sets a flag or an
        event. `meeting_place` is a folder where the servers of the vault meet, so that one watches
        for all; without one, this watcher watches for itself."""
        self._folder = root
        self.root = str(root)
        self.problem = ""
        self._notify, self._clock = notify, clock
        self._meeting_place = meeting_place
        self._lock = threading.Lock()
        self._stopped = False

        # where the reports come from
        self._source: Source | None = None
        self._is_broken = False
        """Whether `_source` was seen to be of no use any more: a disk that comes back may have the
        same numbers."""
        self._watched: FileIdentity | None = None
        """Identity of the folder that is watched: a disk that was away, or a copy that was
        restored, has another."""
        self._leader: WatchLeader | None = None
        """Tells other servers of the vault; None where this one follows, or watches for itself."""
        self._electing = threading.Lock()
        """Held by a thread that elects, so that no other one of this watcher follows it."""

        # what was reported
        self._paths: set[str] = set()
        self._must_call_scan = False
        """Whether reports were dropped, or nobody reported, so that the next call scans."""
        self._burst_at = float("-inf")
        """When the last event of a burst came."""
        self._has_moved_folders = False
        """Whether folders moved or went since the watch began: watchdog (7.1) may report what
        happens in one of them under the path of another, or not at all."""

        # what was not
        self._is_scan_wanted = False
        """Changes from before the system began to report, or from a burst, have yet to be found by
        a scan in the background."""
        self._scanning = Scanning(clock=clock)
        """When the next such scan may come, or one before a call where nothing is reported."""
        self._safety_net = Scanning(SAFETY_NET_SECONDS, clock=clock)
        """When a scan is due although nothing seems to be missing."""
        self._is_caught_up = False
        """Whether a scan was made since the system began to report, or lost reports: what it finds,
        nobody reports."""
        self._unreported: set[str] = set()
        """Paths whose change a scan has found and nobody has reported yet."""
        self._unreported_at = 0.0
        """When it has found them."""

    @property
    def mode(self) -> str:
        """`events` if the system reports changes, else `scans`."""
        source = self._source
        if source is None or self._is_broken or identity_at(self._folder) != self._watched:
            return "scans"
        return "events" if source.is_alive else "scans"

    def is_reporting(self) -> bool:
        """Return whether the system reports changes, and the server that leads runs (WATCH-16)."""
        source = self._source  # asked without the lock: what it reports meanwhile is noted with it
        return source is not None and source.answers() and self.mode == "events"

    # -- where the reports come from
    def start(self) -> None:
        """Begin to watch, or to watch anew, in a new thread: a large folder takes a while.

        Scans serve until then.
        """
        broken, leader = self._source, self._leader
        self._source, self._leader = None, None
        self._start_in_thread(broken, leader)

    def _start_in_thread(self, *ended: Source | WatchLeader | None) -> None:
        """Begin to watch in a new thread, which ends these before; what else has brought reports
        until now goes on until the new watch has begun."""
        threading.Thread(target=self._start, args=ended, name="watcher", daemon=True).start()

    def _start(self, *ended: Source | WatchLeader | None) -> None:
        for part in ended:
            if part is not None:
                part.stop()
        kind = filesystem_of(self.root)
        if kind in REMOTE:
            self.problem = describe_polling(f"changes on {kind} are not reported")
            logger(__name__).info(
                "watching %s by scans: changes on %s are not reported", self.root, kind
            )
            return
        if self._follow():
            self._watch()

    def _follow(self) -> bool:
        """Take reports from the server that leads, until it ends; return whether to watch here.

        That is so where nobody leads, and where the leader says nothing, as a process that is
        stopped does.
        """
        fruitless = 0
        while fruitless < MOST_ELECTIONS and not self._stopped:
            follower = self._elect()
            if follower is None:
                return True
            if follower.wait_for_leader():
                if not follower.receive(self):
                    return False
                fruitless = 0
                with self._lock:
                    if self._source is follower:
                        self._source = None
                self._notify()  # nothing is reported for a while
            elif follower.is_alive:
                follower.stop()
                return True
            else:
                fruitless += 1
        return not self._stopped

    def _elect(self) -> WatchFollower | None:
        """Return a connection to the server that leads; None where this one is to watch."""
        if self._meeting_place is None:
            return None
        from .watch_election import elect

        with self._electing:
            if self._leader is not None:
                return None
            part = elect(self._meeting_place, identity_at(self._folder), self._note_request)
            if part is None:
                return None
            from .watch_follower import WatchFollower

            if isinstance(part, WatchFollower):
                return part
            self._leader = part
        return None

    def _watch(self) -> None:
        """Begin to watch, and tell so the servers that follow."""
        from .folder_events import FolderEvents

        watched = identity_at(self._folder)
        try:
            source = FolderEvents(self.root, self)
        # whatever the system's watcher raises, scans take its place
        except Exception as error:  # noqa: BLE001
            if self._source is not None:  # perhaps the system watches no folder twice
                self.start()
                return
            self._stop_leading()
            self.problem = explain_polling(error)
            logger(__name__).warning("watching %s by scans: %s", self.root, error)
            return
        self._begin_with(source, watched)

    def _begin_with(self, source: Source, watched: FileIdentity | None) -> None:
        """Take reports from this source from now on; what has brought them before ends."""
        with self._lock:
            replaced: Source | None = source
            if not self._stopped:
                replaced, self._source = self._source, source
                # since the one before ended nobody reports: a call does not wait for the scan aside
                self._must_call_scan |= replaced is not None and not replaced.is_alive
                self._watched, self._is_broken = watched, False
                self._is_scan_wanted, self._is_caught_up = True, False
                self.problem = ""
            has_stopped = self._stopped
        if replaced is not None and (has_stopped or replaced is not source):
            replaced.stop()
        if has_stopped:
            self._stop_leading()
            return
        if (leader := self._leader) is not None:
            leader.note_ready()
        self._notify()

    def stop(self) -> None:
        """Stop to watch."""
        with self._lock:
            self._stopped = True
            source, self._source = self._source, None
        if source is not None:
            source.stop()
        self._stop_leading()

    def _stop_leading(self) -> None:
        leader, self._leader = self._leader, None
        if leader is not None:
            leader.stop()

    # -- what the vault asks
    def drain(self) -> set[str] | None:
        """Return the paths that were reported since the last call; None if the folder must be
        scanned."""
        self.is_reporting()
        with self._lock:
            if self.mode == "events":
                paths, self._paths = self._paths, set()
                scan, self._must_call_scan = self._must_call_scan, False
                return None if scan else paths
            if self._source is not None:  # after this scan the folder is watched anew
                self._is_broken = True
                return None
        return self._scanning.drain()

    def scan_due(self) -> float | None:
        with self._lock:
            if self.mode != "events":
                return None
            now = self._clock()
            if self._unreported and now >= self._unreported_at + REPORT_SECONDS:
                self._unreported.clear()
                if self._source is None or not self._source.ask_to_renew():
                    self._start_in_thread()
                    return None
            timer = self._scanning if self._is_scan_wanted else self._safety_net
            pause = max(
                timer.pause, self._burst_at + SETTLE_SECONDS - now if self._is_scan_wanted else 0.0
            )
            if pause > 0:
                return min(pause, REPORT_SECONDS) if self._unreported else pause
            if self._has_moved_folders:  # the scan is due when the new watch has begun
                self._has_moved_folders = False
                self._start_in_thread()
                return None
            timer.drain()
            self._is_scan_wanted = False
            return 0.0

    def note_scan(self) -> None:
        """Note that a scan has ended; watch anew where the watch is broken (WATCH-06)."""
        self._scanning.note_scan()
        self._safety_net.note_scan()
        with self._lock:
            if self._source is not None and self.mode != "events":
                self.start()
        if self._source is not None:
            self._notify()

    def note_missed(self, paths: Collection[str]) -> None:
        """Note changes that a scan has found: if they are not reported soon, the system has lost
        sight of a folder, as of one moved into a new one, and it is watched anew (WATCH-11)."""
        with self._lock:
            self._unreported = set(paths) if self._is_caught_up else set()
            self._unreported_at = self._clock()
            self._is_caught_up = True

    # -- what the source tells
    def report(self, path: str, *, is_folder: bool = False, goes: bool = False) -> None:
        """Note that the file or folder at an absolute path may have changed, and pass it on.

        `goes`: a folder moved or went.
        """
        if goes and WATCHES_EACH_FOLDER:
            self._has_moved_folders = True
        relative = relative_path(self.root, path)
        if relative is None:
            return
        if (leader := self._leader) is not None:
            leader.report(relative, is_folder=is_folder)
        self.note_change(relative, is_folder=is_folder)

    def note_change(self, relative: str, *, is_folder: bool) -> None:
        """Note that the file or folder at a path below the vault's may have changed."""
        if relative in self._paths:
            return  # not looked at since the last report: most come in fours
        with self._lock:
            if self._unreported:
                self._unreported.discard(normal_form(relative))
            if is_folder or len(self._paths) >= BURST_PATHS:
                self._is_scan_wanted, self._burst_at = True, self._clock()
            if relative == "" or len(self._paths) >= MOST_PATHS:
                self._must_call_scan = True
                self._paths.clear()
            else:
                self._paths.add(relative)
        self._notify()

    def note_lost_events(self) -> None:
        """Note that events were dropped: a scan is due, and one more when the system has caught
        up."""
        with self._lock:
            self._must_call_scan = self._is_scan_wanted = True
            self._is_caught_up = False
            self._paths.clear()
        if (leader := self._leader) is not None:
            leader.note_lost_events()
        self._notify()

    def note_ready(self, source: WatchFollower) -> None:
        """Note that the leader watches, or watches anew."""
        self._begin_with(source, source.identity)

    def note_broken_watch(self) -> None:
        """Note that the reports have ended: after a scan the folder is watched anew. Another server
        leads meanwhile."""
        self._stop_leading()
        self._notify()

    def _note_request(self) -> None:
        """Watch anew soon: a server that follows has found what nobody reported (WATCH-11)."""
        with self._lock:
            self._has_moved_folders = self._is_scan_wanted = True
            self._burst_at = self._clock()
        self._notify()


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
