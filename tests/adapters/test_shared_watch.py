"""The watchers of one vault share the watches of its folders (specs/watching.md WATCH-14 to WATCH-17)."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from watchdog.observers.api import EventEmitter

from obsidian_mcp.adapters import watch_follower
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.adapters.watch_election import PLACE
from obsidian_mcp.adapters.watch_leader import BACKLOG_BYTES
from obsidian_mcp.adapters.watcher import MOST_PATHS, Watcher
from obsidian_mcp.core.vault.vault import Vault
from tests.system import needs

pytestmark = needs("inotify")

WITHIN = 20.0
"""Seconds that anything may take on a busy machine."""


class Server:
    """What a server has of a vault to see changes: a watcher, the vault, and when something is reported."""

    def __init__(self, root: Path, place: Path, now: list[float], number: int) -> None:
        self.reported = threading.Event()
        self.watcher = Watcher(Disk(root).root, self.reported.set, lambda: now[0], meeting_place=place)
        self.vault = Vault(
            "v", Disk(root), self.watcher, SqliteJournal(place.parent / f"state {number}"), lambda: open_index(None)
        )
        self.watcher.start()

    def is_told_when_asked(self) -> bool:
        """Have a call come, and return whether changes are told then.

        watchdog (7.1) has one inotify of all observers: one that ends may end what another has just begun. The next
        call watches anew.
        """
        self.vault.refresh()
        return self.watcher.mode == "events"

    def files(self) -> list[str]:
        """The paths of the files as the next call finds them."""
        self.vault.refresh()
        return [entry.path for entry in self.vault.entries()]

    def close(self) -> None:
        self.watcher.stop()
        self.vault.close()


class Servers:
    """The servers of one vault, and their clock; scans come only when it goes on."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        (self.root / "sub").mkdir(parents=True)
        self.place = folder / "cache"
        self.now = [0.0]
        self.all: list[Server] = []

    def begin(self, count: int = 1) -> Server:
        """Start servers one after the other; return the last one."""
        for _ in range(count):
            self.all.append(Server(self.root, self.place, self.now, len(self.all)))
            self.settle(self.all[-1])
        return self.all[-1]

    def settle(self, *servers: Server) -> None:
        """Wait until servers are told of changes, and have made the scans that are due."""
        for server in servers:
            eventually(server.is_told_when_asked)
            server.vault.refresh()
            self.now[0] += 60
            server.vault.catch_up()

    def watches(self) -> int:
        """How many watches of the vault this process has, each of the folder with all below it."""
        emitters = [thread for thread in threading.enumerate() if isinstance(thread, EventEmitter)]
        return sum(emitter.is_alive() and emitter.watch.path == str(self.root) for emitter in emitters)

    def close(self) -> None:
        for server in self.all:
            server.close()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    several = Servers(tmp_path)
    yield several
    several.close()


def eventually(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + WITHIN
    while not is_so():
        assert time.monotonic() < end, "it never came true"
        threading.Event().wait(0.01)


def address(place: Path) -> str:
    """The path of the socket, short enough for one."""
    return str(Path(os.path.relpath(place)) / PLACE)


@needs("names that are not UTF-8")
def test_a_server_that_follows_is_told_of_every_name_and_watches_nothing(servers: Servers) -> None:
    """WATCH-14"""
    leader, follower = servers.begin(), servers.begin()
    assert servers.watches() == 1

    names = ["plain.md", "two\nlines.md", "ünï.md", os.fsdecode(b"sub/\xff.md"), "sub/b.md"]
    for name in [*names, ".hidden.md"]:
        (servers.root / name).write_bytes(b"1")
    told: dict[str, set[str]] = {"leader": set(), "follower": set()}

    def is_told() -> bool:
        for name, server in (("leader", leader), ("follower", follower)):
            told[name] |= server.watcher.drain() or set()
        return all(paths >= set(names) for paths in told.values())

    eventually(is_told)
    assert told["follower"] == told["leader"] == set(names)


def test_folders_and_files_that_come_move_and_go_are_the_same_for_all(servers: Servers) -> None:
    """WATCH-14"""
    servers.begin(3)
    root = servers.root

    def are_known(*paths: str) -> None:
        for server in servers.all:
            eventually(lambda server=server: server.files() == list(paths))  # type: ignore[misc]
            assert server.watcher.mode == "events"

    (root / "new" / "deep").mkdir(parents=True)
    (root / "new" / "deep" / "a.md").write_bytes(b"1")
    are_known("new/deep/a.md")
    (root / "new").rename(root / "sub" / "moved")
    are_known("sub/moved/deep/a.md")
    shutil.rmtree(root / "sub")
    are_known()


def test_when_the_leader_ends_one_of_the_others_leads_and_all_look_for_what_changed(servers: Servers) -> None:
    """WATCH-15"""
    servers.begin(3)
    leader, *others = servers.all
    for server in others:
        server.reported.clear()
    leader.close()
    (servers.root / "between.md").write_bytes(b"1")
    for server in others:
        assert server.reported.wait(WITHIN)
        servers.settle(server)
        assert "between.md" in [entry.path for entry in server.vault.catalog]  # by the scan in the background
    eventually(lambda: servers.watches() == 1)
    (servers.root / "after.md").write_bytes(b"1")
    for server in others:
        eventually(lambda server=server: "after.md" in (server.watcher.drain() or ()))  # type: ignore[misc]


def test_a_server_that_comes_while_the_leader_begins_follows_when_the_watch_has_begun(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WATCH-14: a leader of a large folder takes a while, and says at once that it is there."""
    may_begin, begin = threading.Event(), EventEmitter.start

    def begin_late(emitter: Any) -> None:
        assert may_begin.wait(WITHIN)
        begin(emitter)

    monkeypatch.setattr(EventEmitter, "start", begin_late)
    for number in range(2):
        servers.all.append(Server(servers.root, servers.place, servers.now, number))
        eventually((servers.place / PLACE).exists)
    assert [server.watcher.mode for server in servers.all] == ["scans", "scans"]
    may_begin.set()
    servers.settle(*servers.all)
    assert servers.watches() == 1


def test_lost_reports_are_lost_for_all(servers: Servers) -> None:
    """WATCH-06"""
    servers.begin(2)
    from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD, WatchDescriptor

    full = InotifyEvent(WatchDescriptor(-1), InotifyConstants.IN_Q_OVERFLOW, 0, b"")
    InotifyFD.get_instance().handle_event(full)
    for server in servers.all:
        eventually(lambda server=server: server.watcher.drain() is None)  # type: ignore[misc]


def test_a_flood_of_changes_is_told_whole(servers: Servers) -> None:
    """WATCH-03, WATCH-14"""
    leader, follower = servers.begin(), servers.begin()
    names = {f"{number}.md" for number in range(MOST_PATHS // 2)}
    for name in names:
        leader.watcher.report(str(servers.root / name))

    def is_told() -> bool:
        paths = follower.watcher.drain()
        names.difference_update(names if paths is None else paths)  # None: by a scan
        return not names

    eventually(is_told)
    leader.watcher.report(str(servers.root))
    eventually(lambda: follower.watcher.drain() is None)


def test_a_server_that_misses_reports_has_the_leader_watch_anew(servers: Servers) -> None:
    """WATCH-11: the leader's policy may hide from its own scans what the other one sees."""
    leader, follower = servers.begin(), servers.begin()
    follower.watcher.note_missed([])
    follower.watcher.note_missed(["sub/never reported.md"])
    leader.reported.clear()
    servers.now[0] += 3
    assert follower.watcher.scan_due() == pytest.approx(597)  # of those ten minutes after the last scan
    assert leader.reported.wait(WITHIN)
    follower.reported.clear()
    servers.now[0] += 1
    assert leader.watcher.scan_due() is None  # it watches anew
    assert follower.reported.wait(WITHIN)
    servers.now[0] += 1
    assert follower.watcher.scan_due() == 0


@needs("moving folders with open files")
def test_a_folder_that_takes_the_place_of_the_vaults_is_watched_for_all(servers: Servers) -> None:
    """WATCH-06, WATCH-15"""
    servers.begin(2)
    servers.root.rename(servers.root.parent / "away")
    shutil.copytree(servers.root.parent / "away", servers.root)
    (servers.root / "b.md").write_bytes(b"2")

    def are_watched() -> bool:
        answers = [(server.files(), server.watcher.mode) for server in servers.all]
        return answers == [(["b.md"], "events")] * 2

    eventually(are_watched)
    eventually(lambda: servers.watches() == 1)
    (servers.root / "c.md").write_bytes(b"3")
    eventually(lambda: all(server.files() == ["b.md", "c.md"] for server in servers.all))


def test_a_leader_that_says_nothing_is_left_alone(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """WATCH-16"""
    monkeypatch.setattr(watch_follower, "HELLO_SECONDS", 0.05)
    servers.place.mkdir()
    with socket.socket(socket.AF_UNIX) as silent:  # nobody accepts what connects, as in a process that is stopped
        silent.bind(address(servers.place))
        silent.listen()
        server = servers.begin()
        (servers.root / "a.md").write_bytes(b"1")
        eventually(lambda: "a.md" in (server.watcher.drain() or ()))


def test_a_socket_that_was_left_behind_is_replaced(servers: Servers) -> None:
    """WATCH-15: its server was killed."""
    servers.place.mkdir()
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(address(servers.place))
    servers.begin(2)
    assert servers.watches() == 1
    assert (servers.place / PLACE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("obstacle", ["a file in the folder's place", "a folder in the socket's place"])
def test_where_servers_cannot_meet_each_watches_for_itself(servers: Servers, obstacle: str) -> None:
    """WATCH-17"""
    if obstacle == "a file in the folder's place":
        servers.place.write_bytes(b"")
    else:
        (servers.place / PLACE).mkdir(parents=True)
    servers.begin(2)
    assert servers.watches() == 2
    (servers.root / "a.md").write_bytes(b"1")
    for server in servers.all:
        eventually(lambda server=server: "a.md" in (server.watcher.drain() or ()))  # type: ignore[misc]


def test_where_the_system_watches_no_more_folders_each_server_says_so(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WATCH-13, WATCH-17"""
    servers.begin(2)

    def refuse(_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("watchdog.observers.api.BaseObserver.start", refuse)
    servers.all[0].close()
    third = Server(servers.root, servers.place, servers.now, 2)
    servers.all.append(third)
    for server in servers.all[1:]:
        eventually(lambda server=server: "fs.inotify.max_user_watches" in server.watcher.problem)  # type: ignore[misc]
        assert server.watcher.mode == "scans"


def test_a_server_that_leaves_too_much_unread_loses_its_connection(servers: Servers) -> None:
    """WATCH-15"""
    leader = servers.begin()
    with socket.socket(socket.AF_UNIX) as slow:
        slow.connect(address(servers.place))
        assert slow.recv(1)
        letters = "x" * 200
        for number in range(3 * BACKLOG_BYTES // len(letters)):
            leader.watcher.report(str(servers.root / f"{letters}{number}.md"))
            if number % 1000 == 0:
                leader.watcher.drain()
        slow.settimeout(WITHIN)
        while slow.recv(1 << 20):
            pass
