"""What is particular to disks of macOS: moved, undone and searched for on the double of one (issue 45)."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path
from typing import Literal

import pytest

from obsidian_mcp.app import App
from tests.conftest import app_on
from tests.disks import OtherDisk
from tests.system import can, needs
from tests.vaults import answer, contents, write_files

ABOUT_OTHER_THINGS = {
    "arguments", "attached_words", "attachments", "boards", "bounds", "canvas", "edits", "first_minute",
    "inline_fields", "large_notes", "out_of_time", "page_order", "periodic",
    "profiles", "published", "query", "supersede", "tables", "tasks", "templates", "typed_text", "validity", "vaults",
}  # fmt: skip
"""Tests of tools that move, take back or search for something only on the way."""

TAGS = "user.com.apple.metadata:_kMDItemUserTags"
NOTES = {
    "Café Über.md": "zebra\n",
    "Raw.md": "See [[Café Über]] and [[raw#Part|it]].\n\n# Part\nzebra\n",
    "日記/ガイド.md": "[up](../Caf%C3%A9%20%C3%9Cber.md) ![[RAW]]\r\n",
}


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OtherDisk:
    return OtherDisk(tmp_path, monkeypatch)


@pytest.fixture
def root(disk: OtherDisk, tmp_path: Path) -> Path:
    return write_files(tmp_path / "vault", NOTES)


@pytest.fixture
def app(root: Path) -> App:
    return app_on(root)


def undo_all(app: App, count: int) -> None:
    for _ in range(count):
        assert answer(app, "undo")[0] == ""


FORMS: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")


@pytest.mark.parametrize("form", FORMS)
def test_a_name_that_the_disk_stores_in_nfd_is_found_moved_and_undone_in_each_form(
    app: App, root: Path, form: Literal["NFC", "NFD"]
) -> None:
    """NAME-09, RENAME-01"""
    before = contents(root)
    kept: Literal["NFC", "NFD"] = "NFC" if "Café Über.md" in before else "NFD"  # NTFS takes the place of the double
    assert kept == "NFD" or not can("names that differ in case")
    name, to = (unicodedata.normalize(form, text) for text in ("Café Über", "Crème/Größe"))
    assert '"path":"Café Über.md"' in answer(app, "search", query=f'file:"{name}"')[1]
    assert answer(app, "move_note", name=name, to=to)[0] == ""
    after = contents(root)
    assert unicodedata.normalize(kept, "Crème/Größe.md") in after
    assert "[[Größe]] and" in after["Raw.md"].decode()
    assert "[up](Gr%C3%B6%C3%9Fe.md)" in after[unicodedata.normalize(kept, "日記/ガイド.md")].decode()
    undo_all(app, 1)
    assert contents(root) == before


def test_on_a_disk_without_case_a_name_in_another_case_is_the_file_and_its_rename_is_undone(
    app: App, root: Path
) -> None:
    """NAME-15, FILE-18"""
    before = contents(root)
    assert "'Raw.md'" in answer(app, "create_note", name="RAW", content="x")[1]
    assert '"path":"Raw.md"' in answer(app, "read_note", name="rAW")[1]
    assert answer(app, "move_note", name="rAW", to="RAW")[0] == ""
    assert "Raw.md" not in contents(root)
    assert contents(root)["RAW.md"] == before["Raw.md"].replace(b"[[raw#", b"[[RAW#")
    assert '"path":"RAW.md"' in answer(app, "search", query="zebra file:raw")[1]
    undo_all(app, 1)
    assert contents(root) == before


@needs("extended attributes")
def test_finder_tags_stay_on_a_note_that_is_edited_moved_rewritten_and_undone(app: App, root: Path) -> None:
    """FILE-02"""
    paths = ["Raw.md", "Café Über.md"]
    try:
        for path in paths:
            os.setxattr(root / path, TAGS, path.encode())
    except OSError:
        pytest.skip("this disk has no extended attributes")
    assert answer(app, "edit_note", name="Raw", operation="append", content="more")[0] == ""
    assert answer(app, "move_note", name="Café Über", to="Tea")[0] == ""  # Raw.md links to it
    assert os.getxattr(root / "Tea.md", TAGS) == paths[1].encode()
    assert os.getxattr(root / "Raw.md", TAGS) == paths[0].encode()
    undo_all(app, 2)
    assert [os.getxattr(root / path, TAGS) for path in paths] == [path.encode() for path in paths]


def test_a_file_that_icloud_has_evicted_is_not_moved_replaced_or_undone_until_it_is_back(app: App, root: Path) -> None:
    """SAFE-14"""
    assert answer(app, "edit_note", name="Café Über", operation="append", content="more")[0] == ""
    note, stub = root / "Café Über.md", root / ".Café Über.md.icloud"
    note.rename(stub)
    before = contents(root)
    for tool, arguments in {
        "read_note": {"name": "café über"},
        "move_note": {"name": "Café Über", "to": "Tea"},
        "create_note": {"name": "Café Über", "content": "x"},
        "undo": {},
    }.items():
        code, message = answer(app, tool, **arguments)
        assert (tool, code, "not downloaded" in message) == (tool, "STORAGE_FAILED", True)
    assert "Café" not in answer(app, "search", query="more", match="exact")[1]
    assert contents(root) == before
    stub.rename(note)
    undo_all(app, 1)
    assert note.read_bytes() == NOTES["Café Über.md"].encode()


@needs("names that differ in case")
def test_while_macos_does_not_allow_the_folder_nothing_is_changed_or_said_to_be_empty(
    app: App, root: Path, disk: OtherDisk
) -> None:
    """FILE-08, FILE-13"""
    assert answer(app, "edit_note", name="Raw", operation="append", content="more")[0] == ""
    before = contents(root)
    disk.private = root
    later = app_on(root)
    for tool, arguments in {
        "search": {"query": "zebra", "match": "exact"},
        "read_note": {"name": "Raw"},
        "move_note": {"name": "Raw", "to": "Tea"},
        "undo": {},
    }.items():
        code, message = answer(later, tool, **arguments)
        assert (tool, code, "privacy settings" in message) == (tool, "PERMISSION_DENIED", True)
    disk.private = None
    assert contents(root) == before
    undo_all(later, 1)
    assert (root / "Raw.md").read_bytes() == NOTES["Raw.md"].encode()


def test_every_file_of_moves_undo_and_search_runs_on_such_a_disk() -> None:
    calls = re.compile(r'"(?:obsidian_)?(?:move_note|undo|search)"')
    marked = re.compile(r'^pytestmark = pytest\.mark\.usefixtures\("(?:each_disk|disk_of_macos)"\)$', re.MULTILINE)
    sources = {
        path.stem.removeprefix("test_"): path.read_text(encoding="utf-8")
        for path in (Path(__file__).parent / "tools").glob("test_*.py")
    }
    suite = {name for name, source in sources.items() if calls.search(source)} - ABOUT_OTHER_THINGS

    assert {"bulk", "moves", "search", "search_exact", "search_pages"} <= suite
    assert {name for name in suite if not marked.search(sources[name])} == set()
