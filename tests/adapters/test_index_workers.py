"""Worker processes store the rows that this process would, and none of them outlives its use (specs/index.md)."""

from __future__ import annotations

import errno
import multiprocessing
import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psutil
import pytest

from obsidian_mcp.adapters import index_pool, index_workers
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.adapters.index_workers import NICENESS, IndexWorkers
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.files.file_entry import FileEntry
from obsidian_mcp.core.files.ports import Change
from obsidian_mcp.core.index import pending_files, search_document
from obsidian_mcp.core.index.database import Replaced
from obsidian_mcp.core.index.facts import BODY_LIMIT
from obsidian_mcp.core.index.index import Index
from obsidian_mcp.core.index.indexer import Indexer
from obsidian_mcp.core.index.ingest import IndexBatch, ingest
from obsidian_mcp.core.index.pending_files import BATCH_FILES, FRESH_FILES, PendingFiles
from obsidian_mcp.core.text.call import limit_call
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import VaultNotFound
from tests.index_dump import dump
from tests.system import needs

NOTES = {
    "a.md": b"---\ntags: [x]\n---\n[[b|c]] #t\n- [ ] task",
    "broken.md": b"---\nx: [\n---\n\xff",
    "c.canvas": b'{"nodes": [{"id": "1", "type": "file", "file": "a.md"}]}',
    "\u00e9.md": "日本語 [[a]]".encode(),
}
MANY = 2 * BATCH_FILES + FRESH_FILES
WITHIN = 60.0


class Vault:
    """A folder with an index beside it."""

    def __init__(self, folder: Path, file: Path | None) -> None:
        self.root = folder / "vault"
        self.root.mkdir(exist_ok=True)
        for name, data in NOTES.items():
            (self.root / name).write_bytes(data)
        for number in range(MANY - len(NOTES)):
            (self.root / f"{number}.md").write_text(f"[[{number + 1}]] #t{number % 3}", encoding="utf-8")
        self.disk = Disk(self.root)
        self.catalog = Catalog(self.disk.scan())
        self.index = open_index(file)
        self.indexer = Indexer(PendingFiles(self.index, lambda: list(self.catalog), self.head, self.disk.stat))

    def head(self, entry: FileEntry) -> bytes:
        return self.disk.head(entry.disk, BODY_LIMIT)

    def expected(self) -> dict[str, list[tuple[Any, ...]]]:
        """The rows that this process gives for all files."""
        here = open_index(None)
        ingest(here, self.head, self.disk.stat, sorted(Catalog(self.disk.scan())))
        rows = dump(here)
        here.close()
        return rows


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    made = Vault(tmp_path, tmp_path / "cache" / "index.db")
    yield made
    made.index.close()


@pytest.fixture
def start(vault: Vault) -> Iterator[Callable[..., IndexWorkers]]:
    started: list[IndexWorkers] = []

    def begin(niceness: int = 0, pool_files: int = 1) -> IndexWorkers:
        started.append(IndexWorkers(vault.indexer, vault.root, niceness=niceness, pool_files=pool_files))
        started[-1].start()
        return started[-1]

    yield begin
    for workers in started:
        workers.stop()
    eventually(lambda: not processes())  # the next test looks at its own


def processes() -> list[BaseProcess]:
    """Worker processes that this one has started."""
    return list(multiprocessing.active_children())


def eventually(answer: Callable[[], object]) -> None:
    end = time.monotonic() + WITHIN
    while not answer():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)


def segments(index: Index) -> int:
    with index.database.read_transaction() as connection:
        (count,) = connection.execute("SELECT count(DISTINCT segid) FROM search_idx").fetchone()
    return int(count)


def found(index: Index, expression: str) -> int:
    """In how many files the full-text index finds an expression."""
    with index.database.read_transaction() as connection:
        (count,) = connection.execute("SELECT count(*) FROM search WHERE search MATCH ?", (expression,)).fetchone()
    return int(count)


@pytest.mark.parametrize("pool_files", [1, 1_000_000])
def test_the_background_stores_the_rows_that_this_process_would(
    vault: Vault, start: Callable[..., IndexWorkers], pool_files: int
) -> None:
    """INDEX-29"""
    start(pool_files=pool_files)
    vault.indexer.complete()

    assert bool(processes()) == (pool_files == 1)
    assert vault.indexer.pending.by_path == {}
    assert dump(vault.index) == vault.expected()


def test_files_that_make_many_batches_are_stored_to_the_last_one(
    vault: Vault, start: Callable[..., IndexWorkers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """INDEX-43"""
    monkeypatch.setattr(pending_files, "BATCH_BYTES", 1_000)
    start(pool_files=1_000_000)
    with limit_call(WITHIN):
        vault.indexer.complete()

    assert vault.indexer.pending.by_path == {}


@pytest.mark.parametrize(("prompt_seconds", "lower"), [(0.0, NICENESS), (60.0, 0)])
def test_workers_of_a_server_give_way_to_its_calls_but_for_the_first_seconds(
    vault: Vault,
    start: Callable[..., IndexWorkers],
    monkeypatch: pytest.MonkeyPatch,
    prompt_seconds: float,
    lower: int,
) -> None:
    """INDEX-29"""
    monkeypatch.setattr(index_workers, "PROMPT_SECONDS", prompt_seconds)
    start(NICENESS)
    vault.indexer.pending.wait(30, lambda: bool(vault.indexer.pending.by_path), None)
    found = processes()
    assert len(found) == 1 if lower else found
    if hasattr(os, "getpriority"):
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert {os.getpriority(os.PRIO_PROCESS, process.pid or 0) for process in found} <= {min(own + lower, 19), own}
        assert min(own + lower, 19) in {os.getpriority(os.PRIO_PROCESS, process.pid or 0) for process in found}
    loaded = "import sys; from obsidian_mcp.adapters import pool_process; print('obsidian_mcp.core' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-P", "-c", loaded], encoding="utf-8").strip() == "False"


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_memory_is_given_back_once_when_nobody_asks_for_a_while(
    vault: Vault, start: Callable[..., IndexWorkers], monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """INDEX-58: after each rest the next question begins to count anew, also where work takes longer than the while."""
    monkeypatch.setattr(index_workers, "LINGER_SECONDS", 0.01)
    monkeypatch.setattr(index_workers, "REST_SECONDS", seconds)
    rests: list[None] = []
    vault.indexer.resting.add(rests.append)
    start(NICENESS)
    with limit_call(WITHIN):
        vault.indexer.complete()
    for _ in range(2):
        rests.clear()
        # with connections of its own again
        assert vault.indexer.query(lambda rows: len(rows.paths())) == MANY
        eventually(lambda: rests and vault.indexer.is_at_rest)


def test_workers_end_when_there_is_no_work(
    vault: Vault, start: Callable[..., IndexWorkers], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_workers, "LINGER_SECONDS", 0.01)
    start()
    vault.indexer.pending.begin()
    eventually(processes)
    vault.indexer.complete()
    eventually(lambda: not processes())
    assert dump(vault.index) == vault.expected()


def test_the_full_text_index_is_in_one_piece_soon_after_a_build(
    vault: Vault, start: Callable[..., IndexWorkers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """INDEX-45"""
    monkeypatch.setattr(index_workers, "LINGER_SECONDS", 0.01)
    monkeypatch.setattr(pending_files, "BATCH_BYTES", 1_000)
    monkeypatch.setattr(search_document, "FEW_SEGMENTS", 1)
    monkeypatch.setattr(search_document, "MERGED_PAGES", 1)
    start(pool_files=1_000_000)
    vault.indexer.complete()

    eventually(lambda: segments(vault.index) == 1)
    assert dump(vault.index) == vault.expected()
    assert found(vault.index, "task") == found(vault.index, "body : ta*") == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # Python's own, of the pool
def test_when_a_worker_dies_its_files_are_stored_here(vault: Vault, start: Callable[..., IndexWorkers]) -> None:
    """INDEX-29"""
    start()
    vault.indexer.pending.begin()
    eventually(processes)
    for process in processes():
        process.kill()
    vault.indexer.complete()

    assert dump(vault.index) == vault.expected()
    eventually(lambda: not processes())


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EROFS, "Read-only file system"),  # as in a container whose /dev/shm cannot be written
        ValueError("bad value(s) in fds_to_keep"),  # as when a worker dies while the next is started
    ],
    ids=["system", "python"],
)
def test_where_no_process_can_be_made_the_files_are_stored_here(
    vault: Vault, start: Callable[..., IndexWorkers], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """INDEX-29: The index stayed empty for ever."""

    def refused(_: int) -> None:
        raise error

    monkeypatch.setattr(index_pool, "WorkerPool", refused)
    start()
    with limit_call(WITHIN):
        vault.indexer.complete()

    assert vault.indexer.pending.by_path == {}
    assert dump(vault.index) == vault.expected()


def test_an_error_in_the_middle_of_a_build_leaves_no_file_that_is_waited_for_in_vain(
    vault: Vault, start: Callable[..., IndexWorkers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """INDEX-43"""

    def once(error: Exception, original: Callable[..., Any]) -> Callable[..., Any]:
        errors = [error]

        def call(*given: Any) -> Any:
            if errors:
                raise errors.pop()
            return original(*given)

        return call

    monkeypatch.setattr(vault.indexer.pending, "ingest", once(Replaced(), vault.indexer.pending.ingest))
    monkeypatch.setattr(
        vault.indexer.pending, "step", once(VaultNotFound("The disk is gone."), vault.indexer.pending.step)
    )
    start(pool_files=1_000_000)
    with limit_call(WITHIN):
        with suppress(VaultNotFound):  # whoever meets it says so
            vault.indexer.complete()
        vault.indexer.complete()

    assert vault.indexer.pending.by_path == {}


def test_an_index_in_memory_is_filled_by_this_process(tmp_path: Path) -> None:
    """INDEX-13"""
    vault = Vault(tmp_path, None)
    workers = IndexWorkers(vault.indexer, vault.root, pool_files=1)
    workers.start()
    vault.indexer.complete()
    workers.stop()
    assert dump(vault.index) == vault.expected()
    vault.index.close()


def test_a_worker_stores_what_changed_meanwhile_as_it_is_and_leaves_out_what_is_gone(vault: Vault) -> None:
    """INDEX-04"""
    entries = [entry for entry in sorted(vault.catalog) if entry.path in NOTES]
    (vault.root / "a.md").write_bytes(b"longer than it was, certainly longer than that")
    (vault.root / "c.canvas").unlink()
    assert vault.index.database.file is not None

    refused = index_pool.store(
        vault.root, vault.index.database.file, IndexBatch(tuple(entries), (VaultPath("no.md"),), 0), 0
    )
    assert sorted(entry.path for entry in refused) == ["c.canvas"]
    assert vault.index.status().files == 3


SERVER = """
    import sys, time
    from pathlib import Path
    from obsidian_mcp.adapters import index_pool
    from obsidian_mcp.core.index.ingest import IndexBatch

    def main():
        pool = index_pool.WorkerPool()
        pool.submit(index_pool.store, Path(sys.argv[1]), Path(sys.argv[2]), IndexBatch((), (), 0), 0).result()
        print("begun", flush=True)
        time.sleep(600)

    if __name__ == "__main__":
        main()
"""


@needs("list of processes")
def test_workers_end_with_a_server_that_is_killed_and_let_go_of_its_pipes(vault: Vault, tmp_path: Path) -> None:
    script = tmp_path / "bin" / "server.py"
    script.parent.mkdir()
    script.write_text(textwrap.dedent(SERVER), encoding="utf-8")
    (tmp_path / "random.py").write_text("raise SystemExit('imported from the current folder')", encoding="utf-8")
    command = [sys.executable, str(script), str(vault.root), str(vault.index.database.file)]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            assert server.stdout.readline().split() == [b"begun"]
            children = psutil.Process(server.pid).children(recursive=True)
            assert children
        finally:
            server.kill()
        server.wait()
        assert server.stdout.read() == b""  # nobody else holds its end
    _, alive = psutil.wait_procs(children, WITHIN)
    assert alive == []


def test_what_single_changes_leave_is_merged_in_the_background(
    vault: Vault, start: Callable[..., IndexWorkers], monkeypatch: pytest.MonkeyPatch
) -> None:
    """INDEX-45"""
    monkeypatch.setattr(index_workers, "LINGER_SECONDS", 0.01)
    start(NICENESS)
    with limit_call(WITHIN):
        vault.indexer.complete()
    changes = 3 * search_document.FEW_SEGMENTS
    for n in range(changes):
        (vault.root / f"{n}.md").write_text(f"heron {n}\n", encoding="utf-8")
        entries = {entry.path: entry for entry in Catalog(vault.disk.scan())}
        vault.indexer.pending.note([Change(VaultPath(f"{n}.md"))], entries.get)
        assert vault.indexer.freshen().pending == 0

    eventually(lambda: segments(vault.index) <= search_document.FEW_SEGMENTS)
    assert found(vault.index, "heron") == changes


def test_a_look_that_is_due_does_not_wait_until_the_index_is_tidied(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WATCH-02: after a change was stored, a scan that was due in half a second came after two."""
    monkeypatch.setattr(index_workers, "LINGER_SECONDS", 3_600.0)
    looks: list[int] = []

    def look() -> float:
        looks.append(len(looks))
        return 0.01

    workers = IndexWorkers(vault.indexer, vault.root, look, niceness=NICENESS, pool_files=1_000_000)
    workers.start()
    try:
        with limit_call(WITHIN):
            vault.indexer.complete()
        before = len(looks)
        eventually(lambda: len(looks) > before + 2)
    finally:
        workers.stop()
