"""Short calls pass long ones, whoever sends them and in whatever dialect (specs/http.md HTTP-13)."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from typing import Any

import httpx
import pytest

from obsidian_mcp.app import App
from obsidian_mcp.contracts.rad.tools import Bridge, ToolSpec
from obsidian_mcp.serve.call_queue import COMPUTING, LONG_SECONDS, OLDEST_EVERY, CallQueue
from tests.serve.serving import serving

THREADS = 40
"""Those that the server has for calls."""
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
}
FRONTS = ["bridge", "rpc", "envelope", "registry", "session"]


def ask(url: str, front: str, tool: str, arguments: dict[str, Any]) -> str:
    """The answer to a call in the dialect of a front."""
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params = {"name": tool, "arguments": arguments}
    path, body, headers = {
        "bridge": (f"/bridge/v1/tools/{tool}/call", {"arguments": arguments}, {}),
        "rpc": ("/mcp", {**rpc, "params": params}, {}),
        "envelope": ("/mcp", {"id": "1", "method": "call_tool", "name": tool, "args": arguments}, {}),
        "registry": ("/mcp/v1/tools/invoke", {"tool": tool, "input": arguments}, {}),
        "session": ("/mcp", {**rpc, "params": {**params, "_meta": MODERN}}, {**HEADERS, "mcp-name": tool}),
    }[front]
    answer = httpx.post(url + path, json=body, headers=headers, timeout=60, verify=False)
    assert answer.status_code == 200, answer.text
    return answer.text


class Work:
    """A tool `work` that computes for `milliseconds`; behind a closed gate it waits until that opens."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        """The names of the calls, in the order in which they began."""
        self.has_begun = threading.Semaphore(0)
        self.gate = threading.Event()
        self.gate.set()
        self.bridge = Bridge()
        self.bridge.register_tool(ToolSpec("work", ""))
        self.bridge.register_tool_handler("work", self._work)

    def _work(self, given: dict[str, Any]) -> str:
        self.begun.append(given["name"])
        self.has_begun.release()
        until = time.thread_time() + given["milliseconds"] / 1000
        while time.thread_time() < until:
            pass
        assert self.gate.wait(60)
        return "worked"

    def forget(self) -> None:
        self.begun.clear()
        self.has_begun = threading.Semaphore(0)
        self.gate.clear()

    def wait_for(self, calls: int) -> None:
        for _ in range(calls):
            assert self.has_begun.acquire(timeout=30)


LONG = {"name": "long", "milliseconds": 2 * LONG_SECONDS * 1000}


@contextmanager
def many(url: str, front: str, calls: list[dict[str, Any]], work: Work) -> Iterator[list[Future[str]]]:
    """Calls of `work` in flight, each on a connection of its own; they end with the block."""
    with ThreadPoolExecutor(len(calls)) as pool:
        try:
            yield [pool.submit(ask, url, front, "work", arguments) for arguments in calls]
        finally:
            work.gate.set()


@pytest.mark.parametrize("front", FRONTS)
def test_a_short_call_passes_more_long_ones_than_there_are_threads(app: App, front: str) -> None:
    """HTTP-13"""
    work = Work()
    with serving(app, work.bridge) as url:
        ask(url, front, "work", LONG)
        work.forget()
        with many(url, front, [LONG] * (THREADS + 5), work) as waiting:
            work.wait_for(COMPUTING)
            assert "Home" in ask(url, front, "obsidian_read_note", {"name": "Home"})
            assert len(work.begun) < THREADS
            assert not any(call.done() for call in waiting)
    assert all("worked" in call.result() for call in waiting)


def test_the_first_calls_of_a_kind_do_not_all_begin_at_once(app: App) -> None:
    """HTTP-13: how long they take is known when the first of them has ended."""
    work = Work()
    with serving(app, work.bridge) as url:
        work.forget()
        with many(url, "rpc", [LONG] * (THREADS + 5), work):
            work.wait_for(1 + COMPUTING)
            assert "Home" in ask(url, "rpc", "obsidian_read_note", {"name": "Home"})
            assert len(work.begun) < THREADS


def order_of_starts(calls: list[tuple[int, float]], before: list[tuple[int, float]] | None = None) -> list[int]:
    """The kinds of the calls, each with its usual time, in the order in which a queue that is full starts them.

    `before`: the calls that have ended, where these are not two of each kind.
    """
    begun: list[int] = []

    async def take_turn(queue: CallQueue, kind: int, seconds: float) -> None:
        async with queue.turn(kind) as turn:
            begun.append(kind)
            turn.took = seconds

    async def start_all() -> None:
        queue = CallQueue()
        for kind, seconds in [call for call in calls for _ in range(2)] if before is None else before:
            await take_turn(queue, kind, seconds)
        begun.clear()
        async with AsyncExitStack() as stack:
            for _ in range(COMPUTING + 1):  # the first of a kind takes no place
                await stack.enter_async_context(queue.turn(-1))
            waiting = [asyncio.create_task(take_turn(queue, kind, seconds)) for kind, seconds in calls]
            await asyncio.sleep(0)
        await asyncio.gather(*waiting)

    asyncio.run(start_all())
    return begun


def test_of_the_long_calls_that_wait_the_shortest_begins_first() -> None:
    """HTTP-13"""
    assert order_of_starts([(1, 0.9), (2, 0.2), (3, 0.0), (4, 0.5)]) == [3, 2, 4, 1]


def test_the_longest_call_does_not_wait_for_ever() -> None:
    """HTTP-13: every fifth that begins is the one that has waited longest."""
    shorter = [(kind, 0.1) for kind in range(1, 4 * OLDEST_EVERY)]
    order = order_of_starts([(0, 9.0), *shorter])
    assert order.index(0) < OLDEST_EVERY
    assert sorted(order) == list(range(4 * OLDEST_EVERY))


def test_one_slow_call_does_not_make_its_kind_long() -> None:
    """HTTP-13: it may have loaded modules, or an index."""
    assert order_of_starts([(1, 0.9), (2, 0.5)], before=[(1, 0.9), (1, 0.9), (2, 0.001), (2, 0.5)]) == [2, 1]


def test_what_calls_are_found_to_take_holds_for_those_that_wait() -> None:
    """HTTP-13: of both kinds one call has ended, which took long; a second one of the first tells them apart."""

    async def start_all() -> list[int]:
        queue = CallQueue()
        begun: list[int] = []

        async def take_turn(kind: int, seconds: float) -> None:
            async with queue.turn(kind) as turn:
                begun.append(kind)
                turn.took = seconds
                await asyncio.sleep(0)

        await take_turn(1, 0.5)
        await take_turn(2, 0.5)
        await asyncio.gather(*(take_turn(1, 0.5) for _ in range(50)), take_turn(2, 0.001))
        return begun[2:]

    assert asyncio.run(start_all()).index(2) < 3 * COMPUTING


def test_calls_that_wait_for_something_else_do_not_hold_up_long_ones(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP-13: a call gives its place up after a while."""
    monkeypatch.setattr("obsidian_mcp.serve.call_queue.PLACE_SECONDS", 0.05)
    work = Work()
    with serving(app, work.bridge) as url:
        ask(url, "rpc", "work", LONG)
        work.forget()
        with many(url, "rpc", [LONG] * (2 * COMPUTING + 1), work):
            work.wait_for(2 * COMPUTING + 1)  # although none has ended
            assert work.begun == ["long"] * (2 * COMPUTING + 1)


def test_a_call_waits_for_its_turn_no_longer_than_its_limit(app: App) -> None:
    """HTTP-13, TOOL-09"""
    work = Work()
    limited = app.replace(config=app.config.replace(timeout=2.0))
    with serving(limited, work.bridge) as url:
        ask(url, "rpc", "work", LONG)
        work.forget()
        with many(url, "rpc", [LONG] * (COMPUTING + 3), work) as waiting:
            answers = [json.loads(call.result()) for call in waiting]
        assert all("longer than 2 s" in answer["result"]["content"][0]["text"] for answer in answers)
        assert "worked" in ask(url, "rpc", "work", LONG)
