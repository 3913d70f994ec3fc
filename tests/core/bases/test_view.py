"""Views over a small vault (specs/bases.md)."""

from __future__ import annotations

import pytest

from obsidian_mcp.errors import QueryInvalid
from tests.core.expressions.text_vault import TextVault

from .bases_runner import names, run, value_of, view_of


def test_rows_are_files_of_every_kind_by_name() -> None:
    """BASE-70, BASE-72"""
    answer = run(view_of(order=["file.name", "file.folder"]))
    assert answer.rows == [["A", "/"], ["B", "f"], ["C", "f/g"], ["d.png", "/"]]
    assert answer.total == 4


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("price > 5", ["A"]),
        ({"not": ["price > 5", "done"]}, ["C", "d.png"]),
        ("!done", []),
        ({"not": ["done"]}, ["A", "C", "d.png"]),
        ('file.inFolder("f")', ["B", "C"]),
        ('file.inFolder("/")', ["A", "B", "C", "d.png"]),
        ('file.hasTag("book")', ["A"]),
        ('file.hasTag("#Book")', ["A"]),
        ('file.hasTag("boo")', []),
        ('file.hasLink("A")', ["C"]),
        ('up == file("B")', ["A"]),
        ('up == link("f/B.md#x")', ["A"]),
        ({"and": ['file.ext == "md"', {"or": ["done", "price > 5"]}]}, ["A", "B"]),
        ({"or": []}, ["A", "B", "C", "d.png"]),
        ('file.hasProperty("QTY")', ["A"]),
        ("PRICE > 5", ["A"]),
    ],
)
def test_a_filter_lists_the_files_for_which_it_is_true(filters: object, expected: list[str]) -> None:
    """BASE-02, BASE-16, BASE-21, BASE-62 to BASE-64, BASE-71"""
    answer = run(view_of(filters=filters))
    assert names(answer) == expected
    assert answer.warnings == []


def test_filters_of_the_base_and_of_the_view_must_both_hold() -> None:
    """BASE-71"""
    base = view_of(filters="price > 1")
    base["views"][0]["filters"] = "done"
    assert names(run(base)) == ["B"]


def test_null_is_last_in_both_directions() -> None:
    """BASE-36, BASE-72"""
    md = 'price.isEmpty() || price.isType("number")'
    ascending = view_of(filters=md, sort=[{"property": "price", "direction": "ASC"}])
    descending = view_of(filters=md, sort=[{"column": "note.price", "direction": "DESC"}])
    assert names(run(ascending)) == ["B", "A", "d.png"]
    assert names(run(descending)) == ["A", "B", "d.png"]


def test_the_limit_comes_before_the_groups_and_the_summaries() -> None:
    """BASE-73 to BASE-75"""
    grouped = view_of(
        sort=[{"property": "file.name", "direction": "ASC"}],
        limit=2,
        groupBy={"property": "done", "direction": "ASC"},
        summaries={"price": "Sum"},
    )
    answer = run(grouped)
    assert names(answer) == ["B", "A"]
    assert answer.groups is not None
    assert [(group.key, group.count, group.summaries) for group in answer.groups] == [
        (True, 1, {"note.price": {"Sum": 2.5}}),
        (None, 1, {"note.price": {"Sum": 10}}),
    ]
    assert answer.summaries == {"note.price": {"Sum": 12.5}}


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("Sum", 12.5),
        ("Average", 6.25),
        ("Min", 2.5),
        ("Max", 10),
        ("Median", 6.25),
        ("Stddev", 3.75),
        ("Range", 7.5),
        ("Empty", 1),
        ("Filled", 3),
        ("Unique", 3),
        ("Checked", 0),
        ("values.length * 2", 8),
    ],
)
def test_a_summary_counts_the_values_of_the_rows_shown(summary: str, expected: float) -> None:
    """BASE-75 to BASE-77"""
    name = "own" if "." in summary else summary
    base = view_of(order=["price"], summaries={"price": name}) | {"summaries": {"own": "values.length * 2"}}
    assert run(base).summaries == {"note.price": {name: expected}}


def test_an_unknown_summary_is_null_with_a_warning() -> None:
    """BASE-77"""
    answer = run(view_of(order=["price"], summaries={"price": "Mode"}))
    assert answer.summaries == {"note.price": {"Mode": None}}
    assert "Mode" in answer.warnings[0]


def test_the_keys_of_groups_count_each_for_itself() -> None:
    """BASE-74, EXPR-60"""
    vault = TextVault({f"n{number}.md": f"---\nlong: {number}{'y' * 300_000}\n---\n" for number in range(5)})
    answer = run(view_of(groupBy="long"), vault=vault)
    assert [len(group.key) for group in answer.groups or ()] == [300_001] * 5


def test_links_to_one_file_are_one_group_and_a_list_is_one_value() -> None:
    """BASE-37, BASE-74"""
    vault = TextVault(
        {
            "1.md": '---\nup: "[[T]]"\n---\n',
            "2.md": '---\nup: "[[x/T|Other]]"\n---\n',
            "3.md": '---\nup: ["[[T]]"]\n---\n',
            "x/T.md": "",
        }
    )
    answer = run(view_of(groupBy={"property": "up", "direction": "ASC"}), vault=vault)
    assert answer.groups is not None
    assert [(group.key, group.count) for group in answer.groups] == [(["[[T]]"], 1), ("[[T]]", 2), (None, 1)]


def test_a_circle_of_formulas_is_an_error_in_each_cell() -> None:
    """BASE-18"""
    answer = run(view_of(formulas={"x": "formula.y", "y": "formula.x"}, order=["formula.x", "formula.y"], limit=1))
    assert answer.rows == [[{"error": "Infinite loop detected in formula"}] * 2]


def test_a_formula_has_one_value_in_filter_and_column() -> None:
    """BASE-17"""
    vault = TextVault({f"{number}.md": "" for number in range(200)})
    answer = run(view_of(formulas={"r": "random()"}, filters="formula.r < 0.5", order=["formula.r"]), vault=vault)
    assert 0 < answer.total < 200
    assert all(row[0] < 0.5 for row in answer.rows)


def test_a_formula_that_does_not_parse_is_null_with_one_warning_and_others_go_on() -> None:
    """BASE-15"""
    answer = run(view_of(formulas={"bad": "+price"}, order=["formula.bad", "price"]))
    assert answer.rows[0] == [None, 10]
    [warning] = answer.warnings
    assert warning == (
        'Formula "bad": Unable to parse formula. (position 0) line 1, column 22: "+" cannot stand here. '
        "Expected a value. A plus sign stands only between two values."
    )


def test_a_filter_that_does_not_parse_fails_for_every_file_and_names_its_place_in_the_base() -> None:
    """BASE-15"""
    answer = run("views:\n- type: table\n  name: V\n  filters:\n    or:\n      - price == 10\n      - a = 1\n")
    assert names(answer) == ["A"]
    [warning] = answer.warnings
    assert warning == (
        'Failed to evaluate a filter: "a = 1" does not parse: line 7, column 11: "=" cannot stand here. '
        "Expected an operator or the end. Write == to compare. (3 files left out)"
    )


def test_a_filter_that_fails_leaves_the_file_out_and_warns_once() -> None:
    """BASE-71"""
    answer = run(view_of(filters="s.foo()"))
    assert answer.rows == []
    assert answer.warnings == [
        'Failed to evaluate a filter: Cannot find function "foo" on type String (1 file left out)'
    ]


def test_any_type_of_view_has_the_rows_and_columns_of_a_table() -> None:
    """BASE-05"""
    base = view_of(order=["file.name"])
    table = run(base)
    base["views"][0]["type"] = "gallery"
    assert run(base).rows == table.rows


def test_labels_are_the_display_names_else_those_of_the_app() -> None:
    """BASE-07, BASE-08"""
    properties = {"note.price": {"displayName": "Cost"}, "s": {"displayName": "Text"}, "file.ext": {}}
    order = ["price", "note.s", "file.ext", "file.mtime", "formula.no", "qty", "file.nothing"]
    answer = run(view_of(properties=properties, order=order))
    assert [(column.id, column.name) for column in answer.columns] == [
        ("note.price", "Cost"),
        ("note.s", "Text"),
        ("file.ext", "file extension"),
        ("file.mtime", "modified time"),
        ("formula.no", "no"),
        ("note.qty", "qty"),
        ("file.nothing", "nothing"),
    ]
    assert answer.rows[0][4:] == [None, 3, None]


def test_a_view_without_order_shows_the_file_name_and_an_empty_base_is_one_table() -> None:
    """BASE-01, BASE-04"""
    answer = run("")
    assert [column.id for column in answer.columns] == ["file.name"]
    assert answer.total == 4


def test_this_is_the_file_with_its_properties() -> None:
    """BASE-19"""
    assert value_of("list(this.file).contains(file)", this="A.md") is True
    assert value_of("this.price + this.qty", row="f/B.md", this="A.md") == 13
    assert value_of("this == file", this="A.md") is True
    assert names(run(view_of(filters="file.hasLink(this)"), this="A.md")) == ["C"]


def test_this_without_a_note_is_null_with_a_warning() -> None:
    """BASE-19"""
    answer = run(view_of(filters="file.hasLink(this)"))
    assert answer.rows == []
    assert "`this` is null" in answer.warnings[0]


def test_an_unknown_view_is_refused_with_the_views_there_are() -> None:
    """BASE-06"""
    with pytest.raises(QueryInvalid, match=r'View "W" not found\. The base has these views: V') as refusal:
        run(view_of(), view="W")
    assert refusal.value.data["candidates"] == ["V"]


def test_keys_of_properties_may_hold_dots_and_spaces() -> None:
    """BASE-07, BASE-16"""
    vault = TextVault({"n.md": "---\ntask.status: a\nspace key: b\n---\n"})
    base = view_of(
        order=["note.task.status", "note.space key", "formula.my sum"],
        formulas={"my sum": 'note["space key"] + formula["other one"]', "other one": '"!"'},
    )
    assert run(base, vault=vault).rows == [["a", "b", "b!"]]
