"""Lists for people and for other programs, the vault that is meant, and the help (specs/cli.md)."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp.cli import command_table, grammar
from obsidian_mcp.cli.help import command_help
from obsidian_mcp.cli.list_output import LISTS
from tests import forked
from tests.vaults import write_files

OVERVIEW = Path(grammar.__file__).with_name("overview.json")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(basic: Path) -> Run:
    """Run the command in the folder of a copy of the vault `basic`, which no option and no variable names."""
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("OBSIDIAN")},
        "OBSIDIAN_MCP_CACHE": str(basic.parent / "cache"),
        "OBSIDIAN_MCP_STATE": str(basic.parent / "state"),
        "HOME": str(basic.parent),
    }

    def execute(*arguments: str, cwd: Path = basic, **extra: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "obsidian_mcp", *arguments]
        done = forked.run(command, env={**environment, **extra}, cwd=cwd)
        return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())

    return execute


def test_the_help_has_each_command_in_one_group_in_a_line_of_60_columns() -> None:
    """CLI-23"""
    overview = json.loads(OVERVIEW.read_text(encoding="utf-8"))
    listed = [name for lines in overview.values() for name in lines]
    of_groups = {name.partition(" ")[0] for name in command_table.command_names()} & set(command_table.group_titles())
    alone = [name for name in command_table.command_names() if name.partition(" ")[0] not in of_groups]

    assert sorted(listed) == sorted([*alone, *of_groups])
    printed = command_help(grammar.root()).splitlines()
    for title, lines in overview.items():
        start = printed.index(f"{title}:")
        for line, (name, text) in zip(printed[start + 1 :], lines.items(), strict=False):
            assert line.split(None, len(name.split())) == [*name.split(), text]
            assert len(line) <= 60


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("serch", "x"), "Did you mean search? "),
        (("list", "--recursve"), "Did you mean --recursive? "),
        (("read", "Hme"), "Did you mean 'Home.md'?"),
    ],
)
def test_a_slip_is_met_with_what_differs_least(run: Run, words: tuple[str, ...], said: str) -> None:
    """CLI-23: `serch` was answered with `search or serve`"""
    done = run(*words)
    assert done.returncode != 0
    assert said in done.stderr


def test_a_short_name_is_near_although_many_others_share_letters(run: Run, basic: Path) -> None:
    """CLI-23: among names with one pair of letters in common, the first fifty alone were compared"""
    write_files(basic, {f"A theme for some time {number}.md": "" for number in range(80)})
    assert "Did you mean 'Home.md'" in run("read", "Hme").stderr


def test_the_vault_of_the_current_folder_is_meant_where_none_is_named(run: Run, basic: Path, tmp_path: Path) -> None:
    """CLI-04"""
    other = write_files(tmp_path / "other", {"Elsewhere.md": "", ".obsidian/app.json": "{}"})

    assert run("list", cwd=basic / "Projects").stdout.splitlines()[0] == "Board.canvas"
    assert run("list", OBSIDIAN_VAULT_PATH=str(other)).stdout == "Elsewhere.md\n"
    assert run("--vault", str(other), "list").stdout == "Elsewhere.md\n"
    assert run("list", cwd=basic.parent).returncode != 0
    assert f"Vault {basic.name}: {basic}" in run("doctor", cwd=basic / "Projects").stdout
    assert "No vault is configured" in run("doctor", cwd=basic.parent).stdout


def test_a_list_of_files_is_paths_in_a_pipe(run: Run, basic: Path) -> None:
    """CLI-24"""
    paths = run("list", "--recursive").stdout.splitlines()

    assert all((basic / path).is_file() for path in paths)
    assert len(paths) == 11
    assert run("list", "-r", "-0").stdout == "".join(f"{path}\0" for path in paths)
    assert len(run("list", "-r", "--limit", "2").stdout.splitlines()) == 2


@pytest.mark.parametrize("command", LISTS)
def test_every_list_has_the_formats_for_programs(run: Run, basic: Path, command: str) -> None:
    """CLI-24"""
    write_files(basic, {"Task.md": "- [ ] x\n"})
    run("bookmark", "add", "Home")
    words = {"graph": ["orphans"], "links": ["Alpha"], "search": ["brass"], "similar": ["Alpha"]}.get(command, [])

    rows = json.loads(run(command, *words, "--format", "json").stdout)

    assert rows or command == "templates"
    lines = run(command, *words, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows
    table = list(csv.DictReader(io.StringIO(run(command, *words, "--format", "csv").stdout)))
    assert len(table) == len(rows)
    assert run(command, *words, "--format", "table").returncode in (0, 1)
    paths = run(command, *words, "--format", "paths")
    if any(isinstance(row, str) or "path" in row for row in rows):
        assert [(basic / path).is_file() for path in paths.stdout.splitlines()] == [True] * len(
            paths.stdout.splitlines()
        )


def test_rows_that_name_no_file_have_no_paths_and_a_note_is_no_list(run: Run) -> None:
    """CLI-24"""
    for words, said in ((("tags",), "name no files"), (("properties", "Alpha"), "is no list")):
        refused = run(*words, "--format", "paths")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert said in refused.stderr


def test_a_search_without_a_hit_ends_with_1(run: Run) -> None:
    """CLI-09"""
    assert run("search", "brass").returncode == 0
    assert run("search", "nothing-like-this", "--match", "exact").returncode == 1
    assert run("search", "nothing-like-this", "--match", "exact", "--json").returncode == 1


def test_a_zero_with_a_dash_is_text_for_a_command_without_lists(run: Run, basic: Path) -> None:
    """CLI-13"""
    assert run("edit", "Home", "append", "-0").returncode == 0
    assert (basic / "Home.md").read_text(encoding="utf-8").endswith("-0\n")


def test_the_history_of_a_change_of_many_files_names_the_first(run: Run, basic: Path) -> None:
    """CLI-12: a change of 800 files was a row of 11 941 columns"""
    write_files(basic, {f"Many/{number:03}.md": "brass\n" for number in range(60)})
    assert run("replace", "brass", "bronze", "--query", "brass", "--json").returncode == 0

    row = next(line for line in run("history").stdout.splitlines() if "replace" in line)

    assert "more" in row
    assert len(row) < 200
    assert len(json.loads(run("history", "--json").stdout)["changes"][0]["files"]) > 60


EDITORS = {
    "adds a line": "file.write_bytes(file.read_bytes() + b'Oil.\\n')",
    "changes nothing": "pass",
    "fails": "sys.exit(3)",
    "another program writes": "file.write_bytes(b'Mine.\\n'); Path(os.environ['NOTE']).write_bytes(b'Theirs.\\n')",
}


@pytest.mark.parametrize("editor", EDITORS)
def test_a_note_without_an_operation_is_opened_in_the_editor(
    run: Run, basic: Path, tmp_path: Path, editor: str
) -> None:
    """CLI-25"""
    script = tmp_path / "editor.py"
    script.write_text(
        f"import os, sys\nfrom pathlib import Path\nfile = Path(sys.argv[1])\n{EDITORS[editor]}\n",
        encoding="utf-8",
        newline="\n",
    )
    note = basic / "Home.md"
    before = note.read_bytes()
    variables = {
        "EDITOR": f"{sys.executable} {script}",
        "NOTE": str(note),
        **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(tmp_path)),
    }

    done = run("edit", "Home", **variables)

    kept = [file.read_bytes() for file in tmp_path.glob("obsidian-mcp-*.md")]
    if editor == "adds a line":
        assert (done.stdout, note.read_bytes(), kept) == ("Changed: Home.md\n", before + b"Oil.\n", [])
        assert run("undo").returncode == 0
        assert note.read_bytes() == before
    elif editor == "changes nothing":
        assert (done.stdout, note.read_bytes(), kept) == ("Unchanged: Home.md\n", before, [])
        assert json.loads(run("history", "--json").stdout)["total"] == 0
    else:
        assert (done.returncode != 0, len(kept)) == (True, 1)
        assert "What you wrote is in" in done.stderr
        assert note.read_bytes() == (before if editor == "fails" else b"Theirs.\n")
        assert kept == [before if editor == "fails" else b"Mine.\n"]


def test_an_operation_is_asked_for_where_there_is_no_editor(run: Run, basic: Path) -> None:
    """CLI-25"""
    for extra in ({"EDITOR": "", "VISUAL": ""}, {"EDITOR": "no-such-editor-here", "VISUAL": ""}):
        refused = run("edit", "Home", **extra)
        assert refused.returncode == 2
        assert "EDITOR" in refused.stderr or "no-such-editor-here" in refused.stderr
    assert "Missing: OPERATION" in run("edit", "Home", "--find", "x", EDITOR="true").stderr


def test_words_that_name_no_day_are_added_to_the_daily_note(run: Run) -> None:
    """CLI-26"""
    assert run("daily", "called Ada").returncode == 0
    assert run("daily").stdout.rstrip().endswith("called Ada")
    for days in ("last monday", "nonsense"):
        assert run("daily", days).returncode != 0
    assert run("daily").stdout.rstrip().endswith("called Ada")
