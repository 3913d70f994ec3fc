"""A base over the rows of a Markdown table (QUERIES-09)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from obsidian_mcp.core.expressions.answer import Page, QueryAnswer
from obsidian_mcp.core.expressions.evaluate import Context, Evaluate
from obsidian_mcp.core.expressions.syntax import (
    BareName,
    FieldAccess,
    IndexAccess,
    Literal,
    Node,
    SyntaxProblem,
    walk,
)
from obsidian_mcp.core.expressions.values import File, Value
from obsidian_mcp.core.note.table import HEAD_LINES, LocatedTable, describe_overlong_rows, number_of
from obsidian_mcp.errors import QueryInvalid

from .base_file import Base, FilterStatement, View, list_expressions
from .base_reader import read_base
from .globals import GLOBALS
from .language import BODIES, BaseRow
from .parser import parse_or_problem
from .values import wrap_property
from .view import run_view

_IS_YAML = re.compile(r"^[ \t]*+(?:\w++[ \t]*+:(?:\s|$)|[{-])", re.MULTILINE)

_OF_ROW = re.compile(r"(?:file|formula|note)\.")
"""Beginnings of names that mean a field of the note, a formula or a property."""

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
    columns = _Columns(located.table.columns)
    known_properties = {*columns.keys, *context.vault.properties(note.path)}
    for name in _list_properties(base, base.view(view or None)):
        columns.check(name, known_properties)
    for warning in describe_overlong_rows(located.overlong_rows):
        context.problems.note(warning)
    labels = {f"note.{key}": header for key, header in columns.by_position.items()}
    return run_view(
        replace(base, labels=labels | dict(base.labels)),
        context,
        page,
        view or None,
        list_rows=partial(_table_rows, note, located, columns.keys),
        default_columns=[f"note.{key}" for key in columns.keys],
    )


class _Columns:
    """The columns of a table as properties.

    A column is the property of its header. One whose header could mean something else, because
    another column has it in any case, it is empty, or it has the form of a file's field, is the
    property `column N` of its position (QUERIES-10).
    """

    def __init__(self, headers: Sequence[str]) -> None:
        self._headers = headers
        self._positions: dict[str, list[int]] = {}
        for position, header in enumerate(headers, 1):
            self._positions.setdefault(header.lower(), []).append(position)
        self.by_position: dict[str, str] = {}
        """Headers of the columns that are named by position, by their property."""
        self.keys = [self._key(position) for position in range(1, len(headers) + 1)]
        """The property of each column, in the order of the table."""

    def check(self, name: str, known_properties: Collection[str]) -> None:
        """Refuse the name of a property that is no column, or could be several things.

        Raises: QueryInvalid with the columns, or with the positions of those that have the name.
        """
        own_name = name.removeprefix("note.").lower()
        for key in (name.lower(), own_name):
            positions = self._positions.get(key, ())
            if positions and key not in self.keys:
                others = " and a field of every row" if len(positions) == 1 else ""
                listed = " and ".join(f"column {position}" for position in positions)
                raise QueryInvalid(
                    f"{name!r} could be {listed}{others}. Name a column by its position: "
                    f'note["column {positions[0]}"] in an expression, else column {positions[0]}.'
                )
        if name.startswith(("file.", "formula.")) or own_name in known_properties:
            return
        names = ", ".join(map(repr, self._headers))
        raise QueryInvalid(f"The table has no column {name!r}. Its columns are {names}.")

    def _key(self, position: int) -> str:
        header = self._headers[position - 1]
        key = header.lower()
        is_clear = key and len(self._positions[key]) == 1 and not _OF_ROW.match(key)
        if is_clear:
            return key
        key = f"column {position}"
        while key in self._positions:
            key = f"{key}*"
        self.by_position[key] = header
        return key


def _read_filter(text: str) -> Base:
    statement = FilterStatement(text, ("filters",)) if text.strip() else None
    problem = parse_or_problem(text) if statement else None
    if isinstance(problem, SyntaxProblem):
        raise QueryInvalid(
            f"The filter does not parse: {problem.explanation} (position {problem.at})"
        )
    return Base((View("Table", "table"),), statement)


def _list_properties(base: Base, view: View) -> Iterator[str]:
    """Yield the properties and file fields that a view, and its expressions, name."""
    for path, text in list_expressions(base, [view]):
        node = parse_or_problem(text)
        if path[0] != "summaries" and not isinstance(node, SyntaxProblem):
            yield from filter(None, map(_property_of, walk(node)))
    yield from view.order or ()
    yield from (order.property for order in view.sort)
    if view.group_by:
        yield view.group_by.property
    yield from view.summaries


def _property_of(node: Node) -> str | None:
    """Return the property or file field that a part of an expression names, if it names one."""
    match node:
        case BareName(name) if name not in _NO_PROPERTIES:
            return name
        case FieldAccess(BareName("file" | "note" as root), name):
            return f"{root}.{name}"
        case IndexAccess(BareName("note"), Literal(str(name))):
            return f"note.{name}"
    return None


def _table_rows(
    note: File, located: LocatedTable, columns: Sequence[str], formulas: Mapping[str, Evaluate]
) -> Iterator[TableRow]:
    """Yield the rows, without those whose cells are below no column or a wrong one (TABLE-9)."""
    for number, written in enumerate(located.table.rows):
        row = written.align_cells(len(columns))
        if row.is_overlong(len(columns)):
            continue
        cells = {name: _read_cell(row.cell(index), note.path) for index, name in enumerate(columns)}
        yield TableRow(note, formulas, cells, located.line + HEAD_LINES + number)


def _read_cell(text: str, path: str) -> Value:
    """Return a cell as a property would be read: number, true or false, date, link or text."""
    if text.lower() in ("", "true", "false"):
        return None if not text else text.lower() == "true"
    number = number_of(text)
    return wrap_property(text if number is None else number, path)
