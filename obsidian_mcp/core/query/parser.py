"""Parse the app's search language into a tree (semantics 5.1 and 5.4; QUERY-01 to QUERY-09)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import takewhile
from typing import Literal, NamedTuple, NoReturn, cast

from obsidian_mcp.core.text.text import Span
from obsidian_mcp.errors import QueryInvalid

from . import nodes
from .nodes import And, Compare, Node, Or, Property, Word, moment, number
from .regexp import InvalidRegExp, translate

MAX_DEPTH = 50
"""Groups, operators and hyphens inside one another."""

MAX_TERM = 500
"""Code points of one word or phrase: the time to find it grows with its length, and the search
cannot be stopped."""
MAX_LENGTH = 10_000
"""Characters of a query."""


def parse(text: str) -> Node:
    """Parse a query. Raises: QueryInvalid with `column`, counted from 1 in code points."""
    tokens = _tokens(text)
    if len(tokens) == 1:
        _fail(0, _TERM, "an empty query", 'The query "" (two quotes) lists every note.')
    parser = _Parser(text, tokens)
    node = parser.any_of()
    if parser.token.kind != "end":
        parser.unexpected(f"{_TERM} or the end of the query")
    return node


def with_days(query: str, today: Callable[[], date]) -> str:
    """Return a query in which days in words have become dates: behind `>` and `<`, and as values of
    properties, which are those words or dates then (QUERY-56). Raises: QueryInvalid."""
    if _HAS_VALUE.search(query) is None:
        return query
    found, written, done, seen, in_value = _tokens(query), "", 0, 0, False
    for place, token in enumerate(found):
        in_value = token.kind == ":" or (in_value and token.kind != "]")
        if not in_value or token.kind not in ("word", "phrase") or token.span.start < seen:
            continue
        sign = found[place - 1].text if found[place - 1].kind == "compare" else ""
        words = list(takewhile(lambda other: other.kind == "word", found[place:])) or [token]
        start, seen = token.span.start, words[-1].span.end
        if named := _days_named(
            token.text if token.kind == "phrase" else query[start:seen], today, sign
        ):
            written += query[done:start] + named.format(query[start:seen])
            done = seen
    return written + query[done:]


def _days_named(text: str, today: Callable[[], date], sign: str) -> str | None:
    """Return what stands in a query for days in words, `{}` for those words; None for other
    texts."""
    is_named = sign or " " in text or text.lower() in ("today", "yesterday", "tomorrow")
    if not is_named or number(text) is not None or moment(text) is not None:
        return None
    from obsidian_mcp.core.calendar.days import (
        read_days,
    )  # with all expressions of words: few searches need them

    if (days := read_days(text, today())) is None:
        return None
    end = f"{days.last}T23:59:59"
    if sign:
        return end if sign == ">" else str(days.first)
    return f"(({{}}) OR (>{date.fromordinal(max(1, days.first.toordinal() - 1))}T23:59:59 <{end}))"


def quoted(text: str) -> str:
    """Return a text as a phrase of a query (QUERY-03)."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# Tokens

_Kind = Literal[
    "word", "phrase", "regex", "operator", "not", "or", "(", ")", "[", ":", "]", "compare", "end",
]  # fmt: skip
_Mode = Literal["query", "key", "value"]

_HAS_VALUE = re.compile(r"\[[^\[\]]+:")
_OPERATOR = re.compile(
    rf"({'|'.join(sorted(nodes.OPERATORS, key=len, reverse=True))}):", re.IGNORECASE | re.ASCII
)
_FLAGS = re.compile(r"(?!\w*(\w)\w*\1)[dgimsuvy]+(?=[\s()\]]|\Z)")
"""The flags of a regular expression in JavaScript, each once."""
_FLAGS_TAKEN = frozenset("giu")
"""Those that change nothing in a search: it finds all matches, in any case, of characters."""
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)("|\Z|\\\Z)', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')
_ENDS: dict[_Mode, str] = {"query": '"()', "key": '"()]:', "value": '"()]'}


class _Token(NamedTuple):
    """`text` is its meaning: a phrase without its quotes, an operator in lower case and without its
    colon."""

    kind: _Kind
    text: str
    span: Span


def _tokens(query: str) -> list[_Token]:
    """Return the tokens of a query, the last of kind `end`. Raises: QueryInvalid."""
    if len(query) > MAX_LENGTH:
        raise QueryInvalid(
            f"The query is longer than {MAX_LENGTH} characters. Search for less at once.", column=1
        )
    lexer = _Lexer(query)
    found = [lexer.token()]
    while found[-1].kind != "end":
        found.append(lexer.token())
    return found


def _fail(at: int, expected: str, found: str, hint: str = "") -> NoReturn:
    """Raise QueryInvalid for the character at index `at` of the query; its `column` counts from
    1."""
    column = at + 1
    sentence = f"The query cannot be read at column {column}: expected {expected}, found {found}."
    raise QueryInvalid(f"{sentence} {hint}".rstrip(), column=column)


class _Lexer:
    """One pass over the query. What characters mean depends on the mode: outside, in a property's
    key or its value."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.mode: _Mode = "query"
        self.behind_tag = False
        """Whether a tag comes: its name may begin with a hyphen, which negates nothing there."""

    def _take(self, kind: _Kind, length: int, text: str | None = None) -> _Token:
        span = Span(self.at, self.at + length)
        self.at = span.end
        self.behind_tag = kind == "operator" and text == "tag"
        return _Token(kind, self.text[span.start : span.end] if text is None else text, span)

    def token(self) -> _Token:
        self.at = len(self.text) - len(self.text[self.at :].lstrip())
        if self.at == len(self.text):
            return self._take("end", 0)
        char = self.text[self.at]
        if char in "()" and not self.text.startswith("()", self.at):
            return self._take(cast("_Kind", char), 1)
        if char == '"':
            return self._quoted()
        if char == "/" and (token := self._regex()):
            return token
        if self.mode == "query":
            return self._in_query(char)
        if char == "]":
            self.mode = "query"
            return self._take("]", 1)
        if char == ":" and self.mode == "key":
            self.mode = "value"
            return self._take(":", 1)
        if self.mode == "key":
            return self._word()
        if char in "<>":
            return self._take("compare", 1)
        if char == "-" and not self.text[self.at + 1 : self.at + 2].isdigit():
            return self._hyphen()
        return self._word()

    def _in_query(self, char: str) -> _Token:
        if char == "[" and not self.text.startswith("[[", self.at):
            self.mode = "key"
            return self._take("[", 1)
        if char == "-" and not self.behind_tag:
            return self._hyphen()
        if operator := _OPERATOR.match(self.text, self.at):
            return self._take("operator", len(operator.group()), operator.group(1).lower())
        return self._word()

    def _hyphen(self) -> _Token:
        """A hyphen negates what it touches; alone it is text."""
        end = len(self.text) - len(self.text[self.at :].lstrip("-"))
        after = self.text[end : end + 1]
        if after and not after.isspace() and after not in (")" if self.mode == "query" else ")]"):
            return self._take("not", 1)
        return self._take("word", end - self.at)

    def _quoted(self) -> _Token:
        found = _QUOTED.match(self.text, self.at)
        assert found is not None  # noqa: S101 - a quote that is not closed ends with the query
        inner = found.group(1) + ("\\" if found.group(2).startswith("\\") else "")
        return self._take("phrase", len(found.group()), _ESCAPED.sub(r"\1", inner))

    def _regex(self) -> _Token | None:
        end = self._slash(classes=True)
        if end < 0:
            end = self._slash(classes=False)
        if end > self.at + 1:
            flags = _FLAGS.match(self.text, end + 1)
            if flags is not None and not _FLAGS_TAKEN.issuperset(flags[0]):
                hint = "Quote the text to search for it as it stands."
                _fail(
                    end + 1,
                    "no flag behind a regular expression but g, i and u",
                    repr(flags[0]),
                    hint,
                )
            length = (flags.end() if flags is not None else end + 1) - self.at
            return self._take("regex", length, self.text[self.at + 1 : end])
        # `//` begins no expression in JavaScript, and a `/` without a second one is a character.
        return None

    def _slash(self, *, classes: bool) -> int:
        """Return the index of the slash that closes a regular expression, -1 without one. A slash
        in `[…]` does not."""
        at = self.at + 1
        in_class = False
        while at < len(self.text):
            char = self.text[at]
            if char == "/" and not in_class:
                return at
            in_class = classes and char != "]" and (in_class or char == "[")
            at += 2 if char == "\\" else 1
        return -1

    def _word(self) -> _Token:
        """A run up to white space or a special character. A wikilink, `[[My Note]]`, and `()` are
        units in it."""
        at = self.at
        ends = _ENDS[self.mode]
        while at < len(self.text) and not self.text[at].isspace():
            if self.text.startswith("()", at):
                at += 2
                continue
            if self.text[at] in ends:
                break
            close = (
                self.text.find("]]", at + 2)
                if self.mode != "key" and self.text.startswith("[[", at)
                else -1
            )
            at = close + 2 if close >= 0 else at + 1
        kind: _Kind = "or" if self.text[self.at : at] == "OR" else "word"
        return self._take(kind, at - self.at)


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


class _Parser:
    def __init__(self, text: str, found: list[_Token]) -> None:
        self.text = text
        self.rest = iter(found)
        self.token = next(self.rest)
        self.depth = 0
        self.mode: Literal["query", "value"] = "query"

    def next(self) -> _Token:
        """Return the current token and go on to the one after it."""
        token, self.token = self.token, next(self.rest)
        return token

    def any_of(self) -> Node:
        alternatives = [[self.term()]]
        while self.token.kind == "or" or self.token.kind in _STARTS[self.mode]:
            if self.token.kind == "or":
                self.next()
                alternatives.append([])
            alternatives[-1].append(self.term())
        return _joined(Or, [_joined(And, parts) for parts in alternatives])

    def term(self) -> Node:
        token = self.token
        if self.depth == MAX_DEPTH:
            raise QueryInvalid(
                f"The query is nested more than {MAX_DEPTH} deep at column "
                f"{token.span.start + 1}. Write it flatter.",
                column=token.span.start + 1,
            )
        if token.kind not in _STARTS[self.mode]:
            self.unexpected(_TERM if self.mode == "query" else _VALUE)
        self.next()
        self.depth += 1
        node: Node
        match token.kind:
            case "not" | "operator":
                part = self.term()
                span = Span(token.span.start, part.span.end)
                if token.kind == "not":
                    node = nodes.Not(part, span)
                else:
                    node = nodes.ScopedQuery(cast("nodes.Operator", token.text), part, span)
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

    def leaf(self, token: _Token) -> Node:
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

    def check_regex(self, token: _Token) -> None:
        try:
            translate(token.text)
        except InvalidRegExp as problem:
            column = token.span.start + 2 + problem.at
            raise QueryInvalid(
                f"The regular expression cannot be read at column {column} of the query: "
                f"{problem.problem}. Correct it, or quote the text to search for it as it stands.",
                column=column,
            ) from None

    def close(self, opening: _Token, node: Node) -> Node:
        """Close a group; its span includes the parentheses."""
        if self.token.kind == ")":
            return replace(node, span=Span(opening.span.start, self.next().span.end))
        if self.token.kind != "end":
            self.unexpected(f"')' for the '(' at column {opening.span.start + 1}")
        return replace(node, span=Span(opening.span.start, node.span.end))

    def property(self, opening: _Token) -> Property:
        key = self.key_any_of()
        value: Node | None = None
        if self.token.kind == ":":
            self.next()
            self.mode = "value"
            value = self.any_of()
            self.mode = "query"
        if self.token.kind == "]":
            return Property(key, value, Span(opening.span.start, self.next().span.end))
        if self.token.kind != "end":
            self.unexpected("']'" if value is not None else "':' or ']'")
        return Property(key, value, Span(opening.span.start, (value or key).span.end))

    def key_any_of(self) -> Node:
        parts = [self.key()]
        while self.token.kind == "or":
            self.next()
            parts.append(self.key())
        return _joined(Or, parts)

    def key(self) -> Node:
        token = self.token
        if token.kind not in {"(", "word", "phrase", "regex"}:
            hint = 'To find the text "[ ]", quote it; to find open tasks, use task-todo:"".'
            self.unexpected(_KEY, hint if token.kind == "]" else "")
        self.next()
        if token.kind == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                _fail(
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
            words.append(self.next())
        return Word(
            " ".join(word.text for word in words), Span(token.span.start, words[-1].span.end)
        )

    def comparison(self, token: _Token) -> Compare:
        scalar = self.token
        if scalar.kind not in {"word", "phrase"} or (
            number(scalar.text) is None and moment(scalar.text) is None
        ):
            hint = "There are only > and <." if scalar.text.startswith("=") else ""
            self.unexpected(f"a number or a date such as 2024-01-31 after '{token.text}'", hint)
        self.next()
        return Compare(
            "<" if token.text == "<" else ">", scalar.text, Span(token.span.start, scalar.span.end)
        )

    def unexpected(self, expected: str, hint: str = "") -> NoReturn:
        token = self.token
        source = token.span.slice(self.text)
        found = (
            "the end of the query"
            if token.kind == "end"
            else repr(source if len(source) < 50 else f"{source[:49]}…")
        )
        _fail(token.span.start, expected, found, hint)


def _joined(kind: type[And | Or], parts: list[Node]) -> Node:
    if len(parts) == 1:
        return parts[0]
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else [part])
    return kind(tuple(flat), Span(parts[0].span.start, parts[-1].span.end))
