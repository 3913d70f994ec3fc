"""Answers of queries for people (QUERIES-08)."""

from __future__ import annotations

from typing import Any

from obsidian_mcp.cli.cells import cell_text
from obsidian_mcp.cli.query_output import remarks, render

COLUMNS = [{"id": "file.name", "name": "Name"}, {"id": "note.price", "name": "Price"}]
PLAIN: dict[str, Any] = {
    "columns": COLUMNS,
    "rows": [["A|b", 10], ["日本", 2.5], ["C\nd", None]],
    "total": 4,
    "next_offset": 3,
    "warnings": ["one"],
    "summaries": {"note.price": {"Sum": 12.5}},
}
GROUPED: dict[str, Any] = {
    "columns": COLUMNS,
    "rows": [["A", 1], ["B", 2], ["C", 3]],
    "groups": [{"key": ["[[x]]"], "count": 2, "summaries": {"note.price": {"Max": 2}}}, {"key": None, "count": 1}],
    "total": 3,
}


def test_a_table_has_titles_and_columns_as_wide_as_their_cells() -> None:
    """QUERIES-08"""
    assert render(PLAIN, "table") == ("Name  Price\nA|b      10\n日本    2.5\nC d\nSum of Price: 12.5\n")


def test_groups_of_a_table_begin_with_their_key() -> None:
    """QUERIES-08"""
    assert render(GROUPED, "table") == (
        "Name  Price\n== [[x]] (2)\nA         1\nB         2\nMax of Price: 2\n== None (1)\nC         3\n"
    )


def test_csv_quotes_what_must_be_quoted_and_has_the_group_first() -> None:
    """QUERIES-08"""
    assert render(PLAIN, "csv") == 'Name,Price\nA|b,10\n日本,2.5\n"C\nd",\n'
    assert render(GROUPED, "csv") == "group,Name,Price\n[[x]],A,1\n[[x]],B,2\n,C,3\n"


def test_rows_of_a_later_page_stand_under_their_own_group() -> None:
    """QUERIES-08"""
    page = {**GROUPED, "rows": [["B", 2], ["C", 3]]}
    assert render(page, "csv", offset=1) == "group,Name,Price\n[[x]],B,2\n,C,3\n"
    assert render({**GROUPED, "rows": [["C", 3]]}, "table", offset=2) == "Name  Price\n== None (1)\nC         3\n"
    assert render({**GROUPED, "rows": [["A", 1]]}, "markdown").count("###") == 1


def test_a_page_behind_the_last_row_has_the_titles_and_summaries_of_the_whole() -> None:
    """QUERIES-08"""
    page = {**GROUPED, "rows": [], "summaries": {"note.price": {"Sum": 6}}}
    assert render(page, "table", offset=9) == "Name  Price\nSum of Price: 6\n"
    assert render(page, "csv", offset=9) == "group,Name,Price\n"
    assert render(page, "markdown", offset=9) == "| Name | Price |\n| --- | --- |\n\nSum of Price: 6\n"


def test_markdown_escapes_pipes_and_line_ends() -> None:
    """QUERIES-08"""
    assert render(PLAIN, "markdown") == (
        "| Name | Price |\n| --- | --- |\n| A\\|b | 10 |\n| 日本 | 2.5 |\n| C<br>d |  |\n\nSum of Price: 12.5\n"
    )
    assert render(GROUPED, "markdown").startswith("### [[x]] (2)\n\n| Name | Price |\n")


def test_the_answers_of_a_note_follow_each_other() -> None:
    """QUERIES-04, QUERIES-08"""
    data = {
        "path": "n.md",
        "blocks": [{"line": 2, "language": "base", **GROUPED}, {"line": 9, "language": "x", "error": "no"}],
    }
    text = render(data, "table")
    assert text.startswith("== line 2 (base)\nName  Price\n")
    assert text.endswith("\n== line 9 (x)\nno\n")
    assert remarks({"path": "n.md", "blocks": []}) == "The note holds no queries.\n"


def test_remarks_say_how_many_rows_there_are_and_every_warning() -> None:
    """QUERIES-08"""
    assert remarks(PLAIN) == "4 rows, 3 shown; more with --offset 3\nWarning: one\n"


def test_a_long_cell_of_a_table_is_cut() -> None:
    """QUERIES-08"""
    table = render({"columns": COLUMNS[:1], "rows": [["x" * 100]], "total": 1}, "table")
    assert table == f"Name\n{'x' * 59}…\n"


def test_cells_are_texts() -> None:
    """QUERIES-08"""
    cells = [True, None, 3, ["a", ["b", None]], {"error": "no"}, {"a": 1}]
    assert [cell_text(cell) for cell in cells] == ["true", "", "3", "a, b, ", "error: no", '{"a":1}']
