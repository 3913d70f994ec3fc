"""What `install` says beside what it did (specs/install.md INST-16 to INST-18)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from obsidian_mcp.setup.clients import CLIENTS
from obsidian_mcp.setup.install import install, uninstall
from obsidian_mcp.setup.install_remarks import doubt_of, list_remarks
from obsidian_mcp.setup.system import System

from .computer import PLATFORMS, computer

PROGRAM = "/usr/bin/obsidian-mcp"


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """A vault with a folder, notes without settings, an empty folder, and a folder with a vault in it."""
    for place in ("Vault/.obsidian", "Vault/Work", "Notes/deep", "Empty/.git", "Around/Inner/.obsidian", "home"):
        (tmp_path / place).mkdir(parents=True)
    for place in ("Vault/Work/a.md", "Notes/deep/a.MD", "Empty/.git/a.md", "Around/Inner/a.md"):
        (tmp_path / place).write_text("a", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("folder", "doubt"),
    [
        ("Vault", ""),
        ("Notes", ""),
        ("Vault/Work", "is a folder of the vault"),
        ("Empty", "holds no .obsidian and no note"),
        ("Around", "was '{folders}/Around/Inner' meant?"),
        ("home", "is your home folder"),
    ],
)
def test_a_folder_that_is_perhaps_not_the_vault_is_named(folders: Path, folder: str, doubt: str) -> None:
    """INST-16"""
    said = doubt_of(folders / folder, folders / "home").replace(str(folders), "{folders}")
    assert said.startswith("'{folders}") is bool(doubt)
    assert doubt in said


def test_the_whole_disk_is_named(tmp_path: Path) -> None:
    """INST-16"""
    assert "is the whole disk" in doubt_of(Path(tmp_path.anchor), tmp_path)


@pytest.mark.parametrize("client", CLIENTS)
def test_vaults_that_an_entry_had_before_are_named_for_every_client(folders: Path, client: str) -> None:
    """INST-17"""
    system = computer(folders / "home", "linux")
    vault, notes = str(folders / "Vault"), str(folders / "Notes")

    def replaced(*named: str) -> list[str]:
        line = [PROGRAM, *(word for folder in named for word in ("--vault", folder))]
        remarks = list_remarks(install(CLIENTS[client], system, "obsidian", line), system)
        return [remark for remark in remarks if "replaces" in remark]

    assert replaced(vault) == []
    assert f"replaces the vault '{vault}'" in replaced(notes)[0]
    assert replaced(vault, notes) == []
    assert f"'{vault}'" in replaced(notes)[0]
    assert list_remarks(uninstall(CLIENTS[client], system, "obsidian"), system) == []


@pytest.fixture
def desktop(folders: Path) -> Callable[[str], System]:
    """A computer of a system on which Claude Desktop is."""

    def make(platform: str) -> System:
        system = computer(folders / platform, platform)
        CLIENTS["claude-desktop"].file(system).parent.mkdir(parents=True)
        return system

    return make


@pytest.mark.parametrize("platform", PLATFORMS)
def test_which_of_claude_desktops_lists_was_written_is_said_with_how_to_write_the_other(
    desktop: Callable[[str], System], folders: Path, platform: str
) -> None:
    """INST-18"""
    system = desktop(platform)
    line = [PROGRAM, "--vault", str(folders / "Vault")]
    (chat,) = list_remarks(install(CLIENTS["claude-desktop"], system, "obsidian", line), system)
    assert "Claude Desktop's chat" in chat
    assert f'obsidian-mcp install claude-code --vault "{folders / "Vault"}"' in chat
    assert list_remarks(install(CLIENTS["claude-code"], system, "obsidian", line), system) == []

    uninstall(CLIENTS["claude-desktop"], system, "obsidian")
    (code,) = list_remarks(install(CLIENTS["claude-code"], system, "obsidian", line), system)
    assert "Claude Desktop's Code tab" in code
    assert "install claude-desktop" in code


def test_without_claude_desktop_nothing_is_said_of_its_lists(folders: Path) -> None:
    """INST-18"""
    system = computer(folders / "home", "linux")
    line = [PROGRAM, "--vault", str(folders / "Vault")]
    assert list_remarks(install(CLIENTS["claude-code"], system, "obsidian", line), system) == []
