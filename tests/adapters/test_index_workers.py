"""Processes that take in notes for the index: the same rows as this one gives, and none of them outlives its use."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_workers import MODEST, Helper
from obsidian_mcp.core.files.catalog import Catalog, FileEntry
from obsidian_mcp.core.index.extract import BODY_LIMIT
from obsidian_mcp.core.index.index import Busy, Index, Replaced
from obsidian_mcp.core.index.ingest import Intake
from obsidian_mcp.core.text.vault_path import VaultPath

NOTES = {
    "a.md": b"---\ntags: [x]\n---\n[[b|c]] #t\n- [ ] task",
    "broken.md": b"---\nx: [\n---\n\xff",
    "c.canvas": b'{"nodes": [{"id": "1", "type": "file", "file": "a.md"}]}',
    "\u00e9.md": "日本語 [[a]]".encode(),
}

Rows = dict[str, list[tuple[Any, ...]]]


class Vault:
    """A folder with an index beside it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.root.mkdir()
        for name, data in NOTES.items():
            (self.root / name).write_bytes(data)
        self.disk = Disk(self.root)
        self.intake = self.opened(folder / "cache" / "index.db")

    def opened(self, place: Path | None) -> Intake:
        return Intake(Index.open(place), lambda entry: self.disk.head(entry.disk, BODY_LIMIT), self.disk.stat)

    def entries(self) -> list[FileEntry]:
        return sorted(Catalog(self.disk.scan()))

    def expected(self) -> Rows:
        """The rows that this process gives for all files."""
        here = self.opened(None)
        here.take_in(self.entries(), ())
        rows = here.index.dump()
        here.index.close()
        return rows

    def rows(self) -> Rows:
        return self.intake.index.dump()


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path)
    yield made
    made.intake.index.close()


@pytest.fixture
def helper(vault: Vault) -> Iterator[Helper]:
    made = Helper(vault.root)
    yield made
    made.rest()


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="only Linux can run what nobody else wants")
@pytest.mark.parametrize("niceness", [0, MODEST])
def test_a_modest_helper_gives_way_before_it_loads_anything(vault: Vault, niceness: int) -> None:
    helper = Helper(vault.root, niceness)
    try:
        helper.take_in(vault.intake, vault.entries(), ())
        assert helper._process is not None
        assert os.sched_getscheduler(helper._process.pid) == (os.SCHED_IDLE if niceness else os.SCHED_OTHER)
        command = helper._process.args
    finally:
        helper.rest()
    assert isinstance(command, list)
    first = command[-1].splitlines()[:2]
    loaded = "\n".join(
        [*first, "import sys", "print([each for each in sys.modules if each.startswith('obsidian_mcp.core')])"]
    )
    said = subprocess.run([sys.executable, "-P", "-c", loaded], capture_output=True, check=True)
    assert said.stdout.strip() == b"[]"


# INDEX-29
def test_a_helper_stores_the_rows_that_this_process_would(vault: Vault, helper: Helper) -> None:
    entries = vault.entries()
    assert helper.take_in(vault.intake, entries[:2], ()) == []
    helper.rest()
    assert helper.take_in(vault.intake, entries[2:], ()) == []
    assert vault.rows() == vault.expected()

    (vault.root / "a.md").unlink()
    (vault.root / "broken.md").write_bytes(b"[[c]]")
    changed = [entry for entry in vault.entries() if entry.path == "broken.md"]
    assert helper.take_in(vault.intake, changed, [VaultPath("a.md")]) == []
    assert vault.rows() == vault.expected()
    assert helper.apart


# INDEX-04
def test_a_helper_leaves_out_what_changed_meanwhile_or_is_gone(vault: Vault, helper: Helper) -> None:
    entries = {entry.path: entry for entry in vault.entries()}
    (vault.root / "a.md").write_bytes(b"longer than it was, certainly longer than that")
    (vault.root / "c.canvas").unlink()

    refused = helper.take_in(vault.intake, list(entries.values()), ())
    assert sorted(entry.path for entry in refused) == ["a.md", "c.canvas"]
    assert vault.intake.index.status().files == 2


def test_a_helper_ends_when_it_may_rest(vault: Vault, helper: Helper) -> None:
    helper.take_in(vault.intake, vault.entries(), ())
    process = helper._process
    assert process is not None
    assert process.poll() is None
    helper.rest()
    assert process.poll() is not None


def test_a_helper_ends_with_its_server(vault: Vault, helper: Helper) -> None:
    helper.take_in(vault.intake, vault.entries(), ())
    process = helper._process
    assert process is not None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(10) == 0


# INDEX-29
def test_when_a_helper_dies_its_notes_are_taken_in_here(vault: Vault, helper: Helper) -> None:
    helper.take_in(vault.intake, vault.entries()[:1], ())
    assert helper._process is not None
    helper._process.kill()
    helper._process.wait()

    assert helper.take_in(vault.intake, vault.entries(), ()) == []
    assert vault.rows() == vault.expected()
    assert helper._process is None
    assert not helper.apart


def test_where_no_process_can_be_started_notes_are_taken_in_here(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert Helper(vault.root).take_in(vault.intake, vault.entries(), ()) == []
    assert vault.rows() == vault.expected()


# INDEX-13
def test_an_index_in_memory_is_filled_by_this_process(vault: Vault, helper: Helper) -> None:
    memory = vault.opened(None)
    assert helper.take_in(memory, vault.entries(), ()) == []
    assert memory.index.dump() == vault.expected()
    assert helper._process is None
    memory.index.close()


# INDEX-12
def test_a_helper_replaces_no_damaged_index_but_goes_on_with_the_next(vault: Vault, helper: Helper) -> None:
    helper.take_in(vault.intake, vault.entries(), ())
    file = vault.intake.index.file
    assert file is not None
    vault.intake.index.clear()
    assert vault.intake.index.file != file
    assert helper.take_in(vault.intake, vault.entries(), ()) == []
    assert vault.rows() == vault.expected()

    file = vault.intake.index.file
    assert file is not None
    with vault.intake.index._database.writing() as connection:
        connection.execute("PRAGMA user_version=7")
    another = Helper(vault.root)
    assert another._ask(vault.intake.index, file, vault.entries(), ()) is None
    another.rest()
    assert vault.intake.index.file == file
    with pytest.raises(Replaced):
        Index.visit(file)
    with pytest.raises(Replaced):
        Index.visit(file.with_name("none.db"))


# INDEX-14
def test_a_helper_waits_for_the_writers_of_its_server(vault: Vault, helper: Helper) -> None:
    index, entries = vault.intake.index, vault.entries()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with index.alone():
            held.set()
            release.wait(30)

    holding = threading.Thread(target=hold)
    holding.start()
    assert held.wait(30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "alone", partial(index.alone, 0.01))
        with pytest.raises(Busy):
            helper.take_in(vault.intake, entries, ())
    release.set()
    holding.join(30)
    assert helper.take_in(vault.intake, entries[:1], ()) == []  # and what it had prepared is forgotten
    assert index.status().files == 1
