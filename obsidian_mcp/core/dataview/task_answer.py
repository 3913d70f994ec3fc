"""The answer of TASK: tasks with everything below them, by group (DV-25, DV-26)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from obsidian_mcp.core.dataview.cells import make_cell
from obsidian_mcp.core.dataview.pages import QueryRun
from obsidian_mcp.core.dataview.records import ExtendedRecord, ItemRecord, TaskRow
from obsidian_mcp.core.expressions.answer import Cell, Column, Page, QueryAnswer, RowGroup
from obsidian_mcp.core.expressions.values import ExpressionError, Value

COLUMNS = tuple(
    Column(name, name) for name in ("status", "text", "ref", "depth", "match", "section", "fields")
)


@dataclass(frozen=True, slots=True)
class _AnswerRow:
    """A row of the answer."""

    item: ItemRecord
    depth: int
    matches: bool
    """Whether the item itself is in the result, not only one above it."""


def task_answer(
    rows: Sequence[Mapping[str, Value]], grouped_by: Sequence[str], run: QueryRun, page: Page
) -> QueryAnswer:
    """Return roots in the order of the result, each followed by all items below it (DV-25).

    The items below are there whether they match or not: a reader of a task wants its subtasks.
    """
    answer_rows: list[_AnswerRow] = []
    groups = _groups(rows, grouped_by, answer_rows, run)
    cells = []
    for row in page.cut(answer_rows, lambda row: (row.item.path, row.item.item.line)):
        cells.append(_cells(row, run))
        run.budget.end_row(kept=True)
    return QueryAnswer(COLUMNS, cells, len(answer_rows), kind="task", groups=groups)


def _groups(
    rows: Sequence[Mapping[str, Value]],
    grouped_by: Sequence[str],
    answer_rows: list[_AnswerRow],
    run: QueryRun,
) -> tuple[RowGroup, ...] | None:
    """Add the rows of the answer to `answer_rows`.

    Return the groups that they belong to, None without GROUP BY.
    """
    if not grouped_by:
        items = [_find_item(row) for row in rows]
        answer_rows.extend(_with_children([item for item in items if item is not None]))
        return None
    name, *inner_names = grouped_by
    groups = []
    for row in rows:
        start = len(answer_rows)
        members = row.get("rows")
        inner_rows = members if isinstance(members, list) else []
        inner = _groups(inner_rows, inner_names, answer_rows, run)
        key = _cell_or_error(row.get(name), run)
        groups.append(RowGroup(key, len(answer_rows) - start, groups=inner))
        run.budget.end_row(kept=True)
    return tuple(groups)


def _find_item(row: Mapping[str, Value]) -> ItemRecord | None:
    """Return the task of a row, under the fields that FLATTEN has laid over it."""
    while isinstance(row, ExtendedRecord):
        if isinstance(row, TaskRow):
            return row.task
        row = row.below
    return None


def _with_children(items: list[ItemRecord]) -> Iterator[_AnswerRow]:
    """Yield the items with all items below them; one that is below another stands only there."""
    matches = {_place(item) for item in items}
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
        parent_place = None if parent is None else (item["path"], parent)
        if parent_place is None or (parent_place not in matches and parent_place not in below):
            yield from _tree(item, matches)


def _tree(root: ItemRecord, matches: set[tuple[str, int]]) -> Iterator[_AnswerRow]:
    pending = [(root, 0)]
    while pending:
        item, depth = pending.pop()
        yield _AnswerRow(item, depth, _place(item) in matches)
        pending += ((child, depth + 1) for child in reversed(item["children"]))


def _place(item: ItemRecord) -> tuple[str, int]:
    return item["path"], item.item.line


def _cells(row: _AnswerRow, run: QueryRun) -> list[Cell]:
    item = row.item
    ref = f"{item['path']}:{item.item.line + 1}"
    section = _cell_or_error(item["section"], run)
    fields = {name: _cell_or_error(value, run) for name, value in item.own_fields.items()}
    text = _cell_or_error(item.item.text, run)  # last: nothing fits after a text that is too long
    return [item.item.status, text, ref, row.depth, row.matches, section, fields]


def _cell_or_error(value: Value, run: QueryRun) -> Cell:
    try:
        return make_cell(value, run)
    except ExpressionError as error:
        return {"error": error.message}
