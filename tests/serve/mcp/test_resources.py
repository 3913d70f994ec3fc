"""Resources as clients see them (specs/resources.md)."""

from __future__ import annotations

import base64
import json
import queue
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from obsidian_mcp.app import App
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.serve.mcp.subscriptions import WatchedResources
from tests.conftest import DeletingVaults, VaultCopy
from tests.serve.raw import MODERN, Message, RawServer, notification, request
from tests.system import can

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
ROOT = "obsidian://vault/basic/"
STATIC = {"obsidian://overview", "obsidian://recent", "obsidian://today"}


def started(vault: Path, **environment: str) -> RawServer:
    own = {
        "OBSIDIAN_MCP_CACHE": str(vault.parent / "cache"),
        "OBSIDIAN_MCP_STATE": str(vault.parent / "state"),
        "OBSIDIAN_MCP_POLICY": str(vault.parent / "policy.toml"),
    }
    return RawServer([sys.executable, "-m", "obsidian_mcp", "--vault", str(vault)], env={**own, **environment})


@pytest.fixture
def server(basic: Path) -> Iterator[RawServer]:
    with started(basic) as running:
        running.initialize()
        yield running
        assert running.close() == 0


def read(server: RawServer, uri: str) -> dict[str, Any]:
    (content,) = server.call("resources/read", {"uri": uri})["result"]["contents"]
    assert content["uri"] == uri
    return dict(content)


def failure(server: RawServer, method: str, **params: Any) -> tuple[int, str]:
    error = server.call(method, params)["error"]
    return error["code"], error["data"]["errorCode"]


def every_resource(server: RawServer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    params: dict[str, Any] = {}
    while True:
        page = server.call("resources/list", params)["result"]
        found += page["resources"]
        if "nextCursor" not in page:
            return found
        params = {"cursor": page["nextCursor"]}


def test_every_file_is_listed_once_over_all_pages_and_can_be_read(basic: Path) -> None:
    """RES-02, RES-03"""
    for number in range(450):
        (basic / f"n{number}.md").write_text(f"note {number}", encoding="utf-8")
    with started(basic) as server:
        server.initialize()
        found = every_resource(server)
        files = {path.relative_to(basic).as_posix() for path in basic.rglob("*.*") if "/." not in path.as_posix()}

        assert {entry["uri"] for entry in found[:3]} == STATIC
        assert sorted(entry["name"] for entry in found[3:]) == sorted(
            file for file in files if not file.startswith(".")
        )
        assert len({entry["uri"] for entry in found}) == len(found)
        assert read(server, next(entry["uri"] for entry in found if entry["name"] == "n7.md"))["text"] == "note 7"
        assert server.close() == 0


@pytest.mark.parametrize("cursor", ["nonsense", "QQ", "////", "Zm9v\n"])
def test_a_cursor_that_was_never_given_out_is_refused(still: RawServer, cursor: str) -> None:
    """RES-03"""
    assert failure(still, "resources/list", cursor=cursor) == (-32602, "INVALID_ARGUMENTS")
    for method in ("resources/templates/list", "prompts/list", "tools/list"):
        assert failure(still, method, cursor=cursor) == (-32602, "INVALID_ARGUMENTS")


NAMES = [
    "時計 メモ.md",
    "a b.md",
    "a#b.md",
    "a?b=c&d.md",
    "100%.md",
    "a%20b.md",
    "quo'te\"s.md",
    "plus+plus.md",
    "Folder with space/ünïcödé 🦊.md",
    "[brackets]{braces}.md",
    " leading and trailing .md",
]
HELD = [name for name in NAMES if can("names with a question mark") or not {"?", '"'} & set(name)]
"""Those that this disk can hold."""


def test_a_file_of_any_name_is_reached_however_its_uri_is_written(basic: Path) -> None:
    """RES-01: Clients expand `{+path}` in different ways: slashes kept, everything encoded, nothing encoded."""
    for name in HELD:
        (basic / name).parent.mkdir(exist_ok=True)
        (basic / name).write_text(f"This is {name}.", encoding="utf-8")
    with started(basic) as server:
        server.initialize()
        listed = {entry["name"]: entry["uri"] for entry in every_resource(server)}
        for name in HELD:
            assert listed[name].isascii()
            for uri in (listed[name], ROOT + quote(name), ROOT + quote(name, safe=""), ROOT + name):
                expected = "a b.md" if uri == ROOT + "a%20b.md" else name  # such a URI is what it says
                assert read(server, uri)["text"] == f"This is {expected}."
        (basic / "a b.md").unlink()
        assert read(server, ROOT + "a%20b.md")["text"] == "This is a%20b.md."


def test_a_note_is_reached_without_its_ending_as_in_the_app(basic: Path) -> None:
    """RES-01, RES-08"""
    for name in ("Folder/A note.md", "Plan", "Plan.md"):
        (basic / name).parent.mkdir(exist_ok=True)
        (basic / name).write_text(f"This is {name}.", encoding="utf-8")
    with started(basic) as server:
        server.initialize()
        assert read(server, ROOT + "Folder/A%20note")["text"] == "This is Folder/A note.md."
        assert read(server, ROOT + "Folder%2FA note/")["text"] == "This is Folder/A note.md."
        assert read(server, ROOT + "Plan")["text"] == "This is Plan."
        assert failure(server, "resources/read", uri=ROOT + "Folder") == (-32003, "FILE_NOT_FOUND")
        assert failure(server, "resources/read", uri=ROOT + "Missing/") == (-32003, "FILE_NOT_FOUND")

        server.call("resources/subscribe", {"uri": ROOT + "Folder/A%20note"})
        (basic / "Folder/A note.md").write_text("changed", encoding="utf-8")
        until(server, UPDATED, uri=ROOT + "Folder/A%20note")


def test_a_file_that_decomposes_its_letters_on_disk_is_reached(basic: Path) -> None:
    (basic / "Cafe\u0301.md").write_text("nfd", encoding="utf-8")
    with started(basic) as server:
        server.initialize()

        assert read(server, ROOT + quote("Café.md"))["text"] == "nfd"
        assert read(server, ROOT + quote("Cafe\u0301.md"))["text"] == "nfd"


def test_text_comes_as_text_and_everything_else_as_a_blob(server: RawServer, basic: Path) -> None:
    """RES-04"""
    (basic / "pixel.png").write_bytes(PIXEL)
    (basic / "paper.pdf").write_bytes(b"%PDF-1.4 not much of one")
    (basic / "noise").write_bytes(b"\xff\x00\x01")
    (basic / "LICENSE").write_bytes(b"free")

    for name, mime, data in [("pixel.png", "image/png", PIXEL), ("noise", "application/octet-stream", b"\xff\x00\x01")]:
        content = read(server, ROOT + name)
        assert (content["mimeType"], base64.b64decode(content["blob"])) == (mime, data)
        assert "text" not in content
    assert read(server, ROOT + "paper.pdf")["mimeType"] == "application/pdf"
    assert read(server, ROOT + "Board.canvas")["mimeType"] == "application/json"
    assert read(server, ROOT + "LICENSE")["mimeType"] == "text/plain"
    assert read(server, ROOT + "Attachments/wheel.svg")["text"].startswith("<svg")
    assert read(server, ROOT + "Home.md")["text"] == (basic / "Home.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("uri", "code", "word"),
    [
        (ROOT + "No such note.md", -32003, "FILE_NOT_FOUND"),
        ("obsidian://vault/elsewhere/Home.md", -32002, "VAULT_NOT_FOUND"),
        (ROOT + "../secret.md", -32005, "PERMISSION_DENIED"),
        (ROOT + "%2e%2e%2fsecret.md", -32005, "PERMISSION_DENIED"),
        (ROOT + ".obsidian/app.json", -32005, "PERMISSION_DENIED"),
        (ROOT + "%2Fetc%2Fpasswd", -32005, "PERMISSION_DENIED"),
        ("file:///etc/passwd", -32602, "INVALID_ARGUMENTS"),
        ("test://nothing", -32602, "INVALID_ARGUMENTS"),
        ("", -32602, "INVALID_ARGUMENTS"),
        ("obsidian://vault/basic", -32602, "INVALID_ARGUMENTS"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_code_of_the_contract(
    still: RawServer, uri: str, code: int, word: str
) -> None:
    """RES-06"""
    assert failure(still, "resources/read", uri=uri) == (code, word)


def test_what_the_policy_hides_is_no_resource(basic: Path) -> None:
    """RES-05"""
    (basic.parent / "policy.toml").write_text('hidden = ["People/"]\n', encoding="utf-8", newline="\n")
    with started(basic) as server:
        server.initialize()

        assert not [entry for entry in every_resource(server) if entry["name"].startswith("People/")]
        assert failure(server, "resources/read", uri=ROOT + quote("People/Mori Ayumi.md"))[0] in (-32003, -32005)
        assert "Mori" not in read(server, "obsidian://recent")["text"]


def test_the_pages_about_the_vault_show_it(still: RawServer) -> None:
    """RES-07"""
    overview = read(still, "obsidian://overview")["text"]
    recent = read(still, "obsidian://recent")["text"]

    assert "9 notes" in overview
    assert "#work/clocks" in overview
    assert "Projects/Alpha.md" in recent
    assert failure(still, "resources/read", uri="obsidian://today") == (-32003, "FILE_NOT_FOUND")


def test_todays_note_is_found_where_the_settings_of_the_app_say(vault_copy: VaultCopy) -> None:
    """RES-07: semantics 6.4."""
    vault = vault_copy("basic")
    (vault / ".obsidian").mkdir(exist_ok=True)
    settings = '{"folder": "Journal", "format": "YYYY/[day] D.M."}'
    (vault / ".obsidian/daily-notes.json").write_text(settings, encoding="utf-8")
    today = datetime.now().astimezone().date()
    note = vault / f"Journal/{today.year}/day {today.day}.{today.month}..md"
    note.parent.mkdir()
    note.write_text("What a day.", encoding="utf-8")
    with started(vault) as server:
        server.initialize()

        assert read(server, "obsidian://today")["text"] == "What a day."


# --- news


def until(server: RawServer, method: str, **params: Any) -> Message:
    """Read until a notification comes."""
    while True:
        message = server.read()
        said = message.get("params") or {}
        if message.get("method") == method and all(said.get(key) == value for key, value in params.items()):
            return message


UPDATED = "notifications/resources/updated"
LISTED = "notifications/resources/list_changed"


def test_a_client_of_2025_is_told_of_what_it_subscribed_to(server: RawServer, basic: Path) -> None:
    """RES-08"""
    uri = ROOT + "Projects%2FAlpha.md"
    capabilities = server.call("resources/subscribe", {"uri": uri})
    assert capabilities["result"] == {}

    (basic / "Home.md").write_text("not this one", encoding="utf-8")
    (basic / "Projects/Alpha.md").write_text("changed by another program", encoding="utf-8")
    until(server, UPDATED, uri=uri)
    server.call("resources/unsubscribe", {"uri": uri})
    server.call("resources/subscribe", {"uri": "obsidian://recent"})
    (basic / "Projects/Alpha.md").write_text("changed again", encoding="utf-8")

    assert until(server, UPDATED)["params"]["uri"] == "obsidian://recent"


def test_a_client_of_2025_is_told_when_files_come_and_go(server: RawServer, basic: Path) -> None:
    """RES-08"""
    server.call("resources/subscribe", {"uri": ROOT + "Later.md"})
    (basic / "Later.md").write_text("new", encoding="utf-8")
    seen = {until(server, UPDATED)["params"]["uri"]}
    until(server, LISTED)
    (basic / "Later.md").unlink()
    until(server, UPDATED, uri=ROOT + "Later.md")
    until(server, LISTED)

    assert seen == {ROOT + "Later.md"}


def test_a_change_by_our_own_tools_is_told_too(server: RawServer) -> None:
    server.call("resources/subscribe", {"uri": ROOT + "Home.md"})
    server.send(
        request(
            1,
            "tools/call",
            {"name": "obsidian_create_note", "arguments": {"name": "Home", "content": "x", "overwrite": True}},
        )
    )

    assert until(server, UPDATED)["params"]["uri"] == ROOT + "Home.md"


class SteppedVaults(DeletingVaults):
    """Those vaults, where every look at the folder sees what was done before it."""

    def get(self, name: str = "", *, listed: bool = True) -> Vault:
        self.vaults.get(name).look_everywhere()
        return super().get(name, listed=listed)


def test_a_change_between_two_looks_at_the_folder_is_told_once(app: App, basic: Path) -> None:
    """RES-08: the default vault is subscribed to by its name, too."""
    watched = WatchedResources()
    watched.add(app, [ROOT + "Home.md"])
    deleting = app.replace(vaults=SteppedVaults(app.vaults, basic / "Home.md"))
    told = [event for _ in range(3) for event in watched.changes(deleting)]
    assert told == [ResourceUpdated(uri=ROOT + "Home.md"), ResourcesListChanged()]


def test_a_client_of_2026_listens_and_is_told(basic: Path) -> None:
    """RES-08"""
    wanted = {"resourceSubscriptions": [ROOT + "Home.md"], "resourcesListChanged": True}
    with started(basic) as server:
        server.send(request(1, "subscriptions/listen", {"notifications": wanted, "_meta": MODERN}))
        until(server, "notifications/subscriptions/acknowledged")
        (basic / "Home.md").write_text("changed", encoding="utf-8")
        reply = until(server, UPDATED, uri=ROOT + "Home.md")
        (basic / "New.md").write_text("new", encoding="utf-8")
        until(server, LISTED)
        server.close_stdin()
        last = server.read()

        assert reply["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
        assert last["id"] == 1
        assert "result" in last
        assert server.wait() == 0


def test_a_client_of_2026_is_told_when_the_apps_tools_come(basic: Path, tmp_path: Path) -> None:
    """RES-10"""
    programs = tmp_path / "bin"
    programs.mkdir()
    with started(basic, PATH=str(programs), OBSIDIAN_MCP_CLI="") as server:
        server.send(request(1, "subscriptions/listen", {"notifications": {"toolsListChanged": True}, "_meta": MODERN}))
        until(server, "notifications/subscriptions/acknowledged")
        for name in ("obsidian", "obsidian.com"):  # as on Windows
            (programs / name).write_text("#!/bin/sh\n", encoding="utf-8")
            (programs / name).chmod(0o755)
        line = None
        for number in range(100):  # the app writes into the vault when it opens, and goes on to
            (basic / f"Opened {number}.md").write_text("x", encoding="utf-8")
            with suppress(queue.Empty):
                line = server.lines.get(timeout=0.2)
                break

        assert json.loads(line or "{}")["method"] == "notifications/tools/list_changed"
        server.close_stdin()
        assert server.read()["id"] == 1
        assert server.wait() == 0


def test_what_nobody_is_subscribed_to_any_more_does_not_count_for_the_limit(basic: Path) -> None:
    """RES-09"""

    def listen(number: int, *names: str) -> Message:
        notifications = {"resourceSubscriptions": [f"{ROOT}{name}.md" for name in names]}
        process.send(request(number, "subscriptions/listen", {"notifications": notifications, "_meta": MODERN}))
        return process.read()

    with started(basic) as process:
        first = listen(1, *(f"a%20name%20{number}" for number in range(10_000)))
        process.send(notification("notifications/cancelled", {"requestId": 1}))
        process.call("resources/templates/list", {"_meta": MODERN})
        second = listen(2, "Home", *(f"another%20name%20{number}" for number in range(9_999)))
        again, more = listen(3, "Home"), listen(4, "Later")
        (basic / "Home.md").write_text("changed", encoding="utf-8")
        until(process, UPDATED, uri=ROOT + "Home.md")

    assert [answer["method"] for answer in (first, second, again)] == ["notifications/subscriptions/acknowledged"] * 3
    assert (more["id"], more["error"]["code"]) == (4, -32602)
    assert "No more than 10000 resources" in more["error"]["message"]


def test_without_a_watcher_changes_are_found_all_the_same(basic: Path) -> None:
    with started(basic, OBSIDIAN_MCP_WATCH="0") as server:
        server.initialize()
        server.call("resources/subscribe", {"uri": ROOT + "Home.md"})
        (basic / "Home.md").write_text("changed without a word", encoding="utf-8")

        assert until(server, UPDATED)["params"]["uri"] == ROOT + "Home.md"


def test_a_policy_that_hides_where_daily_notes_are_holds_no_news_back(basic: Path) -> None:
    """RES-08, POL-18"""
    with started(basic, OBSIDIAN_MCP_SCOPE="Projects") as server:
        server.initialize()
        for uri in ("obsidian://today", ROOT + "Projects%2FAlpha.md"):
            server.call("resources/subscribe", {"uri": uri})
        (basic / "Projects/Alpha.md").write_text("changed by another program", encoding="utf-8")

        assert until(server, UPDATED)["params"]["uri"] == ROOT + "Projects%2FAlpha.md"


def test_what_is_no_resource_cannot_be_subscribed_to(still: RawServer) -> None:
    assert failure(still, "resources/subscribe", uri="test://nothing") == (-32602, "INVALID_ARGUMENTS")
    assert failure(still, "resources/subscribe", uri="obsidian://vault/elsewhere/a.md") == (-32002, "VAULT_NOT_FOUND")


@pytest.mark.parametrize("era", ["handshake", "2026"])
def test_the_server_announces_the_news_that_it_sends_in_each_era(basic: Path, era: str) -> None:
    """RES-08, RES-10"""
    with started(basic) as server:
        answer = server.initialize() if era == "handshake" else server.call("server/discover", {"_meta": MODERN})
        capabilities = answer["result"]["capabilities"]

        assert capabilities["resources"] == {"subscribe": True, "listChanged": True}
        assert capabilities["tools"] == {"listChanged": era == "2026"}
        assert capabilities["prompts"] == {"listChanged": False}
        assert capabilities["completions"] == {}
