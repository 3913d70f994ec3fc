"""The contract's latency budgets, on a generated vault of 10 000 notes with an index. Medians; the figures are printed.

What a first build costs those who have to wait for it is in test_steady.py.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.generate import generate, name_of, words
from tests.performance.conftest import FIGURES
from tests.serve.raw import RawServer, initialize_params

NOTES = 10_000
ROUNDS = 5

INITIALIZE = 0.100
TOOLS_LIST = 0.200
FILE_OPERATION = 3.0
SEARCH = 5.0


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], RawServer]:
    vault = generate(tmp_path_factory.mktemp("large") / "vault", NOTES)
    own = {"OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"), "OBSIDIAN_MCP_STATE": str(vault.parent / "state")}
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(vault)]
    subprocess.run([*command, "index", "rebuild"], env={**os.environ, **own}, check=True, capture_output=True)

    def started() -> RawServer:
        running = RawServer(command, env=own)
        running.call("ping")
        return running

    return started


@pytest.fixture(scope="module")
def server(start: Callable[[], RawServer]) -> Iterator[RawServer]:
    with start() as running:
        running.initialize()
        yield running


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def reported(what: str, figures: list[float], budget: float) -> float:
    """Their median, which stands in the summary beside its budget."""
    median = statistics.median(figures)
    FIGURES.append(f"{what}: median {median * 1e3:.1f} ms of {len(figures)}, budget {budget * 1e3:.0f} ms")
    return median


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
    figures = []
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
            figures.append(seconds(lambda: answered(server, message)))  # noqa: B023
    assert reported("file operations", figures, FILE_OPERATION) < FILE_OPERATION
    assert max(figures) < FILE_OPERATION * 3


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
        figures.append(seconds(lambda: answered(server, message)))  # noqa: B023
    assert reported("search", figures, SEARCH) < SEARCH
    assert max(figures) < SEARCH * 2


def answered(server: RawServer, message: dict[str, Any]) -> None:
    answer = server.call("tools/call", message)
    assert "result" in answer, answer
