"""The table of commands, the help, and the suggestions (HEADLESS-02, 03, 07, 08)."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from obsidian_mcp import __version__
from obsidian_mcp.cli import cells
from obsidian_mcp.cli.headless import call, words
from obsidian_mcp.cli.headless.words import COMMANDS, DropInCommand, DropInKey

from .conftest import Run

CASES = Path(__file__).parent / "cases"
SPECIFICATION = Path(__file__).parents[3] / "specs" / "headless.md"


def test_the_specification_names_each_command_with_its_verdict_and_the_file_that_tests_it() -> None:
    """HEADLESS-02: `make update` does not write this table: a verdict is decided by a person."""
    table = SPECIFICATION.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z:]+)` \| (\w+) \| (\w+) \|", table, re.MULTILINE)
    assert {name: verdict for name, verdict, _ in rows} == {name: command.verdict for name, command in COMMANDS.items()}
    for name, _, test in rows:
        cases = (CASES / f"{test}.txt").read_text(encoding="utf-8")
        assert re.search(rf"^\$ {name}(?: |$)", cases, re.MULTILINE), name


def test_each_command_from_the_files_has_its_function() -> None:
    """HEADLESS-02"""
    for command in COMMANDS.values():
        if command.verdict in ("files", "limits") and command.module != "own":
            module = import_module(f"obsidian_mcp.cli.headless.{command.module}")
            assert callable(getattr(module, command.function)), command.name


def test_words_are_keys_flags_and_formats() -> None:
    """HEADLESS-03"""
    read = words.read_words(["vault=V", "backlinks", "file=a=b", "file=c", "--json", "counts=false", "total", "all"])
    assert (read.vault, read.command, read.text("file"), read.format) == ("V", "backlinks", "c", "json")
    assert (read.has("counts"), read.has("total"), read.has("all"), read.has("x")) == (False, True, True, False)
    assert words.read_words(["backlinks", "format=xml"]).format == ""
    assert words.read_words(["--copy", "read"]).command == "--copy"
    assert words.read_words(["read", "--copy"]).copy


VALUED = [
    (command, parameter)
    for command in COMMANDS.values()
    for parameter in command.parameters
    if parameter.placeholder and not parameter.may_be_empty
]


@pytest.mark.parametrize(("command", "parameter"), VALUED, ids=[f"{one.name} {key.name}" for one, key in VALUED])
def test_no_command_takes_an_empty_value(command: DropInCommand, parameter: DropInKey, run: Run, vault: Path) -> None:
    """HEADLESS-03: `daily:append date= content=x` wrote into today's note."""
    before = sorted(vault.rglob("*"))
    required = [f"{other.name}=1" for other in command.parameters if other.required and other != parameter]
    said = run(command.name, f"{parameter.name}=", *required)

    assert said.startswith((f"Error: The value of {parameter.name} is empty", "Error: Missing required parameter"))
    assert sorted(vault.rglob("*")) == before


def test_content_has_escapes() -> None:
    """HEADLESS-06"""
    assert words.unescape(r"a\nb \times \\n \x") == "a\nb \times \\n \\x"


def test_suggestions_begin_with_the_word_then_contain_it_then_are_near() -> None:
    """HEADLESS-03"""
    assert words.suggestions("daily:") == ["daily:append", "daily:path", "daily:prepend"]
    assert words.suggestions("serch") == ["search", "sync"]
    assert words.suggestions("linkx") == ["links"]
    assert words.suggestions("doesnotexistverb") == []


@pytest.mark.parametrize(
    "listed",
    [
        ["us1-5kb.md", "us1-12kb.md", "us1-60b.md"],
        ["AGENTS.md", "agents/x.md", "ATTRIBUTION.md"],
        ["skills/references/p.md", "skills/SKILL.md"],
        ["#5D6D7E", "#27AE60", "#AI", "#ai-agent"],
        ["_a", "@b", "/c", "a", "A", "ä", "b"],
    ],
)
def test_lists_are_in_the_order_of_the_app(listed: list[str]) -> None:
    """HEADLESS-07"""
    assert call.sort_texts(reversed(listed)) == listed


def test_cells_with_commas_are_quoted() -> None:
    """HEADLESS-07"""
    assert cells.separate([['x, "y"', "z"]], "csv") == '"x, ""y""",z'


def test_help_has_the_layout_that_programs_read(run: Run) -> None:
    """HEADLESS-08"""
    whole = run("help")
    assert run() == run("--help") == whole
    assert "\nCommands:\n  aliases               " in whole
    assert "\n  append                Add text at the end of a note\n    file=<name>         - " in whole
    assert "    content=<text>      - " in whole
    assert " (required)\n" in whole
    assert whole.index("Commands:") < whole.index("Developer:") < whole.index("  eval ")
    assert run("help", "search").startswith("  search                ")
    assert "  search:context        " in run("help", "search")
    assert "[needs the app]" in run("help", "eval")
    assert run("version") == f"1.13.8 (obsidian-mcp {__version__})\n"


def test_a_program_reads_every_command_and_key_out_of_the_help(run: Run) -> None:
    """HEADLESS-08: 22 columns for a command, 20 for a key, and an empty line behind each command."""
    commands, developer = run("help").partition("Commands:\n")[2].split("\n\nDeveloper:\n")
    for text, is_developers in ((commands, False), (developer, True)):
        entries = [entry.split("\n") for entry in text.strip("\n").split("\n\n")]
        known = [command for command in COMMANDS.values() if ("developer" in command.marks) is is_developers]
        assert [lines[0][2:24].rstrip() for lines in entries] == sorted(command.name for command in known)
        for lines in entries:
            command = COMMANDS[lines[0][2:24].rstrip()]
            assert lines[0].endswith("[needs the app]") == (command.verdict == "app")
            keys = [re.fullmatch(r"    (\S+) *- (.+?)( \(required\))?", line) for line in lines[1:]]
            shown = [(key[1], bool(key[3])) for key in keys if key is not None]
            assert shown == [(parameter.form, parameter.required) for parameter in command.parameters]
            for line, parameter in zip(lines[1:], command.parameters, strict=True):
                width = len(parameter.form)
                assert line.index("- ", 4 + width) == 4 + (20 if width < 20 else width + 2)


def test_help_and_errors_load_little() -> None:
    """HEADLESS-08: neither the tools nor the parser of notes."""
    code = (
        "import sys; from obsidian_mcp.cli.main import run_command_line as run; run(['obsidian', 'eval', 'code=1']); "
        "sys.exit(any(name in sys.modules for name in ('mcp', 'pydantic', 'obsidian_mcp.core.note.parser')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
