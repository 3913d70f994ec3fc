"""Keys of the HTTP server on the command line (specs/policy.md POL-15)."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import httpx
import pytest

from obsidian_mcp import config
from obsidian_mcp.adapters.grant_store import GrantStore
from obsidian_mcp.cli import main
from obsidian_mcp.core.files.policy_file import PolicyFile
from obsidian_mcp.core.grants.credential import Token
from obsidian_mcp.core.grants.grant import Grant
from obsidian_mcp.core.grants.key_use import KeyUse
from obsidian_mcp.serve.http.access.keys import digest, read_keys
from obsidian_mcp.serve.http.access.oauth.issuer import secret_digest
from obsidian_mcp.setup import doctor
from tests.serve import plain_http
from tests.serve.mcp_session import McpSession
from tests.serve.serving import started

BEFORE = """# my rules
hidden = ["Private/"]  # nobody's business

[vaults.Notes]
read_only = true
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CACHE", "STATE", "POLICY"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{name}", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("Notes/Journal", "Work"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "Notes/Journal/Day.md").write_text("a heron\n", encoding="utf-8")
    (tmp_path / "Notes/Plan.md").write_text("a heron\n", encoding="utf-8")
    (tmp_path / "policy").write_text(BEFORE, encoding="utf-8")
    return tmp_path / "policy"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        status = main.run_command_line(arguments)
        return status, *capsys.readouterr()

    return run


def test_a_key_is_printed_once_and_kept_as_its_hash(file: Path, run: Run, tmp_path: Path) -> None:
    """POL-15"""
    status, key, said = run("keys", "add", "phone", "--vault", str(tmp_path / "Notes"), "--folder", "Journal/")
    (kept,) = read_keys(PolicyFile(file.read_text(encoding="utf-8")))

    assert status == 0
    assert str(file) in said
    assert len(key.strip()) >= 43
    assert kept.digest == digest(key.strip())
    assert key.strip() not in file.read_text(encoding="utf-8")
    assert (kept.name, kept.limits.vaults, kept.limits.policy.scopes) == (
        "phone",
        (str(tmp_path / "Notes"),),
        ("Journal",),
    )
    assert file.read_text(encoding="utf-8").startswith(BEFORE)


def test_a_key_for_the_root_folder_is_for_the_whole_vault(file: Path, run: Run) -> None:
    """POL-15"""
    assert run("keys", "add", "phone", "--folder", "/")[0] == 0
    (kept,) = read_keys(PolicyFile(file.read_text(encoding="utf-8")))
    assert kept.limits.policy.scopes == ()


def test_two_keys_are_never_equal(file: Path, run: Run) -> None:
    """POL-15"""
    assert run("keys", "add", "one")[1] != run("keys", "add", "two")[1]
    assert len(read_keys(PolicyFile(file.read_text(encoding="utf-8")))) == 2


def test_keys_are_listed_by_name_and_limits_never_by_key_or_hash(file: Path, run: Run) -> None:
    """POL-15"""
    _, key, _ = run("keys", "add", "phone", "--read-only", "--tools", "core", "--folder", "Journal")
    listed, as_json = run("keys")[1], json.loads(run("keys", "list", "--json")[1])
    findings = [repr(finding) for finding in doctor.check_keys(config.Config())]

    row = {"name": "phone", "way": "key", "vaults": "all", "folder": "Journal", "rights": "read only", "tools": "core"}
    unused = {"app": "", "used": "never", "since": "", "ends": "", "limits": "none"}
    assert as_json == {"keys": [row | unused]}
    assert "phone" in listed
    assert "API key phone" in findings[0]
    for text in (listed, *findings):
        assert key.strip() not in text
        assert digest(key.strip()).hex() not in text


def test_a_key_ends_after_its_days(file: Path, run: Run, tmp_path: Path) -> None:
    """KEYS-01"""
    before = time.time()
    run("keys", "add", "guest", "--days", "30")
    (key,) = read_keys(PolicyFile(file.read_text(encoding="utf-8")))
    (row,) = json.loads(run("keys", "list", "--json")[1])["keys"]

    assert 30 * 86_400 - 1 <= key.expires - before < 30 * 86_400 + 600
    assert row["ends"] == datetime.fromtimestamp(key.expires).strftime("%Y-%m-%d %H:%M")  # noqa: DTZ006  as a person reads
    assert run("--vault", str(tmp_path / "Notes"), "--key", "guest", "list")[0] == 0

    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r"expires = .*", "expires = 2020-01-31", text), encoding="utf-8")
    assert "expired" in run("keys")[1]
    assert "has expired" in run("--vault", str(tmp_path / "Notes"), "--key", "guest", "list")[2]
    (finding,) = doctor.check_keys(config.Config())
    assert (finding.status, finding.remedy) == ("note", "obsidian-mcp keys remove guest")


GRANT = Grant(
    "g1", "claude", "Claude", "claude.ai", "c1", "https://n.example/mcp", "/v/Notes", "Work", is_read_only=True,
    created=1_790_000_000, used=1_790_086_400,
)  # fmt: skip


@pytest.fixture
def store(file: Path, tmp_path: Path) -> Iterator[GrantStore]:
    with closing(GrantStore(tmp_path / "state/access/grants.db")) as store:
        yield store


def test_programs_that_signed_in_are_listed_beside_the_keys(run: Run, store: GrantStore) -> None:
    """KEYS-02"""
    store.add_grant(GRANT)
    run("keys", "add", "phone", "--folder", "Journal")
    store.note_key_use("phone", KeyUse("Cursor", 1_790_000_000))
    phone, claude = json.loads(run("keys", "list", "--json")[1])["keys"]

    assert (phone["name"], phone["way"], phone["app"], phone["folder"]) == ("phone", "key", "Cursor", "Journal")
    assert phone["used"].startswith("2026-09-2")
    said = {name: claude[name] for name in ("name", "way", "app", "vaults", "folder", "rights")}
    assert said == {
        "name": "claude",
        "way": "claude.ai",
        "app": "Claude",
        "vaults": "Notes",
        "folder": "Work",
        "rights": "read only",
    }
    found = {finding.subject: finding for finding in doctor.check_keys(config.Config())}
    assert "read only" in found["App claude"].message
    assert "folder Journal" in found["API key phone"].message
    listed = run("keys")[1]
    for word in ("phone", "claude.ai", "Cursor", "Work", "read only", "read and write"):
        assert word in listed


def test_a_program_that_signed_in_is_removed_by_its_name(run: Run, store: GrantStore) -> None:
    """KEYS-02"""
    store.add_grant(GRANT)
    assert "A program that signed in is called 'claude'" in run("keys", "add", "claude")[2]
    assert "there are: claude" in run("keys", "remove", "claud")[2]
    status, said, _ = run("keys", "remove", "claude")
    assert (status, store.grants()) == (0, ())
    assert "Claude" in said


def test_a_new_key_has_not_the_last_use_of_an_old_one_of_its_name(run: Run, store: GrantStore) -> None:
    """KEYS-03"""
    run("keys", "add", "phone")
    store.note_key_use("phone", KeyUse("Cursor", 1_790_000_000))
    run("keys", "remove", "phone")
    run("keys", "add", "phone")
    (row,) = json.loads(run("keys", "list", "--json")[1])["keys"]
    assert (row["app"], row["used"]) == ("", "never")


@pytest.mark.usefixtures("file")
def test_keys_name_the_program_that_came_last_and_so_does_the_history(run: Run, tmp_path: Path) -> None:
    """KEYS-03, DOOR-11"""
    (tmp_path / "policy").write_text("", encoding="utf-8")
    key = run("keys", "add", "phone")[1].strip()
    environ = {f"OBSIDIAN_MCP_{name}": str(tmp_path / name.lower()) for name in ("POLICY", "STATE", "CACHE")}
    with started(tmp_path / "Notes", **environ) as (_, (url,)):
        session = McpSession(url, name="claude-ai", key=key)
        session.call("obsidian_create_note", name="New", content="x")
        session.close()
    assert "claude-ai (key phone)" in run("--vault", str(tmp_path / "Notes"), "history")[1]
    (row,) = json.loads(run("keys", "list", "--json")[1])["keys"]
    assert row["app"] == "claude-ai"
    assert row["used"] != "never"


def test_a_program_that_is_removed_is_shut_out_at_once_and_its_open_stream_ends(
    run: Run, store: GrantStore, tmp_path: Path
) -> None:
    """KEYS-02, DOOR-13"""
    public = "http://127.0.0.1:9"
    store.add_grant(replace(GRANT, resource=f"{public}/mcp", vault="", folder="Journal", used=time.time()))
    token = Token(secret_digest("oma_of_claude"), "g1", is_refresh=False, scope="vault:read", expires=time.time() + 600)
    store.add_token(token)
    environ = {f"OBSIDIAN_MCP_{name}": str(tmp_path / name.lower()) for name in ("POLICY", "STATE", "CACHE")}
    options = ("--port", "0", "--oauth", "--public-url", public)
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    headers = {"authorization": "Bearer oma_of_claude", "accept": "application/json, text/event-stream"}
    with started(tmp_path / "Notes", *options, **environ) as (_, (url,)):
        begun = plain_http.post(f"{url}/mcp", json=message, headers=headers)
        session = {**headers, "mcp-session-id": begun.headers["mcp-session-id"]}
        with httpx.stream("GET", f"{url}/mcp", headers=session, timeout=20) as standing:
            assert standing.status_code == 200
            assert run("keys", "remove", "claude")[0] == 0
            assert plain_http.post(f"{url}/mcp", json=message, headers=headers).status_code == 401
            for _ in standing.iter_raw():
                pass  # until its end: httpx raises where it stays open for 20 s


def test_a_removed_key_leaves_the_file_as_it_was(file: Path, run: Run) -> None:
    """POL-15"""
    run("keys", "add", "phone")
    run("keys", "add", "laptop")
    status, _, _ = run("keys", "remove", "phone")
    left = tomllib.loads(file.read_text(encoding="utf-8"))

    assert status == 0
    assert set(left["keys"]) == {"laptop"}
    assert file.read_text(encoding="utf-8").startswith(BEFORE)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["add", "phone"], "There is an API key 'phone' already"),
        (["add", "my phone"], "obsidian-mcp: 'my phone' cannot name an API key. Give 1 to 40 letters"),
        (["add", "x", "--vault", "Nowhere"], "There is no vault 'Nowhere'"),
        (["add", "x", "--tools", "fly"], "There is no tool obsidian_fly"),
        (["add", "x", "--folder", "../out"], "out"),
        (["add", "x", "--days", "0"], "days must be a whole number of at least 1"),
        (["remove", "x"], "There is no key or program 'x'; there are: phone"),
    ],
)
def test_what_cannot_be_is_refused_and_the_file_stays(file: Path, run: Run, arguments: list[str], problem: str) -> None:
    """POL-15"""
    run("keys", "add", "phone")
    before = file.read_bytes()
    status, _, said = run("keys", *arguments)

    assert status != 0
    assert problem in said
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    [
        f'keys.old.sha256 = "{"0" * 64}"\nread_only = true\n',
        f'keys.old = {{ sha256 = "{"0" * 64}" }}\nhidden = ["Private/"]\n[vaults.Notes]\nread_only = true\n',
        f'keys = {{ old = {{ sha256 = "{"0" * 64}" }} }}\n',
    ],
)
def test_a_file_whose_rules_would_not_stay_is_left_as_it_is(file: Path, run: Run, text: str) -> None:
    """POL-15"""
    file.write_text(text, encoding="utf-8", newline="\n")

    added = run("keys", "add", "phone")

    assert added[:2] == (2, "")
    assert "tables of their own, such as [keys.phone]" in added[2]
    assert file.read_text(encoding="utf-8") == text

    status, _, said = run("keys", "remove", "old")
    rules = {key: rule for key, rule in tomllib.loads(text).items() if key != "keys"}
    left = file.read_text(encoding="utf-8")
    assert ("Remove it in an editor" in said, left == text) == (True, True) if status else tomllib.loads(left) == rules


def test_a_command_is_held_to_the_limits_of_a_key(file: Path, run: Run, tmp_path: Path) -> None:
    """POL-14"""
    run("keys", "add", "phone", "--folder", "Journal", "--read-only")
    vault = str(tmp_path / "Notes")

    assert "Plan" in run("--vault", vault, "list", "--recursive")[1]
    listed = run("--vault", vault, "--key", "phone", "list", "--recursive")[1]
    assert "Day.md" in listed
    assert "Plan" not in listed
    assert run("--vault", vault, "--key", "phone", "create", "Journal/New", "x")[0] != 0
    assert "There is no API key 'phoen'" in run("--vault", vault, "--key", "phoen", "list")[2]


@pytest.mark.usefixtures("file")
def test_the_server_asks_for_the_keys_of_the_file_and_listens_elsewhere_with_them(run: Run, tmp_path: Path) -> None:
    """DOOR-10"""
    (tmp_path / "policy").write_text("", encoding="utf-8")
    _, key, _ = run("keys", "add", "phone", "--folder", "Journal")
    options = ("--host", "0.0.0.0", "--port", "0")
    with started(tmp_path / "Notes", *options, OBSIDIAN_MCP_POLICY=str(tmp_path / "policy")) as (_, (url,)):
        local = url.replace("0.0.0.0", "127.0.0.1")
        call = f"{local}/bridge/v1/tools/obsidian_search/call"
        body = {"arguments": {"query": "heron"}}
        without = plain_http.post(call, json=body, timeout=30)
        held = plain_http.post(call, json=body, timeout=30, headers={"authorization": f"Bearer {key.strip()}"}).text

    assert without.status_code == 401
    assert "Day.md" in held
    assert "Plan.md" not in held
