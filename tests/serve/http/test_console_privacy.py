"""Hiding folders and revoking keys in the console (specs/console.md UI-50 to UI-73)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from obsidian_mcp.setup import api_keys
from obsidian_mcp.setup.api_keys import KeyLimits
from obsidian_mcp.setup.finding import Finding
from tests.conftest import app_on
from tests.serve.http.test_console_door import console, first_page
from tests.vaults import write_files


class Owner:
    """A person in the console: looks at pages and presses buttons."""

    def __init__(self, client: TestClient, address: str) -> None:
        self.client = client
        self._folder = first_page(client, address).rpartition("/")[0]

    def look(self, page: str) -> str:
        answer = self.client.get(f"{self._folder}/{page}")
        assert answer.status_code == 200, answer.text
        return unescape(answer.text)

    def press(self, page: str, headers: dict[str, str] | None = None, **fields: str) -> tuple[int, str]:
        """Send a form of a page, as its buttons do; the status, and the page that follows."""
        shown = self.client.get(f"{self._folder}/privacy").text  # a session has one token for its forms
        token = re.findall(r'name="token" value="([^"]+)"', shown)[0]
        part = page.partition("?")[0]
        answer = self.client.post(f"{self._folder}/{part}", data={"token": token, **fields}, headers=headers or {})
        if answer.status_code != 303:
            return answer.status_code, unescape(answer.text)
        return 303, self.look(answer.headers["location"])


@pytest.fixture
def policy(basic: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The policy file, with a comment of its owner's."""
    file = basic.parent / "policy.toml"
    file.write_text('# mine\nlargest_write = "1 MB" # enough\n', encoding="utf-8", newline="\n")
    return file


@pytest.fixture
def owner(basic: Path, policy: Path) -> Iterator[Owner]:
    write_files(basic, {"Private/Diary.md": "x", "Private/Deep/More.md": "x", "Public/A.md": "x"})
    with console(app_on(basic)) as (client, address):
        yield Owner(client, address)


def rules(policy: Path) -> dict[str, list[str]]:
    """The patterns of the one vault, wherever they stand."""
    settings = tomllib.loads(policy.read_text(encoding="utf-8"))
    return {key: value for key, value in settings["vaults"]["basic"].items() if isinstance(value, list)}


def folder_row(page: str, name: str) -> str:
    return next(row for row in page.split("<li") if f">{name}/</a>" in row)


def test_a_folder_is_hidden_and_shown_again_by_a_button(owner: Owner, policy: Path, basic: Path) -> None:
    """UI-50 to UI-53"""
    before = policy.read_text(encoding="utf-8")
    assert "2 files: seen by apps on this computer" in folder_row(owner.look("privacy"), "Private")

    status, page = owner.press("privacy", do="hide", pattern="/Private/")

    assert status == 303
    assert "Hidden from all apps." in page
    assert "2 files: hidden from apps on this computer" in folder_row(page, "Private")
    assert "seen by" in folder_row(page, "Public")
    assert policy.read_text(encoding="utf-8").startswith(before)
    assert rules(policy) == {"hidden": ["/Private/"]}
    seen = [str(entry.path) for entry in app_on(basic).vaults.get().entries()]
    assert "Public/A.md" in seen
    assert not [path for path in seen if path.startswith("Private")]

    _, page = owner.press("privacy", do="show", pattern="/Private/")
    assert "seen by" in folder_row(page, "Private")
    assert policy.read_text(encoding="utf-8").startswith(before)
    assert rules(policy) == {"hidden": []}


def test_only_some_folders_are_shown_to_apps(owner: Owner, policy: Path) -> None:
    """UI-52"""
    _, page = owner.press("privacy", do="only", pattern="/Public/")
    assert "hidden from" in folder_row(page, "Private")
    assert "seen by" in folder_row(page, "Public")

    _, page = owner.press("privacy", do="only", pattern="/Private/Deep/")
    assert "1 of 2 seen by" in folder_row(page, "Private")
    assert "hidden from" not in folder_row(owner.look("privacy?folder=Private"), "Deep")
    assert rules(policy) == {"read": ["/Public/", "/Private/Deep/"]}

    for pattern in ("/Public/", "/Private/Deep/"):
        _, page = owner.press("privacy", do="not-only", pattern=pattern)
    assert rules(policy) == {}  # an empty list would show nothing
    assert "2 files: seen by" in folder_row(page, "Private")


def test_a_pattern_that_matches_nothing_is_red_and_can_be_removed(owner: Owner, policy: Path) -> None:
    """UI-54"""
    owner.press("privacy", do="hide", pattern="*.secret.md")
    _, page = owner.press("privacy", do="hide", pattern="/Public/")

    marks = re.findall(r"<code>([^<]+)</code> <span class=\"(\w+)\">([^<]+)</span>", page)
    assert marks == [("*.secret.md", "fault", "matches nothing"), ("/Public/", "meta", "1 file")]
    owner.press("privacy", do="show", pattern="*.secret.md")
    assert rules(policy) == {"hidden": ["/Public/"]}
    status, page = owner.press("privacy", do="hide", pattern=" ")
    assert (status, "Write a pattern" in page) == (400, True)


def test_what_obsidian_excludes_is_a_start(owner: Owner, policy: Path, basic: Path) -> None:
    """UI-55"""
    filters = '{"userIgnoreFilters": ["Private/", "/^Pub/", "Draft [1]"]}'
    write_files(basic, {".obsidian/app.json": filters})
    assert "Excluded in Obsidian" in owner.look("privacy")

    _, page = owner.press("privacy", do="excluded")

    assert "Excluded in Obsidian" not in page
    assert rules(policy) == {"hidden": ["/Private/", r"/Draft \[1\]*"]}


def test_rules_for_every_vault_are_changed_where_they_stand(basic: Path, policy: Path, tmp_path: Path) -> None:
    """UI-53: with one vault at the top level, with several in the table of the vault, with what held before"""
    other = write_files(tmp_path / "other", {"X.md": "", ".obsidian/app.json": "{}"})
    text = 'hidden = ["*.key"] # keys\n'
    for vaults, expected in (
        ((basic,), {"hidden": ["*.key", "/Projects/"]}),
        ((basic, other), {"hidden": ["*.key"], "vaults": {"basic": {"hidden": ["*.key", "/Projects/"]}}}),
    ):
        policy.write_text(text, encoding="utf-8", newline="\n")
        with console(app_on(*vaults)) as (client, address):
            Owner(client, address).press("privacy", do="hide", pattern="/Projects/")
        assert tomllib.loads(policy.read_text(encoding="utf-8")) == expected
        assert "# keys" in policy.read_text(encoding="utf-8")


def test_a_key_is_shown_with_what_it_sees_and_revoked(basic: Path, policy: Path) -> None:
    """UI-50, UI-71, UI-72"""
    app = app_on(basic)
    before = policy.read_text(encoding="utf-8")
    api_keys.add_key(app.config, "phone", KeyLimits(folder="Projects", read_only=True))
    with console(app) as (client, address):
        owner = Owner(client, address)
        page = owner.look("privacy")
        assert "seen by apps on this computer, phone" in folder_row(page, "Projects")
        apps = owner.look("apps")
        assert "sha256" not in apps
        for fact in ("<h3>phone</h3>", "<dd>never</dd>", "<dd>Projects</dd>", "<dd>read only</dd>"):
            assert fact in apps

        status, page = owner.press("apps", do="end", name="phone")

        assert (status, "phone may no longer come in." in page) == (303, True)
        assert "<h3>phone</h3>" not in page
        assert owner.press("apps?ended=phone", do="end", name="phone")[0] == 400
    assert policy.read_text(encoding="utf-8").rstrip() == before.rstrip()


def test_programs_of_this_computer_are_listed_and_checked(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """UI-70: nothing is started before a person asks for it"""
    from obsidian_mcp.setup import app_roster

    def check_clients(_: object) -> Iterator[Finding]:
        yield Finding("Cursor (obsidian)", "problem", "It does not start.", "Run: obsidian-mcp install cursor")

    monkeypatch.setattr(app_roster, "check_clients", check_clients)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    entry = '{"mcpServers": {"obsidian": {"command": "obsidian-mcp", "args": ["--vault", "Notes"]}}}'
    assert "No program is set up here" in owner.look("apps")
    write_files(tmp_path, {".cursor/mcp.json": entry})

    page = owner.look("apps")

    assert "<h3>Cursor</h3>" in page
    assert "It does not start." not in page
    assert "It does not start." in owner.look("apps?check=1")


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "http://127.0.0.1:4101"}],
    ids=str,
)
@pytest.mark.parametrize(
    ("page", "fields"), [("privacy", {"do": "hide", "pattern": "/Public/"}), ("apps", {"do": "end", "name": "phone"})]
)
def test_a_page_of_another_origin_changes_no_rule_and_no_key(
    basic: Path, policy: Path, page: str, fields: dict[str, str], headers: dict[str, str]
) -> None:
    """UI-03, UI-05"""
    app = app_on(basic)
    api_keys.add_key(app.config, "phone", KeyLimits())
    before = policy.read_bytes()
    with console(app) as (client, address):
        owner = Owner(client, address)
        assert owner.press(page, headers, **fields)[0] == 403
        assert owner.press(page, {}, **{**fields, "token": "x"})[0] == 403
    assert policy.read_bytes() == before
