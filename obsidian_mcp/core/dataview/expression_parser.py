"""Reads Dataview expressions (specs/dataview.md, DV-30 to DV-36).

Precedence climbing over the plugin's four levels: `and or & |`, comparisons, `+ -`, `* / %`, each
from the left.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import partial

import regex

from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.scanner import LINK, Missing, ReadItem, Scanner
from obsidian_mcp.core.expressions import syntax
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.syntax import Node
from obsidian_mcp.errors import QueryInvalid

MAX_NESTING = 50
"""Brackets, lambdas and negations inside each other."""
KEYWORDS = frozenset({"from", "where", "limit", "group", "flatten"})
"""Words that are no field names, in any case."""

WHOLE_ROW = syntax.BareName("row.")
"""The node for the fields of the row as one object; no field can have this name."""
_ROW = syntax.BareName("row")
_OPERATORS = (
    regex.compile(r"and|or|&|\|", regex.IGNORECASE),
    regex.compile(r">=|<=|!=|>|<|="),
    regex.compile(r"[+-]"),
    regex.compile(r"[*/%]"),
)
"""The operators by level: the later ones bind more strongly."""
_EXPRESSION = "an expression"
_OPERATOR = "an operator"
"""What a syntax error says was expected."""
_WORDS = {"and": "&", "or": "|"}
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "null": None}
_CONSTANT = regex.compile("|".join(_CONSTANTS))


class ExpressionParser(Scanner):
    """Every method reads one rule of the grammar at the current position, or raises `Missing`.

    `now` is what `date(today)` and the like are computed from.
    """

    def __init__(self, text: str, now: datetime) -> None:
        super().__init__(text)
        self._now = now
        self._nesting = 0
        self._atoms: tuple[Callable[[], Node], ...] = (
            self._link,
            self._negation,
            self._list,
            self._object,
            self._lambda,
            lambda: self.read_inside("(", self.expression, ")", _EXPRESSION),
            lambda: syntax.Literal(_CONSTANTS[self.match(_CONSTANT, _EXPRESSION)[0]]),
            lambda: syntax.Literal(self.number(_EXPRESSION)),
            lambda: syntax.Literal(self.string(_EXPRESSION)),
            self._called_literal,
            self._variable,
        )

    def _list(self) -> Node:
        return syntax.ListOf(tuple(self.read_inside("[", self._expressions, "]", _EXPRESSION)))

    def _object(self) -> Node:
        pairs = self.read_inside("{", lambda: self.separate(self._pair), "}", _EXPRESSION)
        return syntax.ObjectOf(tuple(pairs))

    def expression(self, level: int = 0) -> Node:
        """Read an expression of operators that bind at least as strongly as `level`."""
        left = self._operand()
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
            match = _OPERATORS[own_level].match(self.text, self.pos)
            if match:
                self.pos = match.end()
                written = match[0].lower()
                return _WORDS.get(written, written), own_level
        raise self.expect(_OPERATOR)

    def _operand(self) -> Node:
        """Read an atom with the fields, indexes and calls behind it."""
        value = self.read_first(self._atoms)
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
                return syntax.IndexAccess(_row(value), self.read_inside("[", self.expression, "]"))
        return syntax.FunctionCall(
            value, tuple(self.read_inside("(", self._expressions, ")", _OPERATOR))
        )

    def _link(self) -> Node:
        embed = self.text.startswith("!", self.pos)
        self.pos += embed
        return syntax.Literal(literals.read_link(self.match(LINK, _EXPRESSION)[1], embed=embed))

    def _negation(self) -> Node:
        self.take("!", _EXPRESSION)
        return syntax.Unary("!", self._nest(self._operand))

    def _pair(self) -> tuple[str, Node]:
        key = self.name_or_string("a key")
        self.take_between_spaces(":")
        return key, self.expression()

    def _lambda(self) -> Node:
        parameters = self.read_inside(
            "(", lambda: self.separate(lambda: self.name("a parameter")), ")", _EXPRESSION
        )
        self.take_between_spaces("=>")
        return syntax.Lambda(tuple(parameters), self._nest(self.expression))

    def _called_literal(self) -> Node:
        """Read `date(today)`, `date(2024-01-01)` or `dur(1 day)`; any other `date(…)` is a call."""
        for word, read_value in (("date(", self.date_or_word), ("dur(", self.duration)):
            if self.text.startswith(word, self.pos):
                return syntax.Literal(self.read_inside(word, read_value, ")"))
        raise Missing

    def date(self) -> Date:
        return self._go_past(literals.match_date(self.text, self.pos), "a date such as 2024-01-31")

    def date_or_word(self) -> Date:
        word = literals.match_day_word(self.text, self.pos, self._now)
        return self.date() if word is None else self._go_past(word, "")

    def duration(self) -> Duration:
        return self._go_past(
            literals.match_duration(self.text, self.pos), "a duration such as 2 days"
        )

    def _go_past(self, located: tuple[ReadItem, int] | None, description: str) -> ReadItem:
        """Go past a value that ends at a place; without one, note what was expected."""
        if located is None:
            raise self.expect(description)
        value, self.pos = located
        return value

    def _variable(self) -> Node:
        start = self.pos
        name = self.name(_EXPRESSION)
        if name.lower() in KEYWORDS:
            self.pos = start
            raise self.expect(_EXPRESSION)
        return syntax.BareName(name)

    def separate(self, item: Callable[[], ReadItem]) -> list[ReadItem]:
        """Read items with commas between them, maybe none; a comma after the last is not read."""
        items: list[ReadItem] = []
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
        return self.separate(self.expression)

    def read_inside(
        self,
        opening: str,
        read_content: Callable[[], ReadItem],
        closing: str,
        description: str = "",
    ) -> ReadItem:
        """Read what stands between brackets, with white space around it."""
        self.take(opening, description)
        self.skip_space()
        content = self._nest(read_content)
        self.skip_space()
        self.take(closing)
        return content

    def _nest(self, read_rule: Callable[[], ReadItem]) -> ReadItem:
        if self._nesting >= MAX_NESTING:
            raise QueryInvalid(f"An expression is nested more than {MAX_NESTING} levels deep.")
        self._nesting += 1
        try:
            return read_rule()
        finally:
            self._nesting -= 1


def _row(value: Node) -> Node:
    """Return the node to index: `row` stands for all fields of the row only there (DV-35)."""
    return WHOLE_ROW if value == _ROW else value


def parse_expression(text: str, now: datetime) -> Node:
    """Return the expression that the whole text is, with white space around it.

    Raises: QueryInvalid (DV-31).
    """
    parser = ExpressionParser(text, now)
    parser.skip_space()
    with suppress(Missing):
        node = parser.expression()
        parser.skip_space()
        if parser.at_end:
            return node
        parser.expect("the end of the expression")
    raise parser.error()
