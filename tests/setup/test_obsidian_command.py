"""This program linked as `obsidian` (INST-10, INST-11)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from obsidian_mcp.adapters.obsidian_program import find_program
from obsidian_mcp.errors import ClientConfigRefused, InvalidArguments
from obsidian_mcp.setup.launcher import Running
from obsidian_mcp.setup.obsidian_command import install_command, is_our_link, uninstall_command
from obsidian_mcp.setup.system import System

PROGRAM = Path(sys.executable).parent / ("obsidian-mcp.exe" if os.name == "nt" else "obsidian-mcp")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows; there the program is copied")


def running(found: str | None = None, program: Path = PROGRAM) -> Running:
    return Running(str(program), sys.executable, str(PROGRAM.parent), "obsidian-mcp", lambda _: found)


def test_the_link_is_the_drop_in_and_goes_again(tmp_path: Path) -> None:
    """INST-10, INST-11."""
    system = System("linux", tmp_path, {})
    link = install_command(system, running(), False)
    assert link == tmp_path / ".local/bin/obsidian"
    assert install_command(system, running(str(link)), False) == link
    result = subprocess.run([link, "version"], capture_output=True, encoding="utf-8", check=True, stdin=subprocess.PIPE)
    assert result.stdout.startswith("1.13.8 (obsidian-mcp ")
    assert uninstall_command(system, running()) == link
    assert not link.is_symlink()
    assert uninstall_command(system, running()) is None


def test_another_command_of_that_name_stays(tmp_path: Path) -> None:
    """INST-10, INST-11."""
    system = System("linux", tmp_path, {})
    with pytest.raises(ClientConfigRefused, match="another obsidian command"):
        install_command(system, running("/usr/local/bin/obsidian"), False)
    with pytest.raises(ClientConfigRefused, match="app is registered"):
        install_command(system, running(), True)
    link = tmp_path / ".local/bin/obsidian"
    link.parent.mkdir(parents=True)
    link.write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(ClientConfigRefused):
        install_command(system, running(), False)
    with pytest.raises(ClientConfigRefused):
        uninstall_command(system, running())
    assert not is_our_link(link)


def test_a_program_that_is_not_installed_is_not_linked(tmp_path: Path) -> None:
    """INST-10."""
    swept = Running("x", "/home/a/.cache/uv/archive-v0/x/bin/python", "", "obsidian-mcp", lambda name: f"/bin/{name}")
    with pytest.raises(InvalidArguments, match="cannot be linked"):
        install_command(System("linux", tmp_path, {}), swept, False)


def test_the_search_for_the_apps_program_passes_over_the_link(tmp_path: Path) -> None:
    """PROG-01, HEADLESS-09."""
    install_command(System("linux", tmp_path, {}), running(), False)
    assert find_program("", {"HOME": str(tmp_path), "PATH": ""}, platform="linux") is None
