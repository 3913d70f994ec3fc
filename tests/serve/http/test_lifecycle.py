"""Beginning, end and bad company of the HTTP server, on real ports (specs/http.md LIFE-…)."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.responses import Response
from starlette.types import Message

from obsidian_mcp.app import App
from obsidian_mcp.contracts.rad import tools as rad_tools
from obsidian_mcp.contracts.rad.tools import Bridge, ToolSpec
from obsidian_mcp.errors import AppError
from obsidian_mcp.serve.http import body as bodies
from obsidian_mcp.serve.http import listener
from tests import forked
from tests.serve import plain_http
from tests.serve.serving import serving, started
from tests.system import IN_ITS_GROUP, SYSTEM_ENVIRONMENT, EndingSignal, can, ending_signals


class Gate:
    """A tool that tells that it began, and ends when it is told to."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.open = threading.Event()
        self.bridge = Bridge()
        self.bridge.register_tool(ToolSpec("wait", ""))
        self.bridge.register_tool_handler("wait", self._wait)
        self.bridge.register_tool(ToolSpec("big", ""))
        self.bridge.register_tool_handler("big", lambda given: "x" * given["size"])

    def _wait(self, _: dict[str, Any]) -> str:
        self.begun.release()
        assert self.open.wait(20)
        return "waited"


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.open.set()


def connect(url: str) -> socket.socket:
    parts = urlsplit(url)
    assert parts.hostname
    assert parts.port
    return socket.create_connection((parts.hostname, parts.port), timeout=20)


def request(path: str, body: str, method: str = "POST", **headers: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", f"content-length: {len(body.encode())}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def everything(connection: socket.socket, least: int = 2**62) -> bytes:
    """What comes until the server closes, or until it is so many bytes."""
    received = bytearray()
    while len(received) < least and (chunk := connection.recv(65_536)):
        received += chunk
    return bytes(received)


def is_dropped(connection: socket.socket) -> bool:
    """Whether the server closes a connection without a word."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def wait_for_closing(url: str) -> None:
    """Wait until new clients are turned away, which they are as soon as the server is stopping."""
    with suppress(OSError):
        while True:
            connect(url).close()
            threading.Event().wait(0.01)


WAIT = request("/bridge/v1/tools/wait/call", '{"arguments":{}}')


def test_several_ports_serve_the_same(basic: Path) -> None:
    """LIFE-01"""
    with started(basic, "--port", "0", "--port", "0", "--port", "0") as (_, urls):
        assert len(set(urls)) == 3
        hashes = {plain_http.get(f"{url}/bridge/v1/tools").json()["hash"] for url in urls}
        assert len(hashes) == 1


@pytest.mark.parametrize("sig", ending_signals())
def test_a_signal_ends_the_process_cleanly(basic: Path, sig: EndingSignal) -> None:
    """LIFE-02"""
    with started(basic) as (process, (url,)):
        idle = connect(url)
        half = connect(url)
        half.sendall(b"POST /mcp HTTP/1.1\r\nhost: 127")
        assert plain_http.get(f"{url}/health").json()["status"] == "ok"
        process.send_signal(sig.sent)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
        for connection in (idle, half):
            connection.close()


def test_a_port_that_is_taken_is_named(basic: Path) -> None:
    with listener.listen("127.0.0.1", [0])[0] as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AppError, match=f"port {port} of 127.0.0.1: another program listens there"):
            listener.listen("127.0.0.1", [0, port])


def test_an_open_door_is_refused_at_the_start(basic: Path) -> None:
    with (
        pytest.raises(AssertionError, match="OBSIDIAN_MCP_API_KEY"),
        started(basic, "--host", "0.0.0.0", "--port", "0"),
    ):
        pass


def test_with_a_key_the_server_listens_where_it_is_told(basic: Path) -> None:
    with started(basic, "--host", "0.0.0.0", "--port", "0", BURLYMCP_API_KEY="k") as (_, (url,)):
        local = url.replace("0.0.0.0", "127.0.0.1")
        assert plain_http.get(f"{local}/bridge/v1/health").status_code == 401
        assert plain_http.get(f"{local}/bridge/v1/health", headers={"X-Api-Key": "k"}).status_code == 200


def test_calls_in_flight_are_answered_before_the_end(app: App, gate: Gate) -> None:
    """LIFE-02"""
    with serving(app, gate.bridge) as url:
        connections = [connect(url) for _ in range(4)]
        for connection in connections:
            connection.sendall(WAIT)
            assert gate.begun.acquire(timeout=20)

        def open_when_closed() -> None:
            wait_for_closing(url)
            gate.open.set()

        threading.Thread(target=open_when_closed).start()
    for connection in connections:
        answer = everything(connection)
        assert b"200 OK" in answer
        assert b'"text":"waited"' in answer
        connection.close()


def test_an_event_stream_does_not_hold_up_the_end(app: App) -> None:
    """LIFE-02"""
    with serving(app, drain=19) as url:
        session = begin_session(url)
        stream = connect(url)
        stream.sendall(
            request(
                "/mcp", "", "GET", mcp_session_id=session, accept="text/event-stream", mcp_protocol_version="2025-06-18"
            )
        )
        assert b"text/event-stream" in stream.recv(65_536)
        begun = time.monotonic()
    assert time.monotonic() - begun < 15
    everything(stream)
    stream.close()


def begin_session(url: str) -> str:
    answer = plain_http.post(
        f"{url}/mcp",
        json={
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            },
        },
        headers={"accept": "application/json, text/event-stream"},
    )
    assert answer.status_code == 200
    return answer.headers["mcp-session-id"]


def test_a_body_that_never_comes_is_answered_408_or_dropped(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """LIFE-03"""
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.3)
    with serving(app) as url:
        for path in ("/mcp", "/v1/mcp", "/bridge/v1/tools/obsidian_vault_info/call", "/mcp/v1/stdio"):
            connection = connect(url)
            head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: 100\r\n\r\n"
            connection.sendall(head.encode() + b"{")
            answer = everything(connection)
            assert b"408" in answer.split(b"\r\n")[0] or b'"ok":false' in answer
            connection.close()


def test_a_head_that_never_ends_is_dropped(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """LIFE-03"""
    monkeypatch.setattr(listener, "HEAD_SECONDS", 0.3)
    with serving(app) as url, connect(url) as silent, connect(url) as slow, connect(url) as kept:
        slow.sendall(b"GET /health HTTP/1.1\r\n")
        kept.sendall(request("/health", "", "GET"))
        answer = b""
        while not answer.endswith(b"}"):
            answer += kept.recv(65_536)
        kept.sendall(b"GET /health HTTP/1.1\r\n")
        for connection in (silent, slow, kept):
            assert is_dropped(connection)


def test_a_connection_stays_open_after_the_rest_of_a_body_that_was_answered_already(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LIFE-03, LIFE-04"""
    monkeypatch.setattr(listener, "HEAD_SECONDS", 0.3)
    with serving(app) as url, connect(url) as connection:
        connection.sendall(b"POST /nowhere HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 10\r\n\r\n")
        answer = b""
        while not answer.endswith(b"}"):
            answer += connection.recv(65_536)
        connection.sendall(b"0123456789")
        connection.settimeout(1)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(20)
        connection.sendall(request("/health", "", "GET"))
        assert b" 200 " in connection.recv(65_536)


def test_a_client_that_reads_on_keeps_its_connection_and_one_that_stops_loses_it(
    app: App, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LIFE-03"""
    monkeypatch.setattr(listener, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(listener, "STALL_SECONDS", 0.3)
    call = request("/bridge/v1/tools/big/call", '{"arguments":{"size":20000000}}')
    with serving(app, gate.bridge) as url, connect(url) as stopped, connect(url) as reading:
        stopped.sendall(call)
        reading.sendall(call)
        assert len(everything(reading, 20_000_000)) >= 20_000_000
        end = time.monotonic() + 5 * listener.STALL_SECONDS
        while time.monotonic() < end:
            assert plain_http.get(f"{url}/health").status_code == 200
            threading.Event().wait(0.2)
        assert len(everything(stopped)) < 20_000_000


@pytest.mark.parametrize("size", [0, 1, listener.PIECE_BYTES, listener.PIECE_BYTES + 1, 3 * listener.PIECE_BYTES])
def test_an_answer_is_handed_to_the_system_in_pieces(size: int) -> None:
    """LIFE-03: asyncio on Windows does not say how much of one piece was taken"""
    body = random.Random(size).randbytes(size)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def serve() -> None:
        await listener.send_in_pieces(Response(body))({"type": "http"}, receive, send)

    asyncio.run(serve())

    start, *pieces = sent
    assert start["type"] == "http.response.start"
    assert b"".join(piece["body"] for piece in pieces) == body
    assert all(len(piece["body"]) <= listener.PIECE_BYTES for piece in pieces)
    assert [piece.get("more_body", False) for piece in pieces] == [True] * (len(pieces) - 1) + [False]


def test_a_client_that_does_not_read_its_answer_holds_up_no_other(app: App, gate: Gate) -> None:
    """LIFE-05"""
    with serving(app, gate.bridge) as url, connect(url) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(request("/bridge/v1/tools/big/call", '{"arguments":{"size":20000000}}'))
        assert plain_http.get(f"{url}/health").json()["status"] == "ok"
        assert len(everything(connection, 50_000)) >= 50_000


def test_a_client_that_leaves_in_mid_call_harms_nobody(app: App, gate: Gate) -> None:
    """LIFE-05"""
    with serving(app, gate.bridge) as url:
        for _ in range(10):
            connection = connect(url)
            connection.sendall(WAIT)
            assert gate.begun.acquire(timeout=20)
            connection.close()
        half = connect(url)
        half.sendall(WAIT[:-5])
        half.close()
        gate.open.set()
        assert plain_http.get(f"{url}/health").json()["status"] == "ok"


def test_a_refused_body_does_not_hide_its_answer(app: App) -> None:
    """LIFE-04, DOOR-06"""
    big = b"a" * 5_000_000
    with serving(app) as url, httpx.Client(base_url=url, verify=False) as client:
        for path, status in (("/bridge/v1/tools/x/call", 413), ("/v1/mcp", 200), ("/mcp", 200), ("/mcp/v1/stdio", 413)):
            for _ in range(3):
                answer = client.post(path, content=big, headers={"content-type": "application/json"})
                assert answer.status_code == status, path
                assert "too large" in answer.text
        assert client.get("/health").json()["status"] == "ok"


def test_sixty_four_clients_at_once_lose_no_answer(app: App) -> None:
    registered = Bridge()
    registered.register_tool(ToolSpec("say", ""))
    registered.register_tool_handler("say", lambda given: given["text"])

    def client(number: int) -> list[str]:
        lost = []
        with httpx.Client(base_url=url, timeout=30, verify=False) as http:  # no TLS, whose set-up takes 30 ms each
            for turn in range(2):
                text = f"{number}/{turn}"
                said = {"name": "say", "arguments": {"text": text}}
                answers = [
                    http.post("/bridge/v1/tools/say/call", json={"arguments": said["arguments"]}),
                    http.post("/mcp", json={"jsonrpc": "2.0", "id": text, "method": "tools/call", "params": said}),
                    http.post(
                        "/mcp", json={"id": text, "method": "call_tool", "name": "say", "args": said["arguments"]}
                    ),
                    http.post("/mcp/v1/tools/invoke", json={"tool": "say", "input": said["arguments"]}),
                ]
                lost += [answer.text for answer in answers if answer.status_code != 200 or text not in answer.text]
        return lost

    with serving(app, registered) as url, ThreadPoolExecutor(64) as pool:
        assert [lost for lost in pool.map(client, range(64)) if lost] == []


def test_answers_do_not_wait_for_acknowledgements(app: App) -> None:
    closing = {"connection": "close"}
    with (
        serving(app) as url,
        httpx.Client(base_url=url, verify=False) as kept,
        httpx.Client(base_url=url, headers=closing, verify=False) as closed,
    ):
        kept.get("/bridge/v1/health")
        took: dict[str, list[float]] = {"kept": [], "closed": []}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for _ in range(25):
            for kind, client in (("kept", kept), ("closed", closed)):
                begun = time.monotonic()
                assert client.post("/mcp", json=ping).status_code == 200
                took[kind].append(time.monotonic() - begun)
        # 40 ms or more each, where the system waits; the end of a connection waits for nothing
        assert median(took["kept"]) < median(took["closed"]) + 0.03


OTHER_PROGRAM = "\n".join(
    [
        "import sys",
        "from obsidian_mcp import compose, config",
        "from obsidian_mcp.contracts.rad.tools import Bridge, InputProperty, InputSchema, ToolSpec",
        textwrap.dedent((rad_tools.__doc__ or "").split("\n\n")[1])
        .replace('"~/Notes"', "sys.argv[1]")
        .replace("registered=", "ports=(0,), announce=lambda url: print(url, flush=True), registered="),
    ]
)
"""The program that the module's documentation shows, on a port that is free."""


def test_another_program_can_serve_tools_of_its_own(basic: Path) -> None:
    """RAD-04, RAD-01"""
    private = {**SYSTEM_ENVIRONMENT, "HOME": str(basic.parent), "OBSIDIAN_MCP_STATE": str(basic.parent / "state")}
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER_PROGRAM, str(basic)],
        stdout=subprocess.PIPE,
        env=private,
        creationflags=IN_ITS_GROUP,
    )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().decode().strip()
        arguments = {"a": 5, "b": 3}
        bridge = plain_http.post(f"{url}/bridge/v1/tools/add/call", json={"arguments": arguments}, timeout=60).json()
        rad = plain_http.post(f"{url}/mcp/v1/tools/invoke", json={"tool": "add", "input": arguments}).json()
        assert json.loads(bridge["content"][0]["text"]) == rad["output"] == {"sum": 8}
        own = plain_http.post(f"{url}/mcp/v1/tools/invoke", json={"tool": "echo", "input": {"content": "x"}}).json()
        assert own["output"]["echo"] == {"content": "x"}  # the contract's own tools as well
        process.terminate()
        assert process.wait(10) == 0 or not can("signals between processes")
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


@pytest.mark.parametrize("sig", ending_signals())
def test_a_signal_in_mid_call_waits_for_the_answer(basic: Path, sig: EndingSignal) -> None:
    done = basic.parent / "done"
    private = {**SYSTEM_ENVIRONMENT, "HOME": str(basic.parent), "OBSIDIAN_MCP_STATE": str(basic.parent / "state")}
    command = [sys.executable, "-m", "tests.serve.http.waiting_server", str(basic), str(done)]
    process = forked.start(command, stdout=subprocess.PIPE, env=private)
    assert process.stdout is not None
    try:
        url = process.stdout.readline().decode().strip()
        connection = connect(url)
        connection.sendall(WAIT)
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(sig.sent)
        wait_for_closing(url)
        done.touch()
        answer = everything(connection)
        connection.close()
        assert b"200 OK" in answer
        assert b'"text":"waited"' in answer
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()


GARBAGE = [
    b"\x00\x01\x02\x03\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -1\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: abc\r\n\r\n",
    b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
    b"GET /bridge/v1/tools/%00%ff/call HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
]


def test_a_connection_ends_after_a_request_with_two_lengths(app: App) -> None:
    """LIFE-06: what one of them takes for the body, the other takes for the next request"""
    head = b"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n"
    with serving(app) as url:
        connection = connect(url)
        connection.sendall(head + b"0\r\n\r\nGET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
        answer = everything(connection)
        connection.close()

    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer.lower()


def test_bytes_that_are_no_request_harm_nobody(app: App) -> None:
    """LIFE-06"""
    with serving(app) as url:
        for garbage in GARBAGE:
            connection = connect(url)
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            answer = everything(connection)
            assert b" 500 " not in answer.split(b"\r\n")[0]
            connection.close()
        assert plain_http.get(f"{url}/health").json()["status"] == "ok"


@pytest.mark.skipif(shutil.which("curl") is None, reason="the program curl is not installed")
def test_curl_gets_its_answers(app: App) -> None:
    with serving(app) as url:
        message = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
        command = ["curl", "-s", "-X", "POST", f"{url}/mcp", "-H", "Content-Type: application/json", "-d", message]
        done = subprocess.run(command, capture_output=True, check=True, timeout=20)
        assert json.loads(done.stdout)["result"]["tools"]


def test_connections_that_are_opened_as_the_server_ends_are_closed(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """LIFE-02: asyncio forgot those that it had just accepted."""
    monkeypatch.setattr(listener, "HEAD_SECONDS", 100.0)
    opened: list[socket.socket] = []
    are_many = threading.Event()

    def open_until_refused() -> None:
        with suppress(OSError):
            while len(opened) < 400:
                opened.append(connect(url))
                if len(opened) == 50:
                    are_many.set()

    with serving(app, drain=60) as url:  # it asserts that the server ends within 20 s
        opening = threading.Thread(target=open_until_refused)
        opening.start()
        assert are_many.wait(20)
    opening.join(20)
    for connection in opened:
        with connection:
            assert is_dropped(connection)
