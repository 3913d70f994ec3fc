"""One view of a base over the vault, or over a Markdown table, with summaries of its columns (BASE-70 to BASE-77,
QUERIES-09)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from obsidian_mcp.core.expressions.answer import (
    Cell,
    Cells,
    Column,
    Page,
    QueryAnswer,
    RowGroup,
    cell_of,
)
from obsidian_mcp.core.expressions.evaluate import (
    Context,
    Evaluate,
    KeyedRows,
    Scope,
    SortBy,
    compile_expression,
    evaluate_or_error,
    filter_rows,
    group_rows,
    sort_rows,
)
from obsidian_mcp.core.expressions.javascript import round_half_up
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.syntax import Name, SyntaxProblem, walk
from obsidian_mcp.core.expressions.values import (
    Date,
    Duration,
    ExpressionError,
    File,
    LinkValue,
    Value,
)
from obsidian_mcp.core.note.table import LocatedTable, number_of
from obsidian_mcp.core.text.table_file import read_rows
from obsidian_mcp.core.text.text import write_count
from obsidian_mcp.errors import QueryInvalid

from .base_file import Base, Filter, FilterStatement, View, expressions, read
from .dates import difference, humanize
from .functions import FILE_FIELDS, GLOBALS, find
from .language import BASES, BODIES, BaseRow, fail_with, file_field, formula_value, note_property
from .methods import deviation, mean, median
from .parser import parse_or_problem
from .values import (
    Image,
    date_text,
    identity,
    is_empty,
    is_true,
    link_text,
    order_key,
    text_of,
    wrap_property,
)

FILE_LABELS: Mapping[str, str] = dict(read_rows(__file__, "file_labels"))
"""What the app calls the columns of a file's fields."""

CELLS: Cells = {
    Date: lambda date, _: date_text(date),
    Duration: lambda duration, _: humanize(duration),
    LinkValue: lambda link, _: link_text(link),
    File: lambda file, _: f"[[{file.path}]]",
    Image: text_of,
    RegExpValue: text_of,
}

FILTER_STEP = "filter"
SORT_STEP = "sort"


RowReader = Callable[[Mapping[str, Evaluate]], Iterable[BaseRow]]
"""Formulas by name -> rows that a base is asked about in the place of the files; each has its `line`."""


def run_view(
    base: Base,
    context: Context,
    page: Page,
    name: str | None = None,
    read_rows: RowReader | None = None,
    default_columns: Sequence[str] = ("file.name",),
) -> QueryAnswer:
    """The rows of the view `name`, of the first one without a name; `context.this` is a File or None. Raises:
    QueryInvalid."""
    view = base.view(name)
    for warning in base.warnings:
        context.problems.note(warning)
    _warn_of_this(base, view, context)
    formulas = {name: _formula(base, name, text, context) for name, text in base.formulas.items()}
    found = (
        read_rows(formulas)
        if read_rows
        else (BaseRow(file, formulas) for file in context.vault.files())
    )
    rows = _rows(base, view, context, found, in_order=read_rows is not None)
    groups = _groups(view, rows, context)
    if groups is not None:
        rows = list(chain.from_iterable(group.rows for group in groups))
    summaries = {
        property_id: _summary(base, name, context) for property_id, name in view.summaries.items()
    }
    ids = default_columns if view.order is None else view.order
    shown = page.cut(rows)
    return QueryAnswer(
        columns=tuple(Column(full_id(id_), label(base, id_)) for id_ in ids),
        rows=list(_cells(shown, [property_value(id_) for id_ in ids], context)),
        total=len(rows),
        view=view.name,
        paths=None if read_rows else [row.row.file.path for row in shown],
        lines=[row.row.line for row in shown] if read_rows else None,
        groups=None
        if groups is None
        else tuple(
            RowGroup(
                _cell(group.key, context),
                len(group.rows),
                _summarize(group.rows, view, summaries, context),
            )
            for group in groups
        ),
        summaries=_summarize(rows, view, summaries, context),
        warnings=_warnings(context),
    )


def full_id(property_id: str) -> str:
    """`note.status` for `status`."""
    return (
        property_id
        if property_id.startswith(("file.", "formula.", "note."))
        else f"note.{property_id}"
    )


def label(base: Base, property_id: str) -> str:
    """The name of a column: the display name, else the default of the app."""
    full = full_id(property_id)
    bare = full.partition(".")[2]
    for key in (full, bare) if full.startswith("note.") else (full,):
        if key in base.labels:
            return base.labels[key]
    return FILE_LABELS.get(full, bare)


def property_value(property_id: str) -> Evaluate:
    """The value of a property id; an unknown field of `file` is null, as in the app's columns."""
    kind, _, name = full_id(property_id).partition(".")
    if kind == "file":
        return file_field(name) if name in FILE_FIELDS else lambda _: None
    return formula_value(name) if kind == "formula" else note_property(name)


def _warn_of_this(base: Base, view: View, context: Context) -> None:
    if context.this is not None:
        return
    nodes = (parse_or_problem(text) for _, text in expressions(base, [view]) if "this" in text)
    if any(not isinstance(node, SyntaxProblem) and Name("this") in walk(node) for node in nodes):
        context.problems.note(
            "`this` is null here: the base uses it, but the query names no note for it. Pass `this`, the path of the "
            "note that embeds the base."
        )


def _formula(base: Base, name: str, text: str, context: Context) -> Evaluate:
    """The function of a formula; one that does not parse is null, with a warning."""
    node = parse_or_problem(text)
    if isinstance(node, SyntaxProblem):
        place = base.describe(("formulas", name), node)
        context.problems.note(
            f'Formula "{name}": Unable to parse formula. (position {node.at}) {place}'
        )
        return lambda _: None
    return compile_expression(node, BASES)


def _rows(
    base: Base, view: View, context: Context, found: Iterable[BaseRow], *, in_order: bool
) -> list[Scope]:
    """Filtered, sorted and limited. Without a sort they are sorted by name, or with `in_order` stay as they are."""
    rows = [Scope(context, row) for row in found]
    parts: list[Condition] = [
        _condition(base, part) for part in (base.filters, view.filters) if part is not None
    ]
    if parts:
        rows = filter_rows(rows, _all_of(parts), context, FILTER_STEP)
    keys = [SortBy(property_value(order.property), order.descending) for order in view.sort]
    rows = sort_rows(
        rows,
        keys if keys or in_order else [SortBy(file_field("name"))],
        lambda value, descending: order_key(value, context, descending=descending),
        context,
        SORT_STEP,
        keep_errors=True,
    )
    return rows[: view.limit] if view.limit else rows


Condition = Callable[[Scope], bool]


def _condition(base: Base, part: Filter) -> Condition:
    if isinstance(part, FilterStatement):
        node = parse_or_problem(part.text)
        if isinstance(node, SyntaxProblem):
            return fail_with(f'"{part.text}" does not parse: {base.describe(part.path, node)}')
        evaluate = compile_expression(node, BASES)
        return lambda scope: is_true(evaluate(scope))
    parts = [_condition(base, inner) for inner in part.parts]
    if part.kind == "and":
        return _all_of(parts)
    if part.kind == "or":
        # An `or` without statements passes everything, like a filter that is not there.
        return lambda scope: not parts or any(part(scope) for part in parts)
    return lambda scope: not any(part(scope) for part in parts)


def _all_of(parts: Sequence[Condition]) -> Condition:
    if len(parts) == 1:
        return parts[0]

    def all_pass(scope: Scope) -> bool:
        for part in parts:  # noqa: SIM110 - a loop takes half the time of all() over a generator
            if not part(scope):
                return False
        return True

    return all_pass


# Groups and summaries


def _groups(view: View, rows: Sequence[Scope], context: Context) -> list[KeyedRows] | None:
    if view.group_by is None:
        return None
    first: dict[Any, tuple[Any, ...]] = {}
    """What a value is -> the order key of the first such value, so that links to one file stay together."""

    def key(value: Value, descending: bool) -> tuple[Any, ...]:
        same = identity(value, context)
        if same not in first:
            first[same] = (order_key(value, context, descending=descending), str(same))
        return first[same]

    by = SortBy(property_value(view.group_by.property), view.group_by.descending)
    return group_rows(rows, by, key, context, SORT_STEP, keep_errors=True)


Summary = Callable[[Sequence[Value], Context], Value]


def _summary(base: Base, name: str, context: Context) -> Summary:
    if (text := base.summaries.get(name)) is not None:
        node = parse_or_problem(text)
        if not isinstance(node, SyntaxProblem):
            evaluate = compile_expression(node, BASES, frozenset({"values"}))
            row = BaseRow(File(context.source), {})
            return lambda values, _: evaluate(Scope(context, row, {"values": list(values)}))
        context.problems.note(
            f'Summary "{name}" does not parse: {base.describe(("summaries", name), node)}'
        )
        return lambda *_: None
    built_in: Summary | None = find(BUILT_IN, name)
    if built_in is None:
        context.problems.note(
            f'The summary "{name}" is not known. Built-in summaries: {", ".join(BUILT_IN)}; others stand under '
            '"summaries" of the base.'
        )
    return built_in or (lambda *_: None)


def _summarize(
    rows: Sequence[Scope], view: View, summaries: Mapping[str, Summary], context: Context
) -> Cell:
    context.budget.end_row(kept=True)  # of the key, where the rows are those of a group
    found: dict[str, dict[str, Cell]] = {}
    for property_id, summarize in summaries.items():
        value = property_value(property_id)
        values = [evaluate_or_error(value, row) for row in rows]
        values = [None if isinstance(value, ExpressionError) else value for value in values]
        try:
            context.budget.hold(values)
            cell = cell_of(summarize(values, context), CELLS, context)
        except ExpressionError as error:
            cell = {"error": error.message}
        context.budget.end_row(kept=True)
        found.setdefault(full_id(property_id), {})[view.summaries[property_id]] = cell
    return found or None


def _cells(
    rows: Sequence[Scope], columns: Sequence[Evaluate], context: Context
) -> Iterator[list[Cell]]:
    for row in rows:
        cells = [_cell(evaluate_or_error(column, row), context) for column in columns]
        context.budget.hold(cells)
        context.budget.end_row(kept=True)
        yield cells


def _cell(value: Value, context: Context) -> Cell:
    try:
        return cell_of(value, CELLS, context)
    except ExpressionError as error:
        return {"error": error.message}


def _warnings(context: Context) -> list[str]:
    counted = [
        f"Failed to evaluate a filter: {message} ({write_count(count, 'file')} left out)"
        for step, message, count in context.problems.counted()
        if step == FILTER_STEP
    ]
    return context.problems.notes + counted


def _summarize_numbers(
    compute: Callable[[list[float]], float | None], *, rounded: bool = False
) -> Summary:
    def summarize(values: Sequence[Value], _: Context) -> Value:
        result = compute([value for value in values if type(value) is float])
        return result if result is None or not rounded else round_half_up(result * 100.0) / 100.0

    return summarize


def _dates(values: Sequence[Value]) -> list[Date]:
    return sorted(
        (value for value in values if isinstance(value, Date)), key=lambda date: date.milliseconds
    )


def _range(values: Sequence[Value], _: Context) -> Value:
    if numbers := [value for value in values if type(value) is float]:
        return max(numbers) - min(numbers)
    dates = _dates(values)
    return difference(dates[-1], dates[0]) if dates else None


def _count(test: Callable[[Value], bool]) -> Summary:
    return lambda values, _: float(sum(test(value) for value in values))


BUILT_IN: Mapping[str, Summary] = {
    "Average": _summarize_numbers(mean, rounded=True),
    "Min": _summarize_numbers(lambda numbers: min(numbers, default=None)),
    "Max": _summarize_numbers(lambda numbers: max(numbers, default=None)),
    "Sum": _summarize_numbers(lambda numbers: float(sum(numbers))),
    "Median": _summarize_numbers(median),
    "Stddev": _summarize_numbers(deviation, rounded=True),
    "Range": _range,
    "Earliest": lambda values, _: next(iter(_dates(values)), None),
    "Latest": lambda values, _: next(reversed(_dates(values)), None),
    "Checked": _count(lambda value: value is True),
    "Unchecked": _count(lambda value: value is False),
    "Empty": _count(is_empty),
    "Filled": _count(lambda value: not is_empty(value)),
    "Unique": lambda values, context: float(
        len({identity(value, context) for value in values if not is_empty(value)})
    ),
}


_IS_YAML = re.compile(r"^[ \t]*+(?:\w++[ \t]*+:(?:\s|$)|[{-])", re.MULTILINE)


_NO_PROPERTIES = frozenset(
    ("file", "note", "formula", "this", "if", *GLOBALS, *chain(*BODIES.values()))
)
"""Names in expressions that are none of properties."""


class TableRow(BaseRow):
    """A row of a table in a note: its cells are properties, and what is no column is a property of the note."""

    __slots__ = ("line",)

    def __init__(
        self, file: File, formulas: Mapping[str, Evaluate], cells: Mapping[str, Value], line: int
    ) -> None:
        super().__init__(file, formulas)
        self.properties.update(cells)
        self.line = line


def run_table(
    query: str, note: File, located: LocatedTable, context: Context, page: Page, view: str
) -> QueryAnswer:
    """Return the rows of a table that a base, a filter, or nothing but all rows, asks for. Raises: QueryInvalid."""
    base = read(query) if _IS_YAML.search(query) else _read_filter(query)
    columns = tuple(located.table.columns)
    known = {name.lower() for name in columns} | context.vault.properties(note.path).keys()
    for name in _named_properties(base, base.view(view or None)):
        key = name.removeprefix("note.").lower()
        if not name.startswith(("file.", "formula.")) and key not in known:
            raise QueryInvalid(
                f"The table has no column {name!r}. Its columns are {', '.join(map(repr, columns))}."
            )
    return run_view(
        base,
        context,
        page,
        view or None,
        partial(_table_rows, note, located),
        default_columns=columns,
    )


def _read_filter(text: str) -> Base:
    statement = FilterStatement(text, ("filters",)) if text.strip() else None
    problem = parse_or_problem(text) if statement else None
    if isinstance(problem, SyntaxProblem):
        raise QueryInvalid(
            f"The filter does not parse: {problem.explanation} (position {problem.at})"
        )
    return Base((View("Table", "table"),), statement)


def _named_properties(base: Base, view: View) -> Iterator[str]:
    """Yield the properties that a view, and the expressions that it uses, name."""
    for path, text in expressions(base, [view]):
        node = parse_or_problem(text)
        if path[0] != "summaries" and not isinstance(node, SyntaxProblem):
            yield from (
                part.name
                for part in walk(node)
                if isinstance(part, Name) and part.name not in _NO_PROPERTIES
            )
    yield from view.order or ()
    yield from (
        order.property for order in (*view.sort, *([view.group_by] if view.group_by else []))
    )
    yield from view.summaries


def _table_rows(
    note: File, located: LocatedTable, formulas: Mapping[str, Evaluate]
) -> Iterator[TableRow]:
    columns = [name.lower() for name in located.table.columns]
    for number, row in enumerate(located.table.rows):
        cells = {name: _read_cell(row.cell(index), note.path) for index, name in enumerate(columns)}
        yield TableRow(note, formulas, cells, located.line + 2 + number)


def _read_cell(text: str, path: str) -> Value:
    """Return a cell as a property would be read: number, true or false, date, link or text."""
    if text.lower() in ("", "true", "false"):
        return None if not text else text.lower() == "true"
    number = number_of(text)
    return wrap_property(text if number is None else number, path)
