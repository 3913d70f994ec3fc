"""Reads expressions of Dataview with precedence climbing (specs/dataview.md, DV-30 to DV-36): alternatives are tried in
a fixed order and never reconsidered; the furthest place where something was missing is what a syntax error says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TypeVar

import regex

from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.literals import EMOJI, NUMBER, SPACE, TAG
from obsidian_mcp.core.expressions import syntax
from obsidian_mcp.core.expressions.syntax import Node
from obsidian_mcp.core.expressions.values import Date, Duration
from obsidian_mcp.errors import QueryInvalid

_SPACES = regex.compile(f"{SPACE}*")
_NAME = regex.compile(rf"(?:\p{{L}}|{EMOJI})(?:[0-9\p{{L}}_-]|{EMOJI})*")
_NUMBER = regex.compile(NUMBER)
_TEXT = regex.compile(r'"((?:[^"\\]|\\.)*+)"', regex.DOTALL)
_ESCAPE = regex.compile(r'\\(["\\])')
_TAG = regex.compile(TAG)
LINK = regex.compile(r"\[\[([^\[\]]*)\]\]")
_SHOWN = regex.compile(r"[^\s,;()\[\]{}]{1,30}|.", regex.DOTALL)


_Item = TypeVar("_Item")


class Missing(Exception):
    """What a rule of the grammar needs is not there."""


class Scanner:
    """A text and a position in it. Whatever reads goes past what it returns, or raises `Missing`; what was missing is
    remembered for the message. A parser that gives an alternative up sets `pos` back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self._furthest = 0
        self._expected: dict[str, None] = {}

    @property
    def at_end(self) -> bool:
        return self.pos >= len(self.text)

    def expect(self, description: str) -> Missing:
        """Record that `description` was looked for at the current position and is not there; nothing for none."""
        if description and self.pos > self._furthest:
            self._furthest = self.pos
            self._expected = {}
        if description and self.pos == self._furthest:
            self._expected[description] = None
        return Missing()

    def attempt(self, read: Callable[[], _Item]) -> _Item | None:
        """What `read` returns; None, at the same position, where that is missing."""
        start = self.pos
        try:
            return read()
        except Missing:
            self.pos = start
            return None

    def first(self, alternatives: Iterable[Callable[[], _Item]]) -> _Item:
        """What the first of several rules reads that finds what it needs."""
        start = self.pos
        for read in alternatives:
            try:
                return read()
            except Missing:
                self.pos = start
        raise Missing

    def match(self, pattern: regex.Pattern[str], description: str) -> regex.Match[str]:
        """Go past a match of `pattern` at the current position."""
        found = pattern.match(self.text, self.pos)
        if found is None:
            raise self.expect(description)
        self.pos = found.end()
        return found

    def take(self, string: str, description: str = "") -> bool:
        """Go past `string`, in exactly this spelling."""
        if not self.text.startswith(string, self.pos):
            raise self.expect(description or f"'{string}'")
        self.pos += len(string)
        return True

    def skip_space(self) -> bool:
        """Go past white space; whether there was any."""
        start = self.pos
        self.pos = _SPACES.match(self.text, start).end()  # type: ignore[union-attr]  # it matches the empty string
        return self.pos > start

    def need_space(self, description: str = "") -> None:
        if not self.skip_space():
            raise self.expect(description)

    def take_between_spaces(self, string: str) -> None:
        self.skip_space()
        self.take(string)
        self.skip_space()

    def name(self, description: str = "a name") -> str:
        return self.match(_NAME, description)[0]

    def number(self, description: str = "a number") -> float:
        return float(self.match(_NUMBER, description)[0])

    def string(self, description: str = "a text in double quotes") -> str:
        """A text in double quotes; `\\"` and `\\\\` are escapes, any other backslash stays."""
        text = self.match(_TEXT, description)[1]
        return _ESCAPE.sub(r"\1", text)

    def name_or_string(self, description: str) -> str:
        name = self.attempt(lambda: self.name(description))
        return self.string() if name is None else name

    def tag(self) -> str:
        """A tag with its `#`."""
        return self.match(_TAG, "a tag")[0]

    def error(self, hint: str = "") -> QueryInvalid:
        """The syntax error at the furthest place that any alternative reached (DV-31)."""
        at = self._furthest
        before = self.text[:at]
        line, column = before.count("\n") + 1, at - before.rfind("\n")
        shown = _SHOWN.match(self.text, at)
        found = (
            f"'{shown[0]}'" if shown and shown[0].strip() else "white space" if shown else "the end"
        )
        *others, last = self._expected or ["the end of the query"]
        expected = f"{', '.join(others)} or {last}" if others else last
        message = f"The query cannot be read at line {line}, column {column}: found {found}, expected {expected}."
        return QueryInvalid(
            f"{message} {hint}".rstrip(),
            line=line,
            column=column,
            expected=list(self._expected),
            hint=hint,
        )


MAX_NESTING = 50
"""Brackets, lambdas and negations inside each other."""
KEYWORDS = frozenset({"from", "where", "limit", "group", "flatten"})
"""Words that are no field names, in any case."""

WHOLE_ROW = syntax.Name("row.")
"""The node for the fields of the row as one object; no field can have this name."""
_ROW = syntax.Name("row")
_OPERATORS = (
    regex.compile(r"and|or|&|\|", regex.IGNORECASE),
    regex.compile(r">=|<=|!=|>|<|="),
    regex.compile(r"[+-]"),
    regex.compile(r"[*/%]"),
)
_EXPRESSION = "an expression"
_OPERATOR = "an operator"
_WORDS = {"and": "&", "or": "|"}
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "null": None}
_CONSTANT = regex.compile("|".join(_CONSTANTS))


class ExpressionParser(Scanner):
    """Every method reads one rule of the grammar at the current position. `now` gives the dates that hang on the day
    their value."""

    def __init__(self, text: str, now: datetime) -> None:
        super().__init__(text)
        self._now = now
        self._nesting = 0
        self._atoms: tuple[Callable[[], Node], ...] = (
            self._link,
            self._negated,
            lambda: syntax.ListOf(tuple(self.inside("[", self._expressions, "]", _EXPRESSION))),
            lambda: syntax.ObjectOf(
                tuple(self.inside("{", lambda: self.separated(self._pair), "}", _EXPRESSION))
            ),
            self._lambda,
            lambda: self.inside("(", self.expression, ")", _EXPRESSION),
            lambda: syntax.Literal(_CONSTANTS[self.match(_CONSTANT, _EXPRESSION)[0]]),
            lambda: syntax.Literal(self.number(_EXPRESSION)),
            lambda: syntax.Literal(self.string(_EXPRESSION)),
            self._called_literal,
            self._variable,
        )

    def expression(self, level: int = 0) -> Node:
        """An expression of operators that bind at least as strongly as `level`."""
        left = self._postfixed()
        while True:
            start = self.pos
            try:
                self.skip_space()
                symbol, own_level = self._operator(level)
                self.skip_space()
                left = syntax.Binary(symbol, left, self.expression(own_level + 1))
            except Missing:
                self.pos = start
                return left

    def _operator(self, level: int) -> tuple[str, int]:
        for own_level in range(len(_OPERATORS) - 1, level - 1, -1):
            if found := _OPERATORS[own_level].match(self.text, self.pos):
                self.pos = found.end()
                written = found[0].lower()
                return _WORDS.get(written, written), own_level
        raise self.expect(_OPERATOR)

    def _postfixed(self) -> Node:
        value = self.first(self._atoms)
        count = 0
        while (longer := self.attempt(partial(self._postfix, value))) is not None:
            value = longer
            count += 1
            if count > MAX_NESTING:
                raise QueryInvalid(
                    f"An expression has more than {MAX_NESTING} '.', '[' or '(' after each other."
                )
        return value

    def _postfix(self, value: Node) -> Node:
        match self.text[self.pos : self.pos + 1]:
            case ".":
                self.pos += 1
                return syntax.FieldAccess(_row(value), self.name())
            case "[":
                return syntax.IndexAccess(_row(value), self.inside("[", self.expression, "]"))
        return syntax.FunctionCall(
            value, tuple(self.inside("(", self._expressions, ")", _OPERATOR))
        )

    def _link(self) -> Node:
        embed = self.text.startswith("!", self.pos)
        self.pos += embed
        return syntax.Literal(literals.link(self.match(LINK, _EXPRESSION)[1], embed=embed))

    def _negated(self) -> Node:
        self.take("!", _EXPRESSION)
        return syntax.Unary("!", self._nested(self._postfixed))

    def _pair(self) -> tuple[str, Node]:
        key = self.name_or_string("a key")
        self.take_between_spaces(":")
        return key, self.expression()

    def _lambda(self) -> Node:
        parameters = self.inside(
            "(", lambda: self.separated(lambda: self.name("a parameter")), ")", _EXPRESSION
        )
        self.take_between_spaces("=>")
        return syntax.Lambda(tuple(parameters), self._nested(self.expression))

    def _called_literal(self) -> Node:
        """`date(today)`, `date(2024-01-01)` and `dur(1 day)`; any other `date(…)` is a call."""
        for word, read in (("date(", self.date_or_word), ("dur(", self.duration)):
            if self.text.startswith(word, self.pos):
                return syntax.Literal(self.inside(word, read, ")"))
        raise Missing

    def date(self) -> Date:
        return self._taken(literals.match_date(self.text, self.pos), "a date such as 2024-01-31")

    def date_or_word(self) -> Date:
        word = literals.match_day_word(self.text, self.pos, self._now)
        return self.date() if word is None else self._taken(word, "")

    def duration(self) -> Duration:
        return self._taken(
            literals.match_duration(self.text, self.pos), "a duration such as 2 days"
        )

    def _taken(self, found: tuple[_Item, int] | None, description: str) -> _Item:
        """Go past a value that was found up to a place."""
        if found is None:
            raise self.expect(description)
        value, self.pos = found
        return value

    def _variable(self) -> Node:
        start = self.pos
        name = self.name(_EXPRESSION)
        if name.lower() in KEYWORDS:
            self.pos = start
            raise self.expect(_EXPRESSION)
        return syntax.Name(name)

    def separated(self, item: Callable[[], _Item]) -> list[_Item]:
        """Items with commas between them, maybe none; a comma after the last one is not taken."""
        items: list[_Item] = []
        while True:
            start = self.pos
            try:
                if items:
                    self.take_between_spaces(",")
                items.append(item())
            except Missing:
                self.pos = start
                return items

    def _expressions(self) -> list[Node]:
        return self.separated(self.expression)

    def inside(
        self, opening: str, read: Callable[[], _Item], closing: str, description: str = ""
    ) -> _Item:
        """What stands between brackets, with white space around it."""
        self.take(opening, description)
        self.skip_space()
        found = self._nested(read)
        self.skip_space()
        self.take(closing)
        return found

    def _nested(self, read: Callable[[], _Item]) -> _Item:
        if self._nesting >= MAX_NESTING:
            raise QueryInvalid(f"An expression is nested more than {MAX_NESTING} levels deep.")
        self._nesting += 1
        try:
            return read()
        finally:
            self._nesting -= 1


def _row(value: Node) -> Node:
    """`row` stands for all fields of the row only where it is indexed (DV-35)."""
    return WHOLE_ROW if value == _ROW else value


def parse_expression(text: str, now: datetime) -> Node:
    """Return the expression that the whole text is, with white space around it. Raises: QueryInvalid (DV-31)."""
    parser = ExpressionParser(text, now)
    parser.skip_space()
    with suppress(Missing):
        found = parser.expression()
        parser.skip_space()
        if parser.at_end:
            return found
        parser.expect("the end of the expression")
    raise parser.error()
