"""Tables through the tool: several operations, one change (TABLE rules in specs/edits.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from obsidian_mcp.app import App
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, StaleEtag, UndoConflict
from obsidian_mcp.tools.registry import call


def run(app: App, tool: str = "edit_table", /, **arguments: Any) -> dict[str, Any]:
    return call(app, f"obsidian_{tool}", arguments).to_full_data()


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


@pytest.mark.parametrize(
    "row", [{"line": 155}, {"line": "155"}, {"row": {"Item": "part 75", "month": "june"}}, {"row": 151}]
)
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


ROWS = [["zinc", "3", "old"], ["iron", "1", "old"], ["lead", "2", "new"], ["gold", "4", "new"]]
IRON = [{"line": 6}, {"line": "6"}, {"row": 2}, {"row": "2"}, {"row": "iron"}, {"row": {"kg": "1", "age": "old"}}]
"""The ways to name one row of the table below."""
BEFORE: list[dict[str, Any]] = [
    {"op": "add_row", "values": ["iron", "1", "old"], "at": 1},
    {"op": "remove_row", "row": 1},
    {"op": "move_row", "row": 1, "at": 4},
    {"op": "move_row", "row": 2, "at": 1},
    {"op": "sort", "column": "kg"},
    {"op": "sort", "column": "metal", "descending": True},
    {"op": "add_column", "column": "kg", "value": "1", "at": 1},
    {"op": "remove_column", "column": "metal"},
    {"op": "move_column", "column": "age", "at": 1},
    {"op": "rename_column", "column": "kg", "value": "pounds"},
    {"op": "set", "row": 2, "column": "metal", "value": "tin"},
    {"op": "set", "row": 3, "column": "metal", "value": "iron"},
]
"""Operations after which the numbers, lines or cells of the table are others."""


@pytest.fixture
def metals(basic: Path) -> Path:
    lines = ["| metal | kg | age |", "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in ROWS)]
    note = basic / "Metals.md"
    note.write_text("\n".join(["# Metals", "", *lines, "", "| other |", "| --- |", "| x |", ""]), encoding="utf-8")
    return note


def table_of(note: Path) -> list[list[str]]:
    """Return the cells of the first table of a note, with its header."""
    lines = note.read_text(encoding="utf-8").split("\n\n")[1].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in [lines[0], *lines[2:]]]


Operations = list[tuple[str, dict[str, Any]]]
"""The kind of each operation, and its arguments."""


def edit_metals(app: App, operations: Operations) -> None:
    operations_of_tool = [{"op": kind, **values} for kind, values in operations]
    run(app, name="Metals", table_number=1, operations=operations_of_tool)


@pytest.mark.parametrize("name", IRON, ids=str)
@pytest.mark.parametrize("before", BEFORE, ids=str)
def test_the_rows_and_columns_of_a_call_are_those_of_the_table_as_it_was_read(
    app: App, metals: Path, before: dict[str, Any], name: dict[str, Any]
) -> None:
    """TABLE-8"""
    mark = [{"op": "set", "column": column, "value": "here", **name} for column in (3, "age")]

    run(app, name="Metals", table_number=1, operations=[before, mark[0]])
    by_number = table_of(metals)
    run(app, "undo")
    run(app, name="Metals", table_number=1, operations=[before])
    unmarked = table_of(metals)
    run(app, "undo")
    answer = run(app, name="Metals", table_number=1, operations=[before, mark[1]])

    assert table_of(metals) == by_number
    differing = [(new, old) for new, old in zip(by_number, unmarked, strict=True) if new != old]
    assert len(differing) == 1
    assert [cell for cell in differing[0][0] if cell not in differing[0][1]] == ["here"]
    assert {"iron", "1", "old", "tin"} >= {*differing[0][1]}
    assert (answer["columns"], answer["rows"]) == (unmarked[0], len(unmarked) - 1)


def test_several_rows_are_removed_by_the_lines_that_a_read_shows(app: App, metals: Path) -> None:
    """TABLE-8"""
    for names in ({"line": 5}, {"line": 6}), ({"row": 1}, {"row": 2}), ({"row": "zinc"}, {"line": 6}):
        run(app, name="Metals", table_number=1, operations=[{"op": "remove_row", **name} for name in names])
        assert table_of(metals)[1:] == ROWS[2:]
        run(app, "undo")


@pytest.mark.parametrize(
    ("operations", "order"),
    [
        ([("remove_row", {"row": 1}), ("add_row", {"values": ["tin"], "at": 3})], "iron tin lead gold"),
        ([("add_row", {"values": ["tin"], "at": 2}), ("add_row", {"values": ["neon"], "at": 2})],
         "zinc tin neon iron lead gold"),
        ([("remove_row", {"row": 4}), ("add_row", {"values": ["tin"], "at": 5})], "zinc iron lead tin"),
        ([("move_row", {"row": 1, "at": 3}), ("move_row", {"row": 2, "at": 4})], "lead zinc gold iron"),
        ([("move_row", {"row": 4, "at": 1}), ("move_row", {"row": "gold", "at": 1})], "gold zinc iron lead"),
        ([("sort", {"column": 1}), ("move_row", {"row": "gold", "at": 4})], "iron lead zinc gold"),
        ([("remove_row", {"row": 2}), ("sort", {"column": 2}), ("move_row", {"row": 4, "at": 1})], "gold lead zinc"),
    ],
)  # fmt: skip
def test_the_places_of_a_call_are_those_of_the_table_as_it_was_read(
    app: App, metals: Path, operations: Operations, order: str
) -> None:
    """TABLE-8"""
    edit_metals(app, operations)

    assert [row[0] for row in table_of(metals)[1:]] == order.split()


@pytest.mark.parametrize(
    ("operations", "headers"),
    [
        ([("move_column", {"column": 1, "at": 3}), ("remove_column", {"column": 2})], "age metal"),
        ([("rename_column", {"column": "metal", "value": "kg"}), ("rename_column", {"column": "kg", "value": "lb"})],
         "kg lb age"),
        ([("add_column", {"column": "Age", "at": 1}), ("move_column", {"column": "Age", "at": 3})], "metal kg age Age"),
        ([("add_column", {"column": "new", "at": 1}), ("remove_column", {"column": 1})], "new kg age"),
        ([("remove_column", {"column": "kg"}), ("add_column", {"column": "kg"}),
          ("move_column", {"column": "kg", "at": 1})], "kg metal age"),
    ],
)  # fmt: skip
def test_a_header_names_a_column_as_read_and_else_one_that_the_call_has_made(
    app: App, metals: Path, operations: Operations, headers: str
) -> None:
    """TABLE-8"""
    edit_metals(app, operations)

    assert table_of(metals)[0] == headers.split()


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ([("remove_row", {"row": 2}), ("set", {"line": 6, "column": 1, "value": "x"})], "The row of number 2 was"),
        ([("remove_row", {"row": 2}), ("remove_row", {"row": "iron"})], "The row of number 2 was removed"),
        ([("add_row", {"values": ["tin"]}), ("remove_row", {"row": 5})], "row must be from 1 to 4"),
        ([("add_row", {"values": ["tin"]}), ("remove_row", {"row": "tin"})], "No rows of the table begin with"),
        ([("remove_column", {"column": 2}), ("sort", {"column": "kg"})], "The column of number 2 was removed"),
        ([("remove_column", {"column": 2}), ("add_row", {"values": ["a", "b"]})], "no column 2 for 'b'"),
        ([("remove_row", {"row": 1}), ("move_row", {"row": 2, "at": 5})], "at must be from 1 to 4"),
    ],
)
def test_what_was_removed_or_only_added_by_the_call_is_not_named(
    app: App, metals: Path, operations: Operations, message: str
) -> None:
    """TABLE-8"""
    with pytest.raises(InvalidArguments, match=f"Operation 2: .*{message}.* Nothing was written"):
        edit_metals(app, operations)


def test_the_answer_is_of_the_table_that_lines_named_also_when_its_last_rows_are_gone(app: App, metals: Path) -> None:
    """TABLE-8"""
    answer = run(app, name="Metals", operations=[{"op": "remove_row", "line": line} for line in (8, 7, 6)])

    assert (answer["line"], answer["columns"], answer["rows"]) == (3, ["metal", "kg", "age"], 1)


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


def test_a_long_table_in_another_order_is_shown_merged_and_taken_back_at_once(app: App, basic: Path) -> None:
    """TOOL-09: each of these calls took minutes"""
    note = basic / "Long.md"
    states = ["open", "late", "done"]
    rows = "".join(f"| row {row} | {states[row * 7 % 11 % 3]} |\n" for row in range(10_000))
    table = f"# Plan\n\n| name | status |\n| --- | --- |\n{rows}"
    note.write_text(table, encoding="utf-8")
    sort = {"op": "sort", "column": "status"}

    def run_in_time(tool: str, **arguments: Any) -> dict[str, Any]:
        with call_with(limit=Deadline(10)):
            return run(app, tool, name="Long", **arguments)

    etag = run(app, "read_note", name="Long", lines="1")["etag"]
    assert run_in_time("edit_table", operations=[sort], dry_run=True)["changed"]
    change = run_in_time("edit_table", operations=[sort])["change"]
    with call_with(limit=Deadline(10)):
        assert "row 0 | open" in run(app, "history", change=change)["diff"]
    edit = {"operation": "replace_text", "find": "# Plan", "content": "# Plans"}
    assert run_in_time("edit_note", etag=etag, **edit)["merged"]
    with call_with(limit=Deadline(10)):
        with pytest.raises(UndoConflict, match="has changed since"):
            run(app, "undo", change=change)
        run(app, "undo", change=change, wins="both")
    assert note.read_text(encoding="utf-8") == table.replace("# Plan", "# Plans")


SPLIT = {
    "| [[a|A]] | 3 |": ("| [[a\\|A]] | 3 |", ["[[a|A]]", 3]),
    "| ![[a.png|90]] | 3 |": ("| ![[a.png\\|90]] | 3 |", ["![[a.png|90]]", 3]),
    "| `x|y` | 3 |": ("| `x\\|y` | 3 |", ["`x|y`", 3]),
    "| ``x|`y`` | 3 |": ("| ``x\\|`y`` | 3 |", ["``x|`y``", 3]),
    "| $|x|$ | 3 |": ("| $\\|x\\|$ | 3 |", ["$|x|$", 3]),
    "| $$|x|$$ | 3": ("| $$\\|x\\|$$ | 3", ["$$|x|$$", 3]),
    "[[a|A]] | 3": ("[[a\\|A]] | 3", ["[[a|A]]", 3]),
    "| a | 3 | over |": (None, None),
    "| a || 3 |": (None, None),
}
"""Rows with more cells than two columns: how they should be written, and what a query answers."""


@pytest.mark.parametrize("prefix", ["", "> ", "  "], ids=["plain", "quote", "list"])
@pytest.mark.parametrize(("row", "right"), SPLIT.items(), ids=SPLIT)
def test_a_row_with_too_many_cells_is_named_and_no_edit_of_columns_touches_it(
    app: App, basic: Path, row: str, right: tuple[str | None, list[Any] | None], prefix: str
) -> None:
    """TABLE-9, QUERIES-10"""
    written, cells = right
    lines = ["| n | k |", "|---|---|", "| b | 4 |", row]
    lead = "- item\n\n" if prefix == "  " else "# T\n\n"
    before = lead + "".join(f"{prefix}{line}\n" for line in lines)
    note = basic / "Split.md"
    note.write_text(before, encoding="utf-8")
    warning = f"Line 6 has 3 cells, but its table has 2 columns: {prefix}{row}"
    if "$" in row:
        warning = warning.replace("3 cells", "4 cells")
    hint = f"is written \\|: {prefix}{written}." if written else "or take out what is too much."

    def check(warnings: list[str]) -> None:
        assert len(warnings) == 1
        assert warnings[0].startswith(warning)
        assert warnings[0].endswith(hint)

    check(run(app, "read_note", name="Split")["warnings"])
    check(run(app, "read_note", name="Split", lines="1")["warnings"])
    for operation in (
        {"op": "remove_column", "column": "n"},
        {"op": "remove_column", "column": 2},
        {"op": "move_column", "column": "k", "at": 1},
        {"op": "add_column", "column": "z", "value": "1"},
        {"op": "set", "line": 6, "column": "k", "value": "5"},
        {"op": "set", "row": 2, "column": 1, "value": "5"},
    ):
        for dry_run in (True, False):
            with pytest.raises(InvalidArguments, match=r"Operation 1: Line 6 has .*Nothing was written"):
                run(app, name="Split", operations=[operation], dry_run=dry_run)
        calls = [{"tool": "edit_table", "name": "Split", "operations": [operation]}]
        with pytest.raises(InvalidArguments, match=r"Line 6 has "):
            run(app, "batch", calls=calls)
    assert note.read_text(encoding="utf-8") == before
    answer = run(app, "query", this="Split", language="table")
    assert answer["rows"] == [["b", 4], *([cells] if cells else [])]
    check(answer["warnings"])
    fixed = [{"op": "set", "row": "b", "column": "k", "value": "5"}, {"op": "move_row", "line": 6, "at": 1}]
    edited = run(app, name="Split", operations=fixed)
    moved = lead + "".join(f"{prefix}{line}\n" for line in [*lines[:2], row, "| b | 5 |"])
    assert note.read_text(encoding="utf-8") == moved
    assert edited["warnings"][0].startswith(warning.replace("Line 6", "Line 5"))
    run(app, name="Split", operations=[{"op": "remove_row", "row": 1}, {"op": "remove_column", "column": "n"}])
    assert note.read_text(encoding="utf-8").endswith(f"{prefix}| k |\n{prefix}|---|\n{prefix}| 5 |\n")


@pytest.mark.parametrize("row", ["| [[a\\|A]] | 3 |", "| a | 3 | |", "| a | 3 ||", "| a |", "a | 3", "| \\| | `\\|` |"])
def test_a_row_without_text_behind_the_last_column_is_like_others(app: App, basic: Path, row: str) -> None:
    """TABLE-9"""
    (basic / "Split.md").write_text(f"| n | k |\n|---|---|\n{row}\n", encoding="utf-8")
    assert "warnings" not in run(app, "read_note", name="Split")
    answer = run(app, name="Split", operations=[{"op": "remove_column", "column": "n"}])
    assert ("warnings" in answer, answer["columns"]) == (False, ["k"])


NAMES = "| n | k | K |  | file.name | n |  |\n|---|---|---|---|---|---|---|\n| 1 | 2 | 3 | 4 | 5 | 6 | 7 |\n"


@pytest.mark.parametrize(
    ("name", "numbers"), [("n", "1, 6"), ("N", "1, 6"), ("", "4, 7"), (" ", "4, 7")], ids=["n", "N", "empty", "blank"]
)
def test_a_name_of_several_columns_is_refused_with_their_numbers(
    app: App, basic: Path, name: str, numbers: str
) -> None:
    """TABLE-10"""
    (basic / "Names.md").write_text(NAMES, encoding="utf-8")
    for operation in (
        {"op": "set", "row": 1, "column": name, "value": "x"},
        {"op": "add_row", "values": {name: "x"}},
        {"op": "sort", "column": name},
        {"op": "remove_column", "column": name},
        {"op": "move_column", "column": name, "at": 1},
        {"op": "rename_column", "column": name, "value": "x"},
        {"op": "remove_row", "row": {name: "1"}},
    ):
        with pytest.raises(AmbiguousName, match=f"2 columns .*: {numbers}. Give the number"):
            run(app, name="Names", operations=[operation])
    assert (basic / "Names.md").read_text(encoding="utf-8") == NAMES


def test_columns_of_one_name_are_told_apart_by_letters_and_numbers(app: App, basic: Path) -> None:
    """TABLE-10"""
    (basic / "Names.md").write_text(NAMES, encoding="utf-8")
    names: list[int | str] = [6, "k", "K", "4", "file.name"]
    operations = [{"op": "set", "row": 1, "column": name, "value": f"x{name}"} for name in names]
    run(app, name="Names", operations=operations)
    line = "| 1 | xk | xK | x4 | xfile.name | x6 | 7 |"
    assert (basic / "Names.md").read_text(encoding="utf-8").splitlines()[2] == line
    removed = [{"op": "remove_column", "column": 6}, {"op": "set", "row": 1, "column": "n", "value": "y"}]
    run(app, name="Names", operations=removed)
    assert (basic / "Names.md").read_text(encoding="utf-8").splitlines()[2].startswith("| y | xk |")


PLACES = {
    "quote": ("> text\n>\n", "> ", "> ", "> ", ""),
    "callout": ("> [!note] Title\n", "> ", "> ", "> ", "> after\n"),
    "folded callout": ("> [!note]-\n>\n", "> ", "> ", "> ", ""),
    "nested quote": ("> a\n\n> > [!tip]\n", "> > ", "> > ", "> > ", ""),
    "list item": ("- item\n\n", "  ", "  ", "  ", "- next\n"),
    "marker line": ("", "- ", "  ", "  ", ""),
    "task": ("- [ ] do\n\n", "\t", "\t", "\t", ""),
    "ordered list": ("1. a\n   - b\n\n", "     ", "     ", "     ", ""),
    "list in a quote": ("> - a\n>\n", ">   ", ">   ", ">   ", ""),
    "callout in a list": ("- a\n\n  > [!note]\n", "  > ", "  > ", "  > ", ""),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_table_in_a_callout_a_quote_or_a_list_item_is_changed_like_others(
    app: App, basic: Path, place: tuple[str, str, str, str, str], newline: str
) -> None:
    """TABLE-6"""
    lead, header, delimiters, row, tail = place

    def text(columns: list[str], *rows: str) -> bytes:
        lines = [header + columns[0], delimiters + columns[1], *(row + cells for cells in rows)]
        return (lead + "\n".join(lines) + "\n" + tail).replace("\n", newline).encode()

    note = basic / "Inner.md"
    before = text(["| n | k |", "|---|--:|"], "| b | 2 |", "| a | 1 |")
    note.write_bytes(before)
    answer = run(app, "query", this="Inner", language="table", query="k > 1")
    assert (answer["rows"], answer["lines"]) == ([["b", 2]], [lead.count("\n") + 3])
    operations = [
        {"op": "set", "row": "b", "column": "k", "value": "9"},
        {"op": "add_row", "values": ["c", "0"]},
        {"op": "add_row", "values": ["d", "5"], "at": 1},
        {"op": "sort", "column": "n"},
        {"op": "add_column", "column": "z", "value": "|"},
    ]
    planned = run(app, name="Inner", operations=operations, dry_run=True)
    assert (planned["rows"], planned["line"]) == (4, lead.count("\n") + 1)
    assert note.read_bytes() == before
    run(app, name="Inner", operations=operations)
    rows = ["| a | 1 | \\| |", "| b | 9 | \\| |", "| c | 0 | \\| |", "| d | 5 | \\| |"]
    assert note.read_bytes() == text(["| n | k | z |", "|---|--:| --- |"], *rows)
    run(app, "undo")
    assert note.read_bytes() == before
    run(app, name="Inner", operations=[{"op": "remove_row", "row": 1}, {"op": "remove_row", "row": "a"}])
    assert note.read_bytes() == text(["| n | k |", "|---|--:|"])
    run(app, name="Inner", operations=[{"op": "add_row", "values": {"k": 7}}])
    assert note.read_bytes() == text(["| n | k |", "|---|--:|"], "|   | 7 |")
