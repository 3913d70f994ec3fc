"""Values as cells of an answer (specs/dataview.md, DV-22, DV-26)."""

from __future__ import annotations

from obsidian_mcp.core.calendar.formats import offset_minutes, write_offset
from obsidian_mcp.core.dataview.durations import duration_text
from obsidian_mcp.core.dataview.pages import NotePage, PageFile
from obsidian_mcp.core.dataview.records import (
    ExtendedRecord,
    IdentifiedRow,
    ItemRecord,
    ObjectRecord,
    TaskRow,
)
from obsidian_mcp.core.dataview.values import ExternalLink, link_text
from obsidian_mcp.core.expressions.answer import Cell, CellWriters, cell_of
from obsidian_mcp.core.expressions.budget import ITEM_UNITS
from obsidian_mcp.core.expressions.dates import Date, Duration
from obsidian_mcp.core.expressions.evaluate import Context, Function
from obsidian_mcp.core.expressions.values import LinkValue, Value


def make_cell(value: Value, context: Context) -> Cell:
    """Return a value as JSON.

    Raises: ExpressionError for one that is nested too deep or too large.
    """
    return cell_of(value, CELLS, context)


def date_text(date: Date) -> str:
    """Return `2024-02-15`, or with time, and with the zone where the date has one of its own."""
    moment = date.moment
    precision = "milliseconds" if moment.microsecond >= 1000 else "seconds"
    written = moment.replace(tzinfo=None).isoformat(timespec=precision)
    if moment.tzinfo is None:
        return written.removesuffix("T00:00:00")
    return written + (write_offset(moment) if offset_minutes(moment) else "Z")


def _text(text: str, context: Context) -> str:
    context.budget.charge(len(text))
    return text


def _record(value: ObjectRecord, context: Context) -> Cell:
    """Return a row as its own fields and the link to its note.

    The fields of the note itself are left out: they would repeat the note in every cell.
    """
    fields = {}
    for name, field in value.items():
        is_file = isinstance(field, PageFile)
        fields[name] = link_text(field.get("link")) if is_file else make_cell(field, context)
        context.budget.charge(ITEM_UNITS)
    if "file" in fields:
        fields["file"] = fields.pop("file")
    return fields


def _item(item: ItemRecord, context: Context) -> Cell:
    cell: dict[str, Cell] = {"task": item["task"]}
    if item.item.status is not None:
        cell["status"] = item.item.status
    cell |= {"text": _text(item.item.text, context), "path": item["path"], "line": item.item.line}
    cell |= {
        name: make_cell(value, context)
        for name, value in item.own_fields.items()
        if name not in cell
    }
    if item["children"]:
        cell["children"] = [_item(child, context) for child in item["children"]]
    return cell


CELLS: CellWriters = {
    Date: lambda date, context: _text(date_text(date), context),
    Duration: lambda duration, context: _text(duration_text(duration), context),
    LinkValue: lambda link, context: _text(link_text(link), context),
    ExternalLink: lambda link, context: _text(f"[{link.display}]({link.url})", context),
    Function: lambda _, context: _text("<function>", context),
    NotePage: _record,
    ExtendedRecord: _record,
    IdentifiedRow: _record,
    TaskRow: _record,
    PageFile: lambda file, context: _text(link_text(file.get("link")), context),
    ItemRecord: _item,
}
