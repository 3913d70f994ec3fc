"""Whole queries on a small vault, rule by rule (specs/dataview.md)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.note.query_blocks import JAVASCRIPT_REFUSED, is_dataview, remove_fence
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.errors import OperationTimeout, QueryInvalid

from .note_vault import NoteVault

VAULT = NoteVault(
    {
        "a/one.md": "---\ntags: [x]\nn: 3\nkind: p\n---\n- [ ] t1\n  - [x] t2\n    - plain\n- [ ] t3 [n:: 7]\n",
        "a/two.md": "---\ntags: [x/y]\nn: 1\nkind: q\n---\n[[one]] ![[three]]\n",
        "b/three.md": '---\nn: text\nkind: p\nday: 2024-01-02\nup: "[[two]]"\n---\n[[Nowhere]]\n',
        "b/four.md": "list:: 1, 2\n\nday:: 2024-01-01\n",
        "data.csv": "Name,The Score,ok\nAnn,5,true\n# comment\nBo,,false\n",
        "a/near.csv": "x\n1\n",
    }
)


def names(query: str, **options: Any) -> list[str]:
    return [row[0].rpartition("|")[2].removesuffix("]]") for row in VAULT.rows(query, **options)]


@pytest.mark.parametrize(
    ("rule", "query", "found"),
    [
        ("DV-46", 'LIST FROM "a"', ["one", "two"]),
        ("DV-46", 'LIST FROM "A"', []),
        ("DV-46", 'LIST FROM "b/three"', ["three"]),
        ("DV-46", 'LIST FROM "/"', ["one", "two", "four", "three"]),
        ("DV-47", "LIST FROM #X", ["one", "two"]),
        ("DV-47", "LIST FROM #x/y", ["two"]),
        ("DV-47", "LIST FROM [[one]]", ["two"]),
        ("DV-47", "LIST FROM [[Nowhere]]", ["three"]),
        ("DV-47", "LIST FROM outgoing([[two]])", ["one", "three"]),
        ("DV-48", "LIST", ["one", "two", "four", "three"]),
        ("DV-48", 'LIST FROM #x AND ("a/two" OR "a")', ["two", "one"]),
        ("DV-47", 'LIST FROM -"a" AND !#x', ["four", "three"]),
        ("DV-42", "LIST WHERE n SORT kind, n DESC", ["three", "one", "two"]),
        ("DV-42", 'LIST FROM "" LIMIT 2 SORT n', ["two", "one"]),
        ("DV-42", "LIST FROM \"\" LIMIT 0 - 3", ["one"]),
        ("DV-40", '// x\nlist // y\nfrom "b" // z\n// w\nwhere kind', ["three"]),
    ],
)  # fmt: skip
def test_a_query_finds_its_notes(rule: str, query: str, found: list[str]) -> None:
    assert names(query) == found, rule


def test_a_property_called_position_is_no_field() -> None:
    """DV-12: the app keeps the place of the frontmatter under that name, and so the plugin drops it."""
    vault = NoteVault(
        {
            "a.md": "---\nposition: 7\nother: 1\n---\n",
            "b.md": "---\nposition: 7\n---\nposition:: inline\n",
            "c.md": "---\nposition: 7\nPosition: 9\n---\n",
        }
    )

    assert vault.rows('TABLE WITHOUT ID position, row.position, row["position"], file.frontmatter.position') == [
        [None, None, None, None],
        ["inline", "inline", "inline", None],
        [9, 9, 9, None],
    ]
    assert vault.rows("TABLE WITHOUT ID file.name WHERE position") == [["b"], ["c"]]
    assert vault.rows("TABLE WITHOUT ID [[a]].position, [[b]].position")[0] == [None, "inline"]


def test_a_path_that_is_no_note_or_folder_is_warned_of() -> None:
    """DV-46"""
    for path in ("A", "a/", "b/Three"):
        [warning] = VAULT.run(f'LIST FROM "{path}" OR "b"').warnings
        assert warning.startswith(f'FROM "{path}" finds nothing: ')
    assert not VAULT.run('LIST FROM "" AND "b/three" AND -"a"').warnings


def test_columns_have_the_text_and_the_name_of_their_expression() -> None:
    """DV-20, DV-41"""
    found = VAULT.run('TABLE n AS "N n", length(\n  file.tasks\n) FROM "a"')
    assert [(column.id, column.name) for column in found.columns] == [
        ("id", "File"),
        ("n", "N n"),
        ("length(file.tasks)", "length(file.tasks)"),
    ]
    assert found.rows == [["[[a/one.md|one]]", 3, 3], ["[[a/two.md|two]]", 1, 0]]
    assert VAULT.rows('TABLE WITHOUT ID n FROM "a"') == [[3], [1]]
    assert VAULT.rows('LIST WITHOUT ID n FROM "a"') == [[3], [1]]
    assert VAULT.rows('LIST WITHOUT ID FROM "a"') == [["[[a/one.md|one]]"], ["[[a/two.md|two]]"]]


def test_groups_have_a_key_a_name_and_rows() -> None:
    """DV-21, DV-43"""
    found = VAULT.run('TABLE rows.file.name AS N, kind, n FROM #x OR "b" GROUP BY kind')
    assert [column.name for column in found.columns] == ["kind", "N", "kind", "n"]
    assert found.rows == [[None, ["four"], None, None], ["p", ["one", "three"], "p", None], ["q", ["two"], "q", None]]
    assert VAULT.rows("LIST length(rows) GROUP BY kind AS K WHERE K SORT K DESC") == [["q", 1], ["p", 2]]


def test_flatten_lays_the_element_over_the_row() -> None:
    """DV-44"""
    assert VAULT.rows('LIST list FROM "b/four" FLATTEN list') == [["[[b/four.md|four]]", 1], ["[[b/four.md|four]]", 2]]
    assert VAULT.rows('LIST WITHOUT ID T.text FROM "a" FLATTEN file.tasks AS T') == [["t1"], ["t2"], ["t3 [n:: 7]"]]
    assert VAULT.rows('LIST FROM "a" FLATTEN []') == []


def test_rows_of_groups_are_shown_with_their_fields() -> None:
    """DV-22: a page is its own fields and the link to its note; an item has its parts."""
    assert VAULT.rows('LIST rows FROM "b/four" GROUP BY 1') == [
        [1, [{"list": [1, 2], "day": "2024-01-01", "file": "[[b/four.md|four]]"}]]
    ]
    assert VAULT.rows('LIST file FROM "b/four"') == [["[[b/four.md|four]]", "[[b/four.md|four]]"]]
    assert VAULT.rows('LIST WITHOUT ID file.lists FROM "a/one"')[0][0][1] == {
        "task": True, "status": "x", "text": "t2", "path": "a/one.md", "line": 6,
        "children": [{"task": False, "text": "plain", "path": "a/one.md", "line": 7}],
    }  # fmt: skip


def test_rows_with_errors_are_left_out_or_say_so() -> None:
    """DV-23: outside of columns they are left out; warnings count them."""
    found = VAULT.run("LIST n * 2 WHERE n")
    assert found.rows[2] == ["[[b/three.md|three]]", "texttext"]
    found = VAULT.run("LIST WHERE n - 1 >= 0")
    assert [row[0] for row in found.rows] == ["[[a/one.md|one]]", "[[a/two.md|two]]"]
    assert found.warnings == ["WHERE left out 2 rows with an error; first: No implementation found for 'null - number'"]
    found = VAULT.run("LIST n - 1 WHERE n")
    assert found.rows[2][1] == {"error": "No implementation found for 'string - number'"}
    assert found.warnings == [
        "1 of the rows shown have an error in a cell; first: No implementation found for 'string - number'"
    ]


@pytest.mark.parametrize(
    "query",
    ["LIST WHERE file.name - 1", "LIST file.name - 1", "LIST LIMIT \"2\"", "LIST WHERE n FROM \"a\"",
     "CALENDAR file.name - 1", "LIST GROUP BY file.name - 1"],
)  # fmt: skip
def test_a_query_fails_where_every_row_fails(query: str) -> None:
    """DV-24, DV-40, DV-42"""
    with pytest.raises(QueryInvalid):
        VAULT.run(query)


def test_tasks_come_with_everything_below_them() -> None:
    """DV-25"""
    found = VAULT.run("TASK WHERE !completed")
    assert [column.id for column in found.columns] == ["status", "text", "ref", "depth", "match", "section", "fields"]
    file = "[[a/one.md|one]]"
    assert found.rows == [
        [" ", "t1", "a/one.md:6", 0, True, file, {}],
        ["x", "t2", "a/one.md:7", 1, False, file, {}],
        [None, "plain", "a/one.md:8", 2, False, file, {}],
        [" ", "t3 [n:: 7]", "a/one.md:9", 0, True, file, {"n": 7}],
    ]
    assert [row[1:5] for row in VAULT.rows("TASK WHERE completed")] == [
        ["t2", "a/one.md:7", 0, True],
        ["plain", "a/one.md:8", 1, False],
    ]
    assert [row[1] for row in VAULT.rows("TASK WHERE n = 3 AND !parent")] == ["t1", "t2", "plain"]


def test_tasks_are_grouped() -> None:
    """DV-26"""
    found = VAULT.run("TASK GROUP BY completed GROUP BY length(rows) AS L", page=Page(1))
    assert found.data()["groups"] == [
        {"key": 1, "count": 2, "groups": [{"key": True, "count": 2}]},
        {"key": 2, "count": 4, "groups": [{"key": False, "count": 4}]},
    ]
    assert (len(found.rows), found.total) == (1, 6)


LONG = NoteVault(
    {
        **{f"n{number}.md": f"---\nlong: {number}{'y' * 300_000}\n---\n- [ ] t\n" for number in range(5)},
        "whole.md": f"---\ndeep: {'[' * 45}{']' * 45}\n---\n- [ ] {'x' * 1_000_001}\n- [ ] short [k:: v]\n",
        "days.csv": "day,file\n2024-01-01,text\n2024-01-02,\n",
    }
)
"""Values of which one fits into an answer, but not all together, and some that do not fit."""


def test_a_task_that_is_too_long_keeps_no_other_from_the_answer() -> None:
    """DV-22, DV-29"""
    rows = LONG.rows('TASK FROM "whole"')
    error = {"error": "The expression builds more than 1,000,000 characters for one row and was stopped."}
    assert [(row[1], row[2], row[5], row[6]) for row in rows] == [
        (error, "whole.md:4", "[[whole.md|whole]]", {}),
        ("short [k:: v]", "whole.md:5", "[[whole.md|whole]]", {"k": "v"}),
    ]


def test_the_keys_of_groups_of_tasks_count_each_for_itself() -> None:
    """DV-26, DV-29"""
    groups = LONG.run("TASK WHERE long GROUP BY long").data()["groups"]
    assert [len(group["key"]) for group in groups] == [300_001] * 5


def test_the_key_of_a_group_of_tasks_that_is_nested_too_deep_says_so() -> None:
    """DV-26"""
    groups = LONG.run("TASK WHERE deep GROUP BY deep").data()["groups"]
    assert groups == [{"key": {"error": "The value is nested more than 40 deep."}, "count": 2}]


def test_a_limit_that_cannot_be_shown_is_refused() -> None:
    """DV-42"""
    with pytest.raises(QueryInvalid, match="'limit' statement: The value is nested more than 40 deep"):
        LONG.run("LIST LIMIT this.deep", this="whole.md")


def test_the_links_of_a_calendar_count_each_for_itself() -> None:
    """DV-27, DV-29"""
    vault = NoteVault({f"{'y' * 200_000}{number}.md": "day:: 2024-01-01\n" for number in range(5)})
    assert [len(link) > 400_000 for _, link in vault.rows("CALENDAR day")] == [True] * 5


def test_a_row_of_a_calendar_whose_file_is_no_file_says_so() -> None:
    """DV-27"""
    rows = LONG.rows('CALENDAR day FROM csv("days.csv")')
    error = {"error": "string indexing requires a numeric index (string[index])"}
    assert rows == [["2024-01-01", error], ["2024-01-02", None]]


def test_a_calendar_has_dates_and_links() -> None:
    """DV-27"""
    found = VAULT.run("CALENDAR day")
    assert [(column.id, column.name) for column in found.columns] == [("date", "day"), ("link", "File")]
    assert found.rows == [["2024-01-01", "[[b/four.md|four]]"], ["2024-01-02", "[[b/three.md|three]]"]]
    assert found.warnings == ["CALENDAR: 2 of 4 rows have no date: left out."]


def test_pages_of_an_answer_are_cut_after_the_query() -> None:
    """DV-28"""
    found = VAULT.run("LIST SORT file.name LIMIT 3".replace("LIST", 'LIST FROM ""'), page=Page(1, 1))
    assert (found.rows, found.total) == ([["[[a/one.md|one]]"]], 3)


def test_the_columns_of_a_csv_file_are_told_from_several_lines() -> None:
    """DV-49"""
    vault = NoteVault(
        {"a.csv": "one,text\n1;a,b\n2;c,d\n", "b.csv": "a;b\n1;x, y, z\n2;u\n", "c.csv": "n\n9007199254740993\n"}
    )
    assert vault.rows('TABLE one, text FROM csv("a.csv")')[1][1:] == ["2;c", "d"]
    assert vault.rows('TABLE a, b FROM csv("b.csv")') == [["b.csv#0", 1, "x, y, z"], ["b.csv#1", 2, "u"]]
    assert vault.rows('LIST n FROM csv("c.csv")') == [["c.csv#0", "9007199254740993"]]


def test_csv_files_are_rows() -> None:
    """DV-49, DV-21: beside the note first, then from the root; raw and canonical column names."""
    found = VAULT.run('TABLE the-score, row["The Score"], ok FROM csv("data.csv")')
    assert found.rows == [["data.csv#0", 5, 5, True], ["data.csv#1", None, None, False]]
    assert VAULT.rows('LIST x FROM csv("near.csv")', this="a/one.md") == [["a/near.csv#0", 1]]
    for path in ("missing.csv", "https://x.org/a.csv"):
        with pytest.raises(QueryInvalid):
            VAULT.run(f'LIST FROM csv("{path}")')


def test_this_is_the_note_of_the_query() -> None:
    """DV-02"""
    assert names("LIST WHERE file.link = this.file.link", this="a/two.md") == ["two"]
    assert names("LIST FROM [[]]", this="a/one.md") == ["two"]
    assert VAULT.rows("= this.n + 1", this="a/one.md") == [[4]]
    assert VAULT.rows("= this") == [[{}]]


@pytest.mark.parametrize(
    "text",
    ["LIST", "  table n", "// c\ntask", "```dataview\nLIST\n```", "~~~ dataview\ncalendar day\n~~~",
     "> [!note] \n> ```dataview\n> LIST\n> ```".replace("> [!note] \n", ""), "> > LIST"],
)  # fmt: skip
def test_a_query_is_known_in_every_form(text: str) -> None:
    """DV-01"""
    assert is_dataview(remove_fence(text)[1])
    assert VAULT.run(text).kind in {"list", "table", "task", "calendar"}


@pytest.mark.parametrize("text", ["views: []", "listing", "a = 1", "dataview\nLIST", ""])
def test_other_text_is_no_query(text: str) -> None:
    """DV-01"""
    assert not is_dataview(text)


@pytest.mark.parametrize(
    "text", ["```dataviewjs\ndv.list([1])\n```", "$= dv.current().file.name", "`$= 1`", "dv.pages('#x')"]
)
def test_javascript_is_refused(text: str) -> None:
    """DV-01"""
    with pytest.raises(QueryInvalid) as error:
        VAULT.run(text)
    assert error.value.message == JAVASCRIPT_REFUSED


@pytest.mark.parametrize(
    ("query", "line", "column", "hint"),
    [
        ("LIST SORT n", 1, 11, 'FROM ""'),
        ('TABLE n\nFROM "a"\nWHERE n == 1', 3, 10, "single ="),
        ("LIST FROM a", 1, 11, "double quotes"),
        ("LIST WHERE #x", 1, 12, "contains(file.tags"),
        ('LIST FROM "a", "b"', 1, 14, "or"),
        ("> ```dataview\n> LIST WHERE (n\n> ```", 1, 14, "')'"),
        ("LIST WHERE <% x %>", 1, 12, "template"),
        ("LIST WHERE n AND not m", 1, 22, "!"),
        ("TABLE n AS 'N'", 1, 12, "double quotes"),
    ],
)
def test_a_syntax_error_says_where_and_what_helps(query: str, line: int, column: int, hint: str) -> None:
    """DV-31, DV-45: line and column of the furthest place, and a hint for frequent slips."""
    with pytest.raises(QueryInvalid) as error:
        VAULT.run(query)
    assert (error.value.data["line"], error.value.data["column"]) == (line, column)
    assert hint in error.value.message
    assert "expected" in error.value.message


WORDS = st.sampled_from(
    ["TABLE", "LIST", "TASK", "FROM", "WHERE", "SORT", "GROUP BY", "FLATTEN", "AS", '"a"', "#x", "[[one]]", "n", "file",
     ".", ",", "(", ")", "[", "]", "{", "}", "+", "-", "*", "/", "%", "=", "!", "and", "or", "1", "0", "null", "true",
     "rows", "date(today)", "dur(1 d)", "=>", "length(", "sum(", "map(", " ", "\n", "//", ":", "_", "😀"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=25))
def test_any_text_has_an_answer_or_a_plain_error(words: list[str]) -> None:
    """DV-31: nothing but an error of the query comes out of a text."""
    for header in ("LIST ", "TABLE ", "TASK ", "= "):
        VAULT.check(header + "".join(words))


HOSTILE = [
    'LIST reduce(split("a" * 30, ""), (a, b) => a + a)',
    'LIST padleft("x", 100000000000)',
    'LIST "x" * 1000000000000',
    'LIST replace("x" * 100000, "", "y" * 100000)',
    'LIST regexreplace("x" * 100000, "x", "$&" * 1000) FROM "a/one"',
    "LIST " + "(" * 5000 + "1" + ")" * 5000,
    "LIST " + "!" * 5000 + "n",
    "LIST " + "[" * 5000,
    "LIST n" + "[n" * 3000,
    "LIST n" + ".n" * 5000,
    "LIST " + "((a) => " * 3000 + "a",
    "LIST " + "1 + " * 20_000 + "1",
    'LIST flat(reduce(map(split("a" * 200, ""), (x) => [1]), (a, b) => [a, b]), 1000)',
    'LIST string(reduce(split("a" * 5000, ""), (a, b) => [a]))',
    'LIST regextest("(a+)+$", "a" * 40 + "b")',
    'LIST display("*" * 100000)',
    "LIST dur(1 d) * 1e9".replace("1e9", "9" * 300),
    "LIST date(today) + dur(" + "9" * 300 + " years)",
    'LIST dur(reduce(split("a" * 5000, ""), (a, b) => [a]))',
    'LIST reduce(split("a" * 5000, ""), (a, b) => [a]) = reduce(split("a" * 5000, ""), (a, b) => [a])',
    'LIST "" * (1 / 0)',
    "LIST round(1.5, 1 / 0)",
    "LIST round(1.5, 0 / 0)",
    "LIST currencyformat(1" + "0" * 21 + ")",
    'LIST date("' + "9" * 400 + '", "x")',
    "LIST round(1.5, 1" + "0" * 300 + ")",
    'LIST FLATTEN split("a" * 2000, "") FLATTEN split("a" * 2000, "") FLATTEN split("a" * 2000, "")',
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_query_ends_soon_with_a_plain_error_or_an_answer(query: str) -> None:
    """DV-29"""
    said = "an answer"
    try:
        with call_with(limit=Deadline(0.3)):
            VAULT.run(query)
    except (QueryInvalid, OperationTimeout) as error:
        said = error.message
    assert said
