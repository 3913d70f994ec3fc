"""Changes by other programs reach the vault (specs/watching.md)."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from watchdog.observers.api import EventEmitter

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.filesystems import REMOTE, filesystem_of
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.index_workers import IndexWorkers
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.adapters.watcher import MOST_PATHS, Watcher, relative_path
from obsidian_mcp.core.files.policy_file import PolicyFile
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.operations import bulk, move
from obsidian_mcp.core.search.hits import Request
from obsidian_mcp.core.vault.operation import Create, Move
from obsidian_mcp.core.vault.scanning import Scanning
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import NoteNotFound, StorageFailed, VaultNotFound
from tests.core.memory import Reported
from tests.disks import OtherDisk
from tests.system import needs

WITHIN = 10.0
"""Seconds a busy test machine may take to report a change; an idle one takes milliseconds."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


Opened = Callable[..., Vault]


@pytest.fixture
def opened(root: Path) -> Iterator[Opened]:
    """Opens the vault on a disk, with what reports changes and a policy; closes it at the end."""
    vaults: list[Vault] = []

    def open_vault(disk: Disk, reported: Reported, **more: Any) -> Vault:
        journal = SqliteJournal(root.parent / "state")
        vaults.append(Vault("v", disk, reported, journal, lambda: open_index(None), **more))
        return vaults[-1]

    yield open_vault
    for vault in vaults:
        vault.close()


def rename_in_case(path: Path, name: str) -> None:
    """Rename a file or folder to its name in another case, in two steps where the disk does not make it in one."""
    path.rename(path.with_name(name))
    if name not in os.listdir(path.parent):  # noqa: PTH208
        path.rename(path.with_name("~")).rename(path.with_name(name))


@contextlib.contextmanager
def vault_of(root: Path, watcher: Watcher) -> Iterator[Vault]:
    vault = Vault("v", Disk(root), watcher, SqliteJournal(root.parent / "state"), lambda: open_index(None))
    try:
        yield vault
    finally:
        watcher.stop()
        vault.close()


def listed(vault: Vault) -> list[str]:
    """The paths of the files, as the next call finds them."""
    vault.refresh()
    return [entry.path for entry in vault.entries()]


def eventually(answer: Callable[[], object], signal: threading.Event | None = None) -> None:
    """Wait until `answer` is true: woken by `signal`, or asked again as a client would."""
    end = time.monotonic() + WITHIN
    while not answer():
        assert time.monotonic() < end, "it never came true"
        (signal or threading.Event()).wait(0.05)


def test_events_bring_the_catalog_in_step(root: Path) -> None:
    """WATCH-01"""
    (root / "a.md").write_bytes(b"1")
    reported = threading.Event()
    watcher = Watcher(Disk(root).root, reported.set)
    with vault_of(root, watcher) as vault:
        watcher.start()
        eventually(lambda: watcher.mode == "events")

        assert listed(vault) == ["a.md"]
        (root / "new" / "deep").mkdir(parents=True)
        (root / "new" / "deep" / "b.md").write_bytes(b"2")
        eventually(lambda: listed(vault) == ["a.md", "new/deep/b.md"], reported)
        (root / "new").rename(root / "moved")
        eventually(lambda: listed(vault) == ["a.md", "moved/deep/b.md"], reported)
        rename_in_case(root / "a.md", "A.md")
        eventually(lambda: listed(vault) == ["A.md", "moved/deep/b.md"], reported)
        (root / "A.md").write_bytes(b"longer")
        eventually(lambda: bool(listed(vault)) and vault.catalog.entry("A.md").size == 6, reported)
        shutil.rmtree(root / "moved")
        eventually(lambda: listed(vault) == ["A.md"], reported)


def test_what_changes_is_known_before_anybody_asks(root: Path) -> None:
    """WATCH-07"""
    reported = threading.Event()
    watcher = Watcher(Disk(root).root, reported.set)
    with vault_of(root, watcher) as vault:
        workers = IndexWorkers(vault.indexer, root, vault.catch_up, reported)
        workers.start()
        watcher.start()
        eventually(lambda: watcher.mode == "events")
        vault.refresh()
        (root / "new.md").write_bytes(b"2")
        eventually(lambda: "new.md" in vault.catalog)
        assert [str(entry.path) for entry in vault.catalog] == ["new.md"]
        (root / "new.md").unlink()
        eventually(lambda: "new.md" not in vault.catalog)
        assert list(vault.catalog) == []
        workers.stop()


@pytest.mark.parametrize("count", [3, 30])
def test_folders_that_come_move_and_go_take_their_files_along(root: Path, count: int, opened: Opened) -> None:
    """WATCH-04"""
    reported = Reported()
    (root / "kept").mkdir()
    (root / "kept" / "a.md").write_bytes(b"1")
    vault = opened(Disk(root), reported)
    vault.refresh()

    def now(*paths: str) -> list[str]:
        reported.paths = set(paths)
        vault.refresh()
        return sorted(entry.path for entry in vault.entries())

    new = [f"{letter}{n}" for n in range(count) for letter in "xy"]
    for folder in new:
        (root / folder / "deep").mkdir(parents=True)
        (root / folder / "deep" / "b.md").write_bytes(b"2")
    files = [f"{folder}/deep/b.md" for folder in new]
    assert now(*new, *(f"{folder}/deep" for folder in new), "x0/none.md") == sorted(["kept/a.md", *files])
    for folder in new[::2]:
        shutil.rmtree(root / folder)
    (root / "y0").rename(root / "kept" / "y0")
    left = [f"{folder}/deep/b.md" for folder in new[1::2] if folder != "y0"]
    gone = [path for folder in [*new[::2], "y0"] for path in (folder, f"{folder}/deep")]
    assert now(*gone, "kept/y0", "never.tmp") == sorted(["kept/a.md", "kept/y0/deep/b.md", *left])
    vault.close()


def test_a_watcher_that_is_not_running_lets_scans_tell(root: Path) -> None:
    now = [0.0]
    watcher = Watcher(root, clock=lambda: now[0])
    with vault_of(root, watcher) as vault:
        vault.refresh()
        (root / "a.md").write_bytes(b"1")

        vault.refresh()
        assert vault.entries() == []  # within the interval the last scan is good enough
        now[0] = 0.6
        vault.refresh()
        assert [entry.path for entry in vault.entries()] == ["a.md"]
        assert watcher.mode == "scans"


def test_a_clean_end_after_a_file_went_is_no_error(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """WATCH-02"""
    (root / "a.md").write_bytes(b"1")
    watcher = Watcher(root)
    watcher.start()
    eventually(lambda: watcher.mode == "events")
    (root / "a.md").rename(root.parent / "a.md")  # watchdog waits half a second for where it went
    watcher.stop()
    assert caplog.records == []


def test_a_scan_follows_a_burst_and_a_folder_that_was_lost_sight_of_is_watched_anew(root: Path) -> None:
    """WATCH-11"""
    now, notified = [0.0], threading.Event()
    watcher = Watcher(root, notified.set, clock=lambda: now[0])
    with vault_of(root, watcher) as vault:
        vault.refresh()
        watcher.start()
        assert notified.wait(WITHIN)
        now[0] = 1.0
        assert vault.catch_up() == 600

        watcher.report(str(root / "made"), is_folder=True)
        now[0] = 1.4
        assert vault.catch_up() == pytest.approx(0.1)
        now[0] = 1.6
        assert vault.catch_up() == 600

        watcher.note_missed(["made/lost.md", "made/late.md"])
        watcher.report(str(root / "made" / "late.md"))
        assert vault.catch_up() == 2
        now[0] = 3.7
        notified.clear()
        assert vault.catch_up() is None  # a scan is due when the new watch has begun
        assert watcher.mode == "events"
        assert notified.wait(WITHIN)
        now[0] = 5.0
        assert vault.catch_up() == 600


def test_what_changed_before_the_watch_began_is_found_by_one_more_scan(root: Path) -> None:
    now = [0.0]
    watcher = Watcher(root, clock=lambda: now[0])
    with vault_of(root, watcher) as vault:
        vault.refresh()
        (root / "a.md").write_bytes(b"1")
        watcher.start()
        eventually(lambda: watcher.mode == "events")

        assert vault.catch_up() == 0.5
        assert vault.entries() == []  # within the interval the last scan is good enough
        now[0] = 0.6
        vault.refresh()
        assert vault.entries() == []  # calls do not make this scan
        assert vault.catch_up() == 600
        assert [entry.path for entry in vault.entries()] == ["a.md"]
        now[0] = 2.0
        assert watcher.drain() == set()  # from now on what is reported is all there is


class SlowDisk(Disk):
    """A disk whose first scan after `may_go_on` is cleared lists the files, but returns them when it is set again."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.is_listed = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def scan(self, folder: str = "", is_wanted: Callable[[str], bool] | None = None) -> Iterator[DiskFile]:
        files = list(super().scan(folder, is_wanted))
        if not self.may_go_on.is_set() and not self.is_listed.is_set():
            self.is_listed.set()
            assert self.may_go_on.wait(WITHIN)
        yield from files


@pytest.fixture
def slow(root: Path, opened: Opened) -> Iterator[tuple[Vault, Reported, SlowDisk]]:
    """A vault with `a.md`, `b.md` and `d/e.md`, what it is told of, and its disk."""
    (root / "d").mkdir()
    for path in ("a.md", "b.md", "d/e.md"):
        (root / path).write_bytes(b"1")
    disk, reported = SlowDisk(root), Reported()
    vault = opened(disk, reported)
    vault.refresh()
    yield vault, reported, disk
    vault.close()


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_change_of_links_sees_a_link_whose_report_is_still_on_its_way(
    root: Path, opened: Opened, dry_run: bool
) -> None:
    """WATCH-10"""
    vault = opened(Disk(root), Reported())
    (root / "Old.md").write_text("", encoding="utf-8")
    vault.refresh()
    (root / "Later.md").write_text("[[Old]]", encoding="utf-8")
    moved = bulk.make(
        vault, "move_note", partial(move.relocate, vault, "Old", "New.md", update_links=True), dry_run=dry_run
    )
    assert [str(file.path) for file in moved.rewritten] == ["Later.md"]
    assert (root / "Later.md").read_text(encoding="utf-8") == ("[[Old]]" if dry_run else "[[New]]")


@contextlib.contextmanager
def scan_beside(vault: Vault, reported: Reported, disk: SlowDisk) -> Iterator[None]:
    """What is done inside happens between the listing of a scan beside the calls and its end."""
    disk.may_go_on.clear()
    reported.is_scan_due = True
    scan = threading.Thread(target=vault.catch_up)
    scan.start()
    try:
        assert disk.is_listed.wait(WITHIN)
        yield
    finally:
        disk.may_go_on.set()
        scan.join(WITHIN)


def sizes(vault: Vault) -> dict[str, int]:
    return {entry.path: entry.size for entry in vault.entries()}


def test_calls_do_not_wait_for_a_scan_beside_them_and_keep_what_they_find(
    root: Path, slow: tuple[Vault, Reported, SlowDisk]
) -> None:
    """WATCH-02"""
    vault, reported, disk = slow
    (root / "unreported.md").write_bytes(b"1")
    (root / "b.md").write_bytes(b"longer")
    with scan_beside(vault, reported, disk):
        (root / "a.md").write_bytes(b"longest")
        (root / "new.md").write_bytes(b"1")
        shutil.rmtree(root / "d")
        reported.paths = {"a.md", "new.md", "d"}
        vault.refresh()
        assert sizes(vault) == {"a.md": 7, "b.md": 1, "new.md": 1}
    assert sizes(vault) == {"a.md": 7, "b.md": 6, "new.md": 1, "unreported.md": 1}


def test_a_scan_finds_what_changed_below_a_folder_after_a_call_looked_at_it(
    slow: tuple[Vault, Reported, SlowDisk], root: Path
) -> None:
    """WATCH-06: the scan took what it had found there for older than what the call had."""
    vault, reported, disk = slow
    with scan_beside(vault, reported, disk):
        reported.paths = {"d"}
        vault.refresh()
        (root / "d" / "e.md").write_bytes(b"longer")
        (root / "d" / "f.md").write_bytes(b"1")
    assert sizes(vault) == {"a.md": 1, "b.md": 1, "d/e.md": 6, "d/f.md": 1}


def test_a_file_has_one_name_on_a_disk_that_knows_no_case(
    root: Path, monkeypatch: pytest.MonkeyPatch, opened: Opened
) -> None:
    """WATCH-08"""
    OtherDisk(root, monkeypatch)
    reported = Reported()
    (root / "sub").mkdir()
    (root / "home.md").write_bytes(b"1")
    (root / "sub" / "a.md").write_bytes(b"2")
    vault = opened(Disk(root), reported)

    def now(*paths: str) -> list[str]:
        reported.paths = set(paths)
        vault.refresh()
        return sorted(entry.path for entry in vault.entries())

    assert now() == ["home.md", "sub/a.md"]
    vault.commit("test", [Move("home.md", "HOME.md")])
    assert now() == ["HOME.md", "sub/a.md"]
    rename_in_case(root / "HOME.md", "Home.md")
    assert now("HOME.md", "Home.md") == ["Home.md", "sub/a.md"]
    rename_in_case(root / "Home.md", "hoMe.md")
    assert now("hoMe.md") == ["hoMe.md", "sub/a.md"]
    rename_in_case(root / "sub", "SUB")
    assert now("sub", "SUB") == ["SUB/a.md", "hoMe.md"]
    rename_in_case(root / "SUB", "Sub")
    assert now("Sub") == ["Sub/a.md", "hoMe.md"]
    (root / "Sub" / "a.md").write_bytes(b"longer")
    now("SUB/A.md")
    assert vault.catalog.entry("Sub/a.md").size == 6
    (root / "Sub" / "a.md").unlink()
    assert now("sub/a.md") == ["hoMe.md"]
    vault.close()


def test_a_note_that_was_not_reported_is_found_by_its_name(root: Path, slow: tuple[Vault, Reported, SlowDisk]) -> None:
    """WATCH-05"""
    vault, _, _ = slow
    (root / "d" / "Never reported.md").write_bytes(b"1")
    (root / "d" / "another.md").write_bytes(b"1")

    def found() -> str:
        with contextlib.suppress(NoteNotFound):
            return vault.find("never reported").path
        return ""

    eventually(found)  # soon after a scan of the folder there is none for a missing name
    assert found() == "d/Never reported.md"
    assert "d/another.md" not in vault.catalog  # only names are read


class Failing(Disk):
    """A disk on which one file or folder, or the whole, cannot be looked at."""

    bad: str | None = None

    def stat(self, disk: str) -> DiskFile | None:
        if disk == self.bad:
            raise StorageFailed("Reading failed.")
        return super().stat(disk)

    def scan(self, folder: str = "", is_wanted: Callable[[str], bool] | None = None) -> Iterator[DiskFile]:
        if folder == self.bad:
            raise StorageFailed("Listing failed.")
        return super().scan(folder, is_wanted)


@pytest.mark.parametrize("bad", ["b.md", "new", ""])
def test_what_was_reported_while_the_disk_failed_is_known_and_found_afterwards(
    root: Path, bad: str, opened: Opened
) -> None:
    """WATCH-09"""
    for name in ("a.md", "b.md", "gone.md"):
        (root / name).write_bytes(b"before")
    disk, reported = Failing(root), Reported()
    vault = opened(disk, reported)

    def found(word: str) -> list[str]:
        return sorted(note.path for note in vault.search.find(Request(word, "exact")).hits)

    assert found("before") == ["a.md", "b.md", "gone.md"]
    (root / "new").mkdir()
    for name in ("a.md", "b.md", "new/c.md"):
        (root / name).write_bytes(b"afterwards")
        os.utime(root / name, ns=(1_700_000_000_123_456_789,) * 2)
    (root / "gone.md").unlink()
    reported.paths = {"a.md", "b.md", "gone.md", "new"} if bad else set()
    reported.is_scan_due, disk.bad = not bad, bad
    with pytest.raises(StorageFailed):
        vault.catch_up()
    disk.bad = None
    vault.refresh()
    assert (found("afterwards"), found("before")) == (["a.md", "b.md", "new/c.md"], [])


def test_a_change_after_which_the_disk_failed_is_known_to_the_next_call(root: Path, opened: Opened) -> None:
    """WATCH-09"""
    disk, reported = Failing(root), Reported()
    vault = opened(disk, reported)
    vault.refresh()
    disk.bad = "new.md"
    vault.commit("test", [Create("new.md", b"text")])
    disk.bad = None
    assert listed(vault) == ["new.md"]


class Scanned(Disk):
    """In the middle of a change another program writes a note, and the background scans."""

    vault: Vault
    seen: list[str]

    def create(self, disk: str, data: bytes) -> None:
        super().create(disk, data)
        if disk == "f/one.md":
            (self.root / "theirs.md").write_bytes(b"text")
            self.vault.catch_up()
            with pytest.raises(NoteNotFound):
                self.vault.find("f/one")
            self.seen = [entry.path for entry in self.vault.entries()]


def test_a_scan_that_ends_in_the_middle_of_a_change_shows_nothing_of_it_and_nothing_is_lost(
    root: Path, opened: Opened
) -> None:
    """SAFE-21, WATCH-02"""
    disk, reported = Scanned(root), Reported()
    vault = disk.vault = opened(disk, reported)
    assert listed(vault) == []
    reported.is_scan_due = True
    vault.commit("test", [Create("f/one.md", b"text"), Create("f/two.md", b"text")])
    assert disk.seen == []
    assert listed(vault) == ["f/one.md", "f/two.md", "theirs.md"]


def test_a_hidden_file_that_is_reported_stays_hidden(root: Path, opened: Opened) -> None:
    """POL-01"""
    reported = Reported()
    allowed = PolicyFile('hidden = ["Secret/", "*.key.md"]').policy("v", str(root))
    vault = opened(Disk(root), reported, policy=allowed)
    assert listed(vault) == []
    for name in ("Secret/a.md", "new/b.key.md", "new/c.md", "d.key.md"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"zebra")
    (root / "new/.Away.key.md.icloud").write_bytes(b"bplist00")
    reported.paths = {"Secret", "Secret/a.md", "new", "d.key.md"}
    assert listed(vault) == ["new/c.md"]
    with pytest.raises(NoteNotFound):  # not: that it must be downloaded
        vault.find("Away.key")
    vault.close()


def test_a_scan_of_a_call_is_not_undone_by_the_older_one_beside_it(
    root: Path, slow: tuple[Vault, Reported, SlowDisk]
) -> None:
    """WATCH-02"""
    vault, reported, disk = slow
    with scan_beside(vault, reported, disk):
        (root / "new.md").write_bytes(b"1")
        reported.is_lost = True
        vault.refresh()
        reported.is_lost = False
    assert list(sizes(vault)) == ["a.md", "b.md", "d/e.md", "new.md"]


@pytest.fixture
def live(root: Path) -> Iterator[tuple[Watcher, list[float], threading.Event]]:
    """A watcher after its first scans, from when on reports are all there is, its clock, and what it notifies."""
    now, notified = [0.0], threading.Event()
    watcher = Watcher(root, notified.set, clock=lambda: now[0])
    watcher.start()
    eventually(lambda: watcher.mode == "events")
    now[0] = 10.0
    assert watcher.scan_due() == 0
    watcher.note_scan()
    now[0] = 20.0
    assert watcher.drain() == set()
    assert watcher.scan_due() == 590
    notified.clear()
    yield watcher, now, notified
    watcher.stop()


@needs("inotify")
def test_when_the_system_drops_reports_scans_find_what_was_lost(
    live: tuple[Watcher, list[float], threading.Event],
) -> None:
    """WATCH-06"""
    watcher, now, notified = live
    from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD, WatchDescriptor

    full = InotifyEvent(WatchDescriptor(-1), InotifyConstants.IN_Q_OVERFLOW, 0, b"")
    InotifyFD.get_instance().handle_event(full)

    assert notified.is_set()
    assert watcher.drain() is None
    watcher.note_scan()
    assert watcher.drain() == set()
    assert watcher.scan_due() == 0.5
    now[0] += 1
    assert watcher.scan_due() == 0  # the folders are watched anew only now
    watcher.note_scan()
    now[0] += 1
    assert watcher.drain() == set()
    assert watcher.scan_due() == 599


@needs("inotify")
def test_where_the_system_watches_no_more_folders_scans_take_the_place_of_reports(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WATCH-02: below as many folders as the system watches for a user, changes were not seen
    for ten minutes"""
    from watchdog.observers.inotify_c import InotifyFD

    add, watched = InotifyFD.add_callback, set[bytes]()

    def limited(fd: InotifyFD, path: bytes, *rest: Any) -> Any:
        if len(watched | {path}) > 3:
            raise OSError(errno.ENOSPC, "inotify watch limit reached")
        watched.add(path)
        return add(fd, path, *rest)

    monkeypatch.setattr(InotifyFD, "add_callback", limited)
    for name in "abcdef":
        (root / name).mkdir()
    watcher = Watcher(Disk(root).root)
    with vault_of(root, watcher) as vault:
        watcher.start()
        eventually(lambda: len(watched) == 3)
        assert listed(vault) == []
        for name in "abcdef":
            (root / name / "n.md").write_bytes(b"1")

        eventually(lambda: listed(vault) == [f"{name}/n.md" for name in "abcdef"])
        eventually(lambda: watcher.mode == "scans")


def test_when_a_thread_that_brings_reports_dies_scans_take_their_place(
    live: tuple[Watcher, list[float], threading.Event],
) -> None:
    """WATCH-06"""
    watcher, now, _ = live
    for thread in threading.enumerate():
        if isinstance(thread, EventEmitter):
            thread.stop()
            thread.join(WITHIN)

    assert watcher.mode == "scans"
    assert watcher.scan_due() is None
    now[0] += 1
    assert watcher.drain() is None


@pytest.fixture
def left_and_deleted(root: Path) -> Iterator[tuple[Watcher, Vault]]:
    """A watched vault which the folder A left, after which another one at its place was deleted."""
    (root / "A").mkdir()
    (root / "A" / "a.md").write_bytes(b"1")
    watcher = Watcher(Disk(root).root)
    with vault_of(root, watcher) as vault:
        watcher.start()
        eventually(lambda: watcher.mode == "events")

        eventually(lambda: listed(vault) == ["A/a.md"])
        (root / "A").rename(root.parent / "Trash")
        eventually(lambda: not listed(vault))
        (root / "A").mkdir()
        (root / "A" / "b.md").write_bytes(b"2")
        eventually(lambda: listed(vault) == ["A/b.md"])
        shutil.rmtree(root / "A")
        eventually(lambda: not listed(vault))
        yield watcher, vault


def test_changes_are_seen_after_a_folder_left_the_vault_came_anew_and_both_were_deleted(
    root: Path, left_and_deleted: tuple[Watcher, Vault]
) -> None:
    """WATCH-06: a folder that is still watched after it left the vault ends a thread of
    watchdog's when it is deleted"""
    watcher, vault = left_and_deleted
    shutil.rmtree(root.parent / "Trash")
    (root / "new.md").write_bytes(b"3")

    eventually(lambda: listed(vault) == ["new.md"])
    eventually(lambda: watcher.mode == "events")
    assert listed(vault) == ["new.md"]


def test_watching_ends_after_a_folder_left_the_vault_and_another_at_its_place_was_deleted(
    left_and_deleted: tuple[Watcher, Vault],
) -> None:
    """WATCH-06"""
    watcher, _ = left_and_deleted
    watcher.stop()

    assert watcher.mode == "scans"


@needs("moving folders with open files")
def test_a_vault_that_goes_away_is_missed_and_another_one_in_its_place_is_watched(root: Path) -> None:
    """WATCH-06, SAFE-16"""
    (root / "a.md").write_bytes(b"1")
    watcher = Watcher(Disk(root).root)
    with vault_of(root, watcher) as vault:
        watcher.start()
        eventually(lambda: watcher.mode == "events")
        vault.refresh()
        root.rename(root.parent / "away")
        with pytest.raises(VaultNotFound):
            vault.refresh()
        shutil.copytree(root.parent / "away", root)
        (root / "b.md").write_bytes(b"2")

        eventually(lambda: listed(vault) == ["a.md", "b.md"])
        eventually(lambda: watcher.mode == "events")
        (root / "c.md").write_bytes(b"3")
        eventually(lambda: listed(vault) == ["a.md", "b.md", "c.md"])


def test_a_time_that_a_sync_program_sets_is_seen(root: Path) -> None:
    """WATCH-01"""
    note = root / "a.md"
    note.write_bytes(b"1")
    watcher = Watcher(Disk(root).root)
    with vault_of(root, watcher) as vault:
        watcher.start()
        eventually(lambda: watcher.mode == "events")
        vault.refresh()
        os.utime(note, ns=(1, 1_700_000_000_000_000_123))

        def time_of_change() -> int:
            vault.refresh()
            return vault.catalog.entry("a.md").mtime_ns

        eventually(lambda: time_of_change() == note.stat().st_mtime_ns)
        assert watcher.mode == "events"  # no scan has seen it


def test_now_and_then_a_scan_looks_for_what_was_never_reported(
    live: tuple[Watcher, list[float], threading.Event],
) -> None:
    """WATCH-06"""
    watcher, now, _ = live
    now[0] += 589
    assert watcher.scan_due() == 1
    now[0] += 1
    assert watcher.scan_due() == 0
    watcher.note_scan()
    now[0] += 599
    assert watcher.scan_due() == 1


def test_the_end_waits_for_no_thread_of_watchdogs(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WATCH-02: On Windows such a thread takes up to a fifth of a second."""
    joined: list[str] = []

    def join(thread: threading.Thread, timeout: float | None = None) -> None:
        joined.append(threading.current_thread().name)
        threading.Thread.join(thread, timeout)

    watcher = Watcher(root)
    watcher.start()
    eventually(lambda: watcher.mode == "events")
    monkeypatch.setattr("watchdog.observers.api.EventEmitter.join", join, raising=False)
    monkeypatch.setattr("watchdog.observers.api.EventDispatcher.join", join, raising=False)

    watcher.stop()

    assert watcher.mode == "scans"
    assert threading.current_thread().name not in joined
    eventually(lambda: "watcher-end" in joined)


def test_a_watcher_that_is_stopped_while_it_starts_does_not_watch(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    def begin(observer: Any) -> None:
        watcher.stop()
        threading.Thread.start(observer)
        started.append(observer)

    watcher = Watcher(root)
    monkeypatch.setattr("watchdog.observers.api.BaseObserver.start", begin)
    watcher.start()
    eventually(lambda: started)

    (observer,) = started
    observer.join(WITHIN)
    assert not observer.is_alive()
    assert watcher.mode == "scans"


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "raise fs.inotify.max_user_watches"), (errno.EMFILE, "max_user_instances"), (errno.EIO, "Input")],
)
def test_a_folder_that_is_not_watched_says_why(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    """WATCH-13: and a call finds what changed there all the same."""

    def refuse(_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("watchdog.observers.api.BaseObserver.start", refuse)
    watcher = Watcher(root)
    assert watcher.problem == ""
    watcher.start()
    eventually(lambda: watcher.problem)
    assert said in watcher.problem
    assert watcher.mode == "scans"
    assert watcher.drain() is None


@pytest.mark.parametrize(("cost", "pause"), [(0.001, 0.5), (0.2, 1.8), (3.0, 27.0), (20.0, 60.0)])
def test_the_longer_a_scan_takes_the_later_the_next_one_is_due(cost: float, pause: float) -> None:
    """WATCH-02"""
    now = [100.0]
    scanning = Scanning(clock=lambda: now[0])

    assert [scanning.drain(), scanning.drain()] == [None, set()]
    now[0] += cost
    scanning.note_scan()
    now[0] += pause - 0.01
    assert scanning.drain() == set()
    now[0] += 0.02
    assert scanning.drain() is None


def test_a_flood_of_changes_becomes_one_scan(root: Path, live: tuple[Watcher, list[float], threading.Event]) -> None:
    """WATCH-03"""
    watcher, _, _ = live
    for number in range(MOST_PATHS + 2):
        watcher.report(str(root / f"{number}.md"))

    assert watcher.drain() is None
    watcher.note_scan()
    watcher.report(str(root / "a.md"))
    assert watcher.drain() == {"a.md"}


@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("/v", ""),
        ("/v/a/b.md", "a/b.md"),
        ("/v/.obsidian/app.json", None),
        ("/v/a/.b.md", None),
        ("/vault/a.md", None),
        ("/", None),
    ],
)
def test_only_visible_paths_below_the_root_are_reported(path: str, relative: str | None) -> None:
    assert relative_path(f"{os.sep}v", path.replace("/", os.sep)) == relative


def test_the_file_system_of_a_folder_is_that_of_its_nearest_mount(monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = {"/": "ext4", "/mnt/My Notes": "nfs4", "/mnt": "fuse.sshfs"}
    monkeypatch.setattr(
        "psutil.disk_partitions",
        lambda **_: [
            SimpleNamespace(mountpoint=point.replace("/", os.sep), fstype=kind) for point, kind in mounts.items()
        ],
    )

    def kind_of(path: str) -> str:
        return filesystem_of(path.replace("/", os.sep))

    assert kind_of("/mnt/My Notes/vault") == kind_of("/mnt/My Notes") == "nfs4"
    assert kind_of("/mnt/My Notes 2") == "fuse.sshfs"
    assert kind_of("/home/me") == "ext4"
    mounts.clear()
    assert kind_of("/home/me") == ""


@pytest.mark.parametrize(
    "share", [r"\\wsl$\Ubuntu\home\me\Notes", r"\\wsl.localhost\Debian\srv", r"\\WSL$\Ubuntu", r"\\server\share\Notes"]
)
def test_a_share_of_windows_is_looked_at_and_not_watched(share: str) -> None:
    """WATCH-02: `real_path` makes such a path of the letter of a mapped drive"""
    assert filesystem_of(share) in REMOTE
    assert filesystem_of(rf"\\?\C:\{share[2:]}") not in REMOTE
