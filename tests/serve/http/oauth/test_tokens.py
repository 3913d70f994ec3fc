"""Codes and tokens: redeemed, rotated, revoked, replayed (specs/remote.md OAUTH-30 to OAUTH-34)."""

from __future__ import annotations

import base64
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from obsidian_mcp import compose
from obsidian_mcp.adapters.grant_store import GrantStore
from obsidian_mcp.app import App
from obsidian_mcp.core.grants.grant import Grant
from obsidian_mcp.serve.http.access.oauth.issuer import Caller, Issued, Issuer, Lives
from obsidian_mcp.serve.http.access.oauth.oauth_error import OAuthError
from tests.serve.http.oauth.conftest import Clock
from tests.serve.http.oauth.flow import PUBLIC, RESOURCE, Browser, Program, answer_of, call, proof_of, signing_in

BOTH = "vault:read vault:write"


@pytest.fixture
def code(program: Program) -> str:
    return answer_of(Browser(program.client).allow(program.request(), access="write"))["code"]


@pytest.fixture
def tokens(program: Program, code: str) -> dict[str, Any]:
    return dict(program.redeem(code).json())


def error_of(answer: Any) -> tuple[int, str]:
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["access-control-allow-origin"] == "*"
    return answer.status_code, answer.json()["error"]


def is_open(client: Any, tokens: dict[str, Any]) -> bool:
    return bool(call(client, tokens["access_token"]).status_code == 200)


def test_the_answer_says_what_was_granted_and_for_how_long(tokens: dict[str, Any]) -> None:
    """OAUTH-30"""
    access, refresh = tokens.pop("access_token"), tokens.pop("refresh_token")

    assert tokens == {"token_type": "Bearer", "expires_in": 28_800, "scope": BOTH}
    assert access.startswith("oma_")
    assert refresh.startswith("omr_")
    assert len(base64.urlsafe_b64decode(access[4:] + "=")) == 32


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"code": None}, (400, "invalid_request")),
        ({"code": "omc_guessed"}, (400, "invalid_grant")),
        ({"redirect_uri": None}, (400, "invalid_request")),
        ({"redirect_uri": "https://app.example/other"}, (400, "invalid_grant")),
        ({"redirect_uri": "https://app.example/callback/"}, (400, "invalid_grant")),
        ({"code_verifier": None}, (400, "invalid_request")),
        ({"code_verifier": "w" * 43}, (400, "invalid_grant")),
        ({"code_verifier": "short"}, (400, "invalid_grant")),
        ({"code_verifier": "é" * 43}, (400, "invalid_grant")),
        ({"resource": "https://other.example/mcp"}, (400, "invalid_target")),
        ({"client_id": None}, (401, "invalid_client")),
        ({"client_id": "omid_unknown"}, (401, "invalid_client")),
        ({"client_id": "https://unknown.example/client.json"}, (401, "invalid_client")),
        ({"grant_type": None}, (400, "invalid_request")),
        ({"grant_type": "password"}, (400, "unsupported_grant_type")),
        ({"grant_type": "client_credentials"}, (400, "unsupported_grant_type")),
    ],
)
def test_what_does_not_fit_the_code_is_refused_and_the_code_stays_good(
    program: Program, code: str, changes: dict[str, str | None], expected: tuple[int, str]
) -> None:
    """OAUTH-12, OAUTH-31, OAUTH-32"""
    assert error_of(program.redeem(code, **changes)) == expected

    assert program.redeem(code).status_code == 200


def test_the_challenge_itself_is_no_verifier(program: Program, code: str) -> None:
    """OAUTH-32"""
    assert error_of(program.redeem(code, code_verifier=program.challenge)) == (400, "invalid_grant")


def test_a_code_of_another_program_is_refused(program: Program, code: str, client: TestClient) -> None:
    """OAUTH-32"""
    other = Program(client, verifier=program.verifier)
    other.register()

    assert error_of(other.redeem(code)) == (400, "invalid_grant")
    assert program.redeem(code).status_code == 200


def test_a_code_is_good_for_two_minutes(program: Program, code: str, clock: Clock) -> None:
    """OAUTH-32"""
    clock.advance(121)

    assert error_of(program.redeem(code)) == (400, "invalid_grant")


def test_a_code_that_comes_again_ends_the_connection(program: Program, code: str) -> None:
    """OAUTH-32"""
    tokens = program.redeem(code).json()
    assert is_open(program.client, tokens)

    assert error_of(program.redeem(code)) == (400, "invalid_grant")

    assert not is_open(program.client, tokens)
    assert error_of(program.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


@pytest.mark.parametrize("changes", [{"resource": None}, {"resource": PUBLIC}, {"resource": f"{RESOURCE}/?2"}])
def test_a_code_is_redeemed_however_the_resource_is_written(
    program: Program, code: str, changes: dict[str, str | None]
) -> None:
    """OAUTH-12, OAUTH-32"""
    assert program.redeem(code, **changes).status_code == 200


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=x", ""])
@pytest.mark.parametrize("path", ["/token", "/revoke"])
def test_what_is_no_form_is_refused(client: TestClient, path: str, kind: str) -> None:
    """OAUTH-30"""
    answer = client.post(path, content=b'{"grant_type":"refresh_token"}', headers={"content-type": kind})

    assert error_of(answer) == (400, "invalid_request")


def test_a_field_that_comes_twice_is_refused(program: Program, code: str) -> None:
    """OAUTH-30"""
    body = f"grant_type=authorization_code&code={code}&code={code}&client_id={program.client_id}"
    answer = program.client.post(
        "/token", content=body, headers={"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
    )

    assert error_of(answer) == (400, "invalid_request")


# --- programs with a secret


@pytest.fixture
def secretive(client: TestClient, clock: Clock) -> Program:
    clock.advance(61)
    program = Program(client)
    program.register(token_endpoint_auth_method="client_secret_post")
    return program


def basic(client_id: str, secret: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode()}


def test_a_secret_is_taken_in_the_form_and_as_basic(secretive: Program, client: TestClient) -> None:
    """OAUTH-31: whichever way was registered"""
    tokens = secretive_tokens(secretive)
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}

    answer = client.post("/token", data=form, headers=basic(secretive.client_id, secretive.secret))

    assert answer.status_code == 200


def secretive_tokens(program: Program) -> dict[str, Any]:
    code = answer_of(Browser(program.client).allow(program.request()))["code"]
    answer = program.redeem(code, client_secret=program.secret)
    assert answer.status_code == 200
    return dict(answer.json())


def test_without_the_secret_nothing_is_redeemed_refreshed_or_revoked(secretive: Program, client: TestClient) -> None:
    """OAUTH-31"""
    code = answer_of(Browser(client).allow(secretive.request()))["code"]
    for changes in ({}, {"client_secret": "wrong"}, {"client_secret": ""}):
        assert error_of(secretive.redeem(code, **changes)) == (401, "invalid_client")
    tokens = secretive.redeem(code, client_secret=secretive.secret).json()
    assert error_of(secretive.refresh(tokens["refresh_token"])) == (401, "invalid_client")
    form = {"token": tokens["access_token"], "client_id": secretive.client_id}
    assert error_of(client.post("/revoke", data=form)) == (401, "invalid_client")

    assert is_open(client, tokens)


@pytest.mark.parametrize("header", ["Basic !!", "Basic", "Bearer x", "Basic " + base64.b64encode(b"\xff:x").decode()])
def test_what_is_no_basic_is_refused_with_a_challenge(secretive: Program, header: str) -> None:
    """OAUTH-31"""
    answer = secretive.client.post("/token", data={"grant_type": "x"}, headers={"authorization": header})

    assert error_of(answer) == (401, "invalid_client")
    assert answer.headers["www-authenticate"].startswith("Basic ")


def test_two_ways_at_once_are_refused(secretive: Program) -> None:
    """OAUTH-31"""
    headers = basic(secretive.client_id, secretive.secret)
    for form in ({"client_secret": secretive.secret}, {"client_id": "another"}):
        answer = secretive.client.post("/token", data={"grant_type": "refresh_token", **form}, headers=headers)
        assert error_of(answer) == (400, "invalid_request")


# --- refreshing


def test_a_refresh_gives_a_new_pair_without_naming_the_resource(program: Program, tokens: dict[str, Any]) -> None:
    """OAUTH-33"""
    again = program.refresh(tokens["refresh_token"]).json()

    assert again["access_token"] != tokens["access_token"]
    assert again["refresh_token"] != tokens["refresh_token"]
    assert again["scope"] == BOTH
    assert is_open(program.client, again)
    assert is_open(program.client, tokens)


@pytest.mark.parametrize("resource", [RESOURCE, f"{RESOURCE}/", PUBLIC, f"{PUBLIC}/", f"{RESOURCE}?2"])
def test_a_refresh_takes_each_spelling_of_the_address(program: Program, tokens: dict[str, Any], resource: str) -> None:
    """OAUTH-12, OAUTH-33"""
    assert program.refresh(tokens["refresh_token"], resource=resource).status_code == 200


@pytest.mark.parametrize(
    ("scope", "granted"),
    [("", BOTH), ("offline_access", BOTH), ("vault:read", "vault:read"), (BOTH, BOTH), ("vault:write", BOTH)],
)
def test_a_refresh_may_ask_for_less(program: Program, tokens: dict[str, Any], scope: str, granted: str) -> None:
    """OAUTH-33: the next one may have all again"""
    narrowed = program.refresh(tokens["refresh_token"], scope=scope).json()

    assert narrowed["scope"] == granted
    assert program.refresh(narrowed["refresh_token"]).json()["scope"] == BOTH


def test_a_refresh_never_widens(program: Program) -> None:
    """OAUTH-33"""
    tokens = program.connect(access="read")

    assert error_of(program.refresh(tokens["refresh_token"], scope=BOTH)) == (400, "invalid_scope")
    assert error_of(program.refresh(tokens["refresh_token"], scope="admin")) == (400, "invalid_scope")
    assert program.refresh(tokens["refresh_token"]).json()["scope"] == "vault:read"


@pytest.mark.parametrize("changes", [{"refresh_token": None}, {"refresh_token": "omr_guessed"}])
def test_what_is_no_refresh_token_is_refused(program: Program, changes: dict[str, str | None]) -> None:
    """OAUTH-33"""
    assert program.refresh("x", **changes).status_code == 400


def test_an_access_token_or_code_refreshes_nothing(program: Program, code: str) -> None:
    """OAUTH-33, OAUTH-37"""
    assert error_of(program.refresh(code)) == (400, "invalid_grant")
    tokens = program.redeem(code).json()

    assert error_of(program.refresh(tokens["access_token"])) == (400, "invalid_grant")


def test_within_the_grace_a_spent_token_gives_further_pairs(
    program: Program, tokens: dict[str, Any], clock: Clock
) -> None:
    """OAUTH-33: hosts refresh from several machines at once, and lose answers"""
    pairs = [program.refresh(tokens["refresh_token"]).json() for _ in range(3)]
    clock.advance(115)
    pairs.append(program.refresh(tokens["refresh_token"]).json())

    assert all(is_open(program.client, pair) for pair in pairs)
    assert all(program.refresh(pair["refresh_token"]).status_code == 200 for pair in pairs)


@pytest.mark.parametrize("by_another", [False, True])
def test_after_the_grace_a_spent_token_ends_the_connection(
    program: Program, tokens: dict[str, Any], clock: Clock, by_another: bool
) -> None:
    """OAUTH-33: whichever program sends it"""
    pair = program.refresh(tokens["refresh_token"]).json()
    sender = program
    if by_another:
        sender = Program(program.client)
        sender.register()
    clock.advance(121)
    assert is_open(program.client, pair)

    assert error_of(sender.refresh(tokens["refresh_token"])) == (400, "invalid_grant")

    assert not is_open(program.client, pair)
    assert error_of(program.refresh(pair["refresh_token"])) == (400, "invalid_grant")


def test_a_refresh_token_of_another_program_is_refused_and_stays_good(
    program: Program, tokens: dict[str, Any], client: TestClient
) -> None:
    """OAUTH-33"""
    other = Program(client)
    other.register()

    assert error_of(other.refresh(tokens["refresh_token"])) == (400, "invalid_grant")
    assert program.refresh(tokens["refresh_token"]).status_code == 200


def test_an_access_token_is_good_for_eight_hours_and_a_refresh_token_for_sixty_days(
    program: Program, tokens: dict[str, Any], clock: Clock
) -> None:
    """OAUTH-30: from its last use"""
    clock.advance(28_700)
    assert is_open(program.client, tokens)
    clock.advance(101)
    assert not is_open(program.client, tokens)

    clock.advance(59 * 86_400)
    tokens = program.refresh(tokens["refresh_token"]).json()
    clock.advance(59 * 86_400)
    tokens = program.refresh(tokens["refresh_token"]).json()
    clock.advance(60 * 86_400)
    assert error_of(program.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


# --- revoking


@pytest.mark.parametrize("kind", ["access_token", "refresh_token"])
def test_any_token_ends_the_connection_when_it_is_revoked(program: Program, tokens: dict[str, Any], kind: str) -> None:
    """OAUTH-34: with client_id alone"""
    form = {"token": tokens[kind], "client_id": program.client_id, "token_type_hint": "nonsense"}

    assert program.client.post("/revoke", data=form).status_code == 200

    assert not is_open(program.client, tokens)
    assert error_of(program.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


def test_what_is_unknown_or_of_another_program_is_revoked_without_effect(
    program: Program, tokens: dict[str, Any], client: TestClient
) -> None:
    """OAUTH-34"""
    other = Program(client)
    other.register()
    for token in (tokens["access_token"], "oma_guessed"):
        assert client.post("/revoke", data={"token": token, "client_id": other.client_id}).status_code == 200
    assert is_open(client, tokens)
    assert error_of(client.post("/revoke", data={"client_id": program.client_id})) == (400, "invalid_request")
    assert error_of(client.post("/revoke", data={"token": "x"})) == (401, "invalid_client")


def test_a_program_signs_in_anew_under_the_id_of_a_connection_that_has_ended(
    program: Program, tokens: dict[str, Any], clock: Clock, shared_app: App
) -> None:
    """STORE-03: hosts keep it"""
    program.client.post("/revoke", data={"token": tokens["access_token"], "client_id": program.client_id})
    clock.advance(40 * 86_400)
    way_in = compose.sign_in(_with_sign_in(shared_app), print)
    way_in.tidy()
    way_in.close()

    assert is_open(program.client, program.connect())


def _with_sign_in(app: App) -> App:
    http = app.config.http.replace(oauth=True, public_url=PUBLIC)
    return app.replace(config=app.config.replace(http=http))


# --- several at once, and restarts


def test_of_many_that_redeem_one_code_at_once_one_gets_tokens(app: App) -> None:
    """OAUTH-32: also of several processes, which have a file each"""
    verifier = "v" * 43
    stores = [compose.grant_store(app.config) for _ in range(4)]
    begin = threading.Barrier(len(stores))
    grant = Grant("g", "app", "App", "h", "c", RESOURCE, "/v", "", True, created=0, used=0)
    code = Issuer(stores[0], Lives(), lambda: 0.0).issue_code(grant, "r", proof_of(verifier), "vault:read")

    def redeem(store: GrantStore) -> Issued | str:
        begin.wait(30)
        try:
            return Issuer(store, Lives(), lambda: 1.0).redeem(Caller("c"), code, "r", verifier)
        except OAuthError as error:
            return error.error

    with ThreadPoolExecutor(len(stores)) as pool:
        results = list(pool.map(redeem, stores))
    assert sorted(type(result) is Issued for result in results) == [False, False, False, True]
    for store in stores:
        store.close()


def test_a_connection_survives_a_restart(app: App) -> None:
    """STORE-01"""
    with signing_in(app) as client:
        program = Program(client)
        tokens = program.connect()
    with signing_in(app) as client:
        program.client = client
        assert is_open(client, tokens)
        assert is_open(client, program.refresh(tokens["refresh_token"]).json())
