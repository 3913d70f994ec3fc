"""Another way to come in, and pages of its own, take their place beside the keys (specs/http.md DOOR-14)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import pytest
from starlette.responses import Response
from starlette.testclient import TestClient

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.core.files.policy import process_policy
from obsidian_mcp.serve.http.access.access_control import AccessControl
from obsidian_mcp.serve.http.access.challenge import BearerChallenge
from obsidian_mcp.serve.http.access.credentials import bearer_token
from obsidian_mcp.serve.http.access.principal import Limits, Principal
from obsidian_mcp.serve.http.dialect import Dialect, json_reply
from obsidian_mcp.serve.http.request import HttpRequest
from obsidian_mcp.serve.http.server import application
from obsidian_mcp.serve.http.tool_service import ToolService
from tests.conftest import app_on
from tests.serve.http.test_auth import REQUESTS
from tests.serve.http.test_keys import PHONE, burly, vault_in
from tests.serve.http.test_revocation import WITHOUT_PHONE
from tests.serve.http_client import HERE

METADATA = "https://notes.example/.well-known/oauth-protected-resource/mcp"
READING = Limits(tools="core", policy=process_policy("Projects", read_only=True))


class SignIn(Dialect):
    """A form that sets a cookie, and a document for clients that look for it."""

    pages = MappingProxyType({"/sign-in": "form", "/.well-known/oauth-protected-resource/mcp": "metadata"})
    paths = MappingProxyType({"form": ("GET", "POST"), "metadata": ("GET",)})
    open_paths = (("form",), ("metadata",))
    is_open_before_sign_in = True

    def __init__(self) -> None:
        super().__init__(max_body=1000)
        self.browsers: set[str] = set()
        self.is_locked = True

    async def handle_request(self, request: HttpRequest, service: ToolService) -> Response:  # noqa: ARG002
        if request.segments == ("metadata",):
            return json_reply({"resource": "https://notes.example/mcp"})
        if request.method == "GET":
            return Response(f"for {dict(request.query).get('client')}")
        if request.form != [("name", "José"), ("password", "right"), ("empty", "")]:
            return Response("wrong", 403)
        self.browsers.add("b1")
        return Response(status_code=303, headers={"set-cookie": "browser=b1; HttpOnly", "location": "/"})

    def find(self, request: HttpRequest) -> Principal | None:
        browser = request.cookies.get("browser") or bearer_token(request)
        return Principal(browser, READING) if browser in self.browsers else None

    def is_current(self, principal: Principal) -> bool:
        return principal.name in self.browsers


@pytest.fixture
def app(tmp_path: Path) -> Iterator[App]:
    opened = app_on(vault_in(tmp_path))
    yield opened
    opened.vaults.close()


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    sign_in = SignIn()
    access = AccessControl(app.config.http, [sign_in], BearerChallenge(METADATA))

    def open_app(principal: Principal, peer: App | None) -> App:
        return compose.app_for(app, principal, peer)

    served = application(app, access, open_app, contracts=compose.contracts(app.config), pages=[sign_in])
    with TestClient(served, base_url=HERE, follow_redirects=False) as client:
        yield client


def sign_in(client: TestClient, password: str) -> Any:
    fields = {"name": "José", "password": password, "empty": ""}
    return client.post("/sign-in", content=str(httpx.QueryParams(fields)))


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS[:11])
def test_every_refusal_for_want_of_a_key_says_where_to_sign_in(
    client: TestClient, method: str, path: str, body: Any
) -> None:
    """DOOR-14"""
    answer = client.request(method, path, json=body)
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{METADATA}"'
    assert answer.status_code == (200 if "AUTH_REQUIRED" in answer.text else 401)


def test_pages_and_documents_that_are_mounted_need_no_key(client: TestClient) -> None:
    """DOOR-14"""
    assert client.get("/.well-known/oauth-protected-resource/mcp").json()["resource"] == "https://notes.example/mcp"
    assert client.get("/sign-in?client=phone").text == "for phone"
    assert client.put("/sign-in").status_code == 405
    assert client.get("/.well-known/other").status_code == 404


def test_who_signs_in_with_a_form_comes_in_by_its_cookie_and_has_its_limits(client: TestClient) -> None:
    """DOOR-10, DOOR-14"""
    assert sign_in(client, "wrong").status_code == 403
    assert client.get("/bridge/v1/tools").status_code == 401
    assert sign_in(client, "right").status_code == 303

    offered = {tool["name"] for tool in client.get("/bridge/v1/tools").json()["tools"]}
    assert offered == {f"obsidian_{name}" for name in ("search", "read_note", "list_files", "get_links")}
    said = burly(client, "obsidian_search", {"query": "heron"}, "")
    assert "Projects/Alpha.md" in said
    assert "zebra" not in said


def test_the_same_principal_comes_in_by_a_token(client: TestClient) -> None:
    """DOOR-14"""
    sign_in(client, "right")
    client.cookies.clear()
    assert client.get("/bridge/v1/tools").status_code == 401
    assert client.get("/bridge/v1/tools", headers={"authorization": "Bearer b1"}).status_code == 200


def test_what_was_opened_for_a_key_is_closed_when_the_key_is_removed(app: App, tmp_path: Path) -> None:
    """DOOR-13"""
    opened: list[App] = []

    def open_app(principal: Principal, peer: App | None) -> App:
        opened.append(compose.app_for(app, principal, peer))
        return opened[-1]

    def wait_for_close() -> None:
        while opened[0].vaults.wait(1.0):
            pass

    served = application(app, compose.http_access(app.config), open_app, contracts=compose.contracts(app.config))
    with TestClient(served, base_url=HERE) as client, ThreadPoolExecutor() as pool:
        assert opened == [], "nobody has come yet"
        for _ in range(2):
            assert "Alpha" in burly(client, "obsidian_search", {"query": "heron"}, PHONE)
        (tmp_path / "policy.toml").write_text(WITHOUT_PHONE, encoding="utf-8")
        pool.submit(wait_for_close).result(20)
    assert [app.config.key for app in opened] == ["phone"]
    assert app.vaults.get().entries(), "the vaults of the server's owner stay open"


ONE, TWO, OTHER = (f"one-of-three-keys-{number}" for number in (1, 2, 3))
TWINS = f"""
[keys.one]
key = "{ONE}"
scope = "Projects"
[keys.two]
key = "{TWO}"
scope = "Projects"
[keys.other]
key = "{OTHER}"
scope = "Projects2"
"""


def test_keys_with_equal_limits_share_vaults_until_the_last_of_them_is_removed(app: App, tmp_path: Path) -> None:
    """LIMIT-03, DOOR-13"""
    (tmp_path / "policy.toml").write_text(TWINS, encoding="utf-8")
    opened: dict[str, App] = {}

    def open_app(principal: Principal, peer: App | None) -> App:
        opened[principal.name] = compose.app_for(app, principal, peer)
        return opened[principal.name]

    def wait_for_close(name: str) -> None:
        while opened[name].vaults.wait(1.0):
            pass

    served = application(app, compose.http_access(app.config), open_app, contracts=compose.contracts(app.config))
    with TestClient(served, base_url=HERE) as client, ThreadPoolExecutor() as pool:
        for key in (ONE, TWO, OTHER):
            burly(client, "obsidian_search", {"query": "heron"}, key)
        assert opened["one"].vaults is opened["two"].vaults
        assert opened["one"].vaults is not opened["other"].vaults
        assert [opened[name].config.key for name in opened] == ["one", "two", "other"]

        (tmp_path / "policy.toml").write_text(TWINS.replace("[keys.one]", "[keys.three]"), encoding="utf-8")
        burly(client, "obsidian_search", {"query": "heron"}, ONE)
        assert "Alpha" in burly(client, "obsidian_search", {"query": "heron"}, TWO)
        (tmp_path / "policy.toml").write_text("[keys.last]\nkey = 'another key than those'\n", encoding="utf-8")
        pool.submit(wait_for_close, "two").result(20)
        pool.submit(wait_for_close, "other").result(20)
