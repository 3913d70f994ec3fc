"""Programs that a document of their own describes (specs/remote.md OAUTH-22)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from obsidian_mcp.adapters.client_documents import ClientDocuments
from obsidian_mcp.app import App
from obsidian_mcp.core.grants.client_document import DocumentUnreachable, FetchedDocument
from obsidian_mcp.core.grants.registration import Registration
from obsidian_mcp.serve.http.access.oauth.authorization_request import WrongAddress
from obsidian_mcp.serve.http.access.oauth.client_document import (
    DocumentInvalid,
    is_document_address,
    list_built_in_documents,
    read_document,
)
from obsidian_mcp.serve.http.access.oauth.programs import Programs
from tests.serve.http.oauth.flow import REDIRECT, Browser, Program, answer_of, call, signing_in

ADDRESS = "https://app.example/oauth/client.json"
DOCUMENT = {"client_id": ADDRESS, "client_name": "Example", "redirect_uris": ["https://app.example/cb"]}
CLAUDE = "https://claude.ai/oauth/mcp-oauth-client-metadata"
CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata"


@pytest.mark.parametrize(
    ("address", "fits"),
    [
        (ADDRESS, True),
        (CLAUDE, True),
        ("https://app.example/x", True),
        ("https://sub.app-1.example/a/b%20c", True),
        ("http://app.example/client.json", False),
        ("https://app.example", False),
        ("https://app.example/", False),
        ("https://app.example:443/x", False),
        ("https://app.example:8443/x", False),
        ("https://user@app.example/x", False),
        ("https://app.example/x#y", False),
        ("https://app.example/x?y", False),
        ("https://app.example/a/../x", False),
        ("https://app.example/a/./x", False),
        ("https://app.example/a/%2e%2E/x", False),
        ("https://localhost/x", False),
        ("https://router/x", False),
        ("https://127.0.0.1/x", False),
        ("https://[::1]/x", False),
        ("https://2130706433/x", False),
        ("https://0x7f.1/x", False),
        ("https://127.1/x", False),
        ("https://APP.example/x", False),
        ("https://app.example\\@evil.example/x", False),
        ("https://app.example/x y", False),
        ("https://app.example/" + "x" * 2_000, False),
        ("https://[/x", False),
        ("omid_random", False),
    ],
)
def test_an_address_of_a_document_has_one_form(address: str, fits: bool) -> None:
    """OAUTH-22"""
    assert is_document_address(address) == fits


def test_a_document_describes_a_public_program() -> None:
    """OAUTH-22: unknown grant types in it are ignored"""
    claude = {**DOCUMENT, "grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:jwt-bearer"]}

    program = read_document(ADDRESS, json.dumps(claude).encode())

    assert program == Registration(ADDRESS, "Example", ("https://app.example/cb",))
    assert program.is_document


CHATGPT = {
    "token_endpoint_auth_method": "private_key_jwt",
    "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
}


@pytest.mark.parametrize(
    ("changes", "fits"),
    [
        ({}, True),
        ({"token_endpoint_auth_method": "none"}, True),
        (CHATGPT, True),
        ({"token_endpoint_auth_method": "private_key_jwt"}, False),
        ({"token_endpoint_auth_method": "client_secret_post"}, False),
        ({"client_secret": "x"}, False),
        ({"client_secret_expires_at": 0}, False),
        ({"client_id": "https://app.example/other.json"}, False),
        ({"client_id": ADDRESS + "/"}, False),
        ({"client_id": None}, False),
        ({"client_name": ""}, False),
        ({"client_name": None}, False),
        ({"redirect_uris": []}, False),
        ({"redirect_uris": None}, False),
        ({"redirect_uris": "https://app.example/cb"}, False),
        ({"redirect_uris": ["javascript:alert(1)", "http://app.example/cb"]}, False),
        ({"redirect_uris": [7]}, False),
    ],
)
def test_a_document_must_be_one_of_a_public_program(changes: dict[str, Any], fits: bool) -> None:
    """OAUTH-22"""
    body = json.dumps({**DOCUMENT, **changes}).encode()
    if fits:
        assert read_document(ADDRESS, body).name == "Example"
        return
    with pytest.raises(DocumentInvalid):
        read_document(ADDRESS, body)


def test_of_the_addresses_in_a_document_those_count_that_may_be_redirected_to() -> None:
    """OAUTH-22: a host may list a scheme of its own beside others"""
    addresses = ["javascript:alert(1)", "https://app.example/cb", "unknown://cb", 7]

    program = read_document(ADDRESS, json.dumps({**DOCUMENT, "redirect_uris": addresses}).encode())

    assert program.redirects == ("https://app.example/cb",)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'"x"', b"\xff", b"[" * 5000])
def test_what_is_no_object_is_no_document(body: bytes) -> None:
    """OAUTH-22"""
    with pytest.raises(DocumentInvalid):
        read_document(ADDRESS, body)


def test_copies_of_well_known_documents_are_built_in_and_valid() -> None:
    """OAUTH-22"""
    programs = {address: read_document(address, body) for address, body in list_built_in_documents().items()}

    names = {program.name for program in programs.values()}
    assert {"Claude", "Claude Code", "ChatGPT", "Codex", "Visual Studio Code", "Zed", "OpenCode"} == names
    assert all(map(is_document_address, programs))
    assert "https://claude.ai/api/mcp/auth_callback" in programs[CLAUDE].redirects


class Server:
    """Serves documents, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.max_age: float | None = None
        self.is_down = False

    async def fetch(self, address: str) -> FetchedDocument:
        self.asked.append(address)
        if self.is_down:
            raise DocumentUnreachable("it is down")
        return FetchedDocument(json.dumps({**DOCUMENT, "client_id": address}).encode(), self.max_age)


class NoLedger:
    """Nothing is kept."""

    def find_registration(self, client: str) -> None:
        del client

    def grants(self) -> tuple[()]:
        return ()


@pytest.fixture
def now() -> list[float]:
    return [0.0]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def find(server: Server, now: list[float]) -> Callable[[str], Registration]:
    programs = Programs(NoLedger(), server.fetch, lambda: now[0])  # type: ignore[arg-type]
    return lambda address: anyio.run(programs.find_program, address, "192.0.2.1")


@pytest.mark.parametrize(("max_age", "lives"), [(None, 300), (0, 300), (60, 300), (3_600, 3_600), (10_000_000, 86_400)])
def test_a_document_is_kept_as_its_server_says_within_bounds(
    find: Callable[[str], Registration], server: Server, now: list[float], max_age: float | None, lives: float
) -> None:
    """OAUTH-22"""
    server.max_age = max_age
    find(ADDRESS)
    now[0] = lives - 1
    find(ADDRESS)
    assert server.asked == [ADDRESS]
    now[0] = lives
    find(ADDRESS)

    assert server.asked == [ADDRESS] * 2


def test_a_failure_is_not_kept(find: Callable[[str], Registration], server: Server) -> None:
    """OAUTH-22"""
    server.is_down = True
    with pytest.raises(WrongAddress, match="it is down"):
        find(ADDRESS)
    server.is_down = False

    assert find(ADDRESS).client == ADDRESS


def test_a_copy_is_used_while_a_well_known_document_cannot_be_fetched(
    find: Callable[[str], Registration], server: Server
) -> None:
    """OAUTH-22"""
    server.is_down = True

    assert find(CLAUDE).name == "Claude"
    server.is_down = False
    assert find(CLAUDE).name == "Example"


def test_a_minute_has_ten_fetches(find: Callable[[str], Registration], server: Server, now: list[float]) -> None:
    """OAUTH-42: well-known programs can sign in all the same"""
    for number in range(10):
        find(f"https://app.example/{number}")
    with pytest.raises(WrongAddress, match="too many"):
        find("https://app.example/11")
    assert find(CLAUDE).name == "Claude"
    assert len(server.asked) == 10
    now[0] = 60
    assert find("https://app.example/11").name == "Example"


def test_a_program_with_a_document_signs_in_and_refreshes_without_registering(client: TestClient) -> None:
    """OAUTH-22: for /token nothing is fetched"""
    program = Program(client, redirect="http://localhost:4711/callback", client_id=CLAUDE_CODE)
    browser = Browser(client)
    consent = browser.sign_in(program.request())
    assert "Claude Code" in consent.text
    assert "<strong>claude.ai</strong>" in consent.text
    assert "<strong>localhost</strong>" in consent.text

    code = answer_of(browser.send(consent, {"answer": "allow"}))["code"]
    tokens = program.redeem(code).json()

    assert call(client, tokens["access_token"]).status_code == 200
    assert program.refresh(tokens["refresh_token"]).status_code == 200


def test_a_program_with_a_document_whose_connection_has_ended_need_not_register(client: TestClient) -> None:
    """OAUTH-31: it is told that its token is over, and signs in anew"""
    program = Program(client, redirect="http://localhost:4711/callback", client_id=CLAUDE_CODE)
    tokens = program.connect()
    client.post("/revoke", data={"token": tokens["access_token"], "client_id": CLAUDE_CODE})

    answer = program.refresh(tokens["refresh_token"])

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")


@pytest.mark.parametrize(
    ("changes", "fetches"),
    [
        ({}, 1),
        ({"code_challenge": None}, 0),
        ({"response_type": "token"}, 0),
        ({"resource": "https://other.example/mcp"}, 0),
        ({"redirect_uri": None}, 0),
        ({"redirect_uri": "http://evil.example/"}, 0),
        ({"scope": "openid"}, 0),
    ],
)
def test_nothing_is_fetched_for_a_request_that_is_not_right_in_itself(
    app: App, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str | None], fetches: int
) -> None:
    """OAUTH-42"""
    asked: list[str] = []

    async def fetch(_: ClientDocuments, address: str) -> FetchedDocument:
        asked.append(address)
        return FetchedDocument(json.dumps({**DOCUMENT, "redirect_uris": [REDIRECT]}).encode(), None)

    monkeypatch.setattr(ClientDocuments, "fetch", fetch)
    with signing_in(app, fetches_documents=True) as client:
        page = Browser(client).open(Program(client, client_id=ADDRESS).request(**changes))

    assert page.status_code == (200 if fetches else 400)
    assert asked == [ADDRESS] * fetches


def test_a_document_that_cannot_be_had_is_said_on_a_page(client: TestClient) -> None:
    """OAUTH-13, OAUTH-22"""
    page = Browser(client).open(Program(client, client_id=ADDRESS).request())

    assert page.status_code == 400
    assert "app.example/oauth/client.json" in page.text
