"""/bridge/v1 beyond the document's examples, as the original answers (specs/http.md BRIDGE-…, wire A.0)."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp.app import App
from obsidian_mcp.contracts.plugin.tool_hash import tool_hash
from obsidian_mcp.contracts.rad.tools import Bridge, InputProperty, InputSchema, ToolSpec
from obsidian_mcp.errors import NoteNotFound, OperationTimeout
from tests.serve.http_client import http_client

ONE_MIB = 1_048_576


def odd_tools() -> Bridge:
    bridge = Bridge()

    def add(name: str, handler: Any) -> None:
        bridge.register_tool(ToolSpec(name, f"The tool {name}", InputSchema({"text": InputProperty("string")})))
        bridge.register_tool_handler(name, handler)

    def missing(_: Any) -> None:
        raise NoteNotFound("There is no note 'x'. Search for it.", name="x")

    def slow(_: Any) -> None:
        raise OperationTimeout("It took too long.", seconds=30)

    def broken(_: Any) -> None:
        raise RuntimeError("secret: /etc/passwd")

    add("say", lambda given: given.get("text", ""))
    add("utils/helper", lambda _: "helped")
    add("größe", lambda _: "groß")
    add("a+b", lambda _: "plus")
    add("missing", missing)
    add("slow", slow)
    add("broken", broken)
    return bridge


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    with http_client(app, odd_tools()) as client:
        yield client


def call(client: TestClient, name: str, body: bytes | str) -> Any:
    return client.post(f"/bridge/v1/tools/{name}/call", content=body)


def test_the_list_is_sorted_and_has_its_own_hash(client: TestClient) -> None:
    """V1-01"""
    answer = client.get("/bridge/v1/tools").json()
    assert answer["hash"] == tool_hash(answer["tools"])
    names = [tool["name"] for tool in answer["tools"]]
    assert names.index("a+b") < names.index("broken") < names.index("größe") < names.index("obsidian_list_files")
    assert client.get("/bridge/v1/tools").json() == answer


def test_the_hash_changes_with_the_tools(app: App) -> None:
    """V1-01"""
    registered = Bridge()
    with http_client(app, registered) as client:
        before = client.get("/bridge/v1/tools").json()
        registered.register_tool(ToolSpec("later", "Came later"))
        after = client.get("/bridge/v1/tools").json()
    assert before["hash"] != after["hash"]
    assert {tool["name"] for tool in after["tools"]} - {tool["name"] for tool in before["tools"]} == {"later"}


def test_content_goes_out_as_the_tool_gave_it(client: TestClient) -> None:
    """V1-04"""
    answer = call(client, "say", '{"arguments":{"text":"hé\\n日 😀"}}')
    assert answer.json() == {"success": True, "content": [{"type": "text", "text": "hé\n日 😀"}]}
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("headers", [{}, {"content-type": "text/plain"}, {"content-type": "application/xml"}])
def test_the_content_type_of_a_request_does_not_matter(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.post("/bridge/v1/tools/say/call", content=b'{"arguments":{"text":"x"},"extra":1}', headers=headers)
    assert answer.json()["success"] is True


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'\xef\xbb\xbf{"arguments":{"text":"bom"}}', "bom"),
        (b'{"arguments":{"text":"a","text":"b"}}', "b"),
        (b'{"arguments":{"text":"\\ud83d\\ude00"}}', "\U0001f600"),
    ],
)
def test_what_the_original_takes_is_taken(client: TestClient, body: bytes, text: str) -> None:
    """HTTP-06"""
    assert call(client, "say", body).json()["content"][0]["text"] == text


def test_half_a_surrogate_pair_leaves_as_an_escape(client: TestClient) -> None:
    """HTTP-06"""
    answer = call(client, "say", b'{"arguments":{"text":"\\ud83d"}}')
    assert answer.content == b'{"success":true,"content":[{"text":"\\ud83d","type":"text"}]}'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b'{"arguments":{',
        b'{"arguments":{"text":NaN}}',
        b'{"arguments":{"text":"\xff\xfe"}}',
        b"[" * 100_000,
        b"[]",
        b"null",
        b'"x"',
        b"1",
        b"{}",
        b'{"arguments":null}',
        b'{"arguments":[]}',
        b'{"arguments":"x"}',
        b'{"arguments":0}',
        b'[{"arguments":{}}]',
    ],
)
def test_a_body_of_the_wrong_shape_is_400(client: TestClient, body: bytes) -> None:
    """V1-02"""
    answer = call(client, "say", body)
    assert answer.status_code == 400
    reply = answer.json()
    assert reply["error"] == "Invalid request body"
    assert reply["message"].startswith("Invalid request body: ")
    assert reply["code"] == "INVALID_ARGUMENTS"


def test_wrong_arguments_are_400_and_named(client: TestClient) -> None:  # wire row 9
    # V1-02
    answer = call(client, "obsidian_delete_note", '{"arguments":{}}')
    assert answer.status_code == 400
    reply = answer.json()
    assert reply["error"] == "Invalid request body"
    assert reply["message"].startswith("Missing required argument: name")
    assert reply["details"]["missing"] == ["name"]
    assert reply["code"] == "INVALID_ARGUMENTS"


@pytest.mark.parametrize(
    ("path", "text"),
    [("utils%2Fhelper", "helped"), ("utils%2fhelper", "helped"), ("gr%C3%B6%C3%9Fe", "groß"), ("a+b", "plus")],
)
def test_the_name_of_a_tool_is_decoded_once(client: TestClient, path: str, text: str) -> None:
    """V1-03"""
    assert call(client, path, '{"arguments":{}}').json()["content"][0]["text"] == text


@pytest.mark.parametrize("path", ["nope", "%zz", "%ff", "a%2Bb%2Bc", "say%20", "gr%25C3%25B6%25C3%259Fe"])
def test_an_unknown_tool_is_404_before_its_body_is_looked_at(client: TestClient, path: str) -> None:
    """V1-03"""
    answer = call(client, path, b"not json")
    assert answer.status_code == 404
    reply = answer.json()
    assert reply["error"] == "Tool not found"
    assert reply["code"] == "TOOL_NOT_FOUND"
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    "path", ["", "/", "/nope", "/health/", "/tools/", "/tools/utils/helper/call", "/tools/say", "/tools/say/call/"]
)
def test_other_paths_are_404(client: TestClient, path: str) -> None:
    """HTTP-07"""
    answer = client.get(f"/bridge/v1{path}")
    assert (answer.status_code, answer.json()) == (404, {"error": "Not found", "message": "Not found"})
    assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "health"), ("PUT", "health"), ("DELETE", "tools"), ("GET", "tools/say/call"), ("PATCH", "tools")],
)
def test_another_method_is_405(client: TestClient, method: str, path: str) -> None:  # wire row 7
    """HTTP-07"""
    answer = client.request(method, f"/bridge/v1/{path}")
    assert answer.status_code == 405
    assert answer.json() == {"error": "Method not allowed", "message": "Method not allowed"}
    assert "OPTIONS" in answer.headers["allow"]


def test_head_is_get_without_a_body(client: TestClient) -> None:
    assert client.head("/bridge/v1/health").status_code == 200


@pytest.mark.parametrize("path", ["health", "tools", "tools/say/call", "nope"])
def test_every_preflight_is_answered(client: TestClient, path: str) -> None:
    """V1-05"""
    answer = client.options(f"/bridge/v1/{path}", headers={"access-control-request-headers": "x-odd"})
    assert answer.status_code == 204
    assert answer.content == b""
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == "GET, POST, OPTIONS"
    assert answer.headers["access-control-allow-headers"] == "Content-Type"


@pytest.mark.parametrize(
    ("tool", "beginning"),
    [
        ("missing", "Error: There is no note 'x'. Search for it."),
        ("slow", "Error: It took too long."),
        ("broken", "Error: The server failed while running broken."),
    ],
)
def test_a_tool_that_fails_is_a_result(client: TestClient, tool: str, beginning: str) -> None:
    answer = call(client, tool, '{"arguments":{}}')
    assert answer.status_code == 200
    reply = answer.json()
    assert (reply["success"], reply["isError"]) == (False, True)
    assert reply["content"][0]["text"].startswith(beginning)
    assert "passwd" not in answer.text


def test_a_body_of_just_the_limit_passes(client: TestClient) -> None:
    frame = len(json.dumps({"arguments": {"text": ""}}))
    body = json.dumps({"arguments": {"text": "a" * (ONE_MIB - frame)}})
    assert len(body) == ONE_MIB
    assert call(client, "say", body).json()["success"] is True


@pytest.mark.parametrize("path", ["tools/say/call", "health"])
def test_a_body_over_the_limit_is_413(client: TestClient, path: str) -> None:
    answer = client.request("GET" if path == "health" else "POST", f"/bridge/v1/{path}", content=b"a" * (ONE_MIB + 1))
    assert answer.status_code == 413
    assert answer.json() == {"error": "Request body too large", "message": "Request body too large"}


def test_a_chunked_body_over_the_limit_is_413_too(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        yield b'{"arguments":{"text":"'
        for _ in range(20):
            yield b"a" * 65_536
        yield b'"}}'

    assert client.post("/bridge/v1/tools/say/call", content=chunks()).status_code == 413


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="


def test_an_image_goes_out_as_an_image_in_every_dialect(app: App, basic: Path) -> None:
    (basic / "dot.png").write_bytes(b64decode(PNG))
    arguments = {"name": "dot.png"}
    with http_client(app) as client:
        bridge = client.post("/bridge/v1/tools/obsidian_attachments/call", json={"arguments": arguments}).json()
        rpc = client.post(
            "/mcp",
            json={
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "obsidian_attachments", "arguments": arguments},
            },
        ).json()
        rad = client.post("/mcp/v1/tools/invoke", json={"tool": "obsidian_attachments", "input": arguments}).json()
    image = {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert bridge["content"][-1] == rpc["result"]["content"][-1] == image
    assert rad["output"]["base64"] == PNG
