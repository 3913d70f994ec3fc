"""The documents that say how to sign in (specs/remote.md OAUTH-10, OAUTH-11)."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from obsidian_mcp.app import App
from tests.serve.http.oauth.flow import PUBLIC, RESOURCE, signing_in

SERVER = "/.well-known/oauth-authorization-server"
ABOUT = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("path", "resource"),
    [(ABOUT, RESOURCE), (f"{ABOUT}/mcp", RESOURCE), (f"{ABOUT}/mcp/", f"{RESOURCE}/"), (f"{ABOUT}/mcp?2", RESOURCE)],
)
def test_each_form_of_the_address_describes_the_resource(client: TestClient, path: str, resource: str) -> None:
    """OAUTH-10"""
    assert client.get(path).json() == {
        "resource": resource,
        "authorization_servers": [PUBLIC],
        "scopes_supported": ["vault:read", "vault:write"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Obsidian",
    }


def test_the_server_is_described_by_its_public_address(client: TestClient) -> None:
    """OAUTH-11: whatever name or proxy the request came by"""
    methods = ["none", "client_secret_post", "client_secret_basic"]

    described = client.get(SERVER, headers={"host": "127.0.0.1", "x-forwarded-host": "evil.example"})

    assert described.json() == {
        "issuer": PUBLIC,
        "authorization_endpoint": f"{PUBLIC}/authorize",
        "token_endpoint": f"{PUBLIC}/token",
        "registration_endpoint": f"{PUBLIC}/register",
        "revocation_endpoint": f"{PUBLIC}/revoke",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": methods,
        "revocation_endpoint_auth_methods_supported": methods,
        "scopes_supported": ["vault:read", "vault:write", "offline_access"],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }


@pytest.mark.parametrize("path", [ABOUT, SERVER])
def test_a_page_may_read_a_document_and_keep_it_for_five_minutes(client: TestClient, path: str) -> None:
    """OAUTH-11"""
    answer = client.get(path, headers={"origin": "https://inspector.example"})
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["content-type"] == "application/json"

    preflight = client.options(path, headers={"origin": "https://x.example", "access-control-request-method": "GET"})
    assert preflight.status_code == 204
    assert "MCP-Protocol-Version" in preflight.headers["access-control-allow-headers"]


@pytest.mark.parametrize("path", [ABOUT, SERVER, "/.well-known/nope", "/register", "/token", "/revoke", "/mcp"])
def test_a_preflight_under_a_foreign_host_is_refused_like_every_request(client: TestClient, path: str) -> None:
    """OAUTH-38"""
    assert client.options(path, headers={"host": "elsewhere.example"}).status_code == 403


@pytest.mark.parametrize(
    "path", ["openid-configuration", "oauth-authorization-server/mcp", "openid-configuration/mcp", "nope", ""]
)
def test_what_is_not_there_is_404_in_json_for_pages_too(client: TestClient, path: str) -> None:
    """OAUTH-11: a 401 or HTML there stops hosts that try several forms"""
    answer = client.get(f"/.well-known/{path}")

    assert answer.status_code == 404
    assert answer.json()["error"]
    assert answer.headers["access-control-allow-origin"] == "*"


def test_a_server_for_reading_offers_reading_alone(shared_app: App) -> None:
    """OAUTH-14"""
    reading = shared_app.replace(config=shared_app.config.replace(read_only=True))

    with signing_in(reading) as client:
        assert client.get(ABOUT).json()["scopes_supported"] == ["vault:read"]
        assert client.get(SERVER).json()["scopes_supported"] == ["vault:read", "offline_access"]
        assert 'scope="vault:read"' in client.post("/mcp").headers["www-authenticate"]


def test_without_a_sign_in_there_is_none_of_this(shared_app: App) -> None:
    """OAUTH-38"""
    with signing_in(shared_app, oauth=False, keys=("k" * 16,)) as client:
        for path in (ABOUT, SERVER, "/authorize", "/token", "/register", "/revoke"):
            assert client.get(path).status_code == 404
        assert client.post("/mcp").headers["www-authenticate"] == "Bearer"


def test_the_site_alone_names_the_address_of_mcp(client: TestClient) -> None:
    """OAUTH-17"""
    answer = client.post("/", json={"jsonrpc": "2.0", "id": 1, "method": "initialize"})

    assert answer.status_code == 404
    assert RESOURCE in answer.text
