"""JSON-RPC at /mcp without a session (specs/http.md RPC-…, wire A.0 and rows 1 to 12)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp import __version__
from obsidian_mcp.app import App
from obsidian_mcp.core.text.collation import exact_key
from obsidian_mcp.tools.offer import FORMER_TOOLS
from tests.contracts.plugin.test_routes import odd_tools
from tests.serve.http_client import http_client


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    with http_client(app, odd_tools()) as client:
        yield client


def post(client: TestClient, body: bytes | str, **headers: str) -> Any:
    return client.post("/mcp", content=body, headers={name.replace("_", "-"): text for name, text in headers.items()})


def ask(client: TestClient, method: str, params: Any = None, request_id: Any = 1) -> Any:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, **({} if params is None else {"params": params})}
    answer = client.post("/mcp", json=message)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    return answer.json()


RPC = "x-obsiscripta-api-key"
"""A header that says: this is JSON-RPC, whatever the body looks like."""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"null", "Request body must be a JSON object"),
        (b"1", "Request body must be a JSON object"),
        (b'"x"', "Request body must be a JSON object"),
        (b"{}", "Invalid JSON-RPC version (must be '2.0')"),
        (b'{"jsonrpc":"1.0","id":1,"method":"x"}', "Invalid JSON-RPC version (must be '2.0')"),
        (b'{"jsonrpc":2.0,"id":1,"method":"x"}', "Invalid JSON-RPC version (must be '2.0')"),
        (b'{"jsonrpc":"2.0","id":1}', "Missing or invalid 'method' field"),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', "Missing or invalid 'method' field"),
        (b'{"jsonrpc":"2.0","method":"tools/list"}', "Missing 'id' field (notifications not supported)"),
        (b'{"jsonrpc":"2.0","id":true,"method":"x"}', "Invalid 'id' field (must be string, number, or null)"),
        (b'{"jsonrpc":"2.0","id":{},"method":"x"}', "Invalid 'id' field (must be string, number, or null)"),
        (b'{"jsonrpc":"2.0","id":[1],"method":"x"}', "Invalid 'id' field (must be string, number, or null)"),
    ],
)
def test_a_malformed_message_is_400_in_the_originals_words(client: TestClient, body: bytes, message: str) -> None:
    """RPC-02"""
    answer = client.post("/mcp", content=body, headers={RPC: "any"})
    assert answer.status_code == 400
    assert answer.json() == {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"not json", {RPC: "k"}),
        (b"", {"mcp-session-id": "s"}),
        (b'{"jsonrpc":"2.0","id":1,', {}),  # the bytes say which dialect it was to be
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":NaN}}', {}),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', {}),
    ],
)
def test_a_body_that_is_no_json_is_a_parse_error(client: TestClient, body: bytes, headers: dict[str, str]) -> None:
    """RPC-02, HTTP-03"""
    answer = client.post("/mcp", content=body, headers=headers)
    assert answer.status_code == 400
    reply = answer.json()
    assert reply["id"] is None
    assert reply["error"]["code"] == -32700
    assert reply["error"]["message"] == "Parse error"


@pytest.mark.parametrize("body", [b"not json", b"", b"[]", b"null", b"{}", b'{"id":1,"method":"tools/list"}'])
def test_without_any_sign_of_json_rpc_the_envelope_answers(client: TestClient, body: bytes) -> None:  # rows 1, 2
    """HTTP-03"""
    answer = client.post("/mcp", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 200
    assert answer.json()["ok"] is False
    assert "jsonrpc" not in answer.json()


@pytest.mark.parametrize("request_id", ["abc", 1.5, 0, -7, None, 12345678901234567890, "日"])
def test_the_id_comes_back_as_it_was(client: TestClient, request_id: Any) -> None:
    """RPC-05"""
    assert ask(client, "ping", request_id=request_id) == {"jsonrpc": "2.0", "id": request_id, "result": {}}


def test_an_id_beyond_every_double_is_null(client: TestClient) -> None:
    assert post(client, b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}').json()["id"] is None


def test_initialize_is_answered_without_a_session(client: TestClient) -> None:  # row 11, row 24
    """RPC-01"""
    answer = client.post(
        "/mcp",
        json={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-03-26",
                "capabilities": {},
                "clientInfo": {"name": "c", "version": "1"},
            },
        },
    )
    result = answer.json()["result"]
    assert result["protocolVersion"] == "2025-03-26"
    assert result["serverInfo"] == {"name": "obsidian-mcp", "version": __version__}
    assert "tools" in result["capabilities"]
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize("params", [None, {}, {"protocolVersion": "1999-01-01"}, [], "x"])
def test_an_unknown_revision_is_offered_the_newest_with_a_handshake(client: TestClient, params: Any) -> None:
    assert ask(client, "initialize", params)["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}',
        b'[{"jsonrpc":"2.0","method":"notifications/initialized"}]',
    ],
)
def test_what_wants_no_answer_is_accepted(client: TestClient, body: bytes) -> None:  # row 10
    """RPC-03"""
    answer = post(client, body)
    assert (answer.status_code, answer.content) == (202, b"")


def test_a_batch_is_answered_in_its_order(client: TestClient) -> None:  # row 12
    """RPC-04"""
    answer = post(
        client,
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"},'
        b'{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"say","arguments":{"text":"hi"}}},'
        b'{"jsonrpc":"2.0","method":"notifications/x"},'
        b'7,{"jsonrpc":"2.0","id":3,"method":"nope"}]',
    )
    assert answer.status_code == 200
    answers = answer.json()
    assert [reply["id"] for reply in answers] == [1, "b", None, 3]
    assert answers[1]["result"]["content"][0]["text"] == "hi"
    assert [reply["error"]["code"] for reply in answers if "error" in reply] == [-32600, -32601]


def test_an_empty_or_endless_batch_is_refused(client: TestClient) -> None:
    assert client.post("/mcp", content=b"[]", headers={RPC: "k"}).status_code == 400
    endless = b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 51) + b"]"
    assert post(client, endless).json()["error"]["code"] == -32600


def test_an_unknown_method_names_itself(client: TestClient) -> None:
    """RPC-01"""
    assert ask(client, "resources/nope")["error"] == {"code": -32601, "message": "Method not found: resources/nope"}


@pytest.mark.parametrize("params", [None, {}, [], {"name": 5}, {"name": None}, {"name": "say", "arguments": [1]}])
def test_a_call_of_the_wrong_shape_is_invalid_params(client: TestClient, params: Any) -> None:
    assert ask(client, "tools/call", params)["error"]["code"] == -32602


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": None}, {"name": "say", "arguments": [1]}])
def test_params_of_the_wrong_shape_are_refused_in_the_words_of_a_session(
    client: TestClient, params: dict[str, Any]
) -> None:
    """RPC-07, GUARD-03"""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    both = {"accept": "application/json, text/event-stream"}
    session = {**both, "mcp-session-id": client.post("/mcp", json=begin, headers=both).headers["mcp-session-id"]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    assert client.post("/mcp", json=call).json() == client.post("/mcp", json=call, headers=session).json()


def test_an_unknown_tool_is_invalid_params(client: TestClient) -> None:
    error = ask(client, "tools/call", {"name": "nope"})["error"]
    assert (error["code"], error["message"]) == (-32602, "Unknown tool: nope")


def test_wrong_arguments_are_invalid_params_with_the_facts(client: TestClient) -> None:
    error = ask(client, "tools/call", {"name": "obsidian_delete_note", "arguments": {"nme": "x"}})["error"]
    assert error["code"] == -32602
    assert {fault["argument"] for fault in error["data"]["arguments"]} == {"nme", "name"}


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_arguments_may_be_left_out(client: TestClient, arguments: dict[str, Any]) -> None:
    result = ask(client, "tools/call", {"name": "say", **arguments})["result"]
    assert result["isError"] is False
    assert result["content"] == [{"type": "text", "text": ""}]


@pytest.mark.parametrize("tool", ["missing", "slow", "broken"])
def test_a_tool_that_fails_is_a_result(client: TestClient, tool: str) -> None:  # row 21
    answer = ask(client, "tools/call", {"name": tool})
    assert answer["result"]["isError"] is True
    assert answer["result"]["content"][0]["text"].startswith("Error: ")
    assert "passwd" not in str(answer)


def test_a_tool_of_the_vault_answers_with_the_envelope_of_its_contract(client: TestClient) -> None:
    result = ask(client, "tools/call", {"name": "obsidian_list_files", "arguments": {}})["result"]
    assert result["content"][0]["text"].startswith('{"success":true,"data":{')
    assert result["structuredContent"]["success"] is True


def test_tools_list_has_no_pages(client: TestClient) -> None:
    result = ask(client, "tools/list", {"cursor": "any"})["result"]
    assert set(result) == {"tools"}
    names = [tool["name"] for tool in result["tools"]]
    assert names == sorted(names, key=exact_key)
    assert {"a+b", "größe", "read_note", "obsidian_list_files"} <= set(names)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH"])
def test_another_method_is_405(client: TestClient, method: str) -> None:  # row 5
    answer = client.request(method, "/mcp")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST, OPTIONS"
    if method != "HEAD":
        assert answer.json() == {
            "error": "Method not allowed",
            "message": "Method not allowed",
            "detail": "Method Not Allowed",
        }


def test_a_preflight_is_204_and_plain_options_200(client: TestClient) -> None:  # row 6
    """RPC-06"""
    preflight = client.options("/mcp", headers={"access-control-request-method": "POST"})
    plain = client.options("/mcp")
    assert (preflight.status_code, plain.status_code) == (204, 200)
    for answer in (preflight, plain):
        assert answer.content == b""
        assert answer.headers["access-control-allow-origin"] == "*"
        for name in ("Content-Type", "Mcp-Session-Id", "Authorization", "X-ObsiScripta-Api-Key"):
            assert name in answer.headers["access-control-allow-headers"]


def test_the_content_type_and_accept_do_not_matter(client: TestClient) -> None:
    body = b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert post(client, body, content_type="text/plain", accept="text/html").json()["result"] == {}


def test_a_body_over_the_limit_is_413(client: TestClient) -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"a" * 1_048_576 + b'"}}'
    answer = post(client, body)
    assert answer.status_code == 413
    assert answer.json()["error"] == "Request body too large"

    def chunks() -> Iterator[bytes]:
        yield body

    assert client.post("/mcp", content=chunks()).status_code == 413


def test_half_a_surrogate_pair_leaves_as_an_escape(client: TestClient) -> None:
    said = {"name": "say", "arguments": {"text": "\ud83d"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": said})
    assert b'"text":"\\ud83d"' in post(client, body).content


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.parametrize("headers", [{}, {"mcp-protocol-version": "2025-11-25"}, {"accept": "application/json"}])
@pytest.mark.parametrize("params", [{}, {"_meta": META}], ids=["bare", "with its envelope"])
def test_discover_is_answered_whatever_headers_come_with_it(
    client: TestClient, headers: dict[str, str], params: dict[str, Any]
) -> None:
    """RPC-08"""
    message = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params}
    answer = client.post("/mcp", json=message, headers=headers)
    assert answer.status_code == 200
    assert answer.json()["result"]["supportedVersions"] == ["2026-07-28"]
    assert "resources" in answer.json()["result"]["capabilities"]


def test_discover_of_an_unknown_revision_is_told_those_that_are_served(client: TestClient) -> None:
    """RPC-08"""
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}
    error = client.post("/mcp", json=message).json()["error"]
    assert (error["code"], error["data"]["supported"]) == (-32022, ["2026-07-28"])


def test_discover_opens_no_vault_as_initialize_opens_none(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """RPC-08, DISPATCH-03"""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a vault was opened")

    monkeypatch.setattr(app.vaults, "get", refuse)
    modern = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "server/discover",
    }
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with http_client(app) as client:
        for method, params, headers in (
            ("initialize", hello, {"accept": modern["accept"]}),
            ("server/discover", {"_meta": META}, modern),
            ("server/discover", {}, {}),
        ):
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            answer = client.post("/mcp", json=message, headers=headers).json()
            assert "Obsidian" in answer["result"]["instructions"], answer


@pytest.mark.parametrize("gone", FORMER_TOOLS)
def test_a_tool_that_is_gone_is_answered_with_what_took_its_place(client: TestClient, gone: str) -> None:
    """TOOL-40"""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": f"obsidian_{gone}"}}
    error = client.post("/mcp", json=message).json()["error"]
    listed = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).json()["result"]["tools"]
    assert error["code"] == -32602
    for successor in FORMER_TOOLS[gone]:
        assert f"obsidian_{successor}" in error["message"]
    assert f"obsidian_{gone}" not in {tool["name"] for tool in listed}


def test_a_tool_that_is_gone_leads_to_none_that_the_client_may_not_call(app: App) -> None:
    """TOOL-40, DOOR-10"""
    held = app.replace(config=app.config.replace(read_only=True))
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    with http_client(held) as client:
        said = client.post("/mcp", json={**message, "params": {"name": "obsidian_properties"}}).text
    assert "obsidian_get_properties" in said
    assert "obsidian_set_properties" not in said
