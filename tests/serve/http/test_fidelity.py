"""Bytes are sacred in every dialect: the same edit leaves the same bytes, whoever asks (specs/safety.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp.app import App
from obsidian_mcp.tools.registry import call
from tests.serve.http_client import http_client

BEFORE = (
    b'\xef\xbb\xbf---\r\n# note\r\nid: 007\r\nl: [a,  "b"] # c\r\n---\r\nText \xf0\x9f\x98\x80 \r\n\r\nlast\xff\r\n end'
)
"""Line ends of Windows, a byte order mark, a comment, odd YAML, a byte that is not UTF-8, no last newline."""

Ask = Callable[[TestClient, str, dict[str, Any]], bool]


def bridge(client: TestClient, tool: str, arguments: dict[str, Any]) -> bool:
    return bool(client.post(f"/bridge/v1/tools/{tool}/call", json={"arguments": arguments}).json()["success"])


def rpc(client: TestClient, tool: str, arguments: dict[str, Any]) -> bool:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return not client.post("/mcp", json=message).json()["result"]["isError"]


def burly(client: TestClient, tool: str, arguments: dict[str, Any]) -> bool:
    message = {"id": "1", "method": "call_tool", "name": tool, "args": {**arguments, "_confirm": True}}
    return bool(client.post("/v1/mcp", json=message).json()["ok"])


def rad(client: TestClient, tool: str, arguments: dict[str, Any]) -> bool:
    return bool(client.post("/mcp/v1/tools/invoke", json={"tool": tool, "input": arguments}).json()["success"])


def direct(app: App) -> Ask:
    return lambda _, tool, arguments: call(app, tool, arguments) is not None


EDITS: list[tuple[str, dict[str, Any]]] = [
    ("obsidian_edit_note", {"name": "Odd", "operation": "append", "content": "more\nlines"}),
    ("obsidian_edit_note", {"name": "Odd", "operation": "replace_text", "find": "Text", "content": "T\nu"}),
    ("obsidian_edit_note", {"name": "Odd", "operation": "prepend", "content": "first"}),
    ("obsidian_set_properties", {"names": ["Odd"], "properties": {"new": "x: y"}}),
    ("obsidian_move_note", {"name": "Odd", "to": "Deep/Odder"}),
]


@pytest.mark.parametrize("ask", [bridge, rpc, burly, rad], ids=lambda ask: ask.__name__)
def test_an_edit_leaves_the_same_bytes_in_every_dialect(app: App, basic: Path, ask: Ask) -> None:
    wanted = []
    with http_client(app) as client:
        for turn in (direct(app), ask):
            (basic / "Odd.md").write_bytes(BEFORE)
            states = []
            for tool, arguments in EDITS:
                assert turn(client, tool, arguments)
                path = basic / "Deep/Odder.md" if tool == "obsidian_move_note" else basic / "Odd.md"
                states.append(path.read_bytes())
            (basic / "Deep/Odder.md").unlink()
            wanted.append(states)
    assert wanted[0] == wanted[1]
    assert wanted[0][0] == BEFORE + b"\r\nmore\r\nlines"
    assert len(set(wanted[0])) == len(EDITS) - 1  # only the move changes no byte
