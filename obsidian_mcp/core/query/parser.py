"""Parse the app's search language into a tree (semantics 5.1 and 5.4; QUERY-01 to QUERY-09)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import takewhile
from typing import Literal, NoReturn, cast

from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.errors import QueryInvalid

from . import nodes
from .lexer import QueryToken, fail_at, tokenize_query
from .nodes import And, Compare, Or, Property, QueryNode, Word, moment, number
from .regexp import InvalidRegExp, translate

MAX_DEPTH = 50
"""Maximum depth of groups, operators and hyphens inside one another."""

SOURCE_SHOWN = 49
"""Code points of a token in a message."""
MAX_TERM = 500
"""Code points of one word or phrase.

The time to find it grows with its length, and the search cannot be stopped.
"""
_HAS_VALUE = re.compile(r"\[[^\[\]]+:")
"""A query without it has no value of a property."""


def parse(text: str) -> QueryNode:
    """Parse a query.

    Raises: QueryInvalid with `column`, counted from 1 in code points.
    """
    tokens = tokenize_query(text)
    if len(tokens) == 1:
        fail_at(0, _TERM, "an empty query", 'The query "" (two quotes) lists every note.')
    parser = _SearchQueryParser(text, tokens)
    node = parser.any_of()
    if parser.token.kind != "end":
        parser.fail(f"{_TERM} or the end of the query")
    return node


def with_days(query: str, today: Callable[[], date]) -> str:
    """Return a query in which dates stand for days in words (QUERY-56).

    Words behind `>` and `<` become dates. Words that are the value of a property become a choice:
    the value is those words, or one of the dates.
    Raises: QueryInvalid.
    """
    if _HAS_VALUE.search(query) is None:
        return query
    tokens = tokenize_query(query)
    written = ""
    copied_to = looked_to = 0
    in_value = False
    for place, token in enumerate(tokens):
        in_value = token.kind == ":" or (in_value and token.kind != "]")
        if not in_value or token.kind not in ("word", "phrase") or token.span.start < looked_to:
            continue
        previous = tokens[place - 1]
        sign = previous.text if previous.kind == "compare" else ""
        words = list(takewhile(lambda token: token.kind == "word", tokens[place:])) or [token]
        start, looked_to = token.span.start, words[-1].span.end
        text = token.text if token.kind == "phrase" else query[start:looked_to]
        days = _write_days(text, today, sign)
        if days is not None:
            written += query[copied_to:start] + days.format(query[start:looked_to])
            copied_to = looked_to
    return written + query[copied_to:]


def _write_days(text: str, today: Callable[[], date], sign: str) -> str | None:
    """Return the part of a query that stands for days in words, with `{}` for those words.

    Return None for a text that names no days, or that can be compared as it is.
    """
    is_named = sign or " " in text or text.lower() in ("today", "yesterday", "tomorrow")
    if not is_named or number(text) is not None or moment(text) is not None:
        return None
    # Loaded here: it compiles the expressions of all words, and few searches need them.
    from obsidian_mcp.core.calendar.days import read_days

    days = read_days(text, today())
    if days is None:
        return None
    end = f"{days.last}T23:59:59"
    if sign:
        return end if sign == ">" else str(days.first)
    day_before = date.fromordinal(max(1, days.first.toordinal() - 1))
    return f"(({{}}) OR (>{day_before}T23:59:59 <{end}))"


def quote_phrase(text: str) -> str:
    """Return a text as a phrase of a query (QUERY-03)."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# Grammar

_TERM = "a word, a quoted phrase, /regex/, an operator, [property] or '('"
_VALUE = (
    "a word, a quoted text, /regex/, null, true, false, '>' or '<' with a number or date, or '('"
)
_KEY = "the name of a property, a quoted name or /regex/"
_STARTS = {
    "query": {"word", "phrase", "regex", "operator", "not", "(", "["},
    "value": {"word", "phrase", "regex", "compare", "not", "("},
}
_CONSTANTS = {"null": None, "empty": None, "true": True, "false": False}


class _SearchQueryParser:
    """Reads the tokens from left to right; `token` is the one at hand."""

    def __init__(self, text: str, tokens: list[QueryToken]) -> None:
        self.text = text
        self._following = iter(tokens)
        self.token = next(self._following)
        self.depth = 0
        self.mode: Literal["query", "value"] = "query"

    def take_token(self) -> QueryToken:
        """Return the current token and go on to the one after it."""
        token, self.token = self.token, next(self._following)
        return token

    def any_of(self) -> QueryNode:
        alternatives = [[self.term()]]
        while self.token.kind == "or" or self.token.kind in _STARTS[self.mode]:
            if self.token.kind == "or":
                self.take_token()
                alternatives.append([])
            alternatives[-1].append(self.term())
        return _combine(Or, [_combine(And, parts) for parts in alternatives])

    def term(self) -> QueryNode:
        token = self.token
        if self.depth == MAX_DEPTH:
            raise QueryInvalid(
                f"The query is nested more than {MAX_DEPTH} deep at column "
                f"{token.span.start + 1}. Write it flatter.",
                column=token.span.start + 1,
            )
        if token.kind not in _STARTS[self.mode]:
            self.fail(_TERM if self.mode == "query" else _VALUE)
        self.take_token()
        self.depth += 1
        node: QueryNode
        match token.kind:
            case "not" | "operator":
                part = self.term()
                span = Span(token.span.start, part.span.end)
                if token.kind == "not":
                    node = nodes.Not(part, span)
                else:
                    node = nodes.ScopedQuery(cast("nodes.SearchOperator", token.text), part, span)
            case "(":
                node = self.close(token, self.any_of())
            case "[":
                node = self.property(token)
            case "compare":
                node = self.comparison(token)
            case _:
                node = self.leaf(token)
        self.depth -= 1
        return node

    def leaf(self, token: QueryToken) -> QueryNode:
        if token.kind == "regex":
            self.check_regex(token)
            return nodes.Regex(token.text, token.span)
        if token.kind == "word" and self.mode == "value" and token.text.lower() in _CONSTANTS:
            return nodes.Constant(_CONSTANTS[token.text.lower()], token.span)
        if len(token.text) > MAX_TERM:
            column = token.span.start + 1
            raise QueryInvalid(
                f"The word or phrase at column {column} is longer than {MAX_TERM} characters. "
                "Search for a part of it.",
                column=column,
            )
        return (nodes.Phrase if token.kind == "phrase" else Word)(token.text, token.span)

    def check_regex(self, token: QueryToken) -> None:
        try:
            translate(token.text)
        except InvalidRegExp as problem:
            column = token.span.start + 2 + problem.at
            raise QueryInvalid(
                f"The regular expression cannot be read at column {column} of the query: "
                f"{problem.problem}. Correct it, or quote the text to search for it as it stands.",
                column=column,
            ) from None

    def close(self, opening: QueryToken, node: QueryNode) -> QueryNode:
        """Close a group; its span includes the parentheses."""
        if self.token.kind == ")":
            return replace(node, span=Span(opening.span.start, self.take_token().span.end))
        if self.token.kind != "end":
            self.fail(f"')' for the '(' at column {opening.span.start + 1}")
        return replace(node, span=Span(opening.span.start, node.span.end))

    def property(self, opening: QueryToken) -> Property:
        key = self.key_any_of()
        value: QueryNode | None = None
        if self.token.kind == ":":
            self.take_token()
            self.mode = "value"
            value = self.any_of()
            self.mode = "query"
        if self.token.kind == "]":
            return Property(key, value, Span(opening.span.start, self.take_token().span.end))
        if self.token.kind != "end":
            self.fail("']'" if value is not None else "':' or ']'")
        return Property(key, value, Span(opening.span.start, (value or key).span.end))

    def key_any_of(self) -> QueryNode:
        parts = [self.key()]
        while self.token.kind == "or":
            self.take_token()
            parts.append(self.key())
        return _combine(Or, parts)

    def key(self) -> QueryNode:
        token = self.token
        if token.kind not in {"(", "word", "phrase", "regex"}:
            hint = 'To find the text "[ ]", quote it; to find open tasks, use task-todo:"".'
            self.fail(_KEY, hint if token.kind == "]" else "")
        self.take_token()
        if token.kind == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                fail_at(
                    token.span.start,
                    "fewer parentheses",
                    f"more than {MAX_DEPTH} inside one another",
                )
            node = self.close(token, self.key_any_of())
            self.depth -= 1
            return node
        if token.kind != "word":
            return self.leaf(token)
        words = [token]
        while self.token.kind == "word":  # `[due date]`: a name may hold spaces
            words.append(self.take_token())
        return Word(
            " ".join(word.text for word in words), Span(token.span.start, words[-1].span.end)
        )

    def comparison(self, token: QueryToken) -> Compare:
        scalar = self.token
        if scalar.kind not in {"word", "phrase"} or (
            number(scalar.text) is None and moment(scalar.text) is None
        ):
            hint = "There are only > and <." if scalar.text.startswith("=") else ""
            self.fail(f"a number or a date such as 2024-01-31 after '{token.text}'", hint)
        self.take_token()
        return Compare(
            "<" if token.text == "<" else ">", scalar.text, Span(token.span.start, scalar.span.end)
        )

    def fail(self, expected: str, hint: str = "") -> NoReturn:
        token = self.token
        actual = "the end of the query"
        if token.kind != "end":
            actual = repr(cut_text(token.span.slice(self.text), SOURCE_SHOWN))
        fail_at(token.span.start, expected, actual, hint)


def _combine(kind: type[And | Or], parts: list[QueryNode]) -> QueryNode:
    if len(parts) == 1:
        return parts[0]
    flat: list[QueryNode] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else [part])
    return kind(tuple(flat), Span(parts[0].span.start, parts[-1].span.end))
