"""Reads expressions of Dataview with precedence climbing (specs/dataview.md, DV-30 to DV-36): alternatives are tried in
a fixed order and never reconsidered; the furthest place where something was missing is what a syntax error says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import regex

from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.literals import EMOJI, NUMBER, SPACE, TAG, Now
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


class Scanner:
    """A text and a position in it. `pos` is public: a parser that gives an alternative up sets it back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self._furthest = 0
        self._expected: dict[str, None] = {}

    @property
    def at_end(self) -> bool:
        return self.pos >= len(self.text)

    def expect(self, description: str) -> None:
        """Record that `description` was looked for at the current position and is not there; nothing for none."""
        if not description:
            return
        if self.pos > self._furthest:
            self._furthest = self.pos
            self._expected = {}
        if self.pos == self._furthest:
            self._expected[description] = None

    def match(self, pattern: regex.Pattern[str], description: str) -> regex.Match[str] | None:
        """Go past a match of `pattern` at the current position; None where there is none."""
        found = pattern.match(self.text, self.pos)
        if found is None:
            self.expect(description)
        else:
            self.pos = found.end()
        return found

    def take(self, string: str, description: str = "") -> bool:
        """Go past `string`, in exactly this spelling."""
        if self.text.startswith(string, self.pos):
            self.pos += len(string)
            return True
        self.expect(description or f"'{string}'")
        return False

    def skip_space(self) -> bool:
        """Go past white space; whether there was any."""
        start = self.pos
        self.pos = _SPACES.match(self.text, start).end()  # type: ignore[union-attr]  # it matches the empty string
        return self.pos > start

    def take_between_spaces(self, string: str) -> bool:
        """Go past `string` with white space around it; without it, past nothing."""
        start = self.pos
        self.skip_space()
        if self.take(string):
            self.skip_space()
            return True
        self.pos = start
        return False

    # The smallest parts of the language

    def name(self, description: str = "a name") -> str | None:
        found = self.match(_NAME, description)
        return found[0] if found else None

    def number(self, description: str = "a number") -> float | None:
        found = self.match(_NUMBER, description)
        return float(found[0]) if found else None

    def string(self, description: str = "a text in double quotes") -> str | None:
        """A text in double quotes; `\\"` and `\\\\` are escapes, any other backslash stays."""
        found = self.match(_TEXT, description)
        return _ESCAPE.sub(r"\1", found[1]) if found else None

    def tag(self) -> str | None:
        """A tag with its `#`."""
        found = self.match(_TAG, "a tag")
        return found[0] if found else None

    # Errors

    def error(self, hint: str = "") -> QueryInvalid:
        """The syntax error at the furthest place that any alternative reached (DV-31)."""
        at = self._furthest
        before = self.text[:at]
        line, column = before.count("\n") + 1, at - before.rfind("\n")
        shown = _SHOWN.match(self.text, at)
        found = f"'{shown[0]}'" if shown and shown[0].strip() else "white space" if shown else "the end"
        expected = _list_words(list(self._expected))
        message = f"The query cannot be read at line {line}, column {column}: found {found}, expected {expected}."
        return QueryInvalid(
            f"{message} {hint}".rstrip(), line=line, column=column, expected=list(self._expected), hint=hint
        )


def _list_words(items: list[str]) -> str:
    if len(items) < 2:
        return items[0] if items else "the end of the query"
    return f"{', '.join(items[:-1])} or {items[-1]}"


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
_BOOLEAN = regex.compile(r"true|false|True|False")

_Item = TypeVar("_Item")


class ExpressionParser(Scanner):
    """Every method reads one rule of the grammar at the current position and gives None, without moving, where the
    text is something else. `now` gives the dates that hang on the day their value."""

    def __init__(self, text: str, now: Now) -> None:
        super().__init__(text)
        self._now = now
        self._nesting = 0

    def expression(self, level: int = 0) -> Node | None:
        """An expression of operators that bind at least as strongly as `level`."""
        left = self._postfixed()
        while left is not None:
            start = self.pos
            self.skip_space()
            operator = self._operator(level)
            if operator:
                symbol, own_level = operator
                self.skip_space()
                right = self.expression(own_level + 1)
                if right is not None:
                    left = syntax.Binary(symbol, left, right)
                    continue
            self.pos = start
            return left
        return None

    def _operator(self, level: int) -> tuple[str, int] | None:
        for own_level in range(len(_OPERATORS) - 1, level - 1, -1):
            found = self.match(_OPERATORS[own_level], _OPERATOR)
            if found:
                written = found[0].lower()
                return _WORDS.get(written, written), own_level
        return None

    def _postfixed(self) -> Node | None:
        value = self._atom()
        if value is None:
            return None
        count = 0
        while (longer := self._postfix(value)) is not None:
            value = longer
            count += 1
            if count > MAX_NESTING:
                raise QueryInvalid(f"An expression has more than {MAX_NESTING} '.', '[' or '(' after each other.")
        return value

    def _postfix(self, value: Node) -> Node | None:
        start = self.pos
        if self.take(".", _OPERATOR):
            name = self.name()
            if name is not None:
                return syntax.FieldAccess(_row(value), name)
        elif self.take("[", _OPERATOR):
            self.skip_space()
            index = self._nested(self.expression)
            if index is not None:
                self.skip_space()
                if self.take("]"):
                    return syntax.IndexAccess(_row(value), index)
        else:
            arguments: list[Node] | None = self._bracketed("(", self.expression, ")", _OPERATOR)
            if arguments is not None:
                return syntax.FunctionCall(value, tuple(arguments))
        self.pos = start
        return None

    def _atom(self) -> Node | None:
        start = self.pos
        for read in (
            self._link,
            self._negated,
            self._list,
            self._object,
            self._lambda,
            self._parenthesized,
            self._literal,
            self._variable,
        ):
            found = read()
            if found is not None:
                return found
            self.pos = start
        return None

    def _link(self) -> Node | None:
        embed = self.text.startswith("!", self.pos)
        self.pos += embed
        found = self.match(LINK, _EXPRESSION)
        return None if found is None else syntax.Literal(literals.link(found[1], embed=embed))

    def _negated(self) -> Node | None:
        if not self.take("!", _EXPRESSION):
            return None
        operand = self._nested(self._postfixed)
        return None if operand is None else syntax.Unary("!", operand)

    def _list(self) -> Node | None:
        items: list[Node] | None = self._bracketed("[", self.expression, "]")
        return None if items is None else syntax.ListOf(tuple(items))

    def _object(self) -> Node | None:
        items = self._bracketed("{", self._pair, "}")
        return None if items is None else syntax.ObjectOf(tuple(items))

    def _pair(self) -> tuple[str, Node] | None:
        key = self.name("a key")
        if key is None:
            key = self.string()
        if key is None or not self.take_between_spaces(":"):
            return None
        value = self.expression()
        return None if value is None else (key, value)

    def _lambda(self) -> Node | None:
        parameters = self._bracketed("(", lambda: self.name("a parameter"), ")")
        if parameters is None or not self.take_between_spaces("=>"):
            return None
        body = self._nested(self.expression)
        return None if body is None else syntax.Lambda(tuple(parameters), body)

    def _parenthesized(self) -> Node | None:
        if not self.take("(", _EXPRESSION):
            return None
        self.skip_space()
        value = self._nested(self.expression)
        if value is None:
            return None
        self.skip_space()
        return value if self.take(")") else None

    def _literal(self) -> Node | None:
        boolean = self.match(_BOOLEAN, _EXPRESSION)
        if boolean:
            return syntax.Literal(boolean[0].lower() == "true")
        number = self.number(_EXPRESSION)
        if number is not None:
            return syntax.Literal(number)
        text = self.string(_EXPRESSION)
        if text is not None:
            return syntax.Literal(text)
        return self._called_literal() or (syntax.Literal(None) if self.take("null", _EXPRESSION) else None)

    def _called_literal(self) -> Node | None:
        """`date(today)`, `date(2024-01-01)` and `dur(1 day)`; any other `date(…)` is a call."""
        start = self.pos
        for word, read in (("date(", self.date_or_word), ("dur(", self.duration)):
            if self.text.startswith(word, start):
                self.pos += len(word)
                self.skip_space()
                value = read()
                if value is not None:
                    self.skip_space()
                    if self.take(")"):
                        return syntax.Literal(value)
                self.pos = start
        return None

    def date(self) -> Date | None:
        return self._taken(literals.match_date(self.text, self.pos), "a date such as 2024-01-31")

    def date_or_word(self) -> Date | None:
        return self._taken(literals.match_day_word(self.text, self.pos, self._now), "") or self.date()

    def duration(self) -> Duration | None:
        return self._taken(literals.match_duration(self.text, self.pos), "a duration such as 2 days")

    def _taken(self, found: tuple[_Item, int] | None, description: str) -> _Item | None:
        """Go past a value that was found up to a place; without one, what was expected is noted."""
        if found is None:
            self.expect(description)
            return None
        value, self.pos = found
        return value

    def _variable(self) -> Node | None:
        start = self.pos
        name = self.name(_EXPRESSION)
        if name is None:
            return None
        if name.lower() in KEYWORDS:
            self.pos = start
            self.expect(_EXPRESSION)
            return None
        return syntax.Name(name)

    # Repeated and nested parts

    def separated(self, item: Callable[[], _Item | None]) -> list[_Item]:
        """Items with commas between them, maybe none; a comma after the last one is not taken."""
        items: list[_Item] = []
        while True:
            start = self.pos
            if items and not self.take_between_spaces(","):
                return items
            found = item()
            if found is None:
                self.pos = start
                return items
            items.append(found)

    def _bracketed(
        self, opening: str, item: Callable[[], _Item | None], closing: str, description: str = _EXPRESSION
    ) -> list[_Item] | None:
        start = self.pos
        if self.take(opening, description):
            self.skip_space()
            items = self._nested(lambda: self.separated(item))
            self.skip_space()
            if self.take(closing):
                return items
        self.pos = start
        return None

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


def parse_expression(text: str, now: Now) -> Node:
    """Return the expression that the whole text is, with white space around it. Raises: QueryInvalid (DV-31)."""
    parser = ExpressionParser(text, now)
    parser.skip_space()
    found = parser.expression()
    parser.skip_space()
    if found is None or not parser.at_end:
        if found is not None:
            parser.expect("the end of the expression")
        raise parser.error()
    return found
