"""Cells and pages (specs/expressions.md)."""

from __future__ import annotations

import json
import math
from datetime import datetime

import pytest

from obsidian_mcp.core.expressions.answer import Column, QueryAnswer, RowGroup, cell_of
from obsidian_mcp.core.expressions.evaluate import Context
from obsidian_mcp.core.expressions.syntax import (
    BareName,
    Binary,
    FieldAccess,
    FunctionCall,
    Lambda,
    ListOf,
    Literal,
    ObjectOf,
    walk,
)
from obsidian_mcp.core.expressions.values import ExpressionError, LinkValue, Value

from .text_vault import TextVault

RUN = Context(TextVault({}), datetime.fromisoformat("2025-01-01"))


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, "null"),
        (True, "true"),
        (3.0, "3"),
        (-0.0, "0"),
        (2.5, "2.5"),
        (1e21, "1e+21"),
        (math.nan, '"NaN"'),
        (-math.inf, '"-Infinity"'),
        ([1.0, ["a", {"b": None}]], '[1, ["a", {"b": null}]]'),
        (ExpressionError("no"), '{"error": "no"}'),
        (LinkValue("a"), '"<a>"'),
    ],
)
def test_cells_are_json(value: Value, cell: str) -> None:
    """EXPR-57"""
    assert json.dumps(cell_of(value, {LinkValue: lambda link, _: f"<{link.path}>"}, RUN)) == cell


def test_a_value_that_is_nested_too_deep_has_no_cell() -> None:
    """EXPR-57"""
    value: Value = []
    for _ in range(50):
        value = [value]
    with pytest.raises(ExpressionError, match="40 deep"):
        cell_of(value, {}, RUN)


def test_an_answer_leaves_out_what_it_does_not_have() -> None:
    """EXPR-57"""
    columns = (Column("note.a", "A"),)
    assert QueryAnswer(columns, [[1]], 1).data() == {
        "columns": [{"id": "note.a", "name": "A"}],
        "rows": [[1]],
        "total": 1,
    }
    inner = RowGroup("x", 1, {"note.a": {"Sum": 1}})
    full = QueryAnswer(columns, [[1]], 1, "table", "V", ["a.md"], (RowGroup(None, 1, None, (inner,)),), {}, ["careful"])
    assert full.data()["groups"] == [
        {"key": None, "count": 1, "groups": [{"key": "x", "count": 1, "summaries": {"note.a": {"Sum": 1}}}]}
    ]
    assert list(full.data()) == ["kind", "view", "columns", "rows", "paths", "groups", "total", "warnings"]


def test_a_name_is_found_anywhere_in_an_expression() -> None:
    """EXPR-30"""
    node = Lambda(
        ("x",),
        ObjectOf(
            (
                (
                    "k",
                    ListOf(
                        (Binary("+", Literal(1.0), FunctionCall(FieldAccess(BareName("this"), "f"), (BareName("y"),))),)
                    ),
                ),
            )
        ),
    )
    assert BareName("this") in walk(node)
    assert BareName("y") in walk(node)
    assert BareName("f") not in walk(node)
