"""The evaluator with a language of a few operators (specs/expressions.md)."""

from __future__ import annotations

import operator
from datetime import datetime
from typing import Any

import pytest

from obsidian_mcp.core.expressions.budget import Budget
from obsidian_mcp.core.expressions.evaluate import Compiler, Context, Evaluate, Language, Scope, compile_expression
from obsidian_mcp.core.expressions.rows import SortBy, filter_rows, flatten_rows, group_rows, limit_rows, sort_rows
from obsidian_mcp.core.expressions.syntax import (
    BareName,
    Binary,
    FieldAccess,
    FunctionCall,
    IndexAccess,
    Lambda,
    ListOf,
    Literal,
    Node,
    SyntaxProblem,
    Unary,
)
from obsidian_mcp.core.expressions.values import ExpressionError, Value
from obsidian_mcp.errors import QueryInvalid

from .text_vault import TextVault


def _call(node: FunctionCall, compiler: Compiler) -> Evaluate:
    function = compiler.compile(node.callee)
    arguments = [compiler.compile(argument) for argument in node.arguments]
    return lambda scope: function(scope)(*(argument(scope) for argument in arguments))


def _field(value: Value, name: str, _: Scope) -> Value:
    if not isinstance(value, dict):
        raise ExpressionError(f"no {name}")
    return value.get(name)


def _or(left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda scope: left(scope) or right(scope)


TOY = Language(
    binary={"+": lambda left, right, _: left + right, ">": lambda left, right, _: left > right},
    unary={"-": lambda value, _: -value},
    lazy={"or": _or},
    name_of=lambda name: lambda scope: scope.row.get(name),
    field=_field,
    index=lambda value, key, _: value[int(key)],
    call=_call,
)


def context(budget: Budget | None = None) -> Context:
    return Context(TextVault({}), datetime.fromisoformat("2024-02-15T12:00"), budget=budget or Budget())


def value_of(node: Node, **row: Value) -> Any:
    return compile_expression(node, TOY)(Scope(context(), row))


def rows_of(*values: Value) -> tuple[Context, list[Scope]]:
    run = context()
    return run, [Scope(run, {"n": value}) for value in values]


def key(value: Value, descending: bool) -> Any:
    return (value is None) is not descending, value or 0.0


def number(scope: Scope) -> Value:
    if scope.row["n"] == "bad":
        raise ExpressionError("bad row")
    return scope.row["n"]


def test_operators_names_and_indexes_follow_the_tables_of_the_language() -> None:
    """EXPR-33"""
    assert value_of(Binary("+", Literal(1.0), Unary("-", BareName("a"))), a=3.0) == -2.0
    assert value_of(IndexAccess(ListOf((Literal(1.0), Literal(2.0))), Literal(1.0))) == 2.0
    assert value_of(FieldAccess(BareName("o"), "x"), o={"x": "y"}) == "y"


def test_a_lazy_operator_leaves_its_right_side_alone() -> None:
    """EXPR-34"""
    assert value_of(Binary("or", Literal(True), FieldAccess(Literal(1.0), "x"))) is True
    with pytest.raises(ExpressionError, match="no x"):
        value_of(Binary("or", Literal(False), FieldAccess(Literal(1.0), "x")))


def test_parameters_hide_names_and_a_missing_argument_keeps_the_name_outside() -> None:
    """EXPR-35"""
    pair = Lambda(("a", "b"), ListOf((BareName("a"), BareName("b"))))
    assert value_of(FunctionCall(pair, (Literal(1.0),)), a="row a", b="row b") == [1.0, "row b"]
    inner = Lambda(("a",), FunctionCall(Lambda(("b",), ListOf((BareName("a"), BareName("b")))), (Literal(2.0),)))
    assert value_of(FunctionCall(inner, (Literal(1.0),))) == [1.0, 2.0]


def test_an_expression_that_is_nested_too_deep_is_refused() -> None:
    """EXPR-36"""
    node: Node = Literal(1.0)
    for _ in range(301):
        node = Unary("-", node)
    with pytest.raises(QueryInvalid, match="300 deep"):
        compile_expression(node, TOY)


def test_a_row_with_an_error_is_left_out_and_counted() -> None:
    """EXPR-50, EXPR-51"""
    run, rows = rows_of(1.0, "bad", 3.0, "bad")
    kept = filter_rows(rows, lambda row: operator.gt(number(row), 1), run, "where")
    assert [row.row["n"] for row in kept] == [3.0]
    assert run.problems.list_counts() == [("where", "bad row", 2)]


def test_rows_are_sorted_by_several_keys_and_stay_stable_in_both_directions() -> None:
    """EXPR-52"""
    run, rows = rows_of(2.0, None, 1.0, 2.0)
    first, _, _, last = rows
    ascending = sort_rows(rows, [SortBy(number)], key, run, "sort")
    assert [row.row["n"] for row in ascending] == [1.0, 2.0, 2.0, None]
    assert ascending[1:3] == [first, last]
    descending = sort_rows(rows, [SortBy(number, descending=True)], key, run, "sort")
    assert [row.row["n"] for row in descending] == [2.0, 2.0, 1.0, None]
    assert descending[:2] == [first, last]


def test_equal_keys_make_a_group_and_groups_are_in_order() -> None:
    """EXPR-53"""
    run, rows = rows_of(2.0, None, 1.0, 2.0)
    groups = group_rows(rows, SortBy(number), key, run, "group")
    assert [(group.key, len(group.rows)) for group in groups] == [(1.0, 1), (2.0, 2), (None, 1)]


def test_a_list_gives_one_row_for_each_item_and_an_empty_list_none() -> None:
    """EXPR-54, EXPR-55"""
    run, rows = rows_of([1.0, 2.0], [], 3.0)
    flat = flatten_rows(rows, number, lambda row, item: Scope(run, {**row.row, "n": item}), run, "flatten")
    assert [row.row["n"] for row in flat] == [1.0, 2.0, 3.0]
    assert len(limit_rows(flat, 2)) == 2
    assert len(limit_rows(flat, -1)) == 2


def test_a_row_that_builds_too_much_fails_and_a_query_that_holds_too_much_is_refused() -> None:
    """EXPR-60, EXPR-61"""
    budget = Budget(query_units=100, row_units=60)
    budget.charge(60)
    budget.end_row(kept=False)
    with pytest.raises(ExpressionError, match="more than 60 characters"):
        budget.charge(61)
    budget.end_row(kept=False)
    budget.hold("x" * 90)
    budget.end_row(kept=False)
    budget.hold("x" * 50)
    budget.end_row(kept=True)
    budget.hold("x" * 51)
    with pytest.raises(QueryInvalid, match="more than fits in memory"):
        budget.end_row(kept=True)


def test_a_syntax_problem_names_what_stands_there_and_what_was_expected() -> None:
    """EXPR-31"""
    problem = SyntaxProblem(6, '"==" cannot stand here', "a value", "Remove it.")
    assert problem.explanation == '"==" cannot stand here. Expected a value. Remove it.'
