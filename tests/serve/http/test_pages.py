"""The OpenAPI document and the page for people (specs/http.md HTTP-08, HTTP-09)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from obsidian_mcp import compose, config
from obsidian_mcp.app import App
from obsidian_mcp.contracts.burly.envelope_request import EnvelopeRequest
from obsidian_mcp.contracts.rad.tools import Bridge, ToolSpec
from obsidian_mcp.serve.http.pages import document
from tests.contracts.plugin.test_routes import odd_tools
from tests.examples import examples
from tests.serve.http_client import http_client

DOCUMENT = document(compose.contracts(config.Config()))
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = [(path, method) for path, methods in DOCUMENT["paths"].items() for method in methods]


def test_the_document_is_served_and_names_every_path(app: App) -> None:
    """HTTP-08"""
    with http_client(app, keys=("secret",)) as client:
        answer = client.get("/openapi.json")
    assert answer.status_code == 200
    assert answer.json() == json.loads(json.dumps(DOCUMENT))
    assert set(answer.json()["paths"]) == {
        "/bridge/v1/health",
        "/bridge/v1/tools",
        "/bridge/v1/tools/{name}/call",
        "/health",
        "/v1/health",
        "/mcp",
        "/v1/mcp",
        "/mcp/v1/tools/list",
        "/mcp/v1/tools/invoke",
        "/mcp/v1/stdio",
        "/mcp/v1/health",
    }


def test_the_document_takes_the_requests_that_the_envelope_takes() -> None:
    """HTTP-08"""
    assert SCHEMAS["EnvelopeRequest"] == EnvelopeRequest.model_json_schema()


@cache
def validator(path: str, method: str, status: str) -> Draft202012Validator:
    """Return what checks bodies of answers with a status that the document has for an operation."""
    schema = DOCUMENT["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"]
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator({**schema, "components": {"schemas": SCHEMAS}})


def assert_conforms(answer: Any, path: str, method: str) -> None:
    """Check that the answer's status and body are ones that the document has for the operation."""
    assert str(answer.status_code) in DOCUMENT["paths"][path][method]["responses"], (answer.status_code, answer.text)
    validator(path, method, str(answer.status_code)).validate(answer.json())


def test_every_schema_of_the_document_is_one() -> None:
    """HTTP-08"""
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
WORDS = (
    "id",
    "method",
    "name",
    "args",
    "params",
    "arguments",
    "tool",
    "input",
    "session",
    "jsonrpc",
    "_confirm",
    "path",
)
NAMES = st.sampled_from(["say", "missing", "broken", "nope", "list_tools", "call_tool", "2.0", "tools/call", "Home"])
LIKELY = st.dictionaries(
    st.sampled_from(WORDS),
    NAMES | JSON | st.dictionaries(st.sampled_from(WORDS), NAMES | JSON, max_size=4),
    max_size=6,
)


@given(
    operation=st.sampled_from(OPERATIONS),
    body=LIKELY | JSON,
    name=NAMES | st.text(max_size=8),
    raw=st.binary(max_size=40),
)
@examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_asked_the_answer_is_one_of_the_document(
    served: TestClient, operation: tuple[str, str], body: Any, name: str, raw: bytes
) -> None:
    from urllib.parse import quote

    path, method = operation
    content = raw if raw.startswith(b"{") else json.dumps(body).encode()
    answer = served.request(
        method,
        path.replace("{name}", quote(name, safe="") or "x"),
        content=content if method == "post" else None,
        headers={"content-type": "application/json"},
    )
    assert answer.status_code != 500, answer.text
    if path == "/mcp" and "jsonrpc" in answer.text and "ok" not in answer.json():
        return  # JSON-RPC, which is not OpenAPI's business
    if answer.status_code != 202:
        assert_conforms(answer, path, method)


def test_a_path_with_a_line_break_is_nowhere(served: TestClient) -> None:
    answer = served.post("/bridge/v1/tools/%0A/call", content=b"{}")

    assert answer.status_code == 404
    assert answer.json()["error"] == "Not found"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tests.conftest import app_on

    vault = tmp_path_factory.mktemp("vault")
    (vault / "Home.md").write_text("# Home\n", encoding="utf-8", newline="\n")
    app = app_on(vault)
    with http_client(app, odd_tools()) as client:
        yield client
    app.vaults.close()


def test_the_page_shows_the_vault_the_tools_and_how_to_connect(app: App) -> None:
    """HTTP-09"""
    registered = Bridge()
    registered.register_tool(ToolSpec("odd", "<script>alert(1)</script>"))
    with http_client(app, registered) as client:
        answer = client.get("/", headers={"host": "localhost:9400"})
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    for word in ("basic", "obsidian_list_files", "http://localhost:9400/mcp", "openapi.json"):
        assert word in answer.text
    assert "<script>" not in answer.text


def test_the_page_of_a_locked_server_shows_nothing_without_the_key(app: App) -> None:
    with http_client(app, keys=("secret",)) as client:
        closed, opened = client.get("/"), client.get("/?key=secret")
        hostile = client.get("/?key=secret", headers={"host": 'x"><script>'})
    assert (closed.status_code, opened.status_code) == (401, 200)
    assert "basic" not in closed.text
    assert "basic" in opened.text
    assert "<script>" not in hostile.text


def test_paths_that_belong_to_nobody_are_404(app: App) -> None:  # row 30
    """HTTP-07"""
    with http_client(app) as client:
        for path in ("/nope", "/mcp/x", "/index.html", "/bridge", "/bridge/v2/health", "/v1", "/..%2f..%2fetc/passwd"):
            answer = client.get(path)
            assert answer.status_code == 404
            assert answer.json() == {"error": "Not found", "message": "Not found", "detail": "Not Found"}


def test_openai_finds_the_token_that_it_gave_to_the_owner(app: App) -> None:
    """HTTP-10, DOOR-05"""
    path = "/.well-known/openai-apps-challenge"
    with http_client(app, keys=("secret",), challenge="token-1") as client:
        answer = client.get(path)
    with http_client(app, keys=("secret",)) as client:
        absent = client.get(path)

    assert (answer.status_code, answer.text) == (200, "token-1")
    assert answer.headers["content-type"].startswith("text/plain")
    assert absent.status_code == 404
