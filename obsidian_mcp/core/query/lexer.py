"""Cut a query into tokens (QUERY-01 to QUERY-09)."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, NoReturn, cast

from obsidian_mcp.core.text.text import Span
from obsidian_mcp.errors import QueryInvalid

from . import nodes

MAX_LENGTH = 10_000
"""Characters of a query."""
TokenKind = Literal[
    "word", "phrase", "regex", "operator", "not", "or", "(", ")", "[", ":", "]", "compare", "end",
]  # fmt: skip
_LexerMode = Literal["query", "key", "value"]

_OPERATOR = re.compile(
    rf"({'|'.join(sorted(nodes.OPERATORS, key=len, reverse=True))}):", re.IGNORECASE | re.ASCII
)
_FLAGS = re.compile(r"(?!\w*(\w)\w*\1)[dgimsuvy]+(?=[\s()\]]|\Z)")
"""The flags of a regular expression in JavaScript, each once."""
_FLAGS_TAKEN = frozenset("giu")
"""Flags that change nothing: a search finds all matches, in any case, of whole characters."""
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)("|\Z|\\\Z)', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')
_ENDS: dict[_LexerMode, str] = {"query": '"()', "key": '"()]:', "value": '"()]'}
"""Characters that end a word, by what is read."""


class QueryToken(NamedTuple):
    """One token of a query.

    `text` is its meaning: a phrase without its quotes, an operator in lower case and without its
    colon.
    """

    kind: TokenKind
    text: str
    span: Span


def tokenize_query(query: str) -> list[QueryToken]:
    """Return the tokens of a query, the last of kind `end`.

    Raises: QueryInvalid.
    """
    if len(query) > MAX_LENGTH:
        raise QueryInvalid(
            f"The query is longer than {MAX_LENGTH} characters. Search for less at once.", column=1
        )
    lexer = _Lexer(query)
    tokens = [lexer.token()]
    while tokens[-1].kind != "end":
        tokens.append(lexer.token())
    return tokens


def fail_at(at: int, expected: str, actual: str, hint: str = "") -> NoReturn:
    """Raise QueryInvalid for the character at index `at` of the query.

    Its `column` counts from 1.
    """
    column = at + 1
    sentence = f"The query cannot be read at column {column}: expected {expected}, found {actual}."
    raise QueryInvalid(f"{sentence} {hint}".rstrip(), column=column)


class _Lexer:
    """One pass over the query.

    The meaning of a character depends on the mode: outside of properties, in a property's key, or
    in its value.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.mode: _LexerMode = "query"
        self.behind_tag = False
        """Whether a tag is next: its name may begin with a hyphen, which negates nothing there."""

    def _take(self, kind: TokenKind, length: int, text: str | None = None) -> QueryToken:
        span = Span(self.at, self.at + length)
        self.at = span.end
        self.behind_tag = kind == "operator" and text == "tag"
        return QueryToken(kind, self.text[span.start : span.end] if text is None else text, span)

    def token(self) -> QueryToken:
        self.at = len(self.text) - len(self.text[self.at :].lstrip())
        if self.at == len(self.text):
            return self._take("end", 0)
        char = self.text[self.at]
        if char in "()" and not self.text.startswith("()", self.at):
            return self._take(cast("TokenKind", char), 1)
        if char == '"':
            return self._phrase()
        if char == "/" and (token := self._regex()):
            return token
        if self.mode == "query":
            return self._read_query_token(char)
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

    def _read_query_token(self, char: str) -> QueryToken:
        if char == "[" and not self.text.startswith("[[", self.at):
            self.mode = "key"
            return self._take("[", 1)
        if char == "-" and not self.behind_tag:
            return self._hyphen()
        if operator := _OPERATOR.match(self.text, self.at):
            return self._take("operator", len(operator.group()), operator.group(1).lower())
        return self._word()

    def _hyphen(self) -> QueryToken:
        """Return `not` for a hyphen that touches the text behind it; a hyphen alone is text."""
        end = len(self.text) - len(self.text[self.at :].lstrip("-"))
        after = self.text[end : end + 1]
        if after and not after.isspace() and after not in (")" if self.mode == "query" else ")]"):
            return self._take("not", 1)
        return self._take("word", end - self.at)

    def _phrase(self) -> QueryToken:
        quoted = _QUOTED.match(self.text, self.at)
        assert quoted is not None  # noqa: S101 - a quote that is not closed ends with the query
        inner = quoted.group(1) + ("\\" if quoted.group(2).startswith("\\") else "")
        return self._take("phrase", len(quoted.group()), _ESCAPED.sub(r"\1", inner))

    def _regex(self) -> QueryToken | None:
        end = self._slash(classes=True)
        if end < 0:
            end = self._slash(classes=False)
        if end > self.at + 1:
            flags = _FLAGS.match(self.text, end + 1)
            if flags is not None and not _FLAGS_TAKEN.issuperset(flags[0]):
                fail_at(
                    end + 1,
                    "no flag behind a regular expression but g, i and u",
                    repr(flags[0]),
                    "Quote the text to search for it as it stands.",
                )
            length = (flags.end() if flags is not None else end + 1) - self.at
            return self._take("regex", length, self.text[self.at + 1 : end])
        # `//` begins no expression in JavaScript, and a `/` without a second one is a character.
        return None

    def _slash(self, *, classes: bool) -> int:
        """Return the index of the slash that closes a regular expression, -1 without one.

        A slash in `[…]` does not close it, unless `classes` is off: so an expression with an open
        bracket is still one, and the message about it says what is wrong.
        """
        at = self.at + 1
        in_class = False
        while at < len(self.text):
            char = self.text[at]
            if char == "/" and not in_class:
                return at
            in_class = classes and char != "]" and (in_class or char == "[")
            at += 2 if char == "\\" else 1
        return -1

    def _word(self) -> QueryToken:
        """Return a run up to white space or a special character.

        A wikilink, `[[My Note]]`, and `()` are units in it.
        """
        at = self.at
        ends = _ENDS[self.mode]
        while at < len(self.text) and not self.text[at].isspace():
            if self.text.startswith("()", at):
                at += 2
                continue
            if self.text[at] in ends:
                break
            close = -1
            if self.mode != "key" and self.text.startswith("[[", at):
                close = self.text.find("]]", at + 2)
            at = close + 2 if close >= 0 else at + 1
        kind: TokenKind = "or" if self.text[self.at : at] == "OR" else "word"
        return self._take(kind, at - self.at)
