"""What a server costs while nobody asks for anything (specs/index.md INDEX-58)."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psutil
import pytest

from benchmarks.idle import wakes_by_thread
from benchmarks.servers import ours
from benchmarks.turns import settle
from tests.generate import generate
from tests.serve.raw import initialize_params, request, tool_call
from tests.serve.serving import started

SECONDS = 10.0
FEW = 3
"""Wakes that other things than a timer may cause in that time."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts how often threads wake")
def test_an_idle_server_does_not_wake(tmp_path: Path) -> None:
    """INDEX-58, WATCH-14: a timer that looks around every two seconds would wake it five times. One of two servers of a
    vault tells the other one of changes, of which a client wants to know."""
    vault = generate(tmp_path / "vault", 40)
    with ours(vault).start() as leader, ours(vault).start() as follower:
        for wire in (leader, follower):
            wire.initialize()
            wire.call("obsidian_search", query="anything")
            wire.call("obsidian_list_tasks")
        follower.ask("resources/subscribe", {"uri": "obsidian://recent"})
        settle([leader, follower], quiet=3.0)
        with ThreadPoolExecutor() as pool:
            pids = [wire.process.pid for wire in (leader, follower)]
            for wakes in pool.map(wakes_by_thread, pids, [SECONDS] * 2):
                print(wakes)
                assert sum(wakes.values()) <= FEW, wakes


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts how often threads wake")
def test_an_idle_http_server_does_not_wake(tmp_path: Path) -> None:
    """LIFE-08: uvicorn looks ten times a second whether it is to stop."""
    vault = generate(tmp_path / "vault", 40)
    with started(vault) as (process, (url,)), httpx.Client(base_url=url, timeout=60) as client:
        accepts = {"Accept": "application/json, text/event-stream"}
        begun = client.post("/mcp", json=request(1, "initialize", initialize_params()), headers=accepts)
        session = {"mcp-session-id": begun.headers["mcp-session-id"], **accepts}
        client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session)
        searched = client.post("/mcp", json=tool_call(2, "obsidian_search", {"query": "anything"}), headers=session)
        assert searched.status_code == 200
        wait_until_idle(psutil.Process(process.pid))
        wakes = wakes_by_thread(process.pid, SECONDS)
        print(wakes)
        assert sum(wakes.values()) <= FEW, wakes
        assert client.get("/").headers["date"]


def wait_until_idle(process: psutil.Process) -> None:
    """Wait until a process has computed almost nothing for three seconds."""
    before, now = -1.0, 0.0
    while now - before > 0.1:
        time.sleep(3)
        before, now = now, sum(process.cpu_times()[:2])
