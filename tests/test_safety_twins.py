"""Files whose names differ in normal form only, as sync between a Mac and Linux leaves them (NAME-06, NAME-09)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp.server.subscriptions import ResourceUpdated

from obsidian_mcp.app import App
from obsidian_mcp.serve.mcp import resources
from obsidian_mcp.serve.mcp.subscriptions import WatchedResources
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on
from tests.system import needs
from tests.test_safety_paths import NAMES, OTHERS
from tests.vaults import answer, contents, write_files

COMPOSED, DECOMPOSED = "F/\u00e9.md", "F/e\u0301.md"
TWINS = {COMPOSED: DECOMPOSED, DECOMPOSED: COMPOSED}
TEXT = "{} twin\n\n# Part\n- [ ] task of {}\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"

pytestmark = needs("names that differ in their normal form")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    texts = {
        COMPOSED: TEXT.format("composed", "composed"),
        DECOMPOSED: TEXT.format("decomposed", "decomposed"),
        "Home.md": f"[[F/\u00e9]]\n[[F/e\u0301|it]]\n[see](F/{quote(DECOMPOSED[2:])})\n",
    }
    return write_files(tmp_path / "vault", texts)


@pytest.fixture
def app(root: Path) -> App:
    return app_on(root)


APART = {
    "add_attachment",
    "insert_template",
    "edit_canvas",
    "read_canvas",
    "open_note",
    "app_info",
    "app_command",
    "graph",
}
"""Tools that take other names, or need the app or other files; a graph's two names are tried below."""
CALLS: list[tuple[str, dict[str, Any]]] = [
    *(
        (tool, OTHERS.get(f"obsidian_{tool}", {}) | ({"into": "Home"} if tool == "compose_notes" else {}))
        for tool, parameter in NAMES
        if parameter == "name" and tool not in APART
    ),
    ("move_note", {"to": "G/x"}),
    ("create_note", {"content": "new", "overwrite": True}),
    ("edit_note", {"operation": "rename_heading", "section": "Part", "content": "Whole"}),
    ("compose_notes", {"action": "extract", "part": "Part", "into": "New"}),
    ("update_task", {"line": 4, "status": "done"}),
    ("graph", {"question": "neighbours"}),
]


@pytest.mark.parametrize("path", TWINS)
@pytest.mark.parametrize(("tool", "others"), CALLS, ids=[f"{n} {tool}" for n, (tool, _) in enumerate(CALLS)])
def test_the_exact_path_of_a_twin_reaches_that_file_with_every_tool(
    app: App, root: Path, tool: str, others: dict[str, Any], path: str
) -> None:
    """NAME-06"""
    before = contents(root)
    code, said = answer(app, tool, **{**others, "name": path})
    assert code == ("NOTE_EXISTS" if others == {"content": "x"} else ""), said
    after = contents(root)
    assert after[TWINS[path]] == before[TWINS[path]]
    if after != before and tool != "daily_note":
        assert after.get(path) != before[path]
    if said.startswith('{"success"'):
        data = json.JSONDecoder().raw_decode(said)[0]["data"]
        assert data.get("path", path) == path


def test_a_read_by_each_exact_path_returns_the_text_of_that_file(app: App) -> None:
    """NAME-06, NAME-03"""
    for path, word in {COMPOSED: "composed", DECOMPOSED: "decomposed"}.items():
        for name in (path, path.removesuffix(".md"), f"./{path}", f"[[{path.removesuffix('.md')}]]"):
            outcome = call(app, "obsidian_read_note", {"name": name})
            assert (outcome.data["path"], (outcome.text or "").split()[0]) == (path, word), name


@pytest.mark.parametrize("name", ["\u00e9", "e\u0301", "F/E\u0301", "F/\u00c9.md", "\u00e9.md"])
def test_a_name_that_both_fold_to_is_ambiguous_and_the_error_tells_them_apart(app: App, name: str) -> None:
    """NAME-06: only their code points tell the two apart, for a person and for a model."""
    code, said = answer(app, "read_note", name=name)
    assert code == "AMBIGUOUS_NAME"
    assert r'"F/\u00e9.md"' in said
    assert r'"F/e\u0301.md"' in said


def test_links_lead_to_the_twin_that_they_spell_and_follow_it_alone(app: App, root: Path) -> None:
    """NAME-06, LINK-02"""

    def lines_to(path: str) -> list[int]:
        data = call(app, "obsidian_get_links", {"name": path}).data
        return [link["line"] for link in data["backlinks"]]

    assert (lines_to(COMPOSED), lines_to(DECOMPOSED)) == ([1], [2, 3])
    call(app, "obsidian_move_note", {"name": DECOMPOSED, "to": "G/x"})
    assert (root / "Home.md").read_text(encoding="utf-8") == "[[F/\u00e9]]\n[[x|it]]\n[see](x.md)\n"
    call(app, "obsidian_undo", {})
    call(app, "obsidian_move_note", {"name": COMPOSED, "to": "G/x"})
    assert (root / "Home.md").read_text(encoding="utf-8").startswith("[[x]]\n[[F/e\u0301|it]]\n[see](F/e")


def test_a_batch_changes_each_twin_that_it_names(app: App, root: Path) -> None:
    before = contents(root)
    calls = [
        {"tool": "edit_note", "name": DECOMPOSED, "operation": "append", "content": "one"},
        {"tool": "edit_note", "name": COMPOSED, "operation": "append", "content": "two"},
        {"tool": "move_note", "name": DECOMPOSED, "to": "G/x"},
    ]
    done = call(app, "obsidian_batch", {"calls": calls}).data
    assert set(done["changed"]) == {COMPOSED, DECOMPOSED, "Home.md"}
    after = contents(root)
    assert after["G/x.md"] == before[DECOMPOSED] + b"\none\n"
    assert after[COMPOSED] == before[COMPOSED] + b"\ntwo\n"
    call(app, "obsidian_undo", {})
    assert contents(root) == before


def test_history_and_undo_of_a_deleted_twin_are_those_of_its_exact_path(app: App, root: Path) -> None:
    before = contents(root)
    call(app, "obsidian_edit_note", {"name": COMPOSED, "operation": "append", "content": "x"})
    call(app, "obsidian_delete_note", {"name": DECOMPOSED, "permanent": True})
    changes = call(app, "obsidian_history", {"name": DECOMPOSED}).data["changes"]
    assert [(change["change"], change["files"]) for change in changes] == [(2, [DECOMPOSED])]
    assert call(app, "obsidian_undo", {}).data["files"] == [DECOMPOSED]
    assert contents(root)[DECOMPOSED] == before[DECOMPOSED]


def test_lists_search_and_a_new_index_keep_both(app: App) -> None:
    """NAME-09"""
    listed = call(app, "obsidian_list_files", {"folder": "F", "details": True}).data["files"]
    assert {file["path"] for file in listed} == set(TWINS)
    for query in ("twin", 'file:"\u00e9"', 'path:"F/e\u0301"'):
        for match in ("smart", "exact"):
            hits = call(app, "obsidian_search", {"query": query, "match": match}).data["hits"]
            assert {hit["path"] for hit in hits} >= set(TWINS), (query, match)


def test_a_folder_takes_its_twins_along_each_under_its_own_name(app: App, root: Path) -> None:
    before = contents(root)
    call(app, "obsidian_move_note", {"name": "F", "to": "G"})
    after = contents(root)
    assert {path: after[path] for path in ("G/\u00e9.md", "G/e\u0301.md")} == {
        "G/\u00e9.md": before[COMPOSED],
        "G/e\u0301.md": before[DECOMPOSED],
    }
    assert after["Home.md"].decode().startswith("[[G/\u00e9]]\n[[G/e\u0301|it]]\n")
    call(app, "obsidian_undo", {})
    assert contents(root) == before


def test_a_folder_in_two_normal_forms_is_not_moved_where_two_files_would_get_one_path(app: App, root: Path) -> None:
    """MOVE-05"""
    write_files(root, {"\u00dc/a.md": "composed", "U\u0308/a.md": "decomposed", "U\u0308/b.md": "b"})
    before = contents(root)
    code, said = answer(app, "move_note", name="\u00dc", to="New")
    assert code == "NOTE_EXISTS"
    assert "two normal forms" in said
    assert contents(root) == before
    call(app, "obsidian_move_note", {"name": "U\u0308/a.md", "to": "c"})
    call(app, "obsidian_move_note", {"name": "\u00dc", "to": "New"})
    assert {path for path in contents(root) if path.startswith("New/")} == {"New/a.md", "New/b.md", "New/c.md"}


def test_no_twin_is_overwritten_by_a_rename_to_the_name_of_the_other(app: App, root: Path) -> None:
    before = contents(root)
    for path, other in TWINS.items():
        assert answer(app, "move_note", name=path, to=other)[0] == "NOTE_EXISTS"
        assert answer(app, "batch", calls=[{"tool": "move_note", "name": path, "to": other}])[0] == "NOTE_EXISTS"
        assert answer(app, "create_note", name=path, content="x")[0] == "NOTE_EXISTS"
        assert answer(app, "compose_notes", action="extract", name="Home", part="1-1", into=path)[0] == ""
        assert contents(root)[other] == before[other]
        call(app, "obsidian_undo", {})
    assert contents(root) == before


def test_a_resource_is_the_twin_that_its_uri_spells(app: App) -> None:
    for path, word in {COMPOSED: "composed", DECOMPOSED: "decomposed"}.items():
        for written in (path, path.removesuffix(".md")):
            content: Any = resources.resource_contents(app, f"obsidian://vault/vault/{quote(written)}")
            assert content.text.split()[0] == word
    with pytest.raises(Exception, match="2 files match"):
        resources.resource_contents(app, "obsidian://vault/vault/F/%C3%89.md")


@pytest.mark.parametrize("changed", TWINS)
def test_who_is_subscribed_to_a_twin_is_told_of_that_one_only(app: App, root: Path, changed: str) -> None:
    """RES-08"""
    addresses = {path: f"obsidian://vault/vault/{quote(path)}" for path in TWINS}
    watched = WatchedResources()
    watched.add(app, addresses.values())
    call(app, "obsidian_edit_note", {"name": changed, "operation": "append", "content": "more"})
    assert watched.changes(app) == [ResourceUpdated(uri=addresses[changed])]

    (root / TWINS[changed]).unlink()
    app.vaults.get().look_everywhere()
    assert ResourceUpdated(uri=addresses[TWINS[changed]]) in watched.changes(app)


def test_a_twin_that_another_program_has_just_made_is_reached_by_its_exact_path(tmp_path: Path) -> None:
    """The listing has only the other one yet, to which the name folds: an edit went into that."""
    root = write_files(tmp_path / "late", {COMPOSED: "composed\n", "b/Other.md": "x\n"})
    app = app_on(root)
    call(app, "obsidian_read_note", {"name": COMPOSED})
    (root / DECOMPOSED).write_bytes(b"decomposed\n")
    (root / "F/OTHER.md").write_bytes(b"y\n")
    call(app, "obsidian_edit_note", {"name": DECOMPOSED, "operation": "append", "content": "more"})
    assert (root / DECOMPOSED).read_bytes() == b"decomposed\nmore\n"
    assert (root / COMPOSED).read_bytes() == b"composed\n"


@needs("names that are not UTF-8")
def test_names_with_different_bytes_that_are_not_utf_8_are_files_of_their_own(app: App, root: Path) -> None:
    """NAME-09"""
    for byte in (b"\xe8", b"\xe9"):
        Path(os.fsdecode(os.fsencode(root) + b"/caf" + byte + b".md")).write_bytes(b"byte " + byte.hex().encode())
    paths = [file["path"] for file in call(app, "obsidian_list_files", {"details": True}).data["files"]]
    assert {"caf\ufffdE8.md", "caf\ufffdE9.md"} <= set(paths)
    for number in ("e8", "e9"):
        assert call(app, "obsidian_read_note", {"name": f"caf\ufffd{number.upper()}.md"}).text == f"byte {number}"
