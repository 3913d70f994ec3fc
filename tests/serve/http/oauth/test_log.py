"""What the log says about signing in (specs/remote.md OAUTH-50)."""

from __future__ import annotations

import threading

import pytest
from starlette.testclient import TestClient

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.serve.http import server
from obsidian_mcp.serve.http.access.oauth.sign_in import SignIn
from tests.serve.http.oauth.conftest import Clock
from tests.serve.http.oauth.flow import PASSWORD, Browser, Program, answer_of, call, signing_in

OF_SIGN_IN = "obsidian_mcp.serve.http.access.oauth.sign_in_log"


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == OF_SIGN_IN]


def test_each_step_has_a_line_with_name_and_address(
    program: Program, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """OAUTH-50"""
    caplog.clear()
    clock.advance(61)
    again = Program(program.client, name="Claude")
    again.register()
    browser = Browser(program.client)
    browser.send(browser.open(again.request()), {"secret": "wrong secret", "answer": "continue"})
    tokens = again.connect()
    renewed = again.refresh(tokens["refresh_token"]).json()
    browser.send(browser.open(again.request()), {"answer": "deny"})
    clock.advance(121)
    again.refresh(tokens["refresh_token"])
    tokens_of_next = again.connect()
    program.client.post("/revoke", data={"token": tokens_of_next["access_token"], "client_id": again.client_id})

    assert lines(caplog) == [
        "Registered: Claude from testclient",
        "Wrong secret: Claude from testclient",
        "The owner signed in: Claude from testclient",
        "The owner allowed read only, as claude: Claude from testclient",
        "Connected: Claude from testclient",
        "Refreshed: Claude from testclient",
        "The owner said no: Claude from testclient",
        "A spent refresh token came again, the connection has ended: Claude from testclient",
        "The owner signed in: Claude from testclient",
        "The owner allowed read only, as claude: Claude from testclient",
        "Connected: Claude from testclient",
        "Disconnected by the app: Claude from testclient",
    ]
    assert renewed


def test_a_host_that_registers_twice_within_a_minute_is_named(
    client: TestClient, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """OAUTH-50"""
    clock.advance(61)
    for _ in range(2):
        Program(client, name="Twice").register()
    assert lines(caplog)[-1] == "Registered twice within a minute: Twice from testclient"
    clock.advance(61)
    Program(client, name="Twice").register()
    assert lines(caplog)[-1] == "Registered: Twice from testclient"


def test_a_code_that_nobody_redeems_is_named_and_leaves_no_connection(
    app: App, clock: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OAUTH-50, STORE-03: while nothing else happens"""
    tidied = threading.Event()
    tidy = SignIn.tidy

    def tell(sign_in: SignIn) -> None:
        tidy(sign_in)
        tidied.set()

    monkeypatch.setattr(server, "TIDY_SECONDS", 0.05)
    monkeypatch.setattr(SignIn, "tidy", tell)
    store = compose.grant_store(app.config)
    with signing_in(app) as client:
        clock.advance(61)
        program = Program(client, name="Claude", redirect="https://claude.ai/api/mcp/auth_callback")
        program.register()
        Browser(client).allow(program.request())
        assert len(store.grants()) == 1
        clock.advance(121)
        for _ in range(2):  # the first may have begun before
            tidied.clear()
            assert tidied.wait(60)
        assert store.grants() == ()
    store.close()
    assert lines(caplog)[-1] == ("Code issued, never redeemed: claude.ai did not come to /token within 120 s: Claude")


def test_no_line_has_a_secret(client: TestClient, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """OAUTH-50"""
    caplog.set_level("DEBUG")
    clock.advance(61)
    program = Program(client)
    program.register(token_endpoint_auth_method="client_secret_post")
    browser = Browser(client)
    code = answer_of(browser.allow(program.request(state="the-state")))["code"]
    tokens = program.redeem(code, client_secret=program.secret).json()
    call(client, tokens["access_token"])
    again = program.refresh(tokens["refresh_token"], client_secret=program.secret).json()
    program.redeem(code, client_secret=program.secret)

    log = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("obsidian_mcp"))
    secrets = [code, program.secret, program.verifier, program.challenge, "the-state", PASSWORD]
    secrets += [tokens["access_token"], tokens["refresh_token"], again["access_token"], again["refresh_token"]]
    assert log
    assert [secret for secret in secrets if secret in log] == []


def test_a_name_cannot_forge_a_line(client: TestClient, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """OAUTH-50"""
    clock.advance(61)
    Program(client, name="x\n2026-11-28 INFO Connected: Claude\x1b[31m").register()

    assert "\n" not in lines(caplog)[-1]
    assert "\x1b" not in lines(caplog)[-1]
