"""The search language: from text to a tree and back (specs/query.md)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obsidian_mcp.core.query.lexer import MAX_LENGTH
from obsidian_mcp.core.query.nodes import (
    And,
    Compare,
    Constant,
    Not,
    Or,
    Phrase,
    Property,
    QueryNode,
    Regex,
    ScopedQuery,
    Word,
)
from obsidian_mcp.core.query.parser import MAX_DEPTH, parse
from obsidian_mcp.errors import QueryInvalid
from tests.examples import examples

VECTORS = json.loads((Path(__file__).parents[3] / "specs" / "vectors" / "query.json").read_text(encoding="utf-8"))


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [f"{row['rule']} {row['query']}" for row in rows]


def nested(wrap: Callable[[QueryNode], QueryNode], node: QueryNode, levels: int) -> QueryNode:
    for _ in range(levels):
        node = wrap(node)
    return node


def plain(node: QueryNode) -> list[Any]:
    """The tree as the table writes it."""
    match node:
        case Word() | Phrase():
            return [type(node).__name__.lower(), node.text]
        case Regex():
            return ["regex", node.source]
        case And() | Or():
            return [type(node).__name__.lower(), *map(plain, node.parts)]
        case Not():
            return ["not", plain(node.part)]
        case ScopedQuery():
            return [f"{node.operator}:", plain(node.part)]
        case Property():
            return ["property", plain(node.key)] + ([plain(node.value)] if node.value is not None else [])
        case Constant():
            return ["constant", node.value]
        case Compare():
            return [node.sign, node.scalar]


def whole_terms(node: QueryNode) -> Iterator[QueryNode]:
    """The node and those in it that are queries by themselves."""
    yield node
    match node:
        case ScopedQuery(operator="tag", part=Word()):
            pass  # `-a` behind `tag:` is the tag `-a`
        case And() | Or():
            for part in node.parts:
                yield from whole_terms(part)
        case Not() | ScopedQuery():
            yield from whole_terms(node.part)


def parsed(text: str) -> QueryNode | QueryInvalid:
    try:
        return parse(text)
    except QueryInvalid as refused:
        return refused


@pytest.mark.parametrize("row", VECTORS["trees"], ids=ids(VECTORS["trees"]))
def test_a_query_has_the_tree_of_the_table(row: dict[str, Any]) -> None:
    assert plain(parse(row["query"])) == row["tree"]


@pytest.mark.parametrize("row", VECTORS["errors"], ids=ids(VECTORS["errors"]))
def test_a_mistake_is_shown_at_its_column_with_what_was_expected(row: dict[str, Any]) -> None:
    with pytest.raises(QueryInvalid) as refused:
        parse(row["query"])
    assert refused.value.data["column"] == row["column"]
    assert row["says"] in refused.value.message


PIECES = [
    "a", "b c", " ", "  ", " OR ", "OR", "-", "--", "(", ")", '"', '\\"', "\\", "/", "[", "]", "[[", "]]", ":", "tag:",
    "line:", "file:", "task-todo:", "match-case:", "null", "true", "<", ">", "5", "2024-01-31", "#x", "日本", "😀", "é",
    "*", "+", "?", "{2}", "|", "^", "$", ".", "?:", "?<n>", "\\d", "\\p{L}", "\\k<n>", "\\1", "\n", "\u3000", "x:y",
]  # fmt: skip
QUERIES = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(QUERIES)
@example("/[a OR b/ /c]/")
@example("tag:-a")
@example("tag:-tag:")
@example('[p:[b "c')
@examples(600)
def test_any_text_is_read_or_refused_and_every_term_knows_its_place(text: str) -> None:
    tree = parsed(text)
    if isinstance(tree, QueryInvalid):
        assert 1 <= tree.data["column"] <= len(text) + 1
        return
    for term in whole_terms(tree):
        assert 0 <= term.span.start < term.span.end <= len(text)
        assert parse(term.span.slice(text)) == term


def test_spans_are_those_of_the_source() -> None:
    """QUERY-09"""
    text = 'a -(b OR "c") line:(d [e:>5])'
    tree = parse(text)
    assert isinstance(tree, And)
    assert [part.span.slice(text) for part in tree.parts] == ["a", '-(b OR "c")', "line:(d [e:>5])"]
    scope = tree.parts[2]
    assert isinstance(scope, ScopedQuery)
    assert isinstance(scope.part, And)
    assert scope.part.span.slice(text) == "(d [e:>5])"
    prop = scope.part.parts[1]
    assert isinstance(prop, Property)
    assert prop.value is not None
    assert (prop.key.span.slice(text), prop.value.span.slice(text)) == ("e", ">5")


@pytest.mark.parametrize(
    ("deep", "node"),
    [
        ("(" * 49 + "a" + ")" * 49, Word("a")),
        ("-" * 49 + "a", nested(Not, Word("a"), 49)),
        ("line:" * 49 + "a", nested(lambda part: ScopedQuery("line", part), Word("a"), 49)),
        ("(" * 47 + "[(a):(b)]", Property(Word("a"), Word("b"))),
    ],
)
def test_fifty_levels_are_read(deep: str, node: QueryNode) -> None:
    """QUERY-08"""
    tree = parse(deep)
    assert tree == node
    assert tree.span.slice(deep) == deep


@pytest.mark.parametrize(
    "deep", ["(" * MAX_LENGTH, "-" * (MAX_LENGTH - 1) + "a", "line:" * 1_999 + "a", "[" + "(" * 99, "[a:" + "(" * 99]
)
def test_deeper_nesting_is_refused_in_a_sentence(deep: str) -> None:
    with pytest.raises(QueryInvalid) as refused:
        parse(deep)
    assert str(MAX_DEPTH) in refused.value.message


def test_a_mistake_in_a_long_query_is_told_in_a_short_sentence() -> None:
    for query in ["[p:>" + "x" * 9_000 + "]", "[" + "p " * 4_000 + '"' + "x" * 900 + '"]']:
        refused = parsed(query)
        assert isinstance(refused, QueryInvalid)
        assert len(refused.message) < 300


def test_a_query_of_more_than_ten_thousand_characters_is_refused() -> None:
    with pytest.raises(QueryInvalid):
        parse("a " * (MAX_LENGTH // 2) + "a")


@pytest.mark.parametrize(
    "text", ["/a" * 4_999, "[[a" * 3_333, '"' * 9_999, "[a" * 4_999, "a OR " * 1_999 + "a", "/" + "[a]" * 3_000]
)
def test_long_queries_are_read_in_a_moment(text: str) -> None:
    start = time.process_time()
    parsed(text)
    assert time.process_time() - start < 2  # measured: 0.1 s


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ('"a', ["phrase", "a"]),
        ("(a", ["word", "a"]),
        ("[a", ["property", ["word", "a"]]),
        ("a /b", ["and", ["word", "a"], ["word", "/b"]]),
        ("a - b", ["and", ["word", "a"], ["word", "-"], ["word", "b"]]),
        ("a foo:b", ["and", ["word", "a"], ["word", "foo:b"]]),
    ],
)
def test_what_the_sources_leave_open_is_read_as_text_or_ends_with_the_query(query: str, tree: list[Any]) -> None:
    assert plain(parse(query)) == tree


def test_a_word_too_long_to_look_for_is_refused_at_its_column() -> None:
    with pytest.raises(QueryInvalid) as error:
        parse("fine " + "[" * 5000)

    assert error.value.data["column"] == 6


def test_a_message_shows_the_beginning_of_a_long_token() -> None:
    with pytest.raises(QueryInvalid, match=f"found '{'x' * 49}…'"):
        parse("[due:>" + "x" * 300)
