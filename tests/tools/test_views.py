"""The data of the views of links, queries and notes (specs/views.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments, NotText
from obsidian_mcp.tools.registry import call


def run(app: App, name_: str, /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{name_}", arguments).data


def write(root: Path, notes: dict[str, str]) -> None:
    for path, text in notes.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="\n")


def labels(shown: dict[str, Any], column: int = 0) -> list[Any]:
    return [row["cells"][column] and row["cells"][column][1] for row in shown["rows"]]


def test_the_graph_has_files_in_both_directions_and_names_without_a_file(app: App, basic: Path) -> None:
    """VIEW-20"""
    write(
        basic, {"Hub.md": "[[Near]] ![[Pic.png]] [[Nowhere]]", "Near.md": "[[Far]]", "Far.md": "", "From.md": "[[Hub]]"}
    )
    (basic / "Pic.png").write_bytes(b"png")
    shown = run(app, "show_graph", note="Hub", depth=1)
    nodes = {node[0]: node[1:] for node in shown["nodes"]}
    assert shown["nodes"][0] == ["Hub.md", "note", 1, 3]
    assert nodes == {
        "Hub.md": ["note", 1, 3],
        "Near.md": ["note", 1, 1],
        "Pic.png": ["file", 1, 0],
        "From.md": ["note", 0, 1],
        "Nowhere": ["missing", 1, 0],
    }
    names = [node[0] for node in shown["nodes"]]
    assert {(names[source], names[target], *kind) for source, target, *kind in shown["edges"]} == {
        ("Hub.md", "Near.md"),
        ("Hub.md", "Pic.png", "embed"),
        ("Hub.md", "Nowhere"),
        ("From.md", "Hub.md"),
    }
    assert "Far.md" in {node[0] for node in run(app, "show_graph", note="Hub")["nodes"]}


def test_a_large_graph_keeps_the_nearest_and_says_how_many_are_left_out(app: App, basic: Path) -> None:
    """VIEW-06, VIEW-20"""
    near = {f"Folder with a name/Near note number {number:03}.md": f"[[Far {number:03}]]" for number in range(200)}
    write(basic, {"Hub.md": " ".join(f"[[{path[:-3]}]]" for path in near), **near})
    write(basic, {f"Far {number:03}.md": "" for number in range(200)})
    shown = run(app, "show_graph", note="Hub", depth=3)
    assert len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()) <= 10_000
    assert len(shown["nodes"]) <= 150
    assert len(shown["nodes"]) + shown["cut"] == 401
    assert not [node for node in shown["nodes"] if node[0].startswith("Far")]


DATED = 'TABLE due, rank FROM "Dated"'


@pytest.fixture
def dated(basic: Path) -> None:
    days = {"A": "2026-12-03", "B": "2026-12-01", "C": "", "D": "2026-12-02"}
    write(
        basic,
        {
            f"Dated/{name}.md": f"---\ndue: {day}\nrank: {place * 9 % 11}\n---\n"
            for place, (name, day) in enumerate(days.items())
        },
    )


@pytest.mark.usefixtures("dated")
def test_rows_are_sorted_and_grouped_as_a_whole(app: App) -> None:
    """VIEW-30, VIEW-31"""
    assert labels(run(app, "show_query", query=DATED)) == ["A", "B", "C", "D"]
    assert labels(run(app, "show_query", query=DATED, sort="due")) == ["B", "D", "A", "C"]
    assert labels(run(app, "show_query", query=DATED, sort="-due")) == ["A", "D", "B", "C"]
    assert labels(run(app, "show_query", query=DATED, sort="-due", offset=2)) == ["B", "C"]
    by_rank = run(app, "show_query", query=DATED, sort="rank")
    assert labels(by_rank, 2) == [0, 5, 7, 9]
    grouped = run(app, "show_query", query=DATED, group="due")
    assert [(group["label"], group["rows"]) for group in grouped["groups"]] == [
        ("2026-12-01", [0]),
        ("2026-12-02", [1]),
        ("2026-12-03", [2]),
        ("", [3]),
    ]
    assert grouped["layout"] == "board"
    with pytest.raises(InvalidArguments, match="There is no column 'nothing'; there are id, due, rank"):
        run(app, "show_query", query=DATED, sort="nothing")
    with pytest.raises(InvalidArguments, match="Give `query`"):
        run(app, "show_query")


def test_pages_of_a_long_result_follow_each_other(app: App, basic: Path) -> None:
    """VIEW-06, VIEW-30, VIEW-31"""
    write(basic, {f"Many/{number:03}.md": f"---\nkey: {number * 7919 % 1000}\n---\n" for number in range(300)})
    for sort in ("", "key"):
        found: list[Any] = []
        shown: dict[str, Any] = {"next_offset": 0}
        while "next_offset" in shown:
            shown = run(app, "show_query", query='TABLE key FROM "Many"', sort=sort, offset=shown["next_offset"])
            assert len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()) <= 10_000
            assert 0 < len(shown["rows"]) <= 50
            found += labels(shown, 1)
        assert len(found) == shown["total"] == 300
        assert found == (sorted(found) if sort else [number * 7919 % 1000 for number in range(300)])


def test_cells_say_what_they_are(app: App, basic: Path) -> None:
    """VIEW-30"""
    text = "---\ntext: plain\nnumber: 1.5\nflag: false\nday: 2026-11-22\nlink: '[[Home]]'\nnone: '[[Nowhere|x]]'\n"
    write(basic, {"Cells/One.md": f"{text}list: [a, '[[Home]]']\nlong: {'x' * 300}\n---\n"})
    shown = run(app, "show_query", query='TABLE text, number, flag, day, link, none, list, long, absent FROM "Cells"')
    assert shown["rows"][0]["cells"] == [
        ["link", "One", "Cells/One.md"],
        ["text", "plain"],
        ["number", 1.5],
        ["bool", False],
        ["date", "2026-11-22"],
        ["link", "Home", "Home.md"],
        ["link", "x", None],
        ["list", [["text", "a"], ["link", "Home", "Home.md"]]],
        ["text", "x" * 199 + "…"],
        None,
    ]


def test_a_base_comes_in_its_own_layout_and_groups(app: App) -> None:
    """VIEW-32"""
    base = (
        "views:\n  - type: cards\n    name: A\n    order: [file.name, status]\n    groupBy:\n      property: status\n"
    )
    shown = run(app, "show_query", query=base)
    assert shown["layout"] == "cards"
    assert shown["rows"][0]["cells"][0] == ["link", "Alpha", "Projects/Alpha.md"]
    assert [group["label"] for group in shown["groups"]] == ["active", ""]
    assert "groups" not in run(app, "show_query", query=base, sort="-file.name"), "they hold no more"
    assert run(app, "show_query", query=base, layout="table")["layout"] == "table"
    assert run(app, "show_query", query="LIST")["layout"] == "list"


def test_tasks_carry_what_a_tick_needs(app: App, basic: Path) -> None:
    """VIEW-31, VIEW-33"""
    write(basic, {"Tasks.md": "- [ ] one\n- [ ] two ⏫\n- [ ] three 🔽\n"})
    shown = run(app, "show_query", query="path includes Tasks", language="tasks", sort="priority")
    assert labels(shown) == ["two", "three", "one"]
    first = shown["rows"][0]
    assert (first["path"], first["line"], first["text"], first["done"]) == ("Tasks.md", 2, "- [ ] two ⏫", False)
    run(app, "update_task", name=first["path"], line=first["line"], task=first["text"], status="done")
    assert "- [x] two" in (basic / "Tasks.md").read_text(encoding="utf-8")


def test_a_note_comes_with_its_beginning_and_a_page_with_its_links(app: App, basic: Path) -> None:
    """VIEW-40, VIEW-41"""
    (basic / "wheel.png").write_bytes(b"png")
    write(
        basic, {"N.md": "---\na: [x, 1]\n---\n# One\n[[Home|h]] ![[wheel.png|200]] [[#One]] [[No]] [w](https://a.b)\n"}
    )
    shown = run(app, "show_note", path="N", heading="One")
    assert (shown["title"], shown["properties"], shown["outline"]) == (
        "N",
        [["a", "list", ["x", "1"]]],
        [[1, "One", 4]],
    )
    assert (shown["excerpt"].splitlines()[0], shown["heading"]) == ("# One", "One")
    page = run(app, "note_page", path="N")
    assert page["links"]["[[Home|h]]"] == {"path": "Home.md", "kind": "note", "exists": True, "subpath": ""}
    assert page["links"]["[[#One]]"] == {"path": "N.md", "kind": "note", "exists": True, "subpath": "#One"}
    assert page["links"]["[[No]]"]["exists"] is False
    assert "https://a.b" not in json.dumps(page["links"])
    assert page["images"] == [{"raw": "![[wheel.png|200]]", "path": "wheel.png", "alt": "200"}]
    with pytest.raises(NotText):
        run(app, "show_note", path="Board.canvas")


def test_a_long_note_comes_in_pages_that_end_behind_a_paragraph(app: App, basic: Path) -> None:
    """VIEW-06, VIEW-40"""
    body = "".join(f"# Heading {number} {'h' * 300}\n\n{'words ' * 200}\n\n" for number in range(100))
    write(basic, {"Long.md": "---\nkey: " + "v" * 9_000 + "\n---\n" + body})
    shown = run(app, "show_note", path="Long")
    assert len(json.dumps(shown, ensure_ascii=False).encode()) <= 10_000
    whole, page = "", run(app, "note_page", path="Long")
    while True:
        assert len(page["markdown"]) <= 40_000
        whole += page["markdown"]
        if "next_offset" not in page:
            break
        assert page["markdown"].endswith("\n\n")
        assert page["next_offset"] == len(whole)
        page = run(app, "note_page", path="Long", offset=page["next_offset"])
    assert whole == body


def test_hidden_text_of_a_note_that_is_shown_counts_as_read(app: App, basic: Path) -> None:
    """VIEW-40, POL-13"""
    write(basic, {"Trap.md": "Hello \U000e0041\U000e0042\U000e0043 there\n"})
    run(app, "show_note", path="Trap")
    assert app.hidden_text_reads.path() == "Trap.md"
