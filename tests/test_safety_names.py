"""Disks on which a file has more names than one (specs/names.md NAME-15, specs/files.md FILE-18)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.disk import Disk
from obsidian_mcp.app import App
from obsidian_mcp.core.operations.undo import undo
from obsidian_mcp.core.vault.operation import Move
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import NoteExists
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.disks import OtherDisk, found_on_windows
from tests.system import can
from tests.test_safety_paths import NAMES, arguments
from tests.vaults import answer, contents, write_files

OTHER_NAMES = [
    "HOMEPA~1",
    "HOMEPA~1.MD",
    "homepa~1.md",
    "Home page.md::$DATA",
    "Home page.md:stream",
    "Home page.md.",
    "Home page. ",
    "SECRET~1/Note",
    "secret~1/Note.md",
    "SECRET~1/New",
    "Secret plans./Note.md",
    "Secret plans/Note.md::$DATA",
    "Secret plans/NOTE.MD",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_files(
        tmp_path / "vault",
        {"Home page.md": "home\n", "Other.md": "x\n", "Secret plans/Note.md": "zebra\n", "n.md": "n\n"},
    )


@pytest.fixture
def windows(root: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The vault on a disk of Windows, with a folder that the policy hides."""
    (root.parent / "policy.toml").write_text('hidden = ["Secret plans/"]\n', encoding="utf-8")
    OtherDisk(root, monkeypatch, matches=found_on_windows, stored=lambda name: name.rstrip(". "))
    opened = app_on(root)
    yield opened
    opened.vaults.close()


@pytest.mark.parametrize(("tool", "parameter"), NAMES)
def test_only_the_name_that_the_disk_lists_reaches_a_file(windows: App, root: Path, tool: str, parameter: str) -> None:
    """NAME-15"""
    before = contents(root)
    for name in OTHER_NAMES:
        if "~" in name and not (root / name).parent.exists():  # this system's disk has another short name
            continue
        code, message = answer(windows, tool, **arguments(tool, parameter, name))
        assert "zebra" not in message, name
        assert code not in ("INTERNAL_ERROR", "INVALID_ARGUMENTS"), (name, message)
        if name.startswith(("Secret", "secret", "SECRET")):
            assert code or tool == "history", (name, message)
        now = contents(root)
        assert now["Secret plans/Note.md"] == before["Secret plans/Note.md"]
        assert [path for path in now if path.startswith("Secret plans/")] == ["Secret plans/Note.md"]
        assert before["Home page.md"] in now.values(), name


def test_a_note_in_another_case_keeps_its_name(windows: App, root: Path) -> None:
    assert call(windows, "obsidian_read_note", {"name": "HOME PAGE.MD"}).data["path"] == "Home page.md"
    assert answer(windows, "create_note", name="home PAGE", content="x")[0] == "NOTE_EXISTS"
    call(windows, "obsidian_edit_note", {"name": "home page", "operation": "append", "content": "more"})
    assert "Home page.md" in contents(root)


def test_a_note_that_was_just_made_is_named_as_the_disk_spells_it(windows: App, root: Path) -> None:
    """NAME-15: it was answered as `raw.md`, and a change by that path would have followed"""
    call(windows, "obsidian_read_note", {"name": "Home page"})
    (root / "Raw.md").write_bytes(b"made by another program\n")
    path = call(windows, "obsidian_read_note", {"name": "raw"}).data["path"]
    call(windows, "obsidian_edit_note", {"name": path, "operation": "append", "content": "more"})
    assert path == "Raw.md"
    assert contents(root)["Raw.md"] == b"made by another program\nmore\n"
    assert "raw.md" not in contents(root)


def test_a_rename_in_case_only_that_the_disk_answers_and_does_not_make_is_made(
    root: Path, opened: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch
) -> None:
    """FILE-18"""
    OtherDisk(root, monkeypatch, renames_case=False)
    before = contents(root)
    vault = opened()
    for source, target in (("n.md", "N.md"), ("Secret plans", "SECRET plans"), ("Home page.md", "HOME page.md")):
        vault.commit("test", [Move(source, target)])
        assert target in os.listdir(root)  # noqa: PTH208
    for _ in range(3):
        undo(vault, None)
    assert contents(root) == before


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_crash_in_a_rename_of_two_steps_leaves_the_note_under_its_old_name(
    root: Path, opened: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """FILE-18"""

    class Crash(BaseException):
        pass

    OtherDisk(root, monkeypatch, renames_case=False)
    before = contents(root)
    vault = opened(Disk(root, relative_calls=False))
    with monkeypatch.context() as crashing:
        renames, rename = [], os.rename

        def crash(*given: Any, **named: Any) -> None:
            renames.append(given)
            if len(renames) >= at:
                raise Crash
            rename(*given, **named)

        crashing.setattr(os, "rename", crash)
        # A disk of this system that knows no case takes the other one's place, and may rename in one step.
        crashes = pytest.raises(Crash) if can("names that differ in case") else contextlib.suppress(Crash)
        with crashes:
            vault.commit("test", [Move("n.md", "N.md")])
    again = opened()
    with again.lock_changes():
        if len(renames) >= at:  # else the disk renames in one step
            assert contents(root) == before
    assert again.journal.list_unfinished() == []


def test_a_rename_in_two_steps_replaces_no_other_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """FILE-18"""
    disk = Disk(root)
    for name in ("Other.md", "Home page.md"):
        with pytest.raises(NoteExists):
            disk.move("n.md", name)
    disk.move("n.md", "N.md")
    assert "N.md" in os.listdir(root)  # noqa: PTH208
