"""Messages in forms that clients may write: on stdio and over HTTP, in both eras (specs/stdio.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from obsidian_mcp.app import App
from tests.serve.http_client import http_client
from tests.serve.mcp.test_server import started
from tests.serve.raw import MODERN, Message, initialize_params, request, tool_call

Send = Callable[[Any], Any]
"""Sends a message or an array of them; returns the answer."""
VERSION = "io.modelcontextprotocol/protocolVersion"
CLIENT = "io.modelcontextprotocol/clientInfo"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
BOTH = {"accept": "application/json, text/event-stream"}
ODD: list[Any] = [None, 5, "", [], ["2025-06-18"], {"name": 5}, True]
METHODS = ["tools/list", "prompts/list", "resources/list"]
"""One that the dispatcher serves, and two that only the SDK does."""


@contextmanager
def connection(way: str, app: App) -> Iterator[Send]:
    """A connection, or a client of the HTTP server that keeps its session."""
    if way == "stdio":
        with started(app.config.vaults[0]) as server:

            def ask(message: Any) -> Any:
                server.write(json.dumps(message).encode() + b"\n")
                return json.loads(server.line())

            yield ask
            assert server.close() == 0
        return
    with http_client(app) as client:
        client.headers.update(BOTH)

        def post(message: Any) -> Any:
            named = {}
            begun = "mcp-session-id" in client.headers or message["method"] == "initialize"
            if not begun:
                named = {"mcp-protocol-version": "2026-07-28", "mcp-method": message["method"]}
            answer = client.post("/mcp", json=message, headers=named)
            if session := answer.headers.get("mcp-session-id"):
                client.headers["mcp-session-id"] = session
            data = [line[5:] for line in answer.text.splitlines() if line.startswith("data:") and line[5:].strip()]
            return json.loads(data[-1]) if data else answer.json()

        yield post


@pytest.fixture(scope="module", params=["stdio", "http"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def own(way: str, app: App) -> Iterator[Send]:
    """A connection on a vault of the test's own, on which nothing has been sent."""
    with connection(way, app) as send:
        yield send


@pytest.fixture(scope="module")
def unbound(way: str, shared_app: App) -> Iterator[Send]:
    """A connection on which nobody sends `initialize`, of several tests."""
    with connection(way, shared_app) as send:
        yield send


@pytest.fixture(scope="module")
def send(way: str, shared_app: App) -> Iterator[Send]:
    """A connection of several tests, each of which begins it anew with `initialize`."""
    with connection(way, shared_app) as send:
        yield send


@pytest.mark.parametrize("left_out", ["clientInfo", "capabilities", "protocolVersion"])
def test_an_initialize_of_any_form_begins_a_connection_that_serves_everything(own: Send, left_out: str) -> None:
    """DISPATCH-08"""
    whole = initialize_params()
    without = {name: value for name, value in whole.items() if name != left_out}
    for given in (without, *({**whole, left_out: odd} for odd in ODD)):
        result = own(request(1, "initialize", given))["result"]
        assert result["protocolVersion"] == "2025-11-25", given
        for method in METHODS:
            assert "result" in own(request(2, method)), (method, given)
    nothing: list[Message | None] = [{}, None]
    for params in nothing:
        assert own(request(1, "initialize", params))["result"]["serverInfo"]["name"] == "obsidian-mcp"


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_envelope_of_any_form_is_served(unbound: Send, odd: Any) -> None:
    """DISPATCH-08"""
    metas: list[Any] = [{**MODERN, key: odd} for key in (VERSION, CLIENT, CAPABILITIES, "progressToken")]
    metas.append({key: value for key, value in MODERN.items() if key != CLIENT})
    for meta in metas:
        for method in ("server/discover", *METHODS):
            if meta.get(VERSION) == "":  # a revision, and none that is served
                assert unbound(request(1, method, {"_meta": meta}))["error"]["code"] in (-32022, -32020)
            else:
                assert unbound(request(1, method, {"_meta": meta}))["result"]["resultType"] == "complete", (
                    method,
                    meta,
                )


@pytest.mark.parametrize("key", [VERSION, CAPABILITIES])
def test_what_an_envelope_must_have_is_named(unbound: Send, key: str) -> None:
    """DISPATCH-08"""
    for method in ("server/discover", *METHODS):
        error = unbound(request(1, method, {"_meta": {name: said for name, said in MODERN.items() if name != key}}))[
            "error"
        ]
        assert error["code"] == -32602
        assert key in error["message"]


@pytest.mark.parametrize("odd", [*ODD, {VERSION: None}, {VERSION: "2025-06-18"}, {"progressToken": 1.5}], ids=repr)
def test_an_introduced_client_may_send_any_meta(send: Send, odd: Any) -> None:
    """DISPATCH-02, DISPATCH-08"""
    send(request(1, "initialize", initialize_params("2025-06-18")))
    for method in METHODS:
        result = send(request(2, method, {"_meta": odd}))["result"]
        assert "resultType" not in result
    call = tool_call(3, "obsidian_list_files")
    assert send({**call, "params": {**call["params"], "_meta": odd}})["result"]["content"]


def test_an_id_that_is_an_integer_written_as_1_0_is_that_integer(send: Send) -> None:
    """MSG-04"""
    send(request(1, "initialize", initialize_params()))
    for number, method in enumerate(("ping", *METHODS), 5):
        answer = send({**request(1, method), "id": float(number)})
        assert (answer["id"], "result" in answer) == (number, True)


@pytest.mark.parametrize("odd", [1.5, None, True, [1], {"a": 1}], ids=repr)
def test_another_id_is_refused_without_an_id_that_was_not_sent(send: Send, odd: Any) -> None:
    """MSG-04"""
    send(request(1, "initialize", initialize_params()))
    for method in ("ping", *METHODS):
        answer = send({**request(1, method), "id": odd})
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
        assert "id" in answer["error"]["message"]


BATCH: list[Any] = [
    request(1, "ping"),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 77}},
    tool_call("b", "obsidian_list_files"),
    7,
    request(3, "tools/list"),
    request(4, "no/such"),
    request(5, "prompts/list"),
    request(6, "tools/call", {"name": 5}),
]


def test_a_batch_is_answered_by_an_array_in_its_order(send: Send) -> None:
    """MSG-09, RPC-04"""
    send(request(1, "initialize", initialize_params("2025-03-26")))
    for _ in range(2):
        answers = send(BATCH)
        assert [answer["id"] for answer in answers] == [1, "b", None, 3, 4, 5, 6]
        codes = {answer["id"]: answer["error"]["code"] for answer in answers if "error" in answer}
        assert codes == {None: -32600, 4: -32601, 6: -32602}
        assert answers[3]["result"]["tools"]
        assert answers[5]["result"]["prompts"]
    for wrong in ([], [request(1, "ping")] * 51):
        refused = send(wrong)
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        assert "1 to 50" in refused["error"]["message"]


def test_writes_of_a_batch_are_made_in_its_order(own: Send) -> None:
    """MSG-09, TOOL-15"""
    own(request(1, "initialize", initialize_params("2025-03-26")))
    calls: list[Message] = [tool_call(0, "obsidian_create_note", {"name": "Log", "content": "0\n"})]
    calls += [
        tool_call(n, "obsidian_edit_note", {"operation": "append", "name": "Log", "content": f"{n}\n"})
        for n in range(1, 9)
    ]
    calls.append(tool_call(9, "obsidian_read_note", {"name": "Log"}))
    answers = own(calls)
    assert [answer["id"] for answer in answers] == list(range(10))
    assert "0\\n1\\n2\\n3\\n4\\n5\\n6\\n7\\n8" in json.dumps(answers[9]["result"]["content"][-1]["text"])


def test_what_a_client_sends_is_not_sent_back_at_length(send: Send) -> None:
    """ERR-08"""
    send(request(1, "initialize", initialize_params()))
    long = "x" * 1_000_000
    for message in (
        request(1, long),
        request(1, long, {"_meta": MODERN}),
        {**request(1, long), "params": [1]},
        tool_call(1, long),
        tool_call(1, "obsidian_search", {long: 1, "query": "x"}),
        tool_call(1, "obsidian_search", {"query": "x", "limit": long}),
        tool_call(1, "obsidian_read_note", {"name": long}),
        request(1, "tools/list", {"cursor": long}),
        request(1, "resources/list", {"cursor": long}),
        request(1, "resources/read", {"uri": long}),
        request(1, "prompts/get", {"name": long}),
        request(1, "prompts/get", {"name": "daily_review", "arguments": {long: "x"}}),
        request(1, "completion/complete", {"ref": {"type": long}, "argument": {"name": "x", "value": "x"}}),
        request(1, "logging/setLevel", {"level": long}),
        request(1, "tools/list", {"_meta": {**MODERN, VERSION: long}}),
    ):
        answer = json.dumps(send(message))
        assert "error" in answer
        assert len(answer) < 5_000, (len(answer), answer[:200])
