"""The calls of one client take effect in the order in which they came (specs/tools.md TOOL-15)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.app import App
from obsidian_mcp.contracts.rad.tools import Bridge, ToolSpec
from obsidian_mcp.serve.call_order import CallOrder, Turn
from obsidian_mcp.serve.vault_dispatcher import VaultDispatcher
from tests.conftest import app_on
from tests.serve import plain_http
from tests.serve.raw import initialize_params, notification, request, tool_call
from tests.serve.serving import serving
from tests.serve.vault_server import slow, started

READ, EDIT = "obsidian_read_note", "obsidian_edit_note"
MARKS = 25


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3)), max_size=30))
def test_a_call_begins_when_all_writes_before_it_have_ended(calls: list[tuple[bool, int]]) -> None:
    """TOOL-15"""
    order = CallOrder()
    begun: list[int] = []
    turns: list[Turn] = []
    ended: set[int] = set()
    for number, (writes, ending) in enumerate(calls):
        turns.append(order.begin(lambda number=number: begun.append(number), writes=writes))  # type: ignore[misc]
        open_calls = [number for number in begun if number not in ended]
        for done in open_calls[:ending]:
            ended.add(done)
            order.end(turns[done])
        for later in begun:
            assert all(earlier in ended for earlier in range(later) if calls[earlier][0]), (begun, ended)
    while len(ended) < len(calls):
        done = next(number for number in begun if number not in ended)
        ended.add(done)
        order.end(turns[done])
    writing = [number for number, (writes, _) in enumerate(calls) if writes]
    assert [number for number in begun if calls[number][0]] == writing
    assert sorted(begun) == list(range(len(calls)))
    assert order.idle


def test_reads_run_side_by_side_and_a_cancelled_write_holds_up_nothing() -> None:
    """TOOL-15"""
    order = CallOrder()
    begun: list[str] = []
    order.begin(lambda: begun.append("read 1"), writes=False)
    order.begin(lambda: begun.append("read 2"), writes=False)
    first = order.begin(lambda: begun.append("write 1"), writes=True)
    second = order.begin(lambda: begun.append("write 2"), writes=True)
    order.begin(lambda: begun.append("read 3"), writes=False)
    assert begun == ["read 1", "read 2", "write 1"]
    order.end(second)
    order.end(first)
    assert begun == ["read 1", "read 2", "write 1", "read 3"]


def test_a_dry_run_and_a_question_are_no_writes(tmp_path: Path) -> None:
    app = app_on(tmp_path)
    dispatcher = VaultDispatcher(app.config, lambda: app)

    def writes(name: str, arguments: Any) -> bool:
        return dispatcher.writes(request(1, "tools/call", {"name": name, "arguments": arguments}))

    assert writes("obsidian_create_note", {"name": "x"})
    assert writes("obsidian_create_note", None)
    assert not writes("obsidian_get_properties", {"name": "x"})
    assert writes("obsidian_set_properties", {"names": ["x"], "properties": {"a": 1}})
    assert not writes("obsidian_set_properties", {"names": ["x"], "properties": {"a": 1}, "dry_run": True})
    assert not writes(READ, {"name": "x"})
    assert not writes("no_such_tool", {})
    assert not dispatcher.writes({"method": "resources/read", "params": []})


def marks(text: str) -> list[int]:
    return [int(line.removeprefix("mark")) for line in text.splitlines() if line.startswith("mark")]


def append(number: int) -> dict[str, Any]:
    return {"name": EDIT, "arguments": {"name": "Log", "operation": "append", "content": f"mark{number}"}}


@pytest.fixture
def log(basic: Path) -> Path:
    (basic / "Log.md").write_text("# Log\n", encoding="utf-8", newline="\n")
    return basic / "Log.md"


class Gate:
    """A registered tool that writes and ends when it is opened."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.open = threading.Event()
        self.bridge = Bridge()
        self.bridge.register_tool(ToolSpec("hold", "", writes=True))
        self.bridge.register_tool_handler("hold", self._hold)

    def _hold(self, _: dict[str, Any]) -> str:
        self.begun.set()
        assert self.open.wait(20)
        return "held"


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open.set()


@pytest.mark.parametrize("plain", [True, False], ids=["without the SDK", "through the SDK"])
def test_pipelined_writes_on_stdio_take_effect_in_order_and_the_next_read_sees_them(
    basic: Path, log: Path, plain: bool
) -> None:
    """TOOL-15, CALL-03"""
    meta: dict[str, Any] = {} if plain else {"_meta": {"traceparent": "00-1-2-00"}}
    with started(basic) as server:
        server.initialize()
        for number in range(MARKS):
            server.send(
                request(f"write {number}", "tools/call", {**append(number), **meta}),
                request(f"read {number}", "tools/call", {"name": READ, "arguments": {"name": "Log"}, **meta}),
            )
        answers = server.read_answers(2 * MARKS)
        for number in range(MARKS):
            assert "result" in answers[f"write {number}"]
            seen = marks(answers[f"read {number}"]["result"]["content"][1]["text"])
            assert seen[: number + 1] == list(range(number + 1))
        assert marks(log.read_text(encoding="utf-8")) == list(range(MARKS))
        assert server.close() == 0


def test_plain_and_other_calls_on_stdio_share_one_order(basic: Path, log: Path) -> None:
    """TOOL-15"""
    uri = "obsidian://vault/basic/Log.md"
    with started(basic) as server:
        server.initialize()
        for number in range(MARKS):
            call = append(number) if number % 2 else {**append(number), "_meta": {"traceparent": "00-1-2-00"}}
            server.send(
                request(f"write {number}", "tools/call", call),
                request(f"read {number}", "resources/read", {"uri": uri}),
            )
        answers = server.read_answers(2 * MARKS)
        for number in range(MARKS):
            seen = marks(answers[f"read {number}"]["result"]["contents"][0]["text"])
            assert seen[: number + 1] == list(range(number + 1))
        assert marks(log.read_text(encoding="utf-8")) == list(range(MARKS))
        assert server.close() == 0


def test_a_call_that_waits_too_long_for_a_write_is_told_so(basic: Path) -> None:
    """TOOL-15, TOOL-09"""
    with slow(basic, OBSIDIAN_MCP_TIMEOUT="0.3") as server:
        server.initialize()
        server.send(tool_call("write", "bury", {"steps": 150}), tool_call("read", READ, {"name": "Alpha"}))
        first, second = server.read(), server.read()
        assert (first["id"], first["error"]["code"]) == ("read", -32006)
        assert (second["id"], "late" in second["result"]["structuredContent"]["data"]) == ("write", True)
        assert "result" in server.call("tools/call", {"name": READ, "arguments": {"name": "Alpha"}})
        assert server.close() == 0


def test_in_a_batch_a_call_that_waits_too_long_is_told_so(app: App, gate: Gate) -> None:
    """TOOL-15, TOOL-09, RPC-04"""
    hasty = app.replace(config=app.config.replace(timeout=0.3))
    with serving(hasty, gate.bridge) as url:
        calls = [("hold", {}), (READ, {"name": "Alpha"})]
        batch = [request(name, "tools/call", {"name": name, "arguments": given}) for name, given in calls]
        answers = plain_http.post(f"{url}/mcp", json=batch, timeout=30).json()
        gate.open.set()
    assert [answer["result"]["isError"] for answer in answers] == [True, True]
    assert all("longer than 0.3 s" in answer["result"]["content"][0]["text"] for answer in answers)


def test_calls_do_not_wait_for_a_person_who_is_asked_about_a_write(basic: Path) -> None:
    """TOOL-15, POL-04"""
    (basic.parent / "policy.toml").write_text('confirm = ["delete"]\n', encoding="utf-8", newline="\n")
    with started(basic, OBSIDIAN_MCP_POLICY=str(basic.parent / "policy.toml")) as server:
        server.call("initialize", initialize_params(capabilities={"elicitation": {}}))
        server.send(notification("notifications/initialized"), tool_call(7, "obsidian_delete_note", {"name": "Alpha"}))
        question = server.read()
        assert question["method"] == "elicitation/create"
        assert "result" in server.call("tools/call", {"name": READ, "arguments": {"name": "Alpha"}})
        server.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})
        assert server.read()["error"]["data"]["errorCode"] == "PERMISSION_DENIED"
        assert server.close() == 0


def test_a_batch_over_http_takes_effect_in_order(app: App, log: Path) -> None:
    """TOOL-15, RPC-04"""
    with serving(app) as url:
        batch = []
        for number in range(MARKS):
            batch.append(request(f"write {number}", "tools/call", append(number)))
            batch.append(request(f"read {number}", "tools/call", {"name": READ, "arguments": {"name": "Log"}}))
        answers = plain_http.post(f"{url}/mcp", json=batch).json()
    for number in range(MARKS):
        assert marks(answers[2 * number + 1]["result"]["content"][1]["text"])[: number + 1] == list(range(number + 1))
    assert marks(log.read_text(encoding="utf-8")) == list(range(MARKS))


HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


def test_in_a_session_over_http_a_call_waits_for_the_write_before_it(app: App, log: Path, gate: Gate) -> None:
    """TOOL-15"""
    with (
        serving(app, gate.bridge) as url,
        httpx.Client(base_url=url, headers=HEADERS, timeout=30, verify=False) as client,
    ):

        def call(session: str, name: str, arguments: dict[str, Any]) -> str:
            message = request(1, "tools/call", {"name": name, "arguments": arguments})
            answer = client.post("/mcp", json=message, headers={"mcp-session-id": session})
            return str(answer.json()["result"]["content"][-1]["text"])

        def begin() -> str:
            params = initialize_params("2025-06-18")
            session = client.post("/mcp", json=request(0, "initialize", params)).headers["mcp-session-id"]
            client.post("/mcp", json=notification("notifications/initialized"), headers={"mcp-session-id": session})
            return str(session)

        mine, other = begin(), begin()
        finished: list[str] = []
        holding = threading.Thread(target=lambda: finished.append(call(mine, "hold", {})))
        holding.start()
        assert gate.begun.wait(20)
        reading = threading.Thread(target=lambda: finished.append(call(mine, READ, {"name": "Log"})))
        reading.start()
        assert call(other, READ, {"name": "Log"}) == "# Log\n"  # another session waits for nobody
        assert finished == []
        gate.open.set()
        reading.join(20)
        holding.join(20)
        assert sorted(finished) == ["# Log\n", "held"]
