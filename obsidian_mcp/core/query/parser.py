"""Parse the app's search language into a tree with spans (semantics 5.1 and 5.4; QUERY-01 to QUERY-09)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn, cast

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.errors import QueryInvalid

from .regexp import InvalidRegExp, translate
from .tokens import Operator, Token, fail, tokens

MAX_DEPTH = 50
"""Groups, operators and hyphens inside one another."""

MAX_TERM = 500
"""Code points of one word or phrase: the time to look for it grows with its length, and cannot be cut off."""
MAX_LENGTH = 10_000
"""Characters of a query."""

_NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Word:
    """Characters to find anywhere; in the key of a property its whole name."""

    text: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A quoted text, unescaped."""

    text: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Regex:
    """A JavaScript regular expression, as it stands between the slashes; `regexp.translate` accepts it."""

    source: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """All of two or more parts, none of them an And."""

    parts: tuple[Node, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Any of two or more parts, none of them an Or."""

    parts: tuple[Node, ...]
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    part: Node
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Scope:
    """An operator and what it is asked: `line:(a b)`."""

    operator: Operator
    part: Node
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """`null` (also written `empty`), `true` or `false` as the value of a property."""

    value: bool | None
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """`>5` or `<2024-01-31` as the value of a property; `scalar` is a number or a date for `number` or `moment`."""

    sign: Literal["<", ">"]
    scalar: str
    span: Span = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Property:
    """`[key]` or `[key:value]`. A key is made of Word, Phrase, Regex and Or; a value also of And, Not and constants."""

    key: Node
    value: Node | None
    span: Span = field(default=_NOWHERE, compare=False)


Node = Word | Phrase | Regex | And | Or | Not | Scope | Property | Constant | Compare


def parse(text: str) -> Node:
    """Read a query. Raises: QueryInvalid with `column`, counted from 1 in code points."""
    if len(text) > MAX_LENGTH:
        raise QueryInvalid(f"The query is longer than {MAX_LENGTH} characters. Search for less at once.", column=1)
    return _Parser(text, tokens(text)).query()


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(?:(:\d\d)(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?", re.ASCII)


def number(text: str) -> float | None:
    """The number that a text is, None when it is something else."""
    return float(text) if _NUMBER.fullmatch(text) else None


def moment(text: str) -> str | None:
    """A date or date and time as a text that sorts by time, None for anything else. A zone is not looked at."""
    found = _MOMENT.fullmatch(text)
    return f"{found.group(1)}T{found.group(2) or '00:00'}{found.group(3) or ':00'}" if found else None


# Grammar

_TERM = "a word, a quoted phrase, /regex/, an operator, [property] or '('"
_VALUE = "a word, a quoted text, /regex/, null, true, false, '>' or '<' with a number or date, or '('"
_KEY = "the name of a property, a quoted name or /regex/"
_STARTS = {
    "query": {"word", "phrase", "regex", "operator", "not", "(", "["},
    "value": {"word", "phrase", "regex", "compare", "not", "("},
}
_CONSTANTS = {"null": None, "empty": None, "true": True, "false": False}


class _Parser:
    def __init__(self, text: str, found: list[Token]) -> None:
        self.text = text
        self.tokens = found
        self.at = 0
        self.depth = 0
        self.mode: Literal["query", "value"] = "query"

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def next(self) -> Token:
        token = self.token
        self.at += 1
        return token

    def query(self) -> Node:
        if len(self.tokens) == 1:
            fail(0, _TERM, "an empty query", 'The query "" (two quotes) lists every note.')
        node = self.any_of()
        if self.token.kind != "end":
            self.unexpected(f"{_TERM} or the end of the query")
        return node

    def any_of(self) -> Node:
        parts = [self.all_of()]
        while self.token.kind == "or":
            self.next()
            parts.append(self.all_of())
        return _joined(Or, parts)

    def all_of(self) -> Node:
        parts = [self.unary()]
        while self.token.kind in _STARTS[self.mode]:
            parts.append(self.unary())
        return _joined(And, parts)

    def unary(self) -> Node:
        token = self.token
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise QueryInvalid(
                f"The query is nested more than {MAX_DEPTH} deep at column {token.span.start + 1}. Write it flatter.",
                column=token.span.start + 1,
            )
        node = self.atom()
        self.depth -= 1
        return node

    def atom(self) -> Node:
        token = self.token
        if token.kind not in _STARTS[self.mode]:
            self.unexpected(_TERM if self.mode == "query" else _VALUE)
        self.next()
        match token.kind:
            case "not":
                part = self.unary()
                return Not(part, Span(token.span.start, part.span.end))
            case "operator":
                part = self.unary()
                return Scope(cast("Operator", token.text), part, Span(token.span.start, part.span.end))
            case "(":
                return self.close(token, self.any_of())
            case "[":
                return self.property(token)
            case "compare":
                return self.comparison(token)
            case "word" if self.mode == "value" and token.text.lower() in _CONSTANTS:
                return Constant(_CONSTANTS[token.text.lower()], token.span)
        return self.leaf(token)

    def leaf(self, token: Token) -> Node:
        if token.kind == "regex":
            self.check_regex(token)
            return Regex(token.text, token.span)
        if len(token.text) > MAX_TERM:
            column = token.span.start + 1
            raise QueryInvalid(
                f"The word or phrase at column {column} is longer than {MAX_TERM} characters. Search for a part of it.",
                column=column,
            )
        return (Phrase if token.kind == "phrase" else Word)(token.text, token.span)

    def check_regex(self, token: Token) -> None:
        try:
            translate(token.text)
        except InvalidRegExp as problem:
            column = token.span.start + 2 + problem.at
            raise QueryInvalid(
                f"The regular expression cannot be read at column {column} of the query: {problem.problem}. "
                "Correct it, or quote the text to search for it as it stands.",
                column=column,
            ) from None

    def close(self, opening: Token, node: Node) -> Node:
        """The end of a group; its span takes in the parentheses."""
        if self.token.kind == ")":
            return replace(node, span=Span(opening.span.start, self.next().span.end))
        if self.token.kind != "end" or not compat.SEARCH_UNCLOSED_ENDS_WITH_QUERY:
            self.unexpected(f"')' for the '(' at column {opening.span.start + 1}")
        return replace(node, span=Span(opening.span.start, node.span.end))

    def property(self, opening: Token) -> Property:
        key = self.key_any_of()
        value: Node | None = None
        if self.token.kind == ":":
            self.next()
            self.mode = "value"
            value = self.any_of()
            self.mode = "query"
        if self.token.kind == "]":
            return Property(key, value, Span(opening.span.start, self.next().span.end))
        if self.token.kind != "end" or not compat.SEARCH_UNCLOSED_ENDS_WITH_QUERY:
            self.unexpected("']'" if value is not None else "':' or ']'")
        return Property(key, value, Span(opening.span.start, (value or key).span.end))

    def key_any_of(self) -> Node:
        parts = [self.key()]
        while self.token.kind == "or":
            self.next()
            parts.append(self.key())
        return _joined(Or, parts)

    def key(self) -> Node:
        token = self.next()
        if token.kind == "(":
            self.depth += 1
            if self.depth > MAX_DEPTH:
                fail(token.span.start, "fewer parentheses", f"more than {MAX_DEPTH} inside one another")
            node = self.close(token, self.key_any_of())
            self.depth -= 1
            return node
        if token.kind not in {"word", "phrase", "regex"}:
            self.at -= 1
            hint = (
                'To find the text "[ ]", quote it; to find open tasks, use task-todo:"".' if token.kind == "]" else ""
            )
            self.unexpected(_KEY, hint)
        if token.kind != "word":
            return self.leaf(token)
        words = [token]
        while self.token.kind == "word":  # `[due date]`: a name may hold spaces
            words.append(self.next())
        return Word(" ".join(word.text for word in words), Span(token.span.start, words[-1].span.end))

    def comparison(self, token: Token) -> Compare:
        scalar = self.token
        if scalar.kind not in {"word", "phrase"} or (number(scalar.text) is None and moment(scalar.text) is None):
            hint = "There are only > and <." if scalar.text.startswith("=") else ""
            self.unexpected(f"a number or a date such as 2024-01-31 after '{token.text}'", hint)
        self.next()
        return Compare("<" if token.text == "<" else ">", scalar.text, Span(token.span.start, scalar.span.end))

    def unexpected(self, expected: str, hint: str = "") -> NoReturn:
        token = self.token
        source = token.span.of(self.text)
        found = (
            "the end of the query" if token.kind == "end" else repr(source if len(source) < 50 else f"{source[:49]}…")
        )
        fail(token.span.start, expected, found, hint)


def _joined(kind: type[And | Or], parts: list[Node]) -> Node:
    if len(parts) == 1:
        return parts[0]
    flat: list[Node] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, kind) else [part])
    return kind(tuple(flat), Span(parts[0].span.start, parts[-1].span.end))
