"""The rows of a Markdown table as the rows of a base (QUERIES-09)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain

from obsidian_mcp.core.expressions.answer import Page, QueryAnswer
from obsidian_mcp.core.expressions.evaluate import Context, Evaluate
from obsidian_mcp.core.expressions.syntax import Name, SyntaxProblem, walk
from obsidian_mcp.core.expressions.values import File, Value
from obsidian_mcp.core.note.table import LocatedTable, number_of
from obsidian_mcp.errors import QueryInvalid

from . import base_file
from .base_file import View
from .functions import GLOBALS
from .language import BODIES, BaseRow
from .values import wrap_property
from .view import run_view

_IS_YAML = re.compile(r"^[ \t]*+(?:\w++[ \t]*+:(?:\s|$)|[{-])", re.MULTILINE)


_NO_PROPERTIES = frozenset(("file", "note", "formula", "this", "if", *GLOBALS, *chain(*BODIES.values())))
"""Names in expressions that are none of properties."""


class TableRow(BaseRow):
    """A row of a table in a note: its cells are properties, and what is no column is a property of the note."""

    __slots__ = ("line",)

    def __init__(self, file: File, formulas: Mapping[str, Evaluate], cells: Mapping[str, Value], line: int) -> None:
        super().__init__(file, formulas)
        self.properties.update(cells)
        self.line = line


def run_table(query: str, note: File, located: LocatedTable, context: Context, page: Page, view: str) -> QueryAnswer:
    """Return the rows of a table that a base, a filter, or nothing but all rows, asks for. Raises: QueryInvalid."""
    base = base_file.read(query) if _IS_YAML.search(query) else _read_filter(query)
    columns = tuple(located.table.columns)
    known = {name.lower() for name in columns}
    for name in _named_properties(base, base.view(view or None)):
        key = name.removeprefix("note.").lower()
        if not name.startswith(("file.", "formula.")) and key not in known | context.vault.properties(note.path).keys():
            raise QueryInvalid(f"The table has no column {name!r}. Its columns are {', '.join(map(repr, columns))}.")
    return run_view(base, context, page, view or None, partial(_rows, note, located), default_columns=columns)


def _read_filter(text: str) -> base_file.Base:
    statement = base_file.FilterStatement(text, ("filters",)) if text.strip() else None
    problem = base_file.parse_or_problem(text) if statement else None
    if isinstance(problem, SyntaxProblem):
        raise QueryInvalid(f"The filter does not parse: {problem.explanation} (position {problem.at})")
    return base_file.Base((View("Table", "table"),), statement)


def _named_properties(base: base_file.Base, view: View) -> Iterator[str]:
    """Yield the properties that a view, and the expressions that it uses, name."""
    for path, text in base_file.expressions(base, [view]):
        node = base_file.parse_or_problem(text)
        if path[0] != "summaries" and not isinstance(node, SyntaxProblem):
            yield from (part.name for part in walk(node) if isinstance(part, Name) and part.name not in _NO_PROPERTIES)
    yield from view.order or ()
    yield from (order.property for order in (*view.sort, *([view.group_by] if view.group_by else [])))
    yield from view.summaries


def _rows(note: File, located: LocatedTable, formulas: Mapping[str, Evaluate]) -> Iterator[TableRow]:
    columns = [name.lower() for name in located.table.columns]
    for number, row in enumerate(located.table.rows):
        cells = {name: _value(row.cell(index), note.path) for index, name in enumerate(columns)}
        yield TableRow(note, formulas, cells, located.line + 2 + number)


def _value(text: str, path: str) -> Value:
    """Return a cell as a property would be read: number, true or false, date, link or text."""
    if text.lower() in ("", "true", "false"):
        return None if not text else text.lower() == "true"
    number = number_of(text)
    return wrap_property(text if number is None else number, path)
