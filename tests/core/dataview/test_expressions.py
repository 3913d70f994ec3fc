"""Expressions over a note, rule by rule (specs/dataview.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.dataview.functions import FUNCTIONS
from obsidian_mcp.core.dataview.functions.lists import MAX_FLAT_DEPTH
from obsidian_mcp.core.dataview.operators import OPERATORS
from obsidian_mcp.core.dataview.settings import read_dataview_settings
from obsidian_mcp.errors import QueryInvalid
from tests.core.expressions.time_zones import time_zone

from .note_vault import NoteVault

VAULT = NoteVault(
    {
        "note.md": "",
        "People/Ann.md": "---\nage: 30\ntags: person\n---\n",
        "People/Bob.md": '---\nage: 25\nfriend: "[[Ann]]"\n---\n',
        "2024-03-04.md": "",
    }
)

VALUES: list[tuple[str, str, Any]] = [
    ("DV-30", "true or true and false", False),
    ("DV-30", "2 + 3 * 4 - 6 / 4", 12.5),
    ("DV-32", "missing", None),
    ("DV-32", "this.file.name", "note"),
    ("DV-33", "map([1, 2], (x) => map([10], (y) => x * y))", [[10], [20]]),
    ("DV-33", "((a, b) => b)(1)", None),
    ("DV-35", "row.file.name", "note"),
    ("DV-36", "[[a|b|c]]", "[[a|b|c]]"),
    ("DV-36", "meta([[a#b!c  d#e]]).subpath", "b c d"),
    ("DV-36", "[[a#^x]]", "[[a#^x|a > x]]"),
    ("DV-37", "date(eom)", "2024-02-29T23:59:59.999"),
    ("DV-37", "date(sow)", "2024-02-12"),
    ("DV-50", "typeof(elink(\"u\"))", "widget"),
    ("DV-50", "typeof(file)", "object"),
    ("DV-51", "filter([0, 1, \"\", \"a\", [], {}, dur(0 s), [[a]], 0 / 0], (x) => x)", [1, "a", "[[a|a]]", "NaN"]),
    ("DV-52", "sort([\"a\", 1, null, true, [], {}, date(2024-01-01)])", [None, [], True, "2024-01-01", 1, {}, "a"]),
    ("DV-52", "[[Ann]] = [[People/Ann|x]]", True),
    ("DV-52", "null <= date(today)", True),
    ("DV-53", "sort(split(\"bBa_éfe#2\", \"\"))", ["_", "#", "2", "a", "b", "B", "e", "é", "f"]),
    ("DV-53", "\"あ\" < \"漢\"", True),
    ("DV-55", "dur(60 minutes) > dur(1 hour) & dur(1 hour) > dur(60 minutes)", True),
    ("DV-55", "date(2024-01-01T00:00:00Z) = date(2024-01-01T01:00:00+01:00)", False),
    ("DV-57", "string([null, [1, 2], {a: 1}])", "\\-, [1, 2], { a: 1 }"),
    ("DV-57", "\"\" + date(2024-01-05T15:04)", "3:04 PM - January 05, 2024"),
    ("DV-58", "string(![[a/b.md#h]])", "![[a/b.md#h|b > h]]"),
    ("DV-61", "\"a\" + null", "a\\-"),
    ("DV-61", "date(today) - null", None),
    ("DV-61", "\"ab\" * 2.9", "abab"),
    ("DV-61", "{a: 1, b: 2} + {b: 3}", {"a": 1, "b": 3}),
    ("DV-62", "1 < \"a\"", True),
    ("DV-63", "[[Bob]].friend.age", 30),
    ("DV-63", "\"a😀b\"[3]", "b"),
    ("DV-63", "[1, 2][2]", None),
    ("DV-63", "(1 + null)[missing]", None),
    ("DV-64", "[{a: 1}, \"text\", {b: 2}].a", [1, None]),
    ("DV-65", "date(2021-01-01).weekyear", 53),
    ("DV-65", "date(2021-05-31).week", 5),
    ("DV-66", "dur(36 hours).days", 1.5),
    ("DV-70", "date(2021-05-31) - date(2021-02-28)", "3 months, 3 days"),
    ("DV-70", "date(2021-01-01) - date(2021-01-01T06:30)", "-6 hours, -30 minutes"),
    ("DV-71", "dur(30 d)", "1 month, 2 days"),
    ("DV-72", "dur(1 year).weeks", 52),
    ("DV-72", "dur(1 month).weeks", 4),
    ("DV-73", "durationformat(dur(1 d 2 h), \"h 'hours'\")", "26 hours"),
    ("DV-74", "dur(0 s)", ""),
    ("DV-74", "dur(1 day) * 365000000", "1086309 years, 6 months, 1 week, 1 day"),
    ("DV-74", "dur(1 s) * 1.0005 * 1.0005", "1 second, 1 millisecond"),
    ("DV-74", "dur(-90 m)", "-1 hour, -30 minutes"),
    ("DV-76", "dateformat(date(2021-08-05), \"YYYY-MM-DD\")", "YYYY-08-Aug 5, 2021"),
    ("DV-76", "dateformat(date(2021-08-05T14:05:09), \"cccc d. LLLL yyyy 'at' h:mm a, W/kkkk, q, o\")",
     "Thursday 5. August 2021 at 2:05 PM, 31/2021, 3, 217"),
    ("DV-77", "date(\"5 January 2024, 4:05 PM\", \"d MMMM yyyy, h:mm a\")", "2024-01-05T16:05:00"),
    ("DV-76", "dateformat(date(0101-03-01), \"DDD\")", "March 1, 101"),
    ("DV-77", "[date(\"120\", \"SSS\"), date(\"30\", \"mm\")]", ["2024-02-15T12:00:00.120", "2024-02-15T12:30:00"]),
    ("DV-77", "[date(\"Monday\", \"cccc\"), date(\"W09\", \"'W'WW\")]", ["2024-02-12", "2024-02-26"]),
    ("DV-77", "[date(\"22 AM\", \"H a\"), date(\"12 AM\", \"h a\")]", ["2024-02-15T22:00:00", "2024-02-15"]),
    ("DV-77", "[date(\"14:05\", \"HH:mm\"), date(\"2023\", \"yyyy\")]", ["2024-02-15T14:05:00", "2023-01-01"]),
    ("DV-77", "date(\"2024-07-01 10:00 Europe/Paris\", \"yyyy-MM-dd HH:mm z\")", "2024-07-01T08:00:00"),
    ("DV-77", "date(\"2024-W07-3\", \"kkkk-'W'WW-c\")", "2024-02-14"),
    ("DV-78", "durationformat(dur(90 s), \"mm:ss\")", "01:30"),
    ("DV-78", "durationformat(dur(90.9 s), \"m s\")", "1 30"),
    ("DV-81", "padleft([\"a\", \"b\"], [2, 3, 4], \".\")", [".a", "..b"]),
    ("DV-82", "object(\"a\", 1, \"b\", list(2, 3))", {"a": 1, "b": [2, 3]}),
    ("DV-82", "number(\"a -5.5 b\")", -5.5),
    ("DV-83", "date([[2024-03-04]])", "2024-03-04"),
    ("DV-83", "dur(\" 1 h 30 m \")", "1 hour, 30 minutes"),
    ("DV-84", "link(\"Ann\", \"x\")", "[[People/Ann.md|x]]"),
    ("DV-84", "meta(embed([[a#h|d]]))", {"display": "d", "embed": True, "path": "a", "subpath": "h", "type": "header"}),
    ("DV-85", "[round(-2.5), round(1.005, 2), trunc(-1.5), floor(-1.5), ceil(-1.5)]", [-2, 1, -1, -2, -1]),
    ("DV-86", "[min(3, null, 1), max([1, 3]), max()]", [1, 3, None]),
    ("DV-86", "[min(list(list(3, 1))), max(list(1), list(2))]", [1, [2]]),
    ("DV-86", "minby([{d: null}, {d: 3}, {d: 2}], (x) => x.d)", {"d": 2}),
    ("DV-87", "[sum([1, 2]), product([2, 3]), average([1, 2]), reduce([9, 2, 1], \"-\")]", [3, 6, 1.5, 6]),
    ("DV-88", "contains(list(list(\"hello\")), \"ell\")", True),
    ("DV-88", "econtains([\"hello\"], \"ell\")", False),
    ("DV-88", "icontains(\"Hello\", \"ELL\")", True),
    ("DV-88", "[containsword(\"a word.\", \"WORD\"), containsword(\"words\", \"word\")]", [True, False]),
    ("DV-89", "[length(\"😀\"), length([1]), length({a: 1}), length(null)]", [2, 1, 1, 0]),
    ("DV-89", "extract([{a: 1, b: 2}], \"b\")", [{"b": 2}]),
    ("DV-90", "slice(flat([1, [2, [3]]], 2), -2)", [2, 3]),
    ("DV-90", "join(reverse(nonnull([1, null, 2])), \"-\")", "2-1"),
    ("DV-91", "[all([]), any([0]), none([0]), all([1, 2], (x) => x > 1), any(0, 1)]", [True, False, True, False, True]),
    ("DV-92", "sort([1], (x) => x.n + null + x[{}])", [1]),
    ("DV-92", "unique([3, 1, 3, \"a\", 1])", [1, 3, "a"]),
    ("DV-93", "substring(\"hello\", 3, 1)", "el"),
    ("DV-93", "split(\"a1b2\", \"([0-9])\")", ["a", "1", "b", "2", ""]),
    ("DV-93", "replace(\"aXbX\", \"X\", \"\")", "ab"),
    ("DV-94", "[regextest(\"b\", \"abc\"), regexmatch(\"b\", \"abc\")]", [True, False]),
    ("DV-94", "[regextest(\"\\\\p{L}\", \"a\"), regextest(\"\\\\p{L}\", \"p{L}\")]", [False, True]),
    ("DV-94", "regexmatch(\"yes|no\", \"yesterday\")", True),
    ("DV-94", "regextest(\"^b\", \"a\" + join([\"\", \"b\"], \"\n\"))", False),
    ("DV-94", "regexreplace(\"John Smith\", \"(\\w+) (\\w+)\", \"$2, $1\")", "Smith, John"),
    ("DV-96", "truncate(\"Hello\", 5)", "He..."),
    ("DV-97", "[default(null, 1), default([], 1), choice([1, 0], \"a\", \"b\")]", [1, [], ["a", "b"]]),
    ("DV-97", "striptime(date(2024-01-05T10:00:00+02:00))", "2024-01-05"),
    ("DV-97", "localtime(date(2024-01-05T10:00:00+02:00))", "2024-01-05T08:00:00"),
    ("DV-98", "display(\"**b** [[a|x]] [t](u)\")", "b x t"),
    ("DV-98", "[display(\"# Head\"), display(\"#tag\"), display(\"日本_x_ \")]", ["Head", "#tag", "日本x "]),
    ("DV-99", "currencyformat(1.005)", "$1.01"),
    ("DV-99", "hash(\"2024-03-17\", \"Home\")", 3041844187830523),
    ("DV-99", "[currencyformat(1234.5, \"EUR\"), currencyformat(-5, \"JPY\")]", ["€1,234.50", "-¥5"]),
]  # fmt: skip

ERRORS = [
    ("DV-34", 'Lower("a")', "Unrecognized function name 'Lower'"),
    ("DV-34", "(1)(2)", "Cannot call type 'number' as a function"),
    ("DV-61", "null + 1", "No implementation found for 'null + number'"),
    ("DV-63", '"a".b', "string indexing requires a numeric index"),
    ("DV-77", 'date("2024-1-1", "yyyy-MM-dd")', "Can't handle format"),
    ("DV-77", 'date("Monday 5 Jan 2024", "EEEE d MMM yyyy")', "Can't handle format"),
    ("DV-77", 'date("2023-366", "yyyy-ooo")', "Can't handle format"),
    ("DV-80", 'round("3")', "No implementation of 'round' found for arguments: string"),
    ("DV-87", "sum([1, null])", "No implementation found for 'number + null'"),
    ("DV-94", 'regextest("(", "a")', "Invalid regular expression"),
]


@pytest.mark.parametrize(("rule", "expression", "value"), VALUES)
def test_an_expression_has_its_value(rule: str, expression: str, value: Any) -> None:
    found = VAULT.value(expression)
    assert found == value, rule
    assert isinstance(found, type(value))


@pytest.mark.parametrize(("rule", "expression", "message"), ERRORS)
def test_an_expression_without_a_value_says_why(rule: str, expression: str, message: str) -> None:
    with pytest.raises(QueryInvalid) as error:
        VAULT.value(expression)
    assert message in error.value.message, rule


@pytest.mark.parametrize(
    "text", ["trueish", "nullable", "a .b", "lower (1)", "a == b", "a && b", "not a", "'a'", "-a", "[1,]", "where", ""]
)
def test_what_is_no_expression_does_not_parse(text: str) -> None:
    """DV-30, DV-35: alternatives are not reconsidered, and there are no other operators."""
    with pytest.raises(QueryInvalid):
        VAULT.run(f"= {text}")


def test_settings_change_the_text_of_values() -> None:
    """DV-03: the settings of the plugin, defaults for what is missing or of another type."""
    settings = read_dataview_settings(b'{"renderNullAs": "-", "defaultDateFormat": "yyyy", "inlineQueryPrefix": 5}')
    assert VAULT.rows('= "a" + null + date(2024-01-01)', settings=settings) == [["a-2024"]]
    assert read_dataview_settings(None) == read_dataview_settings(b"[]")


def test_dates_are_local_unless_they_name_a_zone() -> None:
    """DV-07: a day with a change of the clock has 23 hours."""
    with time_zone("Europe/Paris"):
        assert VAULT.rows("= localtime(date(2024-07-01T10:00:00Z))") == [["2024-07-01T12:00:00"]]
        assert VAULT.rows("= date(2024-03-31) + dur(24 hours)") == [["2024-04-01T01:00:00"]]
        assert VAULT.rows("= date(2024-03-31) + dur(1 day)") == [["2024-04-01"]]
        assert VAULT.rows('= dateformat(date(2024-07-01), "ZZ")') == [["+02:00"]]
        assert VAULT.rows("= date(2024-03-31T02:30)") == [["2024-03-31T03:30:00"]]


def test_the_clock_is_read_once_and_given() -> None:
    """DV-37: `now` is the moment of the query."""
    assert VAULT.rows("= date(now)", now=datetime.fromisoformat("2030-12-31T23:59")) == [["2030-12-31T23:59:00"]]
    assert VAULT.rows("= date(tomorrow)", now=datetime.fromisoformat("2030-12-31T23:59")) == [["2031-01-01"]]


ODD_VALUES = [
    "1 / 0", "0 / 0", "-1", "9" * 320, '""', '"😀é"', '"(a+)+$"', "null", "[]", '[1, ["a", null]]', "{a: 1}", "file",
    "date(0001-01-01)", "date(9999-12-31)", "date(2021-08-15T12:40:50[Europe/Paris])", "dur(-5 m)", "[[Ann#h|d]]",
    f"dur({'9' * 320} years)", "(x) => x", 'elink("u")',
    'reduce(split("aaaaaaaaaa", ""), (a, b) => [a])', '"yyyy ZZZZ z"',
]  # fmt: skip


@given(
    st.sampled_from(sorted(FUNCTIONS)),
    st.lists(st.sampled_from(ODD_VALUES), max_size=3),
    st.sampled_from(sorted(OPERATORS)),
)
def test_any_call_has_a_value_or_a_plain_error(name: str, arguments: list[str], operator: str) -> None:
    """DV-61, DV-80: numbers that are not finite, odd dates and nested lists break nothing."""
    call = f"{name}({', '.join(arguments)})"
    for query in (f"LIST {call}", f"LIST ({call}) {operator} ({(arguments or ['1'])[0]})", f'LIST FROM "" SORT {call}'):
        VAULT.check(query)


def test_a_deep_list_is_flattened_by_as_many_levels_as_can_be_followed() -> None:
    """DV-90"""

    def nested(depth: int) -> str:
        return f"reduce([{', '.join('1' * (depth + 1))}], (inner, next) => [inner])"

    deep, fitting = nested(MAX_FLAT_DEPTH + 1), nested(MAX_FLAT_DEPTH)
    assert VAULT.value(f"length(flat({deep}))") == 1
    assert VAULT.value(f"length(flat({deep}, {MAX_FLAT_DEPTH}))") == 1
    assert VAULT.value(f"flat({fitting}, 1000)") == [1]
    with pytest.raises(QueryInvalid, match=f"nested more than {MAX_FLAT_DEPTH} deep"):
        VAULT.value(f"flat({deep}, {MAX_FLAT_DEPTH + 1})")
