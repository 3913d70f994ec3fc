"""Nobody comes in who was not let in (specs/http.md DOOR-…)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.config import HttpConfig
from obsidian_mcp.contracts.plugin.json_rpc import JsonRpc
from obsidian_mcp.contracts.rad.tools import Bridge, ToolSpec
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http import body as bodies
from obsidian_mcp.serve.http.access.access_control import AccessControl
from obsidian_mcp.serve.http.access.key_ring import KeyRing
from obsidian_mcp.serve.http.access.this_machine import is_loopback
from obsidian_mcp.serve.http.body import read_body
from obsidian_mcp.serve.http.refusal import Reason, Refusal
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.server import run_http_server
from tests.examples import examples
from tests.serve.http_client import http_client

RPC = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
LIST = {"id": "1", "method": "list_tools"}
CALL: dict[str, Any] = {"arguments": {}}
INVOKE = {"tool": "witness", "input": {}}
REQUESTS = [
    ("GET", "/bridge/v1/health", None),
    ("GET", "/bridge/v1/tools", None),
    ("POST", "/bridge/v1/tools/witness/call", CALL),
    ("POST", "/mcp", {**RPC, "method": "tools/call", "params": {"name": "witness"}}),
    ("POST", "/mcp", {"id": "1", "method": "call_tool", "name": "witness"}),
    ("POST", "/v1/mcp", {"id": "1", "method": "call_tool", "name": "witness"}),
    ("GET", "/health", None),
    ("GET", "/v1/health", None),
    ("GET", "/mcp/v1/tools/list", None),
    ("POST", "/mcp/v1/tools/invoke", INVOKE),
    ("POST", "/mcp/v1/stdio", INVOKE),
    ("GET", "/mcp/v1/health", None),
    ("GET", "/", None),
    ("GET", "/openapi.json", None),
    ("GET", "/nope", None),
]


@pytest.fixture(scope="module")
def ran() -> list[str]:
    return []


@pytest.fixture
def calls(ran: list[str]) -> list[str]:
    ran.clear()
    return ran


@pytest.fixture(scope="module")
def witness(ran: list[str]) -> Bridge:
    """A tool that tells when it ran."""
    bridge = Bridge()
    bridge.register_tool(ToolSpec("witness", ""))
    bridge.register_tool_handler("witness", lambda _: ran.append("ran"))
    return bridge


@pytest.fixture(scope="module")
def open_house(shared_app: App, witness: Bridge) -> Iterator[TestClient]:
    with http_client(shared_app, witness) as client:
        yield client


@pytest.fixture(scope="module")
def locked(shared_app: App, witness: Bridge) -> Iterator[TestClient]:
    with http_client(shared_app, witness, keys=("first", "second")) as client:
        yield client


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:3000",
        "127.0.0.1.evil.example",
        "localhost.evil",
        "10.0.0.1",
        "",
        "[::2]:1",
        "a@localhost",
    ],
)
@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_without_a_key_a_foreign_host_is_refused_before_anything_runs(
    open_house: TestClient, calls: list[str], method: str, path: str, body: Any, host: str
) -> None:
    """DOOR-02, HTTP-05"""
    answer = open_house.request(method, path, json=body, headers={"host": host})
    assert answer.status_code == 403
    assert not calls
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9400", "127.0.0.1:1", "127.1.2.3", "[::1]", "[::1]:3000"])
def test_without_a_key_this_machines_own_names_are_served(open_house: TestClient, host: str) -> None:
    assert open_house.get("/bridge/v1/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        *("https://evil.example", "null", "http://127.0.0.1.evil.example", "app://other", "file://", "", "http://[bad"),
        *("http://localhost:3000.evil.example", "http://localhost:3000@evil.example", "http://localhost:x"),
        *("http://localhost\\.evil.example", "http://localhost/?evil.example", "http://evil@localhost"),
    ],
)
@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_without_a_key_a_foreign_web_page_is_refused_before_anything_runs(
    open_house: TestClient, calls: list[str], method: str, path: str, body: Any, origin: str
) -> None:
    """DOOR-03, HTTP-05"""
    answer = open_house.request(method, path, json=body, headers={"origin": origin})
    assert answer.status_code == 403
    assert not calls
    assert "access-control-allow-origin" not in answer.headers


def test_the_preflight_of_a_foreign_web_page_is_refused_too(open_house: TestClient) -> None:
    for path in ("/mcp", "/bridge/v1/tools/witness/call"):
        headers = {"origin": "https://evil.example", "access-control-request-method": "POST"}
        assert open_house.options(path, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "origin", ["http://localhost:5173", "http://127.0.0.1", "https://[::1]:8443", "app://obsidian.md"]
)
def test_pages_of_this_machine_and_of_the_app_are_served(open_house: TestClient, origin: str) -> None:
    """DOOR-03, HTTP-05"""
    answer = open_house.get("/bridge/v1/health", headers={"origin": origin})
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"


def test_an_origin_can_be_allowed(shared_app: App) -> None:
    with http_client(shared_app, allow_origins=("https://Notes.example/",)) as client:
        assert client.get("/bridge/v1/health", headers={"origin": "https://notes.example"}).status_code == 200
        assert client.get("/bridge/v1/health", headers={"origin": "https://notes.example:444"}).status_code == 403


def refused(answer: Any) -> str:
    """How the answer says that the key is missing; empty where it does not."""
    reply = answer.json()
    if answer.status_code == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
        if "error" in reply and reply["error"] == "Unauthorized":
            assert reply["message"].startswith("Invalid or missing MCP API key")
            return "bridge"
        assert reply["success"] is False
        return "rad"
    assert answer.status_code in (200, 404)
    return "burly" if reply.get("error_detail", {}).get("code") == "AUTH_REQUIRED" else ""


@pytest.mark.parametrize(
    ("path", "said", "unsaid"),
    [
        ("/mcp", "settings of the client", "bridge"),
        ("/bridge/v1/tools/x/call", "Pass OBSIDIAN_MCP_API_KEY from stdio bridge", "settings"),
    ],
)
def test_a_refusal_tells_the_client_at_hand_where_its_key_goes(
    locked: TestClient, path: str, said: str, unsaid: str
) -> None:
    """DOOR-04"""
    answer = locked.post(path, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert answer.status_code == 401
    assert said in answer.text
    assert unsaid not in answer.text


DIALECTS = ["bridge"] * 4 + ["burly"] * 4 + ["rad"] * 3


@pytest.mark.parametrize(("request_", "dialect"), list(zip(REQUESTS[:11], DIALECTS, strict=True)))
@pytest.mark.parametrize("headers", [{}, {"x-api-key": "wrong"}, {"authorization": "Basic first"}])
def test_without_its_key_a_locked_server_refuses_in_the_dialect_asked(
    locked: TestClient, calls: list[str], request_: tuple[str, str, Any], dialect: str, headers: dict[str, str]
) -> None:  # row 3
    method, path, body = request_
    assert refused(locked.request(method, path, json=body, headers=headers)) == dialect
    assert not calls


CARRIERS = [
    {"x-api-key": "first"},
    {"x-api-key": " second "},
    {"x-obsiscripta-api-key": "first"},
    {"x-goog-api-key": "second"},
    {"authorization": "Bearer first"},
    {"authorization": "bearer second"},
    {"authorization": "Bearer first junk"},
    {"x-obsiscripta-api-key": "  ", "authorization": "Bearer first"},
]


@pytest.mark.parametrize("headers", CARRIERS)
@pytest.mark.parametrize(("method", "path", "body"), REQUESTS[:11])
def test_every_carrier_opens_every_door(
    locked: TestClient, method: str, path: str, body: Any, headers: dict[str, str]
) -> None:
    """DOOR-04"""
    answer = locked.request(method, path, json=body, headers=headers)
    assert answer.status_code == 200
    assert not refused(answer)


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer  first"},
        {"authorization": "Bearer"},
        {"authorization": "first"},
        {"authorization": "Basic first"},
        {"x-obsiscripta-api-key": "wrong", "authorization": "Bearer first"},
        {"x-api-key": "First"},
        {"x-api-key": "first,second"},
        {"x-api-key": "firs"},
        {"x-api-key": "firsté"},
        {"cookie": "key=first"},
    ],
)
def test_what_is_not_a_key_opens_nothing(locked: TestClient, headers: dict[str, str]) -> None:
    encoded = [(name.encode(), text.encode("latin-1")) for name, text in headers.items()]
    assert refused(locked.get("/bridge/v1/tools", headers=encoded)) == "bridge"


def test_the_key_in_the_query_is_the_gateways_alone(locked: TestClient) -> None:
    """DOOR-04"""
    assert locked.get("/mcp/v1/tools/list?key=first").status_code == 200
    assert locked.get("/mcp/v1/tools/list?key=wrong").status_code == 401
    assert locked.get("/bridge/v1/tools?key=first").status_code == 401


HERE = ("127.0.0.1", 50_000)
ELSEWHERE = ("192.168.1.20", 50_000)


@pytest.fixture(scope="module")
def open_bridge(shared_app: App, witness: Bridge) -> Iterator[TestClient]:
    with http_client(shared_app, witness, address=HERE, keys=("first",), open_bridge=True) as client:
        yield client


def test_an_open_bridge_asks_this_machine_for_no_key(open_bridge: TestClient, calls: list[str]) -> None:
    """DOOR-09: the original stdio bridge sends no key to /bridge/v1"""
    assert open_bridge.get("/bridge/v1/health").status_code == 200
    assert open_bridge.get("/bridge/v1/tools").json()["tools"]
    assert open_bridge.post("/bridge/v1/tools/witness/call", json=CALL).status_code == 200
    assert calls == ["ran"]
    for method, path, body in REQUESTS[3:11]:
        assert refused(open_bridge.request(method, path, json=body)), path


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"x-forwarded-for": "192.168.1.20"},
        {"forwarded": "for=192.168.1.20"},
        {"via": "1.1 proxy"},
        {"x-forwarded-proto": "https"},
        {"x-forwarded-host": "notes.example"},
    ],
)
def test_an_open_bridge_is_closed_to_web_pages_and_proxies(
    open_bridge: TestClient, calls: list[str], headers: dict[str, str]
) -> None:
    """DOOR-09"""
    answer = open_bridge.post("/bridge/v1/tools/witness/call", json=CALL, headers=headers)
    assert answer.status_code in (401, 403)
    assert not calls


def test_an_open_bridge_is_closed_to_other_machines(shared_app: App, witness: Bridge, calls: list[str]) -> None:
    """DOOR-09"""
    with http_client(shared_app, witness, address=ELSEWHERE, keys=("first",), open_bridge=True) as client:
        assert client.get("/bridge/v1/tools").status_code == 401
        assert client.get("/bridge/v1/tools", headers={"x-api-key": "first"}).status_code == 200
    with http_client(shared_app, witness, address=HERE, keys=("first",)) as client:  # off by default
        assert client.get("/bridge/v1/tools").status_code == 401
    assert not calls


def test_a_bridge_without_its_key_is_told_how_to_send_it(locked: TestClient) -> None:
    """DOOR-09, BRIDGE-07"""
    message = locked.get("/bridge/v1/tools").json()["message"]
    assert "OBSIDIAN_MCP_TRANSPORT=mcp" in message
    assert "--open-bridge" in message


def test_the_gateways_health_needs_no_key(locked: TestClient) -> None:  # row 28
    """DOOR-05"""
    assert locked.get("/mcp/v1/health").json()["status"] == "healthy"


def test_with_a_key_any_host_and_page_may_ask(locked: TestClient) -> None:
    headers = {"host": "notes.example", "origin": "https://any.example", "x-api-key": "first"}
    assert locked.get("/bridge/v1/health", headers=headers).status_code == 200


def test_another_method_is_told_before_the_key_is_asked_for(locked: TestClient) -> None:  # row 5
    for path in ("/mcp", "/v1/mcp", "/bridge/v1/tools/x/call", "/mcp/v1/stdio"):
        assert locked.get(path).status_code == 405


def test_the_key_is_asked_for_before_a_body_is_found_too_large(locked: TestClient) -> None:
    """DOOR-06"""
    body = b'{"jsonrpc":"2.0","x":"' + b"a" * 1_100_000 + b'"}'
    assert locked.post("/mcp", content=body).status_code == 401
    assert locked.post("/mcp", content=body, headers={"x-api-key": "first"}).status_code == 413
    assert locked.post("/bridge/v1/tools/witness/call", content=body).status_code == 401


def test_a_session_of_the_sdk_needs_the_key_too(locked: TestClient) -> None:
    for method in ("GET", "DELETE"):
        assert locked.request(method, "/mcp", headers={"mcp-session-id": "x"}).status_code == 401
    modern = {"mcp-protocol-version": "2026-07-28", "accept": "application/json, text/event-stream"}
    assert locked.post("/mcp", json=RPC, headers=modern).status_code == 401


def test_another_host_than_loopback_needs_a_key(shared_app: App) -> None:
    """DOOR-01"""
    for host in ("0.0.0.0", "192.168.1.5", "::", "example.org"):
        with pytest.raises(InvalidArguments, match="OBSIDIAN_MCP_API_KEY"):
            run_http_server(compose.http_application(shared_app), host=host, ports=(0,), drain=1, announce=print)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_only_so_many_requests_in_a_minute_from_one_address() -> None:
    """DOOR-07"""
    clock = Clock()
    access = AccessControl(HttpConfig({"OBSIDIAN_MCP_RATE_LIMIT": "3"}), [], clock=clock)
    message = HttpRequest("POST", (), {}, client="10.0.0.1")
    for _ in range(3):
        access.meter(message)
        clock.now += 10
    with pytest.raises(Refusal, match="Too many requests: 3 per 1 minute") as refusal:
        access.meter(message)
    assert refusal.value.headers["retry-after"] == "31"
    access.meter(replace(message, client="10.0.0.2"))
    access.meter(replace(message, method="GET"))
    clock.now = 60
    access.meter(message)
    with pytest.raises(Refusal):
        access.meter(message)


def test_too_many_requests_are_told_in_the_dialect_asked(shared_app: App, witness: Bridge) -> None:
    with http_client(shared_app, witness, rate_limit=1) as client:
        assert client.post("/mcp", json=RPC).status_code == 200
        for _ in range(3):
            assert client.get("/bridge/v1/tools").status_code == 200
        bridge = client.post("/bridge/v1/tools/witness/call", json=CALL)
        burly = client.post("/mcp", json=LIST)
        rad = client.post("/mcp/v1/stdio", json=INVOKE)
        rpc = client.post("/mcp", json=RPC)
    assert (bridge.status_code, bridge.json()["error"]) == (429, "Too many requests")
    assert (burly.status_code, burly.json()["metrics"]["exit_code"]) == (200, 429)
    assert burly.json()["error"] == "Too many requests: 1 per 1 minute"
    assert (rad.status_code, rad.json()["success"]) == (429, False)
    assert rpc.status_code == 429


@pytest.mark.anyio
async def test_a_body_that_trickles_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.1)

    async def trickle() -> dict[str, Any]:
        await anyio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(Refusal) as refusal:
        await read_body(trickle, 1_000_000)
    assert refusal.value.reason is Reason.TOO_SLOW


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@given(st.text(max_size=30))
@examples(300)
def test_no_host_but_loopback_is_taken_for_loopback(text: str) -> None:
    if is_loopback(text):
        assert text == "localhost" or text.startswith("127.") or ":" in text


@given(
    st.dictionaries(
        st.sampled_from(["authorization", "x-api-key", "x-obsiscripta-api-key", "x-goog-api-key"]), st.text(max_size=12)
    )
)
@examples(300)
def test_no_headers_but_the_key_open_a_locked_door(headers: dict[str, str]) -> None:
    with pytest.raises(Refusal):
        AccessControl(HttpConfig({}), [KeyRing(["a very long key"], tuple, int)]).resolve(
            HttpRequest("GET", (), headers), JsonRpc()
        )
