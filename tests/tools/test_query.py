"""Queries through the tool (specs/queries.md)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp import compose
from obsidian_mcp.app import App
from obsidian_mcp.core.query import regexp
from obsidian_mcp.core.text.call import limit_call
from obsidian_mcp.core.text.vault_path import VaultPath
from obsidian_mcp.errors import InvalidArguments, NoteNotFound, NotText, OperationTimeout, QueryInvalid
from obsidian_mcp.tools.registry import call
from tests.conftest import app_on

NOW = datetime.fromisoformat("2026-11-22T09:05")
BASE = """filters: price > 1
formulas:
  double: price * 2
views:
  - type: table
    name: All
    order: [file.name, formula.double]
  - type: cards
    name: Mine
    filters: list(up).contains(this)
    order: [file.name]
"""
FILES = {
    "Shop/A.md": '---\nprice: 10\nup: "[[Home]]"\n---\n',
    "Shop/B.md": "---\nprice: 2\n---\n",
    "Shop/C.md": "---\nprice: 0\n---\n",
    "Shop.base": BASE,
    "Home.md": (
        f"# Home\n```base\n{BASE}```\n\n> ![[Shop.base#Mine]]\n\n```dataviewjs\ndv.pages()\n```\n\n![[None.base]]\n"
    ),
}

Opened = Callable[[dict[str, str]], App]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens an App on a vault with these files, at NOW."""
    apps = []

    def build(files: dict[str, str]) -> App:
        root = tmp_path / "vault"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8", newline="")
        apps.append(compose.build(app_on(root).config.replace(today=NOW.isoformat())))
        return apps[-1]

    yield build
    for app in apps:
        app.vaults.close()


def run(app: App, **arguments: Any) -> dict[str, Any]:
    return call(app, "obsidian_query", arguments).data


def test_a_base_as_text_answers_with_columns_rows_and_total(opened: Opened) -> None:
    """QUERIES-01, QUERIES-05"""
    assert run(opened(FILES), query=BASE) == {
        "view": "All",
        "columns": [{"id": "file.name", "name": "file name"}, {"id": "formula.double", "name": "double"}],
        "rows": [["A", 20], ["B", 4]],
        "paths": ["Shop/A.md", "Shop/B.md"],
        "total": 2,
    }


def test_a_view_that_needs_this_says_that_it_is_missing(opened: Opened) -> None:
    """BASE-19"""
    [warning] = run(opened(FILES), query=BASE, view="Mine")["warnings"]
    assert "Pass `this`" in warning


def test_the_path_of_a_base_runs_it_with_itself_as_this(opened: Opened) -> None:
    """QUERIES-02"""
    app = opened(FILES)
    assert "warnings" not in run(app, query="Shop.base")
    assert run(app, query="shop.base#Mine")["rows"] == []
    assert run(app, query="Shop.base", view="Mine", this="Home")["rows"] == [["A"]]
    with pytest.raises(NoteNotFound):
        run(app, query="Shops.base")
    with pytest.raises(QueryInvalid, match="All, Mine"):
        run(app, query="Shop.base", view="Other")


def test_a_base_in_its_fence_and_in_a_callout_is_run(opened: Opened) -> None:
    """QUERIES-03"""
    app = opened(FILES)
    for text in (f"```base\n{BASE}```", "".join(f"> {line}\n" for line in f"```base\n{BASE}```".splitlines())):
        assert run(app, query=text, this="Home")["total"] == 2
        assert run(app, query=text, language="base", this="Home")["total"] == 2


def test_a_note_alone_answers_its_own_queries_in_order(opened: Opened) -> None:
    """QUERIES-04, QUERIES-07"""
    answer = run(opened(FILES), this="Home")
    assert answer["path"] == "Home.md"
    blocks = [(block["line"], block["language"], block.get("rows"), block.get("error")) for block in answer["blocks"]]
    assert blocks[:2] == [(2, "base", [["A", 20], ["B", 4]], None), (16, "base", [["A"]], None)]
    line, language, rows, error = blocks[2]
    assert (line, language, rows) == (18, "dataviewjs", None)
    assert "JavaScript" in str(error)
    assert blocks[3][:2] == (22, "base")
    assert "None.base" in str(blocks[3][3])


def test_a_search_of_the_app_in_a_note_says_how_it_is_asked_here(opened: Opened) -> None:
    """QUERIES-07"""
    (block,) = run(opened({"Home.md": "# Home\n```query\ntag:#a\n```\n"}), this="Home")["blocks"]
    assert (block["line"], block["language"]) == (2, "query")
    assert "obsidian_search" in block["error"]


def test_a_query_may_stand_in_a_canvas_but_is_given_then(opened: Opened) -> None:
    """QUERIES-04, BASE-19, TASK-92"""
    canvas = '{"nodes": [{"id": "1", "type": "file", "file": "A.md", "x": 0, "y": 0, "width": 1, "height": 1}]}'
    app = opened({"A.md": "- [ ] Board.canvas\n", "Board.canvas": canvas})
    linked = "filters: this.file.hasLink(file)\nviews: []"
    assert run(app, query=linked, this="Board.canvas")["rows"] == [["A"]]
    found = run(app, query="description includes {{query.file.path}}", language="tasks", this="Board.canvas")
    assert found["total"] == 1
    with pytest.raises(NotText, match=r"'Board.canvas' is no note.*as `query`"):
        run(app, this="Board.canvas")


def test_a_page_ends_with_where_the_next_one_begins(opened: Opened) -> None:
    """QUERIES-05"""
    app = opened({f"n{number}.md": "" for number in range(5)})
    first = run(app, query="views: []", limit=2)
    assert (first["rows"], first["total"], first["next_offset"]) == ([["n0"], ["n1"]], 5, 2)
    last = run(app, query="views: []", limit=2, offset=4)
    assert last["rows"] == [["n4"]]
    assert "next_offset" not in last


def test_an_answer_for_a_model_is_bounded(opened: Opened) -> None:
    """QUERIES-06"""
    app = opened({f"n{number}.md": "" for number in range(9)})
    base = "formulas: {x: '\"x\".repeat(15000)'}\nviews: [{type: t, name: V, order: [formula.x]}]"
    assert run(app, query=base)["next_offset"] == 2
    [[cell]] = run(app, query=base.replace("15000", "90000"))["rows"]
    assert cell.endswith("… (88,000 more characters)")
    assert len(cell) < 2100


def test_groups_of_a_page_begin_with_the_group_of_its_first_row_where_not_all_fit(opened: Opened) -> None:
    """QUERIES-06"""
    app = opened({f"n{number:03}.md": f"---\ng: {number // 2:03}x\n---\n" for number in range(602)})
    base = "views: [{type: t, name: V, order: [file.name], groupBy: g, summaries: {file.name: Filled}}]"
    first, later = run(app, query=base), run(app, query=base, offset=501, limit=2)
    assert (len(first["groups"]), first["groups_total"], first["groups_offset"]) == (200, 301, 0)
    assert (later["rows"], later["groups_offset"]) == ([["n501"], ["n502"]], 500)
    assert [(group["key"], group["count"]) for group in later["groups"][:2]] == [("250x", 2), ("251x", 2)]


def test_summaries_keys_and_inner_groups_for_a_model_are_bounded(opened: Opened) -> None:
    """QUERIES-06"""
    app = opened({f"n{number:04}.md": f"- [ ] t {'x' * 40} {number:04}\n" for number in range(1500)})
    base = (
        "formulas: {x: '\"x\".repeat(60)'}\nsummaries: {all: values}\n"
        "views: [{type: t, name: V, order: [file.name], summaries: {formula.x: all}, groupBy: file.folder}]"
    )
    by_key = "formulas: {x: '\"x\".repeat(90000)'}\nviews: [{type: t, name: V, groupBy: formula.x, limit: 9}]"
    nested = "TASK GROUP BY text GROUP BY length(rows)"
    for query in (base, by_key, nested):
        answer = run(app, query=query)
        assert sum(group["count"] for group in answer["groups"]) == answer["total"]
        assert len(json.dumps(answer)) < 60_000
    inner = run(app, query=nested, offset=1490)["groups"][0]
    assert inner["groups"][0]["key"].endswith(" 1490")
    assert (inner["groups_total"], inner["groups_offset"]) == (1500, 1490)


def test_a_text_of_no_known_language_is_refused_with_the_languages(opened: Opened) -> None:
    """QUERIES-01"""
    app = opened({"a.md": ""})
    with pytest.raises(QueryInvalid, match="base"):
        run(app, query="what is new?")
    with pytest.raises(InvalidArguments, match="query"):
        run(app)


def test_a_broken_base_names_the_line(opened: Opened) -> None:
    """BASE-09"""
    with pytest.raises(QueryInvalid, match=r"Views must be an array \(line 2, column 8\)"):
        run(opened({"a.md": ""}), query="filters: a\nviews: x\n")


def test_a_move_names_the_bases_that_name_the_note_or_folder(opened: Opened) -> None:
    """BASE-91"""
    base = (
        "filters:\n  and:\n    - categories.contains(link(\"Books\"))\n    - file.inFolder('Old/Notes')\n"
        "    - file.hasLink('[[Old/Books.md#x|y]]')\n    - status == \"Book\"\nviews: []\n"
    )
    app = opened({"Old/Books.md": "", "Old/Notes/n.md": "", "x.base": base, "y.base": "- broken"})

    def warnings(name: str, to: str) -> list[str] | None:
        moved: list[str] | None = call(app, "obsidian_move_note", {"name": name, "to": to, "dry_run": True}).data.get(
            "warnings"
        )
        return moved

    begin = "Bases are not changed by a move, and these name what moves: "
    link = "x.base line 5 ('[[Old/Books.md#x|y]]')."
    assert warnings("Books", "Volumes") == [f"{begin}x.base line 3 ('Books'); {link}"]
    assert warnings("Books", "New/") == [begin + link]
    [folder] = warnings("Old", "New") or []
    assert "line 4 ('Old/Notes')" in folder
    assert "line 5" in folder
    assert "line 3" not in folder
    assert warnings("Old/Notes/n.md", "Other") is None


def test_a_query_is_stopped_after_the_limit_of_its_call(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """EXPR-62"""
    monkeypatch.setattr(regexp, "SECONDS", 0.2)
    app = opened({"a.md": ""})
    base = "formulas: {x: '/(a+)+b/.matches(\"a\".repeat(5000))'}\nviews: [{type: t, name: V, order: [formula.x]}]"
    run(app, query="views: []")  # the index is there
    with limit_call(0.1), pytest.raises(OperationTimeout):
        run(app, query=base)
    with limit_call(10):
        assert "/(a+)+b/ ran for more than 0.2 s" in run(app, query=base)["rows"][0][0]["error"]


def test_now_is_the_clock_of_the_vault_and_the_creation_time_is_known(opened: Opened) -> None:
    """BASE-52, BASE-60"""
    base = "formulas: {n: now(), c: file.ctime.year > 2000}\nviews: [{type: t, name: V, order: [formula.n, formula.c]}]"
    assert run(opened({"a.md": ""}), query=base)["rows"] == [["2026-11-22T09:05:00", True]]


# Dataview

NOTES = {
    ".obsidian/plugins/dataview/data.json": '{"renderNullAs": "?", "tableIdColumnName": "Note"}',
    ".obsidian/bookmarks.json": (
        '{"items": [{"type": "group", "items": [{"type": "file", "path": "Shop/A.md"}]}, {"type": "file"}]}'
    ),
    "Shop/A.md": '---\nprice: 10\nup: "[[Home]]"\n---\nGood Thing:: yes\n\n- [ ] buy [due:: 2026-11-30]\n',
    "Shop/B.md": "---\nprice: 2\n---\n- item\n",
    "data.csv": "x\n1\n",
    "Home.md": (
        "# Home\n\n`= this.file.name + null`\n\n> ```dataview\n> LIST FROM [[]]\n> ```\n\n`$= dv.x`\n\n"
        "```dataview\nLIST WHERE (\n```\n"
    ),
}


def test_dql_answers_from_the_index(opened: Opened) -> None:
    """QUERIES-01, DV-03, DV-14"""
    app = opened(NOTES)
    found = run(app, query='TABLE price, good-thing, file.starred FROM "Shop" WHERE price > 1 SORT price')
    assert found == {
        "kind": "table",
        "columns": [
            {"id": "id", "name": "Note"},
            *({"id": name, "name": name} for name in ("price", "good-thing", "file.starred")),
        ],
        "rows": [["[[Shop/B.md|B]]", 2, None, False], ["[[Shop/A.md|A]]", 10, "yes", True]],
        "total": 2,
    }
    assert run(app, query="```dataview\nTASK\n```")["rows"] == [
        [" ", "buy [due:: 2026-11-30]", "Shop/A.md:7", 0, True, "[[Shop/A.md|A]]", {"due": "2026-11-30"}]
    ]
    assert run(app, query='LIST x FROM csv("data.csv")', language="dataview")["rows"] == [["data.csv#0", 1]]
    assert run(app, query="= date(today)")["rows"] == [["2026-11-22"]]


def test_the_dataview_queries_of_a_note_are_run(opened: Opened) -> None:
    """QUERIES-04, DV-01, DV-02"""
    blocks = run(opened(NOTES), this="Home")["blocks"]
    assert [(block["line"], block["language"], block.get("rows")) for block in blocks] == [
        (3, "dataview", [["Home?"]]),
        (5, "dataview", [["[[Shop/A.md|A]]"]]),
        (9, "dataviewjs", None),
        (11, "dataview", None),
    ]
    assert "DataviewJS runs JavaScript inside Obsidian" in blocks[2]["error"]
    assert blocks[3]["error"].startswith("The query cannot be read at line 1, column 13: ")


@pytest.mark.parametrize("query", ["dv.pages()", "$= 1", "```dataviewjs\nconst a = 1\n```"])
def test_dataviewjs_is_refused(opened: Opened, query: str) -> None:
    """QUERIES-07, DV-01"""
    with pytest.raises(QueryInvalid) as error:
        run(opened(NOTES), query=query)
    assert "DataviewJS" in error.value.message


def test_a_dql_syntax_error_names_line_and_column(opened: Opened) -> None:
    """DV-31"""
    with pytest.raises(QueryInvalid) as error:
        run(opened(NOTES), query="LIST\nWHERE price == 1")
    assert (error.value.data["line"], error.value.data["column"]) == (2, 14)


def test_a_base_of_the_wrong_form_is_not_written_and_every_mistake_has_its_place(opened: Opened) -> None:
    """BASE-09, FILE-10"""
    app = opened({"a.md": ""})
    broken = "filters:\n  and: a\nviews:\n  - type: table\n"
    with pytest.raises(InvalidArguments) as refusal:
        call(app, "obsidian_create_note", {"name": "x.base", "content": broken})
    assert 'line 2, column 8: "and" filter must be an array' in refusal.value.message
    assert 'line 4, column 5: Missing or invalid "name" in view 1' in refusal.value.message
    assert app.vaults.get().entry_at(VaultPath("x.base")) is None


def test_a_formula_that_does_not_parse_is_written_with_a_warning_and_shown_again_on_reading(opened: Opened) -> None:
    """BASE-09, BASE-15"""
    app = opened({"a.md": ""})
    text = "formulas:\n  sum: price +* 2\nviews:\n  - type: table\n    name: T\n"
    made = call(app, "obsidian_create_note", {"name": "x.base", "content": text}).data
    expected = ['line 2, column 15: Formula "sum": "*" cannot stand here. Expected a value.']
    assert made["warnings"] == expected
    assert call(app, "obsidian_read_note", {"name": "x.base"}).data["warnings"] == expected


TABLES = """---
rate: 2
---
# Stock

| Item | Cost | Due | Done | For |
|---|--:|---|---|---|
| lamp | 40 | 2026-11-20 | true | [[Home]] |
| desk | 1,200 | 2026-12-01 | | [[Home]] |
| chair | 90 | | false | |

## Old

| Item |
|---|
| stool |
"""
SUMMED = """formulas: {twice: Cost * rate}
views:
  - {type: table, name: V, filters: 'done != true', sort: [{property: cost, direction: DESC}], limit: 1,
     order: [item, formula.twice], summaries: {cost: Sum}}
"""


@pytest.mark.parametrize(
    ("arguments", "rows", "lines"),
    [
        ({"section": "Old"}, [["stool"]], [16]),
        ({"table_number": 2}, [["stool"]], [16]),
        ({"table_number": 1, "query": "due < today()"}, [["lamp", 40, "2026-11-20", True, "[[Home]]"]], [8]),
        ({"table_number": 1, "query": "cost > 100 && For.linksTo(this)"}, [], []),
        ({"table_number": 1, "query": SUMMED}, [["desk", 2400]], [9]),
        ({"table_number": 1, "query": "item.contains('air')", "limit": 1}, [["chair", 90, None, False, None]], [10]),
    ],
)
def test_a_base_is_asked_about_the_rows_of_a_table(
    opened: Opened, arguments: dict[str, Any], rows: list[Any], lines: list[int]
) -> None:
    """QUERIES-09"""
    app = opened({"Stock.md": TABLES, "Home.md": ""})
    answer = run(app, this="Stock", language="table", **arguments)
    assert (answer["rows"], answer["lines"], answer["total"]) == (rows, lines, len(rows))
    if "summaries" in answer:
        assert answer["summaries"] == {"note.cost": {"Sum": 1200}}


@pytest.mark.parametrize(
    "query",
    ["cots > 3", "if(cots > 3, 1, 2) == 1", "views: [{type: table, name: V, sort: [cots]}]", "formulas: {a: cots}"],
)
def test_a_name_that_is_no_column_of_the_table_is_refused_with_the_columns(opened: Opened, query: str) -> None:
    """QUERIES-09"""
    app = opened({"Stock.md": TABLES})
    with pytest.raises(QueryInvalid, match=r"no column 'cots'. Its columns are 'Item', 'Cost'"):
        run(app, this="Stock", language="table", table_number=1, query=query)
    with pytest.raises(InvalidArguments, match="needs `this`"):
        run(app, language="table", query=query)


NAMES = """| n | k | K |  | file.name | n |
|---|---|---|---|---|---|
| a | 1 | 2 | 3 | x | b |
| c | 4 | 5 | 6 | y | d |

> | Only | note.two |
> |---|---|
> | 7 | 8 |
"""


def test_cells_of_columns_of_one_name_stand_at_their_positions(opened: Opened) -> None:
    """QUERIES-10"""
    app = opened({"Names.md": NAMES})
    answer = run(app, this="Names", language="table", table_number=1)
    assert [column["name"] for column in answer["columns"]] == ["n", "k", "K", "", "file.name", "n"]
    assert len({column["id"] for column in answer["columns"]}) == 6
    assert answer["rows"] == [["a", 1, 2, 3, "x", "b"], ["c", 4, 5, 6, "y", "d"]]
    second = run(app, this="Names", language="table", table_number=2)
    assert (second["rows"], second["lines"]) == ([[7, 8]], [8])
    chosen = """{filters: 'note["column 3"] > 2', views: [{type: table, name: V, order: [column 6, note.column 5]}]}"""
    by_position = run(app, this="Names", language="table", table_number=1, query=chosen)
    assert (by_position["rows"], by_position["lines"]) == ([["d", "y"]], [4])


@pytest.mark.parametrize(
    ("query", "positions"),
    [
        ("n == 'a'", "column 1 and column 6"),
        ("note.n == 'a'", "column 1 and column 6"),
        ("note['N'] == 'a'", "column 1 and column 6"),
        ("k > 1", "column 2 and column 3"),
        ("file.name == 'x'", "column 5 and a field of every row"),
        ("{views: [{type: table, name: V, order: [n]}]}", "column 1 and column 6"),
        ("{views: [{type: table, name: V, sort: [{property: file.name}]}]}", "column 5 and a field"),
        ("{views: [{type: table, name: V, groupBy: {property: K}}]}", "column 2 and column 3"),
        ("{views: [{type: table, name: V, summaries: {note.k: Sum}}]}", "column 2 and column 3"),
    ],
)
def test_a_name_of_several_columns_is_refused_with_the_positions(opened: Opened, query: str, positions: str) -> None:
    """QUERIES-10"""
    app = opened({"Names.md": NAMES})
    with pytest.raises(QueryInvalid, match=f"could be {positions}.*by its position"):
        run(app, this="Names", language="table", table_number=1, query=query)


@pytest.mark.parametrize(
    ("items", "starred"),
    [
        ('{"type": "file", "path": "C# notes.md", "subpath": "#Head"}', ["C# notes"]),
        ('{"type": "group", "items": [{"type": "file", "path": "A.md"}]}, {"type": "folder", "path": "C.md"}', ["A"]),
        ('{"type": "file", "path": ', []),
    ],
    ids=["subpath", "group", "broken"],
)
def test_the_starred_files_of_dql_are_those_of_the_bookmarks(opened: Opened, items: str, starred: list[str]) -> None:
    """DV-14"""
    marked = {".obsidian/bookmarks.json": f'{{"items": [{items}]}}', "A.md": "a\n", "C# notes.md": "c\n", "C.md": "c\n"}
    found = run(opened(marked), query="TABLE WITHOUT ID file.name WHERE file.starred")
    assert [name for (name,) in found["rows"]] == starred
