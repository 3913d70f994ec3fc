"""Who comes in to the console (specs/console.md UI-01 to UI-10)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.serve.http.console.page import opening_address
from obsidian_mcp.serve.http.console.sessions import SESSION_SECONDS, TOKEN_SECONDS, ConsoleSessions
from obsidian_mcp.serve.mcp.prompts import PROMPTS
from obsidian_mcp.setup.console_parts import console_parts
from tests.conftest import app_on
from tests.serve.console_browser import open_console
from tests.serve.http_client import http_client

SERVER = "http://127.0.0.1:4100"
FETCHED = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
"""What a browser says of itself when a person follows a link of the console."""


@contextmanager
def console(app: App) -> Iterator[tuple[TestClient, str]]:
    """A browser at the console of a process of its own, and an address that opens it."""
    served, sessions = compose.console_alone(app, console_parts())
    with TestClient(served, base_url=SERVER, follow_redirects=False) as client:
        yield client, opening_address("", sessions.make_token())


@pytest.fixture
def door(app: App) -> Iterator[tuple[TestClient, str]]:
    with console(app) as opened:
        yield opened


def first_page(client: TestClient, address: str) -> str:
    """Open the console; return the address of its first page."""
    answer = client.get(address)
    assert answer.status_code == 200
    return str(answer.headers["refresh"]).partition("url=")[2]


def test_a_token_is_exchanged_once_for_a_cookie_that_no_script_and_no_other_path_gets(
    door: tuple[TestClient, str],
) -> None:
    """UI-01, UI-02, UI-30"""
    client, address = door
    answer = client.get(address)
    first = str(answer.headers["refresh"]).partition("url=")[2]

    assert "token" not in first
    assert answer.headers["referrer-policy"] == "no-referrer"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert f"path={first.rpartition('/')[0]}".lower() in cookie
    page = client.get(first)
    assert page.status_code == 200
    assert "<h1>Changes</h1>" in page.text
    assert client.get(address).status_code == 403
    client.cookies.clear()
    assert client.get(first).status_code == 403


def test_who_signs_out_leaves_a_browser_that_opens_nothing_more(app: App) -> None:
    """UI-12"""
    with open_console(app) as browser:
        page, cookies = browser.address, dict(browser.client.cookies)

        browser.press("Sign out")

        assert browser.status == 200
        assert "You are signed out" in browser.text
        assert not browser.client.cookies
        browser.client.cookies.update(cookies)
        assert browser.go(page).status == 403, "a cookie that was copied before opens nothing either"


def test_a_link_or_form_of_another_page_signs_nobody_out(door: tuple[TestClient, str]) -> None:
    """UI-12, UI-05"""
    client, address = door
    page = first_page(client, address)
    sign_out = page.rpartition("/")[0] + "/sign-out"

    assert client.get(sign_out).status_code == 405
    assert client.post(sign_out, data={"token": "made up"}).status_code == 403
    assert client.get(page).status_code == 200


def test_an_address_that_is_too_old_or_made_up_opens_nothing(app: App) -> None:
    """UI-01"""
    now = 0.0
    sessions = ConsoleSessions(lambda: now)
    old = sessions.make_token()
    now = TOKEN_SECONDS

    assert sessions.exchange_token(old, "h") is None
    assert sessions.exchange_token("é", "h") is None
    assert sessions.exchange_token("", "h") is None


def test_a_session_ends_when_it_is_not_used_and_counts_for_one_host(app: App) -> None:
    """UI-02, UI-03"""
    now = 0.0
    sessions = ConsoleSessions(lambda: now)
    session = sessions.begin("127.0.0.1:1")

    assert sessions.find_session(session.id, session.secret, "127.0.0.1:1") == session
    assert sessions.find_session(session.id, session.secret, "rebound.example:1") is None
    assert sessions.find_session(session.id, "other", "127.0.0.1:1") is None
    now = SESSION_SECONDS
    assert sessions.find_session(session.id, session.secret, "127.0.0.1:1") is None


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:4100"},
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:4101"},
        {"origin": "http://localhost:4100"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_page_of_another_origin_does_anything(
    door: tuple[TestClient, str], headers: dict[str, str], method: str
) -> None:
    """UI-03: with the cookie and the token of the form, as if both were stolen; reading, too"""
    client, address = door
    first = first_page(client, address)
    token = "".join(re.findall(r'name="token" value="([^"]+)"', client.get(first).text)[:1])

    answer = client.request(method, first, headers=headers, data={"token": token} if method == "POST" else None)

    assert answer.status_code == 403
    assert "basic" not in answer.text


@pytest.mark.parametrize("token", ["", "wrong"])
def test_a_form_without_its_token_does_nothing(door: tuple[TestClient, str], token: str) -> None:
    """UI-05: and nothing is done for the client `console` (UI-09)"""
    client, address = door
    first = first_page(client, address)

    assert client.post(first, data={"token": token}, headers=FETCHED).status_code == 403


def test_a_link_of_another_page_may_lead_to_the_one_time_address_but_a_frame_or_prefetch_not(
    door: tuple[TestClient, str],
) -> None:
    """UI-01, UI-03: the assistant's window is another page"""
    client, address = door
    led = {**FETCHED, "sec-fetch-site": "cross-site"}

    assert client.get(address, headers={**led, "sec-fetch-dest": "iframe"}).status_code == 403
    assert client.get(address, headers={**led, "sec-purpose": "prefetch"}).status_code == 403
    assert client.head(address).status_code == 405
    assert client.get(address, headers=led).status_code == 200


def test_every_page_forbids_frames_foreign_code_and_keeping(door: tuple[TestClient, str]) -> None:
    """UI-06"""
    client, address = door
    first = first_page(client, address)
    for path in (first, "/", "/console", "/console/nobody/changes", "/console/open"):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "<script>" not in answer.text
        assert " style=" not in answer.text
        assert not re.search(r"(?:src|href)=\"(?!/console|data:,|[a-z]+\?|[a-z]+\"|#)", answer.text), answer.text


def test_what_every_page_loads_says_nothing_and_is_kept(door: tuple[TestClient, str]) -> None:
    client, address = door
    page = client.get(first_page(client, address)).text
    for asset in re.findall(r"/console/assets/[^\"]+", page):
        client.cookies.clear()
        answer = client.get(asset)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    assert client.get("/console/assets/../page.py").status_code in (403, 404)
    assert client.get("/console/assets/frame.html").status_code == 404


def test_the_console_alone_serves_nothing_else(door: tuple[TestClient, str]) -> None:
    """UI-10, UI-07"""
    client, _ = door
    for path in ("/mcp", "/bridge/v1/tools", "/openapi.json", "/authorize"):
        assert client.get(path).status_code == 404
        assert client.post(path, json={}).status_code == 404


def test_the_owner_signs_in_to_the_console_of_an_http_server_by_its_password(app: App) -> None:
    """UI-08"""
    with http_client(app, keys=("the-key-of-an-assistant",), oauth_password="correct horse battery") as client:
        for path in ("/", "/?key=the-key-of-an-assistant"):
            assert 'href="/console"' in client.get(path).text
        assert client.get("/", headers={"accept": "text/html"}).headers["location"] == "/console"
        assert client.get("/console").headers["location"] == "/console/sign-in"
        form = client.get("/console/sign-in")
        assert "basic" not in form.text
        wrong = client.post("/console/sign-in", data=fields(form.text, "the-key-of-an-assistant"))
        assert wrong.status_code == 403
        stale = client.post("/console/sign-in", data={"ticket": "made up", "secret": "correct horse battery"})
        assert stale.status_code == 403
        right = client.post("/console/sign-in", data=fields(stale.text, "correct horse battery"))

        assert right.status_code == 200
        first = str(right.headers["refresh"]).partition("url=")[2]
        assert client.get(first).status_code == 200


def test_after_many_wrong_passwords_the_page_says_how_long_to_wait(app: App) -> None:
    """UI-08"""
    with http_client(app, oauth_password="correct horse battery") as client:
        answer = client.get("/console/sign-in")
        while answer.status_code != 429:
            answer = client.post("/console/sign-in", data=fields(answer.text, "a guess"))

        assert int(answer.headers["retry-after"]) > 0
        assert f"Wait {answer.headers['retry-after']} s" in answer.text


def test_no_key_and_no_header_of_a_program_opens_the_console(app: App) -> None:
    """UI-08: an assistant has them, and the console decides what it may see"""
    headers = {"authorization": "Bearer everything", "x-api-key": "everything"}
    with http_client(app, keys=("everything",)) as client:
        for path in ("/console/x/changes", "/console/x/changes?key=everything"):
            assert client.get(path, headers=headers).status_code == 403
            assert client.post(path, headers=headers).status_code == 403


def fields(page: str, secret: str) -> dict[str, str]:
    """The fields of the form to sign in."""
    (ticket,) = re.findall(r'name="ticket" value="([^"]+)"', page)
    return {"ticket": ticket, "secret": secret}


def test_over_http_the_prompt_opens_nothing(app: App) -> None:
    """UI-11: whoever asks sits at another computer, perhaps"""
    said = PROMPTS["open_console"].text(app, {})

    assert "obsidian-mcp ui" in said
    assert "127.0.0.1" not in said


@pytest.mark.parametrize("part", ["changes", "privacy", "apps"])
@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ("no vault", "No vault is configured."),
        ("a vault that is gone", "does not exist"),
        ("a policy with a mistake", "The policy file"),
    ],
)
def test_where_no_vault_can_be_opened_the_page_says_why(tmp_path: Path, part: str, problem: str, said: str) -> None:
    """UI-09: Apps, which needs no vault, is shown all the same"""
    vault = tmp_path / "vault"
    if problem != "a vault that is gone":
        vault.mkdir()
    if problem == "a policy with a mistake":
        (tmp_path / "policy.toml").write_text("hidden = 1\n", encoding="utf-8")
    made = app_on(vault)
    if problem == "no vault":
        made = compose.build(made.config.replace(named_vaults=()))
    with open_console(made) as browser:
        browser.go(part)
        assert browser.status < 500
        assert [link for link in browser.links if link in ("Changes", "Privacy", "Apps")] == [
            "Changes",
            "Privacy",
            "Apps",
        ]
        assert (said in browser.text) or (part == "apps" and browser.status == 200)
