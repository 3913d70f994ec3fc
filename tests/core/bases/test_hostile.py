"""No query runs longer than the limit or takes much memory, however hostile (EXPR-60 to EXPR-62, BASE-13)."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.bases.parser import parse_or_problem
from obsidian_mcp.core.expressions.answer import QueryAnswer
from obsidian_mcp.core.expressions.syntax import SyntaxProblem
from obsidian_mcp.core.text.call import Deadline, call_with
from obsidian_mcp.errors import OperationTimeout, QueryInvalid
from tests.core.expressions.text_vault import TextVault
from tests.examples import examples

from .bases_runner import run, view_of

ONE = TextVault({"n.md": "[[n]]"})
LETTERS = '"x".repeat(50000).split("")'
NESTED = '"x".repeat(30).split("").reduce([acc, acc], 1)'

GREEDY = [
    f'{LETTERS}.reduce(acc + acc, "x")',
    '"x".repeat(60).split("").reduce(acc + acc, [1])',
    f"{LETTERS}.reduce([acc], 1)",
    f"{LETTERS}.map({LETTERS})",
    '"x".repeat(100000000000)',
    '"a".repeat(900).replace(/a/g, "b".repeat(9000))',
    '"a".repeat(900).replace("a", "b".repeat(90000))',
    '"a".repeat(5000).replace(/a/g, "$`$\'")',
    'now().format("dddd".repeat(100000))',
    '"x".repeat(9000).split("").map(link("a" + index).asFile()).length + "x".repeat(999999)',
    '"x".repeat(1000).split("").map("y".repeat(900)).join("z".repeat(900))',
    'escapeHTML("<".repeat(200000))',
    f"{NESTED}.toString()",
    f"[{NESTED}, {NESTED}].unique()",
    f"[{NESTED}, {NESTED}].sort()",
]
ENDLESS = [
    f"{NESTED} == {NESTED}",
    '"x".repeat(10000).split("").map(index).containsAny("y".repeat(10000).split("").map(index + 0.5))',
    '/(a+)+b/.matches("a".repeat(5000))',
    '"x".repeat(1000).split("").map(/(a+)+b/.matches("a".repeat(5000)))',
]


def limited(expression: str, seconds: float, vault: TextVault = ONE) -> QueryAnswer:
    """One formula in columns and sort of every file, within a time limit."""
    with call_with(limit=Deadline(seconds)):
        base = view_of(
            formulas={"x": expression}, order=["formula.x"], sort=[{"property": "formula.x", "direction": "DESC"}]
        )
        return run(base, vault=vault)


@pytest.mark.parametrize("expression", GREEDY)
def test_an_expression_that_builds_too_much_is_an_error_and_its_memory_is_given_back(expression: str) -> None:
    """EXPR-60"""
    tracemalloc.start()
    try:
        [[cell]] = limited(expression, 20).rows
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "more than 1,000,000 characters" in cell["error"]
    assert peak < 50_000_000


@pytest.mark.parametrize("expression", ENDLESS)
def test_an_expression_that_runs_too_long_is_stopped_at_the_limit(expression: str) -> None:
    """EXPR-26, EXPR-62"""
    started = time.process_time()
    with pytest.raises(OperationTimeout):
        limited(expression, 0.1)
    assert time.process_time() - started < 3


@pytest.mark.parametrize("step", ["formula.x{} + 1", "[formula.x{}]", "[1].map(formula.x{})"])
def test_formulas_that_use_each_other_too_deep_are_errors(step: str) -> None:
    """BASE-18"""
    chain = {f"x{number}": step.format(number + 1) for number in range(1_000)} | {"x1000": "1"}
    base = view_of(formulas=chain, order=["formula.x0", "formula.x999"], filters="!formula.x1000.isEmpty()")
    [[first, last]] = run(base, vault=ONE).rows
    assert first == {"error": "The formulas use each other too deep."}
    assert last != first


def test_texts_that_many_rows_hold_refuse_the_query() -> None:
    """EXPR-61"""
    many = TextVault({f"{number}.md": "" for number in range(40)})
    with pytest.raises(QueryInvalid, match="more than fits in memory"):
        limited('"x".repeat(400000) + file.name', 20, many)


def test_many_sort_keys_of_many_rows_refuse_the_query() -> None:
    """EXPR-61"""
    many = TextVault({f"{number}.md": "" for number in range(200)})
    base = view_of(sort=[{"property": "n", "direction": "ASC"}] * 10_000)
    with pytest.raises(QueryInvalid, match="more than fits in memory"):
        run(base, vault=many)


@given(st.text(alphabet="()[]{}!-+*/%<>=&|.,\"'\\ \n\tabfilenot019_$#é😀", max_size=60))
@examples(150)
def test_any_text_is_an_expression_or_a_syntax_problem_with_a_place(text: str) -> None:
    """BASE-10 to BASE-12, EXPR-31"""
    found = parse_or_problem(text)
    if isinstance(found, SyntaxProblem):
        assert 0 <= found.at <= len(text)


WORDS = st.sampled_from(
    [
        "price",
        "s",
        "file",
        "note",
        "this",
        "missing",
        "1",
        "2.5",
        '"a"',
        "[1, 2]",
        "null",
        "true",
        "up",
        "due",
        "l",
        "/a/g",
    ]
)
CALLS = st.sampled_from(
    [
        ".length",
        ".contains(%s)",
        ".toString()",
        "[%s]",
        " + %s",
        " - %s",
        " == %s",
        " < %s",
        " && %s",
        ".map(%s)",
        ".filter(%s)",
        ".sort()",
        ".unique()",
        ".asFile()",
        ".isEmpty()",
        ".format(%s)",
        ".slice(%s)",
        ".round()",
        ".replace(%s, %s)",
        ".split(%s)",
        ".links",
        ".days",
        " * %s",
        ".reduce(%s, %s)",
        ".hasLink(%s)",
        ".repeat(%s)",
    ]
)


@st.composite
def written(draw: st.DrawFn) -> str:
    """Expressions that parse, of any sense and nonsense."""
    text = draw(WORDS)
    for call in draw(st.lists(CALLS, max_size=5)):
        for _ in range(call.count("%s")):
            call = call.replace("%s", draw(WORDS), 1)
        text = f"({text}){call}"
    return text


@given(written())
@examples(150)
def test_any_expression_has_a_value_or_an_error_of_the_app(expression: str) -> None:
    """BASE-32, BASE-50: no traceback comes from any pairing of values, operators and functions."""
    answer = run(
        view_of(formulas={"x": expression}, order=["formula.x"], sort=[{"property": "formula.x"}]), this="A.md"
    )
    assert answer.total == 4
    assert answer.warnings == []
