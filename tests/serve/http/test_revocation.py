"""A running server has the keys of the policy file as it is now (specs/http.md DOOR-13)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from obsidian_mcp.app import App
from obsidian_mcp.core.files.policy_file import PolicyFile
from obsidian_mcp.errors import PolicyInvalid
from obsidian_mcp.serve.http.access.key_ring import KeyRing
from obsidian_mcp.serve.http.access.keys import read_keys
from obsidian_mcp.serve.http.request import HttpRequest
from tests.conftest import app_on
from tests.serve import plain_http
from tests.serve.http.test_keys import DIALECTS, LAPTOP, OLD, PHONE, POLICY, READER, vault_in
from tests.serve.http_client import http_client
from tests.serve.mcp_session import McpSession
from tests.serve.serving import serving

NEW = "a key that nobody had before"
WITHOUT_PHONE = re.sub(r"\[keys\.phone\]\n.*?(?=^\[)", "", POLICY, flags=re.DOTALL | re.MULTILINE)
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return vault_in(tmp_path)


@pytest.fixture
def file(root: Path) -> Path:
    return root.parent / "policy.toml"


@pytest.fixture
def app(root: Path) -> Iterator[App]:
    opened = app_on(root)
    yield opened
    opened.vaults.close()


@pytest.fixture
def client(app: App) -> Iterator[TestClient]:
    with http_client(app) as client:
        yield client


def status(client: TestClient, key: str) -> int:
    return client.post("/mcp", json=LIST, headers={"x-api-key": key}).status_code


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_key_that_is_removed_from_the_file_opens_nothing_any_more(
    client: TestClient, file: Path, dialect: Any
) -> None:
    """DOOR-13"""
    assert "Alpha" in dialect(client, "obsidian_search", {"query": "heron"}, PHONE)
    file.write_text(WITHOUT_PHONE, encoding="utf-8")

    refused = dialect(client, "obsidian_search", {"query": "heron"}, PHONE)
    assert re.search("Unauthorized|AUTH_REQUIRED|invalid or missing MCP API key", refused), refused
    assert "Alpha" in dialect(client, "obsidian_search", {"query": "heron"}, LAPTOP)


def test_a_key_that_is_added_to_the_file_opens_at_once(client: TestClient, file: Path) -> None:
    """DOOR-13"""
    assert status(client, NEW) == 401
    file.write_text(f'{POLICY}\n[keys.new]\nkey = "{NEW}"\n', encoding="utf-8")
    assert status(client, NEW) == 200


def test_limits_that_are_added_to_a_key_hold_at_once(client: TestClient, file: Path) -> None:
    """DOOR-13, POL-14"""

    def offered() -> set[str]:
        answer = client.post("/mcp", json=LIST, headers={"x-api-key": LAPTOP})
        return {tool["name"] for tool in answer.json()["result"]["tools"]}

    assert "obsidian_create_note" in offered()
    file.write_text(POLICY.replace("[keys.laptop]", "[keys.laptop]\nread_only = true"), encoding="utf-8")
    assert "obsidian_create_note" not in offered()
    assert "obsidian_search" in offered()


def test_a_server_whose_last_key_is_removed_goes_on_asking_for_one(client: TestClient, file: Path) -> None:
    """DOOR-13"""
    file.unlink()
    assert {status(client, key) for key in (PHONE, "")} == {401}


def test_a_server_without_keys_asks_for_one_once_there_is_one(app: App, file: Path) -> None:
    """DOOR-13"""
    file.unlink()
    with http_client(app) as client:
        assert status(client, "") == 200
        file.write_text(POLICY, encoding="utf-8")
        assert (status(client, ""), status(client, PHONE)) == (401, 200)
        preflight = client.options("/bridge/v1/tools")
        assert "X-Api-Key" in preflight.headers["access-control-allow-headers"]


def test_a_mistake_in_the_file_leaves_the_keys_as_they_were_and_is_logged(
    client: TestClient, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """DOOR-13, POL-05"""
    with caplog.at_level(logging.WARNING):
        file.write_text(f'{WITHOUT_PHONE}\n[keys.new]\nkey = "{NEW}"\ntools = "fly"\n', encoding="utf-8")
        assert [status(client, key) for key in (PHONE, LAPTOP, NEW)] == [200, 200, 401]
        file.write_text("[keys", encoding="utf-8")
        assert status(client, PHONE) == 200
    assert [record for record in caplog.messages if "no tool obsidian_fly" in record]
    assert [record for record in caplog.messages if "not valid TOML" in record]
    file.write_text(WITHOUT_PHONE, encoding="utf-8")
    assert [status(client, key) for key in (PHONE, LAPTOP)] == [401, 200]


def test_a_key_of_the_environment_that_gets_a_name_meanwhile_has_the_limits_of_the_name(app: App, file: Path) -> None:
    """DOOR-10, DOOR-13"""
    with http_client(app, keys=(OLD,)) as client:
        assert "create_note" in client.post("/mcp", json=LIST, headers={"x-api-key": OLD}).text
        file.write_text(f'{POLICY}\n[keys.old]\nkey = "{OLD}"\nread_only = true\n', encoding="utf-8")
        assert "create_note" not in client.post("/mcp", json=LIST, headers={"x-api-key": OLD}).text


def test_a_key_opens_nothing_from_its_end_on() -> None:
    """KEYS-01"""
    now = [datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp()]
    ends = {"day": "2026-11-28", "time": "2026-11-28T18:00:00Z", "never": ""}
    text = "".join(
        f'[keys.{name}]\nkey = "{name * 6}"\n' + (f"expires = {end}\n" if end else "") for name, end in ends.items()
    )
    keys = read_keys(PolicyFile(text))
    # a key without a name that gets one meanwhile
    ring = KeyRing(["never" * 6], lambda: keys[: len(keys) - 1], lambda: None, now=lambda: now[0])
    requests = {name: HttpRequest("POST", (), {"x-api-key": name * 6}) for name in ends}

    principals = {name: ring.find(request) for name, request in requests.items()}
    assert [principal.name for principal in principals.values() if principal] == ["day", "time", ""]
    now[0] += 6 * 3600
    assert ring.find(requests["time"]) is None
    assert not ring.is_current(keys[1].principal)
    assert ring.is_current(keys[0].principal)
    now[0] += 30 * 3600
    assert [ring.find(request) for request in requests.values()] == [None, None, principals["never"]]


def test_a_key_that_has_expired_is_not_made_good_by_the_same_key_without_a_name(app: App, file: Path) -> None:
    """KEYS-01, DOOR-10"""
    with http_client(app, keys=(OLD,)) as client:
        assert status(client, OLD) == 200
        file.write_text(f'[keys.old]\nkey = "{OLD}"\nexpires = 2020-01-01\n', encoding="utf-8")
        assert status(client, OLD) == 401


@pytest.mark.parametrize("end", ['"soon"', "3", "true", "12:00:00"])
def test_an_end_that_is_no_day_is_a_mistake(end: str) -> None:
    """KEYS-01, POL-05"""
    with pytest.raises(PolicyInvalid, match="line 3: expires must be a day such as 2027-01-31"):
        read_keys(PolicyFile(f'[keys.a]\nkey = "{OLD}"\nexpires = {end}\n'))


# --- open streams


def stream(url: str, session: McpSession) -> Any:
    headers = {**session.headers, "accept": "text/event-stream"}
    return httpx.stream("GET", f"{url}/mcp", headers=headers, timeout=20)


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        (WITHOUT_PHONE, True),
        (POLICY.replace(PHONE, NEW), True),
        (POLICY.replace('scope = "Projects"', 'scope = "Other"', 1), True),
        (f"# only a remark\n{POLICY}", False),
    ],
    ids=["removed", "with another key", "with other limits", "as it was"],
)
def test_the_open_streams_of_a_key_end_when_it_is_not_what_it_was(
    app: App, file: Path, change: str, *, ends: bool
) -> None:
    """DOOR-13"""
    with serving(app) as url:
        phone, laptop = McpSession(url, key=PHONE), McpSession(url, key=LAPTOP)
        with stream(url, laptop) as of_laptop, stream(url, phone) as of_phone:
            assert (of_phone.status_code, of_laptop.status_code) == (200, 200)
            file.write_text(change, encoding="utf-8")
            if ends:
                for _ in of_phone.iter_raw():
                    pass  # until its end: httpx raises where it is cut, or stays open for 20 s
                answer = plain_http.post(f"{url}/mcp", json=LIST, headers=phone.headers)
                assert answer.status_code == (404 if PHONE in change else 401)
            else:
                assert phone.request("ping") == {}
            assert laptop.request("ping") == {}
        phone.close()
        laptop.close()


@pytest.mark.parametrize("is_bridge_open", [False, True])
def test_the_streams_of_clients_without_a_key_end_once_there_is_one(
    app: App, file: Path, *, is_bridge_open: bool
) -> None:
    """DOOR-09, DOOR-13"""
    file.unlink()
    with serving(app, open_bridge=is_bridge_open) as url:
        nobody = McpSession(url)
        with stream(url, nobody) as standing:
            file.write_text(POLICY, encoding="utf-8")
            for _ in standing.iter_raw():
                pass  # until its end
        assert plain_http.post(f"{url}/mcp", json=LIST, headers=nobody.headers).status_code == 401
        bridge = plain_http.get(f"{url}/bridge/v1/tools")
        assert bridge.status_code == (200 if is_bridge_open else 401)
        nobody.close()


def test_a_subscription_of_a_removed_key_ends_with_its_result(app: App, file: Path) -> None:
    """DOOR-13, END-06"""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"notifications": {"resourcesListChanged": True}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": params}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
        "x-api-key": READER,
    }
    with serving(app) as url, httpx.stream("POST", f"{url}/mcp", json=message, headers=headers, timeout=20) as answer:
        lines = (line for line in answer.iter_lines() if line.startswith("data: "))
        assert "acknowledged" in next(lines)
        file.write_text(POLICY.replace(READER, NEW), encoding="utf-8")
        assert '"result"' in list(lines)[-1]
