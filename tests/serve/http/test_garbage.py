"""Mutated requests at every route: no fault, no crash, nothing in the log (specs/http.md LIFE-06)."""

from __future__ import annotations

import logging
import random
import socket
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from obsidian_mcp import compose, config
from obsidian_mcp.app import App
from obsidian_mcp.serve.http import body as bodies
from obsidian_mcp.serve.http.pages import document
from tests.examples import examples
from tests.serve import plain_http
from tests.serve.serving import serving

REQUESTS = 600
"""Of each seed; `make explore` tries many seeds."""
CONTRACTS = compose.contracts(config.Config())
ROUTES = [path.replace("{name}", "obsidian_list_files") for path in document(CONTRACTS)["paths"]]
ROUTES += ["/", "/openapi.json", "/mcp/", "/bridge/v1/tools/%ff%00/call", "/nope"]
METHODS = ["GET", "POST", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"]
BODIES = [
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"obsidian_list_files","arguments":{}}}',
    b'{"id":"1","method":"call_tool","name":"obsidian_list_files","args":{"limit":3}}',
    b'{"arguments":{"folder":"x"}}',
    b'{"tool":"json_parse","input":{"data":"[1]"},"session":"s"}',
    b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
    b"",
]
HEADERS = [
    b"accept: application/json, text/event-stream",
    b"mcp-session-id: abc",
    b"mcp-protocol-version: 2026-07-28",
    b"mcp-protocol-version: 2025-06-18",
    b"content-type: application/json",
    b"x-obsiscripta-api-key: k",
    b"expect: 100-continue",
    b"authorization: Bearer \xff",
    b"origin: null",
    b"connection: close",
    b"x-odd: \x80",
]
ODDITIES = [b"\\ud800", b"1e400", b"[" * 300, b"{}", b"null", b'"', b"9" * 400, b"NaN", b"\r\n", b"\x00"]


def mutated(data: bytes, dice: random.Random, times: int) -> bytes:
    changed = bytearray(data)
    for _ in range(times):
        place = dice.randrange(len(changed) + 1)
        match dice.randrange(3):
            case 0:
                del changed[place : place + dice.randrange(1, 8)]
            case 1:
                changed[place:place] = dice.randbytes(dice.randrange(1, 6))
            case _:
                changed[place:place] = dice.choice(ODDITIES)
    return bytes(changed)


def request(dice: random.Random) -> bytes:
    body = mutated(dice.choice(BODIES), dice, dice.choice([0, 0, 1, 2, 5]))
    head = [f"{dice.choice(METHODS)} {dice.choice(ROUTES)} HTTP/1.1".encode(), b"host: 127.0.0.1"]
    head += dice.sample(HEADERS, dice.randrange(4))
    if dice.random() < 0.15:
        head.append(b"transfer-encoding: chunked")
        if dice.random() < 0.8:
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    else:
        head.append(b"content-length: %d" % (len(body) if dice.random() < 0.9 else dice.randrange(2_000_000)))
    whole = b"\r\n".join(head) + b"\r\n\r\n" + body
    return mutated(whole, dice, 2) if dice.random() < 0.15 else whole


def answer(connection: socket.socket) -> bytes:
    """Return the beginning of the answer. A server that waits for more than was sent is told that nothing comes: only
    then, because a server may close a connection of which one side is closed, and the answer is lost."""
    connection.settimeout(0.05)
    try:
        return connection.recv(65_536)[:12]
    except TimeoutError:
        connection.settimeout(10)
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(65_536)[:12]


@examples(3, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_nothing_that_is_sent_makes_the_server_fail(
    app: App, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.5)
    dice = random.Random(seed)
    statuses = set()
    with caplog.at_level(logging.ERROR), serving(app) as url:
        parts = urlsplit(url)
        for _ in range(REQUESTS):
            sent = request(dice)
            with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=10) as connection:
                try:
                    connection.sendall(sent)
                    status = answer(connection)
                except ConnectionError:  # closed before all of it was read
                    continue
                assert not status.startswith(b"HTTP/1.1 5"), sent
                statuses.add(status)
        assert plain_http.get(f"{url}/health").json()["status"] == "ok"
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert {b"HTTP/1.1 200", b"HTTP/1.1 400", b"HTTP/1.1 404", b"HTTP/1.1 405", b"HTTP/1.1 413"} <= statuses
