"""Reading and validating the YAML of a base (specs/bases.md)."""

from __future__ import annotations

import pytest

from obsidian_mcp.core.bases.base_reader import read_base
from obsidian_mcp.core.bases.parser import parse_or_problem
from obsidian_mcp.core.bases.validation import validate_base
from obsidian_mcp.core.expressions.syntax import SyntaxProblem
from obsidian_mcp.errors import QueryInvalid

from .bases_runner import run


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("- a\n", "Query is an invalid format. It should be a YAML object.", 1, None),
        ("views: [\n", "Query is an invalid format.", 2, None),
        ("filters:\n  - a\n", '"filters" must be a string or an object', 2, 3),
        (
            "filters:\n  and: [a]\n  or: [b]\n",
            '"filters" may only have one of an "and", "or", or "not" keys.',
            2,
            3,
        ),
        ("filters:\n  and: a\n", '"and" filter must be an array', 2, 8),
        ("formulas:\n  x: 1\n", "Formula values must be strings", 2, 6),
        ("views: a\n", "Views must be an array", 1, 8),
        ("views:\n  - type: table\n", 'Missing or invalid "name" in view 1', 2, 5),
        (
            "formulas:\n" + "".join(f"  f{number}: {'1+' * 9000}1\n" for number in range(12)),
            "The base has more than 2,000 expressions or 200,000 characters in them",
            1,
            1,
        ),
        (
            "formulas:\n" + "".join(f"  f{number}: +\n" for number in range(2001)),
            "The base has more than 2,000 expressions",
            1,
            1,
        ),
        ("views:\n  - name: A\n", 'Missing or invalid "type" in view 1', 2, 5),
        ("views:\n  - {name: A, type: t, limit: x}\n", '"limit" must be a number', 2, 31),
        ("views:\n  - {name: A, type: t, sort: [{direction: ASC}]}\n", '"sort" must name a "property"', 2, 31),
    ],
)
def test_a_key_of_the_wrong_form_refuses_the_base_with_its_place(
    text: str, message: str, line: int, column: int | None
) -> None:
    """BASE-01 to BASE-04, BASE-09, BASE-13"""
    with pytest.raises(QueryInvalid) as refusal:
        read_base(text)
    assert refusal.value.message.startswith(message)
    assert refusal.value.data["line"] == line
    assert refusal.value.data.get("column") == column


def test_validation_lists_every_mistake_in_the_order_of_its_lines() -> None:
    """BASE-09, BASE-12"""
    text = (
        "filters:\n"
        "  and:\n"
        "    - price > 5\n"
        '    - "status = 1"\n'
        "formulas:\n"
        "  good: price\n"
        "  bad: price +* 2\n"
        "views:\n"
        "  - type: table\n"
        "    name: V\n"
        "    filters: a and b\n"
    )
    assert [(mistake.line, mistake.column, mistake.refused) for mistake in validate_base(text)] == [
        (4, 15, False),
        (7, 15, False),
        (11, 16, False),
    ]
    assert [mistake.message for mistake in validate_base(text)] == [
        'Filter: "=" cannot stand here. Expected an operator or the end. Write == to compare.',
        'Formula "bad": "*" cannot stand here. Expected a value.',
        'Filter of view 1: "and" cannot stand here. Expected an operator or the end. Write && for and.',
    ]


def test_a_sound_base_has_no_mistakes() -> None:
    """BASE-09"""
    assert validate_base("formulas:\n  a: price\nviews:\n  - type: table\n    name: V\n") == []


def test_the_singular_of_a_key_is_warned_of_and_has_no_effect() -> None:
    """BASE-03"""
    answer = run("filter: price > 5\n")
    assert answer.total == 4
    assert answer.warnings == ['The key "filter" is not known and has no effect; did you mean "filters"?']


@pytest.mark.parametrize("filters", ["filters: !n.isEmpty()", "filters:\n  and:\n    - !n.isEmpty()"])
def test_a_filter_that_yaml_reads_as_a_tag_is_warned_of(filters: str) -> None:
    """BASE-02"""
    views = "\nviews:\n  - {type: table, name: V}\n"

    assert "put it in quotes" in str(read_base(filters + views).warnings)
    assert not read_base(filters.replace("!n.isEmpty()", "'!n.isEmpty()'") + views).warnings
    with pytest.raises(QueryInvalid, match="put it in quotes"):
        read_base(filters.replace("isEmpty()", 'is("a b")') + views)


@pytest.mark.parametrize(
    ("expression", "column", "problem"),
    [
        ("", 1, "the expression is empty"),
        ("1.abs()", 2, "a bare number has no fields or methods"),
        ("{a: 1}", 1, "Objects cannot be written out"),
        ("a ?? b", 3, "Write if(value, value, otherwise)"),
        ("a ? b : c", 3, "Write if(condition, value, otherwise)"),
        ("f(1, 2", 7, 'Expected ")" for the "(" at column 2'),
        ('"abc', 1, "a quote is not closed"),
        ("a # b", 3, "the character '#' has no meaning here"),
        ("/(/.matches(a)", 1, "Invalid regular expression"),
        ("/a/gg", 4, "are no flags"),
        ("(" * 61 + "1" + ")" * 61, 61, "nested more than 60 deep"),
        ("a." * 400 + "a", None, "300 deep"),
    ],
)
def test_an_expression_that_does_not_parse_says_where_and_what_to_write(
    expression: str, column: int | None, problem: str
) -> None:
    """BASE-11 to BASE-13"""
    if column is None:
        with pytest.raises(QueryInvalid, match=problem):
            run({"formulas": {"x": expression}})
        return
    [warning] = run({"formulas": {"x": expression}}).warnings
    assert problem in warning
    found = parse_or_problem(expression)
    assert isinstance(found, SyntaxProblem)
    assert found.at == column - 1
