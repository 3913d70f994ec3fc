"""URIs where a note's name is taken (NAME-16)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import AppError, NoteNotFound, PermissionDenied, VaultNotFound
from obsidian_mcp.tools.registry import TOOLS, call
from tests.tools.test_arguments import needed

JAPANESE = "Projects/日本語 ノート.md"

FORMS: dict[str, Callable[[Path, str], str]] = {
    "open": lambda vault, path: f"obsidian://open?vault={quote(vault.name)}&file={quote(path, safe='')}",
    "open without .md": lambda vault, path: f"obsidian://open?vault={vault.name}&file={quote(path[:-3])}",
    "open, not encoded": lambda vault, path: f"obsidian://open?vault={vault.name}&file={path}",
    "open without a vault": lambda _, path: f"obsidian://open?file={quote(path)}",
    "another action": lambda vault, path: f"obsidian://advanced-uri?vault={vault.name}&file={quote(path)}&line=3",
    "open by path": lambda vault, path: f"obsidian://open?path={quote(str(vault / path), safe='')}",
    "short": lambda vault, path: f"obsidian://vault/{quote(vault.name)}/{quote(path)}",
    "absolute": lambda vault, path: f"obsidian:///{quote((vault / path).as_posix().lstrip('/'))}",
    "file": lambda vault, path: (vault / path).as_uri(),
    "file of a host": lambda vault, path: (vault / path).as_uri().replace("file://", "file://localhost"),
    "in capitals": lambda vault, path: f"OBSIDIAN://open?vault={vault.name.upper()}&file={quote(path)}",
    "between spaces": lambda vault, path: f" {(vault / path).as_uri()}\n",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("path", ["Projects/Alpha.md", JAPANESE])
def test_a_uri_finds_its_note(app: App, basic: Path, form: Callable[[Path, str], str], path: str) -> None:
    (basic / JAPANESE).write_text("# 見出し\n", encoding="utf-8")
    assert call(app, "obsidian_read_note", {"name": form(basic, path)}).data["path"] == path


NAMED = {"name", "note", "into", "names", "like", "this", "id"}
"""Arguments that name a note that is there."""
BESIDE: dict[str, dict[str, Any]] = {
    "obsidian_edit_note": {"content": "x"},
    "obsidian_edit_table": {"operations": [{"op": "add_row", "values": ["x"]}]},
    "obsidian_insert_template": {"template": "Home"},
    "obsidian_update_task": {"line": 15},
    "obsidian_edit_canvas": {"operations": [{"op": "add", "type": "text", "text": "x"}]},
    "obsidian_add_attachment": {"name": "x.csv", "data": "eA=="},
    "obsidian_graph": {"question": "unresolved"},
}
"""What a call is given besides, so that it gets as far as to look for its note."""


@pytest.mark.parametrize("tool", [name for name, tool in TOOLS.items() if NAMED & tool.parameters.keys()])
def test_every_tool_takes_a_uri_as_it_takes_the_path(app: App, basic: Path, tool: str) -> None:
    def ask(named: str) -> object:
        given = needed(TOOLS[tool])
        for argument in NAMED & TOOLS[tool].parameters.keys():
            is_list = isinstance(given.get(argument), list) or argument == "names"
            given[argument] = [named] if is_list else named
        if "name" in given and "names" in given:
            del given["names"]
        given |= BESIDE.get(tool, {})
        try:
            return call(app, tool, given | ({"dry_run": True} if "dry_run" in TOOLS[tool].parameters else {})).data
        except AppError as error:
            return error.message

    path = "Board.canvas" if tool.endswith("canvas") else "Projects/Alpha.md"
    text = (basic / path).read_bytes()
    plain = ask(path)
    (basic / path).write_bytes(text)  # it was deleted, moved or changed
    by_uri = ask(f"obsidian://open?vault={basic.name}&file={quote(path.removesuffix('.md'), safe='')}")
    assert "obsidian:/" not in str(by_uri)
    assert type(plain) is type(by_uri), (plain, by_uri)
    assert isinstance(plain, dict) or plain == by_uri
    assert "is of the vault 'Other'" in str(ask(f"obsidian://open?vault=Other&file={path}"))  # the name is looked at


def test_a_heading_in_a_uri_is_answered_as_in_a_link(app: App, basic: Path) -> None:
    """NAME-10, NAME-16"""
    for uri in (
        f"obsidian://open?vault={basic.name}&file=Alpha%23Plan",
        f"{(basic / 'Projects/Alpha.md').as_uri()}#Plan",
    ):
        with pytest.raises(NoteNotFound, match=r"'Projects/Alpha\.md' is one; give 'Plan' in"):
            call(app, "obsidian_read_note", {"name": uri})


@pytest.mark.parametrize(
    ("uri", "error", "said"),
    [
        ("obsidian://open?vault=Other&file=Alpha", VaultNotFound, "is of the vault 'Other'"),
        ("obsidian://vault/Other/Alpha", VaultNotFound, "is of the vault 'Other'"),
        ("obsidian://open?vault=basic", AppError, "names no note"),
        ("obsidian://search?query=x", AppError, "names no note"),
        ("file:///etc/passwd", PermissionDenied, "is no file of the vault"),
        ("obsidian:///etc/passwd", PermissionDenied, "is no file of the vault"),
        ("obsidian://open?path=%2Fetc%2Fpasswd", PermissionDenied, "is no file of the vault"),
        ("obsidian://open?file=..%2F..%2Fetc%2Fpasswd", PermissionDenied, "leads out of the vault"),
    ],
)
def test_a_uri_of_something_else_is_refused_and_says_why(app: App, uri: str, error: type[AppError], said: str) -> None:
    for tool in ("obsidian_read_note", "obsidian_create_note", "obsidian_delete_note"):
        given = {"name": uri} | ({"content": "x"} if "create" in tool else {})
        with pytest.raises(error, match=said) as refused:
            call(app, tool, given)
        assert "obsidian:/o" not in refused.value.message


def test_a_note_is_made_where_a_uri_says(app: App, basic: Path) -> None:
    uri = f"obsidian://new?vault={basic.name}&file=Ideas%2F{quote('新しい')}"
    assert call(app, "obsidian_create_note", {"name": uri, "content": "x"}).data["path"] == "Ideas/新しい.md"
    (target,) = [(basic / "Ideas").iterdir()]
    assert [file.name for file in target] == ["新しい.md"]
