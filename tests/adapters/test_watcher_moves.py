"""Whatever folders a vault's programs move: files that change afterwards are found (WATCH-04)."""

from __future__ import annotations

import contextlib
import itertools
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.index_workers import IndexWorkers
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.adapters.watcher import Watcher
from obsidian_mcp.core.vault.operation import Move
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import AppError
from tests.examples import examples

WITHIN = 10.0
"""Seconds a busy test machine may take to report a change."""
QUIET_SECONDS = 0.6
"""After so long nothing comes: watchdog waits half a second for where a folder went."""
FILES = ("a/b/x.md", "a/b/y.md", "a/c/z.md", "c/x.md", "d/q.md")


class Rename(NamedTuple):
    """A folder that gets another path, whose folders are made."""

    is_ours: bool
    """Whether this program renames it, else another."""
    source: str
    target: str


paths = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map("/".join)
renames = st.builds(Rename, st.booleans(), paths, paths)


class WatchedVault:
    """A vault on a disk that is watched, by another server where there is one."""

    def __init__(self, folder: Path) -> None:
        self._root = folder / "vault"
        for path in FILES:
            (self._root / path).parent.mkdir(parents=True, exist_ok=True)
            (self._root / path).write_bytes(b"1")
        self._notified = threading.Event()
        self._watcher = Watcher(self._root, self._notified.set, meeting_place=folder / "cache")
        journal = SqliteJournal(folder / "state")
        self._vault = Vault("v", Disk(self._root), self._watcher, journal, lambda: open_index(None))
        self._watcher.start()
        assert self._notified.wait(WITHIN)
        self.settle()

    def close(self) -> None:
        self._watcher.stop()
        self._vault.close()

    def look_aside(self) -> None:
        """Look in a thread of its own from now on whenever something is reported, as a server does."""
        IndexWorkers(self._vault.indexer, self._root, self._vault.catch_up, self._notified).start()

    def rename(self, rename: Rename) -> None:
        """Rename a folder where that can be done."""
        source, target = self._root / rename.source, self._root / rename.target
        if not source.is_dir() or target.exists() or target.is_relative_to(source):
            return
        if rename.is_ours:
            with contextlib.suppress(AppError):  # the other program's renames may be unknown yet
                self._vault.commit("move_note", [Move(rename.source, rename.target)])
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)

    def settle(self) -> None:
        """Look on, as the background does, until nothing is reported or due for a while."""
        is_quiet = False
        while not is_quiet:
            self._notified.clear()
            due = self._vault.catch_up()
            pause = QUIET_SECONDS if due is None else min(due, QUIET_SECONDS)
            is_quiet = not self._notified.wait(pause) and pause == QUIET_SECONDS

    def write(self, path: str, text: bytes) -> None:
        """Write a file as another program does, and wait until it is known as it is."""
        (self._root / path).write_bytes(text)
        end = time.monotonic() + WITHIN
        while self.listed() != self.on_disk():
            assert time.monotonic() < end, path
            self._notified.wait(0.05)
            self._vault.catch_up()

    def listed(self) -> dict[str, int]:
        self._vault.refresh()
        return {entry.disk: entry.size for entry in self._vault.entries()}

    def on_disk(self) -> dict[str, int]:
        found = (Path(folder) / name for folder, _, names in os.walk(self._root) for name in names)
        return {file.relative_to(self._root).as_posix(): file.stat().st_size for file in found}


@contextlib.contextmanager
def watched_vault(*, follows: bool = False) -> Iterator[WatchedVault]:
    """A vault whose server watches, or follows one that does."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        if follows:
            leader = WatchedVault(Path(folder))
            stack.callback(leader.close)
            leader.look_aside()
        vault = WatchedVault(Path(folder))
        stack.callback(vault.close)
        yield vault


@examples(10)
@given(st.lists(renames, min_size=1, max_size=8), st.booleans())
@example([Rename(False, "a/b", "n/b/q/a"), Rename(False, "a", "e"), Rename(False, "e", "f")], False)
@example([Rename(False, "a/b", "n/b/q/a"), Rename(False, "a", "e"), Rename(False, "e", "f")], True)
@example([Rename(True, "a/b", "d/b/a"), Rename(False, "a/c", "d/c/b")], False)
@example([Rename(True, "a/b", "d/b/a"), Rename(False, "a/c", "d/c/b")], True)
def test_after_any_renames_of_folders_every_file_that_changes_is_found(program: list[Rename], follows: bool) -> None:
    """WATCH-04, WATCH-06, WATCH-14: watchdog took what happened in one folder for another's"""
    with watched_vault(follows=follows) as vault:
        for rename in program:
            vault.rename(rename)
        vault.settle()
        for length, path in zip(itertools.count(2), sorted(vault.on_disk()), strict=False):
            vault.write(path, b"x" * length)


def test_a_folder_is_watched_where_it_is_after_the_one_that_it_left_moved() -> None:
    """WATCH-04"""
    with watched_vault() as vault:
        vault.rename(Rename(False, "a/b", "n/b/q/a"))
        vault.settle()
        vault.rename(Rename(False, "a", "e"))
        vault.settle()
        vault.write("n/b/q/a/y.md", b"longer")
