"""This program linked as `obsidian` (INST-10, INST-11)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from sysconfig import get_path
from typing import NamedTuple

import pytest

from obsidian_mcp.adapters.obsidian_program import find_program
from obsidian_mcp.errors import AppCommandFailed, ClientConfigRefused, InvalidArguments
from obsidian_mcp.setup import doctor
from obsidian_mcp.setup.launcher import Running, install_command, is_our_link, uninstall_command
from obsidian_mcp.setup.system import KnownVault, System
from tests.system import can, needs

PROGRAM = Path(get_path("scripts")) / ("obsidian-mcp.exe" if os.name == "nt" else "obsidian-mcp")


def running(found: str | None = None, program: Path = PROGRAM) -> Running:
    return Running(str(program), sys.executable, str(program.parent), "obsidian-mcp", lambda _: found)


class Way(NamedTuple):
    """How a system gives this program another name: the system, the program, and the other name."""

    system: System
    program: Path
    link: Path

    def running(self, found: str | None = None) -> Running:
        return running(found, self.program)


@pytest.fixture(params=[*(["linux"] if can("symbolic links") else []), "win32"])
def way(tmp_path: Path, request: pytest.FixtureRequest) -> Way:
    """A link, and the copy that Windows gets, which lets nobody make links."""
    system = System(request.param, tmp_path, {})
    if request.param == "linux":
        return Way(system, PROGRAM, tmp_path / ".local/bin/obsidian")
    program = tmp_path / "Scripts/obsidian-mcp.exe"
    program.parent.mkdir()
    program.write_bytes(b"MZ a program")
    return Way(system, program, program.with_name("obsidian.exe"))


def test_the_program_gets_its_other_name_and_loses_it_again(way: Way) -> None:
    """INST-10, INST-11"""
    assert install_command(way.system, way.running(), [], dry_run=True) == way.link
    assert not way.link.exists()
    assert install_command(way.system, way.running(), []) == way.link
    assert is_our_link(way.link)
    assert way.link.read_bytes() == way.program.read_bytes()
    assert install_command(way.system, way.running(str(way.link)), []) == way.link
    assert uninstall_command(way.system, way.running()) == way.link
    assert not way.link.exists()
    assert uninstall_command(way.system, way.running()) is None


@needs("symbolic links")
def test_the_link_is_the_drop_in(tmp_path: Path) -> None:
    """INST-10"""
    link = install_command(System("linux", tmp_path, {}), running(), [])
    result = subprocess.run([link, "version"], capture_output=True, encoding="utf-8", check=True, stdin=subprocess.PIPE)
    assert result.stdout.startswith("1.13.8 (obsidian-mcp ")


def test_another_command_of_that_name_stays(way: Way, tmp_path: Path) -> None:
    """INST-10, INST-11"""
    with pytest.raises(ClientConfigRefused, match="another obsidian command"):
        install_command(way.system, way.running("/usr/local/bin/obsidian"), [])
    known = KnownVault("Notes", tmp_path / "Notes", open=True, opened=1)
    with pytest.raises(ClientConfigRefused, match=r"app is registered .*Notes"):
        install_command(way.system, way.running(), [known])
    way.link.parent.mkdir(parents=True, exist_ok=True)
    way.link.write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(ClientConfigRefused):
        install_command(way.system, way.running(), [])
    with pytest.raises(ClientConfigRefused):
        uninstall_command(way.system, way.running())
    assert not is_our_link(way.link)
    assert way.link.read_text(encoding="utf-8") == "#!/bin/sh\n"


def test_a_link_that_the_system_does_not_remove_is_named(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    """INST-11: Windows removes no program that runs."""
    link = install_command(way.system, way.running(), [])

    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as refusing:
        refusing.setattr(Path, "unlink", refuse)
        with pytest.raises(ClientConfigRefused, match="End the programs that run it"):
            uninstall_command(way.system, way.running())
    assert is_our_link(link)


def test_a_program_that_is_not_installed_is_not_linked(tmp_path: Path) -> None:
    """INST-10"""
    swept = Running("x", "/home/a/.cache/uv/archive-v0/x/bin/python", "", "obsidian-mcp", lambda name: f"/bin/{name}")
    with pytest.raises(InvalidArguments, match="cannot be linked"):
        install_command(System("linux", tmp_path, {}), swept, [])


@needs("symbolic links")
def test_the_link_is_not_taken_for_the_apps_program(tmp_path: Path) -> None:
    """PROG-01, HEADLESS-09: neither by a search nor where it is named."""
    link = install_command(System("linux", tmp_path, {}), running(), [])
    assert find_program("", {"HOME": str(tmp_path), "PATH": ""}, platform="linux") is None
    real = tmp_path / "real" / "obsidian"
    real.parent.mkdir()
    real.write_text("#!/bin/sh\n", encoding="utf-8")
    real.chmod(0o755)
    path = f"{link.parent}:{real.parent}"
    assert find_program("obsidian", {"PATH": path}, platform="linux") == (str(real),)
    assert find_program(None, {"HOME": str(tmp_path), "PATH": path}, platform="linux") == (str(real),)
    with pytest.raises(AppCommandFailed, match="link to this program"):
        find_program(str(link), {"PATH": path}, platform="linux")


@needs("symbolic links")
def test_the_doctor_says_which_program_the_word_obsidian_starts(tmp_path: Path) -> None:
    """DOC-05"""
    link = install_command(System("linux", tmp_path, {}), running(), [])
    other = tmp_path / "bin" / "obsidian"
    other.parent.mkdir()

    def found(*folders: Path) -> tuple[str, str]:
        environ = {"PATH": ":".join(map(str, folders)), "HOME": str(tmp_path)}
        finding = doctor.check_obsidian_word(System("linux", tmp_path, environ))
        return finding.status, finding.message

    assert found(other.parent) == ("note", "no program of that name is on PATH.")
    assert found(link.parent) == ("fine", f"{link} comes first on PATH and is this program")
    other.write_text("#!/bin/sh\n", encoding="utf-8")
    other.chmod(0o755)
    assert found(other.parent, link.parent) == ("fine", f"{other} comes first on PATH; it is not this program")
    status, message = found(link.parent, other.parent)
    assert (status, message.endswith(f"the app's command is {other}.")) == ("note", True)
