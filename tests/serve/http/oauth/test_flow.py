"""From the first refusal to a call with a token (specs/remote.md OAUTH)."""

from __future__ import annotations

import json

import pytest
from starlette.testclient import TestClient

from tests.serve.http.oauth.flow import (
    LIST_TOOLS,
    PUBLIC,
    RESOURCE,
    Browser,
    Program,
    answer_of,
    call,
    read_form,
    tool_names,
)

BOTH = "vault:read vault:write"


def test_a_program_finds_all_that_it_needs_in_what_it_was_told_before(client: TestClient) -> None:
    """OAUTH-10, OAUTH-11, OAUTH-16, OAUTH-30"""
    refused = client.post("/mcp", json=LIST_TOOLS)
    assert refused.status_code == 401
    metadata = f"{PUBLIC}/.well-known/oauth-protected-resource/mcp"
    assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{metadata}", scope="{BOTH}"'

    about = client.get(metadata.removeprefix(PUBLIC)).json()
    assert about["resource"] == RESOURCE
    issuer = about["authorization_servers"][0].removeprefix(PUBLIC)
    server = client.get(f"{issuer}/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == PUBLIC

    program = Program(client)
    form = {"redirect_uris": [program.redirect], "token_endpoint_auth_method": "none"}
    registered = client.post(server["registration_endpoint"].removeprefix(PUBLIC), json=form)
    program.client_id = registered.json()["client_id"]
    address = program.request()
    assert address.partition("?")[0] == server["authorization_endpoint"]
    answer = answer_of(Browser(client).allow(address))
    assert set(answer) == {"code", "state", "iss"}
    assert (answer["state"], answer["iss"]) == ("st&te", PUBLIC)

    tokens = program.redeem(answer["code"])
    assert tokens.headers["cache-control"] == "no-store"
    assert tokens.json()["token_type"] == "Bearer"
    assert tokens.json()["scope"] == "vault:read"
    assert call(client, tokens.json()["access_token"]).status_code == 200


def test_read_only_is_chosen_unless_the_owner_chooses_otherwise(program: Program, browser: Browser) -> None:
    """OAUTH-23"""
    form = read_form(browser.sign_in(program.request()))

    assert form.fields["access"] == "read"
    assert form.choices["access"] == ["read", "write"]


@pytest.mark.parametrize(("access", "writes"), [("read", False), ("write", True)])
def test_a_token_opens_the_tools_that_the_owner_allowed(program: Program, access: str, writes: bool) -> None:
    """OAUTH-23, OAUTH-37"""
    tokens = program.connect(access=access)

    assert tokens["scope"] == (BOTH if writes else "vault:read")
    assert ("obsidian_create_note" in tool_names(program.client, tokens["access_token"])) == writes


def test_a_program_that_asked_for_reading_cannot_be_given_writing(program: Program, browser: Browser) -> None:
    """OAUTH-14"""
    consent = browser.sign_in(program.request(scope="vault:read"))
    assert read_form(consent).choices["access"] == ["read"]

    answer = browser.send(consent, {"answer": "allow", "access": "write"})

    assert program.redeem(answer_of(answer)["code"]).json()["scope"] == "vault:read"


def test_a_program_with_a_query_behind_the_address_connects_and_calls(program: Program) -> None:
    """OAUTH-12: people add one so that their app asks for the list of tools anew"""
    address = f"{RESOURCE}?2"
    assert program.client.get("/.well-known/oauth-protected-resource/mcp?2").json()["resource"] == RESOURCE
    code = answer_of(Browser(program.client).allow(program.request(resource=address)))["code"]
    tokens = program.redeem(code, resource=address).json()

    assert call(program.client, tokens["access_token"], path="/mcp?2").status_code == 200
    again = program.refresh(tokens["refresh_token"], resource=address).json()
    assert call(program.client, again["access_token"], path="/mcp?3").status_code == 200


def test_a_grant_of_a_folder_opens_the_folder(program: Program, browser: Browser) -> None:
    """OAUTH-23, OAUTH-37"""
    consent = browser.sign_in(program.request())
    folders = read_form(consent).options["place"]
    assert folders[0] == "basic/"
    folder = next(value for value in folders if value.endswith("/Projects"))

    code = answer_of(browser.send(consent, {"answer": "allow", "place": folder}))["code"]
    token = program.redeem(code).json()["access_token"]

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "obsidian_list_files"}}
    listed = call(program.client, token, message).json()["result"]["content"][0]["text"]
    assert json.loads(listed)["data"]["folders"] == ["Projects"]


def test_a_folder_that_is_not_there_is_not_widened_to_the_vault(program: Program, browser: Browser) -> None:
    """OAUTH-23"""
    consent = browser.sign_in(program.request())

    again = browser.send(consent, {"answer": "allow", "place": "basic/Nowhere"})

    assert again.status_code == 200
    assert "not there" in again.text
    assert browser.send(again, {"answer": "allow"}).status_code == 303


def test_who_says_no_sends_the_program_away(program: Program, browser: Browser) -> None:
    """OAUTH-16"""
    for page in (browser.open(program.request()), browser.sign_in(program.request())):
        answer = answer_of(browser.send(page, {"answer": "deny"}))

        assert answer.pop("error_description")
        assert answer == {"error": "access_denied", "state": "st&te", "iss": PUBLIC}


def test_what_a_redirect_has_of_its_own_stays_and_no_state_comes_of_none(client: TestClient) -> None:
    """OAUTH-16"""
    program = Program(client, redirect="https://app.example/cb?tenant=a%20b")
    program.register()

    location = Browser(client).allow(program.request(state=None)).headers["location"]

    assert location.startswith("https://app.example/cb?tenant=a%20b&code=omc_")
    assert "state" not in location


def test_two_clicks_are_one_answer(program: Program, browser: Browser) -> None:
    """OAUTH-25"""
    consent = browser.sign_in(program.request())
    cookies = dict(browser.cookies)
    first = browser.send(consent, {"answer": "allow"})
    browser.cookies = cookies

    second = browser.send(consent, {"answer": "allow", "access": "write"})

    assert second.headers["location"] == first.headers["location"]
