"""Files with names that no new file may have, and text that no note can hold (specs/names.md, specs/files.md)."""

from __future__ import annotations

import ntpath
import os
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.adapters.folder import VaultFolder
from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, InvalidArguments, InvalidName, NoteNotFound, PermissionDenied
from obsidian_mcp.tools.registry import call
from tests.system import can, needs

from .conftest import Opened

pytestmark = pytest.mark.usefixtures("each_disk")

ODD = [
    " space.md",
    "\u00a0nbsp.md",
    "\u2028line.md",
    "a:b.md",
    "c\\d.md",
    "tail .md",
    "e\u0085f.md",
    "g\u202eh.md",
    " folder/x.md",
    "deep/ x:y.md",
    "cell: 1.png",
]


def where_held(*names: str) -> list[str]:
    """The names that a disk of the system can hold."""
    asked = {":": "names with a colon", "\\": "names with a backslash", " /": "names that end in a space"}
    return [name for name in names if all(can(asked[part]) for part in asked if part in f"{name}/")]


@pytest.mark.parametrize("name", where_held(*ODD))
def test_a_file_is_reached_under_the_name_that_lists_show(opened: Opened, name: str) -> None:
    """NAME-14"""
    app = opened({name: "- [ ] old\n", "Other.md": "x\n", "Folder/y.md": "x\n"})
    listed = call(app, "obsidian_list_files", {"recursive": True, "details": True}).data["files"]
    assert name in [file["path"] for file in listed]
    assert call(app, "obsidian_read_note", {"name": name}).data["path"] == name
    assert call(app, "obsidian_get_links", {"name": name}).data["path"] == name
    if name.endswith(".md"):
        edit = {"name": name, "operation": "replace_text", "find": "old", "content": "new"}
        assert call(app, "obsidian_edit_note", edit).data["path"] == name
        assert call(app, "obsidian_set_properties", {"names": [name], "properties": {"a": 1}}).data["changed"] == [name]
        assert call(app, "obsidian_update_task", {"name": name, "task": "new", "status": "done"}).data["path"] == name
    assert call(app, "obsidian_move_note", {"name": name, "to": "Folder/"}).data["moved"]
    call(app, "obsidian_undo", {})
    assert call(app, "obsidian_move_note", {"name": name, "to": "plain"}).data["moved"]
    call(app, "obsidian_undo", {})
    assert call(app, "obsidian_delete_note", {"name": name}).data["path"] == name
    call(app, "obsidian_undo", {})
    assert call(app, "obsidian_read_note", {"name": name}).data["path"] == name


@needs("names with a colon")
def test_an_odd_name_needs_no_folder_and_no_extension(opened: Opened) -> None:
    """NAME-14"""
    app = opened({"deep/a:b.md": "in a", " space.md": "in space", "space.md": "plain", "1/c:d.md": "", "2/c:d.md": ""})
    assert call(app, "obsidian_read_note", {"name": "a:b"}).text == "in a"
    assert call(app, "obsidian_read_note", {"name": " space"}).text == "in space"
    assert call(app, "obsidian_read_note", {"name": "space"}).text == "plain"
    assert call(app, "obsidian_read_note", {"name": "  space "}).text == "plain"
    with pytest.raises(AppError, match="2 files match the name"):
        call(app, "obsidian_read_note", {"name": "c:d"})
    with pytest.raises(AppError, match="begins with a drive letter"):
        call(app, "obsidian_read_note", {"name": "c:e"})


@pytest.mark.parametrize(
    "folder", where_held(" space", "\u00a0nbsp", "a:b", "c\\d", "tail ", "deep/ x:y", "\u2028line")
)
def test_a_folder_is_reached_under_the_name_that_lists_show(opened: Opened, tmp_path: Path, folder: str) -> None:
    """NAME-14"""
    app = opened({f"{folder}/in.md": "- [ ] zebroid\n", "Other.md": "- [ ] zebroid\n# Part\nx\n"})
    root = tmp_path / "vault"
    (root / folder / " empty").mkdir()

    def run(tool: str, **arguments: Any) -> dict[str, Any]:
        return call(app, f"obsidian_{tool}", arguments).data

    above = folder.rpartition("/")[0]
    assert folder in run("list_files", folder=above)["folders"]
    listed = run("list_files", folder=folder)
    assert listed["names"] == {f"{folder}/": ["in.md"]}
    assert listed["folders"] == [f"{folder}/ empty"]
    assert run("list_files", folder=f"{folder}/ empty") == {
        "folder": f"{folder}/ empty",
        "folders": [],
        "names": {},
        "total": 0,
    }
    assert [hit["path"] for hit in run("search", query="zebroid", folder=folder)["hits"]] == [f"{folder}/in.md"]
    assert [task["path"] for task in run("list_tasks", folder=f"{folder}/")["tasks"]] == [f"{folder}/in.md"]
    assert run("read_note", name=f"random:{folder}")["path"] == f"{folder}/in.md"
    assert run("create_note", name=f"{folder}/New", content="x")["path"] == f"{folder}/New.md"
    assert run("create_note", name=f"{folder}/deeper/New", content="x")["path"] == f"{folder}/deeper/New.md"
    assert run("move_note", name="Other", to=f"{folder}/")["to"] == f"{folder}/Other.md"
    extracted = run("compose_notes", action="extract", name="Other", part="Part", into=f"{folder}/Part")
    assert extracted["into"] == f"{folder}/Part.md"
    assert run("move_note", name=f"{folder}/Other.md", to=f"{folder}/Renamed")["to"] == f"{folder}/Renamed.md"
    assert run("move_note", names=["Renamed"], to=f"{folder}/new/")["moved"]
    assert run("read_note", name=f"{folder}/new/Renamed")["path"] == f"{folder}/new/Renamed.md"
    attached = run("add_attachment", name=f"{folder}/x.csv", data="eA==")
    assert attached["path"] == f"{folder}/x.csv"
    assert run("edit_bookmarks", action="add", target=f"{folder}/")["target"] == folder
    assert run("edit_bookmarks", action="remove", target=f"{folder}/")["changed"]
    assert run("move_note", name=f"{folder}/", to="/plain")["to"] == "plain"
    assert not (root / folder).exists()


def test_a_plain_folder_is_meant_by_a_name_with_spaces_around_it(opened: Opened) -> None:
    """NAME-01, NAME-14"""
    app = opened({"dir/a.md": "x"})
    assert call(app, "obsidian_list_files", {"folder": " dir/ "}).data["folder"] == "dir"
    assert call(app, "obsidian_create_note", {"name": " dir/b "}).data["path"] == "dir/b.md"
    for folder in ("//dir", "c:dir", "dir/../dir", "../dir", ".hidden"):
        with pytest.raises(AppError):
            call(app, "obsidian_list_files", {"folder": folder})


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085", "\u202e", "\u202a", "\u2066", "\u2069", "\x7f"])
def test_new_names_hold_no_line_ends_and_nothing_that_turns_the_direction_of_writing(
    app: App, basic: Path, character: str
) -> None:
    """NAME-07"""
    before = sorted(basic.rglob("*"))
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("create_note", {"name": f"a{character}b"}),
        ("move_note", {"name": "Alpha", "to": f"a{character}b"}),
        ("move_note", {"name": "Alpha", "to": f"a{character}b/"}),
        ("edit_canvas", {"name": f"a{character}b", "create": True, "operations": []}),
    ]
    for tool, arguments in attempts:
        with pytest.raises(InvalidName, match="cannot be a file name"):
            call(app, f"obsidian_{tool}", arguments)
    assert sorted(basic.rglob("*")) == before


WRITES: dict[str, dict[str, Any]] = {
    "create_note": {"name": "New", "content": "a\0b"},
    "edit_note": {"name": "Alpha", "operation": "append", "content": "a\0b"},
    "replace": {"find": "brass", "content": "\0", "names": ["Alpha"]},
    "daily_note": {"content": "\0"},
    "update_task": {"action": "add", "name": "Alpha", "text": "a\0b"},
    "edit_table": {"name": "Alpha", "operations": {"op": "set", "row": 1, "column": 1, "value": "\0"}},
}


@pytest.mark.parametrize("tool", WRITES)
def test_no_tool_writes_a_character_that_makes_a_note_unreadable(app: App, basic: Path, tool: str) -> None:
    """FILE-10"""
    before = {path: path.read_bytes() for path in basic.rglob("*.md")}
    with pytest.raises(InvalidArguments, match="It would hold a NUL character"):
        call(app, f"obsidian_{tool}", WRITES[tool])
    assert {path: path.read_bytes() for path in basic.rglob("*.md")} == before


@pytest.mark.parametrize("status", list("[]\n\r\v\f\t\0\x7f\x85\u2028\u2029\u200b\u202e\ufeff\ud800"))
@pytest.mark.parametrize("arguments", [{"task": "Cut the wheel"}, {"action": "add", "text": "x", "name": "Alpha"}])
def test_a_status_that_would_break_the_line_or_the_checkbox_or_that_nobody_sees_is_refused(
    shared_app: App, status: str, arguments: dict[str, Any]
) -> None:
    """TASK-41"""
    note = shared_app.vaults.get().files.root / "Projects/Alpha.md"
    before = note.read_bytes()
    with pytest.raises(InvalidArguments, match="status"):
        call(shared_app, "obsidian_update_task", {**arguments, "status": status})
    assert note.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "characters", "usable"),
    [
        ("A: the plan", "':' is not allowed", "A the plan 2"),
        ('Why? "So": a|b', "'?', '\"', ':' and '|' are not allowed", "Why So a b"),
        (
            "Sub: one/Two* #3 [x]",
            "'*' is not allowed on every system, and links cannot reach '#', '[' and ']'",
            "Sub one/Two 3 x",
        ),
        ("Folder/Q: 1", "':' is not allowed", "Folder/Q 1"),
        ("a\u2028b<c>", "'\\u2028', '<' and '>' are not allowed", "a b c"),
        ("???", "'?' is not allowed", "Untitled"),
        ("CON", "reserved device name", "CON_"),
        ("Nul: x.", "':' is not allowed on every system. 'Nul: x..md' begins or ends", "Nul x"),
        ("日" * 100, "303 bytes long", "日" * 84),
    ],
)
def test_all_that_a_title_may_not_have_is_named_with_a_title_that_would_do(
    opened: Opened, name: str, characters: str, usable: str
) -> None:
    """NAME-17"""
    app = opened({"A the plan.md": "", "Folder/N.md": "# H\n\ntext\n", "U.md": ""})
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_note", {"name": name, "content": "x"}),
        ("move_note", {"name": "U", "to": name}),
        ("move_note", {"name": "U", "to": name, "dry_run": True}),
        ("compose_notes", {"action": "extract", "name": "N", "part": "H", "into": name}),
        ("batch", {"calls": [{"tool": "create_note", "name": name, "content": "x"}]}),
    ]
    for tool, arguments in calls:
        with pytest.raises(InvalidName) as refused:
            call(app, f"obsidian_{tool}", arguments)
        message = refused.value.message
        assert characters in message
        assert f"{usable!r} would do." in message
    assert call(app, "obsidian_create_note", {"name": usable, "content": "x"}).data["path"] == f"{usable}.md"


@pytest.mark.parametrize("folder", ["F: one", "Folder/G? <two>"])
def test_the_name_of_a_folder_is_refused_with_one_that_would_do(opened: Opened, folder: str) -> None:
    """NAME-17"""
    app = opened({"U.md": "", "Old/x.md": "", "Folder/y.md": ""})
    usable = folder.replace(":", "").replace("?", "").replace("<", "").replace(">", "")
    for arguments in ({"name": "U", "to": f"{folder}/"}, {"name": "Old/", "to": folder}):
        with pytest.raises(InvalidName, match=f"'{usable}(/U)?' would do"):
            call(app, "obsidian_move_note", arguments)


def test_a_title_with_a_colon_that_is_not_there_is_not_found(opened: Opened) -> None:
    """NAME-17"""
    app = opened({"A the plan.md": ""})
    with pytest.raises(NoteNotFound, match=r"Did you mean 'A the plan\.md'"):
        call(app, "obsidian_read_note", {"name": "A: the plan"})
    for drive in ("C:\\x", "C:/x", "c:x", "C:"):
        with pytest.raises(PermissionDenied, match="drive letter"):
            call(app, "obsidian_create_note", {"name": drive, "content": "x"})


def test_no_name_leads_to_another_drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NAME-17: as on Windows, whose `join` leaves the folder for a name with a drive"""
    (tmp_path / "sub").mkdir()
    monkeypatch.setattr(os.path, "splitdrive", ntpath.splitdrive)
    folder = VaultFolder(tmp_path, relative_calls=False)
    for disk in ("A: the plan.md", "sub/C:x.md", "C: y/x.md"):
        with pytest.raises(FileNotFoundError), folder.place(disk):
            pass
    with folder.place("sub/x.md") as place:
        assert place.name.endswith("x.md")
