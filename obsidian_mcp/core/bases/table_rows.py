"""A base over the rows of a Markdown table (QUERIES-09)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain

from obsidian_mcp.core.expressions.answer import Page, QueryAnswer
from obsidian_mcp.core.expressions.evaluate import Context, Evaluate
from obsidian_mcp.core.expressions.syntax import BareName, SyntaxProblem, walk
from obsidian_mcp.core.expressions.values import File, Value
from obsidian_mcp.core.note.table import LocatedTable, number_of
from obsidian_mcp.errors import QueryInvalid

from .base_file import Base, FilterStatement, View, list_expressions
from .base_reader import read_base
from .globals import GLOBALS
from .language import BODIES, BaseRow
from .parser import parse_or_problem
from .values import wrap_property
from .view import run_view

_HEAD_LINES = 2
"""Lines of a table before its first row: the names of its columns, and the line below them."""

_IS_YAML = re.compile(r"^[ \t]*+(?:\w++[ \t]*+:(?:\s|$)|[{-])", re.MULTILINE)

_NO_PROPERTIES = frozenset(
    ("file", "note", "formula", "this", "if", *GLOBALS, *chain(*BODIES.values()))
)
"""Names in expressions that are not those of properties."""


class TableRow(BaseRow):
    """A row of a table in a note.

    Its cells are properties, and what is no column is a property of the note. Lines count from 1.
    """

    __slots__ = ("line",)

    def __init__(
        self, file: File, formulas: Mapping[str, Evaluate], cells: Mapping[str, Value], line: int
    ) -> None:
        super().__init__(file, formulas)
        self.properties.update(cells)
        self.line = line


def run_table(
    query: str, note: File, located: LocatedTable, context: Context, page: Page, *, view: str
) -> QueryAnswer:
    """Return the rows of a table that a query takes.

    `query` is the YAML of a base, a filter, or empty for all rows; `view` names a view of the base
    and is empty for the first one.
    Raises: QueryInvalid, also for a property that is neither a column nor one of the note: in a
    base over files it would be null, but here it is a misspelt column.
    """
    base = read_base(query) if _IS_YAML.search(query) else _read_filter(query)
    columns = tuple(located.table.columns)
    properties = {name.lower() for name in columns} | context.vault.properties(note.path).keys()
    for name in _list_properties(base, base.view(view or None)):
        key = name.removeprefix("note.").lower()
        if not name.startswith(("file.", "formula.")) and key not in properties:
            names = ", ".join(map(repr, columns))
            raise QueryInvalid(f"The table has no column {name!r}. Its columns are {names}.")
    return run_view(
        base,
        context,
        page,
        view or None,
        list_rows=partial(_table_rows, note, located),
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


def _list_properties(base: Base, view: View) -> Iterator[str]:
    """Yield the properties that a view, and the expressions that it uses, name."""
    for path, text in list_expressions(base, [view]):
        node = parse_or_problem(text)
        if path[0] != "summaries" and not isinstance(node, SyntaxProblem):
            yield from (
                part.name
                for part in walk(node)
                if isinstance(part, BareName) and part.name not in _NO_PROPERTIES
            )
    yield from view.order or ()
    yield from (order.property for order in view.sort)
    if view.group_by:
        yield view.group_by.property
    yield from view.summaries


def _table_rows(
    note: File, located: LocatedTable, formulas: Mapping[str, Evaluate]
) -> Iterator[TableRow]:
    columns = [name.lower() for name in located.table.columns]
    for number, row in enumerate(located.table.rows):
        cells = {name: _read_cell(row.cell(index), note.path) for index, name in enumerate(columns)}
        yield TableRow(note, formulas, cells, located.line + _HEAD_LINES + number)


def _read_cell(text: str, path: str) -> Value:
    """Return a cell as a property would be read: number, true or false, date, link or text."""
    if text.lower() in ("", "true", "false"):
        return None if not text else text.lower() == "true"
    number = number_of(text)
    return wrap_property(text if number is None else number, path)
