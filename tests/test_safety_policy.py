"""What the policy hides, on every tool and after every kind of change (specs/policy.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.files.policy import CONFIRMABLE
from obsidian_mcp.core.vault.operation import Move
from obsidian_mcp.errors import PermissionDenied, StaleEtag
from obsidian_mcp.tools.registry import TOOLS, call
from tests.conftest import app_on
from tests.vaults import answer, contents, write_files

HIDDEN = 'hidden = ["Private/", "*.secret.md"]\n'
MARKS = ("zebra", "Private", "plan.secret", "quagga", "Inner")
"""Words of hidden files, folders and tags; no answer may have them unless the question had them."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    texts = {
        "Private/Diary.md": "---\nquagga: zebra\naliases: [zebra]\n---\n#zebra [[Open]] [[Nowhere zebra]]\n",
        "Private/Inner/Deep.md": "zebra\n",
        "Work/plan.secret.md": "zebra [[Open]]\n",
        "Work/Open.md": "an open note, see [[Diary]] and [[Elsewhere]]\n",
        "Only secrets/a.secret.md": "zebra\n",
        "Home.md": "[[Open]] #visible, open\n",
        "Table.md": "| a | b |\n| - | - |\n| 1 | 2 |\n",
    }
    return write_files(tmp_path / "vault", texts)


@pytest.fixture
def opened(root: Path) -> Iterator[Callable[..., App]]:
    apps: list[App] = []

    def open_app(policy: str = HIDDEN) -> App:
        (root.parent / "policy.toml").write_text(policy, encoding="utf-8")
        apps.append(app_on(root))
        return apps[-1]

    yield open_app
    for app in apps:
        app.vaults.close()


def test_an_etag_opens_no_other_note(opened: Callable[..., App], root: Path) -> None:
    """POL-17"""
    free = opened("")
    read = call(free, "obsidian_read_note", {"name": "Private/Diary"}).data
    call(free, "obsidian_edit_note", {"name": "Private/Diary", "operation": "append", "content": "later"})
    edit = {"operation": "replace_text", "find": "open", "content": "changed", "etag": read["etag"]}
    with pytest.raises(StaleEtag) as raised:
        call(opened(), "obsidian_edit_note", {"name": "Home", **edit})
    assert not any(mark in raised.value.message for mark in MARKS)


DRY_RUNS: list[tuple[str, dict[str, Any]]] = [
    ("edit_note", {"name": "Home", "operation": "append", "content": "more"}),
    ("edit_note", {"name": "Part", "operation": "rename_heading", "section": "Part", "content": "Whole"}),
    ("compose_notes", {"action": "merge", "name": "Home", "into": "Table"}),
    ("compose_notes", {"action": "extract", "name": "Home", "part": "1-1", "into": "New"}),
    ("move_note", {"name": "Home", "to": "Elsewhere.md"}),
    ("move_note", {"name": "Work", "to": "Job"}),
    ("move_note", {"query": "open", "to": "Job/"}),
    ("replace", {"find": "open", "content": "closed", "query": "open"}),
    ("replace", {"find": "card", "content": "board", "query": "card"}),
    ("rename_tag", {"tag": "visible", "to": "seen"}),
    ("link_mentions", {"name": "Open", "names": ["Home"]}),
    ("set_properties", {"names": ["Home"], "properties": {"p": 1}}),
    ("set_properties", {"names": ["Home", "Table"], "properties": {"p": 1}}),
    ("edit_table", {"name": "Table", "operations": [{"op": "add_row", "values": ["1", "2"]}]}),
    ("edit_canvas", {"name": "Board", "operations": [{"op": "add", "type": "text", "text": "x"}]}),
    ("edit_canvas", {"name": "New", "operations": [{"op": "add", "type": "text", "text": "x"}], "create": True}),
    ("update_task", {"action": "add", "name": "Home", "text": "x"}),
    ("update_task", {"action": "add", "daily": True, "text": "x"}),
    ("update_task", {"task": "feed", "status": "done"}),
    ("batch", {"calls": [{"tool": "edit_note", "name": "Home", "operation": "append", "content": "x"}]}),
    ("batch", {"calls": [{"tool": "create_note", "name": "New"}]}),
]


def test_every_dry_run_of_the_registry_is_tried() -> None:
    takes_it = {tool.name.removeprefix("obsidian_") for tool in TOOLS.values() if "dry_run" in tool.parameters}
    assert {tool for tool, _ in DRY_RUNS} == takes_it


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("read_only = true", "PERMISSION_DENIED"),
        ('write = ["Allowed/"]', "PERMISSION_DENIED"),
        ('scope = "Work"\nwrite = ["Allowed/"]', None),
        ('largest_write = "1 b"', None),
        (f"confirm = {json.dumps(CONFIRMABLE)}", "CONFIRMATION_REQUIRED"),
    ],
)
@pytest.mark.parametrize(("tool", "arguments"), DRY_RUNS, ids=[f"{n} {tool}" for n, (tool, _) in enumerate(DRY_RUNS)])
def test_a_dry_run_is_refused_where_its_call_would_be(
    opened: Callable[..., App], root: Path, tool: str, arguments: dict[str, Any], policy: str, code: str | None
) -> None:
    """POL-17: Only a person's consent is not asked for: nothing is changed yet."""
    card = {"id": "a", "type": "text", "text": "card", "x": 0, "y": 0, "width": 1, "height": 1}
    write_files(
        root,
        {
            "Work/Part.md": "# Part\nopen, feed\n- [ ] feed\n",
            "Work/Board.canvas": json.dumps({"nodes": [card]}),
            "Home.md": "[[Part#Part]] open #visible\n",
        },
    )
    before = contents(root)
    app = opened(policy)
    planned, shown = answer(app, tool, **arguments, dry_run=True)
    assert contents(root) == before
    made, said = answer(app, tool, **arguments)

    assert planned == ("" if made == "CONFIRMATION_REQUIRED" else made), (shown, said)
    if code is not None:
        assert made == code, said


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "note OR -nothing"}),
    ("search", {"query": "/.*/"}),
    ("search", {"query": "path:/"}),
    ("list_files", {"recursive": True}),
    ("list_files", {}),
    ("list_files", {"folder": "Work"}),
    ("list_files", {"folder": "Only secrets"}),
    ("vault_info", {}),
    ("get_links", {"name": "Open"}),
    ("get_links", {"name": "Home"}),
    ("graph", {"question": "orphans"}),
    ("graph", {"question": "dead_ends"}),
    ("graph", {"question": "neighbours", "name": "Open", "depth": 3}),
    ("graph", {"question": "path", "name": "Home", "to": "Open"}),
    ("tags", {}),
    ("tags", {"tag": "visible"}),
    ("get_properties", {}),
    ("get_properties", {"property": "aliases"}),
    ("history", {}),
    ("history", {"name": "Opne"}),
    ("read_note", {"name": "Diar"}),
    ("read_note", {"name": "plan"}),
    ("read_note", {"name": "a.secre"}),
    ("read_note", {"name": "Work"}),
    ("move_note", {"name": "Open", "to": "Only secrets", "dry_run": True}),
    ("create_note", {"name": "Diary", "content": "mine"}),
    ("undo", {}),
]


@pytest.mark.parametrize(("tool", "given"), QUESTIONS)
def test_no_tool_reveals_a_hidden_name_or_text(opened: Callable[..., App], tool: str, given: dict[str, Any]) -> None:
    """POL-01: Before the policy hid them, the hidden files were changed: the history must not tell either."""
    before = opened("")
    for name in ("Private/Diary", "Work/plan.secret"):
        call(before, "obsidian_edit_note", {"name": name, "operation": "append", "content": "zebra"})
    call(before, "obsidian_move_note", {"name": "Private/Inner/Deep", "to": "Private/Inner/Deeper"})
    _, said = answer(opened(), tool, **given)

    assert not [mark for mark in MARKS if mark in said], said
    assert "Only secrets" not in said or "Only secrets" in json.dumps(given)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("read_note", {}),
        ("edit_note", {"operation": "append", "content": "x"}),
        ("delete_note", {}),
        ("get_links", {}),
        ("get_properties", {}),
        ("move_note", {"to": "Elsewhere"}),
        ("graph", {"question": "neighbours"}),
        ("create_note", {"content": "x"}),
        ("create_note", {"content": "x", "overwrite": True}),
    ],
)
@pytest.mark.parametrize("folder", ["Private/", "Private/Inner/"])
def test_a_hidden_file_and_none_are_answered_alike(
    opened: Callable[..., App], root: Path, tool: str, given: dict[str, Any], folder: str
) -> None:
    before = contents(root)
    app = opened()
    there, not_there = (f"{folder}{'Diary' if folder == 'Private/' else 'Deep'}", f"{folder}Absent")
    answers = [answer(app, tool, name=name, **given) for name in (there, not_there)]

    assert answers[0][0] != ""
    assert answers[0][0] == answers[1][0]
    assert answers[0][1].replace(there, "?") == answers[1][1].replace(not_there, "?")
    assert contents(root) == before


@pytest.mark.parametrize("to", ["Private/Diary", "Private/Absent", "Private/", "Work/plan.secret", "Work/none.secret"])
def test_nothing_is_moved_to_where_it_would_be_hidden(opened: Callable[..., App], root: Path, to: str) -> None:
    before = contents(root)
    code, message = answer(opened(), "move_note", name="Home", to=to)

    assert code == "PERMISSION_DENIED"
    assert "does not allow" in message
    assert contents(root) == before


def test_a_hidden_folder_cannot_be_listed_or_moved(opened: Callable[..., App], root: Path) -> None:
    before = contents(root)
    app = opened()
    for tool, given in [
        ("list_files", {"folder": "Private"}),
        ("list_files", {"folder": "Private/Inner"}),
        ("move_note", {"name": "Private", "to": "Public"}),
        ("move_note", {"name": "Private/Inner", "to": "Inner"}),
        ("move_note", {"name": "Only secrets", "to": "Elsewhere"}),
    ]:
        assert answer(app, tool, **given)[0] == "FILE_NOT_FOUND", (tool, given)
    assert contents(root) == before


def test_hidden_files_stay_where_they_are_when_their_folder_moves(opened: Callable[..., App], root: Path) -> None:
    """POL-07"""
    before = contents(root)
    app = opened()
    moved = call(app, "obsidian_move_note", {"name": "Work", "to": "Job"}).data

    assert moved["files"] == 1
    after = contents(root)
    assert after.pop("Job/Open.md") == before["Work/Open.md"]
    assert after == {path: data for path, data in before.items() if path != "Work/Open.md"}
    assert "Work" not in call(app, "obsidian_list_files", {}).data["folders"]
    call(app, "obsidian_undo", {})
    assert contents(root) == before
    assert not (root / "Job").exists()


def test_folders_without_hidden_files_leave_a_folder_that_moves_around_hidden_ones(
    opened: Callable[..., App], root: Path
) -> None:
    """POL-07: empty folders that stayed would show the folder, which then moved again and again, with nothing in it."""
    write_files(root, {"Work/Sub/Deep/a.md": "a\n", "Work/Mixed/b.md": "b\n", "Work/Mixed/c.secret.md": "c\n"})
    (root / "Work/Empty").mkdir()
    app = opened()
    assert call(app, "obsidian_move_note", {"name": "Work", "to": "Job"}).data["files"] == 3

    assert (root / "Job/Sub/Deep/a.md").exists()
    assert (root / "Job/Empty").is_dir()
    assert sorted(str(path.relative_to(root)) for path in root.glob("Work/**/*")) == [
        str(Path("Work/Mixed")),
        str(Path("Work/Mixed/c.secret.md")),
        str(Path("Work/plan.secret.md")),
    ]
    assert answer(app, "move_note", name="Work", to="Again")[0] == "FILE_NOT_FOUND"
    call(app, "obsidian_undo", {})
    assert not (root / "Job").exists()
    assert (root / "Work/Empty").is_dir()
    assert (root / "Work/Sub/Deep/a.md").exists()


def test_an_undo_of_what_is_hidden_now_is_an_undo_of_nothing(opened: Callable[..., App], root: Path) -> None:
    """POL-08"""
    first = opened("")
    call(first, "obsidian_edit_note", {"name": "Home", "operation": "append", "content": "x"})
    call(first, "obsidian_edit_note", {"name": "Diary", "operation": "append", "content": "zebra"})
    diary = (root / "Private/Diary.md").read_bytes()
    app = opened()

    assert [change["change"] for change in call(app, "obsidian_history", {}).data["changes"]] == [1]
    assert call(app, "obsidian_history", {}).data["total"] == 1
    assert answer(app, "history", change=2)[0] == answer(app, "undo", change=2)[0] == "CHANGE_NOT_FOUND"
    assert answer(app, "history", change=2)[1].replace("2", "9") == answer(app, "history", change=9)[1]
    assert call(app, "obsidian_undo", {}).data["undone"] == 1
    assert (root / "Private/Diary.md").read_bytes() == diary


def test_an_undo_of_a_folder_s_move_takes_no_hidden_file_along(opened: Callable[..., App], root: Path) -> None:
    """POL-07, POL-01"""
    call(opened(""), "obsidian_move_note", {"name": "Work", "to": "Job"})
    before = contents(root)
    code, said = answer(opened(), "undo")

    assert code == "PERMISSION_DENIED"
    assert "plan" not in said
    assert contents(root) == before


def test_a_change_of_visible_files_is_known_and_undone_whatever_their_folder_is(
    opened: Callable[..., App], root: Path
) -> None:
    """POL-08: the new folder itself matches no pattern"""
    app = opened('read = ["*.md"]\n')
    call(app, "obsidian_create_note", {"name": "New/note"})
    call(app, "obsidian_delete_note", {"name": "New/note"})

    changes = call(app, "obsidian_history", {"name": "note"}).data["changes"]
    assert [change["tool"] for change in changes] == ["delete_note", "create_note"]
    assert call(app, "obsidian_undo", {}).data["undone"] == 2
    assert call(app, "obsidian_undo", {}).data["undone"] == 1
    assert not (root / "New").exists()


def test_a_folder_is_moved_only_where_all_its_files_may_be_written(opened: Callable[..., App], root: Path) -> None:
    """POL-07"""
    before = contents(root)
    app = opened('write = ["Work/", "Inbox/"]\n')

    assert answer(app, "move_note", name="Private", to="Inbox/Private")[0] == "PERMISSION_DENIED"
    assert answer(app, "move_note", name="Work", to="Elsewhere")[0] == "PERMISSION_DENIED"
    assert contents(root) == before
    code, said = answer(app, "move_note", name="Work", to="Inbox/Work", update_links=False)
    assert code == "", said
    assert (root / "Inbox/Work/Open.md").exists()


KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "create": ("create_note", {"name": "New"}),
    "overwrite": ("create_note", {"name": "Home", "content": "x", "overwrite": True}),
    "edit": ("edit_note", {"name": "Home", "operation": "append", "content": "x"}),
    "move": ("move_note", {"name": "Table", "to": "Desk"}),
    "delete": ("delete_note", {"name": "Home"}),
    "permanent_delete": ("delete_note", {"name": "Home", "permanent": True}),
}


@pytest.mark.parametrize("kind", CONFIRMABLE)
def test_only_the_kinds_of_change_that_the_policy_names_wait_for_a_person(
    opened: Callable[..., App], root: Path, kind: str
) -> None:
    """POL-04"""
    tool, given = KINDS[kind]
    before = contents(root)
    assert answer(opened(f'confirm = ["{kind}"]\n'), tool, **given)[0] == "CONFIRMATION_REQUIRED"
    assert contents(root) == before
    (root / ".obsidian").mkdir()
    (root / ".obsidian/app.json").write_bytes(b'{"trashOption": "local"}')
    others = json.dumps([other for other in CONFIRMABLE if other != kind])
    assert answer(opened(f"confirm = {others}\n"), tool, **given)[0] == ""
    assert contents(root) != before


def test_every_writing_tool_is_refused_where_nothing_may_be_written(opened: Callable[..., App], root: Path) -> None:
    """POL-02, POL-03"""
    before = contents(root)
    app = opened("read_only = true\n")
    calls: dict[str, dict[str, Any]] = {
        "create_note": {"name": "x"},
        "edit_note": {"name": "Home", "operation": "append", "content": "x"},
        "delete_note": {"name": "Home"},
        "move_note": {"name": "Home", "to": "House"},
        "rename_tag": {"tag": "visible", "to": "seen"},
        "link_mentions": {"name": "Open"},
        "set_properties": {"names": ["Home"], "properties": {"p": 1}},
        "replace": {"names": ["Home"], "find": "[", "content": "("},
        "undo": {},
        "batch": {"calls": [{"tool": "create_note", "name": "x"}]},
        "add_attachment": {"name": "x.png", "data": "eA=="},
        "daily_note": {"content": "x"},
        "edit_table": {"name": "Table", "operations": [{"op": "add_row", "values": ["1", "2"]}]},
        "edit_bookmarks": {"action": "add", "target": "search:x"},
        "compose_notes": {"action": "extract", "name": "Home", "part": "1-1", "into": "New"},
        "update_task": {"action": "add", "name": "Home", "text": "x"},
        "insert_template": {"template": "Home.md", "name": "Home"},
        "edit_canvas": {"name": "New", "operations": [{"op": "add", "type": "text", "text": "x"}], "create": True},
    }
    writing = {tool.name.removeprefix("obsidian_") for tool in TOOLS.values() if not tool.read_only}
    assert writing - {"open_note", "app_command"} == set(calls)
    for tool, given in calls.items():
        code, _ = answer(app, tool, **given)
        assert code in ("PERMISSION_DENIED", "CHANGE_NOT_FOUND"), tool
    assert contents(root) == before


def test_only_an_overwrite_is_one_not_the_links_that_follow_a_new_note(root: Path, opened: Callable[..., App]) -> None:
    """POL-04: a new note takes the name of another one, and links keep leading to that."""
    app = opened('confirm = ["overwrite"]\n')
    assert answer(app, "create_note", name="Open.md", content="x")[0] == ""
    assert "[[Work/Open" in (root / "Home.md").read_text(encoding="utf-8")
    assert answer(app, "create_note", name="Open.md", content="y", overwrite=True)[0] == "CONFIRMATION_REQUIRED"


@pytest.mark.parametrize(
    ("source", "target"),
    [("Home.md", "Inbox/Home.md"), ("Inbox/a.md", "a.md"), ("Inbox", "Outbox"), ("Work", "Inbox/Work"), ("Void", "V")],
)
def test_nothing_is_moved_from_or_to_where_nothing_may_be_written(
    root: Path, opened: Callable[..., App], source: str, target: str
) -> None:
    """POL-02, POL-07: files, folders and empty folders, whatever the tool has checked before."""
    write_files(root, {"Inbox/a.md": "a", "Inbox/Sub/b.md": "b"})
    (root / "Void").mkdir()
    (root / "Inbox/Void").mkdir()
    vault = opened('write = ["Inbox/"]\n').vaults.get()
    before = contents(root)
    with pytest.raises(PermissionDenied):
        vault.commit("test", [Move(source, target)])
    assert contents(root) == before
    assert (root / "Void").is_dir()
    for inside, moved in (("Inbox/a.md", "Inbox/c.md"), ("Inbox/Sub", "Inbox/Under"), ("Inbox/Void", "Inbox/V")):
        vault.commit("test", [Move(inside, moved)])
        assert (root / moved).exists()
