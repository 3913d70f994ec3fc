"""Messages write a path of the system as the system does: a backslash of Windows is not doubled (specs/cli.md)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp.adapters.obsidian_program import find_program
from obsidian_mcp.core.files import uri
from obsidian_mcp.core.text import vault_path
from obsidian_mcp.errors import AppError
from obsidian_mcp.setup import files
from tests import forked

FOLDER = r"C:\Users\Ana\Notes"


def name_program(program: str) -> None:
    find_program(program, {}, platform="win32", is_program=lambda _: False, real_path=lambda path: path)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: uri.note_name("file:///elsewhere.md", "Notes", Path(FOLDER)),
        lambda: vault_path.parse(FOLDER),
        lambda: name_program(rf"{FOLDER}\Obsidian.com"),
        lambda: name_program(rf"{FOLDER}\obsidian.bat"),
    ],
)
def test_a_refusal_doubles_no_backslash(refused: Callable[[], object]) -> None:
    with pytest.raises(AppError) as raised:
        refused()
    assert "Ana" in raised.value.message
    assert "\\\\" not in raised.value.message


def test_a_refused_file_of_a_client_doubles_no_backslash(tmp_path: Path) -> None:
    folder = tmp_path / r"Ana\Notes"
    folder.mkdir(parents=True)
    (folder / "odd").write_bytes(b"\xff")
    for path in (folder, folder / "odd"):
        with pytest.raises(AppError) as raised:
            files.read_config_file(path)
        assert str(path) in raised.value.message


@pytest.mark.parametrize(
    "arguments",
    [
        ["batch", rf"{FOLDER}\calls.jsonl"],
        ["view", "note", "Home", "--output", rf"{FOLDER}\page.txt"],
        ["keys", "add", "work", "--vault", FOLDER],
    ],
)
def test_a_refusal_of_the_command_line_doubles_no_backslash(arguments: list[str], basic: Path) -> None:
    environment = {**os.environ, "OBSIDIAN_VAULT_PATH": str(basic), "OBSIDIAN_MCP_POLICY": str(basic.parent / "policy")}
    done = forked.run([sys.executable, "-m", "obsidian_mcp", *arguments], env=environment)
    assert done.returncode
    assert rb"Ana\Notes" in done.stderr
    assert b"\\\\" not in done.stderr
