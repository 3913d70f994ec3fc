"""Canvases through the tools: read as an outline, changed as one step (specs/canvas.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import (
    AmbiguousName,
    CanvasUnreadable,
    InvalidArguments,
    NoteNotFound,
    SectionNotFound,
    StaleEtag,
)
from obsidian_mcp.tools.registry import call


def run(app: App, tool: str = "edit_canvas", /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


def test_a_canvas_reads_as_an_outline(app: App) -> None:
    """CANVAS-9"""
    read = run(app, "read_canvas", name="Board")
    assert (read["path"], read["cards"], read["groups"], read["edges"]) == ("Board.canvas", 2, 0, 1)
    assert read["content"] == (
        "- [a1b2c3d4e5f60718] file 0,0 400x300: Projects/Alpha.md\n"
        "- [b1b2c3d4e5f60718] text 450,0 250x80: Ask [[Jonas Weiß]] #errand\n"
        "\n"
        "Edges:\n"
        "- [c1b2c3d4e5f60718] [a1b2c3d4e5f60718] Projects/Alpha.md -> [b1b2c3d4e5f60718] Ask [[Jonas Weiß]] #errand\n"
    )


def test_cards_of_a_group_stand_below_it_in_rows(app: App, basic: Path) -> None:
    """CANVAS-9"""
    cards: list[tuple[str, int, int, int]] = [("late", 0, 500, 50), ("right", 300, 30, 50), ("left", 20, 40, 50)]
    nodes = [
        {"id": name, "type": "text", "text": f"{name}\nmore", "x": x, "y": y, "width": 100, "height": height}
        for name, x, y, height in cards
    ]
    nodes.append({"id": "g", "type": "group", "label": "G", "x": 0, "y": 0, "width": 450, "height": 200, "color": "4"})
    (basic / "New.canvas").write_text(json.dumps({"nodes": nodes}), encoding="utf-8")
    lines = run(app, "read_canvas", name="New")["content"].splitlines()
    assert lines == [
        "- [g] group 0,0 450x200 color 4: G",
        "  - [left] text 20,40 100x50: left",
        "      more",
        "  - [right] text 300,30 100x50: right",
        "      more",
        "- [late] text 0,500 100x50: late",
        "    more",
    ]


def test_several_operations_are_one_change_and_one_undo(app: App, basic: Path) -> None:
    """CANVAS-1"""
    before = (basic / "Board.canvas").read_bytes()
    answer = run(
        app,
        name="Board.canvas",
        operations=[
            {"op": "add", "type": "text", "text": "Buy brass", "beside": "Alpha", "side": "below"},
            {"op": "add", "type": "file", "file": "Home", "color": "2"},
            {"op": "connect", "from": "Alpha", "to": "Buy brass", "label": "first"},
            {"op": "edit", "card": "b1b2c3d4e5f60718", "text": "Asked"},
            {"op": "move", "card": "Buy brass", "x": 5, "y": 400},
        ],
    )
    assert len(answer["ids"]) == 5
    written = json.loads((basic / "Board.canvas").read_bytes())
    assert [node.get("text", node.get("file")) for node in written["nodes"]] == [
        "Projects/Alpha.md",
        "Asked",
        "Buy brass",
        "Home.md",
    ]
    first = before.splitlines()[2]
    assert first in (basic / "Board.canvas").read_bytes()
    run(app, "undo")
    assert (basic / "Board.canvas").read_bytes() == before


@pytest.mark.parametrize(
    ("side", "first", "second"),
    [
        ("right", (440, 0), (730, 0)),
        ("left", (-290, 0), (-580, 0)),
        ("below", (0, 340), (0, 440)),
        ("above", (0, -100), (0, -200)),
    ],
)
def test_a_card_goes_beside_another_one_and_on_in_that_direction_where_the_place_is_taken(
    app: App, basic: Path, side: str, first: tuple[int, int], second: tuple[int, int]
) -> None:
    """CANVAS-4: cards of 250 by 60 around one of 400 by 300 at the origin, 40 apart."""
    card = {"id": "a", "type": "text", "text": "a", "x": 0, "y": 0, "width": 400, "height": 300}
    (basic / "New.canvas").write_text(json.dumps({"nodes": [card]}), encoding="utf-8")
    for _ in range(2):
        run(app, name="New", operations=[{"op": "add", "type": "text", "text": "b", "beside": "a", "side": side}])
    nodes = json.loads((basic / "New.canvas").read_text(encoding="utf-8"))["nodes"]
    assert [(node["x"], node["y"]) for node in nodes[1:]] == [first, second]
    assert all((node["width"], node["height"]) == (250, 60) for node in nodes[1:])


@pytest.mark.parametrize("x", ["1e21", "1e400", "1e308"])
def test_a_card_far_out_stops_no_operation(app: App, basic: Path, x: str) -> None:
    """CANVAS-4"""
    card = f'{{"id":"far","type":"text","text":"t","x":{x},"y":0,"width":10,"height":10}}'
    (basic / "Far.canvas").write_text(f'{{"nodes":[{card}],"edges":[]}}', encoding="utf-8")
    run(app, name="Far", operations=[{"op": "add", "type": "text", "text": "n", "beside": "far"}])
    assert card in (basic / "Far.canvas").read_text(encoding="utf-8")
    assert "[far] text" in run(app, "read_canvas", name="Far")["content"]
    with pytest.raises(InvalidArguments, match="x must be a number of at most"):
        run(app, name="Far", operations=[{"op": "move", "card": "far", "x": float(x)}])


def test_half_of_a_character_is_shown_as_a_replacement(app: App, basic: Path) -> None:
    """SAFE-17"""
    card = '{"id":"a","type":"text","text":"half \\ud83d","x":0,"y":0,"width":10,"height":10}'
    (basic / "Half.canvas").write_text(f'{{"nodes":[{card}]}}', encoding="utf-8")
    (basic / "Half.md").write_text('---\nh: "\\ud83d"\n---\n', encoding="utf-8", newline="\n")
    assert "half \ufffd" in run(app, "read_canvas", name="Half")["content"]
    (shown,) = call(app, "obsidian_get_properties", {"name": "Half"}).contents()
    assert json.loads(shown)["data"]["properties"] == {"h": "\ufffd"}


def test_a_failing_operation_writes_nothing(app: App, basic: Path) -> None:
    """CANVAS-1"""
    before = (basic / "Board.canvas").read_bytes()
    good = {"op": "add", "type": "text", "text": "x"}
    for bad, error in [
        ({"op": "add", "type": "file", "file": "Nowhere"}, NoteNotFound),
        ({"op": "add", "type": "file", "file": "Home#Nowhere"}, SectionNotFound),
        ({"op": "paint"}, InvalidArguments),
        ({"op": "add", "type": "text", "text": "x", "zoom": 1}, InvalidArguments),
        ({"op": "add", "type": "text", "text": "x", "x": "left"}, InvalidArguments),
        ({"op": "move", "card": "Alpha"}, InvalidArguments),
        ({"op": "remove", "card": "nobody"}, InvalidArguments),
    ]:
        with pytest.raises(error):
            run(app, name="Board", operations=[good, bad])
    assert (basic / "Board.canvas").read_bytes() == before


def test_a_dry_run_shows_the_change(app: App, basic: Path) -> None:
    before = (basic / "Board.canvas").read_bytes()
    shown = run(app, name="Board", operations=[{"op": "remove", "card": "Alpha"}], dry_run=True)
    assert '-\t\t{"id":"a1b2c3d4e5f60718"' in shown["diff"]
    assert (basic / "Board.canvas").read_bytes() == before


def test_a_missing_canvas_is_made_where_that_is_asked(app: App, basic: Path) -> None:
    """CANVAS-2"""
    operations = [{"op": "add", "type": "text", "text": "a"}]
    with pytest.raises(NoteNotFound):
        run(app, name="Plans/New", operations=operations)
    made = run(app, name="Plans/New", operations=json.dumps(operations), create=True)
    assert (made["path"], made["created"]) == ("Plans/New.canvas", True)
    assert (basic / "Plans/New.canvas").read_text(encoding="utf-8").startswith('{"nodes":[\n\t{"id":"')


def test_a_broken_canvas_is_neither_read_nor_changed(app: App, basic: Path) -> None:
    """CANVAS-1"""
    (basic / "Broken.canvas").write_text("{", encoding="utf-8")
    for tool, arguments in (("read_canvas", {}), ("edit_canvas", {"operations": [{"op": "add", "type": "group"}]})):
        with pytest.raises(CanvasUnreadable):
            run(app, tool, name="Broken", **arguments)


def test_an_etag_of_another_version_is_respected(app: App, basic: Path) -> None:
    etag = run(app, "read_canvas", name="Board")["etag"]
    run(app, name="Board", operations=[{"op": "edit", "card": "Alpha", "color": "1"}], etag=etag)
    with pytest.raises(StaleEtag):
        run(app, name="Board", operations=[{"op": "edit", "card": "Alpha", "color": "2"}], etag=etag)
    assert b'"color":"1"' in (basic / "Board.canvas").read_bytes()


def test_a_card_is_pointed_only_at_a_heading_that_its_note_has(app: App, basic: Path) -> None:
    """CANVAS-6"""
    before = (basic / "Board.canvas").read_bytes()
    for subpath in ("No such heading", "#^none"):
        with pytest.raises(SectionNotFound):
            run(app, name="Board", operations=[{"op": "edit", "card": "a1b2c3d4e5f60718", "subpath": subpath}])
    assert (basic / "Board.canvas").read_bytes() == before


def test_a_card_that_shows_another_file_loses_the_heading_of_the_one_before(app: App, basic: Path) -> None:
    """CANVAS-6"""
    run(app, name="Board", operations=[{"op": "edit", "card": "a1b2c3d4e5f60718", "subpath": "Plan"}])
    card = json.loads((basic / "Board.canvas").read_bytes())["nodes"][0]
    assert (card["file"], card["subpath"]) == ("Projects/Alpha.md", "#Plan")
    run(app, name="Board", operations=[{"op": "edit", "card": "a1b2c3d4e5f60718", "file": "Home"}])
    card = json.loads((basic / "Board.canvas").read_bytes())["nodes"][0]
    assert (card["file"], card.get("subpath")) == ("Home.md", None)


TWINS = {
    "nodes": [
        {"id": "a", "type": "text", "text": "first", "x": 0, "y": 0, "width": 9, "height": 9},
        {"id": "a", "type": "text", "text": "second", "x": 50, "y": 0, "width": 9, "height": 9},
        {"id": "c", "type": "text", "text": "third", "x": 0, "y": 50, "width": 9, "height": 9},
    ]
}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "edit", "card": "a", "text": "new"},
        {"op": "move", "card": "a", "x": 1, "y": 1},
        {"op": "remove", "card": "a"},
        {"op": "connect", "from": "c", "to": "a"},
        {"op": "connect", "from": "c", "to": "second"},
        {"op": "disconnect", "from": "a", "to": "c"},
        {"op": "add", "type": "text", "text": "x", "beside": "a"},
        {"op": "add", "type": "group", "label": "x", "cards": ["a"]},
    ],
)
def test_an_id_of_two_cards_names_neither(app: App, basic: Path, operation: dict[str, Any]) -> None:
    """CANVAS-3"""
    (basic / "Twins.canvas").write_text(json.dumps(TWINS), encoding="utf-8", newline="\n")
    with pytest.raises(AmbiguousName, match=r"2 cards have the id 'a': 'first', 'second'\. Name"):
        call(app, "obsidian_edit_canvas", {"name": "Twins", "operations": [operation]})
    assert json.loads((basic / "Twins.canvas").read_text(encoding="utf-8")) == TWINS


def test_one_of_two_cards_with_one_id_is_changed_by_its_text(app: App, basic: Path) -> None:
    """CANVAS-3"""
    (basic / "Twins.canvas").write_text(json.dumps(TWINS), encoding="utf-8", newline="\n")
    operation = {"op": "edit", "card": "second", "text": "new"}
    call(app, "obsidian_edit_canvas", {"name": "Twins", "operations": operation})
    nodes = json.loads((basic / "Twins.canvas").read_text(encoding="utf-8"))["nodes"]
    assert [node["text"] for node in nodes] == ["first", "new", "third"]
