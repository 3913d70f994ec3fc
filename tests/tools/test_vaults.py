"""Several vaults in one call (specs/tools.md TOOL-19)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from sqlite3 import Connection
from typing import Any

import pytest

from obsidian_mcp import compose, vaults
from obsidian_mcp.adapters.index_workers import IndexWorkers
from obsidian_mcp.app import App
from obsidian_mcp.errors import (
    AppError,
    InvalidArguments,
    NoteNotFound,
    PermissionDenied,
    PolicyInvalid,
    VaultNotFound,
)
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.serve.raw import RawServer
from tests.system import needs


@pytest.fixture
def two(tmp_path: Path) -> Iterator[App]:
    for name in ("Home", "Work"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name} note.md").write_text(
            f"A heron of {name}. #bird\n- [ ] feed it\n", "utf-8", newline="\n"
        )
    app = app_on(tmp_path / "Home", tmp_path / "Work")
    yield app
    app.vaults.close()


def test_a_vault_that_a_server_cannot_open_leaves_nothing_open(
    two: App, monkeypatch: pytest.MonkeyPatch, unclosed: Callable[[], list[Connection]]
) -> None:
    def refuse(_: IndexWorkers) -> None:
        raise RuntimeError("can't start new thread")

    call(two, "obsidian_create_note", {"name": "New", "content": "x"})  # the journal is there from now on
    two.vaults.close()
    monkeypatch.setattr(IndexWorkers, "start", refuse)
    vaults = compose.build(two.config, serving=True).vaults
    for _ in range(2):
        with pytest.raises(RuntimeError):
            vaults.get("Home")
    assert unclosed() == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "heron"}),
        ("list_files", {}),
        ("tags", {"tag": "bird"}),
        ("list_tasks", {}),
        ("query", {"query": "LIST", "language": "dataview"}),
    ],
)
def test_every_vault_answers_with_its_name(two: App, tool: str, arguments: dict[str, Any]) -> None:
    """TOOL-19"""
    answer = call(two, f"obsidian_{tool}", {**arguments, "vault": "*"}).data

    assert [vault["vault"] for vault in answer["vaults"]] == ["Home", "Work"]
    for vault in answer["vaults"]:
        assert f"{vault['vault']} note" in str(vault)
        alone = call(two, f"obsidian_{tool}", {**arguments, "vault": vault["vault"]}).data
        assert vault == {"vault": vault["vault"], **alone}


@pytest.mark.parametrize(("tool", "arguments"), [("read_note", {"name": "Work note"}), ("undo", {})])
def test_an_error_says_which_vault_was_looked_at(two: App, tool: str, arguments: dict[str, Any]) -> None:
    """TOOL-19"""
    with pytest.raises(AppError, match="Only the vault 'Home' was looked at; give vault for others: 'Work'"):
        call(two, f"obsidian_{tool}", arguments)
    with pytest.raises(AppError) as error:
        call(two, f"obsidian_{tool}", {"name": "Nope", "vault": "Home"} if arguments else {"vault": "Home"})
    assert "vault for others" not in error.value.message


def test_a_tool_for_one_vault_says_so_and_names_them(two: App) -> None:
    """TOOL-19"""
    with pytest.raises(InvalidArguments, match="Home, Work"):
        call(two, "obsidian_read_note", {"name": "Home note", "vault": "*"})


def test_vaults_for_which_there_is_no_room_are_named(two: App, tmp_path: Path) -> None:
    """TOOL-19"""
    for number in range(600):
        (tmp_path / "Home" / f"{number:03} {'long ' * 15}.md").touch()
    answer = call(two, "obsidian_list_files", {"limit": 500, "vault": "*"}).data

    assert answer["not_searched"] == ["Work"]


def test_the_other_vaults_answer_where_the_folder_of_one_is_gone(two: App, tmp_path: Path) -> None:
    """TOOL-19"""
    (tmp_path / "Home").rename(tmp_path / "Elsewhere")
    home, work = call(two, "obsidian_search", {"query": "heron", "vault": "*"}).data["vaults"]

    assert home["vault"] == "Home"
    assert "connect" in home["error"].lower()
    assert (work["vault"], work["total"]) == ("Work", 1)


@needs("limits of processes")
def test_a_server_opens_more_vaults_than_files_may_be_open_when_it_starts(tmp_path: Path) -> None:
    """TOOL-19"""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= most < 200:
        pytest.skip("no more files may be open here")
    vaults = [tmp_path / f"V{number}" for number in range(8)]
    for vault in vaults:
        vault.mkdir()
        (vault / "A.md").write_text("heron", encoding="utf-8")
    own = {f"OBSIDIAN_MCP_{kind}": str(tmp_path / kind) for kind in ("CACHE", "STATE")}
    named = " ".join(f"--vault '{vault}'" for vault in vaults)
    command = ["sh", "-c", f"ulimit -Sn 60; exec '{sys.executable}' -m obsidian_mcp {named}"]
    with RawServer(command, env=own) as server:
        server.initialize()
        answer = server.call("tools/call", {"name": "obsidian_search", "arguments": {"query": "heron", "vault": "*"}})
    found = json.loads(answer["result"]["content"][0]["text"])["data"]["vaults"]
    assert [vault["total"] for vault in found] == [1] * len(vaults)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The policy file is looked at before each call."""
    monkeypatch.setattr(vaults, "POLICY_SECONDS", 0)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("serving", [False, True])
@pytest.mark.parametrize("waiting", [0, 60])
def test_a_change_of_the_policy_holds_for_the_next_call(
    basic: Path, serving: bool, waiting: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """POL-19: of a running program; what it did before can still be undone"""
    monkeypatch.setattr(vaults, "IN_USE_SECONDS", waiting)
    app = app_on(basic, serving=serving)
    policy = basic.parent / "policy.toml"

    def people() -> int:
        return int(call(app, "obsidian_list_files", {"folder": "", "recursive": True}).data["total"])

    def read() -> str:
        return call(app, "obsidian_read_note", {"name": "People/Mori Ayumi"}).contents()[-1]

    everything = people()
    call(app, "obsidian_create_note", {"name": "New", "content": "mine"})
    assert "時計職人" in read()
    policy.write_text('hidden = ["/People/"]\n', encoding="utf-8")
    assert people() == everything + 1 - len(list((basic / "People").iterdir()))
    with pytest.raises(NoteNotFound):
        read()
    assert not call(app, "obsidian_search", {"query": "時計職人"}).data["hits"]
    assert call(app, "obsidian_undo", {}).data
    assert not (basic / "New.md").exists()

    policy.write_text("read_only = true\n", encoding="utf-8")
    assert "時計職人" in read()
    with pytest.raises(PermissionDenied):
        call(app, "obsidian_create_note", {"name": "New", "content": "mine"})
    policy.write_text("hidden = 1\n", encoding="utf-8")
    for _ in range(2):
        with pytest.raises(PolicyInvalid):
            read()
    policy.unlink()
    assert people() == everything


@pytest.mark.usefixtures("at_once")
def test_a_policy_that_says_the_same_in_other_words_opens_nothing_anew(basic: Path) -> None:
    """POL-19"""
    app = app_on(basic)
    opened = app.vaults.get()
    for text in ("# none\n", "", '[vaults.Other]\nhidden = ["/x/"]\n'):
        (basic.parent / "policy.toml").write_text(text, encoding="utf-8")
        assert app.vaults.get() is opened


def held(tmp_path: Path, scope: str, policy: str = "") -> App:
    for folder in ("Home/Projects", "Work", "Third/projects"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "A heron.md").touch()
    (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    plain = app_on(*(tmp_path / name for name in ("Work", "Home", "Third")))
    return compose.build(plain.config.replace(scope=scope))


def test_a_vault_without_the_folder_of_the_scope_is_left_out(tmp_path: Path) -> None:
    """POL-12"""
    app = held(tmp_path, "Projects")

    assert app.vaults.names() == ["Home", "Third"]
    answer = call(app, "obsidian_search", {"query": "heron", "vault": "*"}).data
    assert [(vault["vault"], vault["total"]) for vault in answer["vaults"]] == [("Home", 1), ("Third", 1)]
    assert (
        call(app, "obsidian_list_files", {"recursive": True, "details": True}).data["files"][0]["path"]
        == "Projects/A heron.md"
    )
    with pytest.raises(VaultNotFound, match="The vaults are: 'Home', 'Third'"):
        app.vaults.get("Work")
    app.vaults.close()


def test_a_scope_that_no_vault_has_is_reported(tmp_path: Path) -> None:
    """POL-11, POL-12"""
    with pytest.raises(PolicyInvalid, match="no folder 'Nowhere'"):
        held(tmp_path, "Nowhere").vaults.get()


def test_a_scope_of_the_vaults_own_that_it_does_not_have_is_reported(tmp_path: Path) -> None:
    """POL-11, POL-12"""
    app = held(tmp_path, "", 'scope = "Projects"\n[vaults.Work]\nscope = "Nowhere"\n')

    assert app.vaults.names() == ["Work", "Home", "Third"]
    with pytest.raises(PolicyInvalid, match="'Work' has no folder 'Nowhere'"):
        app.vaults.get("Work")
    assert app.vaults.get("Home").entries()
    app.vaults.close()
