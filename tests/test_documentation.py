"""The documents for users: they cannot say what is not so. `make update` rewrites what is generated."""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path

import platformdirs.macos
import platformdirs.unix
import pytest

from obsidian_mcp import config, errors
from obsidian_mcp.cli import main
from obsidian_mcp.cli.command_table import command_names, get_command
from obsidian_mcp.serve.mcp.prompts import PROMPTS
from obsidian_mcp.tools import offer
from tests.conftest import FIXTURES
from tests.generated import ROOT, check_section

DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
SERVING = {"serve", "http", "bridge", "ui"}
"""Commands that do not end by themselves."""


def commands_in(document: Path) -> list[str]:
    """Commands of this program in shell blocks: lines of their own, or after a `$` with their output below.

    A command whose output is an error of this program is left out.
    """
    blocks = re.findall(
        r"^```(?:sh|console)\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    found = []
    for block in blocks:
        lines = [line.partition("  #")[0].strip() for line in block.splitlines()]
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            command = line.removeprefix("$ ")
            if command.startswith("obsidian-mcp ") and not following.startswith("obsidian-mcp: "):
                found.append(command)
    return found


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own with two vaults; the real one is out of reach."""
    for name in ("Notes", "Work"):
        shutil.copytree(FIXTURES / "basic", tmp_path / name)
    (tmp_path / "Pictures").mkdir()
    (tmp_path / "Pictures" / "wheel.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for variable in [name for name in os.environ if name.startswith(("OBSIDIAN", "BURLY", "XDG_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path / "AppData"))
    for kind in ("CACHE", "STATE"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{kind}", str(tmp_path / kind.lower()))
    monkeypatch.setenv("OBSIDIAN_MCP_POLICY", str(tmp_path / "policy.toml"))
    monkeypatch.chdir(tmp_path)  # some commands write a file where they are started
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"# Log\n"), encoding="utf-8"))
    return tmp_path


def run(line: str) -> int:
    """The exit status of a line as a shell would run it, redirections aside."""
    words = shlex.split(line)[1:]
    for redirection in ("<", ">"):
        if redirection in words:
            words = words[: words.index(redirection)]
    words = [str(Path(word).expanduser()) if word.startswith("~") else word for word in words]
    # Servers do not end, the doctor looks at this machine, and a model is downloaded: it is enough that the options are
    # right.
    if (
        SERVING & set(words)
        or "doctor" in words
        or words[:2] == ["semantic", "setup"]
        or all(word.startswith("-") or Path(word).is_absolute() for word in words)
    ):
        words.append("--help")
    return main.run_command_line(words)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_in_a_document_works(
    document: Path, account: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for line in commands_in(document):
        status = run(line)
        error = capfdbinary.readouterr().err.decode()
        assert status == 0 or (status == 1 and error.endswith("Nothing found.\n")), f"{line}: {status}: {error}"


COMMANDS = {name: command for name in command_names() if (command := get_command(name)) is not None}
NEED_THE_APP = {"app-info", "open", "app-command"}


@pytest.mark.parametrize(
    "example",
    [example for name, command in COMMANDS.items() for example in command.examples if name not in NEED_THE_APP],
)
def test_every_example_in_the_help_works(
    example: str, account: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setenv("OBSIDIAN_VAULT_PATH", str(account / "Notes"))
    if example.startswith("undo"):
        for number in range(12):
            assert main.run_command_line(["create", f"n{number}"]) == 0
    if example.startswith("keys remove"):
        assert main.run_command_line(["keys", "add", "phone"]) == 0
    if example.startswith("batch"):
        monkeypatch.chdir(account)
        (account / "calls.jsonl").write_text('{"tool": "create_note", "name": "New"}\n', encoding="utf-8")
    status = run(f"obsidian-mcp {example}")

    assert status == 0, capfdbinary.readouterr().err.decode()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_can_answer_in_json(name: str) -> None:
    command = COMMANDS[name]

    assert command.text
    assert command.examples
    assert "json" in command.arguments or name in ("serve", "http", "bridge", "ui", "completion", "obsidian", "hook")


def test_every_command_takes_what_its_function_takes() -> None:
    """CLI-01: options are data, so that nothing but this test sees one that its function has not"""
    checked = 0
    for command in COMMANDS.values():
        module, _, name = (command.run or "tool_commands.run_tool_command").rpartition(".")
        function = signature(getattr(import_module(f"obsidian_mcp.cli.{module}"), name))
        if command.tool or name == "run_drop_in":
            continue
        function.bind(None, **dict.fromkeys(set(command.arguments) - {"help"}))  # raises where they differ
        checked += 1

    assert checked > 5


def test_every_tool_has_a_command() -> None:
    """CLI-01"""
    assert {entry.command for entry in offer.table().tools.values()} <= set(COMMANDS)


def every_error() -> list[type[errors.AppError]]:
    found = [value for value in vars(errors).values() if isinstance(value, type) and value is not errors.AppError]
    kinds = [value for value in found if issubclass(value, errors.AppError)]
    return sorted(kinds, key=lambda kind: (kind.code != -32000, -kind.code, kind.exit_status, kind.error_code))


def test_every_error_is_documented(update: bool) -> None:
    specified = (ROOT / "specs/errors.md").read_text(encoding="utf-8")
    when = dict(re.findall(r"^\| -\d+ \| (\w+)[^|]*\| \d+ \| (.*?) \|$", specified, re.MULTILINE))
    rows = []
    for kind in every_error():
        assert kind.error_code in specified
        said = when.get(kind.error_code, "the request is wrong")
        rows.append(f"| `{kind.error_code}` | {kind.code} | {kind.exit_status} | {said} |\n")
    table = "| word | code | exit status | when |\n|---|---|---|---|\n" + "".join(rows)
    check_section(ROOT / "docs/troubleshooting.md", "errors", table, update=update)


def test_every_prompt_is_documented(update: bool) -> None:
    rows = []
    for prompt in PROMPTS.values():
        entry = prompt.entry
        assert entry.description
        arguments = [f"`{argument.name}`" + ("" if argument.required else "?") for argument in entry.arguments or ()]
        rows.append(f"| `{entry.name}` | {', '.join(arguments)} | {' '.join(entry.description.split())} |\n")
    table = "| prompt | arguments | what for |\n|---|---|---|\n" + "".join(rows)
    check_section(ROOT / "docs/clients.md", "prompts", table, update=update)


class Recorder(dict[str, str]):
    """An environment that remembers the names that were looked up."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)
        self.names: set[str] = set()

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]  # mypy wants the overloads
        self.names.add(name)
        return super().get(name, default)


def test_every_setting_is_documented_and_every_documented_one_is_read() -> None:
    environment = Recorder({"OBSIDIAN_MCP_CHAT_URL": "http://127.0.0.1/"})
    config.Config(environ=environment)
    source = Path(config.__file__).read_text(encoding="utf-8")
    read = environment.names | set(re.findall(r'"((?:OBSIDIAN|BURLYMCP)_[A-Z_]+)"', source))
    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`([A-Z_]+)`", "".join(re.findall(r"^\| (`[A-Z_`, ]+) \|", text, re.MULTILINE))))

    assert {name for name in read if name.startswith(("OBSIDIAN", "BURLY"))} == documented
    assert all(f"`{name}`" in text for name in read)


@pytest.mark.parametrize("document", [*DOCUMENTS, *sorted((ROOT / "specs").glob("*.md"))], ids=lambda path: path.name)
def test_every_link_of_a_document_leads_somewhere(document: Path) -> None:
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target:
            assert (document.parent / target).exists(), target


@pytest.fixture(scope="module")
def code() -> list[str]:
    """The files of Python, each with a slash in front."""
    folders = ("obsidian_mcp", "tests", "benchmarks", "packaging")
    return [f"/{file.relative_to(ROOT).as_posix()}" for folder in folders for file in (ROOT / folder).rglob("*.py")]


def test_every_file_that_the_map_names_exists() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+(?:/|\.\w+))`", text) + re.findall(r"\b(?:specs|docs)/\w+\.md", text)

    assert len(named) > 10
    assert [name for name in named if not ((ROOT / name).exists() or (ROOT / "obsidian_mcp" / name).exists())] == []


@pytest.mark.parametrize(
    "document",
    [*DOCUMENTS, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "specs").glob("*.md"))],
    ids=lambda path: path.name,
)
def test_every_file_of_code_that_a_document_names_exists(document: Path, code: list[str]) -> None:
    named = re.findall(r"`([\w./-]+\.py)`", document.read_text(encoding="utf-8").replace("NOUN", "tasks"))

    assert [name for name in named if not any(path.endswith(f"/{name}") for path in code)] == []


def test_the_readme_leads_to_every_document() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    for document in (ROOT / "docs").glob("*.md"):
        assert f"(docs/{document.name})" in text


def test_nothing_tells_to_install_extras_of_the_package_of_a_stranger() -> None:
    """The name of the command is the name of another project's package."""
    texts = [*DOCUMENTS, *(ROOT / "obsidian_mcp").rglob("*.py"), *(ROOT / "packaging").rglob("*.md")]

    assert [
        file.name for file in texts if re.search(r"obsidian-mcp\[|install obsidian-mcp\b", file.read_text("utf-8"))
    ] == []


def test_the_page_of_the_bridge_gives_both_ways_that_survive_a_restart_of_the_server() -> None:
    text = " ".join((ROOT / "docs" / "http.md").read_text(encoding="utf-8").split())

    assert "ends at start" not in text
    for said in ("works until one request fails", "OBSIDIAN_MCP_TRANSPORT=mcp", "obsidian-mcp http --open-bridge"):
        assert said in text


def test_the_table_of_places_says_where_each_system_keeps_them() -> None:
    text = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
    table = text[text.index("## Where things are") :].partition("\n\n## ")[0]
    rows = {
        row[0].strip(): [cell.strip(" `") for cell in row[1:4]]
        for row in re.findall(r"^\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|$", table, re.MULTILINE)
    }
    linux, macos = platformdirs.unix.Unix("obsidian-mcp", False), platformdirs.macos.MacOS("obsidian-mcp", False)
    for row, name in (
        ("policy and keys", "user_config_dir"),
        ("old versions, apps that signed in", "user_state_dir"),
        ("the index (can be deleted)", "user_cache_dir"),
    ):
        for place, folder in zip(rows[row], (getattr(linux, name), getattr(macos, name)), strict=False):
            assert Path(place.removesuffix("policy.toml")).expanduser() == Path(folder), (row, place)
