"""Tables through the tool: several operations, one change (TABLE rules in specs/edits.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, StaleEtag
from obsidian_mcp.tools.registry import call


def run(app: App, tool: str = "edit_table", /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).whole()


def test_several_operations_are_one_change_and_one_undo(app: App, basic: Path) -> None:
    """TABLE-1"""
    note = basic / "Projects/Alpha.md"
    before = note.read_bytes()
    answer = run(
        app,
        name="Alpha",
        operations=[
            {"op": "set", "row": "wheel", "column": "mm", "value": 43},
            {"op": "add_row", "values": {"part": "[[Gear|g]]", "mm": 5}},
            {"op": "sort", "column": "mm"},
            {"op": "add_column", "column": "done", "value": "no"},
        ],
    )
    assert (
        "| part | mm | done |\n| --- | --- | --- |\n| [[Gear\\|g]] | 5  | no |\n"
        "| [[Tower clock\\|pallet]] | 7 | no |\n| wheel | 43 | no |\n"
    ) in note.read_text(encoding="utf-8")
    assert (answer["line"], answer["columns"], answer["rows"]) == (24, ["part", "mm", "done"], 3)
    run(app, "undo")
    assert note.read_bytes() == before


def test_columns_are_renamed_moved_and_removed(app: App, basic: Path) -> None:
    """TABLE-4"""
    rename = {"op": "rename_column", "column": "mm", "value": "size"}
    note = basic / "Projects/Alpha.md"
    run(app, name="Alpha", operations=[rename, {"op": "move_column", "column": "size", "at": 1}])
    assert "\n| size | part |\n| --- | --- |\n| 42 | wheel |\n" in note.read_text(encoding="utf-8")
    run(app, name="Alpha", operations=[{"op": "remove_column", "column": "part"}])
    assert "\n| size |\n| --- |\n| 42 |\n" in note.read_text(encoding="utf-8")


def wide(rows: int) -> str:
    head = "# Stock\n\n| item | month | note |\n|---|---|---|\n"
    return head + "".join(f"| part {row // 2} | {'May' if row % 2 else 'June'} | {'x' * 80} |\n" for row in range(rows))


@pytest.mark.parametrize("row", [{"line": 155}, {"row": {"Item": "part 75", "month": "june"}}, {"row": 151}])
def test_a_cell_of_a_long_table_costs_the_bytes_of_its_row(app: App, basic: Path, row: dict[str, Any]) -> None:
    """TABLE-8: the row is named by the line that a read shows, by some of its cells, or by its number"""
    (basic / "Stock.md").write_text("# Other\n\n| a |\n|---|\n\n" * ("line" not in row) + wide(400), encoding="utf-8")
    place = {} if "line" in row else {"section": "Stock"}

    outcome = call(
        app,
        "obsidian_edit_table",
        {"name": "Stock", "operations": [{"op": "set", "column": 3, "value": "y", **row}]} | place,
    )

    assert "+| part 75 | June | y" in outcome.data["diff"]
    assert len(outcome.envelope()) < 750


def test_a_row_that_several_or_no_cells_name_is_refused_with_the_choices(app: App, basic: Path) -> None:
    """TABLE-8"""
    (basic / "Stock.md").write_text(wide(6), encoding="utf-8")
    for row, message in (
        ({"row": {"item": "part 1"}}, "2 rows have .*: 3, 4"),
        ({"row": {"item": "part 9"}}, "No rows of the table have .*part 9"),
        ({"row": {"colour": "red"}}, "no column 'colour'"),
        ({"line": 4}, "Line 4 is no row of the table, whose rows are the lines 5 to 10"),
        ({}, "It needs row"),
    ):
        with pytest.raises((InvalidArguments, AmbiguousName), match=message):
            run(app, name="Stock", operations=[{"op": "remove_row", **row}])


def test_a_failing_operation_writes_nothing(app: App, basic: Path) -> None:
    """TABLE-7"""
    before = (basic / "Projects/Alpha.md").read_bytes()
    good = {"op": "remove_row", "row": 1}
    for bad in (
        {"op": "paint"},
        {"op": "set", "row": 1, "column": "none", "value": "x"},
        {"op": "set", "row": 1},
        {"op": "set", "row": 1, "column": 1},
        {"op": "sort", "column": 1, "descending": "perhaps"},
        {"op": "remove_row", "row": 1, "column": 1},
        {"op": "move_row", "row": 1},
        {"op": "move_row", "row": 1, "at": True},
        {"op": "add_column", "column": "x", "align": "up"},
    ):
        with pytest.raises(InvalidArguments, match=r"Operation 2: .* Nothing was written"):
            run(app, name="Alpha", operations=[good, bad])
    assert (basic / "Projects/Alpha.md").read_bytes() == before


def test_a_dry_run_shows_the_change(app: App, basic: Path) -> None:
    before = (basic / "Projects/Alpha.md").read_bytes()
    shown = run(app, name="Alpha", operations=[{"op": "remove_row", "row": "wheel"}], dry_run=True)
    assert "-| wheel | 42 |" in shown["diff"]
    assert (shown["changed"], shown["etag"]) == (True, run(app, "read_note", name="Alpha")["etag"])
    with pytest.raises(StaleEtag):
        run(app, name="Alpha", operations=[{"op": "remove_row", "row": 1}], dry_run=True, etag="0" * 64)
    assert (basic / "Projects/Alpha.md").read_bytes() == before
