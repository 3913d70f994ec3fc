"""Formulas and filters, read into nodes (BASE-10 to BASE-15)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeVar

from obsidian_mcp.core.expressions import syntax
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.syntax import Node, SyntaxProblem
from obsidian_mcp.core.expressions.values import ExpressionError
from obsidian_mcp.core.text.table_file import read_rows

T = TypeVar("T")
MAX_LENGTH = 20_000
"""Characters of one expression."""
MAX_NESTING = 60
"""Brackets inside each other."""

PRECEDENCE = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("==", "!="), 3),
    **dict.fromkeys(("<", ">", "<=", ">="), 4),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "/", "%"), 6),
}
"""All are left-associative."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<name>[^\W\d][\w$]*|\$[\w$]*)"
    r"|(?P<operator>\|\||&&|==|!=|<=|>=|\?\?|[-+*/%<>!()\[\].,={}?:&|])"
    r"|(?P<quote>[\"'])|(?P<end>$))"
)
_STRING = {
    '"': re.compile(r'((?:[^"\\]|\\.)*)"', re.DOTALL),
    "'": re.compile(r"((?:[^'\\]|\\.)*)'", re.DOTALL),
}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_REGEXP = re.compile(r"/((?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/([A-Za-z]*)")
_FLAGS = frozenset("dgimsuvy")
_CONSTANTS = {"true": True, "false": False, "null": None}

_HINTS = dict(read_rows(__file__, "hints"))
"""What to write in the place of a token that cannot stand where it does."""


class _ExpressionToken(NamedTuple):
    """A part of the text; `end` is behind the white space, and of a quote before its text."""

    kind: str
    """A group of _TOKEN."""
    text: str
    at: int
    end: int


@lru_cache(maxsize=256)
def parse_or_problem(text: str) -> Node | SyntaxProblem:
    """Return the node of a whole expression, or why it does not parse."""
    if len(text) > MAX_LENGTH:
        return SyntaxProblem(MAX_LENGTH, f"the expression is longer than {MAX_LENGTH:,} characters")
    try:
        return _BaseExpressionParser(text).parse_whole()
    except SyntaxProblem as problem:
        return problem.with_traceback(None)


class _BaseExpressionParser:
    """Reads an expression from left to right, one token ahead, by the precedence of operators.

    Every method reads one rule of the grammar.
    Raises: SyntaxProblem.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._nesting = 0
        self._token = self._read(0)

    def parse_whole(self) -> Node:
        """Read the whole text."""
        if self._token.kind == "end":
            raise self._problem(self._token, "a value", "the expression is empty")
        node = self._expression()
        if self._token.kind != "end":
            raise self._problem(self._token, "an operator or the end")
        return node

    def _read(self, at: int) -> _ExpressionToken:
        match = _TOKEN.match(self._text, at)
        if match is None:
            start = len(self._text) - len(self._text[at:].lstrip())
            raise SyntaxProblem(start, f"the character {self._text[start]!r} has no meaning here")
        kind = str(match.lastgroup)
        return _ExpressionToken(kind, match[kind], match.start(kind), match.end())

    def _take_token(self) -> _ExpressionToken:
        token = self._token
        self._token = self._read(token.end)
        return token

    def _accept(self, operator: str) -> bool:
        """Go past an operator; return whether it was the next token."""
        if self._token.kind == "operator" and self._token.text == operator:
            self._take_token()
            return True
        return False

    def _problem(self, token: _ExpressionToken, expected: str, problem: str = "") -> SyntaxProblem:
        if not problem and token.kind == "end":
            problem = "the expression ends here"
        elif not problem:
            problem = f'"{token.text}" cannot stand here'
        return SyntaxProblem(token.at, problem, expected, _HINTS.get(token.text, ""))

    def _expression(self, least: int = 1) -> Node:
        """Read operands joined by operators that are at least as strong as `least`."""
        left = self._unary()
        while self._token.kind == "operator":
            strength = PRECEDENCE.get(self._token.text, 0)
            if strength < least:
                break
            operator = self._take_token().text
            left = syntax.Binary(operator, left, self._expression(strength + 1))
        return left

    def _unary(self) -> Node:
        operators = []
        while self._token.kind == "operator" and self._token.text in ("!", "-"):
            operators.append(self._take_token())
            if len(operators) > MAX_NESTING:
                raise self._problem(operators[-1], "a value", "there are too many signs in a row")
        node = self._postfix()
        for operator in reversed(operators):
            node = syntax.Unary(operator.text, node)
        return node

    def _postfix(self) -> Node:
        first = self._token
        node = self._primary()
        while self._token.kind == "operator" and self._token.text in ("(", "[", "."):
            token = self._take_token()
            if token.text == ".":
                if first.kind == "number" and isinstance(node, syntax.Literal):
                    raise self._problem(
                        token, "an operator", "a bare number has no fields or methods"
                    )
                if self._token.kind != "name":
                    raise self._problem(self._token, "the name of a field or function")
                node = syntax.FieldAccess(node, self._take_token().text)
            elif token.text == "[":
                node = syntax.IndexAccess(node, self._read_inside(token, "]", self._expression))
            else:
                node = syntax.FunctionCall(node, self._list(")", token))
        return node

    def _primary(self) -> Node:
        token = self._token
        match token.kind:
            case "number":
                return syntax.Literal(float(self._take_token().text))
            case "name":
                self._take_token()
                if token.text in _CONSTANTS:
                    return syntax.Literal(_CONSTANTS[token.text])
                return syntax.BareName(token.text)
            case "quote":
                return syntax.Literal(self._string(token))
            case "operator" if token.text == "/":
                return syntax.Literal(self._regexp(token))
            case "operator" if token.text == "(":
                return self._read_inside(self._take_token(), ")", self._expression)
            case "operator" if token.text == "[":
                return syntax.ListOf(self._list("]", self._take_token()))
        raise self._problem(token, "a value")

    def _list(self, closing: str, opened: _ExpressionToken) -> tuple[Node, ...]:
        """Read values with commas between them, and the closing bracket."""
        return () if self._accept(closing) else self._read_inside(opened, closing, self._items)

    def _items(self) -> tuple[Node, ...]:
        items = [self._expression()]
        while self._accept(","):
            items.append(self._expression())
        return tuple(items)

    def _read_inside(
        self, opened: _ExpressionToken, closing: str, read_content: Callable[[], T]
    ) -> T:
        """Read what stands behind an open bracket, and the closing one."""
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise SyntaxProblem(opened.at, f"brackets are nested more than {MAX_NESTING} deep")
        content = read_content()
        self._nesting -= 1
        if not self._accept(closing):
            opening = f'the "{opened.text}" at column {opened.at + 1}'
            raise self._problem(self._token, f'"{closing}" for {opening}')
        return content

    def _string(self, token: _ExpressionToken) -> str:
        match = _STRING[token.text].match(self._text, token.end)
        if match is None:
            raise SyntaxProblem(token.at, "a quote is not closed", f"a second {token.text}")
        self._token = self._read(match.end())
        return _ESCAPE.sub(_unescape, match[1]) if "\\" in match[1] else match[1]

    def _regexp(self, token: _ExpressionToken) -> RegExpValue:
        match = _REGEXP.match(self._text, token.at)
        if match is None:
            raise self._problem(token, "a value, or a closed regular expression such as /a+/g")
        if not _FLAGS.issuperset(match[2]) or len(set(match[2])) < len(match[2]):
            raise SyntaxProblem(
                match.start(2), f'"{match[2]}" are no flags of a regular expression'
            )
        try:
            expression = RegExpValue(match[1], match[2])
        except ExpressionError as error:
            raise SyntaxProblem(token.at, error.message.rstrip(".")) from None
        self._token = self._read(match.end())
        return expression


def _unescape(match: re.Match[str]) -> str:
    escape = match[1]
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPED.get(escape, escape)
