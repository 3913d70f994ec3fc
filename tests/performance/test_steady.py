"""Steady under load: thousands of changes at once, a build that is killed, thousands of calls (issue 8, 3 and 4).

What is measured is printed; `make budgets` and `make bench` judge times.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmarks import lasting, vaults
from benchmarks.servers import Server, ours
from benchmarks.wire import Wire
from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.adapters.index_database import open_index
from obsidian_mcp.core.files.catalog import Catalog
from obsidian_mcp.core.index.facts import BODY_LIMIT
from obsidian_mcp.core.index.ingest import ingest
from tests.generate import generate
from tests.index_dump import dump
from tests.performance.conftest import FIGURES

NOTES = 600
"""Of short notes: more than a batch of the indexer takes (INDEX-15), and enough to see their first build under way."""
READ = 200
"""Of notes as large as in measured vaults, for thousands of calls."""
PATIENCE = 120.0

CALLS = 3_000
GROWTH = 1.06
"""Of memory, from the first fifth of the calls to the last."""


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("built") / "vault", NOTES, sections=1)


@pytest.fixture
def server(notes: Path, tmp_path: Path) -> Server:
    return ours(Path(shutil.copytree(notes, tmp_path / "vault")))


@contextmanager
def indexed(server: Server) -> Iterator[Wire]:
    """A client of a server whose index is whole."""
    with server.start() as wire:
        wire.initialize()
        wire.call("obsidian_graph", question="orphans", limit=1)  # waits for the whole index
        wire.call("obsidian_search", query="anything")
        yield wire


def file_of(server: Server) -> Path | None:
    found = sorted(Path(server.env["OBSIDIAN_MCP_CACHE"]).rglob("index*.sqlite3"))
    return found[-1] if found else None


def rows_of(file: Path | None) -> dict[str, int]:
    """Path -> the generation in which its rows were written."""
    if file is None:
        return {}
    connection = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return dict(connection.execute("SELECT path, changed FROM files"))
    except sqlite3.OperationalError:  # no tables yet
        return {}
    finally:
        connection.close()


def total(answer: bytes) -> int:
    return int(json.loads(answer)["result"]["structuredContent"]["data"]["total"])


def test_a_checkout_of_many_notes_is_found_whole(server: Server) -> None:
    notes = vaults.paths(NOTES, NOTES)
    command = [sys.executable, "-m", "benchmarks.checkout", str(server.vault), "checkedout"]
    reads: list[float] = []
    searches: list[float] = []
    with indexed(server) as wire, subprocess.Popen(command, stdin=subprocess.PIPE) as writer:
        assert writer.stdin is not None
        writer.stdin.write("\n".join(notes).encode())
        writer.stdin.close()
        end = time.monotonic() + PATIENCE
        found = 0
        while found < len(notes):
            assert time.monotonic() < end, f"{found} of {len(notes)} changed notes were found"
            if writer.poll() is not None and len(reads) >= len(notes):
                # to go on asking would only take the processor from the index
                wire.call("obsidian_graph", question="orphans", limit=1)  # waits for the whole index
            some = notes[len(reads) : len(reads) + 5] or notes[:5]
            reads += [wire.timed("obsidian_read_note", {"name": note}, may_fail=True) for note in some]
            begun = time.perf_counter()
            answer = wire.call("obsidian_search", query="checkedout", match="exact", show="paths", limit=1)
            searches.append(time.perf_counter() - begun)
            found = total(answer)
        assert writer.wait(PATIENCE) == 0
    FIGURES.append(
        f"read while {len(notes)} notes change: median {statistics.median(reads) * 1e3:.1f} ms, "
        f"worst {max(reads) * 1e3:.0f} ms; search worst {max(searches) * 1e3:.0f} ms"
    )


def test_a_build_that_is_killed_goes_on_with_the_notes_that_were_left(server: Server) -> None:
    """INDEX-15"""
    with server.start() as wire:
        wire.initialize()
        end = time.monotonic() + PATIENCE
        while not (done := rows_of(file_of(server))):
            assert time.monotonic() < end
            wire.call("obsidian_list_files", limit=1)
        wire.process.kill()
        wire.process.wait()
    done = rows_of(file_of(server))  # a helper may have ended its batch
    assert 0 < len(done) < NOTES

    with server.start() as wire:
        wire.initialize()
        while len(now := rows_of(file_of(server))) < NOTES:
            assert time.monotonic() < end
            wire.call("obsidian_graph", question="orphans", limit=1)  # waits for the whole index
    assert len(now) == NOTES
    assert {path: now[path] for path in done} == done  # none of them was taken in again

    file = file_of(server)
    assert file is not None
    kept, fresh = open_index(file), open_index(None)
    disk = Disk(server.vault)
    entries = list(Catalog(disk.scan()))
    assert ingest(fresh, lambda entry: disk.head(entry.disk, BODY_LIMIT), disk.stat, entries) == []
    assert dump(kept) == dump(fresh)
    kept.close()
    fresh.close()


def test_a_move_reports_progress_while_it_waits_for_the_index(server: Server) -> None:
    """INDEX-22, INDEX-43"""
    (name,) = vaults.paths(NOTES, 1)
    with server.start() as wire:
        wire.initialize()
        arguments = {"name": name, "to": "Moved.md"}
        params = {"name": "obsidian_move_note", "arguments": arguments, "_meta": {"progressToken": "p"}}
        number = wire.send("tools/call", params)
        reports: list[dict[str, Any]] = []
        while (message := json.loads(wire.line())).get("id") != number:
            if message.get("method") == "notifications/progress":
                reports.append(message["params"])
    assert message["result"]["structuredContent"]["data"]["moved"]
    progress = [report["progress"] for report in reports]
    assert progress
    assert all(0 <= report["progress"] <= report["total"] <= NOTES for report in reports)


def test_thousands_of_calls_of_all_kinds_need_no_more_memory(tmp_path: Path) -> None:
    server = ours(generate(tmp_path / "vault", READ))
    calls = cycle(lasting.mixed(vaults.paths(READ)))
    seen = []
    with vaults.changing(server.vault, lasting.SCRATCH), indexed(server) as wire:
        process = psutil.Process(wire.process.pid)  # without the workers, which come and go
        wire.ask("resources/list")  # the server loads the SDK for this, once
        for _ in range(10):
            wire.together(islice(calls, CALLS // 10), lasting.IN_FLIGHT, may_fail=True)
            seen.append(process.memory_info().rss)
    FIGURES.append(f"memory over {CALLS} calls, MB: " + ", ".join(f"{size / 1e6:.0f}" for size in seen))
    assert seen[-1] < seen[1] * GROWTH
