"""The doctor: what it finds fine, what it finds broken, and what it leaves alone (specs/install.md, DOC rules)."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from obsidian_mcp import config
from obsidian_mcp.adapters.embedding_model import missing_packages
from obsidian_mcp.config import Config
from obsidian_mcp.setup import client_checks, doctor, vault_checks
from obsidian_mcp.setup.clients import CLIENTS
from obsidian_mcp.setup.finding import Finding
from obsidian_mcp.setup.install import install
from obsidian_mcp.setup.system import System
from tests import forked
from tests.system import SYSTEM_ENVIRONMENT

from .computer import computer, files_below, home_variables

SERVER = """
import json, sys
open(sys.argv[1], "a", encoding="utf-8").write("started ")
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": [{}, {}]}}), flush=True)
"""


@pytest.fixture
def system(tmp_path: Path) -> System:
    return computer(tmp_path / "home", "linux", {"PATH": "/usr/bin:/bin"})


@pytest.fixture
def settings(tmp_path: Path, basic: Path) -> Config:
    read = config.Config((str(basic),), environ={"HOME": str(tmp_path / "home")})
    return read.replace(named_cache=str(tmp_path / "cache"), named_state=str(tmp_path / "state"))


def test_after_an_install_its_vault_is_the_one_that_is_looked_at(
    settings: Config, system: System, server: list[str], basic: Path
) -> None:
    """DOC-02"""
    install(CLIENTS["cursor"], system, "obsidian", [*server, "--vault", str(basic)])

    found = by_subject(vault_checks.check_vaults(settings.replace(named_vaults=(), named_app_folders=()), system))

    assert found["Vault basic"].message.startswith(str(basic))
    assert all(finding.status != "problem" for finding in found.values())


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    """A command that looks like ours and notes every start in the file `starts`."""
    script = tmp_path / "server.py"
    script.write_text(SERVER, encoding="utf-8")
    return [sys.executable, str(script), str(tmp_path / "starts"), "-m", "obsidian_mcp"]


def by_subject(findings: Iterator[Finding]) -> dict[str, Finding]:
    return {finding.subject: finding for finding in findings}


def test_every_part_is_looked_at_and_nothing_is_broken(settings: Config, system: System, server: list[str]) -> None:
    """DOC-02"""
    install(CLIENTS["cursor"], system, "obsidian", server)

    found = by_subject(doctor.examine(settings, system))

    assert list(found) == [
        "Python",
        "SQLite",
        "Index folder",
        "Journal folder",
        "Policy",
        *([] if missing_packages() else ["Search by meaning"]),
        "Images and PDFs",
        "Vault basic",
        "Index of basic",
        "Watching",
        "Obsidian app",
        "Obsidian command",
        "Word obsidian",
        "Cursor (obsidian)",
    ]
    assert {subject: finding for subject, finding in found.items() if finding.status == "problem"} == {}
    assert found["Cursor (obsidian)"].message.startswith("starts and answers after")
    assert "with 2 tools" in found["Cursor (obsidian)"].message


def test_it_says_which_packages_for_images_and_scanned_pages_are_missing(
    settings: Config, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ATT-13"""
    assert by_subject(doctor.examine(settings, system))["Images and PDFs"].status == "fine"
    monkeypatch.setattr("obsidian_mcp.computer.missing_media_packages", lambda: ["pypdfium2", "Pillow"])

    finding = by_subject(doctor.examine(settings, system))["Images and PDFs"]

    assert finding.status == "note"
    assert "The text of PDFs is read." in finding.message
    assert "pypdfium2 and Pillow are not installed" in finding.message
    assert "media" in (finding.remedy)


def test_it_says_what_each_pattern_hides_and_names_what_protects_nothing(
    settings: Config, system: System, tmp_path: Path, basic: Path
) -> None:
    """DOC-06"""
    file = tmp_path / "policy.toml"
    file.write_text('hidden = ["Projects/", "Privat/"]\n[vaults.Nots]\nread_only = true\n', encoding="utf-8")
    settings = settings.replace(named_policy=str(file))

    found = [finding for finding in doctor.examine(settings, system) if finding.status != "fine"]
    shown = [finding.message for finding in doctor.examine(settings, system) if finding.subject == "Hidden in basic"]
    count = len(list((basic / "Projects").rglob("*.md")))
    assert f"Projects/: 1 folder, {count} notes" in shown[0]
    assert shown[1] == "Privat/ matches nothing."
    assert any(finding.message.startswith('[vaults."Nots"]') and finding.status == "problem" for finding in found)

    file.write_text('read = ["Projj/", "Projects/"]\nwrite = ["Inbocks/"]\n', encoding="utf-8")
    found = [finding for finding in doctor.examine(settings, system) if finding.subject.endswith(" in basic")]
    assert [(finding.subject, finding.status) for finding in found] == [
        ("To read in basic", "note"),
        ("To read in basic", "fine"),
        ("To change in basic", "note"),
    ]
    assert [finding.message for finding in found][::2] == ["Projj/ matches nothing.", "Inbocks/ matches nothing."]

    for broken in ("hidden = [", "hidden = 3", "[vaults.basic]\nreadonly = true"):
        file.write_text(broken, encoding="utf-8")
        assert [finding.status for finding in doctor.check_policy(settings)] == ["problem"]


def test_it_says_where_the_policy_is_and_whether_there_is_one(settings: Config, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"

    (absent,) = doctor.check_policy(settings.replace(named_policy=str(file)))
    file.write_text("read_only = true\n", encoding="utf-8")
    (present,) = doctor.check_policy(settings.replace(named_policy=str(file)))

    assert absent.message.startswith(f"{file} is not there")
    assert present.message == f"{file} says what may be read and changed"


def test_it_changes_nothing_but_its_own_folders(settings: Config, system: System, server: list[str]) -> None:
    """DOC-04"""
    install(CLIENTS["cursor"], system, "obsidian", server)
    vault, home = files_below(settings.vaults[0]), files_below(system.home)

    list(doctor.examine(settings, system))

    assert files_below(settings.vaults[0]) == vault
    assert files_below(system.home) == home


def test_a_vault_that_cannot_be_read_is_a_problem_with_a_remedy(
    settings: Config, tmp_path: Path, system: System
) -> None:
    """DOC-01"""
    file = tmp_path / "file.md"
    file.touch()
    broken = settings.replace(named_vaults=(str(tmp_path / "gone"), str(file), *settings.named_vaults))

    found = by_subject(vault_checks.check_vaults(broken, system))

    assert (found["Vault gone"].status, found["Vault file.md"].status) == ("problem", "problem")
    assert "does not exist" in found["Vault gone"].message
    assert found["Vault gone"].remedy
    assert found["Vault basic"].status == "fine"


def test_without_any_vault_it_is_said_how_to_name_one(settings: Config, system: System) -> None:
    (finding,) = vault_checks.check_vaults(settings.replace(named_vaults=(), named_app_folders=()), system)

    assert finding.status == "problem"
    assert "--vault" in finding.remedy


def test_a_vault_that_only_the_app_lost_is_a_note(settings: Config, tmp_path: Path, system: System) -> None:
    registry = tmp_path / "app/obsidian.json"
    registry.parent.mkdir()
    vaults = {"a": {"path": str(settings.vaults[0])}, "b": {"path": str(tmp_path / "gone")}}
    registry.write_text(json.dumps({"vaults": vaults}), encoding="utf-8")

    found = by_subject(
        vault_checks.check_vaults(settings.replace(named_vaults=(), named_app_folders=(str(registry.parent),)), system)
    )

    assert (found["Vault gone"].status, found["Vault basic"].status) == ("note", "fine")


def test_a_folder_that_is_no_vault_of_the_apps_is_a_note(settings: Config, tmp_path: Path, system: System) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.md").write_text("a", encoding="utf-8")

    found = by_subject(vault_checks.check_vaults(settings.replace(named_vaults=(str(plain),)), system))

    assert found["Vault plain"].status == "note"
    assert "no .obsidian folder" in found["Vault plain"].message


def test_a_mistake_in_the_policy_is_a_problem_of_the_vault(settings: Config, tmp_path: Path, system: System) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("read_only = maybe\n", encoding="utf-8")

    found = by_subject(vault_checks.check_vaults(settings.replace(named_policy=str(policy)), system))

    assert found["Vault basic"].status == "problem"
    assert "line 1" in found["Vault basic"].message


def test_the_state_of_the_index_is_told(settings: Config, system: System) -> None:
    assert by_subject(vault_checks.check_vaults(settings, system))["Index of basic"].status == "note"

    from obsidian_mcp import compose

    app = compose.build(settings)
    app.vaults.get().indexer.pending.begin()
    app.vaults.get().indexer.complete()
    app.vaults.close()

    assert by_subject(vault_checks.check_vaults(settings, system))["Index of basic"].message.endswith(
        "files, up to date"
    )


def test_a_folder_that_cannot_be_written_is_a_problem(settings: Config, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    found = by_subject(
        doctor.check_folders(
            settings.replace(named_cache=str(tmp_path / "file"), named_state=str(tmp_path / "file/below"))
        )
    )

    assert [finding.status for finding in found.values()] == ["problem", "problem"]
    assert "OBSIDIAN_MCP_CACHE" in found["Index folder"].remedy


def test_the_watcher_reports_a_change_it_made_itself(settings: Config) -> None:
    (finding,) = vault_checks.check_watching(settings)
    assert finding.status == "fine" or "reports no changes" in finding.message

    (finding,) = vault_checks.check_watching(settings.replace(watch=False))
    assert finding.status == "note"


# Clients


def test_equal_entries_are_started_once(system: System, server: list[str], tmp_path: Path) -> None:
    """DOC-03"""
    for client in ("claude-code", "gemini-cli", "codex"):
        install(CLIENTS[client], system, "obsidian", server)

    found = by_subject(client_checks.check_clients(system))

    assert [found[f"{title} (obsidian)"].status for title in ("Claude Code", "Gemini CLI", "Codex")] == ["fine"] * 3
    assert (tmp_path / "starts").read_text(encoding="utf-8") == "started "


def test_an_entry_that_does_not_start_is_a_problem_with_the_command_that_mends_it(
    system: System, tmp_path: Path
) -> None:
    gone = tmp_path / "gone" / "obsidian-mcp"
    install(CLIENTS["cursor"], system, "notes", [str(gone)])

    finding = by_subject(client_checks.check_clients(system))["Cursor (notes)"]

    assert finding.status == "problem"
    assert f"{gone}: it cannot be started" in finding.message
    assert finding.remedy == "Run: obsidian-mcp install cursor --name notes"


def test_an_entry_whose_vault_is_gone_is_not_even_started(system: System, server: list[str], tmp_path: Path) -> None:
    install(CLIENTS["codex"], system, "obsidian", [*server, "--vault", str(tmp_path / "gone")])
    install(CLIENTS["zed"], system, "obsidian", [*server, f"--vault={tmp_path / 'gone'}"])

    found = by_subject(client_checks.check_clients(system))

    for subject in ("Codex (obsidian)", "Zed (obsidian)"):
        assert found[subject].status == "problem"
        assert f"{tmp_path / 'gone'}, but the folder does not exist" in found[subject].message
    assert not (tmp_path / "starts").exists()


def test_a_command_without_its_folder_is_a_problem_for_programs_of_the_desktop_only(system: System) -> None:
    for client in ("claude-desktop", "claude-code"):
        path = CLIENTS[client].file(system)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            '{"mcpServers": {"o": {"command": "uvx", "args": ["--from", "x", "obsidian-mcp"]}}}', encoding="utf-8"
        )

    found = by_subject(client_checks.check_clients(replace(system, environ={"PATH": ""})))

    assert "'uvx' without its folder" in found["Claude Desktop (o)"].message
    assert "uvx --from x obsidian-mcp: it cannot be started" in found["Claude Code (o)"].message


def test_a_broken_file_is_a_problem_and_the_others_are_still_looked_at(system: System, server: list[str]) -> None:
    install(CLIENTS["gemini-cli"], system, "obsidian", server)
    broken = CLIENTS["claude-desktop"].file(system)
    broken.parent.mkdir(parents=True)
    broken.write_text("{", encoding="utf-8")

    found = by_subject(client_checks.check_clients(system))

    assert "not valid JSON" in found["Claude Desktop"].message
    assert found["Gemini CLI (obsidian)"].status == "fine"


def test_clients_that_are_here_and_not_set_up_are_named(system: System) -> None:
    (finding,) = client_checks.check_clients(system)
    assert finding.message == "No client was found on this computer."

    (system.home / ".cursor").mkdir()
    (finding,) = client_checks.check_clients(system)
    assert (finding.status, "Cursor (cursor)" in finding.message) == ("note", True)


# The plugin


def test_the_plugin_is_asked_only_where_one_is_configured() -> None:
    """DOC-02, BRIDGE-10"""
    assert list(doctor.check_plugin(config.Config(environ={"OBSIDIAN_MCP_API_KEY": "secret"}))) == []
    for setting, value in (("HOST", "127.0.0.1"), ("PORT", "3000"), ("TRANSPORT", "v1")):
        assert len(list(doctor.check_plugin(config.Config(environ={f"OBSIDIAN_MCP_{setting}": value})))) == 1, setting


def test_a_plugin_that_answers_is_fine_and_one_that_does_not_is_a_problem() -> None:
    class Plugin(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"tools": [{"name": "a"}, {"name": "b"}], "hash": "x"}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Plugin) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            port = {"OBSIDIAN_MCP_PORT": str(server.server_port)}
            (finding,) = doctor.check_plugin(config.Config(environ=port))
            (in_other_words,) = doctor.check_plugin(config.Config(environ={**port, "OBSIDIAN_MCP_TRANSPORT": "mcp"}))
        finally:
            server.shutdown()
            thread.join()
    assert (finding.status, "answers with 2 tools" in finding.message) == ("fine", True)
    assert (in_other_words.status, "does not offer this" in in_other_words.message) == ("problem", True)
    (finding,) = doctor.check_plugin(config.Config(environ=port))
    assert (finding.status, finding.remedy) == ("problem", "Start Obsidian and switch the plugin on.")


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        ("OBSIDIAN_MCP_HOST", "http://here", "is not the name or address of a host."),
        ("OBSIDIAN_MCP_API_KEY", "schlüssel", "The API key of the plugin holds a character that no header can carry."),
    ],
)
def test_a_setting_of_the_plugin_that_cannot_work_is_named(setting: str, value: str, problem: str) -> None:
    """DOC-02, BRIDGE-10"""
    configured = config.Config(environ={"OBSIDIAN_MCP_HOST": "127.0.0.1"} | {setting: value})
    (finding,) = doctor.check_plugin(configured)
    assert (finding.status, problem in finding.message, ".." in finding.message) == ("problem", True, False)


# The command


def test_the_exit_status_says_whether_anything_is_broken(system: System, basic: Path) -> None:
    """DOC-01"""
    environ = {**SYSTEM_ENVIRONMENT, **home_variables(system.home), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "obsidian_mcp", "doctor", "--vault", str(basic)]

    healthy = forked.run([*command, "--json"], env=environ)
    assert healthy.returncode == 0
    report = json.loads(healthy.stdout)
    assert report["healthy"] is True
    assert {"subject", "status", "message", "remedy"} == set(report["findings"][0])
    assert any(finding["subject"] == f"Vault {basic.name}" for finding in report["findings"])

    (system.home / ".claude.json").write_text("{", encoding="utf-8")
    broken = forked.run(command, env=environ)
    assert broken.returncode == 1
    assert b"problem  Claude Code: The file" in broken.stdout
    assert b"\x1b" not in broken.stdout
    assert broken.stdout.rstrip().endswith(b"Problems: 1. See the lines above.")
