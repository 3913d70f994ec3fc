"""Who the owner is, and that nobody else answers (specs/remote.md OAUTH-20, OAUTH-25, OAUTH-26, OAUTH-41)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.cli.main import run_command_line
from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.serve.http.access.oauth.password import SETTING, hash_password, is_password
from tests.serve.http.oauth.conftest import Clock
from tests.serve.http.oauth.flow import (
    PASSWORD,
    PUBLIC,
    Browser,
    Program,
    call,
    printed_code,
    read_form,
    signing_in,
)

WRONG = {"secret": "not the password", "answer": "continue"}


@pytest.fixture
def codes(app: App, clock: Clock, caplog: pytest.LogCaptureFixture) -> Iterator[Program]:
    """A program of a server without a password."""
    with signing_in(app, oauth_password="") as client:
        clock.advance(61)
        program = Program(client)
        program.register()
        caplog.clear()
        yield program


def last_code(caplog: pytest.LogCaptureFixture) -> str:
    return printed_code("\n".join(record.getMessage() for record in caplog.records))


def test_without_a_password_a_printed_code_opens_the_page_it_was_printed_for(
    codes: Program, caplog: pytest.LogCaptureFixture
) -> None:
    """OAUTH-20"""
    browser = Browser(codes.client)
    first = browser.open(codes.request())
    code_of_first = last_code(caplog)
    second = browser.open(codes.request())
    code_of_second = last_code(caplog)
    assert code_of_first != code_of_second
    assert not set(code_of_first) & set("01OIL")

    refused = browser.send(second, {"secret": code_of_first, "answer": "continue"})
    assert refused.status_code == 403
    consent = browser.send(first, {"secret": f" {code_of_first.lower()} ", "answer": "continue"})
    assert browser.send(consent, {"answer": "allow"}).status_code == 303


def test_a_code_is_good_for_five_tries(codes: Program, caplog: pytest.LogCaptureFixture) -> None:
    """OAUTH-20: and another page is not affected"""
    browser = Browser(codes.client)
    page = browser.open(codes.request())
    code = last_code(caplog)
    statuses = [browser.send(page, WRONG).status_code for _ in range(5)]
    assert statuses == [403] * 4 + [429]

    late = browser.send(page, {"secret": code, "answer": "continue"})
    assert late.status_code == 429
    assert int(late.headers["retry-after"]) > 0

    other = browser.open(codes.request())
    assert browser.send(other, {"secret": last_code(caplog), "answer": "continue"}).status_code == 200


def test_a_code_is_good_for_ten_minutes(codes: Program, caplog: pytest.LogCaptureFixture, clock: Clock) -> None:
    """OAUTH-20, OAUTH-25"""
    browser = Browser(codes.client)
    page = browser.open(codes.request())
    clock.advance(600)

    late = browser.send(page, {"secret": last_code(caplog), "answer": "continue"})

    assert late.status_code == 400
    assert "ten minutes" in late.text


def test_a_flood_of_pages_prints_no_flood_of_codes(codes: Program, caplog: pytest.LogCaptureFixture) -> None:
    """OAUTH-20"""
    statuses = [Browser(codes.client).open(codes.request()).status_code for _ in range(25)]

    assert statuses == [200] * 20 + [429] * 5
    assert len([record for record in caplog.records if "code for the page" in record.getMessage()]) == 20


def test_the_password_is_set_on_the_command_line_while_the_server_runs(
    app: App, clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """OAUTH-20"""
    import io
    import sys

    clock.advance(61)
    state = app.config.state
    with signing_in(app, oauth_password="") as client:
        program = Program(client)
        program.register()
        monkeypatch.setenv("OBSIDIAN_MCP_STATE", str(state))
        monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
        assert run_command_line(["http", "password"]) != 0
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
        assert run_command_line(["http", "password"]) == 0
        assert "is set" in capsys.readouterr().out

        page = Browser(client).open(program.request())
        assert 'type="password"' in page.text
        assert Browser(client).allow(program.request()).status_code == 303
    kept = b"".join(path.read_bytes() for path in (state / "access").iterdir())
    assert PASSWORD.encode() not in kept


def test_a_password_is_kept_as_a_hash() -> None:
    """OAUTH-20"""
    kept = hash_password(PASSWORD)

    assert kept.startswith("scrypt$")
    assert PASSWORD not in kept
    assert is_password(PASSWORD, kept)
    assert not is_password(PASSWORD + " ", kept)
    assert not is_password(PASSWORD, "")
    assert hash_password(PASSWORD) != kept


def test_a_password_that_can_be_guessed_is_refused_at_the_start(shared_app: App) -> None:
    """OAUTH-20"""
    http = shared_app.config.http.replace(oauth=True, public_url=PUBLIC, oauth_password="eleven char")
    weak = shared_app.replace(config=shared_app.config.replace(http=http))

    with pytest.raises(InvalidArguments, match="12"):
        compose.http_application(weak)


def test_what_a_stranger_sees_says_nothing_of_the_vault(program: Program, browser: Browser) -> None:
    """OAUTH-23"""
    for page in (browser.open(program.request()), browser.send(browser.open(program.request()), WRONG)):
        assert "basic" not in page.text
        assert "Projects" not in page.text
        assert "place" not in read_form(page).fields


def test_a_form_without_the_password_allows_nothing(program: Program, browser: Browser) -> None:
    """OAUTH-25"""
    page = browser.open(program.request())

    answer = browser.send(page, {"step": "consent", "answer": "allow", "access": "write", "place": "basic/"})

    assert answer.status_code == 403


def test_a_page_of_an_owner_who_signed_in_is_asked_for_the_password_again(program: Program, browser: Browser) -> None:
    """OAUTH-23: nothing is remembered"""
    browser.allow(program.request())

    assert "secret" in read_form(browser.open(program.request())).fields


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": f"{PUBLIC}.evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_form_of_another_site_is_refused(program: Program, browser: Browser, headers: dict[str, str]) -> None:
    """OAUTH-25"""
    consent = browser.sign_in(program.request())

    assert browser.send(consent, {"answer": "allow"}, **headers).status_code == 403
    assert browser.send(consent, {"answer": "allow"}).status_code == 303


def test_a_form_needs_the_cookie_of_its_own_page(program: Program, client: TestClient) -> None:
    """OAUTH-25"""
    victim, attacker = Browser(client), Browser(client)
    consent = victim.sign_in(program.request())
    attacker.open(program.request())

    assert Browser(client).send(consent, {"answer": "allow"}).status_code == 400
    assert attacker.send(consent, {"answer": "allow"}).status_code == 400
    assert victim.send(consent, {"answer": "allow"}).status_code == 303


@pytest.mark.parametrize("ticket", ["", "x", "é", "A" * 400, None])
def test_a_ticket_that_this_server_has_not_made_is_refused(
    program: Program, browser: Browser, ticket: str | None
) -> None:
    """OAUTH-25"""
    consent = browser.sign_in(program.request())

    assert browser.send(consent, {"answer": "allow", "ticket": ticket}).status_code == 400


def test_a_ticket_that_was_changed_is_refused(program: Program, browser: Browser) -> None:
    """OAUTH-25"""
    consent = browser.sign_in(program.request())
    ticket = read_form(consent).fields["ticket"]
    for place in (0, 50, len(ticket) - 2):
        other = "A" if ticket[place] != "A" else "B"
        changed = ticket[:place] + other + ticket[place + 1 :]
        assert browser.send(consent, {"answer": "allow", "ticket": changed}).status_code == 400


def test_the_cookie_goes_to_this_server_over_https_alone(program: Program, client: TestClient) -> None:
    """OAUTH-25"""
    header = client.get(program.request().removeprefix(PUBLIC)).headers["set-cookie"]

    name, _, attributes = header.partition("=")
    assert name.startswith("__Host-")
    for attribute in ("Secure", "HttpOnly", "SameSite=strict", "Path=/", "Max-Age=600"):
        assert attribute in attributes
    assert "Domain" not in attributes


def test_over_http_on_this_computer_the_cookie_has_no_prefix(shared_app: App) -> None:
    """OAUTH-25"""
    with signing_in(shared_app, public_url="http://127.0.0.1:3000") as client:
        program = Program(client)
        program.register()
        page = client.get(program.request(resource=None).removeprefix(PUBLIC))

    assert page.status_code == 200
    assert page.headers["set-cookie"].startswith("obsidian-mcp-sign-in-")
    assert "Secure" not in page.headers["set-cookie"]


def test_pages_have_no_script_and_may_not_be_framed_or_kept(program: Program, browser: Browser) -> None:
    """OAUTH-26"""
    sign_in = browser.open(program.request())
    consent = browser.send(sign_in, {"secret": PASSWORD, "answer": "continue"})
    fault = browser.open(program.request(redirect_uri="https://evil.example/"))
    for page in (sign_in, consent, fault):
        policy = page.headers["content-security-policy"]
        (nonce,) = re.findall(r"'nonce-([^']+)'", policy)
        assert policy == (f"default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'; frame-ancestors 'none'")
        assert f'<style nonce="{nonce}">' in page.text
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "same-origin"
        assert page.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in page.headers
        assert not re.search(r"<script|<img|<link|\son[a-z]+=|https?://", page.text)
    assert sign_in.headers["content-security-policy"] != consent.headers["content-security-policy"]


def test_a_name_cannot_be_markup(client: TestClient, clock: Clock) -> None:
    """OAUTH-24"""
    clock.advance(61)
    program = Program(client, name="<script>alert('x')</script> & \"Claude\"\u202e")
    program.register(logo_uri="https://evil.example/logo.png")
    browser = Browser(client)
    for page in (browser.open(program.request()), browser.sign_in(program.request())):
        assert "<script" not in page.text
        assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; &quot;Claude&quot;" in page.text
        assert "evil.example" not in page.text


@pytest.mark.parametrize(
    ("redirect", "shown", "warns"),
    [
        ("https://claude.ai/api/mcp/auth_callback", "claude.ai", False),
        ("http://localhost:1234/cb", "localhost", True),
        ("http://127.0.0.1/cb", "127.0.0.1", True),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor", True),
    ],
)
def test_pages_say_where_the_answer_goes(
    client: TestClient, clock: Clock, redirect: str, shown: str, warns: bool
) -> None:
    """OAUTH-23"""
    clock.advance(61)
    program = Program(client, redirect=redirect, name="Claude")
    program.register()
    browser = Browser(client)
    for page in (browser.open(program.request()), browser.sign_in(program.request())):
        assert f"<strong>{shown}</strong>" in page.text
        assert ("Any program" in page.text) == warns
        assert "Claude" in page.text


def test_guesses_cost_waits_that_double_and_the_printed_code_still_opens(
    app: App, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """OAUTH-41: tokens go on working, and the owner gets in at once"""
    with signing_in(app) as client:
        clock.advance(61)
        program = Program(client)
        token = program.connect()["access_token"]
        browser = Browser(client)
        page = browser.open(program.request())
        statuses = [browser.send(page, WRONG).status_code for _ in range(5)]
        assert statuses == [403] * 4 + [429]

        locked = browser.sign_in(program.request())
        assert locked.status_code == 429
        assert 0 < int(locked.headers["retry-after"]) <= 30
        assert call(client, token).status_code == 200
        opened = browser.open(program.request())
        assert opened.status_code == 429
        consent = browser.send(opened, {"secret": last_code(caplog), "answer": "continue"})
        assert browser.send(consent, {"answer": "allow"}).status_code == 303

        for wait in (30, 60, 120, 240, 480, 900, 900):
            clock.advance(wait - 1)
            assert browser.open(program.request()).status_code == 429
            clock.advance(1.5)
            late = browser.sign_in(program.request(), "still wrong, and long enough")
            assert late.status_code == 429
        clock.advance(900)
        assert browser.allow(program.request()).status_code == 303


def test_a_flood_of_pages_and_guesses_keeps_nothing(app: App, clock: Clock) -> None:
    """OAUTH-25, OAUTH-41: it fills no disk, and displaces no page that the owner has open"""
    with signing_in(app, trusted_proxy=True, address=("127.0.0.1", 50_000)) as client:
        clock.advance(61)
        program = Program(client)
        program.register()
        owner = Browser(client)
        consent = owner.sign_in(program.request())
        folder = app.config.state / "access"
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        statuses = set()
        for number in range(300):
            stranger, place = Browser(client), {"x-forwarded-for": f"203.0.113.{number % 20}"}
            page = stranger.open(program.request(), **place)
            if number % 3 == 0 and page.status_code == 200:
                statuses.add(stranger.send(page, WRONG, **place).status_code)

        assert statuses == {403, 429}
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        assert owner.send(consent, {"answer": "allow"}).status_code == 303


def test_of_many_guesses_at_once_five_are_free(app: App, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """OAUTH-41, OAUTH-50: and they do not fill the log"""
    store = compose.grant_store(app.config)
    store.set_setting(SETTING, hash_password(PASSWORD))
    store.close()
    with signing_in(app, oauth_password="") as client, ThreadPoolExecutor(8) as pool:
        clock.advance(61)
        program = Program(client)
        program.register()
        opened = [(browser, browser.open(program.request())) for browser in map(Browser, [client] * 24)]
        statuses = list(pool.map(lambda pair: pair[0].send(pair[1], WRONG).status_code, opened))

    assert sorted(statuses) == [403] * 4 + [429] * 20
    assert len([record for record in caplog.records if "wrong secret" in record.getMessage().lower()]) == 10


@pytest.mark.parametrize(
    ("peer", "trusts", "status"),
    [("127.0.0.1", True, 200), ("127.0.0.1", False, 429), ("203.0.113.9", True, 429)],
)
def test_guesses_of_one_address_lock_no_other_out_behind_a_trusted_proxy(
    app: App, clock: Clock, peer: str, trusts: bool, status: int
) -> None:
    """OAUTH-41, OAUTH-43: the last entry is the proxy's; only a proxy of this computer is believed"""
    with signing_in(app, address=(peer, 50_000), trusted_proxy=trusts) as client:
        clock.advance(61)
        program = Program(client)
        program.register()
        browser = Browser(client)
        page = browser.open(program.request())
        for host in range(5):  # of one customer
            browser.send(page, WRONG, **{"x-forwarded-for": f"192.0.2.1, 2001:db8:1:2::{host}"})
        address = program.request().removeprefix(PUBLIC)

        guessing = client.get(address, headers={"x-forwarded-for": "2001:db8:1:2::ffff"})
        owner = client.get(address, headers={"x-forwarded-for": "2001:db8:1:2::ffff, 192.0.2.1"})

        assert (guessing.status_code, owner.status_code) == (429, status)


def _forms(page: Any) -> str:
    return json.dumps(read_form(page).fields)


def test_a_secret_is_never_shown_again(program: Program, browser: Browser) -> None:
    """OAUTH-50"""
    page = browser.send(browser.open(program.request()), {"secret": "my wrong secret", "answer": "continue"})

    assert "my wrong secret" not in page.text
    assert "my wrong secret" not in _forms(page)


def test_the_folder_of_what_is_kept_is_the_programs_own(app: App, tmp_path: Path) -> None:
    """STORE-01"""
    store = compose.grant_store(app.config)
    store.set_setting(SETTING, "x")
    store.close()

    assert (app.config.state / "access" / "grants.db").is_relative_to(tmp_path)
