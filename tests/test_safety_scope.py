"""A server that is held to one folder: nothing else exists for its tools (specs/policy.md POL-10, POL-11)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp import compose, config
from obsidian_mcp.app import App
from obsidian_mcp.cli import main
from obsidian_mcp.errors import PolicyInvalid
from obsidian_mcp.tools.registry import TOOLS, call
from tests.conftest import app_on
from tests.serve.http_client import http_client
from tests.vaults import answer, contents, write_files

MARKS = ("zebra", "Diary", "Other", "Projects2", "quagga")
"""Words of files, folders and tags outside the scope."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    texts = {
        "Projects/Alpha.md": "Alpha heron [[Beta]] #inside\n- [ ] feed it\n",
        "Projects/Sub [1]/Beta.md": "Beta heron\n",
        "Projects2/Near.md": "zebra heron #quagga [[Alpha]]\n- [ ] zebra\n",
        "Other/Diary.md": "---\nquagga: zebra\n---\nzebra heron #quagga [[Alpha]] Alpha\n",
        "zebra.md": "zebra heron [[Alpha]]\n",
        ".obsidian/bookmarks.json": json.dumps(
            {
                "items": [
                    {"type": "file", "ctime": 1, "path": "Other/Diary.md"},
                    {"type": "folder", "ctime": 2, "path": "Other"},
                    {"type": "file", "ctime": 3, "path": "Projects/Alpha.md"},
                ]
            }
        ),
    }
    return write_files(tmp_path / "vault", texts)


Opened = Callable[..., App]


@pytest.fixture
def opened(root: Path) -> Iterator[Opened]:
    apps: list[App] = []

    def open_app(scope: str = "Projects", policy: str = "") -> App:
        (root.parent / "policy.toml").write_text(policy, encoding="utf-8")
        plain = app_on(root)
        plain.vaults.close()
        apps.append(compose.build(plain.config.replace(scope=scope)))
        return apps[-1]

    yield open_app
    for app in apps:
        app.vaults.close()


def files(app: App) -> set[str]:
    return {
        file["path"] for file in call(app, "obsidian_list_files", {"recursive": True, "details": True}).data["files"]
    }


QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "heron"}),
    ("search", {"query": "/.*/"}),
    ("search", {"query": "path:/"}),
    ("list_files", {"recursive": True}),
    ("list_files", {}),
    ("vault_info", {}),
    ("get_links", {"name": "Alpha"}),
    ("get_links", {"name": "Alpha", "unlinked": True}),
    ("graph", {"question": "orphans"}),
    ("graph", {"question": "neighbours", "name": "Alpha", "depth": 3}),
    ("tags", {}),
    ("get_properties", {}),
    ("list_tasks", {}),
    ("query", {"query": "LIST", "language": "dataview"}),
    ("bookmarks", {}),
    ("list_bookmarks", {}),
    ("similar", {"name": "Alpha"}),
    ("history", {}),
    ("read_note", {"name": "Near"}),
    ("read_note", {"name": "Projects"}),
    ("edit_bookmarks", {"action": "remove", "target": "nothing"}),
]


@pytest.mark.parametrize(("tool", "given"), [row for row in QUESTIONS if f"obsidian_{row[0]}" in TOOLS])
def test_no_tool_names_what_is_outside_the_scope(opened: Opened, tool: str, given: dict[str, Any]) -> None:
    """POL-10"""
    _, said = answer(opened(), tool, **given)

    assert not [mark for mark in MARKS if mark in said], said


def test_what_is_inside_is_found_listed_linked_and_changed(opened: Opened, root: Path) -> None:
    """POL-10"""
    app = opened("projects/")

    assert files(app) == {"Projects/Alpha.md", "Projects/Sub [1]/Beta.md"}
    assert call(app, "obsidian_search", {"query": "heron"}).data["total"] == 2
    assert "Alpha" in answer(app, "get_links", name="Beta")[1]
    assert "Projects/Alpha.md" in answer(app, "list_bookmarks")[1]
    call(app, "obsidian_edit_note", {"name": "Alpha", "operation": "append", "content": "more"})
    assert b"more" in (root / "Projects/Alpha.md").read_bytes()
    assert files(opened("Projects/Sub [1]")) == {"Projects/Sub [1]/Beta.md"}


SETTINGS = {
    "app": {"newFileLocation": "folder", "newFileFolderPath": "Other", "attachmentFolderPath": "Other/zebra"},
    "daily-notes": {"folder": "Other", "template": "Other/zebra"},
    "templates": {"folder": "Other/zebra"},
    "zk-prefixer": {"folder": "Other", "template": "zebra"},
    "note-composer": {"template": "Other/zebra"},
    "community-plugins": ["templater-obsidian", "periodic-notes"],
    "plugins/templater-obsidian/data": {
        "templates_folder": "Other",
        "folder_templates": [{"folder": "Projects", "template": "Other/zebra.md"}],
    },
    "plugins/periodic-notes/data": {
        "weekly": {"enabled": True, "folder": "Other", "format": "gggg"},
        "monthly": {"enabled": True, "folder": "Projects", "format": "YYYY", "template": "Other/zebra"},
        "yearly": {"enabled": True, "folder": "Projects", "format": "YYYY", "template": "zebra"},
    },
    "bookmarks": {
        "items": [
            {
                "type": "group",
                "title": "zebra",
                "items": [
                    {"type": "file", "path": "Projects/Alpha.md", "title": "mine"},
                    {"type": "file", "path": "Other/Diary.md", "title": "mine"},
                ],
            }
        ]
    },
    "workspace": {
        "main": {
            "type": "split",
            "children": [
                {"type": "leaf", "state": {"title": "zebra", "state": {"file": "Other/Diary.md"}}},
                {"type": "leaf", "state": {"title": "Alpha", "state": {"file": "Projects/Alpha.md"}}},
            ],
        },
        "lastOpenFiles": ["Other/Diary.md", "Projects/Alpha.md"],
    },
}
"""Of the app and its plugins, naming folders, templates, groups and notes outside the scope."""
BY_SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("create_note", {"name": "New"}),
    ("create_note", {"name": "unique:"}),
    ("create_note", {"name": "Projects/New", "template": "auto"}),
    ("create_note", {"name": "Projects/New", "template": "absent"}),
    ("create_note", {"name": "daily:today"}),
    ("read_note", {"name": "daily:today"}),
    ("read_note", {"name": "weekly:today"}),
    ("edit_note", {"name": "daily:today", "operation": "append", "content": "x"}),
    ("move_note", {"name": "Alpha", "to": "daily:today"}),
    *(("daily_note", {"period": period, "create": True}) for period in ("daily", "weekly", "monthly", "yearly")),
    ("daily_note", {}),
    ("update_task", {"action": "add", "daily": True, "text": "x"}),
    ("update_task", {"action": "add", "daily": True, "text": "x", "dry_run": True}),
    ("list_templates", {}),
    ("list_templates", {"template": "absent"}),
    ("insert_template", {"template": "absent", "name": "Alpha"}),
    ("compose_notes", {"action": "extract", "name": "Alpha", "part": "1-1", "into": "New"}),
    ("compose_notes", {"action": "extract", "name": "Alpha", "part": "1-1", "into": "Projects/New"}),
    ("compose_notes", {"action": "merge", "name": "Alpha", "into": "Beta"}),
    ("add_attachment", {"name": "x.png", "data": "eA=="}),
    ("add_attachment", {"name": "x.png", "data": "eA==", "note": "Alpha"}),
    ("list_bookmarks", {}),
    ("edit_bookmarks", {"action": "remove", "target": "mine"}),
    ("vault_info", {}),
    ("list_tasks", {}),
    ("query", {"query": "explain", "language": "tasks"}),
]


@pytest.fixture
def settled(root: Path) -> Path:
    """The vault with SETTINGS."""
    texts = {f".obsidian/{name}.json": json.dumps(value) for name, value in SETTINGS.items()}
    return write_files(root, texts)


@pytest.mark.parametrize("policy", ["", 'hidden = ["Other/", "zebra.md", "Projects2/", ".obsidian/"]'])
@pytest.mark.parametrize(("tool", "given"), BY_SETTINGS, ids=[f"{n} {tool}" for n, (tool, _) in enumerate(BY_SETTINGS)])
def test_no_answer_repeats_what_settings_name_outside_the_scope(
    opened: Opened, settled: Path, policy: str, tool: str, given: dict[str, Any]
) -> None:
    """POL-18"""
    _, said = answer(opened("" if policy else "Projects", policy), tool, **given)

    assert not [mark for mark in MARKS if mark in said], said


@pytest.mark.parametrize(
    "words",
    [
        ["daily:path"],
        ["daily:read"],
        ["daily:settings"],
        ["weekly:settings"],
        ["monthly:settings"],
        ["daily:list"],
        ["daily:append", "content=x"],
        ["templates"],
        ["template:read", "name=absent"],
        ["create", "name=New"],
        ["unique"],
        ["bookmarks", "verbose"],
        ["tabs"],
        ["workspace"],
        ["recents"],
    ],
    ids=" ".join,
)
def test_no_command_of_the_drop_in_repeats_what_settings_name_outside_the_scope(
    settled: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """POL-18"""
    for name in ("CACHE", "STATE", "POLICY"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{name}", str(settled.parent / name.lower()))
    main.run_command_line(["--vault", str(settled), "--scope", "Projects", "obsidian", *words])
    said = "".join(capsys.readouterr())

    assert said
    assert not [mark for mark in MARKS if mark in said], said


WRITES: list[tuple[str, dict[str, Any]]] = [
    ("create_note", {"name": "New", "content": "x"}),
    ("create_note", {"name": "Projects2/New", "content": "x"}),
    ("create_note", {"name": "Other/Diary", "content": "x", "overwrite": True}),
    ("edit_note", {"name": "Other/Diary", "operation": "append", "content": "x"}),
    ("delete_note", {"name": "zebra"}),
    ("move_note", {"name": "Alpha", "to": "Other/"}),
    ("move_note", {"name": "Alpha", "to": "Other/Diary"}),
    ("move_note", {"name": "Projects", "to": "Elsewhere"}),
    ("move_note", {"name": "Other", "to": "Projects/Other"}),
    ("set_properties", {"names": ["Diary"], "properties": {"p": 1}}),
    ("rename_tag", {"tag": "quagga", "to": "q"}),
    ("link_mentions", {"name": "Alpha"}),
    ("link_mentions", {"name": "Alpha", "names": ["Other/Diary"]}),
    ("add_attachment", {"name": "Other/x.png", "data": "eA=="}),
    ("edit_bookmarks", {"action": "remove", "target": "Other/Diary.md"}),
    ("daily_note", {"content": "x"}),
]


@pytest.mark.parametrize(("tool", "given"), WRITES)
def test_nothing_outside_the_scope_is_changed(opened: Opened, root: Path, tool: str, given: dict[str, Any]) -> None:
    """POL-10"""
    before = contents(root)
    code, said = answer(opened(), tool, **given)

    assert code or '"total":0' in said, said
    assert contents(root) == before


def test_a_refusal_says_where_files_may_be_changed(opened: Opened) -> None:
    code, said = answer(opened(), "create_note", name="New")

    assert code == "PERMISSION_DENIED"
    assert "'Projects'" in said


def test_a_file_outside_the_scope_and_none_are_answered_alike(opened: Opened) -> None:
    """POL-10"""
    app = opened()
    there, not_there = (answer(app, "read_note", name=f"Other/{name}") for name in ("Diary", "Diaro"))

    assert there[0] == "FILE_NOT_FOUND"
    assert there == (not_there[0], not_there[1].replace("Diaro", "Diary"))


def test_adding_a_file_tells_not_what_lies_outside(opened: Opened, root: Path) -> None:
    """POL-10"""
    (root / "Other/there.png").write_bytes(b"x")
    app = opened()
    there, not_there = (
        answer(app, "add_attachment", name=f"Other/{name}.png", data="eA==") for name in ("there", "gone!")
    )

    assert there[0] == "PERMISSION_DENIED"
    assert there == (not_there[0], not_there[1].replace("gone!", "there"))


def test_a_rename_inside_leaves_links_outside_as_they_are(opened: Opened, root: Path) -> None:
    """POL-10"""
    before = contents(root)
    app = opened()
    call(app, "obsidian_move_note", {"name": "Beta", "to": "Projects/Gamma"})

    after = contents(root)
    assert b"[[Gamma]]" in after["Projects/Alpha.md"]
    for path in ("Other/Diary.md", "zebra.md", "Projects2/Near.md"):
        assert after[path] == before[path]


def test_resources_outside_the_scope_do_not_exist(opened: Opened) -> None:
    """POL-10"""
    with http_client(opened()) as client:
        for method, params in (
            ("resources/list", {}),
            ("resources/read", {"uri": "obsidian://vault/vault/Other/Diary.md"}),
            ("resources/read", {"uri": "obsidian://vault/vault/Projects/Alpha.md"}),
        ):
            message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            said = client.post("/mcp", json=message).text
            sent = json.dumps(params)
            assert not [mark for mark in MARKS if mark in said and mark not in sent], said


def test_an_old_change_outside_the_scope_is_not_in_the_history(opened: Opened, root: Path) -> None:
    """POL-08, POL-10"""
    call(opened(""), "obsidian_edit_note", {"name": "Diary", "operation": "append", "content": "x"})
    app = opened()

    assert call(app, "obsidian_history", {}).data["changes"] == []
    assert answer(app, "undo")[0] == "CHANGE_NOT_FOUND"


def test_the_policy_file_holds_a_vault_to_a_folder_and_the_option_only_narrows_it(opened: Opened) -> None:
    """POL-10"""
    policy = '[vaults.vault]\nscope = "Projects"\n'

    assert files(opened("", policy)) == {"Projects/Alpha.md", "Projects/Sub [1]/Beta.md"}
    assert files(opened("Projects/Sub [1]", policy)) == {"Projects/Sub [1]/Beta.md"}
    assert files(opened("Other", policy)) == set()
    assert files(opened("Projects", 'hidden = ["Alpha.md"]\n')) == {"Projects/Sub [1]/Beta.md"}


@pytest.mark.parametrize("mistake", ['scope = ["Projects"]', 'scope = "../x"', 'scope = ""'])
def test_a_scope_that_is_no_folder_is_reported_with_its_line(opened: Opened, mistake: str) -> None:
    """POL-05"""
    with pytest.raises(PolicyInvalid, match="line 1: scope must be a folder"):
        opened("", mistake).vaults.get()


def test_a_scope_that_the_vault_does_not_have_allows_nothing(opened: Opened) -> None:
    """POL-11"""
    with pytest.raises(PolicyInvalid, match="no folder 'Projcts'"):
        opened("Projcts").vaults.get()


def test_the_scope_is_an_option_and_a_setting_of_the_environment(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """POL-10"""
    for name in ("CACHE", "STATE", "POLICY"):
        monkeypatch.setenv(f"OBSIDIAN_MCP_{name}", str(root.parent / name.lower()))

    assert main.run_command_line(["--vault", str(root), "--scope", "Projects", "list", "--recursive"]) == 0
    said = capsys.readouterr().out
    assert "Alpha" in said
    assert "Diary" not in said
    assert main.run_command_line(["--vault", str(root), "--scope", "Projects", "obsidian", "bookmarks"]) == 0
    assert capsys.readouterr().out == "Projects/Alpha.md\n"
    assert config.Config(environ={"OBSIDIAN_MCP_SCOPE": "Projects"}).scope == "Projects"


def test_of_the_bookmarks_only_those_of_files_inside_are_seen(opened: Opened, root: Path) -> None:
    """BOOK-1"""
    items = [
        {"type": "file", "path": "Projects/Alpha.md"},
        {"type": "search", "query": "zebra path:Other", "title": "Diary"},
        {"type": "url", "url": "https://zebra.example/"},
    ]
    settings = root / ".obsidian/bookmarks.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"items": items}), encoding="utf-8")

    _, said = answer(opened("Projects"), "list_bookmarks")
    assert "Projects/Alpha.md" in said
    assert not [mark for mark in MARKS if mark in said], said
    assert "path:Other" in answer(opened(""), "list_bookmarks")[1]
