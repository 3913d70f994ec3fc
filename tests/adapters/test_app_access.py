"""What there is of the app on this computer, and whether its vault is ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.app_access import PRESENT_SECONDS, AppAccess, is_same_vault
from obsidian_mcp.errors import AppCommandFailed, ObsidianNotRunning, VaultNotFound
from tests.system import can

from .app_desk import environment


def access(
    folder: Path, environ: dict[str, str], *, program: str | None = None, assume_running: bool = True
) -> AppAccess:
    named = environ["OBSIDIAN_MCP_CLI"] if program is None else program
    places = (folder / "obsidian",)
    return AppAccess(named, environ, places, assume_running=assume_running, timeout=20)


def no_files() -> Sequence[str]:
    raise AssertionError("the path said enough")


def test_the_same_folder_is_the_same_vault_by_whatever_path(tmp_path: Path) -> None:
    """CMD-11"""
    (tmp_path / "vault").mkdir()
    (tmp_path / "other").mkdir()
    other_paths = [tmp_path / "other" / ".." / "vault"]
    if can("symbolic links"):
        other_paths.append(tmp_path / "link")
        other_paths[-1].symlink_to(tmp_path / "vault")

    assert all(is_same_vault(tmp_path / "vault", str(path), no_files) for path in other_paths)
    assert not is_same_vault(tmp_path / "vault", str(tmp_path / "other"), no_files)


@pytest.mark.parametrize(
    ("files", "same"),
    [
        (["a.md", "b/c.md"], True),
        (["a.md", "x.md"], False),
        (["x.md"], False),
        ([], False),
    ],
    ids=["all here", "half", "none", "empty"],
)
@pytest.mark.parametrize("path", ["", "/nowhere/on/this/computer"])
def test_in_a_container_the_files_tell(tmp_path: Path, path: str, files: list[str], same: bool) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.md").touch()
    (tmp_path / "b/c.md").touch()

    assert is_same_vault(tmp_path, path, lambda: files) is same


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"vault": "/elsewhere/Notes"},
        {"vault": 'Error: Command "vault" not found. It may require a plugin to be enabled.'},
        {"vault": "name\tbasic\npath\t/elsewhere"},
    ],
    ids=["path", "container", "unknown", "table"],
)
def test_a_vault_is_known_by_its_path_or_by_its_files(tmp_path: Path, basic: Path, answers: dict[str, str]) -> None:
    environ = environment(tmp_path, basic, answers=answers)

    assert access(tmp_path, environ).command(basic).shows("Home.md", (basic / "Home.md").read_bytes())


@pytest.mark.parametrize(
    "answers", [{"vault": "/elsewhere", "files": "A.md\nB.md"}, {"vault": "/"}], ids=["other files", "other folder"]
)
def test_another_vault_is_not_read(tmp_path: Path, basic: Path, answers: dict[str, str]) -> None:
    environ = environment(tmp_path, basic, answers=answers)

    with pytest.raises(VaultNotFound, match="another folder"):
        access(tmp_path, environ).command(basic).shows("Home.md", b"x")


def test_a_vault_whose_files_nobody_tells_is_not_read(tmp_path: Path, basic: Path) -> None:
    environ = environment(tmp_path, basic, answers={"vault": "/elsewhere", "files": ""})

    with pytest.raises(AppCommandFailed):
        access(tmp_path, environ).command(basic).shows("Home.md", b"x")


def test_a_missing_program_is_told_unless_the_app_is_missing_too(tmp_path: Path, basic: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": ""}

    with pytest.raises(AppCommandFailed, match="Command line interface"):
        access(tmp_path, environ, program="").command(basic)
    with pytest.raises(ObsidianNotRunning):
        access(tmp_path, environ, program="", assume_running=False).command(basic)
    assert not access(tmp_path, environ, program="").is_there()


def test_a_program_that_the_user_names_and_is_not_there_is_told(tmp_path: Path, basic: Path) -> None:
    named = access(tmp_path, {"HOME": str(tmp_path), "PATH": ""}, program="/no/such/obsidian")

    assert not named.is_there()
    with pytest.raises(AppCommandFailed, match="/no/such/obsidian"):
        named.command(basic)


def test_a_registered_vault_is_called_by_its_id_and_open_when_the_app_says_so(tmp_path: Path, basic: Path) -> None:
    row: dict[str, Any] = {"path": str(basic), "ts": 1}
    registry = tmp_path / "obsidian" / "obsidian.json"
    registry.parent.mkdir()
    environ = environment(tmp_path, basic, name="Something else", id="0123456789abcdef")
    app = access(tmp_path, environ)

    assert app.has_open(basic), "not registered here, but said to run"
    registry.write_text(json.dumps({"vaults": {"0123456789abcdef": row}}), encoding="utf-8")
    assert not app.has_open(basic)
    registry.write_text(json.dumps({"vaults": {"0123456789abcdef": {**row, "open": True}}}), encoding="utf-8")
    assert app.has_open(basic)
    app.command(basic).check()


def test_whether_the_app_is_there_is_looked_up_every_few_seconds(tmp_path: Path) -> None:
    """APP-TOOL-01"""
    now = 0.0
    program = tmp_path / ".local/bin/obsidian"
    environ = {"HOME": str(tmp_path), "PATH": ""}
    app = AppAccess("", environ, (), assume_running=True, timeout=20, clock=lambda: now)
    assert not app.is_there()
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)

    assert not app.is_there()
    now += PRESENT_SECONDS + 1
    assert app.is_there() is (sys.platform == "linux")
