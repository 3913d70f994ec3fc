"""The SDK's own client signs in and lists tools, over a real port (specs/remote.md OAUTH)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from anyio import to_thread
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from obsidian_mcp import compose
from obsidian_mcp.app import App
from tests.serve.http.oauth.flow import PASSWORD, Browser, Program, answer_of
from tests.serve.serving import serving_with_sign_in

CALLBACK = "http://localhost:4711/callback"
CLAUDE_CODE = "https://claude.ai/oauth/claude-code-client-metadata"
KEY = "a-fixed-key-for-claude"


class Storage:
    """What a program keeps."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def url(shared_app: App) -> Iterator[str]:
    with serving_with_sign_in(shared_app, PASSWORD, keys=(KEY,)) as url:
        yield url


class Owner:
    """Sits at a browser, and allows what was asked."""

    def __init__(self, url: str, access: str) -> None:
        self._url = url
        self._access = access
        self.answers: list[dict[str, str]] = []

    async def open(self, address: str) -> None:
        self.answers.append(await to_thread.run_sync(self._allow, address))

    def _allow(self, address: str) -> dict[str, str]:
        with httpx.Client(base_url=self._url, verify=False) as http:
            return answer_of(Browser(http, public=self._url).allow(address, access=self._access))

    async def answer(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(self.answers[-1])


@asynccontextmanager
async def connected(url: str, address: str, storage: Storage, owner: Owner, **options: Any) -> AsyncIterator[Client]:
    about = OAuthClientMetadata.model_validate({"redirect_uris": [CALLBACK], "client_name": "SDK"})
    auth = OAuthClientProvider(address, about, storage, owner.open, owner.answer, **options)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=30, verify=False) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


@pytest.mark.anyio
@pytest.mark.parametrize("document", [None, CLAUDE_CODE])
@pytest.mark.parametrize("entered", ["/mcp", "/mcp?2", "/mcp/"])
@pytest.mark.parametrize("access", ["read", "write"])
async def test_the_sdks_client_signs_in_lists_tools_and_calls(
    url: str, document: str | None, entered: str, access: str
) -> None:
    """OAUTH-10, OAUTH-12, OAUTH-21, OAUTH-22: by registration and by document, as the address is entered"""
    storage, owner = Storage(), Owner(url, access)
    async with connected(url, url + entered, storage, owner, client_metadata_url=document) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        found = await client.call_tool("obsidian_search", {"query": "alpha"})

    assert ("obsidian_create_note" in names) == (access == "write")
    assert not found.is_error
    assert len(owner.answers) == 1
    assert storage.tokens is not None
    assert storage.client is not None
    assert (str(storage.client.client_id) == document) == (document is not None)


@pytest.mark.anyio
async def test_the_sdks_client_refreshes_what_has_expired(url: str) -> None:
    """OAUTH-33"""
    storage, owner = Storage(), Owner(url, "read")
    async with connected(url, f"{url}/mcp", storage, owner) as client:
        await client.list_tools()
    assert storage.tokens is not None
    before = storage.tokens
    about = OAuthClientMetadata.model_validate({"redirect_uris": [CALLBACK], "client_name": "SDK"})
    auth = OAuthClientProvider(f"{url}/mcp", about, storage, owner.open, owner.answer)
    async with httpx2.AsyncClient(auth=auth, timeout=30, verify=False) as http:
        await http.get(f"{url}/mcp")  # learns where everything is
        auth.context.token_expiry_time = 1.0
        async with Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client:
            assert (await client.list_tools()).tools

    assert len(owner.answers) == 1
    assert storage.tokens.access_token != before.access_token


@pytest.mark.anyio
async def test_a_fixed_header_needs_no_sign_in(url: str) -> None:
    """OAUTH-38"""
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {KEY}"}, timeout=30, verify=False) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        names = {tool.name for tool in (await client.list_tools()).tools}

    assert "obsidian_create_note" in names


@pytest.mark.anyio
async def test_many_programs_sign_in_at_once(url: str) -> None:
    """OAUTH-25: one owner's pages do not end each other"""
    results: list[int] = []

    async def connect() -> None:
        storage, owner = Storage(), Owner(url, "read")
        async with connected(url, f"{url}/mcp", storage, owner, client_metadata_url=CLAUDE_CODE) as client:
            results.append(len((await client.list_tools()).tools))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(connect)

    assert len(results) == 4
    assert len(set(results)) == 1


def test_the_open_streams_of_a_grant_end_with_it_and_history_names_it(app: App) -> None:
    """OAUTH-37, DOOR-11, DOOR-13: those of another grant stay"""
    with serving_with_sign_in(app, PASSWORD) as url:
        sessions = []
        for name in ("Phone", "Laptop"):
            with httpx.Client(base_url=url, verify=False) as http:
                program = Program(http, redirect=CALLBACK, name=name, public=url)
                sessions.append(begin_session(url, program.connect(access="write")["access_token"]))
        phone, laptop = sessions
        message = {"name": "obsidian_create_note", "arguments": {"name": "New", "content": "x"}}
        phone.post("/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": message})
        history = {"name": "obsidian_history", "arguments": {}}
        changes = laptop.post("/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": history})
        assert "t (key phone)" in changes.text

        store = compose.grant_store(app.config)
        with phone.stream("GET", "/mcp") as of_phone, laptop.stream("GET", "/mcp") as of_laptop:
            assert (of_phone.status_code, of_laptop.status_code) == (200, 200)
            (grant,) = [grant for grant in store.grants() if grant.name == "phone"]
            store.end_grant(grant.id)
            for _ in of_phone.iter_raw():
                pass  # until its end: httpx raises where it is cut, or stays open for 30 s
            assert phone.post("/mcp", json=PING).status_code == 401
            assert laptop.post("/mcp", json=PING).status_code == 200
        store.close()
        for session in sessions:
            session.close()


PING = {"jsonrpc": "2.0", "id": 9, "method": "ping"}


def begin_session(url: str, token: str) -> httpx.Client:
    """A client in a session of MCP that it has begun with a token."""
    headers = {"accept": "application/json, text/event-stream", "authorization": f"Bearer {token}"}
    session = httpx.Client(base_url=url, headers=headers, timeout=30, verify=False)
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    began = session.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    assert began.status_code == 200
    session.headers["mcp-session-id"] = began.headers["mcp-session-id"]
    session.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
    return session
