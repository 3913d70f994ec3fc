"""One view of a base over the vault (BASE-70 to BASE-77)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from obsidian_mcp.core.expressions.answer import (
    Cell,
    CellWriters,
    Column,
    Page,
    QueryAnswer,
    RowGroup,
    cell_of,
)
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.evaluate import (
    Context,
    Evaluate,
    Scope,
    compile_expression,
    evaluate_or_error,
)
from obsidian_mcp.core.expressions.regexps import RegExpValue
from obsidian_mcp.core.expressions.rows import KeyedRows, SortBy, filter_rows, group_rows, sort_rows
from obsidian_mcp.core.expressions.syntax import BareName, SyntaxProblem, walk
from obsidian_mcp.core.expressions.values import ExpressionError, File, LinkValue, Value
from obsidian_mcp.core.text.table_file import read_rows
from obsidian_mcp.core.text.text import write_count

from .base_file import Base, BaseFilter, FilterStatement, View, list_expressions
from .dates import humanize
from .file_methods import FILE_FIELDS
from .language import BASES, BaseRow, fail_with, file_field, formula_value, note_property
from .operators import identify, order_key
from .parser import parse_or_problem
from .prefilter import passing_files
from .summaries import Summary, find_summary
from .values import Image, date_text, is_true, link_text, text_of

FILE_LABELS: Mapping[str, str] = dict(read_rows(__file__, "file_labels"))
"""What the app calls the columns of a file's fields."""

CELLS: CellWriters = {
    Date: lambda date, _: date_text(date),
    Duration: lambda duration, _: humanize(duration),
    LinkValue: lambda link, _: link_text(link),
    File: lambda file, _: f"[[{file.path}]]",
    Image: text_of,
    RegExpValue: text_of,
}

FEW_FILES = 256
"""Files for which the index is not asked which may pass the filters."""
FILTER_STEP = "filter"
SORT_STEP = "sort"
"""Steps of a query that errors and warnings name."""


RowSource = Callable[[Mapping[str, Evaluate]], Iterable[BaseRow]]
"""Formulas by name -> rows that take the place of the vault's files; each has its `line`."""


def run_view(
    base: Base,
    context: Context,
    page: Page,
    name: str | None = None,
    *,
    list_rows: RowSource | None = None,
    default_columns: Sequence[str] = ("file.name",),
) -> QueryAnswer:
    """Return one page of the rows of the view `name`, of the first view without a name.

    `context.this` is a File or None. The rows are the vault's files, or what `list_rows` gives.
    Raises: QueryInvalid when there is no such view, or the query needs too much memory.
    """
    view = base.view(name)
    for warning in base.warnings:
        context.problems.note(warning)
    _warn_about_this(base, view, context)
    formulas = {name: _formula(base, name, text, context) for name, text in base.formulas.items()}
    if list_rows:
        all_rows = list_rows(formulas)
    else:
        filters = [part for part in (base.filters, view.filters) if part is not None]
        all_rows = (BaseRow(file, formulas) for file in _files(filters, context))
    rows = _select_rows(base, view, context, all_rows, in_order=list_rows is not None)
    groups = _groups(view, rows, context)
    if groups is not None:
        rows = list(chain.from_iterable(group.rows for group in groups))
    summaries = {
        property_id: find_summary(base, name, context)
        for property_id, name in view.summaries.items()
    }
    ids = default_columns if view.order is None else view.order
    on_page = page.cut(rows, _identify_row)
    cells = list(_cells(on_page, [property_value(id_) for id_ in ids], context))
    row_groups = None
    if groups is not None:
        row_groups = tuple(_row_group(group, view, summaries, context) for group in groups)
    return QueryAnswer(
        columns=tuple(Column(full_id(id_), label(base, id_)) for id_ in ids),
        rows=cells,
        total=len(rows),
        view=view.name,
        paths=None if list_rows else [row.row.file.path for row in on_page],
        lines=[row.row.line for row in on_page] if list_rows else None,
        groups=row_groups,
        summaries=_summarize(rows, view, summaries, context),
        warnings=_warnings(context),
    )


def _files(filters: Sequence[BaseFilter], context: Context) -> Iterator[File]:
    """Yield the files that may pass filters all of which must hold."""
    if context.vault.count_files() < FEW_FILES:
        return iter(context.vault.files())
    passing = passing_files(filters, context)
    return (file for file in context.vault.files(passing.paths) if passing.has(file.path))


def _row_group(
    group: KeyedRows, view: View, summaries: Mapping[str, Summary], context: Context
) -> RowGroup:
    key = _cell(group.key, context)
    return RowGroup(key, len(group.rows), _summarize(group.rows, view, summaries, context))


def _identify_row(row: Scope) -> object:
    """Return what a row is known by on the next page."""
    return row.row.file.path, getattr(row.row, "line", None)


def full_id(property_id: str) -> str:
    """Return a property id with its prefix: `note.status` for `status` (BASE-07)."""
    if property_id.startswith(("file.", "formula.", "note.")):
        return property_id
    return f"note.{property_id}"


def label(base: Base, property_id: str) -> str:
    """Return the name of a column: its display name, else the app's default (BASE-08)."""
    full = full_id(property_id)
    bare = full.partition(".")[2]
    for key in (full, bare) if full.startswith("note.") else (full,):
        if key in base.labels:
            return base.labels[key]
    return FILE_LABELS.get(full, bare)


def property_value(property_id: str) -> Evaluate:
    """Return the function of a property id.

    An unknown field of `file` is null, as in the app's columns; in a formula it is an error.
    """
    prefix, _, name = full_id(property_id).partition(".")
    if prefix == "file":
        return file_field(name) if name in FILE_FIELDS else lambda _: None
    return formula_value(name) if prefix == "formula" else note_property(name)


def _warn_about_this(base: Base, view: View, context: Context) -> None:
    if context.this is not None:
        return
    texts = (text for _, text in list_expressions(base, [view]) if "this" in text)
    nodes = map(parse_or_problem, texts)
    if any(
        not isinstance(node, SyntaxProblem) and BareName("this") in walk(node) for node in nodes
    ):
        context.problems.note(
            "`this` is null here: the base uses it, but the query names no note for it. Pass "
            "`this`, the path of the note that embeds the base."
        )


def _formula(base: Base, name: str, text: str, context: Context) -> Evaluate:
    """Return the function of a formula; one that does not parse is null, with a warning."""
    node = parse_or_problem(text)
    if isinstance(node, SyntaxProblem):
        place = base.describe(("formulas", name), node)
        context.problems.note(
            f'Formula "{name}": Unable to parse formula. (position {node.at}) {place}'
        )
        return lambda _: None
    return compile_expression(node, BASES)


def _select_rows(
    base: Base, view: View, context: Context, all_rows: Iterable[BaseRow], *, in_order: bool
) -> list[Scope]:
    """Return the rows of a view: filtered, sorted and limited.

    Without a sort they are sorted by name, or with `in_order` stay as they are.
    """
    rows = [Scope(context, row) for row in all_rows]
    parts: list[RowTest] = [
        _condition(base, part) for part in (base.filters, view.filters) if part is not None
    ]
    if parts:
        rows = filter_rows(rows, _all_of(parts), context, FILTER_STEP)
    keys = [SortBy(property_value(order.property), order.descending) for order in view.sort]
    if not keys and not in_order:
        keys = [SortBy(file_field("name"))]
    rows = sort_rows(
        rows,
        keys,
        lambda value, descending: order_key(value, context, descending=descending),
        context,
        SORT_STEP,
        keep_errors=True,
    )
    return rows[: view.limit] if view.limit else rows


RowTest = Callable[[Scope], bool]


def _condition(base: Base, part: BaseFilter) -> RowTest:
    """Return the test that a filter is; one that does not parse is an error for every row."""
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


def _all_of(parts: Sequence[RowTest]) -> RowTest:
    if len(parts) == 1:
        return parts[0]

    def passes_all(scope: Scope) -> bool:
        for part in parts:  # noqa: SIM110 - a loop takes half the time of all() over a generator
            if not part(scope):
                return False
        return True

    return passes_all


# Groups and summaries


def _groups(view: View, rows: Sequence[Scope], context: Context) -> list[KeyedRows] | None:
    """Return the rows in groups, or None for a view without.

    Values that are the same thing are one group: links to one file stay together, although they may
    be written, and sorted, by different texts.
    """
    if view.group_by is None:
        return None
    # by what a value is, the order key of the first such value
    first_keys: dict[Any, tuple[Any, ...]] = {}

    def group_key(value: Value, descending: bool) -> tuple[Any, ...]:
        identity = identify(value, context)
        if identity not in first_keys:
            key = order_key(value, context, descending=descending)
            first_keys[identity] = (key, str(identity))
        return first_keys[identity]

    by = SortBy(property_value(view.group_by.property), view.group_by.descending)
    return group_rows(rows, by, group_key, context, SORT_STEP, keep_errors=True)


def _summarize(
    rows: Sequence[Scope], view: View, summaries: Mapping[str, Summary], context: Context
) -> Cell:
    """Return the summaries of some rows, by full id and by name; None where the view has none."""
    context.budget.end_row(kept=True)  # of the key, where the rows are those of a group
    cells: dict[str, dict[str, Cell]] = {}
    for property_id, summarize in summaries.items():
        evaluate = property_value(property_id)
        values = [evaluate_or_error(evaluate, row) for row in rows]
        values = [None if isinstance(value, ExpressionError) else value for value in values]
        try:
            context.budget.hold(values)
            cell = cell_of(summarize(values, context), CELLS, context)
        except ExpressionError as error:
            cell = {"error": error.message}
        context.budget.end_row(kept=True)
        cells.setdefault(full_id(property_id), {})[view.summaries[property_id]] = cell
    return cells or None


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
    """Return the warnings of a query, and how many files failed in its filters."""
    counted = [
        f"Failed to evaluate a filter: {message} ({write_count(count, 'file')} left out)"
        for step, message, count in context.problems.list_counts()
        if step == FILTER_STEP
    ]
    return context.problems.notes + counted
