"""Decide whether a file matches a query, and find where.

A query is compiled once, into conditions, and then tried on many files (semantics 5.2 to 5.4;
QUERY-10 to QUERY-55).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from typing import cast

from obsidian_mcp.core.text.analysis import fold, substring
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.text import Span

from . import nodes
from .conditions import (
    AllOf,
    AnyOf,
    Anyplace,
    Condition,
    InContent,
    InPart,
    InPath,
    NoneOf,
    Passage,
    Tagged,
    WithProperty,
)
from .document import Document, PartScope
from .finders import LiteralFinder, make_finder, make_tag_test
from .nodes import (
    And,
    Not,
    Or,
    Phrase,
    Property,
    QueryNode,
    Regex,
    ScopedQuery,
    SearchField,
    Word,
    has_scope,
)
from .property_tests import make_name_test, make_value_test
from .regexp import translate

MAX_SPANS = 100_000
"""Maximum number of places that are listed of one file (semantics 5.5)."""


# Costs order conditions, cheaper ones first; they have no unit.
_PATH_LITERAL_COST, _PATH_REGEX_COST = 0, 1
"""Of a search in the path, which is short and at hand."""
_LITERAL_COST, _REGEX_COST = 10, 20
"""Of a search in the text."""
_LINE_COST, _STRUCTURE_COST = 15, 30
"""Added to the cost of the condition inside: lines need no structure, other parts do."""


class Matcher:
    """A query compiled for many files.

    Its methods raise OperationTimeout when a regular expression runs away or the time of the call
    is over.
    """

    def __init__(self, query: QueryNode) -> None:
        self._test = _compile(query, SearchField())

    def matches(self, subject: Document) -> bool:
        """Return whether the file matches."""
        checkpoint()
        passage = Passage(subject)
        return self._test.is_met_in(passage) and (
            passage.has_content or next(self._test.places(passage), None) is not None
        )

    def find(self, subject: Document) -> tuple[Span, ...] | None:
        """Return the places to show of a file's content, in order and each once.

        Return None without a match.

        A file that is found by its path, or because of what it does not contain, has no places.
        """
        if not self.matches(subject):
            return None
        spans = set(self._test.places(Passage(subject)))
        return tuple(sorted(spans, key=attrgetter("start", "end")))[:MAX_SPANS]

    def places(self, subject: Document) -> list[Iterator[Span]]:
        """Return where the content of a matching file satisfies each part of the query, lazily."""
        parts = self._test.parts if isinstance(self._test, AllOf) else (self._test,)
        return [part.places(Passage(subject)) for part in parts]


# From the tree to conditions


def _compile(node: QueryNode, field: SearchField, *, negated: bool = False) -> Condition:
    """Return the condition of a node.

    Negations are pushed down to the leaves, so that only affirmed terms give places to show.
    """
    while isinstance(node, Not | ScopedQuery):
        if isinstance(node, Not):
            negated = not negated
        elif node.operator in nodes.NARROWING:
            field = field._replace(**nodes.NARROWING[node.operator])
        else:
            break
        node = node.part
    test: Condition
    match node:
        case And() | Or():
            parts = sorted(
                (_compile(part, field, negated=negated) for part in node.parts),
                key=lambda test: test.cost,
            )
            combine = AllOf if isinstance(node, And) != negated else AnyOf
            return combine(tuple(parts), parts[-1].cost)
        case ScopedQuery():
            test = _compile_part(node, field)
        case Property():
            test = WithProperty(
                make_name_test(node.key), make_value_test(node.value, field.match_case)
            )
        case Word() | Phrase() | Regex() if field.where == "tag":
            test = Tagged(make_tag_test(node)[1])
        case Word() | Phrase() | Regex():
            test = _compile_leaf(node, field)
        case _:
            raise TypeError(f"{type(node).__name__} stands only in the brackets of a property")
    return NoneOf(test, test.cost) if negated else test


def _compile_leaf(node: Word | Phrase | Regex, field: SearchField) -> Condition:
    is_regex = isinstance(node, Regex)
    content = InContent(
        make_finder(node, field.match_case), _REGEX_COST if is_regex else _LITERAL_COST
    )
    if field.where == "content":
        return content
    path = InPath(
        make_finder(node, field.match_case, in_path=True),
        field.where == "file",
        _PATH_REGEX_COST if is_regex else _PATH_LITERAL_COST,
    )
    return Anyplace(content.finder, content.cost, path) if field.where == "anyplace" else path


def _compile_part(node: ScopedQuery, field: SearchField, *, tree: bool | None = None) -> Condition:
    """Return the condition that one part of the text (a line, a block, …) meets the operand.

    `tree`: a section includes the sections below it, because the operand asks for sections, too.
    """
    if tree is None:
        tree = has_scope(node.part, "section")
    if isinstance(node.part, Or):
        # A line has a or b if it has a, or if it has b; each of these is found faster.
        parts = tuple(
            _compile_part(replace(node, part=part), field, tree=tree) for part in node.part.parts
        )
        return AnyOf(parts, max(part.cost for part in parts))
    test = _compile(node.part, field._replace(where="content"))
    longest = next(iter(list_required_texts(node.part)), "")
    must = LiteralFinder(substring(longest, match_case=False)).find_first
    if node.operator == "line":
        return InPart(test, "line", must, _LINE_COST + test.cost)
    scope = (
        "section-tree" if tree and node.operator == "section" else cast("PartScope", node.operator)
    )
    return InPart(test, scope, must, _STRUCTURE_COST + test.cost)


# Texts that a part must contain (QUERY-34 to QUERY-45)


def list_required_texts(node: QueryNode) -> tuple[str, ...]:
    """Return the folded texts that every part which meets an operand contains, the longest first.

    A search looks for them before it looks at the parts (QUERY-34 to QUERY-45).
    """
    return tuple(sorted(set(_find_required_texts(node)), key=lambda text: (-len(text), text)))


def _find_required_texts(node: QueryNode) -> Iterator[str]:
    match node:
        case And():
            for part in node.parts:
                yield from _find_required_texts(part)
        case ScopedQuery() if node.operator not in ("tag", "path", "file"):
            yield from _find_required_texts(node.part)
        case Word() | Phrase() if node.text:
            yield fold(node.text)
        case Regex():
            yield from (clause[0] for clause in translate(node.source).clauses if len(clause) == 1)
