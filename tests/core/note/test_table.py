"""Tables in notes: what is asked changes, every other cell keeps its bytes (TABLE-1 to TABLE-7 in specs/edits.md)."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from obsidian_mcp.core.note import table
from obsidian_mcp.core.note.table import Table, read_row
from obsidian_mcp.core.note.table_edit import TableEdit
from obsidian_mcp.errors import AmbiguousName, InvalidArguments, TextNotFound

NOTE = "# T\n\n| Part  | mm |\n| :---- | -: |\n| wheel | 42 |\n|  [[A\\|b]]|7 |\n| wheel |\n\nafter\n"


def edited(change: str, *arguments: object, body: str = NOTE, **named: object) -> str:
    located = table.locate(body)
    return table.write_table(body, located, changed(located.table, change, *arguments, **named))


def changed(before: Table, change: str, *arguments: object, **named: object) -> Table:
    """Return a table after one operation."""
    editing = TableEdit(before)
    getattr(editing, change)(*arguments, **named)
    return editing.table


def lines(change: str, *arguments: object) -> list[str]:
    return edited(change, *arguments).split("\n")[2:-3]


def test_a_table_that_is_not_changed_keeps_every_byte() -> None:
    """TABLE-1"""
    located = table.locate(NOTE)
    assert table.write_table(NOTE, located, located.table) == NOTE
    assert located.table.columns == ["Part", "mm"]
    assert located.line == 3


@pytest.mark.parametrize(
    ("arguments", "at", "line"),
    [
        ((1, "mm", "7"), 2, "| wheel |  7 |"),
        ((1, "mm", "12345"), 2, "| wheel | 12345 |"),
        ((2, "Part", "x|y"), 3, "|  x\\|y    |7 |"),
        ((2, 2, "8"), 3, "|  [[A\\|b]]|8 |"),
        ((3, "MM", "new"), 4, "| wheel | new |"),
        (("3", "part", "x"), 4, "| x     |"),
        ((2, "2", "8"), 3, "|  [[A\\|b]]|8 |"),
        (("[[A|b]]", "mm", "two\nlines"), 3, "|  [[A\\|b]]|two<br>lines |"),
        ((1, 1, "wheel"), 2, "| wheel | 42 |"),
    ],
)
def test_one_cell_changes_and_keeps_its_width_where_it_can(arguments: tuple[object, ...], at: int, line: str) -> None:
    """TABLE-1, TABLE-2"""
    before = NOTE.split("\n")[2:-3]
    after = lines("set_cell", *arguments)
    assert after[at].rstrip() == line.rstrip()
    assert after[:at] + after[at + 1 :] == before[:at] + before[at + 1 :]


def test_a_backslash_at_the_end_of_a_value_does_not_join_two_cells() -> None:
    """TABLE-2"""
    body = "|a|b|\n|-|-|\n|1|2|\n|3|\n"
    for row in (1, 2):
        for value in ("\\", "c\\", "\\\\"):
            after = table.locate(edited("set_cell", row, 1, value, body=body)).table
            assert [table.show_cell(cell) for cell in after.rows[row - 1].cells][:1] == [value]
            assert len(after.rows[row - 1].cells) == 3 - row


@pytest.mark.parametrize(("column", "line"), [(1, "|  | b | c"), (3, "a | b |  |"), (2, "a |   | c")])
def test_an_emptied_cell_at_an_end_without_pipe_moves_no_other(column: int, line: str) -> None:
    """TABLE-1"""
    body = "x | y | z\n--- | --- | ---\na | b | c\n"
    after = edited("set_cell", 1, column, "", body=body)
    assert after == body.replace("a | b | c", line)
    assert [table.show_cell(cell) for cell in table.locate(after).table.rows[0].cells].index("") == column - 1


def test_rows_are_added_moved_and_removed() -> None:
    """TABLE-3"""
    assert lines("add_row", ["gear", "3"])[-1] == "| gear  | 3  |"
    assert lines("add_row", {"mm": "3"}, 1)[2] == "|       | 3  |"
    assert lines("remove_row", "[[A|b]]")[3] == "| wheel |"
    assert lines("move_row", 3, 1)[2:] == ["| wheel |", "| wheel | 42 |", "|  [[A\\|b]]|7 |"]


def test_columns_are_added_moved_renamed_and_removed() -> None:
    """TABLE-4"""
    assert lines("add_column", "note", "x", 2, "center") == [
        "| Part  | note | mm |",
        "| :---- | :---: | -: |",
        "| wheel | x | 42 |",
        "|  [[A\\|b]]| x |7 |",
        "| wheel | x |",
    ]
    assert lines("remove_column", "Part")[:4] == ["| mm |", "| -: |", "| 42 |", "|7 |"]
    assert lines("move_column", "mm", 1)[:3] == ["| mm | Part  |", "| -: | :---- |", "| 42 | wheel |"]
    assert lines("rename_column", 1, "Piece")[0] == "| Piece | mm |"


def test_a_table_without_outer_pipes_stays_without_them() -> None:
    """TABLE-1"""
    body = "a | b\n--- | ---\n1 | 2"
    assert edited("set_cell", 1, "b", "3", body=body) == "a | b\n--- | ---\n1 | 3"
    assert edited("add_row", ["4", "5"], body=body).split("\n")[3].split() == ["4", "|", "5"]
    assert edited("add_column", "c", "x", body=body) == "a | b | c\n--- | --- | ---\n1 | 2 | x"


def test_rows_are_sorted_by_number_and_by_text_with_empty_cells_last() -> None:
    """TABLE-5"""
    rows = ["10", "9,5", "", "C", "1.234,5", "b", "A", "1,000", "-1", "1.2.3"]
    ordered = ["-1", "9,5", "10", "1,000", "1.234,5", "1.2.3", "A", "b", "C"]
    body = "| k |\n| - |\n" + "\n".join(f"| {row} |" for row in rows)
    assert edited("sort", "k", body=body).split("\n")[2:] == [f"| {k} |" for k in [*ordered, ""]]
    down = edited("sort", "k", body=body, descending=True).split("\n")[2:]
    assert down == [f"| {k} |" for k in [*reversed(ordered), ""]]
    short = "| a | k |\n| - | - |\n| x |\n| y | 2 |\n| z | 1 |"
    assert edited("sort", "K", body=short).split("\n")[2:] == ["| z | 1 |", "| y | 2 |", "| x |"]


def test_line_ends_and_a_missing_last_one_stay() -> None:
    """TABLE-1"""
    body = "x\r\n\r\n| a |\r\n| - |\r\n| 1 |"
    assert edited("add_row", ["2"], body=body) == "x\r\n\r\n| a |\r\n| - |\r\n| 1 |\r\n| 2 |"
    assert edited("remove_row", 1, body=body) == "x\r\n\r\n| a |\r\n| - |"
    mixed = "| a |\n| - |\r\n| 1 |\n| 2 |\r\nx"
    assert edited("set_cell", 1, 1, "3", body=mixed) == mixed.replace("1", "3")


def test_a_table_is_chosen_by_heading_or_number() -> None:
    """TABLE-6"""
    body = "| a |\n| - |\n\n# H\n| b |\n| - |\n\n```\n| no |\n| - |\n```\n\n> | quoted |\n> | - |\n"
    assert table.locate(body, 1, section="H").table.columns == ["b"]
    assert table.locate(body, 2).line == 5
    with pytest.raises(AmbiguousName, match="1: line 1, a; 2: line 5, b; 3: line 13, quoted"):
        table.locate(body)
    assert table.locate(body, 3).table.columns == ["quoted"]
    for number, heading in ((4, ""), (3, "H")):
        with pytest.raises(TextNotFound):
            table.locate(body, number, heading)
    with pytest.raises(TextNotFound, match="no table"):
        table.locate("text")


@pytest.mark.parametrize(
    ("change", "arguments"),
    [
        ("set_cell", (9, 1, "x")),
        ("set_cell", (1, "none", "x")),
        ("set_cell", ("nobody", 1, "x")),
        ("add_row", (["1", "2", "3"],)),
        ("add_row", (["1"], 9)),
        ("move_column", (1, 3)),
        ("remove_column", (0,)),
    ],
)
def test_what_is_not_there_is_an_error(change: str, arguments: tuple[object, ...]) -> None:
    """TABLE-7"""
    with pytest.raises(InvalidArguments):
        edited(change, *arguments)


def test_rows_of_the_same_beginning_are_named_by_number() -> None:
    """TABLE-7"""
    with pytest.raises(AmbiguousName, match="1, 3"):
        edited("set_cell", "wheel", 2, "x")


CELL = st.text(alphabet="ab1 \\|`é漢-:", max_size=6).filter(lambda text: not text.endswith("\\"))


@given(st.text(alphabet="a |\\:-\t", max_size=20))
def test_a_row_joined_again_is_the_line(line: str) -> None:
    """TABLE-1"""
    assert read_row(line).line == line


@given(
    st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELL, min_size=n, max_size=n), min_size=2, max_size=5)),
    st.sampled_from(["\n", "\r\n"]),
    CELL,
)
def test_no_other_cell_changes(cells: list[list[str]], newline: str, value: str) -> None:
    """TABLE-1"""
    safe = [[cell.replace("|", "\\|") if "\\" not in cell else cell.replace("|", "") for cell in row] for row in cells]
    header = [f"h{n}" for n in range(len(safe[0]))]
    rows = [header, ["---"] * len(header), *safe]
    body = newline.join(["intro", "", *("|" + "|".join(row) + "|" for row in rows), "", "end"])
    located = table.locate(body)
    after = table.write_table(body, located, changed(located.table, "set_cell", 1, 1, value))
    was, now = body.split(newline), after.split(newline)
    assert [line for at, line in enumerate(now) if at != 4] == [line for at, line in enumerate(was) if at != 4]
    assert read_row(now[4]).cells[1:] == read_row(was[4]).cells[1:]
    plain = value.strip()
    if "\\" not in plain:
        assert table.show_cell(read_row(now[4]).cells[0]) == plain


@given(
    st.lists(
        st.lists(st.sampled_from(["a", " b ", "  c", "d   ", ""]), min_size=2, max_size=3), min_size=2, max_size=4
    ),
    st.lists(st.sampled_from(["", "|", "| ", "|\t"]), min_size=4, max_size=4),
    st.sampled_from([["|"], ["", "|  ", "|"]]),
)
def test_rows_keep_their_spacing_when_another_one_changes(
    cells: list[list[str]], leads: list[str], tails: list[str]
) -> None:
    """TABLE-1: cells that are too few, and white space at the ends, stay as they are."""
    rows = [f"{leads[n] or '|'}{'|'.join(row)}{tails[n % len(tails)] or '|'}" for n, row in enumerate(cells)]
    body = "\n".join(["| h | i |", "|---|:-:|  ", *rows, "", "end"])
    located = table.locate(body)
    assume(not located.table.rows[0].is_overlong(2))
    was = body.split("\n")
    now = table.write_table(body, located, changed(located.table, "set_cell", 1, 1, "new")).split("\n")
    assert [line for at, line in enumerate(now) if at != 2] == [line for at, line in enumerate(was) if at != 2]
    with_row = table.write_table(body, located, changed(located.table, "add_row", ["x", "y"])).split("\n")
    assert [line for at, line in enumerate(with_row) if at != 2 + len(rows)] == was
    backwards = changed(located.table, "move_row", 1, len(rows)).lines
    assert [*backwards][2:] == [*rows[1:], rows[0]]


@pytest.mark.parametrize(
    "body", ["a | b\n--|--\n1 | 2\n", "|a|b\n|--|--\n|1|2\n", "a|b|\n--|--|\n1|2|\n", "|a|b|\n|-|-|\n|1|\n"]
)
def test_the_last_column_but_one_goes_and_a_table_stays(body: str) -> None:
    """TABLE-4"""
    for column, left in ("a", "b"), ("b", "a"):
        after = table.locate(edited("remove_column", column, body=body)).table
        assert after.columns == [left]
        assert len(after.rows) == 1
        with pytest.raises(InvalidArguments, match="last column"):
            changed(after, "remove_column", 1)


def test_a_row_of_one_cell_does_not_end_the_table() -> None:
    """TABLE-1"""
    body = "a | b | c\n--|--|--\nx |\ny | z\n1 | 2 | 3\n"
    for change, arguments in (
        ("set_cell", (1, 1, "")),
        ("remove_column", ("a",)),
        ("remove_column", ("b",)),
    ):
        assert len(table.locate(edited(change, *arguments, body=body)).table.rows) == 3


@pytest.mark.parametrize(("line", "columns"), [(1, ["A"]), (3, ["A"]), (5, ["B"]), (7, ["B"]), (9, ["C"]), (10, ["C"])])
def test_a_table_is_named_by_any_of_its_lines(line: int, columns: list[str]) -> None:
    """TABLE-1: by its header, the line below that, or a row, and not by the lines around it"""
    body = "| A |\n| - |\n| 1 |\n\n| B |\n| - |\n| 2 |\n\n| C |\n| - |\n"
    assert table.locate(body, line=line).table.columns == columns

    for between in (4, 8, 11):
        with pytest.raises(AmbiguousName):
            table.locate(body, line=between)
