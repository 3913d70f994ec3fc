"""What a program may ask at /authorize (specs/remote.md OAUTH-13 to OAUTH-16)."""

from __future__ import annotations

import base64
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from tests.serve.http.oauth.conftest import Clock
from tests.serve.http.oauth.flow import PUBLIC, RESOURCE, Browser, Program, answer_of, read_form

LOOPBACK = "http://127.0.0.1:33418/cb"


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "omid_unknown"},
        {"client_id": None},
        {"client_id": ""},
        {"redirect_uri": None},
        {"redirect_uri": ""},
        {"redirect_uri": "https://evil.example/callback"},
        {"redirect_uri": "https://app.example/callback/"},
        {"redirect_uri": "https://app.example/callback?x"},
        {"redirect_uri": "https://app.example/x/../callback"},
        {"redirect_uri": "https://APP.example/callback"},
        {"redirect_uri": "https://app.example:443/callback"},
        {"redirect_uri": "https://app.example/call%62ack"},
        {"redirect_uri": "https://app.example/callback#x"},
        {"redirect_uri": "javascript:alert(1)"},
    ],
)
def test_without_a_known_program_and_its_own_address_nobody_is_sent_anywhere(
    program: Program, browser: Browser, changes: dict[str, str | None]
) -> None:
    """OAUTH-13"""
    page = browser.open(program.request(**changes))

    assert page.status_code == 400
    assert page.headers["content-type"].startswith("text/html")
    assert "location" not in page.headers
    assert read_form(page).links == []


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
def test_two_programs_or_addresses_are_no_request(program: Program, browser: Browser, name: str) -> None:
    """OAUTH-13, OAUTH-15"""
    page = browser.open(f"{program.request()}&{name}=x")

    assert page.status_code == 400
    assert read_form(page).links == []


@pytest.mark.parametrize(
    ("registered", "asked", "fits"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb", True),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1:5000/cb", True),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1/cb", True),
        ("http://localhost/cb", "http://localhost:5000/cb", True),
        ("http://[::1]/cb", "http://[::1]:5000/cb", True),
        ("http://127.0.0.1/cb", "http://localhost:5000/cb", False),
        ("http://localhost/cb", "http://127.0.0.1:5000/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb2", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb?x", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5000@evil.example/cb", False),
        ("http://127.0.0.1/cb", "https://127.0.0.1/cb", False),
        ("https://app.example/cb", "https://app.example:5000/cb", False),
    ],
)
def test_of_this_computer_the_port_alone_is_free(
    client: TestClient, clock: Clock, registered: str, asked: str, fits: bool
) -> None:
    """OAUTH-13"""
    clock.advance(61)
    program = Program(client, redirect=registered)
    program.register()

    page = Browser(client).open(program.request(redirect_uri=asked))

    assert page.status_code == (200 if fits else 400)


def short_challenge() -> str:
    return base64.urlsafe_b64encode(b"x" * 30).decode()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": None}, "unsupported_response_type"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": "code id_token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge": short_challenge()}, "invalid_request"),
        ({"code_challenge": "=" * 43}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": "s256"}, "invalid_request"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"resource": f"{PUBLIC}/other"}, "invalid_target"),
        ({"resource": f"{RESOURCE}#x"}, "invalid_target"),
        ({"resource": f"{PUBLIC}:8443/mcp"}, "invalid_target"),
        ({"resource": "http://notes.example.com/mcp"}, "invalid_target"),
        ({"resource": "https://user@notes.example.com/mcp"}, "invalid_target"),
        ({"resource": "http://["}, "invalid_target"),
        ({"scope": "openid email"}, "invalid_scope"),
    ],
)
def test_what_is_wrong_is_said_on_a_page_with_a_way_back(
    program: Program, browser: Browser, changes: dict[str, str | None], error: str
) -> None:
    """OAUTH-12, OAUTH-14, OAUTH-15: no redirect at once, which would be an open one"""
    page = browser.open(program.request(**changes))

    assert page.status_code == 400
    assert "location" not in page.headers
    (back,) = read_form(page).links
    assert back.startswith(f"{program.redirect}?")
    assert urlsplit(back).hostname == "app.example"
    page.headers["location"] = back
    answer = answer_of(page)
    assert answer.pop("error_description")
    assert answer == {"error": error, "state": "st&te", "iss": PUBLIC}


@pytest.mark.parametrize("name", ["state", "scope", "resource", "code_challenge", "prompt"])
def test_what_comes_twice_is_refused(program: Program, browser: Browser, name: str) -> None:
    """OAUTH-15"""
    page = browser.open(f"{program.request(scope='vault:read', prompt='x')}&{name}=x")

    assert page.status_code == 400
    assert "error=invalid_request" in read_form(page).links[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"resource": None},
        {"resource": ""},
        {"resource": PUBLIC},
        {"resource": f"{PUBLIC}/"},
        {"resource": f"{RESOURCE}/"},
        {"resource": f"{RESOURCE}?2"},
        {"resource": "HTTPS://Notes.Example.com:443/mcp"},
        {"scope": None},
        {"scope": ""},
        {"scope": "offline_access"},
        {"scope": "vault:write"},
        {"scope": "openid vault:read vault:write offline_access"},
        {"prompt": "none", "nonce": "x", "audience": "y", "state": None},
    ],
)
def test_what_else_hosts_send_is_taken(program: Program, browser: Browser, changes: dict[str, str | None]) -> None:
    """OAUTH-12, OAUTH-14, OAUTH-15"""
    consent = browser.sign_in(program.request(**changes))

    assert consent.status_code == 200
    assert read_form(consent).choices["access"] == ["read", "write"]


@pytest.mark.parametrize("state", ["", "x" * 4000, "a b&c=d#e\"<'é", "\u2028\x00"])
def test_a_state_comes_back_as_it_was(program: Program, browser: Browser, state: str) -> None:
    """OAUTH-16"""
    answer = browser.allow(program.request(state=state))

    assert answer.status_code == 303
    assert dict(_pairs(answer.headers["location"]))["state"] == state


def _pairs(location: str) -> list[tuple[str, str]]:
    from urllib.parse import parse_qsl

    return parse_qsl(urlsplit(location).query, keep_blank_values=True)
