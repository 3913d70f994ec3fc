"""How the words of a command line are read, whatever the command (specs/cli.md)."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from obsidian_mcp.cli import grammar, main
from obsidian_mcp.cli.command_table import command_names, find_command, get_command
from obsidian_mcp.cli.completion import completions
from obsidian_mcp.cli.grammar import CommandArgument, Subcommand
from obsidian_mcp.tools.registry import TOOLS
from tests import forked
from tests.system import can

COMMANDS = {name: command for name in command_names() if (command := get_command(name)) is not None}
NEEDED = {"search": ["--folder=Projects"], "edit": ["--operation=append"]}
"""What a command needs besides."""
TYPED = {"integer": "1", "object": "a=1", "boolean": ""}


@pytest.fixture
def vault(basic: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OBSIDIAN_VAULT_PATH", str(basic))
    for kind in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{kind}", str(basic.parent / kind.lower()))
    monkeypatch.setenv("OBSIDIAN_MCP_POLICY", str(basic.parent / "policy.toml"))
    return basic


def read(line: str) -> dict[str, object]:
    command, words = find_command(shlex.split(line))
    return grammar.values(command, grammar.scan(command, words))


def required(command: Subcommand, without: str = "") -> list[str]:
    """Words for the arguments that a command requires, but for one."""
    found = [*NEEDED.get(command.name, [])]
    names = [name for name in command.places if name in command.required and name != without]
    for argument in (command.arguments[name] for name in names):
        usual = "Alpha:15" if argument.name == "task" else "Alpha"
        typed = __file__ if argument.completes == "path" else TYPED.get(argument.type, usual)
        found.append(argument.choices[0] if argument.choices else typed)
    return found


def test_options_stand_anywhere_and_every_argument_can_be_one() -> None:
    """CLI-01"""
    expected = {"name": "A", "operation": "append", "content": "x", "dry_run": True}
    for line in (
        "edit A append x --dry-run",
        "edit --dry-run A append x",
        "edit A -d append x",
        "edit A append --dry-run x",
        "edit --name A append --content=x -d",
        "edit -d -- A append x",
    ):
        assert read(line) == expected, line
    assert read("list -rn5 -f A") == {"recursive": True, "limit": 5, "folder": "A"}
    assert read("set-properties a=1 b= --names A --names B") == {"properties": ["a=1", "b="], "names": ["A", "B"]}
    assert read("move A --no-update-links B C/") == {"paths": ["A", "B", "C/"], "update_links": False}


@pytest.mark.parametrize("text", ["- [ ] milk", "--- x", "-5", "-file:list", "---\na: 1\n---", "-"])
def test_a_dash_without_a_letter_begins_content(text: str) -> None:
    """CLI-13"""
    assert read(shlex.join(["edit", "A", "append", text]))["content"] == text
    assert read(shlex.join(["edit", "A", "append", "--content", text]))["content"] == text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("serch x", "There is no command 'serch'. Did you mean search"),
        ("search x --limt 3", "There is no option --limt. Did you mean --limit"),
        ("search x -foo", "There is no option -foo. Put -- before a text that begins with a dash."),
        ("search a b", "'b' is one argument too many."),
        ("search a --limit", "--limit wants a value"),
        ("search a --json=1", "--json takes no value"),
        ("http --port 70000", "port must be a whole number from 0 to 65535, but '70000' came"),
        ("view graph A --depth 9", "depth must be a whole number from 1 to 3"),
        ("view query x --layout pie", "'pie' is not one of table, cards, list, board"),
        ("undo 0", "change must be a whole number of at least 1, but '0' came"),
        ("list --limit 0", "limit must be a whole number of at least 1, but '0' came"),
        ("index", "Usage: obsidian-mcp index COMMAND"),
        ("index frob", "index has these commands: status, update, rebuild"),
    ],
)
def test_wrong_usage_is_said_with_what_is_right(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """CLI-02"""
    assert main.run_command_line(shlex.split(line)) == 2
    assert said in capsys.readouterr().err


EMPTY = [
    (name, argument)
    for name, command in COMMANDS.items()
    for argument in command.arguments.values()
    if not argument.is_flag and name != "obsidian"
]


def means_something(name: str, argument: CommandArgument) -> bool:
    """Whether an empty value of an argument is another one than none."""
    if argument.is_checked or argument.is_repeatable:
        return False
    parameter = TOOLS[COMMANDS[name].tool].parameters[argument.name]
    is_text = parameter.type == "string" and (parameter.is_required or parameter.default is None)
    return is_text or argument.name == "content"


@pytest.mark.parametrize(
    ("name", "argument"),
    [(name, argument) for name, argument in EMPTY if not means_something(name, argument)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_no_command_takes_an_empty_value_for_none(
    name: str, argument: CommandArgument, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """CLI-22: `daily ""` was today's note."""
    command = COMMANDS[name]
    words = [] if argument.name in command.required else required(command)
    words = [*name.split(), *words, f"{argument.option}="]

    assert main.run_command_line(words) == 2, capsys.readouterr().err
    assert command.form_of(argument) in capsys.readouterr().err


def test_every_command_names_an_argument_as_it_is_typed(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CLI-12: `tags --limit x` was answered with "Argument 'limit' must be a whole number" """
    tried = 0
    for name, command in COMMANDS.items():
        for argument in command.arguments.values():
            is_free = (name, argument.name) == ("task", "action")  # a status of the vault's own stands there, too
            if name == "obsidian" or is_free or not (argument.type == "integer" or argument.choices):
                continue
            words = required(command, without=argument.name)
            status = main.run_command_line([*name.split(), *words, f"{argument.option}=no-such"])
            error = capsys.readouterr().err
            assert (status, command.form_of(argument) in error) == (2, True), (name, argument.name, error)
            assert f"'{argument.name}'" not in error
            tried += 1
    assert tried > 60


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("edit Home append", "append needs --content: the text to add"),
        ("edit Home append x --find y", "--find is for replace_text only"),
        ("edit Home replace_section x", "needs --section"),
        ("create Home x", "or give --overwrite to replace the whole note"),
        ("read Home --section A --lines 1-2", "Give --section or --lines, not both"),
        ("read", "Give either --name or --names"),
        ("compose extract Home", "extract needs --part"),
        ("compose merge Home", "merge needs --into"),
        ("graph path", "needs --name"),
        ("graph orphans --to Home", "takes no --to"),
        ("links --unlinked", "--unlinked needs --name"),
        ("move Alpha Home Elsewhere.md", "several names and --query move notes into a folder"),
        ("task done Home:1 --text x --daily", "There is no option --daily"),
        ("task add x --due someday", "--due: 'someday' is no day"),
        ("tasks --status soon", "--status must be todo"),
        ("tasks --due someday", "--due: 'someday' is not understood"),
        ("search x --name Home --sort modified", "--name is one note: --folder, --sort and --group are for many"),
        ("search x --modified-after soon", "--modified-after must be a date"),
        ("replace /brass/ x --regex --names Home", "FIND is in none of the files"),
        ("replace a b", "Give either --names (a list of notes) or --query"),
        ("set-properties a=1", "Give either --names (a list of notes) or --query"),
        ("daily --section A", "--section needs --content"),
        ("check --offset 1", "--offset is for one check: name it with --only"),
        ("query", "Give --query, or --this"),
        ("create New x --date today", "--date is the day of a template's {{date}}; give --template too"),
        ("bookmark add", "Missing: TARGET"),
        ("keys --limit x", "--limit must be a whole number"),
        ("supersede Home Home", "A note cannot be superseded by itself"),
    ],
)
def test_an_error_of_a_tool_names_options_and_words(
    line: str, said: str, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """CLI-12"""
    assert main.run_command_line(shlex.split(line)) != 0
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--vault", "--scope", "--key", "--tools"])
def test_no_option_of_the_program_is_empty(option: str, vault: Path) -> None:
    """CLI-22"""
    assert main.run_command_line([option, "", "list"]) == 2


MISPLACED = [
    (command, argument.option)
    for command in ("search x", "recall x", "keys list", "doctor")
    for name, argument in grammar.root().arguments.items()
    if name not in find_command(command.split())[0].arguments
]


@pytest.mark.parametrize(("command", "option"), MISPLACED)
def test_of_an_option_of_the_program_behind_a_command_its_place_is_said(
    command: str, option: str, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """CLI-12"""
    assert main.run_command_line([*command.split(), option]) == 2
    assert f"{option} is an option of all commands and stands before them" in capsys.readouterr().err


class Refusing(io.RawIOBase):
    """Standard input that must not be read."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: object) -> int:
        raise AssertionError("standard input was read")


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if command.tool])
def test_no_command_of_a_tool_reads_standard_input_unasked(
    name: str, vault: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """CLI-05: `while read d; do obsidian-mcp daily $d; done` wrote the rest of the loop's lines into the note."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Refusing()), encoding="utf-8"))

    main.run_command_line([name, *required(COMMANDS[name])])

    assert "standard input was read" not in capfd.readouterr().err


def test_a_loop_keeps_its_lines_and_an_open_pipe_is_not_waited_for(vault: Path) -> None:
    """CLI-05: `while read name; do obsidian-mcp edit "$name" …; done`."""
    program = [sys.executable, "-m", "obsidian_mcp"]
    reading, writing = os.pipe()
    os.write(writing, b"Alpha\nHome\n")
    try:
        for name in ("Alpha", "Home"):
            edit = [*program, "edit", name, "append", f"one of {name}"]
            assert forked.start(edit, stdin=reading, stdout=subprocess.DEVNULL, env=os.environ).wait(60) == 0
        forked.start([*program, "daily", "2026-11-20"], stdin=reading, env=os.environ).wait(60)
        assert os.read(reading, 100) == b"Alpha\nHome\n"
    finally:
        os.close(reading)
        os.close(writing)

    assert (vault / "Home.md").read_text(encoding="utf-8").endswith("one of Home\n")
    assert (vault / "Projects" / "Alpha.md").read_text(encoding="utf-8").endswith("one of Alpha\n")


@pytest.mark.parametrize("command", [["read", "Line ends"], ["obsidian", "read", "file=Line ends"]])
def test_a_pipe_gets_the_line_ends_of_the_note(
    command: list[str], vault: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """CLI-03: on Windows a pipe got CRLF for each LF, and two for each CRLF."""
    (vault / "Line ends.md").write_bytes("one\r\ntwo\n三\r".encode())

    assert main.run_command_line(command) == 0
    assert capfdbinary.readouterr().out.removesuffix(b"\n") == "one\r\ntwo\n三\r".encode()


def test_every_command_prints_line_feeds_alone(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CLI-03: text layers of Windows make CRLF of LF; what is printed goes past them."""
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="cp1252", newline="\r\n"))
    for line in ("list", "list --json", "vaults --json", "info", "search brass", "--help", "index status", "tags"):
        assert main.run_command_line(shlex.split(line)) == 0, line

    assert b"\r" not in printed.getvalue()
    assert "—".encode() not in printed.getvalue() or printed.getvalue().decode()


def test_completion_knows_what_stands_where(vault: Path) -> None:
    """CLI-14"""

    def offered(*before: str, typed: str = "") -> set[str]:
        return {value for value, _ in completions(before, typed)}

    assert "search" in offered(typed="sea")
    assert {"keys", "index", "view"} <= offered()
    assert offered("keys") == {"list", "add", "remove"}
    assert "--vault" in offered(typed="--v")
    assert {"--limit", "--no-update-links"} <= offered("list", typed="--") | offered("move", typed="--")
    assert offered("search", "x", "--match") == {"smart", "exact"}
    assert offered("query", "x", "--format", typed="c") == {"csv"}
    assert "Projects" in offered("list", "--folder", typed="Pro")
    assert "Home" in offered("move", "Alpha", typed="Hom")
    assert offered("read", "Alpha", typed="Hom") == set()
    assert "install" not in offered("no-such-command")


def shell_words(shell: str, line: str, typed: str) -> str:
    """What the program offers to a shell that sends a line as it was typed."""
    place = typed if shell in ("fish", "powershell") else str(len(shlex.split(line)) - 1)
    done = forked.run(
        [sys.executable, "-m", "obsidian_mcp"],
        env={**os.environ, "_OBSIDIAN_MCP_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": place},
    )
    assert done.returncode == 0
    return done.stdout.decode()


def test_a_path_of_backslashes_is_a_vault_for_powershell(vault: Path, tmp_path: Path) -> None:
    """CLI-14: the backslashes of `--vault C:\\Notes` were taken for escapes."""
    folder = tmp_path / ("back\\slash" if can("names with a backslash") else "back")
    folder.mkdir()
    (folder / "Only here.md").touch()

    assert "Only here" in shell_words("powershell", f"obsidian-mcp --vault {folder} read Onl", "Onl")
    assert "Only here" in shell_words("powershell", f"obsidian-mcp --vault '{folder}' read Onl", "Onl")
    if can("names with a backslash"):
        assert "Only here" in shell_words("bash", f"obsidian-mcp --vault {shlex.quote(str(folder))} read Onl", "Onl")


def test_a_vault_is_completed_by_its_folder_and_an_option_with_its_value(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CLI-14"""
    (tmp_path / "Other vault" / ".obsidian").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def offered(*before: str, typed: str = "") -> set[str]:
        return {value for value, _ in completions(before, typed)}

    assert "Other vault/" in offered("--vault", typed="Oth")
    assert f"{tmp_path}/Other vault/" in offered("list", "--vault", typed=f"{tmp_path}/Oth")
    assert "--vault=Other vault/" in offered("list", typed="--vault=Oth")
    assert "--folder=Projects" in offered("list", typed="--folder=Pro")
    assert offered("read", typed=f"{tmp_path}/Oth") == set()


@pytest.mark.parametrize(
    ("line", "part", "expected"),
    [
        ("read Tower\\ cl", "Tower\\ cl", "Tower clock"),
        ('read "Tower cl', '"Tower cl', "Tower clock"),
        ("read Talk:", ":", " one"),
        ("read Talk:\\ o", "\\ o", " one"),
        ("read 'Talk: o", "'Talk: o", "Talk: one"),
        ("list --folder=Pro", "Pro", "Projects"),
    ],
)
def test_bash_replaces_the_part_of_a_word_that_it_knows_of(vault: Path, line: str, part: str, expected: str) -> None:
    """CLI-14: bash cuts words at `:` and `=`, so `Talk:` became `Talk:Talk: one`"""
    names = ["Tower clock.md", *(["Talk: one.md"] if can("names with a colon") else [])]
    for name in names:
        (vault / name).touch()
    if ":" in line and len(names) == 1:
        pytest.skip("no name has a colon here")
    done = forked.run(
        [sys.executable, "-m", "obsidian_mcp"],
        env={
            **os.environ,
            "_OBSIDIAN_MCP_COMPLETE": "bash_complete",
            "COMP_WORDS": f"obsidian-mcp {line}",
            "COMP_PART": part,
        },
    )
    assert expected in [row.split("\t")[0] for row in done.stdout.decode().splitlines()]


LINES = {
    "bash": (
        "source {script}; COMP_LINE='{line}'; COMP_POINT={point}; COMP_WORDS=({words}); COMP_CWORD={last}; "
        "_obsidian_mcp obsidian-mcp; "
        "printf '%s\\n' \"${{COMPREPLY[@]}}\""
    ),
    "fish": "source {script}; complete -C '{line}'",
}
OFFERED = {
    "obsidian-mcp read Mori": "Mori",
    "obsidian-mcp sea": "search",
    "obsidian-mcp read Tower": "clock",
    "obsidian-mcp list --rec": "--recursive",
}


def test_the_script_of_a_shell_completes_there(vault: Path, tmp_path: Path) -> None:
    """CLI-14"""
    (vault / "Tower clock.md").touch()
    command = tmp_path / "bin" / "obsidian-mcp"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m obsidian_mcp "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    programs = {shell: shutil.which(shell) for shell in LINES}
    for shell, program in programs.items():
        if program is None:
            continue
        made = subprocess.run(
            [command, "completion", shell], env=environment, capture_output=True, check=True, timeout=60
        )
        (tmp_path / "script").write_bytes(made.stdout)
        for line, expected in OFFERED.items():
            words = {"words": line, "last": len(line.split()) - 1, "point": len(line)}
            code = LINES[shell].format(script=tmp_path / "script", line=line, **words)
            done = subprocess.run(
                [program, "-c", code], env=environment, capture_output=True, encoding="utf-8", check=True, timeout=60
            )
            assert expected in done.stdout, done.stderr
    if None in programs.values():
        pytest.skip(f"not installed: {', '.join(shell for shell, program in programs.items() if program is None)}")
