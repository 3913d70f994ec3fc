"""Runs Dataview queries (specs/dataview.md, DV-01, DV-02, DV-20 to DV-29, DV-42 to DV-44) by Dataview's tables for the
shared evaluator (DV-32 to DV-35)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from obsidian_mcp.core.dataview import query_parser
from obsidian_mcp.core.dataview.expression_parser import WHOLE_ROW, Missing, parse_expression
from obsidian_mcp.core.dataview.functions import FUNCTIONS
from obsidian_mcp.core.dataview.note_data import DataviewVault
from obsidian_mcp.core.dataview.operators import OPERATORS, UNARY, field_of, index_of
from obsidian_mcp.core.dataview.pages import CHEAP, FILE_FIELDS, NotePage, Run, make_cell, run_of
from obsidian_mcp.core.dataview.records import ABSENT, Extended, Identified, ItemRecord, TaskRow
from obsidian_mcp.core.dataview.settings import Settings
from obsidian_mcp.core.dataview.sources import csv_rows, find_paths
from obsidian_mcp.core.dataview.values import is_true, order_key, type_name, value_text
from obsidian_mcp.core.expressions.answer import Cell, Column, Page, QueryAnswer, RowGroup
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
from obsidian_mcp.core.expressions.syntax import (
    Binary,
    FieldAccess,
    FunctionCall,
    IndexAccess,
    Name,
    Node,
)
from obsidian_mcp.core.expressions.values import Date, ExpressionError, Value
from obsidian_mcp.core.note.query_blocks import (
    JAVASCRIPT_REFUSED,
    inline_expression,
    is_dql,
    is_javascript,
)
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import QueryInvalid


def _name(name: str) -> Evaluate:
    """A field of the row, else `this`, else null."""
    if name == WHOLE_ROW.name:
        return lambda scope: Extended(
            scope.variables, Extended(scope.row, {"this": scope.context.this})
        )

    def evaluate(scope: Scope) -> Value:
        value = scope.row.get(name, ABSENT)
        if value is ABSENT:
            return scope.context.this if name == "this" else None
        return value

    return evaluate


def _call(node: FunctionCall, compiler: Compiler) -> Evaluate:
    arguments = [compiler.compile(argument) for argument in node.arguments]
    name = node.callee.name if isinstance(node.callee, Name) else None
    callee = compiler.compile(node.callee) if name is None else None

    def call(scope: Scope) -> Value:
        function = callee(scope) if callee else name
        values = [argument(scope) for argument in arguments]
        if isinstance(function, Function):
            return function(*values)
        if not isinstance(function, str):
            raise ExpressionError(f"Cannot call type '{type_name(function)}' as a function")
        known = FUNCTIONS.get(function)
        if known is None:
            raise ExpressionError(f"Unrecognized function name '{function}'")
        return known(run_of(scope.context), *values)

    return call


def _file_field(node: FieldAccess | IndexAccess, compiler: Compiler) -> Evaluate | None:
    """`file.name` and the like of a row that is a note, without an object for its file."""
    if (
        not isinstance(node, FieldAccess)
        or node.of != _FILE
        or node.name not in CHEAP
        or "file" in compiler.parameters
    ):
        return None
    cheap = FILE_FIELDS[node.name]
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


def read_query(
    text: str, now: datetime, settings: Settings
) -> query_parser.DataviewQuery | InlineExpression:
    """Return a DQL query, without its fence, or one inline expression; `now` is naive and local (DV-01). Raises:
    QueryInvalid."""
    if is_javascript(text):
        raise QueryInvalid(JAVASCRIPT_REFUSED)
    expression = None if is_dql(text) else inline_expression(text, settings.inline_prefix)
    if expression is not None:
        return InlineExpression(expression, parse_expression(expression, now))
    parser = query_parser.QueryParser(text, now)
    with suppress(Missing):
        query = parser.query()
        if parser.at_end:
            return query
        parser.expect("the end of the query")
    raise parser.error(query_parser.hint_for(text))


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
    run = Run(vault, now, {}, this, settings=settings)
    if this and (note := run.page(this)) is not None:
        run.this = note
    try:
        if isinstance(query, InlineExpression):
            return _inline_answer(query, run)
        execution = _Execution(query, run)
        rows = execution.source_rows()
        for command in query.commands:
            rows = execution.apply(command, rows)
        return execution.answer(rows, page)
    except RecursionError:
        raise QueryInvalid(
            "The query makes a value that is nested too deep: lists inside lists."
        ) from None


def _inline_answer(query: InlineExpression, run: Run) -> QueryAnswer:
    evaluate = compile_node(query.node)
    try:
        cell = make_cell(evaluate(Scope(run, {})), run)
    except ExpressionError as error:
        raise QueryInvalid(f"The expression has no value: {error.message}") from None
    return QueryAnswer(
        (Column(query.text, query.text),), [[cell]], 1, kind="list", warnings=run.problems.notes
    )


class _Execution:
    """One query on its way from FROM to the answer."""

    def __init__(self, query: query_parser.DataviewQuery, run: Run) -> None:
        self.query = query
        self.run = run
        self.grouped_by: list[str] = []
        """Names of the groups that rows are, the innermost first."""
        self.order_key = order_key(run.path_of)

    def source_rows(self) -> Sequence[Scope]:
        rows: list[Scope] = []
        paths = list(find_paths(self.query.source, self.run))
        self.run.vault.expect(paths)
        is_of_tasks = self.query.kind == "task"
        for path in paths:
            if path.endswith(".csv"):
                records = csv_rows(path, self.run)
                rows += () if is_of_tasks else (Scope(self.run, record) for record in records)
                continue
            note = self.run.existing(path)
            if is_of_tasks:
                rows += (Scope(self.run, TaskRow(item, note)) for item in note.file["tasks"])
                self.run.budget.end_row(kept=False)
            else:
                rows.append(Scope(self.run, note))
        return rows

    def apply(self, command: query_parser.Command, rows: Sequence[Scope]) -> Sequence[Scope]:
        """The rows after a command. Raises: QueryInvalid where every row failed in it."""
        run, failures = self.run, self.run.problems.failures
        found: Sequence[Scope]
        match command:
            case query_parser.Where(condition):
                conditions = [compile_node(part) for part in _conjuncts(condition)]

                def passes(row: Scope) -> bool:
                    values = [
                        holds(row) for holds in conditions
                    ]  # all of them: an error in any of them counts
                    return all(map(is_true, values))

                found = filter_rows(rows, passes, run, "WHERE")
            case query_parser.Sort(keys):
                by = [SortBy(compile_node(key.expression), key.descending) for key in keys]
                found = sort_rows(rows, by, self.order_key, run, "SORT")
            case query_parser.Limit(amount):
                found = limit_rows(rows, self._amount(compile_node(amount)))
            case query_parser.GroupBy(named):
                groups = group_rows(
                    rows, SortBy(compile_node(named.expression)), self.order_key, run, "GROUP BY"
                )
                self.grouped_by.insert(0, named.name)
                found = [
                    Scope(
                        run,
                        Identified(
                            key, {"key": key, "rows": [row.row for row in members], named.name: key}
                        ),
                    )
                    for key, members in groups
                ]
            case query_parser.Flatten(named):

                def extend(row: Scope, value: Value) -> Scope:
                    return Scope(run, Extended({named.name: value}, row.row))

                found = flatten_rows(rows, compile_node(named.expression), extend, run, "FLATTEN")
                if self.grouped_by[:1] == [named.name]:
                    del self.grouped_by[0]
            case query_parser.SecondFrom():
                raise QueryInvalid(
                    "A query has one FROM, directly after its header. Join sources by and, or."
                )
        if rows and run.problems.failures - failures >= len(rows):
            self._refuse(
                _STEPS[type(command)], [message for _, message, _ in run.problems.counted()]
            )
        return found

    def _amount(self, amount: Evaluate) -> float:
        try:
            value = amount(Scope(self.run, {}))
            if isinstance(value, float):
                return value
            shown = value_text(value, self.run.settings, self.run.budget)[:100]
            problem = f"limit should be a number, but got '{type_name(value)}' ({shown})"
        except ExpressionError as error:
            problem = error.message
        raise QueryInvalid(f"Failed to execute 'limit' statement: {problem}")

    def _refuse(self, step: str, messages: list[str]) -> None:
        listed = "; ".join(list(dict.fromkeys(messages))[:SHOWN_ERRORS])
        raise QueryInvalid(
            f"Every row during operation '{step}' failed with an error; first {SHOWN_ERRORS}: {listed}"
        )

    def answer(self, rows: Sequence[Scope], page: Page) -> QueryAnswer:
        match self.query.kind:
            case "task":
                answer = task_answer([row.row for row in rows], self.grouped_by, self.run, page)
            case "calendar":
                answer = self._calendar(rows, page)
            case _:
                answer = self._table(rows, page)
        answer.warnings.extend(self._warnings())
        return answer

    def _table(self, rows: Sequence[Scope], page: Page) -> QueryAnswer:
        columns = [Column(named.text, named.name) for named in self.query.columns]
        shows_id = not self.query.without_id or (self.query.kind == "list" and not columns)
        if shows_id:
            columns.insert(
                0,
                Column(
                    "id", self.grouped_by[0] if self.grouped_by else self.run.settings.id_column
                ),
            )
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
            self.run.problems.note(
                f"{len(failed)} of the rows shown have an error in a cell; first: {failed[0]}"
            )
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
            self._refuse(
                "final data extraction", [message for _, message, _ in self.run.problems.counted()]
            )
        dated = [(row, value) for row, value in pairs if isinstance(value, Date)]
        if len(dated) < len(pairs):
            self.run.problems.note(
                f"CALENDAR: {len(pairs) - len(dated)} of {len(pairs)} rows have no date: left out."
            )
        columns = Column("date", named.name), Column("link", self.run.settings.id_column)
        linked = compile_node(FieldAccess(_FILE, "link"))
        cells = []
        for row, value in page.cut(dated):
            cells.append([make_cell(value, self.run), self._cell(linked, row, [])])
            self.run.budget.end_row(kept=True)
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


_STEPS = {
    query_parser.Where: "where",
    query_parser.Sort: "sort",
    query_parser.GroupBy: "group",
    query_parser.Flatten: "flatten",
}
"""What the plugin calls the commands in which a row can fail."""


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
    return fields.file.get("link") if isinstance(fields, NotePage) else fields.identity


# The answer of TASK: tasks with everything below them, by group (DV-25, DV-26)


COLUMNS = tuple(
    Column(name, name) for name in ("status", "text", "ref", "depth", "match", "section", "fields")
)


class _Shown(NamedTuple):
    """A row of the answer. `matches` where the item itself is in the result."""

    item: ItemRecord
    depth: int
    matches: bool


def task_answer(
    rows: Sequence[Mapping[str, Value]], grouped_by: Sequence[str], run: Run, page: Page
) -> QueryAnswer:
    """Roots in result order, each followed by all items below it, whether they match or not (DV-25)."""
    shown: list[_Shown] = []
    groups = _groups(rows, grouped_by, shown, run)
    cells = []
    for row in page.cut(shown):
        cells.append(_cells(row, run))
        run.budget.end_row(kept=True)
    return QueryAnswer(COLUMNS, cells, len(shown), kind="task", groups=groups)


def _groups(
    rows: Sequence[Mapping[str, Value]], grouped_by: Sequence[str], shown: list[_Shown], run: Run
) -> tuple[RowGroup, ...] | None:
    """Add the rows of the answer to `shown`; the groups they belong to, None without GROUP BY."""
    if not grouped_by:
        shown.extend(
            _with_children([item for row in rows if (item := _find_item(row)) is not None])
        )
        return None
    name, *inner_names = grouped_by
    groups = []
    for row in rows:
        start = len(shown)
        members = row.get("rows")
        inner = _groups(members if isinstance(members, list) else [], inner_names, shown, run)
        groups.append(
            RowGroup(_cell_or_error(row.get(name), run), len(shown) - start, groups=inner)
        )
        run.budget.end_row(kept=True)
    return tuple(groups)


def _find_item(row: Mapping[str, Value]) -> ItemRecord | None:
    while isinstance(row, Extended):
        if isinstance(row, TaskRow):
            return row.task
        row = row.below
    return None


def _with_children(items: list[ItemRecord]) -> Iterator[_Shown]:
    known = {_place(item) for item in items}
    below: set[tuple[str, int]] = set()
    for item in items:
        pending = [item]
        while pending:
            for child in pending.pop()["children"]:
                if _place(child) not in below:
                    below.add(_place(child))
                    pending.append(child)
    for item in items:
        parent = item.item.parent
        above = None if parent is None else (item["path"], parent)
        if above is None or (above not in known and above not in below):
            yield from _tree(item, known)


def _tree(root: ItemRecord, known: set[tuple[str, int]]) -> Iterator[_Shown]:
    pending = [(root, 0)]
    while pending:
        item, depth = pending.pop()
        yield _Shown(item, depth, _place(item) in known)
        pending += ((child, depth + 1) for child in reversed(item["children"]))


def _place(item: ItemRecord) -> tuple[str, int]:
    return item["path"], item.item.line


def _cells(row: _Shown, run: Run) -> list[Cell]:
    item = row.item
    ref = f"{item['path']}:{item.item.line + 1}"
    section = _cell_or_error(item["section"], run)
    fields = {name: _cell_or_error(value, run) for name, value in item.own_fields.items()}
    text = _cell_or_error(item.item.text, run)  # last: nothing fits after a text that is too long
    return [item.item.status, text, ref, row.depth, row.matches, section, fields]


def _cell_or_error(value: Value, run: Run) -> Cell:
    try:
        return make_cell(value, run)
    except ExpressionError as error:
        return {"error": error.message}
