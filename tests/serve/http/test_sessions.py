"""MCP in full at /mcp: sessions, event streams and the revision without them, with the SDK's own client."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from mcp import Client, MCPError

from obsidian_mcp import __version__
from obsidian_mcp.app import App
from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.serve.mcp import subscriptions
from obsidian_mcp.tools.registry import TOOLS
from tests.contracts.plugin.test_routes import odd_tools
from tests.serve import plain_http
from tests.serve.mcp_session import McpSession
from tests.serve.serving import serving

BOTH = {"accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def url(shared_app: App) -> Iterator[str]:
    with serving(shared_app, odd_tools()) as url:
        yield url


@pytest.mark.anyio
@pytest.mark.parametrize(("mode", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_the_sdks_client_lists_and_calls(url: str, mode: str, revision: str) -> None:
    """HTTP-02, HTTP-04"""
    async with Client(f"{url}/mcp", mode=mode) as client:
        assert client.protocol_version == revision
        assert client.server_info is not None
        assert client.server_info.version == __version__
        listed = {tool.name for tool in (await client.list_tools()).tools}
        here = {name for name, tool in {**TOOLS, **PLUGIN_TOOLS}.items() if not tool.needs_app}
        assert {*here, "say"} <= listed
        said = await client.call_tool("say", {"text": "hé 日 😀"})
        assert (said.content[0].text, said.is_error) == ("hé 日 😀", False)  # type: ignore[union-attr]  # a text block
        info = await client.call_tool("obsidian_list_files", {"folder": "Projects"})
        assert info.structured_content is not None
        assert info.structured_content["success"] is True


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_errors_reach_the_sdks_client(url: str, mode: str) -> None:  # row 21
    async with Client(f"{url}/mcp", mode=mode) as client:
        failed = await client.call_tool("missing", {})
        assert failed.is_error is True
        assert failed.content[0].text.startswith("Error: There is no note 'x'.")  # type: ignore[union-attr]  # text
        for name, arguments in (("nope", {}), ("obsidian_delete_note", {"no": 1})):
            with pytest.raises(MCPError) as error:
                await client.call_tool(name, arguments)
            assert error.value.error.code == -32602
        with pytest.raises(MCPError) as error:
            await client.call_tool("broken", {})
        assert error.value.error.code == -32603
        assert "passwd" not in error.value.error.message


@pytest.mark.anyio
async def test_a_locked_server_lets_the_sdks_client_in_with_the_key(app: App) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    with serving(app, keys=("secret",)) as url:
        async with (
            httpx2.AsyncClient(headers={"authorization": "Bearer secret"}) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http), mode="legacy") as client,
        ):
            assert (await client.list_tools()).tools


def begin(url: str, **headers: str) -> httpx.Response:
    return plain_http.post(f"{url}/mcp", json=INITIALIZE, headers={**BOTH, **headers})


def test_a_session_lives_until_it_is_deleted(url: str) -> None:
    """HTTP-04"""
    begun = begin(url)
    session = {**BOTH, "mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
    assert begun.headers["content-type"] == "application/json"
    assert begun.headers["access-control-allow-origin"] == "*"
    assert "Mcp-Session-Id" in begun.headers["access-control-expose-headers"]

    ready = plain_http.post(
        f"{url}/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session
    )
    assert ready.status_code == 202
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert plain_http.post(f"{url}/mcp", json=ping, headers=session).status_code == 200
    assert plain_http.delete(f"{url}/mcp", headers=session).status_code == 200
    assert plain_http.post(f"{url}/mcp", json=ping, headers=session).status_code == 404


def test_the_subscriptions_of_a_session_end_with_it(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """RES-08, RES-09"""
    monkeypatch.setattr(subscriptions, "MAX_RESOURCES", 2)
    with serving(app) as url:
        first, second = McpSession(url), McpSession(url)
        for name in ("Home", "Alpha"):
            first.request("resources/subscribe", {"uri": f"obsidian://vault/basic/{name}.md"})
        with pytest.raises(RuntimeError, match="No more than 2 resources"):
            second.request("resources/subscribe", {"uri": "obsidian://vault/basic/Later.md"})
        first.end()
        assert second.request("resources/subscribe", {"uri": "obsidian://vault/basic/Later.md"}) == {}
        second.end()


@pytest.mark.parametrize("cancelled", [[], {}, None, True, 1.5, "", "never", 99])
def test_a_session_outlives_the_cancelling_of_what_is_no_request(url: str, cancelled: Any) -> None:
    """LIFE-06"""
    session = McpSession(url)
    try:
        session.notify("notifications/cancelled", {"requestId": cancelled})
        assert session.request("ping") == {}
    finally:
        session.close()


def test_a_session_that_ends_before_the_sdk_is_loaded_for_its_stream_stays_ended(url: str) -> None:
    """HTTP-04"""
    headers = {**BOTH, "mcp-session-id": begin(url).headers["mcp-session-id"]}
    with ThreadPoolExecutor() as pool:
        stream = pool.submit(httpx.get, f"{url}/mcp", headers=headers, timeout=30)
        assert plain_http.delete(f"{url}/mcp", headers=headers, timeout=30).status_code == 200
        assert stream.result(30).status_code in (200, 404)
    assert plain_http.get(f"{url}/mcp", headers=headers).status_code == 404


def modern(method: str, revision: str = "2026-07-28", **params: Any) -> dict[str, Any]:
    """A request of the era without sessions, for `httpx.post`."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    named = {"mcp-name": params["name"]} if "name" in params else {}
    return {
        "json": {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}},
        "headers": {**BOTH, "mcp-protocol-version": revision, "mcp-method": method, **named},
    }


@pytest.mark.parametrize("revisions", [["2026-07-28"], ["2099-01-01"], ["2099-01-01", "2026-07-28"]])
def test_a_probe_binds_nothing(url: str, revisions: list[str]) -> None:
    """DISPATCH-02, HTTP-04"""
    for revision in revisions:
        probe = plain_http.post(f"{url}/mcp", **modern("server/discover", revision))
        assert probe.status_code == (200 if revision == "2026-07-28" else 400)
        assert revision == "2026-07-28" or probe.json()["error"]["code"] == -32022
    session = {**BOTH, "mcp-session-id": begin(url).headers["mcp-session-id"]}
    call: dict[str, Any] = {"name": "obsidian_list_files", "arguments": {}}
    for method, params in (("tools/list", {}), ("tools/call", call)):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        assert plain_http.post(f"{url}/mcp", json=message, headers=session).json()["result"]
        assert plain_http.post(f"{url}/mcp", **modern(method, **params)).json()["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    "change",
    [{"mcp-method": "ping"}, {"mcp-name": "other"}, {"mcp-protocol-version": "2099-01-01"}, {"mcp-method": ""}],
)
def test_headers_that_contradict_the_message_are_refused(url: str, change: dict[str, str]) -> None:
    """HTTP-04"""
    call = modern("tools/call", name="obsidian_list_files", arguments={})
    answer = plain_http.post(f"{url}/mcp", json=call["json"], headers={**call["headers"], **change})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


def test_a_server_whose_clients_only_call_tools_loads_neither_the_sdk_nor_pydantic(app: App) -> None:
    """DISPATCH-04"""
    program = """
import sys
from pathlib import Path
from obsidian_mcp import compose, config
from starlette.testclient import TestClient
app = compose.build(config.Config((sys.argv[1],)), serving=True)
with TestClient(compose.http_application(app), base_url="http://127.0.0.1") as client:
    both = {"accept": "application/json, text/event-stream"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    begun = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}, headers=both)
    session = {**both, "mcp-session-id": begun.headers["mcp-session-id"]}
    call = {"name": "obsidian_list_files", "arguments": {}}
    for _ in range(100):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        assert client.post("/mcp", json=message, headers=session).json()["result"]
app.vaults.close()
print(*{"mcp", "mcp_types", "pydantic", "pydantic_settings"} & set(sys.modules))
"""
    vault = str(app.config.vaults[0])
    done = subprocess.run([sys.executable, "-c", program, vault], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_an_unknown_session_is_404(url: str) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    for method in ("POST", "GET", "DELETE"):
        body: Any = {"json": ping} if method == "POST" else {}
        answer = plain_http.request(method, f"{url}/mcp", headers={**BOTH, "mcp-session-id": "unknown"}, **body)
        assert answer.status_code == 404, method


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"{}", -32600), (b"[]", -32600), (b'{"jsonrpc":"2.0","id":[],"method":"x"}', -32600), (b"{", -32700)],
)
def test_a_malformed_message_in_a_session_is_told_as_without_one(url: str, body: bytes, code: int) -> None:
    session = {**BOTH, "mcp-session-id": begin(url).headers["mcp-session-id"]}
    answer = plain_http.post(f"{url}/mcp", content=body, headers={**session, "content-type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize(
    ("members", "code", "problem"),
    [
        ({"id": None}, -32600, '"id" must be a string or an integer; null came'),
        ({"id": 1.5}, -32600, '"id" must be a string or an integer; a number came'),
        ({"id": 7, "params": []}, -32602, '"params" of ping must be an object; an array came'),
    ],
)
@pytest.mark.parametrize("revision", ["2025-06-18", "2026-07-28"])
def test_a_request_with_a_wrong_id_or_params_is_refused_and_not_taken_for_a_notification(
    url: str, revision: str, members: dict[str, Any], code: int, problem: str
) -> None:
    """HTTP-11, MSG-04"""
    session = {"mcp-session-id": begin(url).headers["mcp-session-id"]} if revision < "2026" else {}
    headers = {**BOTH, **session, "mcp-protocol-version": revision, "mcp-method": "ping"}
    answer = plain_http.post(f"{url}/mcp", json={"jsonrpc": "2.0", "method": "ping", **members}, headers=headers)
    error = answer.json()["error"]
    assert (answer.status_code, answer.json()["id"], error["code"]) == (400, 7 if code == -32602 else None, code)
    assert problem in error["message"]


def test_a_message_of_a_session_may_begin_with_a_byte_order_mark(url: str) -> None:
    """HTTP-06"""
    headers = {**BOTH, "content-type": "application/json", "mcp-session-id": begin(url).headers["mcp-session-id"]}
    body = b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    assert '"result":{}' in plain_http.post(f"{url}/mcp", content=body, headers=headers).text


def test_a_client_that_wants_to_resume_a_stream_gets_a_new_one(url: str) -> None:
    """HTTP-12, LIFE-06"""
    headers = {**BOTH, "mcp-session-id": begin(url).headers["mcp-session-id"], "last-event-id": "7"}
    with httpx.stream("GET", f"{url}/mcp", headers=headers) as stream:
        assert (stream.status_code, stream.headers["content-type"]) == (200, "text/event-stream")


def test_a_client_that_wants_plain_json_gets_no_session(url: str) -> None:
    for accept in ("*/*", "application/json", "text/html"):
        answer = begin(url, accept=accept)
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["result"]["protocolVersion"] == "2025-06-18"
        assert "mcp-session-id" not in answer.headers


def test_an_unknown_revision_in_the_header_is_told_the_known_ones(url: str) -> None:
    answer = plain_http.post(
        f"{url}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
        headers={**BOTH, "mcp-protocol-version": "1999-01-01"},
    )
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["data"]["requested"]) == (-32022, "1999-01-01")
    assert {"2025-06-18", "2026-07-28"} <= set(error["data"]["supported"])


def test_a_subscription_ends_with_its_result_when_the_server_stops(app: App) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    listen = {
        "jsonrpc": "2.0",
        "id": "l",
        "method": "subscriptions/listen",
        "params": {"notifications": {"resourcesListChanged": True}, "_meta": meta},
    }
    headers = {**BOTH, "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
    acknowledged = threading.Event()
    lines: list[str] = []

    def subscribe() -> None:
        with httpx.stream("POST", f"{url}/mcp", json=listen, headers=headers, timeout=20) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    lines.append(line.removeprefix("data: "))
                    acknowledged.set()

    with serving(app) as url:
        client = threading.Thread(target=subscribe)
        client.start()
        assert acknowledged.wait(20)
    client.join(20)
    first, last = json.loads(lines[0]), json.loads(lines[-1])
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert last["id"] == "l"
    assert "result" in last
