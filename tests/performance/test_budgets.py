"""The latency budgets, on a generated vault of 10 000 notes: `make budgets`. Medians; the figures are printed."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.generate import generate, name_of, words
from tests.performance.conftest import FIGURES
from tests.serve.raw import RawServer, initialize_params

NOTES = 10_000
ROUNDS = 5

INITIALIZE = 0.100
TOOLS_LIST = 0.200
READ = 0.050
FILE_OPERATION = 0.100
SEARCH = 0.250
ONE_READ, ONE_SEARCH = 16.0, 28.0
"""Of a command of a script, by the time of a Python process that does nothing. It takes 13 ms on an idle machine, where
the goals are 150 and 250 ms."""
SEARCH_DURING_FIRST_BUILD = 3.0
"""On a busy machine (issue 15.13)."""

SMALL = 2_000
FIRST_BUILD = 2.0
"""Of a vault of so many notes."""

pytestmark = pytest.mark.timing


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("large") / "vault", NOTES)


@pytest.fixture(scope="module")
def start(vault: Path) -> Callable[[], RawServer]:
    return starter(vault, vault.parent / "indexed", indexed=True)


def starter(vault: Path, own: Path, *, indexed: bool) -> Callable[[], RawServer]:
    """Starts servers that keep their index in the folder `own`."""
    environment = {"OBSIDIAN_MCP_CACHE": str(own / "cache"), "OBSIDIAN_MCP_STATE": str(own / "state")}
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(vault)]
    if indexed:
        rebuild = [*command, "index", "rebuild"]
        subprocess.run(rebuild, env={**os.environ, **environment}, check=True, capture_output=True)

    def started() -> RawServer:
        running = RawServer(command, env=environment)
        running.call("ping")
        return running

    return started


@pytest.fixture(scope="module")
def server(start: Callable[[], RawServer]) -> Iterator[RawServer]:
    with start() as running:
        running.initialize()
        yield running


RECALL_SECONDS = 0.15


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def reported(what: str, figures: list[float], budget: float) -> float:
    """Their median, which stands in the summary beside its budget."""
    median = statistics.median(figures)
    FIGURES.append(f"{what}: median {median * 1e3:.1f} ms of {len(figures)}, budget {budget * 1e3:.0f} ms")
    return median


def test_a_command_of_a_script_ends_within_its_budget(vault: Path, tmp_path: Path) -> None:
    """CLI-20: in turns with a process that does nothing, so that the speed of the machine does not matter."""
    env = {**os.environ, "OBSIDIAN_MCP_CACHE": str(tmp_path / "cache"), "OBSIDIAN_MCP_STATE": str(tmp_path / "state")}
    ours = [sys.executable, "-m", "obsidian_mcp", "obsidian"]
    commands = {
        "read": [*ours, "read", f"file={name_of(7, words())}"],
        "search": [*ours, "search", "query=quetzalcoatl400"],
        "pass": [sys.executable, "-c", "pass"],
    }
    figures: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(1 + ROUNDS):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, cwd=vault, env=env, check=True, capture_output=True, timeout=120)
            if number:  # the first search builds the index
                figures[name].append(time.perf_counter() - started)
    nothing = min(figures["pass"])
    for name, budget in (("read", ONE_READ), ("search", ONE_SEARCH)):
        reported(f"obsidian {name}, a process", figures[name], budget * nothing)
        assert min(figures[name]) < budget * nothing


def test_recall_ends_within_three_times_what_reading_a_note_takes(vault: Path, tmp_path: Path) -> None:
    """MEM-40: or within 150 ms, where that is more"""
    folders = {"OBSIDIAN_MCP_CACHE": str(tmp_path / "cache"), "OBSIDIAN_MCP_STATE": str(tmp_path / "state")}
    env = {**os.environ, **folders, "OBSIDIAN_VAULT_PATH": str(vault)}
    ours = [sys.executable, "-m", "obsidian_mcp"]
    commands = {"recall": [*ours, "recall", "quetzalcoatl400"], "read": [*ours, "read", name_of(7, words())]}
    figures: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(1 + ROUNDS):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, env=env, check=True, capture_output=True, timeout=120)
            if number:  # the first one builds the index
                figures[name].append(time.perf_counter() - started)
    budget = max(RECALL_SECONDS, 3 * min(figures["read"]))
    reported("recall, a process", figures["recall"], budget)
    assert min(figures["recall"]) < budget


def test_initialize_is_answered_within_its_budget(start: Callable[[], RawServer]) -> None:
    figures = []
    for _ in range(3):
        with start() as fresh:
            figures.append(seconds(lambda: fresh.call("initialize", initialize_params())))
    assert reported("initialize", figures, INITIALIZE) < INITIALIZE


def test_tools_are_listed_within_their_budget(server: RawServer) -> None:
    figures = [seconds(lambda: server.call("tools/list")) for _ in range(ROUNDS)]
    assert reported("tools/list", figures, TOOLS_LIST) < TOOLS_LIST


def test_file_operations_are_within_their_budget(server: RawServer) -> None:
    vocabulary = words()
    reads, figures = [], []
    for number in range(ROUNDS):
        known = name_of(number * 37, vocabulary)
        for tool, arguments in [
            ("create_note", {"name": f"Fresh {number}", "content": f"See [[{known}]].\n"}),
            ("read_note", {"name": known}),
            ("edit_note", {"name": known, "operation": "append", "content": "more"}),
            ("get_links", {"name": known}),
            ("list_files", {"folder": "Area 01"}),
            ("move_note", {"name": f"Fresh {number}", "to": f"Moved {number}"}),
            ("delete_note", {"name": f"Moved {number}", "permanent": True}),
        ]:
            message = {"name": f"obsidian_{tool}", "arguments": arguments}
            figures.append(seconds(lambda: assert_answered(server, message)))  # noqa: B023
            if tool == "read_note":
                reads.append(figures[-1])
    assert reported("reads", reads, READ) < READ
    assert reported("file operations", figures, FILE_OPERATION) < FILE_OPERATION


def test_searches_are_within_their_budget(server: RawServer) -> None:
    vocabulary = words()
    queries = [
        vocabulary[0],
        vocabulary[4000],
        "quetzalcoatl4000",
        "日本語",
        f"{vocabulary[1]} {vocabulary[2]}",
        "absent7",
    ]
    figures = []
    for query in queries:
        message = {"name": "obsidian_search", "arguments": {"query": query}}
        figures.append(seconds(lambda: assert_answered(server, message)))  # noqa: B023
    assert reported("search", figures, SEARCH) < SEARCH


@pytest.mark.parametrize("match", ["smart", "exact"])
def test_a_search_during_the_first_build_is_answered_in_time(vault: Path, match: str) -> None:
    """INDEX-41"""
    message = {"name": "obsidian_search", "arguments": {"query": "quetzalcoatl4000", "match": match}}
    with starter(vault, vault.parent / match, indexed=False)() as server:
        server.initialize()
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
        try:
            figures = [seconds(lambda: assert_answered(server, message)) for _ in range(3)]
            answer = server.call("tools/call", message)["result"]["structuredContent"]["data"]
        finally:
            for process in busy:
                process.kill()
                process.wait()
    assert answer["incomplete"].startswith("The index is being built: ")
    reported(f"{match} search during the first build", figures, SEARCH_DURING_FIRST_BUILD)
    assert max(figures) < SEARCH_DURING_FIRST_BUILD


def test_a_vault_of_two_thousand_notes_is_whole_soon_after_the_first_call(tmp_path: Path) -> None:
    """INDEX-41"""
    vault = generate(tmp_path / "vault", SMALL)
    message = {"name": "obsidian_graph", "arguments": {"question": "orphans"}}
    with starter(vault, tmp_path, indexed=False)() as server:
        server.initialize()
        figure = seconds(lambda: assert_answered(server, message))
        answer = server.call("tools/call", message)["result"]["structuredContent"]["data"]
    assert "incomplete" not in answer
    assert reported("index of 2 000 notes at the first call", [figure], FIRST_BUILD) < FIRST_BUILD


def assert_answered(server: RawServer, message: dict[str, Any]) -> None:
    answer = server.call("tools/call", message)
    assert "result" in answer, answer
