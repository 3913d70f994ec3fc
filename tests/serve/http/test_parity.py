"""The same call gives the same answer in every dialect, and the same failure (specs/http.md HTTP-01)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp.app import App
from obsidian_mcp.tools.registry import call
from tests.serve.http_client import http_client

Ask = Callable[[TestClient, str, dict[str, Any]], Any]


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    with http_client(app) as client:
        yield client


def by_bridge(client: TestClient, name: str, arguments: dict[str, Any]) -> Any:
    return client.post(f"/bridge/v1/tools/{name}/call", json={"arguments": arguments}).json()


def by_rpc(client: TestClient, name: str, arguments: dict[str, Any]) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return client.post("/mcp", json=message).json()


def by_envelope(client: TestClient, name: str, arguments: dict[str, Any]) -> Any:
    return client.post("/mcp", json={"id": "1", "method": "call_tool", "name": name, "args": arguments}).json()


def by_registry(client: TestClient, name: str, arguments: dict[str, Any]) -> Any:
    return client.post("/mcp/v1/tools/invoke", json={"tool": name, "input": arguments}).json()


def by_session(client: TestClient, name: str, arguments: dict[str, Any]) -> Any:
    """Through the SDK, in the revision that needs no session."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": name, "arguments": arguments, "_meta": meta}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return client.post("/mcp", json=message, headers=headers).json()


DATA: list[tuple[Ask, Callable[[Any], Any]]] = [
    (by_bridge, lambda reply: json.loads(reply["content"][0]["text"])["data"]),
    (by_rpc, lambda reply: reply["result"]["structuredContent"]["data"]),
    (by_envelope, lambda reply: reply["result"]["data"]),
    (by_registry, lambda reply: reply["output"]),
    (by_session, lambda reply: reply["result"]["structuredContent"]["data"]),
]
TEXT: list[tuple[Ask, Callable[[Any], Any]]] = [
    (by_bridge, lambda reply: reply["content"][1]["text"]),
    (by_rpc, lambda reply: reply["result"]["content"][1]["text"]),
    (by_envelope, lambda reply: reply["stdout"]),
    (by_registry, lambda reply: reply["output"]["content"]),
    (by_session, lambda reply: reply["result"]["content"][1]["text"]),
]
FAILURE: list[tuple[Ask, Callable[[Any], Any]]] = [
    (by_bridge, lambda reply: reply["content"][0]["text"] if reply["isError"] else ""),
    (by_rpc, lambda reply: reply["result"]["content"][0]["text"] if reply["result"]["isError"] else ""),
    (by_envelope, lambda reply: f"Error: {reply['error']} ({reply['error_detail']['code']})"),
    (by_registry, lambda reply: f"Error: {reply['error']} (FILE_NOT_FOUND)"),
    (by_session, lambda reply: reply["result"]["content"][0]["text"] if reply["result"]["isError"] else ""),
]
NAMES = ["bridge", "rpc", "envelope", "registry", "session"]


@pytest.mark.parametrize(("ask", "of"), DATA, ids=NAMES)
def test_data_is_the_same(app: App, client: TestClient, ask: Ask, of: Callable[[Any], Any]) -> None:
    """HTTP-01"""
    expected = call(app, "obsidian_list_files", {"folder": "Projects", "sort": "size"}).data
    assert of(ask(client, "obsidian_list_files", {"folder": "Projects", "sort": "size"})) == expected


@pytest.mark.parametrize(("ask", "of"), TEXT, ids=NAMES)
def test_the_text_of_a_note_is_the_same(app: App, client: TestClient, ask: Ask, of: Callable[[Any], Any]) -> None:
    expected = call(app, "obsidian_read_note", {"name": "Home"}).text
    assert of(ask(client, "obsidian_read_note", {"name": "Home"})) == expected


@pytest.mark.parametrize(("ask", "of"), FAILURE, ids=NAMES)
def test_a_failure_is_the_same(client: TestClient, ask: Ask, of: Callable[[Any], Any]) -> None:
    """HTTP-01"""
    expected = by_bridge(client, "obsidian_read_note", {"name": "Nowhere"})["content"][0]["text"]
    assert expected.endswith("(FILE_NOT_FOUND)")
    assert of(ask(client, "obsidian_read_note", {"name": "Nowhere"})) == expected
