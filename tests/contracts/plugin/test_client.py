"""The plugin's tools over HTTP: both dialects, every kind of bad answer, and the pauses between tries."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import pytest

from obsidian_mcp.contracts.plugin.client import BridgeClient
from obsidian_mcp.contracts.plugin.http_exchange import TimeLimits, Unreachable
from obsidian_mcp.contracts.plugin.stdio import pause_after
from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    InvalidArguments,
    NoteNotFound,
    ObsidianNotRunning,
    OperationTimeout,
    PermissionDenied,
    UnknownTool,
)

if TYPE_CHECKING:
    from obsidian_mcp.config import PluginDialect

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
READ = {"name": "read_note", "description": "Reads.", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
CONTENT = [
    {"type": "text", "text": "héllo \U0001f389"},
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "resource_link", "uri": "obsidian://x", "name": "x", "_meta": {"odd": [1, 1.5, None, True]}},
    {"type": "not known yet", "anything": {"at": "all"}},
]
MODES: tuple[PluginDialect, ...] = ("auto", "mcp", "v1")
KEY = "X-ObsiScripta-Api-Key"


@dataclass
class Plugin:
    """Answers as the real plugin does, and remembers what was asked."""

    tools: list[dict[str, Any]] = field(default_factory=lambda: [dict(READ)])
    key: str | None = None
    v1_key: str | None = None
    speaks_mcp: bool = True
    speaks_v1: bool = True
    hash: object = "h1"
    result: dict[str, Any] = field(default_factory=lambda: {"content": CONTENT, "isError": False})
    requests: list[httpx.Request] = field(default_factory=list)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        path = request.url.raw_path.decode()
        if path == "/mcp" and self.speaks_mcp:
            return self._mcp(request)
        if not path.startswith("/bridge/v1/") or not self.speaks_v1:
            return httpx.Response(404, json={"error": "Not found", "message": "Not found"})
        if self.v1_key is not None and request.headers.get(KEY) != self.v1_key:
            return httpx.Response(401, json={"error": "Unauthorized", "message": "Key, please."})
        if path == "/bridge/v1/health":
            return httpx.Response(200, json={"status": "ok", "version": "0.2.2", "protocolVersion": "1"})
        if path == "/bridge/v1/tools":
            return httpx.Response(200, json={"tools": self.tools, "hash": self.hash})
        if path not in [f"/bridge/v1/tools/{quote(tool['name'], safe='')}/call" for tool in self.tools]:
            return httpx.Response(404, json={"error": "Tool not found", "message": "Tool not found"})
        if "path" not in json.loads(request.content)["arguments"]:
            body = {"error": "INVALID_ARGUMENTS", "message": "Missing required argument: path", "details": {"n": 1}}
            return httpx.Response(400, json=body)
        answer = {"success": not self.result["isError"], "content": self.result["content"]}
        return httpx.Response(200, json=answer | ({"isError": True} if self.result["isError"] else {}))

    def _mcp(self, request: httpx.Request) -> httpx.Response:
        if request.headers.get(KEY) != self.key:
            return httpx.Response(401, json={"error": "Unauthorized", "message": "Invalid or missing MCP API key."})
        message = json.loads(request.content)
        answer: dict[str, Any] = {"error": {"code": -32601, "message": f"Method not found: {message['method']}"}}
        if message["method"] == "tools/list":
            answer = {"result": {"tools": self.tools}}
        if message["method"] == "tools/call":
            known = message["params"]["name"] in [tool["name"] for tool in self.tools]
            answer = {"result": self.result} if known else {"error": {"code": -32602, "message": "Unknown tool: x"}}
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": message["id"], **answer})


def bridge(
    answer: Callable[[httpx.Request], httpx.Response], mode: PluginDialect = "auto", key: str | None = None
) -> BridgeClient:
    def exchange(
        method: str, path: str, body: bytes | None, headers: Mapping[str, str], _: TimeLimits
    ) -> tuple[int, bytes]:
        response = answer(httpx.Request(method, f"http://127.0.0.1:3000{path}", content=body, headers=dict(headers)))
        return response.status_code, response.content

    return BridgeClient(mode=mode, api_key=key, exchange=exchange)


# What is there


@pytest.mark.parametrize("mode", MODES)
def test_tools_are_listed_as_the_plugin_describes_them(mode: PluginDialect) -> None:
    found = bridge(Plugin(), mode).tools()

    assert [(tool.name, tool.definition) for tool in found.tools] == [("read_note", READ)]


def test_entries_that_are_no_tools_are_left_out_and_schemas_completed() -> None:
    """BRIDGE-03"""
    odd: list[Any] = [{"name": ""}, {"title": "none"}, 3, {"name": "a"}, {"name": "b", "inputSchema": {"x": 1}}]

    found = bridge(Plugin(tools=[*odd, {"name": "a", "description": "again"}]), "v1").tools()

    assert [(tool.name, tool.definition["inputSchema"]) for tool in found.tools] == [
        ("a", {"type": "object"}),
        ("b", {"type": "object", "x": 1}),
    ]
    assert "description" not in found.tools[0].definition


@pytest.mark.parametrize("reply", ["h1", "", None, 7])
def test_a_change_of_the_tools_changes_the_hash_which_is_never_empty(reply: object) -> None:
    """BRIDGE-04"""
    plugin = Plugin(hash=reply)
    by_v1, by_mcp = bridge(plugin, "v1"), bridge(plugin, "mcp")
    before = by_v1.tools().hash, by_mcp.tools().hash
    again = by_v1.tools().hash, by_mcp.tools().hash
    plugin.tools[0]["description"] = "Reads a note."
    if reply == "h1":
        plugin.hash = "h2"

    assert before == again
    assert all(before)
    assert by_v1.tools().hash != before[0]
    assert by_mcp.tools().hash != before[1]


def test_a_list_in_pages_is_read_whole() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        message = json.loads(request.content)
        page = int(message["params"].get("cursor", "0"))
        result: dict[str, Any] = {"tools": [{"name": f"tool{page}"}]} | (
            {"nextCursor": str(page + 1)} if page < 2 else {}
        )
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": message["id"], "result": result})

    assert [tool.name for tool in bridge(answer, "mcp").tools().tools] == ["tool0", "tool1", "tool2"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("failed", [False, True])
def test_content_comes_back_untouched(mode: PluginDialect, failed: bool) -> None:
    """BRIDGE-05"""
    plugin = Plugin(result={"content": CONTENT, "isError": failed})

    result = bridge(plugin, mode).call("read_note", {"path": "a.md"})

    assert result == {"content": CONTENT, "isError": failed}


def test_what_else_stands_in_an_mcp_result_comes_along() -> None:
    more = {"content": [], "structuredContent": {"n": 1}, "_meta": {"x": None}}

    assert bridge(Plugin(result=more), "mcp").call("read_note", {}) == more


def test_names_and_arguments_arrive_whatever_they_hold() -> None:
    plugin = Plugin(tools=[{"name": "utils/ä b"}])
    arguments = {"path": "日本 \U0001f389 \udc80", "deep": {"list": [1, 2.5, None]}}

    for mode in ("mcp", "v1"):
        assert bridge(plugin, mode).call("utils/ä b", arguments).get("isError") is not True

    assert [json.loads(request.content) for request in plugin.requests] == [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "utils/ä b", "arguments": arguments}},
        {"arguments": arguments},
    ]


def test_an_unknown_tool_and_wrong_arguments_are_told() -> None:
    by_v1, by_mcp = bridge(Plugin(), "v1"), bridge(Plugin(), "mcp")

    with pytest.raises(UnknownTool):
        by_v1.call("nope", {})
    with pytest.raises(InvalidArguments, match="Missing required argument: path") as raised:
        by_v1.call("read_note", {})
    with pytest.raises(InvalidArguments, match="Unknown tool"):
        by_mcp.call("nope", {})

    assert raised.value.data == {"status": 400, "details": {"n": 1}}


# Modes


def test_the_other_dialect_is_tried_after_any_failure_of_a_list() -> None:
    """BRIDGE-02"""
    plugin = Plugin(key="secret")  # and we have none
    client = bridge(plugin)

    assert client.tools().tools
    assert client.call("read_note", {"path": "a.md"}).get("isError") is not True
    assert [request.url.path for request in plugin.requests] == [
        "/mcp",
        "/bridge/v1/tools",
        "/bridge/v1/tools/read_note/call",
    ]


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_call_goes_to_the_other_dialect_only_where_the_first_does_not_offer_calls(status: int) -> None:
    plugin = Plugin()

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(status) if request.url.path == "/mcp" else plugin(request)

    assert bridge(answer).call("read_note", {"path": "a.md"}).get("isError") is not True
    with pytest.raises(AppCommandFailed):
        bridge(answer, "mcp").call("read_note", {"path": "a.md"})


def test_a_method_that_mcp_does_not_know_is_called_by_v1() -> None:
    plugin = Plugin()

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/mcp":
            return plugin(request)
        number = json.loads(request.content)["id"]
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}})

    assert bridge(answer).call("read_note", {"path": "a.md"}).get("isError") is not True


@pytest.mark.parametrize("status", [400, 401, 500, 503])
def test_a_call_that_failed_is_not_made_a_second_time(status: int) -> None:
    plugin = Plugin()

    def answer(request: httpx.Request) -> httpx.Response:
        plugin.requests.append(request)
        return httpx.Response(status, json={"error": "Tool not found", "message": "no"})

    with pytest.raises(AppError):
        bridge(answer).call("read_note", {"path": "a.md"})
    assert len(plugin.requests) == 1


def test_where_no_dialect_answers_the_more_telling_failure_is_told() -> None:
    with pytest.raises(PermissionDenied):
        bridge(Plugin(key="secret", speaks_v1=False)).tools()


@pytest.mark.parametrize("mode", ["mcp", "v1"])
def test_a_fixed_mode_never_speaks_the_other(mode: PluginDialect) -> None:
    plugin = Plugin()
    client = bridge(plugin, mode)

    client.tools()
    client.call("read_note", {"path": "a.md"})

    assert len(plugin.requests) == 2
    assert {request.url.path == "/mcp" for request in plugin.requests} == {mode == "mcp"}


# Keys


def test_the_key_goes_to_mcp_and_never_to_v1_unasked() -> None:
    """BRIDGE-07"""
    plugin = Plugin(key="secret")
    client = bridge(plugin, key=" secret ")
    client.tools()
    bridge(plugin, "v1", "secret").tools()

    assert [request.headers.get(KEY) for request in plugin.requests] == ["secret", None]


def test_the_key_goes_to_v1_where_that_asks_for_it() -> None:
    plugin = Plugin(v1_key="secret")

    assert bridge(plugin, "v1", "secret").tools().tools
    assert [request.headers.get(KEY) for request in plugin.requests] == [None, "secret"]


@pytest.mark.parametrize("key", [None, "", "wrong"])
def test_a_missing_or_wrong_key_says_where_to_give_it(key: str | None) -> None:
    with pytest.raises(PermissionDenied, match="OBSIDIAN_MCP_API_KEY"):
        bridge(Plugin(key="secret"), "mcp", key).tools()
    with pytest.raises(PermissionDenied, match="OBSIDIAN_MCP_API_KEY"):
        bridge(Plugin(v1_key="secret"), "v1", key).tools()


@pytest.mark.parametrize(
    ("host", "key"), [("a b", None), ("a/b", None), ("me@host", None), ("127.0.0.1", "ä"), ("127.0.0.1", "a\nb")]
)
def test_a_host_or_key_that_no_request_can_carry_is_refused(host: str, key: str | None) -> None:
    with pytest.raises(InvalidArguments):
        BridgeClient(host, api_key=key)


# Bad answers

STATUS: list[tuple[int, type[AppError]]] = [
    (302, AppCommandFailed),
    (400, InvalidArguments),
    (401, PermissionDenied),
    (403, PermissionDenied),
    (405, AppCommandFailed),
    (413, InvalidArguments),
    (429, AppCommandFailed),
    (500, AppCommandFailed),
    (503, AppCommandFailed),
]


@pytest.mark.parametrize(("status", "error"), STATUS)
@pytest.mark.parametrize("body", [b"", b"<html>", b'{"message":"why"}', b'{"error":{"message":"why"}}', b"[1]", b"3"])
@pytest.mark.parametrize("mode", ["mcp", "v1"])
def test_each_status_has_its_error_whatever_stands_in_the_body(
    mode: PluginDialect, body: bytes, status: int, error: type[AppError]
) -> None:
    """BRIDGE-08"""
    client = bridge(lambda _: httpx.Response(status, content=body), mode)

    for call in (client.tools,):
        with pytest.raises(error) as raised:
            call()
        assert raised.value.code == error.code
        if b"why" in body:
            assert "why" in raised.value.message


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"null",
        b"[]",
        b"{}",
        b'{"tools":{}}',
        b'{"jsonrpc":"2.0","id":99,"result":{"tools":[]}}',
        b'{"jsonrpc":"2.0","id":1,"result":[]}',
        b'{"jsonrpc":"2.0","id":1,"result":{"tools":3,"content":3}}',
        b'{"tools":[NaN],"hash":"x"}',
        b'{"tools":[1e999],"content":[1e999]}',
        b'{"content":"text"}',
        b"\xff\xfe\xff",
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("mode", ["mcp", "v1"])
def test_garbage_is_a_failure_and_never_a_result(mode: PluginDialect, body: bytes) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=body)

    with pytest.raises(AppCommandFailed):
        bridge(answer, mode).tools()
    with pytest.raises(AppCommandFailed):
        bridge(answer, mode).call("x", {})


@pytest.mark.parametrize(
    ("code", "error"), [(-32003, NoteNotFound), (-32001, ObsidianNotRunning), (-32603, AppCommandFailed), (1, AppError)]
)
def test_an_error_of_json_rpc_keeps_its_kind_and_its_facts(code: int, error: type[AppError]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        facts = {"message": "x", "self": 1}
        body = {
            "jsonrpc": "2.0",
            "id": json.loads(request.content)["id"],
            "error": {"code": code, "message": "why", "data": facts},
        }
        return httpx.Response(200, json=body)

    with pytest.raises(error, match="why") as raised:
        bridge(answer, "mcp").call("x", {})
    assert raised.value.data == {"details": {"message": "x", "self": 1}}


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Unreachable("refused"), ObsidianNotRunning),
        (TimeoutError("slow"), OperationTimeout),
        (ConnectionResetError("gone"), AppCommandFailed),
    ],
)
def test_each_failure_of_the_connection_has_its_error(failure: OSError, error: type[AppError]) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        raise failure

    for mode in MODES:
        client = bridge(answer, mode)
        for call in (client.tools, lambda message=client: message.call("x", {})):
            with pytest.raises(AppError) as raised:
                call()
            assert type(raised.value) is error


# Over a real connection


class Late(BaseHTTPRequestHandler):
    """Answers as its path's last word says; everything after `release` is set, where it waits."""

    release: threading.Event
    started: threading.Event

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        mood = self.path.split("/")[-2]
        body = json.dumps({"success": True, "content": [{"type": "text", "text": mood}]}).encode()
        self.started.set()
        if mood == "slow":
            self.release.wait(20)
        if mood == "gone":
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) + (1 if mood == "short" else 0)))
        self.end_headers()
        if mood == "dripping":
            for byte in body:
                self.wfile.write(bytes([byte]))
                if self.release.wait(0.05):
                    return
        self.wfile.write(body)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Not a word."""


@contextmanager
def listening() -> Iterator[tuple[int, type[Late]]]:
    class Handler(Late):
        release, started = threading.Event(), threading.Event()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1], Handler
    finally:
        Handler.release.set()
        server.shutdown()
        thread.join(timeout=10)
        server.server_close()


def test_over_a_real_connection_calls_are_answered_and_bad_ones_given_up() -> None:
    """BRIDGE-01"""
    with listening() as (port, _):
        client = BridgeClient(port=port, mode="v1", call_seconds=0.6)

        assert client.call("quick", {})["content"] == [{"type": "text", "text": "quick"}]
        for mood, error in (
            ("slow", OperationTimeout),
            ("dripping", OperationTimeout),
            ("gone", AppCommandFailed),
            ("short", AppCommandFailed),
        ):
            with pytest.raises(AppError) as raised:
                client.call(mood, {})
            assert type(raised.value) is error, mood
        assert client.call("quick", {}).get("isError") is not True


def test_a_slow_tool_does_not_hold_up_another_call() -> None:
    with listening() as (port, handler):
        client = BridgeClient(port=port, mode="v1")
        answers: list[bool] = []
        slow = threading.Thread(target=lambda: answers.append(client.call("slow", {})["isError"]))
        slow.start()
        assert handler.started.wait(10)

        assert client.call("quick", {}).get("isError") is not True
        assert answers == []
        handler.release.set()
        slow.join(timeout=10)
        assert answers == [False]


def test_a_plugin_that_comes_late_is_reached_as_soon_as_it_is_there() -> None:
    """BRIDGE-01"""
    with listening() as (port, _):
        pass  # gone again: nobody listens at its port now
    client = BridgeClient(port=port, mode="v1")

    with pytest.raises(ObsidianNotRunning) as raised:
        client.call("quick", {})
    assert raised.value.data == {"address": f"http://127.0.0.1:{port}"}

    with listening() as (port, _):
        later = BridgeClient(port=port, mode="v1")
        assert later.call("quick", {}).get("isError") is not True


def test_an_address_of_version_6_is_written_in_brackets() -> None:
    assert BridgeClient("::1", 3000).address == "http://[::1]:3000"


# Waiting


def test_pauses_double_to_half_a_minute_and_the_log_falls_silent() -> None:
    """BRIDGE-06"""
    pauses = [pause_after(failures) for failures in range(1, 101)]

    assert [pause.seconds for pause in pauses] == [1, 2, 4, 8, 16] + [30] * 95
    assert [pause.is_quiet for pause in pauses] == [False] * 29 + [True] * 71
    assert pause_after(10**9).seconds == 30
