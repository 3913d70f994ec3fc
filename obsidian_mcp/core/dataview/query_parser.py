"""Reads whole Dataview queries: their parsed form, header, FROM and commands (specs/dataview.md, DV-40 to DV-49)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, cast
from typing import Literal as OneOf

import regex

from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.expression_parser import LINK, ExpressionParser, Missing
from obsidian_mcp.core.dataview.literals import SPACE
from obsidian_mcp.core.expressions.javascript import SPACES
from obsidian_mcp.core.expressions.syntax import Node
from obsidian_mcp.core.text.table_file import read_rows

QueryKind = OneOf["table", "list", "task", "calendar"]


class Named(NamedTuple):
    """An expression with its text and the name of its column: what stands after AS, else its text."""

    name: str
    expression: Node
    text: str


class FromPath(NamedTuple):
    """A folder or a note; empty for all notes."""

    path: str


class FromTag(NamedTuple):
    """With its `#`, as written."""

    tag: str


class FromLink(NamedTuple):
    """Notes that link to the target or, if `outgoing`, that the target links to. `path` has no subpath."""

    path: str
    outgoing: bool


class FromCsv(NamedTuple):
    path: str


class ExceptFor(NamedTuple):
    source: Source


class Combined(NamedTuple):
    operator: OneOf["&", "|"]
    left: Source
    right: Source


Source = FromPath | FromTag | FromLink | FromCsv | ExceptFor | Combined


class Where(NamedTuple):
    condition: Node


class SortKey(NamedTuple):
    expression: Node
    descending: bool


class Sort(NamedTuple):
    keys: tuple[SortKey, ...]


class Limit(NamedTuple):
    amount: Node


class GroupBy(NamedTuple):
    key: Named


class Flatten(NamedTuple):
    items: Named


class SecondFrom(NamedTuple):
    """A FROM; one that is not directly after the header parses, but running it is an error."""

    source: Source


Command = Where | Sort | Limit | GroupBy | Flatten | SecondFrom


class DataviewQuery(NamedTuple):
    """A whole query. `columns` are those of TABLE, the one expression of LIST, or the date of CALENDAR."""

    kind: QueryKind
    columns: tuple[Named, ...]
    without_id: bool
    source: Source
    commands: tuple[Command, ...]


_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_TEXTS_AND_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*+("?)|//[^\n]*', re.DOTALL)


@cache
def _slips() -> list[tuple[re.Pattern[str], str]]:
    return [
        (re.compile(pattern, re.IGNORECASE), hint) for pattern, hint in read_rows(__file__, "slips")
    ]


def hint_for(text: str) -> str:
    """A sentence that helps with the slip in a text that does not parse; empty where none is known."""
    bare = _TEXTS_AND_COMMENTS.sub(
        lambda found: '"' + found[1] if found[1] is not None else "", text
    )
    if bare.count('"') % 2:
        return 'A text has no closing ".'
    for pattern, hint in _slips():
        if pattern.search(bare):
            return hint
    for opening, closing in _BRACKETS.items():
        if missing := bare.count(opening) - bare.count(closing):
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


class QueryParser(ExpressionParser):
    """Every method reads one rule of the grammar; see `ExpressionParser`."""

    def query(self) -> DataviewQuery:
        self._skip_comments()
        kind, columns, without_id = self._header()
        commands: list[Command] = []
        while (command := self._command()) is not None:
            commands.append(command)
        source: Source = FromPath("")
        if commands and isinstance(first := commands[0], SecondFrom):
            source = first.source
            del commands[0]
        return DataviewQuery(kind, tuple(columns), without_id, source, tuple(commands))

    def query_kind(self) -> QueryKind:
        return cast("QueryKind", self.match(_KIND, "TABLE, LIST, TASK or CALENDAR")[0].lower())

    def _header(self) -> tuple[QueryKind, list[Named], bool]:
        kind = self.query_kind()
        if kind == "task" or (self.at_end and kind != "calendar"):
            return kind, [], False
        self.need_space("white space")
        if kind == "calendar":
            return kind, [self.named()], False
        without_id = self.attempt(lambda: self.match(_WITHOUT_ID, "WITHOUT ID")) is not None
        if without_id:
            self.skip_space()
        if kind == "table":
            return kind, self.separated(self.named), without_id
        column = self.attempt(self._unnamed)
        return kind, [] if column is None else [column], without_id

    def named(self) -> Named:
        """An expression with the name after AS, or its own text as name (DV-41)."""
        column = self._unnamed()
        end = self.pos
        try:
            self.need_space()
            self.match(_AS, "AS")
            self.need_space()
            return column._replace(name=self.name_or_string("a name"))
        except Missing:
            self.pos = end
            return column

    def _unnamed(self) -> Named:
        start = self.pos
        expression = self.expression()
        text = "".join(line.strip(SPACES) for line in _LINE_ENDS.split(self.text[start : self.pos]))
        return Named(text, expression, text)

    def _skip_comments(self) -> None:
        while self.skip_space() or self.attempt(self.comment) is not None:
            pass

    def comment(self) -> str:
        return self.match(_COMMENT, "")[0][2:].strip(SPACES)

    def _command(self) -> Command | None:
        self._skip_comments()
        start = self.pos
        commands: tuple[
            tuple[regex.Pattern[str], Callable[[], Any], Callable[[Any], Command]], ...
        ] = (
            (_FROM, self.source, SecondFrom),
            (_WHERE, self.expression, Where),
            (_SORT, self._sort_keys, Sort),
            (_LIMIT, self.expression, Limit),
            (_GROUP_BY, self.named, GroupBy),
            (_FLATTEN, self.named, Flatten),
        )
        for keyword, read, make in commands:
            try:
                self.match(keyword, _COMMAND)
                self.need_space("a space")
                return make(read())
            except Missing:
                self.pos = start
        return None

    def _sort_keys(self) -> tuple[SortKey, ...]:
        keys = self.separated(self.sort_key)
        if not keys:
            raise Missing
        return tuple(keys)

    def sort_key(self) -> SortKey:
        expression = self.expression()
        self.skip_space()
        direction = self.attempt(lambda: self.match(_DIRECTION, "ASC or DESC"))
        return SortKey(
            expression, direction is not None and direction[0].lower().startswith("desc")
        )

    def source(self) -> Source:
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

    def _source_atom(self) -> Source:
        alternatives: tuple[Callable[[], Source], ...] = (
            lambda: self.inside("(", self.source, ")"),
            self._except_for,
            self._link_source,
            self._csv,
            lambda: FromPath(self.string()),
            lambda: FromTag(self.tag()),
        )
        return self.first(alternatives)

    def _except_for(self) -> Source:
        if not self.attempt(lambda: self.take("-")):
            self.take("!")
        return ExceptFor(self._nested(self._source_atom))

    def _link_source(self) -> Source:
        outgoing = self.attempt(lambda: self.take("outgoing(")) is not None
        if outgoing:
            self.skip_space()
        found = self.match(LINK, "a link")
        if outgoing:
            self.take(")")
        return FromLink(literals.link(found[1]).path, outgoing)

    def _csv(self) -> Source:
        self.take("csv(")
        self.skip_space()
        path = self.string()
        self.take(")")
        return FromCsv(path)
