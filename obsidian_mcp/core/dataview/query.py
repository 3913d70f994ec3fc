"""Runs Dataview queries (specs/dataview.md, DV-01, DV-02, DV-20 to DV-29, DV-42 to DV-44)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from obsidian_mcp.core.dataview import query_syntax
from obsidian_mcp.core.dataview.cells import make_cell
from obsidian_mcp.core.dataview.expression_parser import parse_expression
from obsidian_mcp.core.dataview.language import FILE_NAME, compile_node
from obsidian_mcp.core.dataview.pages import NotePage, QueryRun
from obsidian_mcp.core.dataview.query_parser import QueryParser, hint_for
from obsidian_mcp.core.dataview.records import ExtendedRecord, IdentifiedRow, TaskRow
from obsidian_mcp.core.dataview.scanner import Missing
from obsidian_mcp.core.dataview.settings import DataviewSettings
from obsidian_mcp.core.dataview.sources import csv_rows, find_paths
from obsidian_mcp.core.dataview.task_answer import task_answer
from obsidian_mcp.core.dataview.values import is_true, order_key, type_name, value_text
from obsidian_mcp.core.dataview.vault_view import DataviewVault
from obsidian_mcp.core.expressions.answer import Cell, Column, Page, QueryAnswer
from obsidian_mcp.core.expressions.dates import Date
from obsidian_mcp.core.expressions.evaluate import Evaluate, Scope
from obsidian_mcp.core.expressions.rows import (
    SortBy,
    evaluate_rows,
    filter_rows,
    flatten_rows,
    group_rows,
    limit_rows,
    sort_rows,
)
from obsidian_mcp.core.expressions.syntax import Binary, FieldAccess, Node
from obsidian_mcp.core.expressions.values import ExpressionError, Value
from obsidian_mcp.core.note.query_blocks import (
    JAVASCRIPT_REFUSED,
    inline_expression,
    is_dql,
    is_javascript,
)
from obsidian_mcp.core.text.fit import cut_text
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import QueryInvalid

MAX_MESSAGES = 3
"""Errors of rows that a refusal names."""
MAX_QUOTED = 100
"""Characters of a value in a message."""


@dataclass(frozen=True, slots=True)
class InlineExpression:
    """The one expression of an inline query."""

    text: str
    node: Node


def read_query(
    text: str, now: datetime, settings: DataviewSettings
) -> query_syntax.DataviewQuery | InlineExpression:
    """Return the DQL query, without its fence, or the inline expression that a text is (DV-01).

    An inline expression begins with the prefix of the settings, `=`; `now` is naive and local.
    Raises: QueryInvalid for a text that does not parse, and for JavaScript.
    """
    if is_javascript(text):
        raise QueryInvalid(JAVASCRIPT_REFUSED)
    expression = None if is_dql(text) else inline_expression(text, settings.inline_prefix)
    if expression is not None:
        return InlineExpression(expression, parse_expression(expression, now))
    parser = QueryParser(text, now)
    with suppress(Missing):
        query = parser.query()
        if parser.at_end:
            return query
        parser.expect("the end of the query")
    raise parser.error(hint_for(text))


def run_query(
    query: query_syntax.DataviewQuery | InlineExpression,
    vault: DataviewVault,
    *,
    now: datetime,
    this: str = "",
    settings: DataviewSettings,
    page: Page,
) -> QueryAnswer:
    """Run a query that stands in the note with the path `this`, which may be empty.

    `now` is naive and local. `page` cuts the rows after the query's own LIMIT.
    Raises: QueryInvalid where every row of a step fails, or a value is nested too deep.
    """
    run = QueryRun(vault, now, {}, this, settings=settings)
    note = run.page(this) if this else None
    if note is not None:
        run.this = note
    try:
        if isinstance(query, InlineExpression):
            return _inline_answer(query, run)
        execution = _Execution(query, run)
        rows = execution.source_rows()
        for command in query.commands:
            rows = execution.apply(command, rows)
        return execution.make_answer(rows, page)
    except RecursionError:
        raise QueryInvalid(
            "The query makes a value that is nested too deep: lists inside lists."
        ) from None


def _inline_answer(query: InlineExpression, run: QueryRun) -> QueryAnswer:
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

    def __init__(self, query: query_syntax.DataviewQuery, run: QueryRun) -> None:
        self.query = query
        self.run = run
        self.grouped_by: list[str] = []
        """Names of the groups that rows are, the innermost first."""
        self.order_key = order_key(run.path_of)

    def source_rows(self) -> Sequence[Scope]:
        """Return the rows of FROM: notes and rows of CSV files, or for TASK the tasks of notes."""
        rows: list[Scope] = []
        paths = list(find_paths(self.query.source, self.run))
        self.run.vault.expect(paths)
        is_of_tasks = self.query.kind == "task"
        for path in paths:
            if path.endswith(".csv"):
                records = csv_rows(path, self.run)
                rows += () if is_of_tasks else (Scope(self.run, record) for record in records)
                continue
            note = self.run.note(path)
            if is_of_tasks:
                rows += (Scope(self.run, TaskRow(item, note)) for item in note.file["tasks"])
                self.run.budget.end_row(kept=False)
            else:
                rows.append(Scope(self.run, note))
        return rows

    def apply(self, command: query_syntax.QueryCommand, rows: Sequence[Scope]) -> Sequence[Scope]:
        """Return the rows after a command.

        Raises: QueryInvalid where every row failed in it.
        """
        problems = self.run.problems
        failures = problems.failures
        new_rows: Sequence[Scope]
        match command:
            case query_syntax.Where(condition):
                new_rows = self._filter(condition, rows)
            case query_syntax.Sort(terms):
                by = [SortBy(compile_node(term.expression), term.descending) for term in terms]
                new_rows = sort_rows(rows, by, self.order_key, self.run, "SORT")
            case query_syntax.LimitRows(amount):
                new_rows = limit_rows(rows, self._amount(compile_node(amount)))
            case query_syntax.GroupBy(key):
                new_rows = self._group(key, rows)
            case query_syntax.Flatten(items):
                new_rows = self._flatten(items, rows)
            case query_syntax.SecondFrom():
                raise QueryInvalid(
                    "A query has one FROM, directly after its header. Join sources by and, or."
                )
        if rows and problems.failures - failures >= len(rows):
            messages = [message for _, message, _ in problems.list_counts()]
            self._refuse(_STEPS[type(command)], messages)
        return new_rows

    def _filter(self, condition: Node, rows: Sequence[Scope]) -> Sequence[Scope]:
        conditions = [compile_node(part) for part in _conjuncts(condition)]

        def passes(row: Scope) -> bool:
            # all of them are evaluated: an error in any of them counts
            values = [evaluate(row) for evaluate in conditions]
            return all(map(is_true, values))

        return filter_rows(rows, passes, self.run, "WHERE")

    def _group(self, key: query_syntax.NamedExpression, rows: Sequence[Scope]) -> Sequence[Scope]:
        by = SortBy(compile_node(key.expression))
        groups = group_rows(rows, by, self.order_key, self.run, "GROUP BY")
        self.grouped_by.insert(0, key.name)
        group_fields = (
            (value, {"key": value, "rows": [row.row for row in members], key.name: value})
            for value, members in groups
        )
        return [Scope(self.run, IdentifiedRow(value, fields)) for value, fields in group_fields]

    def _flatten(
        self, items: query_syntax.NamedExpression, rows: Sequence[Scope]
    ) -> Sequence[Scope]:
        def extend(row: Scope, value: Value) -> Scope:
            return Scope(self.run, ExtendedRecord({items.name: value}, row.row))

        flat = flatten_rows(rows, compile_node(items.expression), extend, self.run, "FLATTEN")
        if self.grouped_by[:1] == [items.name]:
            del self.grouped_by[0]  # the field of the group is hidden: rows are no groups now
        return flat

    def _amount(self, amount: Evaluate) -> float:
        """Return the number of LIMIT.

        Raises: QueryInvalid.
        """
        try:
            value = amount(Scope(self.run, {}))
            if isinstance(value, float):
                return value
            text = cut_text(value_text(value, self.run.settings, self.run.budget), MAX_QUOTED)
            problem = f"limit should be a number, but got '{type_name(value)}' ({text})"
        except ExpressionError as error:
            problem = error.message
        raise QueryInvalid(f"Failed to execute 'limit' statement: {problem}")

    def _refuse(self, step: str, messages: list[str]) -> None:
        first = "; ".join(list(dict.fromkeys(messages))[:MAX_MESSAGES])
        raise QueryInvalid(
            f"Every row during operation '{step}' failed with an error; first {MAX_MESSAGES}: "
            f"{first}"
        )

    def make_answer(self, rows: Sequence[Scope], page: Page) -> QueryAnswer:
        """Return one page of the rows, in the form of the query's header."""
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
        """Return the rows of a TABLE or LIST; a cell that fails says so and leaves the others.

        Raises: QueryInvalid where every row has an error.
        """
        columns = [Column(named.text, named.name) for named in self.query.columns]
        shows_id = not self.query.without_id or (self.query.kind == "list" and not columns)
        values = [compile_node(named.expression) for named in self.query.columns]
        if shows_id:
            id_name = self.grouped_by[0] if self.grouped_by else self.run.settings.id_column
            columns.insert(0, Column("id", id_name))
            values.insert(0, _identify)
        cells = []
        first_errors: list[str] = []  # of each row that has one
        for row in page.cut(rows, _identify_row):
            errors: list[str] = []
            cells.append([self._cell(value, row, errors) for value in values])
            first_errors += errors[:1]
            self.run.budget.end_row(kept=True)
        if first_errors and len(first_errors) == len(rows):
            self._refuse("final data extraction", first_errors)
        if first_errors:
            self.run.problems.note(
                f"{len(first_errors)} of the rows shown have an error in a cell; first: "
                f"{first_errors[0]}"
            )
        return QueryAnswer(tuple(columns), cells, len(rows), kind=self.query.kind)

    def _cell(self, value: Evaluate, row: Scope, errors: list[str]) -> Cell:
        """Return the cell of a value; of one that fails `{"error": message}`, noted in `errors`."""
        try:
            return make_cell(value(row), self.run)
        except ExpressionError as error:
            errors.append(error.message)
            return {"error": error.message}

    def _calendar(self, rows: Sequence[Scope], page: Page) -> QueryAnswer:
        """Return dates with the links of their notes.

        Rows without a date are left out, with a remark.

        Raises: QueryInvalid where no row has a value.
        """
        named = self.query.columns[0]
        pairs = evaluate_rows(rows, compile_node(named.expression), self.run, "CALENDAR")
        if rows and not pairs:
            messages = [message for _, message, _ in self.run.problems.list_counts()]
            self._refuse("final data extraction", messages)
        dated = [(row, value) for row, value in pairs if isinstance(value, Date)]
        if len(dated) < len(pairs):
            self.run.problems.note(
                f"CALENDAR: {len(pairs) - len(dated)} of {len(pairs)} rows have no date: left out."
            )
        columns = Column("date", named.name), Column("link", self.run.settings.id_column)
        link = compile_node(FieldAccess(FILE_NAME, "link"))
        cells = []
        for row, value in page.cut(dated, lambda pair: _identify_row(pair[0])):
            cells.append([make_cell(value, self.run), self._cell(link, row, [])])
            self.run.budget.end_row(kept=True)
        return QueryAnswer(columns, cells, len(dated), kind="calendar")

    def _warnings(self) -> list[str]:
        """Return the warnings of a query, and for each step how many rows failed in it."""
        notes = list(self.run.problems.notes)
        steps: dict[str, tuple[int, str]] = {}
        for step, message, count in self.run.problems.list_counts():
            total, first = steps.get(step, (0, message))
            steps[step] = total + count, first
        notes += (
            f"{step} left out {write_count(count, 'row')} with an error; first: {message}"
            for step, (count, message) in steps.items()
        )
        return notes


_STEPS = {
    query_syntax.Where: "where",
    query_syntax.Sort: "sort",
    query_syntax.GroupBy: "group",
    query_syntax.Flatten: "flatten",
}
"""What the plugin calls the commands in which a row can fail."""


def _conjuncts(node: Node) -> list[Node]:
    """Return the conditions that are joined by `and`, from left to right."""
    if isinstance(node, Binary) and node.operator == "&":
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]


def _identify_row(row: Scope) -> object:
    """Return what a row is known by on the next page: its note, or the text of its group."""
    fields = row.row
    while isinstance(fields, ExtendedRecord):
        fields = fields.below
    return fields.path if isinstance(fields, NotePage) else repr(fields.identity)


def _identify(row: Scope) -> Value:
    """Return what says which row it is.

    It is the link to the note, the key of the group, or `path#n` of a CSV file.
    """
    fields = row.row
    while isinstance(fields, ExtendedRecord):
        fields = fields.below
    return fields.file.get("link") if isinstance(fields, NotePage) else fields.identity
