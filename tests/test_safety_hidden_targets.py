"""A place that may not be seen is refused in the same words whether something is there or not (POL-01)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.tools.registry import TOOLS
from tests.conftest import app_on
from tests.vaults import answer, contents, write_files

TEXTS = {
    "Home.md": "[[Open]] open\n",
    "Work/Open.md": "# P\nopen\n- [ ] t\n",
    "Work/T.md": "template\n",
    "Board.canvas": '{"nodes": [], "edges": []}',
    "Secret/there.md": "# H\nzebra\n",
    "Secret/there.canvas": "{}",
    "Secret/there.png": "x",
    "Secret/Full/deep.md": "zebra\n",
}
POLICIES = {
    "read": 'read = ["Work/", "/Home.md", "/Board.canvas"]\n',
    "hidden": 'hidden = ["Secret/"]\n',
    "both": 'read = ["Work/", "*.md", "Board.canvas"]\nhidden = ["Secret/*"]\n',
}
CARD = [{"op": "add", "type": "text", "text": "x"}]


def calls(name: str, folder: str) -> list[tuple[str, dict[str, Any]]]:
    """Calls of every tool that takes a target or makes a file, with one that the policy hides."""
    part = {"action": "extract", "name": "Work/Open", "part": "P"}
    return [
        ("create_note", {"name": name, "content": "x"}),
        ("create_note", {"name": f"{name}.md", "content": "x", "overwrite": True}),
        ("create_note", {"name": name.upper(), "template": "Work/T.md"}),
        *(("move_note", {"name": note, "to": name}) for note in ("Home", "Work/Open", "Board.canvas")),
        ("move_note", {"name": "Home", "to": f"{name.upper()}.md"}),
        ("move_note", {"name": "Home", "to": folder}),
        ("move_note", {"name": "Home", "to": f"{folder}/"}),
        ("move_note", {"names": ["Home", "Work/Open"], "to": folder}),
        ("move_note", {"query": "open", "to": f"{folder}/"}),
        ("move_note", {"name": "Work", "to": folder}),
        ("move_note", {"name": "Work", "to": f"{name}.md"}),
        ("move_note", {"name": "Void/", "to": folder}),
        ("compose_notes", {"action": "merge", "name": "Work/Open", "into": name}),
        ("compose_notes", {**part, "into": name}),
        ("compose_notes", {**part, "into": f"{name}.md"}),
        ("edit_canvas", {"name": name, "operations": CARD, "create": True}),
        ("edit_canvas", {"name": "Board", "operations": [{"op": "add", "type": "file", "file": f"{name}#H"}]}),
        ("add_attachment", {"name": f"{name}.png", "data": "eA=="}),
        ("update_task", {"action": "add", "name": name, "text": "x"}),
        ("insert_template", {"template": name, "name": "Home"}),
        ("edit_bookmarks", {"action": "add", "target": name}),
        ("edit_bookmarks", {"action": "add", "target": f"{folder}/"}),
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_files(tmp_path / "vault", TEXTS)
    (root / "Void").mkdir()
    return root


@pytest.fixture
def opened(root: Path) -> Callable[[str], App]:
    def open_app(policy: str) -> App:
        (root.parent / "policy.toml").write_text(policy, encoding="utf-8")
        return app_on(root)

    return open_app


def refusals(app: App, tool: str, given: dict[str, Any]) -> list[tuple[str, str]]:
    """What a call, its dry run and a batch with it are answered."""
    answers = [answer(app, tool, **given), answer(app, "batch", calls=[{"tool": tool, **given}])]
    if "dry_run" in TOOLS[f"obsidian_{tool}"].parameters:
        answers.append(answer(app, tool, **given, dry_run=True))
    return answers


@pytest.mark.parametrize("policy", POLICIES)
def test_no_refusal_tells_whether_a_hidden_target_is_there(
    opened: Callable[[str], App], root: Path, policy: str
) -> None:
    """POL-01, POL-17: a move answered NOTE_EXISTS for hidden files that are there, PERMISSION_DENIED for others."""
    app = opened(POLICIES[policy])
    before = contents(root)
    pairs = zip(calls("Secret/there", "Secret/Full"), calls("Secret/gone!", "Secret/None"), strict=True)
    for (tool, there), (_, absent) in pairs:
        for present, missing in zip(refusals(app, tool, there), refusals(app, tool, absent), strict=True):
            assert present[0] in ("PERMISSION_DENIED", "FILE_NOT_FOUND"), (tool, there, present)
            assert present[0] == missing[0], (tool, there, present, missing)
            said = present[1].replace("there", "gone!").replace("THERE", "GONE!").replace("Full", "None")
            assert said == missing[1], (tool, there)
    assert contents(root) == before


SETTINGS: dict[str, Any] = {
    "app.json": {"newFileLocation": "folder", "newFileFolderPath": "Secret", "attachmentFolderPath": "Secret"},
    "core-plugins.json": ["daily-notes", "templates", "zk-prefixer"],
    "daily-notes.json": {"folder": "Secret"},
    "templates.json": {"folder": "Secret"},
    "zk-prefixer.json": {"folder": "Secret"},
}


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("create_note", {"name": "New"}),
        ("create_note", {"name": "unique:"}),
        ("create_note", {"name": "daily:today"}),
        ("daily_note", {"content": "x"}),
        ("read_note", {"name": "daily:today"}),
        ("add_attachment", {"name": "a.png", "data": "eA=="}),
        ("compose_notes", {"action": "extract", "name": "Work/Open", "part": "P", "into": "New"}),
        ("compose_notes", {"action": "extract", "name": "Work/Open", "part": "P"}),
        ("list_templates", {}),
        ("insert_template", {"template": "there", "name": "Work/Open"}),
        ("update_task", {"action": "add", "daily": True, "text": "x"}),
    ],
)
@pytest.mark.parametrize("policy", ["read", "hidden"])
def test_no_answer_names_a_folder_of_the_settings_that_may_not_be_seen(
    opened: Callable[[str], App], root: Path, policy: str, tool: str, given: dict[str, Any]
) -> None:
    """POL-18: Where the policy lists what may be read, the folder of new notes was named."""
    write_files(root / ".obsidian", {name: json.dumps(value) for name, value in SETTINGS.items()})
    code, said = answer(opened(POLICIES[policy]), tool, **given)
    assert "Secret" not in said
    others = {"list_templates": "", "insert_template": "FILE_NOT_FOUND"}
    assert code == others.get(tool, "PERMISSION_DENIED")


def test_an_undo_does_not_name_where_a_file_went_that_is_hidden_now(opened: Callable[[str], App], root: Path) -> None:
    """POL-01"""
    free = opened("")
    assert answer(free, "create_note", name="Work/Plan", content="x")[0] == ""
    assert answer(free, "move_note", name="Work/Plan", to="Secret/Zebra plan")[0] == ""
    code, said = answer(opened(POLICIES["hidden"]), "undo", change=1)
    assert code == "UNDO_CONFLICT"
    assert "Secret" not in said


# OBSIDIAN_MCP_IMPORT (ATT-08)


@pytest.mark.parametrize("folder", ["vault", "vault/Secret", "", "vault/Work/../Secret"])
def test_an_import_folder_opens_no_hidden_file_of_a_vault(tmp_path: Path, root: Path, folder: str) -> None:
    """The folder is the vault, lies in it, or holds it."""
    (tmp_path / "policy.toml").write_text(POLICIES["hidden"], encoding="utf-8")
    write_files(root, {".obsidian/plugins/key/data.json": "zebra", ".trash/old.md": "zebra"})
    app = app_on(root, named_imports=(str(tmp_path / folder),))
    answer(app, "create_note", name="Work/New", content="x")  # so that there is a journal
    journals = [str(path) for path in (tmp_path / "state").rglob("*") if path.is_file()]
    hidden = ["Secret/there.png", "secret/there.md", ".obsidian/plugins/key/data.json", ".trash/old.md"]
    sources = [*(str(root / name) for name in hidden), *journals, str(tmp_path / "policy.toml")]
    for source in sources:
        code, said = answer(app, "add_attachment", name="Work/copy.bin", source=source)
        assert code == "PERMISSION_DENIED", (source, said)
    absent = answer(app, "add_attachment", name="Work/copy.bin", source=str(root / "Secret/gone.png"))
    present = answer(app, "add_attachment", name="Work/copy.bin", source=str(root / "Secret/none.png"))
    assert absent[1].replace("gone", "none") == present[1]
    assert "Work/copy.bin" not in contents(root)


def test_an_import_folder_that_holds_the_vault_gives_what_is_not_hidden(tmp_path: Path, root: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICIES["hidden"], encoding="utf-8")
    write_files(tmp_path, {"Downloads/photo.png": "picture", "vault/Work/photo.png": "shown"})
    app = app_on(root, named_imports=(str(tmp_path),))
    for source, text in {"Downloads/photo.png": b"picture", "vault/Work/photo.png": b"shown"}.items():
        code, said = answer(app, "add_attachment", name=f"Work/{len(text)}.png", source=str(tmp_path / source))
        assert code == "", said
        assert (root / f"Work/{len(text)}.png").read_bytes() == text
