"""Programs that register (specs/remote.md OAUTH-21, OAUTH-24, OAUTH-40)."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp.serve.http.access.oauth.client_name import NAMELESS, readable_name
from tests.serve.http.oauth.conftest import Clock
from tests.serve.http.oauth.flow import Browser, Program, answer_of


@pytest.fixture(autouse=True)
def _minute_of_its_own(clock: Clock) -> None:
    clock.advance(61)


def test_a_public_program_gets_an_id_and_no_secret(client: TestClient) -> None:
    """OAUTH-21: both grant types are named, whatever was asked for"""
    program = Program(client)
    answer = program.register(grant_types=["authorization_code"], scope="vault:read", client_uri="https://app.example")

    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["access-control-allow-origin"] == "*"
    body = answer.json()
    assert body.pop("client_id") == program.client_id
    assert body.pop("client_id_issued_at") > 0
    assert body == {
        "client_name": "Example App",
        "client_uri": "https://app.example",
        "scope": "vault:read",
        "redirect_uris": [program.redirect],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
    }
    again = Program(client)
    again.register()
    assert again.client_id != program.client_id


@pytest.mark.parametrize(
    ("asked", "method"),
    [
        ("client_secret_post", "client_secret_post"),
        ("client_secret_basic", "client_secret_basic"),
        (None, "client_secret_basic"),
    ],
)
def test_a_program_with_a_secret_gets_one_that_never_expires(
    client: TestClient, asked: str | None, method: str
) -> None:
    """OAUTH-21"""
    body = Program(client).register(token_endpoint_auth_method=asked).json()

    assert body["token_endpoint_auth_method"] == method
    assert len(body["client_secret"]) > 32
    assert body["client_secret_expires_at"] == 0


@pytest.mark.parametrize("method", ["private_key_jwt", "tls_client_auth", 7])
def test_other_ways_to_authenticate_are_refused(client: TestClient, method: Any) -> None:
    """OAUTH-21"""
    answer = Program(client).register(token_endpoint_auth_method=method)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


GOOD = [
    "https://claude.ai/api/mcp/auth_callback",
    "https://app.example",
    "https://app.example:8443/cb?x=1",
    "http://localhost/callback",
    "http://localhost:6274/oauth/callback",
    "http://127.0.0.1:33418/",
    "http://[::1]:9/cb",
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "vscode://vscode.microsoft-authentication",
    "com.example.app:/callback",
]
BAD = [
    "http://app.example/cb",
    "http://localhost.evil.example/cb",
    "http://127.0.0.2/cb",
    "http://user@localhost/cb",
    "https://user:pw@app.example/cb",
    "https://app.example@evil.example/cb",
    "https://app.example/cb#fragment",
    "https://*.example/cb",
    "https://app.example/*",
    "https://",
    "https:///cb",
    "https://app.example\\@evil.example/cb",
    "https://app.example/a b",
    "https://app.example/\ncb",
    "https://äpp.example/cb",
    "https://app.example/" + "x" * 2_000,
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "blob:https://app.example/x",
    "vbscript:x",
    "ftp://app.example/cb",
    "myapp://callback",
    "/callback",
    "",
    7,
    None,
]


@pytest.mark.parametrize("address", GOOD)
def test_an_address_of_a_program_can_be_registered(client: TestClient, address: str) -> None:
    """OAUTH-21"""
    assert Program(client, redirect=address).register().status_code == 201


@pytest.mark.parametrize("address", BAD)
def test_one_bad_address_refuses_all(client: TestClient, address: Any) -> None:
    """OAUTH-21"""
    answer = Program(client).register(redirect_uris=["https://app.example/cb", address])

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize(
    "addresses",
    [
        [],
        None,
        "https://app.example/cb",
        {},
        ["https://app.example/cb"] * 21,
        ["https://app.example/" + "x" * 1_900] * 5,
    ],
)
def test_a_list_of_addresses_is_needed(client: TestClient, addresses: Any) -> None:
    """OAUTH-21"""
    answer = Program(client).register(redirect_uris=addresses)

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_redirect_uri")


@pytest.mark.parametrize("body", [b"", b"no json", b"[]", b'"x"', b"[" * 1000])
def test_what_is_no_object_is_refused(client: TestClient, body: bytes) -> None:
    """OAUTH-21"""
    answer = client.post("/register", content=body, headers={"content-type": "application/json"})

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client_metadata")


def test_a_body_that_is_too_large_is_refused_before_it_is_read(client: TestClient) -> None:
    """OAUTH-30"""
    answer = Program(client).register(client_name="x" * 70_000)

    assert answer.status_code == 413
    assert answer.json()["error"] == "invalid_request"


@pytest.mark.parametrize("path", ["/register", "/token", "/revoke"])
def test_programs_post_alone_and_pages_may_read_the_answer(client: TestClient, path: str) -> None:
    """OAUTH-30"""
    refused = client.get(path)
    assert refused.status_code == 405
    assert refused.json()["error"] == "invalid_request"
    assert refused.headers["access-control-allow-origin"] == "*"

    preflight = client.options(path, headers={"origin": "https://x.example", "access-control-request-method": "POST"})
    assert preflight.status_code == 204
    assert "Authorization" in preflight.headers["access-control-allow-headers"]


def test_the_scope_of_a_registration_does_not_bind_what_is_asked_for_later(client: TestClient) -> None:
    """OAUTH-14"""
    program = Program(client)
    program.register(scope="vault:read")
    answer = Browser(client).allow(program.request(scope="vault:read vault:write"), access="write")

    assert program.redeem(answer_of(answer)["code"]).json()["scope"] == "vault:read vault:write"


def test_a_flood_of_registrations_is_stopped_for_a_minute(client: TestClient, clock: Clock) -> None:
    """OAUTH-40"""
    statuses = [Program(client).register().status_code for _ in range(21)]
    assert statuses == [201] * 20 + [429]
    refused = Program(client).register()
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert refused.headers["access-control-allow-origin"] == "*"

    clock.advance(60)

    assert Program(client).register().status_code == 201


@pytest.mark.parametrize(
    ("claimed", "name"),
    [
        ("Claude", "Claude"),
        ("  two\n lines\t", "two lines"),
        ("a\u202eb\u200bc\u2066d\ufeff", "abcd"),
        ("x" * 81, "x" * 79 + "…"),
        ("\x00\x1b[2J", "[2J"),
        ("", NAMELESS),
        ("\u200b", NAMELESS),
        (None, NAMELESS),
        (["x"], NAMELESS),
        ("<b>Claude</b>", "<b>Claude</b>"),
    ],
)
def test_a_name_is_cut_and_has_nothing_that_misleads(claimed: Any, name: str) -> None:
    """OAUTH-24"""
    assert readable_name(claimed) == name
