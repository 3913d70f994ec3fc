"""The commands as a person runs them, in a home of their own (specs/install.md)."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.cli import main
from obsidian_mcp.cli.completion import completions
from obsidian_mcp.setup import probe
from obsidian_mcp.setup.clients import CLIENTS
from obsidian_mcp.setup.install import install, list_configured
from obsidian_mcp.setup.launcher import Running, command_line
from obsidian_mcp.setup.system import System
from tests.serve.raw import RawServer
from tests.system import SYSTEM_ENVIRONMENT, needs

from .computer import PLATFORMS, computer, files_below, home_variables

CLAUDE = "Claude/claude_desktop_config.json"
"""Below `System.app_data`."""


class Home:
    """A home folder in which commands are run."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        folder.mkdir()
        for variable in list(os.environ):
            if variable.startswith(("OBSIDIAN_", "XDG_", "CLAUDE_", "CODEX_", "GEMINI_")):
                monkeypatch.delenv(variable)
        self.environ = home_variables(folder)
        for variable, value in self.environ.items():
            monkeypatch.setenv(variable, value)
        self.app_data = System.from_this_computer().app_data

    def register(self, *vaults: Path) -> None:
        """Make the Obsidian app know vaults, the last one opened last."""
        rows = {f"{number:016x}": {"path": str(vault), "ts": number} for number, vault in enumerate(vaults, 1)}
        self.write(self.app_data / "obsidian/obsidian.json", json.dumps({"vaults": rows}))

    def write(self, name: str | Path, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *arguments: str, status: int = 0) -> str:
        """What a command prints; with another status than 0, what it says on stderr."""
        out, err = io.BytesIO(), io.BytesIO()
        stdout, stderr = (io.TextIOWrapper(stream, encoding="utf-8", write_through=True) for stream in (out, err))
        with redirect_stdout(stdout), redirect_stderr(stderr):
            ended = main.run_command_line(arguments)
        output = (out if status == 0 else err).getvalue().decode()
        assert ended == status, output
        return output

    def data(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(tmp_path / "home", monkeypatch)


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was installed answers at once: for tests of something else than that it is started and asked (INST-09)."""
    monkeypatch.setattr(probe, "probe_server", lambda *_: probe.ProbeAnswer(0.1, "obsidian-mcp", "1", 9))


def test_what_is_written_for_every_client_on_every_system_starts_and_answers(basic: Path, tmp_path: Path) -> None:
    line = (*command_line(Running.from_environment({})), "--vault", str(basic))
    written = set()
    for platform in PLATFORMS:
        for client in CLIENTS.values():
            system = computer(tmp_path / platform, platform)
            install(client, system, "obsidian", line)
            written.add(tuple(list_configured(client, system)[0].command))
    assert written == {line}

    environ = {**SYSTEM_ENVIRONMENT, **home_variables(tmp_path), "PATH": "/usr/bin:/bin"}  # as started from the desktop
    with RawServer(line, env=environ, cwd=tmp_path) as server:
        assert server.initialize()["result"]["serverInfo"]["name"] == "obsidian-mcp"
        answer = server.call("tools/call", {"name": "obsidian_list_files", "arguments": {}})
        assert "No last newline.md" in json.dumps(answer["result"])
        assert server.close() == 0


def test_installing_tells_what_was_done_and_what_to_do_next(home: Home, basic: Path) -> None:
    """INST-08, INST-09"""
    home.write(home.app_data / CLAUDE, '{"theme": "dark"}')

    output = home.run("install", "claude-desktop", "--vault", str(basic))

    assert "Claude Desktop: 'obsidian' was added in" in output
    assert f"--vault {basic}" in output
    assert ".bak" in output
    assert "it starts and answers" in output
    assert "Next: Quit Claude Desktop fully" in output
    assert "was not found" not in output

    assert "already, as it should be" in home.run("install", "claude-desktop", "--vault", str(basic))
    assert "was removed" in home.run("uninstall", "claude-desktop")
    assert (home.app_data / CLAUDE).read_text(encoding="utf-8") == '{"theme": "dark"}'
    assert "nothing to do" in home.run("uninstall", "claude-desktop")


@pytest.mark.usefixtures("untried")
def test_options_reach_the_entry(home: Home, basic: Path) -> None:
    home.run("install", "codex", "--vault", str(basic), "--vault", str(basic.parent), "--name", "notes", "--read-only")

    entry = tomllib.loads((home.folder / ".codex/config.toml").read_text(encoding="utf-8"))["mcp_servers"]["notes"]
    assert entry["args"][-5:] == ["--read-only", "--vault", str(basic), "--vault", str(basic.parent)]


@pytest.mark.usefixtures("untried")
def test_options_before_install_hold_for_the_server_that_the_client_starts(home: Home, basic: Path) -> None:
    """INST-12"""
    options = ("--scope", "Projects", "--tools", "core", "--backend", "files", "--key", "phone", "--allow-eval")
    shown = home.run(*options, "install", "cursor", "--vault", str(basic), "--dry-run")
    home.run("--read-only", *options[:4], "install", "cursor", "--vault", str(basic))

    entry = json.loads((home.folder / ".cursor/mcp.json").read_text(encoding="utf-8"))["mcpServers"]["obsidian"]
    assert entry["args"][-7:] == ["--read-only", *options[:4], "--vault", str(basic)]
    assert all(f'"{option}"' in shown for option in options)


def test_a_dry_run_shows_a_difference_and_writes_nothing(home: Home, basic: Path) -> None:
    """INST-07"""
    before = files_below(home.folder)

    output = home.run("install", "codex", "--vault", str(basic), "--dry-run")

    assert "would be added" in output
    assert "Codex was not found on this computer" in output
    assert "+[mcp_servers.obsidian]" in output
    assert files_below(home.folder) == before


def test_a_broken_file_is_one_line_of_explanation(home: Home, basic: Path) -> None:
    """TEXT-05"""
    home.write(home.app_data / CLAUDE, '{"mcpServers": {"a": 1 "b": 2}}')

    output = home.run("install", "claude-desktop", "--vault", str(basic), status=32)

    assert "line 1, column 24" in output
    assert len(output.splitlines()) == 1


@pytest.mark.usefixtures("untried")
def test_the_only_vault_that_the_app_knows_is_taken(home: Home, basic: Path) -> None:
    """INST-06"""
    home.register(basic, basic.parent / "gone")

    assert home.data("install", "cursor")["command"][-2:] == ["--vault", str(basic)]


def test_several_vaults_without_a_terminal_are_listed(home: Home, basic: Path, tmp_path: Path) -> None:
    """INST-06"""
    other = tmp_path / "My Other Vault"
    other.mkdir()
    home.register(basic, other)

    output = home.run("install", "cursor", status=2)

    assert f'--vault "{other}"; --vault {basic}' in output
    assert not (home.folder / ".cursor").exists()


@needs("pseudo terminals")
def test_on_a_terminal_one_of_several_vaults_can_be_chosen(home: Home, basic: Path, tmp_path: Path) -> None:
    """INST-06"""
    import pty

    other = tmp_path / "Other"
    other.mkdir()
    home.register(basic, other)
    terminal, ours = pty.openpty()
    try:
        os.write(terminal, b"2\n")
        done = subprocess.run(
            [sys.executable, "-m", "obsidian_mcp", "install", "cursor", "--json"],
            stdin=ours,
            stderr=ours,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
        shown = os.read(terminal, 10_000).decode()
    finally:
        os.close(terminal)
        os.close(ours)

    assert "1  Other" in shown
    assert json.loads(done.stdout)["command"][-1] == str(basic)


@pytest.mark.parametrize(
    ("arguments", "status", "output"),
    [
        (["install", "cursor"], 12, "knows no vault here"),
        (["install", "cursor", "--vault", "/gone"], 12, "the folder does not exist"),
        (["install"], 2, "Name a client: claude-desktop"),
        (["uninstall"], 2, "Name a client"),
        (["install", "emacs"], 2, "'emacs' is not one of"),
    ],
)
def test_what_is_missing_is_said(home: Home, arguments: list[str], status: int, output: str) -> None:
    assert output in home.run(*arguments, status=status)


def test_an_entry_is_printed_for_any_other_client(home: Home, basic: Path) -> None:
    """INST-13, INST-14"""
    entry = json.loads(home.run("--scope", "Projects", "install", "other", "--vault", str(basic), "--name", "notes"))
    (server,) = entry["mcpServers"].items()
    assert server[0] == "notes"
    assert server[1]["args"][-4:] == ["--scope", "Projects", "--vault", str(basic)]
    assert server[1]["env"] == {"OBSIDIAN_MCP_ERRORS": "result"}
    assert list(files_below(home.folder)) == []
    assert "'other' is not one of" in home.run("uninstall", "other", status=2)


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize(
    ("client", "said"),
    [("codex", "ChatGPT desktop app reads the same file"), ("gemini-cli", "no personal accounts any more")],
)
def test_what_else_there_is_to_know_of_a_client_is_said(home: Home, basic: Path, client: str, said: str) -> None:
    """INST-15"""
    assert said in home.run("install", client, "--vault", str(basic))


@pytest.mark.usefixtures("untried")
def test_the_list_shows_who_is_here_and_what_is_set_up(home: Home, basic: Path) -> None:
    home.write(".codex/config.toml", "broken = = 1")
    home.write(".cursor/mcp.json", "{}")
    home.run("install", "zed", "--vault", str(basic), "--dry-run")
    home.run("install", "claude-code", "--vault", str(basic))

    rows = {row["client"]: row for row in home.data("install", "--list")["clients"]}

    assert list(rows) == list(CLIENTS)
    assert (rows["cursor"]["present"], rows["cursor"]["servers"]) == (True, [])
    assert (rows["zed"]["present"], rows["zed"]["servers"]) == (False, [])
    assert "not valid TOML" in rows["codex"]["problem"]
    assert rows["claude-code"]["servers"][0]["command"][-1] == str(basic)
    output = home.run("install", "--list")
    assert "claude-code     set up" in output
    assert "codex           broken file" in output


@needs("accounts of POSIX")
def test_an_account_without_a_home_folder_is_said_to_have_none(
    home: Home, basic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TEXT-05: a user id of a container that has no account; an internal error"""

    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", unknown)

    for arguments in (["doctor"], ["install", "cursor"], ["list"]):
        assert "This account has no home folder" in home.run("--vault", str(basic), *arguments, status=2)


def test_vaults_are_listed_with_what_is_wrong_with_them(home: Home, basic: Path, tmp_path: Path) -> None:
    """SET-01"""
    home.register(basic, tmp_path / "gone")

    usable, gone = home.data("vaults")["vaults"]

    assert (usable["name"], usable["usable"], usable["problem"]) == ("basic", True, None)
    assert (gone["usable"], gone["problem"]) == (False, "the folder does not exist")
    assert f"basic  {basic}" in home.run("vaults")


def test_without_the_app_there_are_no_vaults_to_list(home: Home) -> None:
    assert home.data("vaults") == {"vaults": []}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_a_script_for_each_shell_asks_this_command(home: Home, shell: str) -> None:
    """SET-02"""
    script = home.run("completion", shell)

    assert f"{shell}_complete" in script
    offered = dict(completions(["install"], "cl"))
    assert {"claude-desktop", "claude-code"} <= set(offered)
    assert "zed" not in offered


def test_help_shows_the_commands_with_an_example(home: Home) -> None:
    output = home.run("--help")
    assert all(f"  {command} " in output for command in ("install", "uninstall", "doctor", "vaults", "completion"))
    assert "obsidian-mcp install claude-desktop --vault ~/Notes" in home.run("install", "--help")
