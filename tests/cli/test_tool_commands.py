"""The subcommands of the tools as a person or a script uses them (specs/cli.md)."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp import config
from obsidian_mcp.cli.progress_bar import SHOWN_AFTER_SECONDS, show_progress
from obsidian_mcp.core.text.call import current_call, report_progress
from tests import forked
from tests.system import needs

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(basic: Path) -> Run:
    """Run the command in a copy of the vault `basic`; `fed` is what a pipe sends to its standard input."""
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("OBSIDIAN")},
        "OBSIDIAN_VAULT_PATH": str(basic),
        "OBSIDIAN_MCP_CACHE": str(basic.parent / "cache"),
        "OBSIDIAN_MCP_STATE": str(basic.parent / "state"),
        "OBSIDIAN_MCP_POLICY": str(basic.parent / "policy.toml"),
        "HOME": str(basic.parent),
    }

    def execute(
        *arguments: str, fed: str | None = None, cwd: Path | None = None, **extra: str
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "obsidian_mcp", *arguments]
        given = None if fed is None else fed.encode()
        done = forked.run(command, fed=given, env={**environment, **extra}, cwd=cwd)
        return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())

    return execute


def test_read_prints_a_note_of_any_length_whole(run: Run, basic: Path) -> None:
    """CLI-10: a note of 75 KB stopped at 39 974 bytes"""
    text = "".join(f"Line {number} of a long note.\n" for number in range(3000))
    (basic / "Long.md").write_text(text, encoding="utf-8", newline="\n")

    done = run("read", "Long")

    assert (done.returncode, done.stdout) == (0, text)


@pytest.mark.parametrize(
    "habits", [{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "cp1252"}], ids=["locale", "code page"]
)
def test_names_and_answers_are_utf8_whatever_the_locale_or_code_page(
    run: Run, tmp_path: Path, habits: dict[str, str]
) -> None:
    """CLI-03: in a locale without UTF-8 no such note was there, and in a pipe on Windows
    `doctor` was an internal error"""
    vault = tmp_path / "日記"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "霧.md").write_text("# 見出し\n", encoding="utf-8", newline="\n")
    of_vault = {**habits, "PYTHONUTF8": "0", "OBSIDIAN_VAULT_PATH": str(vault)}

    edited = run("edit", "霧", "append", "朝", **of_vault)
    checked = run("doctor", **of_vault)
    missing = run("read", "雨", **of_vault)

    assert (edited.returncode, edited.stderr) == (0, "")
    assert (vault / "霧.md").read_text(encoding="utf-8") == "# 見出し\n朝\n"
    assert str(vault) in checked.stdout
    assert "'雨'" in missing.stderr


def test_a_search_prints_every_hit_and_a_limit_is_kept(run: Run, basic: Path) -> None:
    """CLI-10: `--limit 500` into a pipe printed 89 of 6 049 hits"""
    for number in range(600):
        (basic / f"Found {number}.md").write_text(f"The heron of day {number}, which is a long line. " * 6, "utf-8")

    everything = run("search", "heron", "--show", "paths")
    some = run("search", "heron", "--limit", "550", "--show", "paths")

    assert len(everything.stdout.splitlines()) == 600
    assert len(some.stdout.splitlines()) == 550


def test_a_search_indexes_what_is_not_indexed_yet(run: Run, basic: Path) -> None:
    """INDEX-42: after any number of exact searches the index was still empty"""

    def pending() -> int:
        return int(json.loads(run("index", "status", "--json").stdout)["pending"])

    for number in range(300):
        (basic / f"Found {number}.md").write_text("heron", "utf-8")
    assert pending() > 300
    assert len(run("search", "heron", "--match", "exact", "--show", "paths").stdout.splitlines()) == 300
    assert pending() == 0
    for number in range(100):
        (basic / f"Found {number}.md").write_text("a canal", "utf-8")
    assert len(run("search", "heron", "--match", "exact", "--show", "paths").stdout.splitlines()) == 200


def test_a_list_is_printed_whole(run: Run, basic: Path) -> None:
    """CLI-10"""
    for number in range(620):
        (basic / f"Listed {number}.md").touch()

    listed = json.loads(run("list", "--json").stdout)

    assert len(listed["files"]) == listed["total"] >= 620


@pytest.mark.parametrize(
    "arguments", [("create", "Fed", "-"), ("create", "Fed", "--content", "-"), ("create", "--name", "Fed", "-")]
)
def test_what_is_piped_into_create_becomes_the_note(run: Run, basic: Path, arguments: tuple[str, ...]) -> None:
    """CLI-05: standard input was dropped and success reported"""
    assert run(*arguments, fed="From a pipe: 日本語\n").returncode == 0
    assert (basic / "Fed.md").read_text(encoding="utf-8") == "From a pipe: 日本語\n"


def test_what_is_piped_into_edit_is_added(run: Run, basic: Path) -> None:
    """CLI-05"""
    assert run("edit", "Home", "append", "-", fed="- [ ] from a pipe\n").returncode == 0
    assert (basic / "Home.md").read_text(encoding="utf-8").endswith("- [ ] from a pipe\n")


def test_content_that_begins_like_a_list_item_needs_no_marker(run: Run, basic: Path) -> None:
    """CLI-13"""
    assert run("edit", "Home", "append", "- [ ] buy milk").returncode == 0
    assert run("edit", "Home", "append", "--content", "- [ ] buy bread").returncode == 0
    assert (basic / "Home.md").read_text(encoding="utf-8").endswith("- [ ] buy milk\n- [ ] buy bread\n")


def test_content_given_twice_is_refused_and_nothing_is_written(run: Run, basic: Path) -> None:
    """CLI-05"""
    done = run("create", "Twice", "one", "--content", "two")

    assert done.returncode != 0
    assert "Give CONTENT once" in done.stderr
    assert not (basic / "Twice.md").exists()


def test_an_error_is_one_line_with_a_status_of_its_own_and_names_commands(run: Run) -> None:
    """CLI-02, CLI-12"""
    done = run("create", "Home", "again")

    assert (done.returncode, done.stdout) == (17, "")
    assert done.stderr.startswith("obsidian-mcp: ")
    assert done.stderr.count("\n") == 1
    assert run("no-such-command").returncode == 2
    assert "`obsidian-mcp edit`" in done.stderr
    assert "obsidian_" not in done.stderr


def test_a_vault_is_named_by_the_name_the_app_shows_before_or_after_the_command(
    run: Run, basic: Path, tmp_path: Path
) -> None:
    """CLI-04"""
    other = tmp_path / "Second vault"
    other.mkdir()
    (other / "Only here.md").touch()
    for folder in (tmp_path / "config", basic.parent / "Library/Application Support"):  # the latter on macOS
        (folder / "obsidian").mkdir(parents=True)
        registry = {"vaults": {"a": {"path": str(other), "ts": 1}}}
        (folder / "obsidian" / "obsidian.json").write_text(json.dumps(registry), encoding="utf-8")
    folders = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "APPDATA": str(tmp_path / "config")}

    before = run("--vault", "second vault", "list", **folders)
    after = run("list", "--vault", "second vault", **folders)

    assert "Only here.md" in before.stdout
    assert after.stdout == before.stdout


def test_a_tilde_before_a_name_that_no_account_has_is_part_of_the_name(run: Run, basic: Path) -> None:
    """CLI-04: an internal error"""
    basic.rename(basic.parent / "~Notes")

    missing = run("--vault", "~No such account", "info")
    found = run("--vault", "~Notes", "list", cwd=basic.parent)

    assert "~No such account' does not exist" in missing.stderr
    assert "Home.md" in found.stdout


def test_a_home_folder_that_the_system_made_up_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CLI-04: Windows answers with a folder beside that of the user for every name"""
    monkeypatch.setattr(os.path, "expanduser", lambda path: str(tmp_path / path[1:]))
    (tmp_path / "Ann").mkdir()

    assert config.Config(("~Ann/Notes",)).named_vaults == (str(tmp_path / "Ann/Notes"),)
    assert config.Config(("~Notes",)).named_vaults == ("~Notes",)


def test_a_configuration_is_copied_with_names_that_it_has_only() -> None:
    """POL-14: a misspelled limit would be none"""
    limited = config.Config(environ={}).replace(read_only=True, scope="Work")

    assert (limited.read_only, limited.scope, limited.tools) == (True, "Work", "all")
    with pytest.raises(TypeError, match="Config has no read_onyl"):
        limited.replace(read_onyl=False)


def test_a_file_of_the_user_is_attached_by_its_path(run: Run, basic: Path, tmp_path: Path) -> None:
    """CLI-15"""
    picture = tmp_path / "wheel of brass.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))

    done = run("attach", str(picture), "--json")

    added = json.loads(done.stdout)
    assert (basic / added["path"]).read_bytes() == picture.read_bytes()
    assert added["path"].endswith("wheel of brass.png")


def test_answers_have_titled_columns_sizes_in_units_and_local_times(run: Run, basic: Path) -> None:
    """CLI-11"""
    (basic / "Big.md").write_text("x" * 12_345, encoding="utf-8")
    os.utime(basic / "Big.md", (1_700_000_000, 1_700_000_000))

    listed = run("list", "--format", "table", TZ="Asia/Tokyo").stdout.splitlines()

    assert re.fullmatch(r"  PATH +SIZE +MODIFIED +ETAG", next(line for line in listed if "PATH" in line))
    row = next(line for line in listed if "Big.md" in line)
    assert "12.3 kB" in row
    if hasattr(time, "tzset"):
        assert "2023-11-15 07:13" in row


@pytest.mark.parametrize("zone", ["UTC+24", "UTC-24"])
def test_times_are_shown_in_a_zone_a_day_from_utc(run: Run, basic: Path, zone: str) -> None:
    """CLI-11"""
    os.utime(basic / "Home.md", (1_700_000_000, 1_700_000_000))

    shown = run("list", "--format", "table", TZ=zone)

    assert shown.returncode == 0, shown.stderr
    if hasattr(time, "tzset"):
        assert {"UTC+24": "2023-11-13 22:13", "UTC-24": "2023-11-15 22:13"}[zone] in shown.stdout


def test_undo_takes_back_what_an_earlier_command_did(run: Run, basic: Path) -> None:
    """CLI-17"""
    before = (basic / "Home.md").read_bytes()
    assert run("edit", "Home", "append", "one line more").returncode == 0

    assert run("undo").returncode == 0
    assert (basic / "Home.md").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "typed", "expected"),
    [
        ("obsidian-mcp read Mori", "Mori", "Mori Ayumi"),
        ("obsidian-mcp list Pro", "Pro", "Projects"),
        ("obsidian-mcp tags wo", "wo", "work"),
        ("obsidian-mcp sea", "sea", "search"),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_the_shell_completes_commands_and_names(run: Run, shell: str, words: str, typed: str, expected: str) -> None:
    """CLI-14: bash and zsh pass the number of the word, fish and PowerShell the word itself"""
    place = typed if shell in ("fish", "powershell") else str(len(words.split()) - 1)

    done = run(_OBSIDIAN_MCP_COMPLETE=f"{shell}_complete", COMP_WORDS=words, COMP_CWORD=place)

    assert expected in done.stdout


def test_the_shell_completes_names_of_the_vault_before_the_command(run: Run, tmp_path: Path) -> None:
    """CLI-04, CLI-14"""
    (tmp_path / "Other").mkdir()
    (tmp_path / "Other" / "Only here.md").touch()
    words = f"obsidian-mcp --vault {(tmp_path / 'Other').as_posix()} read Onl"  # a backslash quotes in bash

    done = run(_OBSIDIAN_MCP_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD="4")

    assert "Only here" in done.stdout


def test_the_history_names_commands(run: Run) -> None:
    """CLI-12"""
    run("set-properties", "status=done", "--names", "Alpha")
    said = run("history").stdout

    assert "set-properties" in said
    assert "COMMAND" in said


@needs("pseudo terminals")
def test_alone_on_a_terminal_the_program_explains_itself() -> None:
    """CLI-01"""
    import pty

    ends = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "obsidian_mcp"], stdin=ends[1], capture_output=True, timeout=60, check=False
    )
    for end in ends:
        os.close(end)

    assert done.returncode == 0
    assert b"obsidian-mcp install claude-desktop" in done.stdout


def test_progress_is_shown_on_a_terminal_of_38_columns_only_for_what_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """CLI-16"""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "38")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with show_progress():
        report_progress(1, 2, "Quick")
    with show_progress():
        begun = time.monotonic()
        while time.monotonic() - begun < SHOWN_AFTER_SECONDS + 0.05:
            report_progress(1, 2, "Renaming the tag")
    stream_text = terminal.getvalue()

    assert "Quick" not in stream_text
    assert "Renaming the tag" in stream_text
    assert all(len(line) <= 38 for line in re.split(r"[\r\n]", re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", stream_text)))
    assert current_call.get().progress is None


def test_a_batch_of_json_lines_is_one_change(run: Run, basic: Path) -> None:
    """BATCH-07"""
    added = {"name": "New", "operation": "append", "content": "b"}
    calls = [{"tool": "create_note", "name": "New", "content": "a\n"}, {"tool": "edit_note", "arguments": added}]
    lines = "".join(f"{json.dumps(call)}\n\n" for call in calls)
    file = basic.parent / "calls.jsonl"
    file.write_text(lines, encoding="utf-8")
    assert "+b" in run("batch", str(file), "--dry-run").stdout
    assert not (basic / "New.md").exists()

    done = run("batch", "-", "--json", fed=lines)

    assert (json.loads(done.stdout)["calls"], (basic / "New.md").read_text(encoding="utf-8")) == (2, "a\nb\n")
    assert run("undo").returncode == 0
    assert not (basic / "New.md").exists()
    for wrong, message in (
        (lines + "{", "Line 5 is no JSON"),
        (lines + '{"tool": "delete_note", "name": "No such"}', "Call 3 .*Nothing of the batch was changed"),
        ("3", "FILE must be a list of objects"),
        ("", "1 to 100 calls"),
    ):
        refused = run("batch", "-", fed=wrong)
        assert refused.returncode != 0
        assert re.search(message, refused.stderr)
    assert "cannot be read" in run("batch", "none.jsonl").stderr
    assert not (basic / "New.md").exists()


def test_a_search_for_nothing_is_a_mistake_in_the_command(run: Run, basic: Path) -> None:
    """CLI-09, SEARCH-111: without a vault it ended with the status of a missing vault, or as a broken query"""
    for arguments in (("search",), ("search", "--match", "exact"), ("search", "--vault", str(basic / "no vault"))):
        searched = run(*arguments)

        assert searched.returncode == 2
        assert "Say what to search for" in searched.stderr
    assert run("search", "--sort", "modified").returncode == 0
    assert run("search", "").returncode == 25
