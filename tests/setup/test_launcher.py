"""Which command is written into a client's file (specs/install.md, INST-05)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from obsidian_mcp import DISTRIBUTION, __version__
from obsidian_mcp.setup.launcher import Running, command_line, is_ours

VENV = Running(
    argv0="/srv/venv/bin/obsidian-mcp",
    executable="/srv/venv/bin/python3",
    scripts="/srv/venv/bin",
    origin="obsidian-vault-tools==1.2.3",
    find={"uvx": "/home/me/.local/bin/uvx", "uv": "/home/me/.local/bin/uv", "pipx": "/usr/bin/pipx"}.get,
)
UVX = replace(
    VENV,
    argv0="/home/me/.cache/uv/archive-v0/x/bin/obsidian-mcp",
    executable="/home/me/.cache/uv/archive-v0/x/bin/python",
)
WINDOWS_UVX = replace(UVX, executable=r"C:\Users\me\AppData\Local\uv\cache\archive-v0\x\Scripts\python.exe")
PIPX_RUN = replace(VENV, executable="/home/me/.local/share/pipx/.cache/ab12/bin/python")

SCRIPT = Path("/srv/venv/bin/obsidian-mcp")


def test_the_console_script_that_was_started_is_taken() -> None:
    linked = replace(VENV, argv0="/home/me/.local/bin/obsidian-mcp")

    assert command_line(linked, lambda _: True) == (str(Path("/home/me/.local/bin/obsidian-mcp").absolute()),)


@pytest.mark.parametrize("argv0", ["/srv/venv/lib/obsidian_mcp/__main__.py", "/usr/bin/pytest", ""])
def test_started_otherwise_the_environments_own_script_is_taken(argv0: str) -> None:
    assert command_line(replace(VENV, argv0=argv0), {str(SCRIPT)}.__contains__) == (str(SCRIPT),)


def test_on_windows_the_script_is_a_program() -> None:
    program = str(SCRIPT.with_suffix(".exe"))

    assert command_line(replace(VENV, argv0="x"), {program}.__contains__) == (program,)


def test_without_a_script_python_itself_is_taken() -> None:
    assert command_line(VENV, lambda _: False) == ("/srv/venv/bin/python3", "-m", "obsidian_mcp")


@pytest.mark.parametrize("running", [UVX, WINDOWS_UVX])
def test_an_environment_of_uvx_is_not_written_down(running: Running) -> None:
    uvx = ("/home/me/.local/bin/uvx", "--from", "obsidian-vault-tools==1.2.3", "obsidian-mcp")
    assert command_line(running, lambda _: True) == uvx

    only_uv = replace(running, find={"uv": "/bin/uv"}.get)
    assert command_line(only_uv, lambda _: True)[:4] == ("/bin/uv", "tool", "run", "--from")


def test_an_environment_of_pipx_run_is_not_written_down() -> None:
    assert command_line(PIPX_RUN, lambda _: True) == (
        "/usr/bin/pipx",
        "run",
        "--spec",
        "obsidian-vault-tools==1.2.3",
        "obsidian-mcp",
    )


def test_this_process_is_started_by_something_that_exists() -> None:
    running = Running.from_environment({})

    line = command_line(running)
    assert is_ours(line[0], list(line[1:]))
    remote = ("git+", "http", f"{DISTRIBUTION}=={__version__}")
    assert Path(running.origin).is_absolute() or running.origin.startswith(remote)


@pytest.mark.parametrize(
    ("line", "ours"),
    [
        ("/srv/venv/bin/obsidian-mcp --vault /v", True),
        (r"C:\Python\Scripts\obsidian-mcp.exe --vault C:\v", True),
        ("/usr/bin/python3 -m obsidian_mcp", True),
        ("/opt/uvx --from git+https://example.com/o.git@abc obsidian-mcp --vault /v", True),
        ("pipx run --spec /src obsidian-mcp", True),
        ("uvx --from obsidian-vault-tools==1.2.3 obsidian-mcp", True),
        ("uvx obsidian-vault-tools --vault /v", True),
        ("uvx obsidian-vault-tools@1.2.3", True),
        ("pipx run obsidian-vault-tools==1.2.3", True),
        ("uvx obsidian-vault-tools[media]", True),
        ("uvx obsidian-vault-tools-extra", False),
        ("/srv/venv/bin/obsidian-vault-tools --vault /v", True),
        ("uv tool run --from /src obsidian-mcp", True),
        ("uvx obsidian-mcp", False),
        ("uvx mcp-obsidian", False),
        ("npx -y obsidian-mcp /v", False),
        ("/usr/bin/python3 -m mcp_obsidian", False),
        ("node /x/obsidian-mcp/index.js", False),
        ("uvx obsidian-mcp-server", False),
    ],
)
def test_our_own_entries_are_told_from_those_of_others(line: str, ours: bool) -> None:
    command, *arguments = line.split()

    assert is_ours(command, arguments) is ours
