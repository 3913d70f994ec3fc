"""A query cut into tokens (semantics 5.1; specs/query.md, QUERY-01 to QUERY-09)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NoReturn, get_args

from obsidian_mcp.core.text import compat
from obsidian_mcp.core.text.text import Span
from obsidian_mcp.errors import QueryInvalid

Operator = Literal[
    "file", "path", "content", "match-case", "ignore-case", "tag",
    "line", "block", "section", "task", "task-todo", "task-done",
]  # fmt: skip
OPERATORS: tuple[Operator, ...] = get_args(Operator)

Kind = Literal[
    "word", "phrase", "regex", "operator", "not", "or", "(", ")", "[", ":", "]", "compare", "end",
]  # fmt: skip
_Mode = Literal["query", "key", "value"]

_SPACE = re.compile(r"\s+")
_OPERATOR = re.compile(rf"({'|'.join(sorted(OPERATORS, key=len, reverse=True))}):", re.IGNORECASE | re.ASCII)
_NAMED = re.compile(r"[A-Za-z][A-Za-z-]*:")
_HYPHENS = re.compile(r"-+")
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)("|\Z|\\\Z)', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')
_ENDS: dict[_Mode, str] = {"query": '"()', "key": '"()]:', "value": '"()]'}


@dataclass(frozen=True, slots=True)
class Token:
    """`text` is what it means: a phrase without its quotes, an operator in lower case and without its colon."""

    kind: Kind
    text: str
    span: Span


def tokens(query: str) -> list[Token]:
    """The tokens of a query, the last of kind `end`. Raises: QueryInvalid."""
    lexer = _Lexer(query)
    found = [lexer.token()]
    while found[-1].kind != "end":
        found.append(lexer.token())
    return found


def fail(at: int, expected: str, found: str, hint: str = "") -> NoReturn:
    """Raise QueryInvalid for the character at index `at` of the query; its `column` counts from 1."""
    column = at + 1
    sentence = f"The query cannot be read at column {column}: expected {expected}, found {found}."
    raise QueryInvalid(f"{sentence} {hint}".rstrip(), column=column)


class _Lexer:
    """One pass over the query. What a character means depends on where it stands: outside of brackets, in the key or
    in the value of a property."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.mode: _Mode = "query"

    def _take(self, kind: Kind, length: int, text: str | None = None) -> Token:
        span = Span(self.at, self.at + length)
        self.at = span.end
        return Token(kind, span.of(self.text) if text is None else text, span)

    def token(self) -> Token:
        if space := _SPACE.match(self.text, self.at):
            self.at = space.end()
        if self.at >= len(self.text):
            return self._take("end", 0)
        char = self.text[self.at]
        if char in "()":
            return self._take("(" if char == "(" else ")", 1)
        if char == '"':
            return self._quoted()
        if char == "/" and (token := self._regex()):
            return token
        if self.mode == "query":
            return self._in_query(char)
        if char == "]":
            self.mode = "query"
            return self._take("]", 1)
        if self.mode == "key":
            if char == ":":
                self.mode = "value"
                return self._take(":", 1)
            return self._word()
        if char in "<>":
            return self._take("compare", 1)
        if char == "-" and not self.text[self.at + 1 : self.at + 2].isdigit():
            return self._hyphen()
        return self._word()

    def _in_query(self, char: str) -> Token:
        if char == "[" and not self.text.startswith("[[", self.at):
            self.mode = "key"
            return self._take("[", 1)
        if char == "-":
            return self._hyphen()
        if operator := _OPERATOR.match(self.text, self.at):
            return self._take("operator", len(operator.group()), operator.group(1).lower())
        if not compat.SEARCH_UNKNOWN_OPERATOR_IS_A_WORD and (unknown := _NAMED.match(self.text, self.at)):
            known = ", ".join(f"{name}:" for name in OPERATORS)
            fail(self.at, f"one of the operators {known}", repr(unknown.group()), "Quote the text to search for it.")
        return self._word()

    def _hyphen(self) -> Token:
        """A hyphen negates what it touches; alone it is text."""
        hyphens = _HYPHENS.match(self.text, self.at)
        end = hyphens.end() if hyphens else self.at
        after = self.text[end : end + 1]
        if after and not after.isspace() and after not in (")" if self.mode == "query" else ")]"):
            return self._take("not", 1)
        if not compat.SEARCH_LONE_HYPHENS_ARE_A_WORD:
            fail(self.at, "a term right after '-'", "nothing", 'Quote the hyphen ("-") to search for it.')
        return self._take("word", end - self.at)

    def _quoted(self) -> Token:
        found = _QUOTED.match(self.text, self.at)
        if found is None or (found.group(2) != '"' and not compat.SEARCH_UNCLOSED_ENDS_WITH_QUERY):
            fail(self.at, "a second quote that closes this one", "the end of the query")
        inner = found.group(1) + ("\\" if found.group(2).startswith("\\") else "")
        return self._take("phrase", len(found.group()), _ESCAPED.sub(r"\1", inner))

    def _regex(self) -> Token | None:
        end = self._slash(classes=True)
        if end < 0:
            end = self._slash(classes=False)
        if end > self.at + 1:
            return self._take("regex", end + 1 - self.at, self.text[self.at + 1 : end])
        if end < 0 and not compat.SEARCH_UNCLOSED_REGEX_IS_A_WORD:
            fail(self.at, "a second '/' that closes the regular expression", "the end of the query")
        return None  # `//` begins no expression in JavaScript

    def _slash(self, *, classes: bool) -> int:
        """The index of the slash that closes a regular expression, -1 without one. One in `[…]` does not."""
        at = self.at + 1
        in_class = False
        while at < len(self.text):
            char = self.text[at]
            if char == "/" and not in_class:
                return at
            in_class = classes and char != "]" and (in_class or char == "[")
            at += 2 if char == "\\" else 1
        return -1

    def _word(self) -> Token:
        """A run up to white space or a special character. A wikilink in it is taken whole, `[[My Note]]`."""
        at = self.at
        ends = _ENDS[self.mode]
        while at < len(self.text) and not self.text[at].isspace() and self.text[at] not in ends:
            close = self.text.find("]]", at + 2) if self.mode != "key" and self.text.startswith("[[", at) else -1
            at = close + 2 if close >= 0 else at + 1
        kind: Kind = "or" if self.text[self.at : at] == "OR" else "word"
        return self._take(kind, at - self.at)
