"""Values as cells of an answer, and the answer of TASK: tasks with everything below them, by group (specs/dataview.md,
DV-22, DV-25, DV-26)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from obsidian_mcp.core.calendar.formats import offset_minutes, write_offset
from obsidian_mcp.core.dataview.pages import NotePage, PageFile, Run
from obsidian_mcp.core.dataview.records import Extended, Identified, ItemRecord, ObjectRecord, TaskRow
from obsidian_mcp.core.dataview.values import ExternalLink, duration_text, link_text
from obsidian_mcp.core.expressions.answer import Cell, Cells, Column, Page, QueryAnswer, RowGroup, cell_of
from obsidian_mcp.core.expressions.evaluate import Context, Function
from obsidian_mcp.core.expressions.values import ITEM_UNITS, Date, Duration, LinkValue, Value


def make_cell(value: Value, context: Context) -> Cell:
    """A value as JSON. Raises: ExpressionError for one that is nested too deep or too large."""
    return cell_of(value, CELLS, context)


def date_text(date: Date) -> str:
    """`2024-02-15`, or with time, and with the zone where it has one of its own."""
    moment = date.moment
    written = moment.replace(tzinfo=None).isoformat(
        timespec="milliseconds" if moment.microsecond >= 1000 else "seconds"
    )
    if moment.tzinfo is None:
        return written.removesuffix("T00:00:00")
    return written + (write_offset(moment) if offset_minutes(moment) else "Z")


def _text(text: str, context: Context) -> str:
    context.budget.charge(len(text))
    return text


def _record(value: ObjectRecord, context: Context) -> Cell:
    """A row is its own fields and the link to its note."""
    fields = {}
    for name, field in value.items():
        fields[name] = _file_link(field) if isinstance(field, PageFile) else make_cell(field, context)
        context.budget.charge(ITEM_UNITS)
    if "file" in fields:
        fields["file"] = fields.pop("file")
    return fields


def _file_link(file: PageFile) -> str:
    return link_text(file.link)


def _item(item: ItemRecord, context: Context) -> Cell:
    cell: dict[str, Cell] = {"task": item["task"]}
    if item.item.status is not None:
        cell["status"] = item.item.status
    cell |= {"text": _text(item.item.text, context), "path": item["path"], "line": item.item.line}
    cell |= {name: make_cell(value, context) for name, value in item.own_fields.items() if name not in cell}
    if item["children"]:
        cell["children"] = [_item(child, context) for child in item["children"]]
    return cell


CELLS: Cells = {
    Date: lambda date, context: _text(date_text(date), context),
    Duration: lambda duration, context: _text(duration_text(duration), context),
    LinkValue: lambda link, context: _text(link_text(link), context),
    ExternalLink: lambda link, context: _text(f"[{link.display}]({link.url})", context),
    Function: lambda _, context: _text("<function>", context),
    NotePage: _record,
    Extended: _record,
    Identified: _record,
    TaskRow: _record,
    PageFile: lambda file, context: _text(_file_link(file), context),
    ItemRecord: _item,
}


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
        shown.extend(_with_children([item for row in rows if (item := _find_item(row)) is not None]))
        return None
    name, *inner_names = grouped_by
    groups = []
    for row in rows:
        start = len(shown)
        members = row.get("rows")
        inner = _groups(members if isinstance(members, list) else [], inner_names, shown, run)
        groups.append(RowGroup(make_cell(row.get(name), run), len(shown) - start, groups=inner))
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
    fields = {name: make_cell(value, run) for name, value in item.own_fields.items()}
    run.budget.charge(len(item.item.text) + len(ref))
    return [item.item.status, item.item.text, ref, row.depth, row.matches, make_cell(item["section"], run), fields]
