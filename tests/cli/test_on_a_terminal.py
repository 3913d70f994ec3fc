"""What a person at a terminal gets: a pager for long answers, and a question before another's change goes (CLI-17,
CLI-27)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from obsidian_mcp import compose, config
from obsidian_mcp.cli import main, undo_command
from obsidian_mcp.core.text.call import Client, call_with
from tests.system import needs
from tests.vaults import write_files

PAGER = "import sys; data = sys.stdin.buffer.read(); sys.stdout.write(f'paged {len(data.splitlines())}')"
SIZE = {"LINES": "10", "COLUMNS": "40"}


@pytest.fixture
def vault(basic: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OBSIDIAN_VAULT_PATH", str(basic))
    for kind in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{kind}", str(basic.parent / kind.lower()))
    return basic


def on_a_terminal(words: Sequence[str], pager: str, extra: Mapping[str, str] = SIZE) -> str:
    """What a terminal shows of a command, with `pager` as PAGER."""
    import pty
    import subprocess

    screen, end = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "obsidian_mcp", *words],
        stdin=subprocess.DEVNULL,
        stdout=end,
        stderr=subprocess.PIPE,
        env={**os.environ, "PAGER": pager, **extra},
    )
    os.close(end)
    shown = b""
    try:
        while part := os.read(screen, 65_536):
            shown += part
    except OSError:  # Linux says so that the other end is closed
        pass
    finally:
        os.close(screen)
        process.communicate(timeout=60)
    return shown.decode()


@needs("pseudo terminals")
def test_an_answer_longer_than_the_screen_goes_through_the_pager(vault: Path, tmp_path: Path) -> None:
    """CLI-27"""
    script = write_files(tmp_path / "bin", {"pager.py": PAGER}) / "pager.py"
    pager = f"{sys.executable} {script}"
    write_files(vault, {f"Many/{number}.md": "" for number in range(30)})
    write_files(vault, {"Long line.md": "word " * 200, "Short.md": "a line\n"})

    assert on_a_terminal(["list", "Many"], pager).startswith("paged ")
    assert on_a_terminal(["read", "Long line"], pager) == "paged 1"
    assert on_a_terminal(["--help"], pager).startswith("paged ")
    assert "a line" in on_a_terminal(["read", "Short"], pager)
    for none in ("", "cat", "no-such-pager-here"):
        assert "Many/29.md" in on_a_terminal(["list", "Many"], none)
    assert "Many/29.md" in on_a_terminal(["obsidian", "files"], pager)


def test_a_program_never_meets_a_pager(
    vault: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """CLI-27"""
    monkeypatch.setenv("PAGER", "no-such-pager-here")
    monkeypatch.setenv("LINES", "2")
    assert main.run_command_line(["list", "-r"]) == 0
    assert "Home.md" in capfd.readouterr().out


@pytest.fixture
def changes(vault: Path) -> Path:
    """A change of the command line's, and a later one of an assistant's."""
    assert main.run_command_line(["edit", "Home", "append", "mine"]) == 0
    with (
        compose.build(config.Config((str(vault),)), serving=True) as app,
        call_with(client=Client("some-assistant", "1")),
    ):
        opened = app.vaults.get()
        opened.edit("edit_note", opened.find("Alpha"), lambda body: f"{body}theirs\n")
    return vault


def ends(vault: Path) -> tuple[bool, bool]:
    """Whether the command line's text is there, and the assistant's."""
    home, alpha = (vault / "Home.md"), (vault / "Projects" / "Alpha.md")
    return "mine" in home.read_text(encoding="utf-8"), "theirs" in alpha.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("watched", "words", "answer", "status", "after"),
    [
        (True, ["undo"], "y", 0, (True, False)),
        (True, ["undo"], "", 130, (True, True)),
        (True, ["undo", "1"], None, 0, (False, True)),
        (True, ["undo", "--yes"], None, 0, (True, False)),
        (False, ["undo", "-y"], None, 0, (True, False)),
        (False, ["undo"], None, 0, (False, True)),
    ],
)
def test_an_undo_asks_before_it_takes_back_what_another_client_did_last(
    changes: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    watched: bool,
    words: list[str],
    answer: str | None,
    status: int,
    after: tuple[bool, bool],
) -> None:
    """CLI-17"""
    asked: list[str] = []
    monkeypatch.setattr(undo_command, "has_watcher", lambda: watched)

    def ask(question: str) -> str:
        asked.append(question)
        return answer or ""

    monkeypatch.setattr(undo_command, "ask", ask)

    assert main.run_command_line(words) == status
    assert ends(changes) == after
    assert len(asked) == (answer is not None)
    if asked:
        assert "some-assistant" in asked[0]
        assert "Projects/Alpha.md" in asked[0]


def test_an_undo_of_the_command_lines_own_latest_change_asks_nothing(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLI-17"""
    monkeypatch.setattr(undo_command, "has_watcher", lambda: True)
    assert main.run_command_line(["edit", "Home", "append", "mine"]) == 0
    assert main.run_command_line(["undo"]) == 0
    assert ends(vault) == (False, False)


@pytest.mark.parametrize("words", [["keys"], ["keys", "list"]])
def test_the_name_of_a_group_alone_lists_with_its_options(
    words: list[str], vault: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """CLI-28: `keys --json` was an unknown option"""
    monkeypatch.setenv("OBSIDIAN_MCP_POLICY", str(vault.parent / "policy.toml"))
    for name in ("phone", "tablet"):
        assert main.run_command_line(["keys", "add", name]) == 0
    capfd.readouterr()

    assert main.run_command_line([*words, "--json", "--limit", "1"]) == 0
    assert [row["name"] for row in json.loads(capfd.readouterr().out)["keys"]] == ["phone"]
    assert main.run_command_line([*words, "-j"]) == 0
    assert len(json.loads(capfd.readouterr().out)["keys"]) == 2


@pytest.mark.parametrize(
    ("command", "member"), [("bookmarks", "bookmarks"), ("templates", "templates"), ("list", "files"), ("tags", "tags")]
)
def test_a_list_ends_at_its_limit(command: str, member: str, vault: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """CLI-10"""
    write_files(vault, {f"Templates/T{number}.md": "x" for number in range(3)})
    write_files(vault, {".obsidian/templates.json": '{"folder": "Templates"}'})
    for name in ("Home", "Alpha"):
        main.run_command_line(["bookmark", "add", name])
    capfd.readouterr()

    for form in (["--json"], ["--format", "json"]):
        assert main.run_command_line([command, "--limit", "1", *form]) == 0
        listed = json.loads(capfd.readouterr().out)
        assert len(listed[member] if isinstance(listed, dict) else listed) == 1
