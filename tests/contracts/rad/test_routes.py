"""/mcp/v1 beyond the document's examples (specs/http.md RAD-…, wire A.4 and rows 25 to 29)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp.app import App
from obsidian_mcp.contracts.rad.tools import Bridge, ToolSpec
from tests.contracts.plugin.test_routes import odd_tools
from tests.serve.http_client import http_client


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    registry = odd_tools()
    registry.register_tool(ToolSpec("orphan", "Has no handler"))
    with http_client(app, registry) as client:
        yield client


def invoke(client: TestClient, body: Any, path: str = "tools/invoke") -> Any:
    content = {"content": body} if isinstance(body, bytes) else {"json": body}
    return client.post(f"/mcp/v1/{path}", **content)


def test_entries_carry_their_schema_under_both_names(client: TestClient) -> None:  # row 25
    tools = client.get("/mcp/v1/tools/list").json()["tools"]
    assert all(tool["parameters"] == tool["inputSchema"] for tool in tools)
    assert {"name", "description"} <= set(tools[0])


@pytest.mark.parametrize(
    ("text", "parsed", "kind"),
    [
        ('{"name":"test","value":123}', {"name": "test", "value": 123}, "map[string]interface {}"),
        ("[1,2]", [1, 2], "[]interface {}"),
        ('"s"', "s", "string"),
        ("1", 1, "float64"),
        ("1.5", 1.5, "float64"),
        ("true", True, "bool"),
        ("null", None, "<nil>"),
        (' {"a":1} ', {"a": 1}, "map[string]interface {}"),
        ('{"a":1,"a":2}', {"a": 2}, "map[string]interface {}"),
    ],
)
def test_json_parse_names_the_type_as_the_original_does(client: TestClient, text: str, parsed: Any, kind: str) -> None:
    output = invoke(client, {"tool": "json_parse", "input": {"data": text}}).json()["output"]
    assert output == {"parsed": parsed, "type": kind}


@pytest.mark.parametrize(
    "text", ["", "not json", '{"a":1} x', "NaN", "[" * 100_000, "1e400", '{"a":[-1e999]}', "9" * 400]
)
def test_json_parse_tells_what_it_cannot_parse(client: TestClient, text: str) -> None:
    """RAD-01"""
    answer = invoke(client, {"tool": "json_parse", "input": {"data": text}})
    assert answer.status_code == 200
    assert answer.json()["success"] is False
    assert answer.json()["error"].startswith("parse error: ")


def test_json_parse_takes_what_is_no_text_as_it_is(client: TestClient) -> None:
    output = invoke(client, {"tool": "json_parse", "input": {"data": {"x": [1, "2", None, True]}}}).json()["output"]
    assert output == {"parsed": {"x": [1, "2", None, True]}, "type": "map[string]interface {}"}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "invalid request body: the body is empty"),
        (b"   ", "invalid request body: the body is empty"),
        (b"not json", "invalid request body: "),
        (b'{"tool":"echo"', "invalid request body: "),
        (b'{"tool":"echo","input":{"a":NaN}}', "invalid request body: "),
        (b"[]", "invalid request body: expected an object, got array"),
        (b'"x"', "invalid request body: expected an object, got string"),
        (b"5", "invalid request body: expected an object, got number"),
        (b'{"tool":5}', "invalid request body: tool must be string, got number"),
        (b'{"tool":"echo","input":[]}', "invalid request body: input must be object, got array"),
        (b'{"tool":"echo","session":5}', "invalid request body: session must be string, got number"),
        (b"null", "tool is required"),
        (b"{}", "tool is required"),
        (b'{"tool":""}', "tool is required"),
        (b'{"tool":null}', "tool is required"),
    ],
)
@pytest.mark.parametrize("path", ["tools/invoke", "stdio"])
def test_a_request_of_the_wrong_shape_is_400(client: TestClient, path: str, body: bytes, error: str) -> None:
    answer = invoke(client, body, path)
    assert answer.status_code == 400
    assert answer.json()["success"] is False
    assert answer.json()["error"].startswith(error)


def test_members_may_be_in_any_case(client: TestClient) -> None:
    """RAD-03"""
    answer = invoke(client, b'{"TOOL":"echo","Input":{"a":1},"SESSION":"zz","unknown":1}').json()
    assert (answer["output"]["echo"], answer["session"]) == ({"a": 1}, "zz")


def test_the_session_comes_back_in_errors_too(client: TestClient) -> None:
    """RAD-03"""
    assert invoke(client, {"session": "s"}).json()["session"] == "s"
    assert "session" not in invoke(client, {"tool": "echo"}).json()


@pytest.mark.parametrize(
    ("tool", "error"),
    [
        ("nope", "tool not found: nope"),
        ("chat", "tool not found: chat"),  # row 29
        ("orphan", "no handler registered for tool: orphan"),
        ("broken", "tool execution failed"),
        ("missing", "There is no note 'x'. Search for it."),
        ("obsidian_delete_note", "Missing required argument: name"),
    ],
)
def test_a_tool_that_fails_is_200(client: TestClient, tool: str, error: str) -> None:
    """RAD-06"""
    answer = invoke(client, {"tool": tool})
    assert answer.status_code == 200
    assert answer.json()["success"] is False
    assert answer.json()["tool"] == tool
    assert answer.json()["error"].startswith(error)
    assert "passwd" not in answer.text


def test_the_tools_of_the_vault_are_invoked_too(client: TestClient) -> None:
    output = invoke(client, {"tool": "obsidian_list_files", "input": {"folder": "Projects"}}).json()["output"]
    assert output["names"] == {"Projects/": ["Alpha.md", "Tower clock.md"]}


def test_the_built_in_tools_are_this_contracts_alone(client: TestClient) -> None:
    """RAD-01"""
    others = {tool["name"] for tool in client.get("/bridge/v1/tools").json()["tools"]}
    assert {"say", "missing"} <= others
    assert not {"echo", "time", "json_parse"} & others


@pytest.mark.parametrize("path", ["", "/", "/nope", "/tools/list/", "/tools", "/health/x"])
def test_other_paths_are_404_in_this_contracts_form(client: TestClient, path: str) -> None:  # row 30
    answer = client.get(f"/mcp/v1{path}")
    assert answer.status_code == 404
    assert answer.json()["success"] is False
    assert answer.json()["error"] == "not found"


def test_a_tool_of_the_vault_cannot_be_replaced(app: App) -> None:
    """RAD-04"""
    registered = Bridge()
    registered.register_tool(ToolSpec("obsidian_list_files", "Not this one"))
    with http_client(app, registered) as client:
        listed = client.get("/mcp/v1/tools/list").json()["tools"]
    assert "Not this one" not in {tool["description"] for tool in listed}


class Gateway(BaseHTTPRequestHandler):
    """A stand-in for an OpenAI-compatible gateway."""

    requests: list[tuple[str, str | None, Any]] = []  # noqa: RUF012  emptied by the fixture

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Gateway.requests.append((self.path, self.headers["authorization"], body))
        prompt = body["messages"][0]["content"]
        status, answer = (
            200,
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "model": body["model"],
                "choices": [{"index": 0, "message": {"role": "assistant", "content": f"Echo: {prompt}"}}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 20},
            },
        )
        if prompt == "fail":
            status, answer = 429, {"error": {"message": "Slow down."}}
        data = b"<html>" if prompt == "garbage" else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's name
        """Say nothing."""


@pytest.fixture
def gateway() -> Iterator[str]:
    Gateway.requests.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def chat(client: TestClient, **given: Any) -> Any:
    return invoke(client, {"tool": "chat", "input": given}).json()


def test_chat_really_calls_the_gateway(app: App, gateway: str) -> None:
    """RAD-02"""
    with http_client(app, chat_url=gateway, chat_key="key") as client:
        assert "chat" in {tool["name"] for tool in client.get("/mcp/v1/tools/list").json()["tools"]}
        answer = chat(client, content="Summarize this text", model="gpt-4o-mini")
        other = chat(client, content="x", model="other")
        default = chat(client, content="x")
    assert answer["success"] is True
    output = answer["output"]
    assert (output["model"], output["provider"]) == ("gpt-4o-mini", "openai")
    assert output["result"]["choices"][0]["message"]["content"] == "Echo: Summarize this text"
    assert output["usage"] == {"prompt_tokens": 10, "completion_tokens": 20}
    assert (other["output"]["model"], default["output"]["model"]) == ("other", "gpt-4o-mini")
    assert Gateway.requests[0] == (
        "/v1/chat/completions",
        "Bearer key",
        {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Summarize this text"}]},
    )


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"content": "fail"}, "The chat gateway refused the request (HTTP 429): Slow down."),
        ({"content": "garbage"}, "The chat gateway refused the request (HTTP 200): it gave no reason."),
        ({}, "chat needs content"),
        ({"content": ""}, "chat needs content"),
        ({"content": "x", "model": 5}, "chat needs content"),
    ],
)
def test_chat_tells_what_went_wrong(app: App, gateway: str, given: Any, error: str) -> None:
    with http_client(app, chat_url=gateway) as client:
        answer = chat(client, **given)
    assert answer["success"] is False
    assert answer["error"].startswith(error)


def test_chat_without_its_gateway_says_so(app: App) -> None:
    with http_client(app, chat_url="http://127.0.0.1:9/v1") as client:
        answer = chat(client, content="x")
    assert answer["error"].startswith("The chat gateway cannot be reached")
