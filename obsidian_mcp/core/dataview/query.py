"""Runs Dataview queries (specs/dataview.md, DV-01, DV-02, DV-20 to DV-29, DV-42 to DV-44) by Dataview's tables for the
shared evaluator (DV-32 to DV-35)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from obsidian_mcp.core.dataview import query_parser
from obsidian_mcp.core.dataview.cells import make_cell, task_answer
from obsidian_mcp.core.dataview.expression_parser import WHOLE_ROW, parse_expression
from obsidian_mcp.core.dataview.functions import FUNCTIONS
from obsidian_mcp.core.dataview.functions.overloads import Implementation
from obsidian_mcp.core.dataview.note_data import DataviewVault
from obsidian_mcp.core.dataview.operators import OPERATORS, UNARY, field_of, index_of
from obsidian_mcp.core.dataview.pages import CHEAP_FILE_FIELDS, NotePage, PageStore, Run, run_of
from obsidian_mcp.core.dataview.query_text import (
    JAVASCRIPT_REFUSED,
    inline_expression,
    is_dql,
    is_javascript,
)
from obsidian_mcp.core.dataview.records import Extended, Identified, TaskRow
from obsidian_mcp.core.dataview.settings import Settings
from obsidian_mcp.core.dataview.sources import Sources
from obsidian_mcp.core.dataview.values import is_true, order_key, type_name, value_text
from obsidian_mcp.core.expressions.answer import Column, Page, QueryAnswer
from obsidian_mcp.core.expressions.evaluate import (
    Compiler,
    Evaluate,
    Function,
    Language,
    Scope,
    SortBy,
    compile_expression,
    evaluate_rows,
    filter_rows,
    flatten_rows,
    group_rows,
    limit_rows,
    sort_rows,
)
from obsidian_mcp.core.expressions.syntax import Binary, FieldAccess, FunctionCall, IndexAccess, Name, Node
from obsidian_mcp.core.expressions.values import Date, ExpressionError, LinkValue, Value
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import QueryInvalid

_MISSING = object()


def _name(name: str) -> Evaluate:
    """A field of the row, else `this`, else null."""
    if name == WHOLE_ROW.name:
        return lambda scope: Extended(scope.variables, Extended(scope.row, {"this": scope.context.this}))

    def evaluate(scope: Scope) -> Value:
        value = scope.row.get(name, _MISSING)
        if value is _MISSING:
            return scope.context.this if name == "this" else None
        return value

    return evaluate


def _call(node: FunctionCall, compiler: Compiler) -> Evaluate:
    arguments = [compiler.compile(argument) for argument in node.arguments]
    if isinstance(node.callee, Name):
        return _call_named(node.callee.name, arguments)
    callee = compiler.compile(node.callee)

    def call(scope: Scope) -> Value:
        function = callee(scope)
        values = [argument(scope) for argument in arguments]
        if isinstance(function, Function):
            return function(*values)
        if isinstance(function, str):
            return _function(function)(run_of(scope.context), *values)
        raise ExpressionError(f"Cannot call type '{type_name(function)}' as a function")

    return call


def _call_named(name: str, arguments: list[Evaluate]) -> Evaluate:
    function = FUNCTIONS.get(name)

    def call(scope: Scope) -> Value:
        values = [argument(scope) for argument in arguments]
        return (function or _function(name))(run_of(scope.context), *values)

    return call


def _function(name: str) -> Implementation:
    """Raises: ExpressionError for an unknown name."""
    function = FUNCTIONS.get(name)
    if function is None:
        raise ExpressionError(f"Unrecognized function name '{name}'")
    return function


def _file_field(node: FieldAccess | IndexAccess, compiler: Compiler) -> Evaluate | None:
    """`file.name` and the like of a row that is a note, without an object for its file."""
    if not isinstance(node, FieldAccess) or node.of != _FILE or _FILE.name in compiler.parameters:
        return None
    cheap = CHEAP_FILE_FIELDS.get(node.name)
    if cheap is None:
        return None
    of, name = compiler.compile(node.of), node.name

    def evaluate(scope: Scope) -> Value:
        row = scope.row
        return cheap(row) if type(row) is NotePage else field_of(of(scope), name, scope)

    return evaluate


_FILE = Name("file")
LANGUAGE = Language(
    binary=OPERATORS,
    unary=UNARY,
    lazy={},
    name_of=_name,
    field=field_of,
    index=index_of,
    call=_call,
    compile_field=_file_field,
)


def compile_node(node: Node) -> Evaluate:
    """The function of an expression. Raises: QueryInvalid when it is nested too deep."""
    return compile_expression(node, LANGUAGE)


SHOWN_ERRORS = 3


class InlineExpression(NamedTuple):
    """The one expression of an inline query."""

    text: str
    node: Node


def read_query(text: str, now: datetime, settings: Settings) -> query_parser.DataviewQuery | InlineExpression:
    """Return a DQL query, without its fence, or one inline expression; `now` is naive and local (DV-01). Raises:
    QueryInvalid."""
    if is_javascript(text):
        raise QueryInvalid(JAVASCRIPT_REFUSED)
    expression = None if is_dql(text) else inline_expression(text, settings.inline_prefix)
    if expression is not None:
        return InlineExpression(expression, parse_expression(expression, now))
    return query_parser.parse_query(text, now)


def run_query(
    query: query_parser.DataviewQuery | InlineExpression,
    vault: DataviewVault,
    *,
    now: datetime,
    this: str = "",
    settings: Settings,
    page: Page,
) -> QueryAnswer:
    """Run a query for the note `this`. `page` cuts the rows after the query's own LIMIT. Raises: QueryInvalid where
    every row of a step fails, or a value is nested too deep."""
    pages = PageStore(vault)
    note = pages.page(this) if this else None
    run = Run(vault, now, {} if note is None else note, this, pages=pages, settings=settings)
    try:
        if isinstance(query, InlineExpression):
            return _inline_answer(query, run)
        return _Execution(query, run).answer(page)
    except RecursionError:
        raise QueryInvalid("The query makes a value that is nested too deep: lists inside lists.") from None


def _inline_answer(query: InlineExpression, run: Run) -> QueryAnswer:
    evaluate = compile_node(query.node)
    try:
        cell = make_cell(evaluate(Scope(run, {})), run)
    except ExpressionError as error:
        raise QueryInvalid(f"The expression has no value: {error.message}") from None
    return QueryAnswer((Column(query.text, query.text),), [[cell]], 1, kind="list", warnings=run.problems.notes)


class _Execution:
    """One query on its way from FROM to the answer."""

    def __init__(self, query: query_parser.DataviewQuery, run: Run) -> None:
        self.query = query
        self.run = run
        self.grouped_by: list[str] = []
        """Names of the groups that rows are, the innermost first."""
        self.order_key = order_key(run.path_of)

    def answer(self, page: Page) -> QueryAnswer:
        rows: Sequence[Scope] = self._task_rows() if self.query.kind == "task" else self._source_rows()
        for command in self.query.commands:
            rows = self._apply(command, rows)
        match self.query.kind:
            case "task":
                answer = task_answer([row.row for row in rows], self.grouped_by, self.run, page)
            case "calendar":
                answer = self._calendar(rows, page)
            case _:
                answer = self._table(rows, page)
        answer.warnings.extend(self._warnings())
        return answer

    # Rows

    def _source_rows(self) -> list[Scope]:
        sources = Sources(self.run.pages, self.run.source, self.run.problems)
        rows: list[Scope] = []
        paths = list(sources.paths(self.query.source))
        self.run.pages.vault.expect(paths)
        existing = self.run.pages.existing
        for path in paths:
            if path.endswith(".csv"):
                rows += (Scope(self.run, record) for record in sources.csv_rows(path))
            else:
                rows.append(Scope(self.run, existing(path)))
        return rows

    def _task_rows(self) -> list[Scope]:
        rows: list[Scope] = []
        for row in self._source_rows():
            if isinstance(row.row, NotePage):
                rows += (Scope(self.run, TaskRow(item, row.row)) for item in row.row.file["tasks"])
                self.run.budget.end_row(kept=False)
        return rows

    def _apply(self, command: query_parser.Command, rows: Sequence[Scope]) -> Sequence[Scope]:
        run = self.run
        match command:
            case query_parser.Where(condition):
                conditions = [compile_node(part) for part in _conjuncts(condition)]

                def passes(row: Scope) -> bool:
                    values = [holds(row) for holds in conditions]  # all of them: an error in any of them counts
                    return all(map(is_true, values))

                with self._check_step("where", rows):
                    return filter_rows(rows, passes, run, "WHERE")
            case query_parser.Sort(keys):
                by = [SortBy(compile_node(key.expression), key.descending) for key in keys]
                with self._check_step("sort", rows):
                    return sort_rows(rows, by, self.order_key, run, "SORT")
            case query_parser.Limit(amount):
                return limit_rows(rows, self._amount(compile_node(amount)))
            case query_parser.GroupBy(key):
                with self._check_step("group", rows):
                    return self._group(rows, key)
            case query_parser.Flatten(items):
                with self._check_step("flatten", rows):
                    return self._flatten(rows, items)
            case query_parser.SecondFrom():
                raise QueryInvalid("A query has one FROM, directly after its header. Join sources by and, or.")

    def _group(self, rows: Sequence[Scope], key: query_parser.Named) -> list[Scope]:
        by = SortBy(compile_node(key.expression))
        groups = group_rows(rows, by, self.order_key, self.run, "GROUP BY")
        self.grouped_by.insert(0, key.name)
        return [
            Scope(
                self.run,
                Identified(group.key, {"key": group.key, "rows": [row.row for row in group.rows], key.name: group.key}),
            )
            for group in groups
        ]

    def _flatten(self, rows: Sequence[Scope], items: query_parser.Named) -> list[Scope]:
        def extend(row: Scope, value: Value) -> Scope:
            return Scope(self.run, Extended({items.name: value}, row.row))

        flat = flatten_rows(rows, compile_node(items.expression), extend, self.run, "FLATTEN")
        if self.grouped_by[:1] == [items.name]:
            del self.grouped_by[0]
        return flat

    def _amount(self, amount: Evaluate) -> float | None:
        try:
            value = amount(Scope(self.run, {}))
        except ExpressionError as error:
            raise QueryInvalid(f"Failed to execute 'limit' statement: {error.message}") from None
        if not isinstance(value, float):
            shown = value_text(value, self.run.settings, self.run.budget)
            raise QueryInvalid(
                "Failed to execute 'limit' statement: "
                f"limit should be a number, but got '{type_name(value)}' ({shown[:100]})"
            )
        if value != value:
            return 0
        return None if value == float("inf") else max(value, -1e15)

    @contextmanager
    def _check_step(self, step: str, rows: Sequence[Scope]) -> Iterator[None]:
        """Make a step inside the block. Raises: QueryInvalid where every row failed in it."""
        before = self._count_failures()
        yield
        if rows and self._count_failures() - before >= len(rows):
            self._refuse(step, [message for _, message, _ in self.run.problems.counted()])

    def _count_failures(self) -> int:
        return sum(count for _, _, count in self.run.problems.counted())

    def _refuse(self, step: str, messages: list[str]) -> None:
        listed = "; ".join(list(dict.fromkeys(messages))[:SHOWN_ERRORS])
        raise QueryInvalid(f"Every row during operation '{step}' failed with an error; first {SHOWN_ERRORS}: {listed}")

    # Answers

    def _table(self, rows: Sequence[Scope], page: Page) -> QueryAnswer:
        columns = [Column(named.text, named.name) for named in self.query.columns]
        shows_id = not self.query.without_id or (self.query.kind == "list" and not columns)
        if shows_id:
            columns.insert(0, Column("id", self.grouped_by[0] if self.grouped_by else self.run.settings.id_column))
        values = [compile_node(named.expression) for named in self.query.columns]
        cells = []
        failed: list[str] = []
        for row in page.cut(rows):
            errors: list[str] = []
            shown = [self._cell(_identity, row, errors)] if shows_id else []
            shown += [self._cell(value, row, errors) for value in values]
            cells.append(shown)
            failed += errors[:1]
            self.run.budget.end_row(kept=True)
        if failed and len(failed) == len(rows):
            self._refuse("final data extraction", failed)
        if failed:
            self.run.problems.note(f"{len(failed)} of the rows shown have an error in a cell; first: {failed[0]}")
        return QueryAnswer(tuple(columns), cells, len(rows), kind=self.query.kind)

    def _cell(self, value: Evaluate, row: Scope, errors: list[str]) -> object:
        """The cell of a value; of one that fails `{"error": message}`, noted in `errors`."""
        try:
            return make_cell(value(row), self.run)
        except ExpressionError as error:
            errors.append(error.message)
            return {"error": error.message}

    def _calendar(self, rows: Sequence[Scope], page: Page) -> QueryAnswer:
        named = self.query.columns[0]
        pairs = evaluate_rows(rows, compile_node(named.expression), self.run, "CALENDAR")
        if rows and not pairs:
            self._refuse("final data extraction", [message for _, message, _ in self.run.problems.counted()])
        dated = [(row, value) for row, value in pairs if isinstance(value, Date)]
        if len(dated) < len(pairs):
            self.run.problems.note(f"CALENDAR: {len(pairs) - len(dated)} of {len(pairs)} rows have no date: left out.")
        columns = Column("date", named.name), Column("link", self.run.settings.id_column)
        cells = [[make_cell(value, self.run), make_cell(_file_link(row), self.run)] for row, value in page.cut(dated)]
        return QueryAnswer(columns, cells, len(dated), kind="calendar")

    def _warnings(self) -> list[str]:
        notes = list(self.run.problems.notes)
        steps: dict[str, tuple[int, str]] = {}
        for step, message, count in self.run.problems.counted():
            total, first = steps.get(step, (0, message))
            steps[step] = total + count, first
        notes += (
            f"{step} left out {write_count(count, 'row')} with an error; first: {message}"
            for step, (count, message) in steps.items()
        )
        return notes


def _conjuncts(node: Node) -> list[Node]:
    """The conditions that are joined by `and`, from left to right."""
    if isinstance(node, Binary) and node.operator == "&":
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]


def _identity(row: Scope) -> Value:
    """The cell that says which row it is: the link to the note, the key of the group, `path#n` of a CSV file."""
    fields = row.row
    while isinstance(fields, Extended):
        fields = fields.below
    return fields.file.link if isinstance(fields, NotePage) else fields.identity


def _file_link(row: Scope) -> LinkValue | None:
    file = row.row.get("file")
    link = None if file is None else file.get("link")
    return link if isinstance(link, LinkValue) else None
