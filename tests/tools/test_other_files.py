"""Canvases, bases and other files that are not notes: no tool writes text into them (EDIT-09, FILE-10, TAG-31)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from obsidian_mcp.app import App
from obsidian_mcp.contracts.plugin.table import PLUGIN_TOOLS
from obsidian_mcp.core.frontmatter import yaml12
from obsidian_mcp.core.note import canvas
from obsidian_mcp.core.operations import rename_tag
from obsidian_mcp.errors import AppError
from obsidian_mcp.tools.offer import Offer
from obsidian_mcp.tools.registry import call
from tests.examples import examples

pytestmark = pytest.mark.usefixtures("disk_of_macos")

BASE = 'filters:\n  and:\n    - file.hasTag("work")\nviews:\n  - type: table\n    name: All\n'


@pytest.fixture
def board(basic: Path) -> Path:
    (basic / "x.base").write_text(BASE, encoding="utf-8", newline="\n")
    return basic / "Board.canvas"


TEXT_EDITS: list[tuple[str, dict[str, Any]]] = [
    ("obsidian_edit_note", {"operation": "append", "content": "x"}),
    ("obsidian_edit_note", {"operation": "prepend", "content": "x"}),
    ("obsidian_edit_note", {"operation": "replace_text", "find": "e", "content": "x", "all": True}),
    ("obsidian_edit_note", {"operation": "append_section", "section": "a", "content": "x"}),
    ("obsidian_edit_note", {"operation": "rename_heading", "section": "a", "content": "b"}),
    ("obsidian_edit_note", {"operation": "append", "content": "x", "dry_run": True}),
    ("obsidian_set_properties", {"properties": {"a": 1}}),
    ("obsidian_set_properties", {"properties": {"a": None}}),
    ("obsidian_set_properties", {"properties": {"a": 1}, "dry_run": True}),
]


EDITORS = {
    "Board.canvas": "obsidian_edit_canvas",
    "x.base": "obsidian_create_note with overwrite",
    "Attachments/wheel.svg": "No tool",
}


def test_a_text_edit_of_what_is_no_note_is_refused_and_names_the_tool_that_can(
    app: App, basic: Path, board: Path
) -> None:
    """EDIT-09: Issue 15, example 2: appended text behind the JSON, and YAML on top of a base, were reported as done."""
    assert board.exists()
    for name, editor in EDITORS.items():
        before = (basic / name).read_bytes()
        for tool, arguments in TEXT_EDITS:
            with pytest.raises(AppError, match=editor) as refused:
                call(app, tool, {"names" if tool == "obsidian_set_properties" else "name": name, **arguments})
            assert refused.value.error_code == "NOT_TEXT"
            assert (basic / name).read_bytes() == before


def test_the_plugin_s_tools_refuse_it_too(app: App, board: Path) -> None:
    """EDIT-09"""
    before = board.read_bytes()
    for tool, arguments in [
        ("edit_note", json.dumps({"patch": "@@ -0,0 +1,1 @@\n+x\n"})),
        ("edit_frontmatter", json.dumps({"mode": "set", "data": {"a": 1}})),
    ]:
        with pytest.raises(AppError) as refused:
            call(app, tool, {"path": board.name, **json.loads(arguments)}, Offer(app.config, lambda: PLUGIN_TOOLS))
        assert refused.value.error_code == "NOT_TEXT"
    assert board.read_bytes() == before


BROKEN = [
    ("Board.canvas", "# Not JSON"),
    ("Board.canvas", "[]"),
    ("New.canvas", "{"),
    ("x.base", "a: [1"),
    ("y.base", "- 1"),
]


def test_a_whole_text_that_is_no_canvas_or_base_is_not_written(app: App, basic: Path, board: Path) -> None:
    """FILE-10"""
    assert board.exists()
    files = {path: path.read_bytes() for path in basic.rglob("*") if path.is_file()}
    for name, content in BROKEN:
        with pytest.raises(AppError, match="readable"):
            call(app, "obsidian_create_note", {"name": name, "content": content, "overwrite": True})
    assert {path: path.read_bytes() for path in basic.rglob("*") if path.is_file()} == files


def test_a_whole_text_that_is_a_canvas_or_base_is_written_and_a_broken_one_can_be_replaced(
    app: App, basic: Path, board: Path
) -> None:
    """FILE-10: and the undo brings back also what was broken."""
    call(app, "obsidian_create_note", {"name": "x.base", "content": BASE.replace("All", "One"), "overwrite": True})
    call(app, "obsidian_create_note", {"name": "Empty.canvas"})
    board.write_bytes(b"broken twice")
    call(app, "obsidian_create_note", {"name": "Board.canvas", "content": "broken", "overwrite": True})
    call(app, "obsidian_create_note", {"name": "Board.canvas", "content": '{"nodes":[]}', "overwrite": True})
    call(app, "obsidian_undo", {})
    assert board.read_bytes() == b"broken"
    assert b"One" in (basic / "x.base").read_bytes()


def test_a_renamed_tag_is_renamed_on_canvas_cards_too(app: App, basic: Path, board: Path) -> None:
    """TAG-31: Issue 15, example 4: the cards kept the old tag, and nobody was told."""
    before = board.read_bytes()
    card = '{"id":"t","type":"text","x":0,"y":0,"width":1,"height":1,"text":"#work/Clocks \\"x\\" \\n\\n #work"}'
    board.write_bytes(before.replace(b'"nodes":[', f'"nodes":[{card},'.encode()))
    changed = board.read_bytes()
    assert changed != before
    answer = call(app, "obsidian_rename_tag", {"tag": "work", "to": "job"}).data

    assert board.name in answer["changed"]
    assert answer["total"] == len(answer["changed"])
    assert board.read_bytes() == changed.replace(b"#work", b"#job")
    assert call(app, "obsidian_tags", {"tag": "work"}).data["total"] == 0
    call(app, "obsidian_undo", {})
    assert board.read_bytes() == changed


def test_the_metadata_of_a_canvas_is_that_of_its_cards(app: App, board: Path) -> None:
    """TAG-11: Issue 15, example 8: `tags: []` where a card has one."""
    text = "# Head\\n\\n#one #two #one\\n- [ ] a\\n- [x] b\\n\\npara ^id"
    card = f'{{"id":"t","type":"text","text":"{text}"}}'
    board.write_text(
        f'{{"nodes":[\n{card},{{"id":"u","type":"text","text":"#three\\n## Sub"}}]}}', encoding="utf-8", newline="\n"
    )
    data = call(app, "obsidian_read_note", {"name": board.name, "view": "metadata"}).data
    assert data["tags"] == ["#one", "#two", "#three"]
    assert [(heading["heading"], heading["line"]) for heading in data["outline"]] == [("Head", 2), ("Sub", 2)]
    assert (data["tasks"], data["blocks"], data["properties"]) == ({"open": 1, "done": 1}, ["^id"], {})
    board.write_text("{", encoding="utf-8")
    assert "readable" in call(app, "obsidian_read_note", {"name": board.name, "view": "metadata"}).data["warnings"][0]


def test_no_link_is_listed_twice(app: App, basic: Path) -> None:
    """LINK-40: Issue 15, example 8: identical lines were repeated."""
    (basic / "Much.md").write_text("[[Home]] [[Home]] [[Home|x]] ![[Home]]\n[[Home]]\n", encoding="utf-8", newline="\n")
    (basic / "Two.canvas").write_text(
        json.dumps({"nodes": [{"id": n, "type": "file", "file": "Home.md"} for n in "aab"]}), encoding="utf-8"
    )
    app.vaults.get().refresh()
    outgoing = call(app, "obsidian_get_links", {"name": "Much"}).data["outgoing"]
    assert [(link["link"], link["line"], link.get("count")) for link in outgoing] == [
        ("[[Home]]", 1, 2),
        ("[[Home|x]]", 1, None),
        ("![[Home]]", 1, None),
        ("[[Home]]", 2, None),
    ]
    data = call(app, "obsidian_get_links", {"name": "Home"}).data
    lines = [json.dumps(link) for link in data["backlinks"]]
    assert len(set(lines)) == len(lines) == data["backlinks_total"]
    much = [(link.get("line"), link.get("count")) for link in data["backlinks"] if link["path"] == "Much.md"]
    assert much == [(1, 3), (1, None), (2, None)]
    cards = [link.get("count") for link in data["backlinks"] if link["path"] == "Two.canvas"]
    assert cards == [2, None]


def test_the_answer_to_a_rename_in_many_files_is_bounded(app: App, basic: Path) -> None:
    """TAG-31: Issue 15, example 4: 1 500 files gave 39 KB."""
    for number in range(120):
        (basic / f"A note with quite a long name {number}.md").write_bytes(b"#many\n")
    app.vaults.get().refresh()
    answer = call(app, "obsidian_rename_tag", {"tag": "many", "to": "few"})
    assert answer.data["total"] == 120
    assert (len(answer.data["changed"]), answer.data["more_changed"]) == (50, 70)
    assert len(answer.envelope()) < 4_000


TEXTS = st.text(st.sampled_from('ab# /\n"\\日😀'), max_size=12).map(lambda text: f"{text} #old/x {text}#OLD")


@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXTS, max_size=3), indent=st.sampled_from([None, 1, "\t"]), ascii_only=st.booleans())
def test_a_canvas_with_a_renamed_tag_is_the_same_canvas_with_other_texts(
    texts: list[str], indent: int | str | None, ascii_only: bool
) -> None:
    """TAG-31, FILE-10: as if the cards were notes, and every other byte stays."""
    nodes = [{"id": str(number), "type": "text", "text": text, "z": 1.50} for number, text in enumerate(texts)]
    body = json.dumps({"nodes": nodes, "edges": [], "own": "#old"}, indent=indent, ensure_ascii=ascii_only)
    renamed = rename_tag.rename_in_canvas(body, "old", "néu")

    assert [card.text.value for card in canvas.read_canvas(renamed).cards if card.text is not None] == [
        rename_tag.rename_in_note(text, "old", "néu") for text in texts
    ]
    again = json.loads(renamed)
    assert again["own"] == "#old"
    assert [node["z"] for node in again["nodes"]] == [1.5] * len(texts)


def test_a_base_stays_a_base_when_links_in_the_vault_are_rewritten(app: App, basic: Path, board: Path) -> None:
    """FILE-10"""
    call(app, "obsidian_move_note", {"name": "Alpha", "to": "Beta"})
    call(app, "obsidian_rename_tag", {"tag": "work", "to": "job"})
    assert canvas.read_canvas(board.read_text(encoding="utf-8")).error is None
    assert yaml12.load((basic / "x.base").read_text(encoding="utf-8"))
