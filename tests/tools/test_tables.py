"""Tables through the tool: several operations, one change (TABLE rules in specs/edits.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.errors import InvalidArguments, StaleEtag
from obsidian_mcp.tools import call


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
    assert answer["table"] == (
        "| part | mm | done |\n| --- | --- | --- |\n| [[Gear\\|g]] | 5  | no |\n"
        "| [[Tower clock\\|pallet]] | 7 | no |\n| wheel | 43 | no |"
    )
    assert answer["line"] == 24
    run(app, "undo")
    assert note.read_bytes() == before


def test_columns_are_renamed_moved_and_removed(app: App) -> None:
    """TABLE-4"""
    rename = {"op": "rename_column", "column": "mm", "value": "size"}
    moved = run(app, name="Alpha", operations=[rename, {"op": "move_column", "column": "size", "at": 1}])
    assert moved["table"].startswith("| size | part |\n| --- | --- |\n| 42 | wheel |\n")
    removed = run(app, name="Alpha", operations=[{"op": "remove_column", "column": "part"}])
    assert removed["table"].startswith("| size |\n| --- |\n| 42 |\n")


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
