"""Bookmarks, counts and lists through the tools (specs/bookmarks.md; COUNT-1, COUNT-2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import NoteNotFound, SectionNotFound
from obsidian_mcp.tools.registry import call
from tests.tools.conftest import Opened

pytestmark = pytest.mark.usefixtures("disk_of_macos")


def run(app: App, tool: str = "edit_bookmarks", /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def test_bookmarks_are_added_listed_removed_and_taken_back(opened: Opened) -> None:
    """BOOK-2"""
    app = opened({"F/A.md": "# Head\n"})
    assert run(app, "list_bookmarks") == {"bookmarks": []}
    run(app, action="add", target="A#Head", title="Mine", group="G")
    run(app, action="add", target="F/")
    run(app, action="add", target="search:tag:#x")
    file = app.vaults.get().files.root / ".obsidian/bookmarks.json"
    written = file.read_text(encoding="utf-8")
    assert [item["type"] for item in json.loads(written)["items"]] == ["group", "folder", "search"]
    assert not written.endswith("\n")
    assert run(app, "list_bookmarks", text="mine")["bookmarks"] == [
        {"kind": "file", "target": "F/A.md#Head", "title": "Mine", "group": "G"}
    ]
    assert run(app, action="remove", target="F")["changed"]
    run(app, "undo")
    assert file.read_text(encoding="utf-8") == written


def test_settings_that_were_written_are_no_files_of_the_vault(opened: Opened) -> None:
    """BOOK-2: nor are they after an undo."""
    app = opened({"A.md": ""})
    run(app, action="add", target="A")
    assert run(app, "vault_info")["extensions"] == {"md": 1}
    run(app, "undo")
    assert [entry.path for entry in app.vaults.get().entries()] == ["A.md"]


def test_only_what_exists_is_bookmarked(opened: Opened) -> None:
    """BOOK-2"""
    app = opened({"A.md": ""})
    for target, error in {"B": NoteNotFound, "A#Head": SectionNotFound, "None/": NoteNotFound}.items():
        with pytest.raises(error):
            run(app, action="add", target=target)
    assert not (app.vaults.get().files.root / ".obsidian/bookmarks.json").exists()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("delete_note", {"name": "A"}),
        ("compose_notes", {"action": "merge", "name": "A", "into": "B"}),
        ("move_note", {"name": "A", "to": "C"}),
    ],
)
def test_bookmarks_of_a_note_that_goes_are_said(opened: Opened, tool: str, arguments: dict[str, Any]) -> None:
    """BOOK-5"""
    app = opened({"A.md": "# Head\n", "B.md": "", "Z.md": ""})
    run(app, action="add", target="A#Head")
    run(app, action="add", target="B")
    said = [warning for warning in run(app, tool, **arguments)["warnings"] if "Bookmarks" in warning]
    assert [(warning.count("A.md#Head"), warning.count("B.md")) for warning in said] == [(1, 0)]
    assert "warnings" not in run(app, "delete_note", name="Z")


def test_a_note_is_counted_as_the_app_counts(opened: Opened) -> None:
    """COUNT-1, COUNT-2"""
    app = opened({"A.md": "---\ntitle: not counted\n---\n\nhello 世界\n"})
    read = run(app, "read_note", name="A", view="metadata")
    assert (read["words"], read["characters"]) == (3, 8)


def test_the_files_opened_last_are_listed_where_they_still_exist(opened: Opened) -> None:
    app = opened({"A.md": "", "B.md": "", "C.md": ""}, workspace={"lastOpenFiles": ["B.md", "gone.md", "A.md"]})
    listed = run(app, "list_files", sort="opened", recursive=True)
    assert listed["paths"] == ["B.md", "A.md"]


def test_a_note_is_chosen_at_random_below_a_folder(opened: Opened) -> None:
    app = opened(
        {"A.md": "", "F/B.md": "", "F/x.png": "", "F/Hidden/C.md": ""}, app={"userIgnoreFilters": ["F/Hidden/"]}
    )
    assert run(app, "read_note", name="random:F")["path"] == "F/B.md"
    assert run(app, "read_note", name="random:")["path"] in ("A.md", "F/B.md")
    with pytest.raises(NoteNotFound, match="to choose from"):
        run(app, "read_note", name="random:None")


@pytest.mark.parametrize("target", ["A", "f/a.md", "A#Head", "F/", "search:tag:#x"])
def test_a_bookmark_is_removed_under_the_name_that_added_it(opened: Opened, target: str) -> None:
    """BOOK-4"""
    app = opened({"F/A.md": "# Head\n"})
    run(app, action="add", target=target)
    assert run(app, action="remove", target=target)["changed"]
    assert run(app, "list_bookmarks") == {"bookmarks": []}
    with pytest.raises(NoteNotFound, match="obsidian_list_bookmarks"):
        run(app, action="remove", target=target)


@pytest.mark.parametrize(
    ("heading", "content", "named"),
    [("Head", "New", "F/A.md#Head; F/A.md#Head#Below"), ("^b", "c", "F/A.md#^b"), ("Tail", "New", "")],
)
def test_bookmarks_of_a_renamed_heading_or_block_are_listed(
    opened: Opened, heading: str, content: str, named: str
) -> None:
    """BOOK-5"""
    parts = ("", "#Head", "#Head#Below", "#Below", "#^b", "#Gone before")
    marks = [{"type": "file", "path": "F/A.md", "subpath": part} for part in parts]
    app = opened({"F/A.md": "# Head\nText ^b\n\n## Below\n\n# Tail\n"}, bookmarks={"items": marks})
    answer = run(app, "edit_note", name="A", operation="rename_heading", section=heading, content=content)
    begin = "Bookmarks stay as they are, and these name what is renamed: "
    assert answer.get("warnings") == ([f"{begin}{named}."] if named else None)
