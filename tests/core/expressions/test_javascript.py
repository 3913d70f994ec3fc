"""Numbers, texts and indexes as JavaScript treats them (specs/expressions.md)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obsidian_mcp.core.expressions.budget import Budget
from obsidian_mcp.core.expressions.javascript import (
    divide,
    number_text,
    remainder,
    round_half_up,
    slice_bounds,
    slice_text,
    to_fixed,
)
from obsidian_mcp.core.expressions.regexps import RegExpValue, escape
from obsidian_mcp.core.expressions.values import ExpressionError, from_json
from obsidian_mcp.core.text.text import utf16_length


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (50.0, "50"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-9, "1.25e-9"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_numbers_are_written_as_javascript_writes_them(number: float, text: str) -> None:
    """EXPR-20"""
    assert number_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_written_number_is_read_back_as_itself(number: float) -> None:
    """EXPR-20"""
    assert float(number_text(number)) == number


@pytest.mark.parametrize(
    ("number", "rounded"), [(2.5, 3), (-1.5, -1), (-2.5, -2), (0.49999999999999994, 0), (1e300, 1e300)]
)
def test_rounding_goes_half_up(number: float, rounded: float) -> None:
    """EXPR-21"""
    assert round_half_up(number) == rounded


@pytest.mark.parametrize(
    ("number", "digits", "text"),
    [
        (0.5, 100, "0.5" + "0" * 99),
        (2.5, 0, "3"),
        (-2.5, 0, "-3"),
        (1.005, 2, "1.00"),
        (8.345, 2, "8.35"),
        (3.0, 2, "3.00"),
        (1e21, 2, "1e+21"),
    ],
)
def test_to_fixed_rounds_the_binary_value(number: float, digits: int, text: str) -> None:
    """EXPR-22"""
    assert to_fixed(number, digits) == text
    with pytest.raises(ExpressionError, match="between 0 and 100"):
        to_fixed(number, 101)


def test_lengths_and_indexes_count_utf16_units() -> None:
    """EXPR-23, EXPR-24"""
    assert utf16_length("a😀b") == 4
    assert slice_text("a😀b", 1, 3) == "😀"
    assert slice_text("a😀b", -1, None) == "b"
    assert slice_text("héllo", 1, -1) == "éll"


@given(st.integers(0, 20), st.integers(-30, 30), st.one_of(st.none(), st.integers(-30, 30)))
def test_slices_are_those_of_a_list(length: int, start: int, end: int | None) -> None:
    """EXPR-24"""
    items = list(range(length))
    first, last = slice_bounds(length, float(start), None if end is None else float(end))
    assert items[first:last] == items[start:end]


def test_division_and_remainder_have_the_edges_of_javascript() -> None:
    """EXPR-20"""
    assert divide(1, 0) == math.inf
    assert divide(-1, 0.0) == -math.inf
    assert math.isnan(divide(0, 0))
    assert remainder(-7, 3) == -1
    assert math.isnan(remainder(1, 0))
    assert remainder(5, math.inf) == 5


def test_numbers_of_json_become_floats_at_any_depth() -> None:
    """EXPR-01"""
    value = from_json({"a": [1, True, None, "x", {"b": 2}], "big": 10**400})
    assert value == {"a": [1.0, True, None, "x", {"b": 2.0}], "big": math.inf}
    assert type(value["a"][0]) is float
    assert value["a"][1] is True


@pytest.mark.parametrize(
    ("source", "template", "text"),
    [
        ("(b)(c)?", "[$1$2$&$$]", "a[bcbc$]d"),
        ("(?<x>b)", "<$<x>$3$<y>>", "a<b$3>cd"),
        ("(b)", "$<x>", "a$<x>cd"),
        ("b", "($`|$')", "a(a|cd)cd"),
        ("x*", "-", "-a-b-c-d-"),
        ("b*?", "-", "-a-b-c-d-"),
        ("^(.*?)", "- $1", "- abcd"),
    ],
)
def test_replacements_know_the_references_of_javascript(source: str, template: str, text: str) -> None:
    """EXPR-26"""
    assert RegExpValue(source, "g").replace("abcd", template, everywhere=True, budget=Budget()) == text


@given(st.text(max_size=20))
def test_an_escaped_text_matches_itself(text: str) -> None:
    """EXPR-26"""
    assert RegExpValue(escape(text)).matches(f"a{text}b")
