"""Names that try to leave the vault, on every tool that takes one (specs/safety.md SAFE-15, specs/names.md NAME-02)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools.registry import TOOLS, call
from tests.conftest import app_on
from tests.disks import make_junctions
from tests.system import can

ESCAPES = [
    "../outside/secret",
    "../outside/secret.md",
    "Folder/../../outside/secret.md",
    "..\\outside\\secret.md",
    "./../outside/secret.md",
    "..",
    "....//outside",
    "/etc/passwd",
    "/outside/../../etc/passwd",
    "//server/share/x",
    "\\\\server\\share\\x",
    "\\\\?\\C:\\x",
    "\\\\.\\PhysicalDrive0",
    "C:\\x",
    "C:x",
    "z:/x",
    "Note.md\0.png",
    "\0",
    ".obsidian/app.json",
    ".obsidian\\app.json",
    "Folder/.hidden/x",
    ".trash/x.md",
    "file://x",
    "file:///etc/passwd",
]
NOT_EVERYWHERE = [
    "CON",
    "nul.md",
    "aux/x",
    "COM1",
    "lpt9.txt",
    "com¹",
    "Note.md:stream",
    "Note.md::$DATA",
    "Note.md.",
    "Note. ",
    "Folder./x",
    "Folder /x",
    "x*",
    "x?",
    '"x"',
    "a\x01b",
    "a\x7fb",
    "a\nb",
    "日" * 200,
    "x" * 5000,
    "x\ufffey",
    "\uffff/x",
    "x\ufdd0.md",
    "x\U0001fffe",
    "\U0010ffff.md",
    "x\ud800y",
    "x\udcffy.md",
    f"{'d' * 200}/" * 21 + "x",
    "é/" * 1400 + "x",
    "a/" * 201 + "x",
]
LOOK_ALIKES = [
    "\u2024\u2024/outside/secret",
    "\u2025/outside/secret",
    "\uff0e\uff0e/outside/secret",
    "\u2215etc\u2215passwd",
    "\uff0fetc\uff0fpasswd",
    "Folder\u2044..\u2044outside",
    "\uff3cserver",
    "\u202egnp.md",
    "%2e%2e/outside/secret",
    "%2e%2e%2foutside%2fsecret",
    "~/outside",
    "$HOME/x",
]
OTHERS: dict[str, dict[str, Any]] = {
    "obsidian_add_attachment": {"data": "eA=="},
    "obsidian_create_note": {"content": "x"},
    "obsidian_edit_canvas": {"operations": [{"op": "add", "type": "text", "text": "x"}]},
    "obsidian_insert_template": {"template": "Note.md"},
    "obsidian_edit_table": {"operations": [{"op": "remove_row", "row": 1}]},
    "obsidian_compose_notes": {"action": "merge", "into": "Folder/Inner"},
    "obsidian_update_task": {"action": "add", "text": "x"},
    "obsidian_edit_note": {"operation": "append", "content": "x"},
    "obsidian_move_note": {"name": "Note", "to": "Elsewhere"},
    "obsidian_search": {"query": "secret"},
}
"""What else a call needs; a graph question is asked for each of its two names."""
NAMES = [
    (tool.name.removeprefix("obsidian_"), parameter)
    for tool in TOOLS.values()
    for parameter in tool.input_schema["properties"]
    if parameter in ("name", "to") and tool.name.startswith("obsidian_") and tool.name != "obsidian_rename_tag"
]
FOLDERS = [("list_files", "folder"), ("search", "folder")]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    (folder / "Folder").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / "Note.md").write_bytes(b"a note\n")
    (folder / "Folder/Inner.md").write_bytes(b"[[Note]]\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.md").write_bytes(b"zebra")
    return folder


@pytest.fixture
def app(root: Path) -> Iterator[App]:
    opened = app_on(root)
    yield opened
    opened.vaults.close()


def arguments(tool: str, parameter: str, name: str) -> dict[str, Any]:
    others = OTHERS.get(f"obsidian_{tool}", {})
    if tool == "graph":
        others = {"question": "path", "name": "Note", "to": "Note"}
    return {**others, parameter: name}


def outside(root: Path) -> dict[str, bytes | None]:
    kept = [path for path in root.parent.rglob("*") if path.relative_to(root.parent).parts[0] not in ("cache", "state")]
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for path in kept
        if root not in path.parents or ".obsidian" in path.parts
    }


def refusal(app: App, tool: str, given: dict[str, Any]) -> tuple[str, str]:
    """Error code and message of a refused call, or no code and the whole answer."""
    try:
        outcome = call(app, f"obsidian_{tool}", given)
    except AppError as error:
        return error.error_code, error.message
    return "", outcome.envelope() + (outcome.text or "")


@pytest.mark.parametrize(("tool", "parameter"), NAMES + FOLDERS)
def test_nothing_outside_the_vault_is_named_read_or_changed(app: App, root: Path, tool: str, parameter: str) -> None:
    before = outside(root)
    for name in ESCAPES:
        if (tool, parameter, name) == ("move_note", "to", "/etc/passwd") or (parameter, name[:1]) == ("folder", "/"):
            continue  # from the vault's root, and tested below
        code, message = refusal(app, tool, arguments(tool, parameter, name))
        assert code == "PERMISSION_DENIED", (name, message)
        assert "zebra" not in message
    assert outside(root) == before


@pytest.mark.parametrize(("tool", "parameter"), NAMES + FOLDERS)
@pytest.mark.parametrize("kind", ["names not every system takes", "look-alikes", "from the root"])
def test_odd_names_are_refused_in_words_or_stay_inside(
    app: App, root: Path, tool: str, parameter: str, kind: str
) -> None:
    before = outside(root)
    names = {
        "names not every system takes": NOT_EVERYWHERE,
        "look-alikes": LOOK_ALIKES,
        "from the root": ["/etc/passwd", "/", "/Folder"],
    }[kind]
    for name in names:
        code, message = refusal(app, tool, arguments(tool, parameter, name))
        assert code not in ("INTERNAL_ERROR", "INVALID_ARGUMENTS"), (name, message)
        assert "zebra" not in message
        if kind == "names not every system takes" and tool == "create_note" and name == name.strip():
            assert code == "INVALID_NAME", name
    assert outside(root) == before
    assert not (root / "Note.md").exists() or b"a note" in (root / "Note.md").read_bytes()


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_look_alike_of_a_dot_or_slash_is_an_ordinary_character(app: App, root: Path, name: str) -> None:
    before = outside(root)
    code, message = refusal(app, "create_note", {"name": name, "content": "inside"})
    if code:
        assert code == "INVALID_NAME"
        return
    made = json.loads(message)["data"]["path"]
    assert (root / made).read_bytes() == b"inside"
    assert root in (root / made).resolve().parents
    assert outside(root) == before


@pytest.mark.parametrize(("tool", "parameter"), NAMES)
def test_links_out_of_the_vault_lead_nowhere(
    root: Path, tool: str, parameter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["folder link/secret", "folder link/new"]
    if can("symbolic links"):
        names += ["link", "link.md", "dangling"]
        (root / "link.md").symlink_to(root.parent / "outside/secret.md")
        (root / "folder link").symlink_to(root.parent / "outside")
        (root / "dangling.md").symlink_to(root.parent / "outside/new.md")
    else:  # Windows, where everybody may make junctions
        (root / "folder link").mkdir()
        (root / "folder link/secret.md").write_bytes(b"zebra")
        make_junctions(monkeypatch, root / "folder link")
    app = app_on(root)
    before = outside(root)
    for name in names:
        code, message = refusal(app, tool, arguments(tool, parameter, name))
        assert code or tool == "history", (name, message)
        assert "zebra" not in message
    assert outside(root) == before


@pytest.mark.parametrize("tool", ["create_note", "read_note", "edit_note", "delete_note", "move_note"])
def test_a_note_that_is_only_in_the_cloud_is_not_said_to_be_missing_and_not_made_anew(
    app: App, root: Path, tool: str
) -> None:
    """SAFE-14: iCloud Drive has put `.Away.md.icloud` in the place of the note."""
    (root / ".Away.md.icloud").write_bytes(b"bplist00")
    code, message = refusal(app, tool, arguments(tool, "name", "Away"))
    assert code == "STORAGE_FAILED"
    assert "not downloaded" in message
    assert not (root / "Away.md").exists()
    assert refusal(app, "move_note", {"name": "Note", "to": "Away"})[0] == "STORAGE_FAILED"
    assert (root / "Note.md").exists()


@pytest.mark.parametrize("name", ["away", "Away.md", "deep/Away", "ガイド"])
def test_a_note_that_is_only_in_the_cloud_is_found_by_its_name_from_any_folder(app: App, root: Path, name: str) -> None:
    """SAFE-14: also where everything in its folder is evicted, and asked again at once."""
    (root / "Far/deep").mkdir(parents=True)
    for evicted in ("Away.md", unicodedata.normalize("NFD", "ガイド.md")):
        (root / f"Far/deep/.{evicted}.icloud").write_bytes(b"bplist00")
    for _ in range(2):
        code, message = refusal(app, "read_note", {"name": name})
        assert (code, "not downloaded" in message) == ("STORAGE_FAILED", True)
        assert "Far/deep/" in message
    assert refusal(app, "read_note", {"name": "Awa"})[0] == "FILE_NOT_FOUND"


LONG = f"{'d' * 200}/" * 21
"""A folder of 4,221 bytes."""


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("create_note", {"name": f"{LONG}x"}),
        ("move_note", {"name": "Note", "to": f"{LONG}x"}),
        ("move_note", {"names": ["Note"], "to": LONG}),
        ("move_note", {"name": "Folder", "to": LONG[:3900]}),
        ("compose_notes", {"action": "extract", "name": "Note", "part": "1-1", "into": f"{LONG}x"}),
        ("add_attachment", {"name": f"{LONG}x.png", "data": "eA=="}),
        ("edit_canvas", {"name": f"{LONG}x", "operations": [], "create": True}),
    ],
)
def test_no_path_is_made_that_is_too_long_to_be_opened(app: App, root: Path, tool: str, given: dict[str, Any]) -> None:
    """NAME-07: folder by folder it could be made, and then no program could list it, this one neither."""
    deep = root / "Folder" / ("e" * 200)
    deep.mkdir()
    (deep / "x.md").write_bytes(b"x")
    before = outside(root)
    refused = [refusal(app, tool, given), refusal(app, "batch", {"calls": [{"tool": tool, **given}]})]
    if tool not in ("create_note", "add_attachment"):
        refused.append(refusal(app, tool, {**given, "dry_run": True}))
    for code, message in refused:
        assert (code, "bytes long" in message) == ("INVALID_NAME", True), message
    assert outside(root) == before
    assert sorted(path.name for path in root.iterdir()) == [".obsidian", "Folder", "Note.md"]
