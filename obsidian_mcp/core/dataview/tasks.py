"""The answer of TASK: tasks with everything below them, by group (specs/dataview.md, DV-25, DV-26)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from obsidian_mcp.core.dataview.cells import make_cell
from obsidian_mcp.core.dataview.list_records import ItemRecord, TaskRow
from obsidian_mcp.core.dataview.objects import Extended
from obsidian_mcp.core.dataview.run import Run
from obsidian_mcp.core.expressions.answer import Cell, Column, Page, QueryAnswer, RowGroup
from obsidian_mcp.core.expressions.values import Value

COLUMNS = tuple(Column(name, name) for name in ("status", "text", "ref", "depth", "match", "section", "fields"))


class _Shown(NamedTuple):
    """A row of the answer. `matches` where the item itself is in the result."""

    item: ItemRecord
    depth: int
    matches: bool


def task_answer(rows: Sequence[Mapping[str, Value]], grouped_by: Sequence[str], run: Run, page: Page) -> QueryAnswer:
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
        shown.extend(_with_children([item for row in rows if (item := _item(row)) is not None]))
        return None
    name, *inner_names = grouped_by
    groups = []
    for row in rows:
        start = len(shown)
        members = row.get("rows")
        inner = _groups(members if isinstance(members, list) else [], inner_names, shown, run)
        groups.append(RowGroup(make_cell(row.get(name), run), len(shown) - start, groups=inner))
    return tuple(groups)


def _item(row: Mapping[str, Value]) -> ItemRecord | None:
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
    fields = {name: make_cell(value, run) for name, value in item.own_fields.items()}
    run.budget.charge(len(item.item.text) + len(ref))
    return [item.item.status, item.item.text, ref, row.depth, row.matches, make_cell(item["section"], run), fields]
