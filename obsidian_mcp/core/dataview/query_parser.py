"""Reads whole Dataview queries: header, FROM and commands (specs/dataview.md, DV-40 to DV-49)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, cast

import regex

from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.characters import SPACE
from obsidian_mcp.core.dataview.expression_parser import ExpressionParser
from obsidian_mcp.core.dataview.query_syntax import (
    Combined,
    DataviewQuery,
    ExceptFor,
    Flatten,
    FromCsv,
    FromLink,
    FromPath,
    FromTag,
    GroupBy,
    LimitRows,
    NamedExpression,
    QueryCommand,
    QueryKind,
    QuerySource,
    SecondFrom,
    Sort,
    SortTerm,
    Where,
)
from obsidian_mcp.core.dataview.scanner import LINK, Missing
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.text.table_file import read_rows

_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_TEXTS_AND_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*+("?)|//[^\n]*', re.DOTALL)


@cache
def _slips() -> list[tuple[re.Pattern[str], str]]:
    return [
        (re.compile(pattern, re.IGNORECASE), hint) for pattern, hint in read_rows(__file__, "slips")
    ]


def hint_for(text: str) -> str:
    """Return a sentence that helps with the slip in a text that does not parse (DV-45).

    Empty where none is known.
    """
    # texts in quotes become empty ones, and comments go: what they hold is no slip
    bare = _TEXTS_AND_COMMENTS.sub(lambda part: '"' + part[1] if part[1] is not None else "", text)
    if bare.count('"') % 2:
        return 'A text has no closing ".'
    for pattern, hint in _slips():
        if pattern.search(bare):
            return hint
    for opening, closing in _BRACKETS.items():
        missing = bare.count(opening) - bare.count(closing)
        if missing:
            return f"{abs(missing)} '{closing if missing > 0 else opening}' missing."
    return ""


def _word(word: str) -> regex.Pattern[str]:
    return regex.compile(word, regex.IGNORECASE)


_KIND = _word("TABLE|LIST|TASK|CALENDAR")
_WITHOUT_ID = _word(rf"WITHOUT{SPACE}+ID")
_AS = _word("AS")
_FROM = _word("FROM")
_WHERE = _word("WHERE")
_SORT = _word("SORT")
_LIMIT = _word("LIMIT")
_GROUP_BY = _word("GROUP BY")
_FLATTEN = _word("FLATTEN")
_DIRECTION = _word("ASCENDING|DESCENDING|ASC|DESC")
_BOOLEAN = _word(r"and|or|&|\|")
_COMMENT = regex.compile("//[^\n]*")
_COMMAND = "a command (FROM, WHERE, SORT, GROUP BY, FLATTEN, LIMIT)"
_LINE_ENDS = regex.compile(r"[\r\n]+")


_MakeCommand = Callable[[Any], QueryCommand]


class QueryParser(ExpressionParser):
    """Every method reads one rule of the grammar; see `ExpressionParser`."""

    def query(self) -> DataviewQuery:
        """Read a whole query."""
        self._skip_comments()
        kind, columns, without_id = self._header()
        commands: list[QueryCommand] = []
        while (command := self._command()) is not None:
            commands.append(command)
        source: QuerySource = FromPath("")
        first = commands[0] if commands else None
        if isinstance(first, SecondFrom):
            source = first.source
            del commands[0]
        return DataviewQuery(kind, tuple(columns), without_id, source, tuple(commands))

    def query_kind(self) -> QueryKind:
        return cast("QueryKind", self.match(_KIND, "TABLE, LIST, TASK or CALENDAR")[0].lower())

    def _header(self) -> tuple[QueryKind, list[NamedExpression], bool]:
        kind = self.query_kind()
        if kind == "task" or (self.at_end and kind != "calendar"):
            return kind, [], False
        self.need_space("white space")
        if kind == "calendar":
            return kind, [self.named_expression()], False
        without_id = self.attempt(lambda: self.match(_WITHOUT_ID, "WITHOUT ID")) is not None
        if without_id:
            self.skip_space()
        if kind == "table":
            return kind, self.separate(self.named_expression), without_id
        column = self.attempt(self._column)
        return kind, [] if column is None else [column], without_id

    def named_expression(self) -> NamedExpression:
        """Read an expression with the name after AS, or its own text as name (DV-41)."""
        column = self._column()
        end = self.pos
        try:
            self.need_space()
            self.match(_AS, "AS")
            self.need_space()
            return replace(column, name=self.name_or_string("a name"))
        except Missing:
            self.pos = end
            return column

    def _column(self) -> NamedExpression:
        start = self.pos
        expression = self.expression()
        text = "".join(line.strip(SPACES) for line in _LINE_ENDS.split(self.text[start : self.pos]))
        return NamedExpression(text, expression, text)

    def _skip_comments(self) -> None:
        while self.skip_space() or self.attempt(self.comment) is not None:
            pass

    def comment(self) -> str:
        return self.match(_COMMENT, "")[0][2:].strip(SPACES)

    def _command(self) -> QueryCommand | None:
        self._skip_comments()
        start = self.pos
        commands: tuple[tuple[regex.Pattern[str], Callable[[], Any], _MakeCommand], ...] = (
            (_FROM, self.source, SecondFrom),
            (_WHERE, self.expression, Where),
            (_SORT, self._sort_keys, Sort),
            (_LIMIT, self.expression, LimitRows),
            (_GROUP_BY, self.named_expression, GroupBy),
            (_FLATTEN, self.named_expression, Flatten),
        )
        for keyword, read_argument, make in commands:
            try:
                self.match(keyword, _COMMAND)
                self.need_space("a space")
                return make(read_argument())
            except Missing:
                self.pos = start
        return None

    def _sort_keys(self) -> tuple[SortTerm, ...]:
        keys = self.separate(self.sort_key)
        if not keys:
            raise Missing
        return tuple(keys)

    def sort_key(self) -> SortTerm:
        expression = self.expression()
        self.skip_space()
        direction = self.attempt(lambda: self.match(_DIRECTION, "ASC or DESC"))
        return SortTerm(
            expression, direction is not None and direction[0].lower().startswith("desc")
        )

    def source(self) -> QuerySource:
        left = self._source_atom()
        while True:
            start = self.pos
            try:
                self.skip_space()
                operator = self.match(_BOOLEAN, "'and' or 'or'")[0].lower()
                self.skip_space()
                left = Combined("&" if operator in ("and", "&") else "|", left, self._source_atom())
            except Missing:
                self.pos = start
                return left

    def _source_atom(self) -> QuerySource:
        alternatives: tuple[Callable[[], QuerySource], ...] = (
            lambda: self.read_inside("(", self.source, ")"),
            self._exclusion,
            self._link_source,
            self._csv,
            lambda: FromPath(self.string()),
            lambda: FromTag(self.tag()),
        )
        return self.read_first(alternatives)

    def _exclusion(self) -> QuerySource:
        if not self.attempt(lambda: self.take("-")):
            self.take("!")
        return ExceptFor(self._nest(self._source_atom))

    def _link_source(self) -> QuerySource:
        outgoing = self.attempt(lambda: self.take("outgoing(")) is not None
        if outgoing:
            self.skip_space()
        inner = self.match(LINK, "a link")[1]
        if outgoing:
            self.take(")")
        return FromLink(literals.read_link(inner).path, outgoing)

    def _csv(self) -> QuerySource:
        self.take("csv(")
        self.skip_space()
        path = self.string()
        self.take(")")
        return FromCsv(path)
