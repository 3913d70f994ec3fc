"""What only the running app can do, through the stand-in command."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.core.files.policy import Globs, Policy
from obsidian_mcp.errors import (
    AppCommandFailed,
    AppError,
    ConfirmationRequired,
    InvalidArguments,
    NoteNotFound,
    ObsidianNotRunning,
    OperationTimeout,
    PermissionDenied,
)
from obsidian_mcp.tools.offer import Offer
from obsidian_mcp.tools.registry import TOOLS
from tests.adapters.app_desk import Desk, composed, desk, environment
from tests.serve.raw import RawServer

MakeDesk = Callable[..., Desk]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeDesk]:
    made: list[Desk] = []

    def new(backend: str = "auto", **options: Any) -> Desk:
        made.append(desk(tmp_path / str(len(made)), backend, **options))
        return made[-1]

    yield new
    for app in made:
        app.close()


def test_commands_are_listed_and_filtered(make: MakeDesk) -> None:
    assert make().call("app_info") == {"commands": ["app:reload", "daily-notes", "editor:toggle-bold"], "total": 3}
    assert make().call("app_info", text="Bold") == {"commands": ["editor:toggle-bold"], "total": 1}


def test_a_command_is_run_and_one_that_is_not_there_is_a_failure(make: MakeDesk) -> None:
    app = make()

    assert app.call("app_command", command="app:reload") == {"answer": "Executed: app:reload"}
    with pytest.raises(AppCommandFailed, match="has no command"):
        app.call("app_command", command="app:explode")


def test_a_note_is_opened_under_the_name_that_it_has(make: MakeDesk) -> None:
    """APP-TOOL-02"""
    app = make()

    assert app.call("open_note", name="alpha") == {"path": "Projects/Alpha.md"}
    with pytest.raises(NoteNotFound):
        app.call("open_note", name="Nothing of the kind")
    assert app.commands.count("open") == 1, "what is not there is never opened, for the app would make it"


def test_plugins_and_the_state_of_sync_are_told(make: MakeDesk) -> None:
    plugins = [
        {"id": "dataview", "name": "Dataview", "version": "0.5.67", "enabled": True},
        {"id": "tasks", "name": "Tasks", "version": "7.1.0", "enabled": False},
    ]
    app = make(plugins=plugins, sync="Status: synced")

    assert app.call("app_info", topic="plugins") == {"plugins": plugins, "total": 2}
    assert app.call("app_info", topic="sync") == {"answer": "Status: synced"}


def test_the_versions_of_a_file_can_be_listed_and_read(make: MakeDesk) -> None:
    app = make(history={"Home.md": ["newest\n\ntext", "older"]})

    kept = app.call("app_info", topic="history", name="Home")
    assert [version["version"] for version in kept["versions"]] == [1, 2]
    assert kept["path"] == "Home.md"
    assert app.call("app_info", topic="history_read", name="Home") == {"path": "Home.md", "content": "newest\n\ntext"}
    assert app.call("app_info", topic="history_read", name="Home", version=2)["content"] == "older"
    with pytest.raises(AppCommandFailed):
        app.call("app_info", topic="history_read", name="Home", version=3)


def test_versions_of_a_file_that_is_gone_can_be_asked_for(make: MakeDesk) -> None:
    """APP-TOOL-02"""
    app = make(answers={"history": "1\\t2026-01-01 09:01\\t5 B", "history:read": "it was"})

    assert app.call("app_info", topic="history", name="Long gone")["path"] == "Long gone.md"
    assert app.call("app_info", topic="history_read", name="Long gone")["content"] == "it was"


# JavaScript


def test_javascript_is_run_only_where_the_user_allows_it(make: MakeDesk) -> None:
    code = "app.vault.getFiles().length"
    app = make(allow_eval=True)

    assert app.call("app_command", javascript=code) == {"answer": str(len(app.files()) - 1)}
    refusing = make()
    with pytest.raises(PermissionDenied, match="--allow-eval"):
        refusing.call("app_command", javascript=code)
    assert refusing.commands == []


def test_an_error_of_the_javascript_is_a_failure(make: MakeDesk) -> None:
    with pytest.raises(AppCommandFailed, match="ReferenceError"):
        make(allow_eval=True).call("app_command", javascript="nothing")


# What the user allows


@pytest.mark.parametrize(
    "policy",
    [
        Policy(read_only=True),
        Policy(hidden=(Globs(["Private/"]),)),
        Policy(read=(Globs(["Public/"]),)),
        Policy(write=(Globs(["Inbox/"]),)),
        Policy(largest_write=10),
        Policy(permanent_delete=False),
    ],
    ids=["read-only", "hidden", "read", "write", "largest", "permanent"],
)
def test_the_app_gets_no_free_hand_where_a_policy_limits_what_may_be_done(make: MakeDesk, policy: Policy) -> None:
    """APP-TOOL-03"""
    app = make(policy=policy, allow_eval=True)

    for arguments in ({"command": "app:reload"}, {"javascript": "1"}):
        with pytest.raises(PermissionDenied):
            app.call("app_command", **arguments)
    assert app.commands == []


def test_what_needs_a_yes_is_asked_for(make: MakeDesk) -> None:
    app = make(policy=Policy(confirm=frozenset({"delete"})))

    with pytest.raises(ConfirmationRequired):
        app.call("app_command", command="app:reload")
    assert app.call("app_command", command="app:reload", confirm=True)["answer"] == "Executed: app:reload"


def test_hidden_files_have_no_versions(make: MakeDesk) -> None:
    app = make(policy=Policy(hidden=(Globs(["Home.md", "Gone.md"]),)), history={"Home.md": ["secret"]})

    for name in ("Home", "Gone"):
        for topic in ("history", "history_read"):
            with pytest.raises(NoteNotFound):
                app.call("app_info", topic=topic, name=name)
        with pytest.raises(NoteNotFound):
            app.call("open_note", name=name)
    assert app.commands == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("app_command", {}),
        ("open_note", {}),
        ("app_info", {"topic": "history"}),
        ("app_info", {"topic": "history_read", "name": "Home", "version": 0}),
        ("app_info", {"topic": "dance"}),
    ],
    ids=json.dumps,
)
def test_arguments_that_are_missing_or_wrong_are_named(make: MakeDesk, tool: str, arguments: dict[str, Any]) -> None:
    app = make()

    with pytest.raises(InvalidArguments):
        app.call(tool, **arguments)
    assert app.commands == []


MOODS: list[tuple[dict[str, Any], type[AppError]]] = [
    ({"down": "exit"}, ObsidianNotRunning),
    ({"down": "gui"}, AppCommandFailed),
    ({"disabled": True}, AppCommandFailed),
    ({"denied": True}, PermissionDenied),
    ({"mute": True}, AppCommandFailed),
    ({"hang": True}, OperationTimeout),
]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("app_info", {"topic": "commands"}),
    ("app_command", {"command": "app:reload"}),
    ("open_note", {"name": "Home"}),
    ("app_info", {"topic": "history", "name": "Home"}),
    ("app_info", {"topic": "plugins"}),
    ("app_info", {"topic": "sync"}),
]


@pytest.mark.parametrize(("mood", "error"), MOODS, ids=[json.dumps(mood) for mood, _ in MOODS])
@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=json.dumps)
def test_an_app_that_does_not_answer_has_its_code(
    make: MakeDesk, tool: str, arguments: dict[str, Any], mood: dict[str, Any], error: type[AppError]
) -> None:
    app = make(**mood)
    before = app.files()

    with pytest.raises(AppError) as raised:
        app.call(tool, **arguments)
    assert type(raised.value) is error
    assert app.files() == before


# Where it is listed


def test_the_tool_is_absent_where_neither_the_app_nor_its_command_is_there(tmp_path: Path, basic: Path) -> None:
    """APP-TOOL-01"""
    without = composed(basic, {"HOME": str(tmp_path), "PATH": ""})
    with_command = composed(basic, environment(tmp_path, basic))

    def listed(app: Any) -> set[str]:
        return set(Offer(app.config).list_entries(has_app=app.vaults.has_app()))

    assert set(TOOLS) - listed(without) == {"obsidian_app_info", "obsidian_open_note", "obsidian_app_command"}
    assert set(TOOLS) == listed(with_command)


def test_a_server_offers_the_tool_where_the_command_is_there_and_runs_it(tmp_path: Path, basic: Path) -> None:
    """TOOL-08"""
    command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(basic)]
    with RawServer(command, env=environment(tmp_path, basic)) as server:
        server.initialize()
        tools = server.call("tools/list")["result"]["tools"]
        seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in tools]
        answer = server.call("tools/call", {"name": "obsidian_app_info", "arguments": {"topic": "sync"}})["result"]

        assert "obsidian_app_info" in [tool["name"] for tool in tools]
        assert len(json.dumps(seen, ensure_ascii=False, separators=(",", ":")).encode()) <= 24 * 1024
        assert answer["structuredContent"]["data"]["answer"].startswith("Status: synced")
        assert server.close() == 0


def test_the_backend_is_chosen_on_the_command_line_and_in_the_environment(tmp_path: Path, basic: Path) -> None:
    environ = environment(tmp_path, basic, down="exit")
    for arguments, more in ((["--backend", "cli"], {}), ([], {"OBSIDIAN_MCP_BACKEND": "cli"})):
        command = [sys.executable, "-m", "obsidian_mcp", "--vault", str(basic), *arguments]
        with RawServer(command, env={**environ, **more}) as server:
            server.initialize()
            error = server.call("tools/call", {"name": "obsidian_read_note", "arguments": {"name": "Home"}})["error"]

            assert error["code"] == -32001
            assert error["data"]["errorCode"] == "OBSIDIAN_NOT_RUNNING"
            assert error["message"] == "Obsidian application is not running. Please start Obsidian and try again."
            assert server.close() == 0


def test_a_change_through_the_real_chain_of_processes_is_exact(tmp_path: Path, basic: Path) -> None:
    environ = {**environment(tmp_path, basic), "OBSIDIAN_MCP_BACKEND": "auto"}
    app = composed(basic, environ)
    try:
        TOOLS["obsidian_create_note"].call(app, {"name": "New", "content": "ünï\n\n"})
        TOOLS["obsidian_edit_note"].call(app, {"name": "New", "operation": "append", "content": r"\nu"})
        TOOLS["obsidian_delete_note"].call(app, {"name": "Home"})
    finally:
        app.vaults.close()

    assert (basic / "New.md").read_text(encoding="utf-8") == "ünï\n\n\\nu\n"
    assert not (basic / "Home.md").exists()
    calls = (tmp_path / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    commands = [next(word for word in json.loads(call)["argv"] if "=" not in word) for call in calls]
    assert commands == ["vault", "file", "create", "delete"]


def test_with_auto_the_registered_and_open_vault_is_the_one_that_the_app_writes(tmp_path: Path, basic: Path) -> None:
    identifier = "0123456789abcdef"
    registry = tmp_path / "config/obsidian"
    registry.mkdir(parents=True)
    environ = {
        **environment(tmp_path, basic, name="Another name", id=identifier),
        **dict.fromkeys(("XDG_CONFIG_HOME", "APPDATA"), str(registry.parent)),
        "OBSIDIAN_MCP_BACKEND": "auto",
    }
    for number, is_open in enumerate((False, True)):
        row = {"path": str(basic), "ts": 1, **({"open": True} if is_open else {})}
        (registry / "obsidian.json").write_text(json.dumps({"vaults": {identifier: row}}), encoding="utf-8")
        app = composed(basic, environ)
        try:
            TOOLS["obsidian_create_note"].call(app, {"name": f"New {number}", "content": "x"})
        finally:
            app.vaults.close()
        log = tmp_path / "calls.jsonl"
        argv = [json.loads(line)["argv"] for line in log.read_text(encoding="utf-8").splitlines()] if is_open else []

        assert log.exists() == is_open
        assert (basic / f"New {number}.md").read_bytes() == b"x"
        assert all(call[0] == f"vault={identifier}" for call in argv)
