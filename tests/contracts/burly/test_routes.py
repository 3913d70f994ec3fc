"""The envelope beyond the document's examples (specs/http.md BURLY-…, wire A.1 and rows 13 to 19, 32)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp import __version__
from obsidian_mcp.app import App
from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.contracts.rad.tools import Bridge, ToolReply, ToolSpec
from obsidian_mcp.errors import ObsidianNotRunning, OperationTimeout
from obsidian_mcp.tools.registry import TOOLS
from tests.conftest import app_on
from tests.serve.http.test_documents import contains
from tests.serve.http_client import http_client

CANONICAL = {"api_version": "v1", "container_version": __version__, "git_sha": "unknown"}


def odd_tools() -> Bridge:
    bridge = Bridge()

    def add(name: str, handler: Any, *, writes: bool = False) -> None:
        bridge.register_tool(ToolSpec(name, f"The tool {name}", writes=writes))
        bridge.register_tool_handler(name, handler)

    def asleep(_: Any) -> None:
        raise ObsidianNotRunning

    def slow(_: Any) -> None:
        raise OperationTimeout("It took too long.", seconds=60)

    def broken(_: Any) -> None:
        raise RuntimeError("secret: /etc/passwd")

    add("repeat", lambda given: given)
    add("asleep", asleep)
    add("slow", slow)
    add("broken", broken)
    add("chatty", lambda _: ToolReply({"n": 1}, stdout="x" * 20_000, stderr="careful"))
    add("write_it", lambda given: {"written": given}, writes=True)
    return bridge


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    with http_client(app, odd_tools()) as client:
        yield client


def post(client: TestClient, body: Any, path: str = "/mcp", **headers: str) -> Any:
    """The envelope of a POST, which is 200 and whole whatever happened."""
    kind = {"content-type": "application/json", **headers}
    content = {"content": body} if isinstance(body, bytes) else {"json": body}
    answer = client.post(path, headers=kind, **content)
    assert answer.status_code == 200
    envelope = answer.json()
    assert isinstance(envelope["ok"], bool)
    assert isinstance(envelope["summary"], str)
    assert {key: type(value) for key, value in envelope["metrics"].items()} == {"elapsed_ms": int, "exit_code": int}
    assert envelope["meta"] == CANONICAL
    assert ("result" in envelope) or ("error_detail" in envelope)
    assert envelope["ok"] is (envelope["metrics"]["exit_code"] == 0)
    return envelope


def call(client: TestClient, name: str, args: Any = None, **more: Any) -> Any:
    return post(client, {"id": "1", "method": "call_tool", "name": name, "args": args, **more})


@pytest.mark.parametrize("path", ["/mcp", "/v1/mcp", "/v1/mcp/"])
def test_both_paths_and_both_forms_are_the_same(client: TestClient, path: str) -> None:
    """BURLY-01, BURLY-02"""
    direct = post(client, {"id": "1", "method": "call_tool", "name": "repeat", "args": {"a": 1}}, path)
    params = post(client, {"id": "1", "method": "call_tool", "params": {"name": "repeat", "args": {"a": 1}}}, path)
    assert direct["data"] == params["data"] == direct["result"]["data"] == {"a": 1}
    assert "id" not in direct


def test_a_list_needs_no_params_and_minds_none(client: TestClient) -> None:
    """BURLY-02"""
    assert post(client, {"id": "1", "method": "list_tools", "params": {"name": 5}})["ok"] is True


def test_a_jsonrpc_member_means_nothing_on_the_versioned_path(client: TestClient) -> None:  # row 1
    message = {"jsonrpc": "2.0", "id": "1", "method": "list_tools"}
    assert post(client, message, "/v1/mcp")["ok"] is True
    assert "jsonrpc" in client.post("/mcp", json=message).json()


def test_name_wins_over_params_and_more_members_are_ignored(client: TestClient) -> None:
    """BURLY-02"""
    envelope = call(client, "repeat", {"who": "name"}, params={"name": "broken", "args": {}}, extra=1)
    assert envelope["data"] == {"who": "name"}


def test_arguments_may_be_null(client: TestClient) -> None:
    assert call(client, "repeat", None)["data"] == {}


def test_the_text_of_a_note_is_whole_in_the_data_and_cut_in_stdout(client: TestClient) -> None:
    """BURLY-05"""
    envelope = call(client, "chatty")
    assert envelope["stdout"] == envelope["result"]["stdout"] == "x" * 10_000 + "\n[truncated: output too long]"
    assert envelope["stderr"] == envelope["result"]["stderr"] == "careful"
    assert envelope["data"] == {"n": 1}


@pytest.mark.parametrize("yes", [True, 1, "true", "1", "yes", "y", "YES", "True"])
def test_a_confirmed_change_is_made_without_the_confirmation(client: TestClient, yes: Any) -> None:
    envelope = call(client, "write_it", {"a": 1, "_confirm": yes})
    assert envelope["data"] == {"written": {"a": 1}}


@pytest.mark.parametrize("no", [False, 0, None, "no", "", "truee", 2, [True], {}])
def test_anything_else_confirms_nothing(client: TestClient, no: Any) -> None:
    envelope = call(client, "write_it", {"_confirm": no})
    assert contains(
        envelope,
        {
            "ok": False,
            "need_confirm": True,
            "error": "Confirmation required for mutating operation",
            "data": {"required_arg": "_confirm", "required_value": True, "tool": "write_it"},
            "metrics": {"exit_code": 1},
        },
    )
    assert envelope["result"]["need_confirm"]["details"] == envelope["data"]


def test_every_tool_that_writes_asks_to_be_confirmed_and_no_other(client: TestClient) -> None:
    """BURLY-03"""
    for tool in {**TOOLS, **PLUGIN_TOOLS}.values():
        envelope = call(client, tool.name, {"no such argument": 1})
        assert bool(envelope.get("need_confirm")) is (not tool.read_only), tool.name


def test_a_tool_that_writes_is_confirmed_unless_it_only_shows_what_it_would_do(client: TestClient) -> None:
    """BURLY-03"""
    change = {"names": ["Home"], "properties": {"status": "done"}}
    assert call(client, "obsidian_get_properties", {"name": "Home"})["ok"] is True
    assert call(client, "obsidian_set_properties", {**change, "dry_run": True})["ok"] is True
    assert call(client, "obsidian_set_properties", change)["need_confirm"] is True
    assert call(client, "obsidian_set_properties", {**change, "_confirm": True})["data"]["total"] == 1
    assert call(client, "obsidian_rename_tag", {"tag": "a", "to": "b"})["need_confirm"] is True
    assert call(client, "obsidian_tags", {})["ok"] is True


def test_a_confirmation_counts_for_the_users_own_policy(basic: Path) -> None:
    (basic.parent / "policy.toml").write_text('confirm = ["create"]\n', encoding="utf-8", newline="\n")
    guarded = app_on(basic)
    with http_client(guarded) as client:
        confirmed = call(client, "obsidian_create_note", {"name": "New", "_confirm": True})
    guarded.vaults.close()
    assert confirmed["ok"] is True
    assert (basic / "New.md").exists()


def test_a_read_only_server_offers_no_tool_that_writes(app: App) -> None:
    """HTTP-02"""
    with http_client(app.replace(config=app.config.replace(read_only=True)), odd_tools()) as client:
        names = {tool["name"] for tool in post(client, {"id": "1", "method": "list_tools"})["data"]["tools"]}
        assert call(client, "obsidian_create_note", {"name": "x"})["summary"].startswith("Unknown tool")
    assert {"obsidian_read_note", "obsidian_get_properties", "repeat"} <= names
    assert not {"obsidian_create_note", "write_it"} & names


def test_a_tool_that_reads_takes_a_needless_confirmation(client: TestClient) -> None:
    assert call(client, "obsidian_list_files", {"_confirm": True})["ok"] is True


def test_an_unknown_tool_is_told_the_others(client: TestClient) -> None:
    envelope = call(client, "nope_tool")
    assert envelope["summary"] == "Unknown tool: nope_tool"
    assert envelope["error"] == envelope["error_detail"]["message"] == "Tool 'nope_tool' not found"
    assert "repeat" in envelope["data"]["available_tools"]
    listed = post(client, {"id": "1", "method": "list_tools"})["data"]["tools"]
    assert envelope["data"]["available_tools"] == [tool["name"] for tool in listed]
    assert not any("extra" in name or "malicious" in name for name in envelope["data"]["available_tools"])  # row 32


@pytest.mark.parametrize("kind", ["application/vnd.burly+json", "application/problem+json; charset=utf-8"])
def test_every_type_of_json_is_taken(client: TestClient, kind: str) -> None:
    """BURLY-02"""
    assert post(client, {"id": "1", "method": "list_tools"}, **{"content-type": kind})["ok"] is True
    assert post(client, {"id": "1", "method": "list_tools"}, **{"content-type": "application/jsonx"})["ok"] is False


def test_an_absent_app_is_a_degraded_answer(client: TestClient) -> None:
    envelope = call(client, "asleep")
    assert envelope["summary"] == "asleep unavailable"
    assert envelope["error_detail"]["code"] == "OBSIDIAN_NOT_RUNNING"


def test_a_timeout_has_its_own_exit_code(client: TestClient) -> None:
    envelope = call(client, "slow")
    assert envelope["metrics"]["exit_code"] == 124
    assert envelope["summary"] == "MCP engine timeout"
    assert envelope["error"] == "MCP engine did not respond within timeout period (60s)"


def test_a_fault_of_the_server_tells_nothing(client: TestClient) -> None:
    """DOOR-08"""
    envelope = call(client, "broken")
    assert envelope["summary"] == "MCP engine process failed"
    assert "passwd" not in str(envelope)


def test_wrong_arguments_are_told(client: TestClient) -> None:
    envelope = call(client, "obsidian_list_files", {"limit": "many"})
    assert envelope["error_detail"]["code"] == "INVALID_ARGUMENTS"
    assert "limit" in envelope["error"]


GOOD = {"id": "1", "method": "call_tool", "name": "repeat", "args": {}}


@pytest.mark.parametrize(
    ("body", "kind", "place"),
    [
        ({**GOOD, "id": 1}, "string_type", ["body", "id"]),
        ({**GOOD, "id": None}, "string_type", ["body", "id"]),
        ({"method": "list_tools"}, "missing", ["body", "id"]),
        ({"id": "1"}, "missing", ["body", "method"]),
        ({**GOOD, "args": [1]}, "dict_type", ["body", "args"]),
        ({**GOOD, "params": "x"}, "dict_type", ["body", "params"]),
        ({"id": "1", "method": "call_tool", "params": {}}, "value_error", ["body"]),
        ({"id": "1", "method": "call_tool", "params": {"name": "repeat", "args": 1}}, "value_error", ["body"]),
        ({**GOOD, "name": "with-dash"}, "value_error", ["body"]),
        ({**GOOD, "name": ""}, "value_error", ["body"]),
        ({**GOOD, "name": "newline\n"}, "value_error", ["body"]),
        ({**GOOD, "name": "x" * 101}, "value_error", ["body"]),
        ([], "model_attributes_type", ["body"]),
        (b"null", "model_attributes_type", ["body"]),
        ("text", "model_attributes_type", ["body"]),
        (b"not json", "json_invalid", ["body"]),
        (b'{"id":"1","method":"list_tools"} x', "json_invalid", ["body"]),
        (b"", "missing", ["body"]),
    ],
)
def test_a_request_of_the_wrong_shape_is_told_where_it_is_wrong(
    client: TestClient, body: Any, kind: str, place: list[str]
) -> None:
    """BURLY-02"""
    envelope = post(client, body)
    assert envelope["summary"] == "Request validation failed"
    assert envelope["error"] == "Invalid request format or parameters"
    first = envelope["data"]["validation_errors"][0]
    assert (first["type"], first["location"]) == (kind, place)
    assert set(first) == {"type", "location", "message", "input"}
    assert envelope["error_detail"]["details"] == envelope["data"]


def test_an_invalid_method_has_the_documents_words_outside_and_the_originals_inside(
    client: TestClient,
) -> None:  # row 15
    envelope = post(client, {"id": "1", "method": "tools/list"})
    assert envelope["error"] == "HTTP bridge error: Method must be one of: ['list_tools', 'call_tool']"
    assert envelope["summary"] == "Request processing failed"
    assert envelope["error_detail"]["summary"] == "Request validation failed"


def test_call_tool_without_any_name(client: TestClient) -> None:
    envelope = post(client, {"id": "1", "method": "call_tool"})
    assert (envelope["summary"], envelope["error"]) == ("Missing tool name", "Tool name is required for call_tool")


@pytest.mark.parametrize("kind", ["text/plain", "", "application/xml"])
def test_another_content_type_is_refused(client: TestClient, kind: str) -> None:
    answer = client.post("/v1/mcp", content=b'{"id":"1","method":"list_tools"}', headers={"content-type": kind})
    assert answer.json()["summary"] == "Request validation failed"
    good = client.post(
        "/v1/mcp",
        content=b'{"id":"1","method":"list_tools"}',
        headers={"content-type": "Application/JSON; charset=utf-8"},
    )
    assert good.json()["ok"] is True


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 1


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (nested(7), "Arguments too deeply nested (max depth: 5)"),
        ({str(i): i for i in range(101)}, "Too many dictionary items (max: 100)"),
        ({"a": list(range(101))}, "Too many list items (max: 100)"),
        ({"a" * 101: 1}, "Dictionary keys must be strings with max 100 characters"),
        ({"a": "x" * 10_001}, "String values too long (max: 10000 characters)"),
    ],
)
def test_arguments_have_limits(client: TestClient, args: Any, problem: str) -> None:
    """BURLY-04"""
    envelope = call(client, "repeat", args)
    assert envelope["summary"] == "Invalid request format"
    assert envelope["error"] == f"Request validation failed: {problem}"
    assert envelope["data"] == {"suggestion": "Check request format and reduce complexity"}


def test_arguments_within_the_limits_pass(client: TestClient) -> None:
    args = {"deep": nested(4), "items": list(range(100)), "k" * 100: 1}
    assert call(client, "repeat", args)["data"] == args


def test_a_body_over_ten_kibibytes_is_too_large(client: TestClient) -> None:  # row 4
    body = b'{"id":"1","method":"list_tools","pad":"' + b"a" * 10_240 + b'"}'

    def chunks() -> Iterator[bytes]:
        yield body

    for path in ("/mcp", "/v1/mcp"):
        envelope = post(client, body, path)
        assert envelope["summary"] == "Request too large"
        assert envelope["error"] == "Request body exceeds maximum size of 10240 bytes"
        assert envelope["data"]["max_size_bytes"] == 10_240
        answer = client.post(path, content=chunks(), headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["summary"]) == (200, "Request too large")
    huge = post(client, b'{"id":"' + b"a" * 2_000_000)
    assert huge["summary"] == "Request too large"


def test_the_limit_can_be_raised_for_longer_notes(app: App) -> None:
    with http_client(app, odd_tools(), max_envelope=100_000) as client:
        text = "x" * 50_000
        assert call(client, "repeat", {"a": text})["data"] == {"a": text}


def test_health_without_a_vault_is_degraded(app: App) -> None:
    """BURLY-06"""
    nowhere = app_on(app.config.vaults[0].parent / "missing")
    with http_client(nowhere) as client:
        answer = client.get("/health")
        assert answer.status_code == 200
        assert contains(answer.json(), {"status": "degraded", "policy_loaded": False})


@pytest.mark.parametrize(("method", "path"), [("POST", "/health"), ("HEAD", "/v1/health"), ("GET", "/v1/mcp")])
def test_another_method_is_405(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == ("GET" if "health" in path else "POST")
