"""Values as cells of an answer (specs/dataview.md, DV-22)."""

from __future__ import annotations

from obsidian_mcp.core.calendar.formats import offset_minutes
from obsidian_mcp.core.dataview.comparison import ExternalLink
from obsidian_mcp.core.dataview.durations import duration_text
from obsidian_mcp.core.dataview.list_records import ItemRecord, TaskRow
from obsidian_mcp.core.dataview.objects import Extended, Identified, ObjectRecord
from obsidian_mcp.core.dataview.pages import NotePage, PageFile
from obsidian_mcp.core.dataview.text import link_text
from obsidian_mcp.core.expressions.answer import Cell, Cells, cell_of
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.evaluate import Context, Function
from obsidian_mcp.core.expressions.limits import ITEM_UNITS
from obsidian_mcp.core.expressions.values import LinkValue, Value


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
    offset = offset_minutes(moment)
    return written + (f"{'-' if offset < 0 else '+'}{abs(offset) // 60:02}:{abs(offset) % 60:02}" if offset else "Z")


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
