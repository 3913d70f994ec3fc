"""What a token opens, and what nobody gets without one (specs/remote.md OAUTH-37 to OAUTH-39)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments
from tests.conftest import app_on
from tests.serve.http.oauth.conftest import Clock
from tests.serve.http.oauth.flow import LIST_TOOLS, PUBLIC, RESOURCE, Browser, Program, answer_of, call, signing_in
from tests.serve.http.test_auth import REQUESTS

KEY = "a-key-of-the-environment"
ENVELOPE = {"id": "1", "method": "list_tools"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
BOTH_TYPES = {"accept": "application/json, text/event-stream"}


@pytest.fixture
def token(program: Program) -> str:
    return str(program.connect()["access_token"])


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS[:14])
@pytest.mark.parametrize("peer", ["203.0.113.9", "127.0.0.1"])
def test_nothing_is_answered_without_a_token_or_key(
    shared_app: App, method: str, path: str, body: Any, peer: str
) -> None:
    """OAUTH-38: to programs of this computer neither"""
    with signing_in(shared_app, address=(peer, 50_000)) as client:
        answer = client.request(method, path, json=body)

    assert answer.status_code == 401 or "AUTH_REQUIRED" in answer.text
    assert "basic" not in answer.text
    assert "obsidian_" not in answer.text


@pytest.mark.parametrize(("method", "path", "body"), [*REQUESTS[:3], *REQUESTS[5:14]])
def test_a_token_opens_no_other_dialect(client: TestClient, token: str, method: str, path: str, body: Any) -> None:
    """OAUTH-37: it was issued for one address"""
    answer = client.request(method, path, json=body, headers={"authorization": f"Bearer {token}"})

    assert answer.status_code == 401 or "AUTH_REQUIRED" in answer.text


def test_a_token_opens_what_is_at_mcp(client: TestClient, token: str) -> None:
    """OAUTH-37: JSON-RPC, sessions, the revision of 2026, the envelope"""
    assert call(client, token).status_code == 200
    assert call(client, token, path="/mcp/").status_code == 200
    assert call(client, token, ENVELOPE).json()["ok"] is True
    began = call(client, token, INITIALIZE, **BOTH_TYPES)
    assert began.status_code == 200
    session = began.headers["mcp-session-id"]
    assert call(client, token, **BOTH_TYPES, **{"mcp-session-id": session}).status_code == 200


@pytest.mark.parametrize(
    "carried",
    [
        {"path": "/mcp?access_token={}"},
        {"path": "/mcp?key={}"},
        {"headers": {"cookie": "token={}"}},
        {"headers": {"x-api-key": "{}"}},
        {"headers": {"x-obsiscripta-api-key": "{}"}},
        {"headers": {"authorization": "Basic {}"}},
        {"headers": {"authorization": "{}"}},
        {"headers": {"authorization": "Bearer x{}"}},
    ],
)
def test_a_token_counts_as_bearer_alone(client: TestClient, token: str, carried: dict[str, Any]) -> None:
    """OAUTH-37"""
    headers = {name: value.format(token) for name, value in carried.get("headers", {}).items()}
    path = carried.get("path", "/mcp").format(token)

    assert client.post(path, json=LIST_TOOLS, headers=headers).status_code == 401


def test_a_refresh_token_or_a_guess_opens_nothing(client: TestClient, program: Program) -> None:
    """OAUTH-37"""
    tokens = program.connect()
    for wrong in (tokens["refresh_token"], tokens["access_token"][:-1], "oma_", "", "x"):
        assert call(client, wrong).status_code == 401


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT", "HEAD"])
@pytest.mark.parametrize("session", [{}, {"mcp-session-id": "x"}])
def test_every_method_of_mcp_asks_for_a_token(client: TestClient, method: str, session: dict[str, str]) -> None:
    """OAUTH-39"""
    answer = client.request(method, "/mcp", headers=session)

    assert answer.status_code == 401
    assert "error=" not in answer.headers["www-authenticate"]
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "WWW-Authenticate" in answer.headers["access-control-expose-headers"]


def test_a_preflight_asks_for_none(client: TestClient) -> None:
    """OAUTH-39"""
    origin = {"origin": "https://inspector.example", "access-control-request-method": "POST"}
    answer = client.options("/mcp", headers=origin)

    assert answer.status_code == 204
    allowed = answer.headers["access-control-allow-headers"]
    assert {"Authorization", "MCP-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID"} <= set(allowed.split(", "))
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b"no json", b'{"jsonrpc":"2.0","id":1,"method":"ping"}', b"null"])
def test_whatever_is_sent_to_mcp_is_401_unless_it_is_an_envelope(client: TestClient, body: bytes) -> None:
    """OAUTH-39: hosts ignore a challenge under status 200"""
    assert client.post("/mcp", content=body).status_code == 401


def test_an_envelope_keeps_its_answer(client: TestClient) -> None:
    """OAUTH-39"""
    answer = client.post("/mcp", json=ENVELOPE)

    assert answer.status_code == 200
    assert answer.json()["error_detail"]["code"] == "AUTH_REQUIRED"
    assert "resource_metadata=" in answer.headers["www-authenticate"]


def test_a_wrong_token_is_called_so(client: TestClient) -> None:
    """OAUTH-39"""
    challenge = call(client, "oma_wrong").headers["www-authenticate"]

    assert challenge.startswith('Bearer error="invalid_token", error_description="')
    assert f'resource_metadata="{PUBLIC}/.well-known/oauth-protected-resource/mcp"' in challenge
    assert 'scope="vault:read vault:write"' in challenge
    assert challenge.isascii()


WRITING = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "obsidian_create_note"}}


def test_a_program_that_asked_for_too_little_is_told_to_ask_for_more(client: TestClient, program: Program) -> None:
    """OAUTH-44: by status and by name of all scopes, in every form of the call"""
    code = answer_of(Browser(client).allow(program.request(scope="vault:read")))["code"]
    token = program.redeem(code).json()["access_token"]
    for message in (WRITING, [LIST_TOOLS, WRITING]):
        answer = call(client, token, message)
        assert answer.status_code == 403
        challenge = answer.headers["www-authenticate"]
        assert challenge.startswith('Bearer error="insufficient_scope", error_description="')
        assert 'scope="vault:read vault:write"' in challenge
        assert "resource_metadata=" in challenge
        assert answer.headers["access-control-allow-origin"] == "*"
    assert call(client, token).status_code == 200


def test_a_program_that_narrowed_its_token_itself_may_ask_for_more(client: TestClient, program: Program) -> None:
    """OAUTH-44"""
    tokens = program.connect(access="write")
    narrowed = program.refresh(tokens["refresh_token"], scope="vault:read").json()

    assert call(client, narrowed["access_token"], WRITING).status_code == 403
    assert call(client, tokens["access_token"], WRITING).status_code == 200


def test_what_the_owner_narrowed_is_an_unknown_tool(client: TestClient, token: str) -> None:
    """OAUTH-44: asking again would not help"""
    answer = call(client, token, WRITING)

    assert answer.status_code == 200
    assert answer.json()["error"]["code"] == -32602


def test_static_keys_go_on_working_in_every_dialect(shared_app: App) -> None:
    """OAUTH-38"""
    with signing_in(shared_app, keys=(KEY,)) as client:
        for path in ("/bridge/v1/tools", "/mcp/v1/tools/list", "/openapi.json", "/"):
            assert client.get(path, headers={"x-api-key": KEY}).status_code == 200
        assert call(client, KEY).status_code == 200
        assert call(client, Program(client).connect()["access_token"]).status_code == 200


def test_an_open_bridge_and_a_sign_in_exclude_each_other(shared_app: App) -> None:
    """OAUTH-38"""
    http = shared_app.config.http.replace(oauth=True, public_url=PUBLIC, open_bridge=True)
    both = shared_app.replace(config=shared_app.config.replace(http=http))

    with pytest.raises(InvalidArguments, match="--open-bridge"):
        compose.http_application(both)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("notes.example.com", 401),
        ("Notes.Example.com:443", 401),
        ("127.0.0.1:3000", 401),
        ("localhost", 401),
        ("evil.example", 403),
        ("notes.example.com.evil.example", 403),
        ("", 403),
    ],
)
def test_the_server_answers_to_its_own_names(client: TestClient, host: str, status: int) -> None:
    """OAUTH-38"""
    assert client.post("/mcp", json=LIST_TOOLS, headers={"host": host}).status_code == status


def test_a_foreign_page_gets_no_more_than_others(client: TestClient, token: str) -> None:
    """OAUTH-39: nothing works by cookie, so that every origin may ask"""
    origin = {"origin": "https://evil.example"}

    assert client.post("/mcp", json=LIST_TOOLS, headers=origin).status_code == 401
    assert call(client, token, **origin).status_code == 200


def test_a_token_for_another_address_opens_nothing(app: App) -> None:
    """OAUTH-37: servers may share what is kept"""
    with signing_in(app) as client:
        token = Program(client).connect()["access_token"]
    with signing_in(app, public_url="https://other.example") as client:
        assert call(client, token, host="other.example").status_code == 401
    with signing_in(app) as client:
        assert call(client, token).status_code == 200


def test_a_session_belongs_to_its_grant(client: TestClient, token: str) -> None:
    """OAUTH-37"""
    session = call(client, token, INITIALIZE, **BOTH_TYPES).headers["mcp-session-id"]
    in_session = {**BOTH_TYPES, "mcp-session-id": session}
    other = Program(client).connect()["access_token"]

    assert call(client, other, **in_session).status_code == 404
    assert call(client, token, **in_session).status_code == 200


def test_a_grant_that_ends_opens_nothing_from_that_moment(app: App) -> None:
    """STORE-02, OAUTH-37: whoever ends it"""
    with signing_in(app) as client:
        token = Program(client).connect()["access_token"]
        session = call(client, token, INITIALIZE, **BOTH_TYPES).headers["mcp-session-id"]
        command = compose.grant_store(app.config)
        (grant,) = command.grants()

        command.end_grant(grant.id)
        command.close()

        assert call(client, token).status_code == 401
        assert call(client, token, **BOTH_TYPES, **{"mcp-session-id": session}).status_code == 401


@pytest.fixture
def vaults(tmp_path: Path) -> Iterator[App]:
    for name in ("Work", "Home"):
        (tmp_path / name / "Plans").mkdir(parents=True)
        (tmp_path / name / "Plans" / f"{name} plan.md").write_text(f"{name} words", encoding="utf-8", newline="\n")
    opened = app_on(tmp_path / "Work", tmp_path / "Home")
    yield opened
    opened.vaults.close()


def listed(client: TestClient, token: str, vault: str = "") -> str:
    params = {"name": "obsidian_list_files", "arguments": {"recursive": True, "vault": vault}}
    answer = call(client, token, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    return str(answer.json()["result"]["content"][0]["text"])


@pytest.mark.parametrize(
    ("place", "sees_work", "sees_home"),
    [("Work/", True, False), ("Home/", False, True), ("Home/Plans", False, True), ("/", True, True)],
)
def test_of_several_vaults_the_owner_chooses(vaults: App, place: str, sees_work: bool, sees_home: bool) -> None:
    """OAUTH-23, OAUTH-37"""
    with signing_in(vaults) as client:
        token = Program(client).connect(place=place)["access_token"]

        assert ("Work plan" in listed(client, token, "Work")) == sees_work
        assert ("Home plan" in listed(client, token, "Home")) == sees_home


def test_a_grant_of_a_vault_that_is_not_served_any_more_opens_nothing(vaults: App, tmp_path: Path) -> None:
    """OAUTH-37: it is not widened"""
    with signing_in(vaults) as client:
        token = Program(client).connect(place="Home/")["access_token"]
    work = app_on(tmp_path / "Work")
    with signing_in(work) as client:
        for vault in ("", "Work", "Home"):
            assert "plan" not in listed(client, token, vault)
    work.vaults.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not remove a folder that is watched")
def test_a_grant_of_a_folder_that_is_gone_opens_nothing(vaults: App, tmp_path: Path) -> None:
    """OAUTH-37: it is not widened"""
    with signing_in(vaults) as client:
        token = Program(client).connect(place="Work/Plans")["access_token"]
        (tmp_path / "Work" / "Plans").rename(tmp_path / "Work" / "Other")

        assert "plan" not in listed(client, token)


def test_a_grant_notes_its_last_use(app: App, clock: Clock) -> None:
    """GRANT-01"""
    store = compose.grant_store(app.config)
    with signing_in(app) as client:
        token = Program(client).connect()["access_token"]
        (before,) = store.grants()
        assert (before.name, before.app, before.host) == ("example-app", "Example App", "app.example")
        assert (before.vault, before.folder, before.is_read_only) == (str(app.config.vaults[0]), "", True)
        assert before.resource == RESOURCE
        clock.advance(120)
        call(client, token)
        (after,) = store.grants()
        assert after.used >= before.used + 120
        assert after == replace(before, used=after.used)
    store.close()


def test_grants_of_one_program_have_names_of_their_own(client: TestClient, clock: Clock, shared_app: App) -> None:
    """GRANT-01"""
    clock.advance(61)
    program = Program(client, name="Twice")
    program.connect()
    Browser(client).allow(program.request())
    store = compose.grant_store(shared_app.config)
    names = {grant.name for grant in store.grants() if grant.app == "Twice"}
    store.close()

    assert names == {"twice", "twice-2"}


def test_a_damaged_file_keeps_everybody_with_a_token_out_and_keys_in(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    """STORE-01: without a traceback, and without a path for strangers"""
    file = app.config.state / "access" / "grants.db"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database, and longer than its head would be" * 10)
    with signing_in(app, keys=(KEY,)) as client:
        answer = call(client, "oma_anything")
        assert answer.status_code == 500
        assert "grants" not in answer.text
        assert call(client, KEY).status_code == 200
    assert "Move it away" in caplog.text
    assert "Traceback" not in caplog.text
