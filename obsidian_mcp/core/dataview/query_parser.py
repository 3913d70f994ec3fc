"""Reads whole Dataview queries: their parsed form, header, FROM and commands (specs/dataview.md, DV-40 to DV-49)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple
from typing import Literal as OneOf

import regex

from obsidian_mcp.core.dataview import literals
from obsidian_mcp.core.dataview.expression_parser import LINK, ExpressionParser
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


# Sources


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


# Commands


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
    return [(re.compile(pattern, re.IGNORECASE), hint) for pattern, hint in read_rows(__file__, "slips")]


def hint_for(text: str) -> str:
    """A sentence that helps with the slip in a text that does not parse; empty where none is known."""
    bare = _TEXTS_AND_COMMENTS.sub(lambda found: '"' + found[1] if found[1] is not None else "", text)
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


class QueryParser(ExpressionParser):
    """Every method reads one rule of the grammar; see `ExpressionParser`."""

    def query(self) -> DataviewQuery | None:
        self._skip_comments()
        header = self._header()
        if header is None:
            return None
        kind, columns, without_id = header
        commands: list[Command] = []
        while True:
            self._skip_comments()
            command = self._command()
            if command is None:
                break
            commands.append(command)
        source: Source = FromPath("")
        if commands and isinstance(first := commands[0], SecondFrom):
            source = first.source
            del commands[0]
        return DataviewQuery(kind, tuple(columns), without_id, source, tuple(commands))

    def query_kind(self) -> QueryKind | None:
        found = self.match(_KIND, "TABLE, LIST, TASK or CALENDAR")
        return found[0].lower() if found else None  # type: ignore[return-value]  # one of the four words

    def _header(self) -> tuple[QueryKind, list[Named], bool] | None:
        kind = self.query_kind()
        if kind is None:
            return None
        if kind == "task" or (self.at_end and kind != "calendar"):
            return kind, [], False
        if not self.skip_space():
            self.expect("white space")
            return None
        if kind == "calendar":
            column = self.named()
            return None if column is None else (kind, [column], False)
        without_id = self.match(_WITHOUT_ID, "WITHOUT ID") is not None
        if without_id:
            self.skip_space()
        if kind == "table":
            return kind, self.separated(self.named), without_id
        column = self._unnamed()
        return kind, [] if column is None else [column], without_id

    def named(self) -> Named | None:
        """An expression with the name after AS, or its own text as name (DV-41)."""
        column = self._unnamed()
        if column is None:
            return None
        end = self.pos
        if self.skip_space() and self.match(_AS, "AS") and self.skip_space():
            name = self.name("a name")
            if name is None:
                name = self.string()
            if name is not None:
                return Named(name, column.expression, column.text)
        self.pos = end
        return column

    def _unnamed(self) -> Named | None:
        start = self.pos
        expression = self.expression()
        if expression is None:
            return None
        lines = _LINE_ENDS.split(self.text[start : self.pos])
        text = "".join(line.strip(SPACES) for line in lines)
        return Named(text, expression, text)

    def _skip_comments(self) -> None:
        while self.skip_space() or self.comment() is not None:
            pass

    def comment(self) -> str | None:
        found = self.match(_COMMENT, "")
        return found[0][2:].strip(SPACES) if found else None

    # Commands

    def _keyword(self, pattern: regex.Pattern[str]) -> bool:
        """Go past a keyword and the white space that must follow it."""
        start = self.pos
        if self.match(pattern, _COMMAND):
            if self.skip_space():
                return True
            self.expect("a space")
        self.pos = start
        return False

    def _command(self) -> Command | None:
        start = self.pos
        commands: tuple[tuple[regex.Pattern[str], Callable[[], Any], Callable[[Any], Command]], ...] = (
            (_FROM, self.source, SecondFrom),
            (_WHERE, self.expression, Where),
            (_SORT, lambda: tuple(self.separated(self.sort_key)) or None, Sort),
            (_LIMIT, self.expression, Limit),
            (_GROUP_BY, self.named, GroupBy),
            (_FLATTEN, self.named, Flatten),
        )
        for keyword, read, make in commands:
            found = read() if self._keyword(keyword) else None
            if found is not None:
                return make(found)
            self.pos = start
        return None

    def sort_key(self) -> SortKey | None:
        expression = self.expression()
        if expression is None:
            return None
        self.skip_space()
        direction = self.match(_DIRECTION, "ASC or DESC")
        return SortKey(expression, direction is not None and direction[0].lower().startswith("desc"))

    # Sources

    def source(self) -> Source | None:
        left = self._source_atom()
        while left is not None:
            start = self.pos
            self.skip_space()
            operator = self.match(_BOOLEAN, "'and' or 'or'")
            if operator:
                self.skip_space()
                right = self._source_atom()
                if right is not None:
                    left = Combined("&" if operator[0].lower() in ("and", "&") else "|", left, right)
                    continue
            self.pos = start
            return left
        return None

    def _source_atom(self) -> Source | None:
        start = self.pos
        for read in (self._source_in_brackets, self._except_for, self._link_source, self._csv, self._plain_source):
            source = read()
            if source is not None:
                return source
            self.pos = start
        return None

    def _source_in_brackets(self) -> Source | None:
        if not self.take("("):
            return None
        self.skip_space()
        source = self._nested(self.source)
        self.skip_space()
        return source if source is not None and self.take(")") else None

    def _except_for(self) -> Source | None:
        if not (self.take("-") or self.take("!")):
            return None
        source = self._nested(self._source_atom)
        return None if source is None else ExceptFor(source)

    def _link_source(self) -> Source | None:
        outgoing = self.take("outgoing(")
        if outgoing:
            self.skip_space()
        found = self.match(LINK, "a link")
        if found is None or (outgoing and not self.take(")")):
            return None
        return FromLink(literals.link(found[1]).path, outgoing)

    def _csv(self) -> Source | None:
        if not self.take("csv("):
            return None
        self.skip_space()
        path = self.string()
        return FromCsv(path) if path is not None and self.take(")") else None

    def _plain_source(self) -> Source | None:
        path = self.string()
        if path is not None:
            return FromPath(path)
        tag = self.tag()
        return None if tag is None else FromTag(tag)
