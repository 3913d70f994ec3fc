"""A change that needs the whole index waits for it without the vault's lock (issue 15.10), and names are looked up
without a scan for each (issue 15.12)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.index_workers import IndexWorkers
from obsidian_mcp.adapters.journal import SqliteJournal
from obsidian_mcp.core.files.ports import DiskFile
from obsidian_mcp.core.operations import bulk, move
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import NoteNotFound
from tests.core.memory import Reported

NOTES = 300


class Counted(Disk):
    scans = 0

    def scan(self, folder: str = "", is_wanted: Callable[[str], bool] | None = None) -> Iterator[DiskFile]:
        self.scans += not folder
        return super().scan(folder, is_wanted)


class Held:
    """A background that has not begun yet."""

    def __init__(self) -> None:
        self.woken = threading.Event()

    def wake(self) -> None:
        self.woken.set()

    def stop(self) -> None:
        pass


@pytest.fixture
def disk(tmp_path: Path) -> Counted:
    root = tmp_path / "vault"
    root.mkdir()
    for number in range(NOTES):
        (root / f"{number}.md").write_text(
            f"---\naliases: Nickname {number}\n---\n[[0]]\n", encoding="utf-8", newline="\n"
        )
    return Counted(root)


@pytest.fixture
def vault(disk: Counted, tmp_path: Path) -> Iterator[Vault]:
    made = Vault("v", disk, Reported(), SqliteJournal(tmp_path / "state"), lambda: open_index(None))
    made.refresh()
    yield made
    made.close()


def test_a_move_during_the_first_build_holds_up_no_other_call(vault: Vault) -> None:
    """INDEX-43"""
    background = vault.indexer.pending.background = Held()
    with ThreadPoolExecutor(2) as threads:
        moving = threads.submit(
            bulk.make, vault, "move_note", lambda: move.relocate(vault, "0.md", "moved.md", update_links=True)
        )
        assert background.woken.wait(30)
        read = threads.submit(lambda: vault.read_text(vault.find("7.md")).text.body)
        created = threads.submit(vault.edit, "edit_note", vault.find("8.md"), lambda body: body + "more\n")
        assert read.result(30).endswith("[[0]]\n")
        assert created.result(30).after.text.body.endswith("more\n")
        assert not moving.done()

        while (batch := vault.indexer.pending.take()) is not None:
            vault.indexer.pending.finish_batch(batch, vault.indexer.pending.ingest(batch))
        moved = moving.result(30)
    assert len(moved.rewritten) == NOTES
    assert (vault.files.root / "8.md").read_text(encoding="utf-8").endswith("[[moved]]\nmore\n")


def test_reads_by_alias_scan_nothing_and_missing_names_share_one_scan(vault: Vault, disk: Counted) -> None:
    """WATCH-05"""
    vault.indexer.complete()
    vault.find("nickname 1")
    before = disk.scans
    for number in range(5):
        assert vault.find(f"nickname {number}").path == f"{number}.md"
    assert disk.scans == before
    for number in range(5):
        with pytest.raises(NoteNotFound):
            vault.find(f"no such note {number}")
    assert disk.scans <= before + 1


def test_a_question_after_a_change_of_many_files_sees_them(vault: Vault) -> None:
    """INDEX-44"""
    vault.indexer.complete()
    workers = IndexWorkers(vault.indexer, vault.files.root)
    workers.start()
    bulk.make(vault, "move_note", lambda: move.relocate(vault, "0.md", "moved.md", update_links=True))
    answer = vault.graph.backlinks(VaultPath("moved.md"))
    workers.stop()

    assert (len(answer.value), answer.notice) == (NOTES, None)
