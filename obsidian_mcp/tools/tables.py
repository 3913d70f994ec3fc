"""Tables in notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from obsidian_mcp.app import App
from obsidian_mcp.core.note import table
from obsidian_mcp.core.note.parser import parse
from obsidian_mcp.core.note.table import LocatedTable
from obsidian_mcp.core.note.table_edit import Align, TableEdit
from obsidian_mcp.core.text.call import checkpoint
from obsidian_mcp.core.text.diff import diff
from obsidian_mcp.errors import AmbiguousName, InvalidArguments

from . import arguments
from .arguments import Argument, DryRun, Etag, Name, TableNumber, TableSection, VaultName
from .paging import shown_diff
from .registry import tool

_KEYS: Mapping[str, tuple[str, ...]] = {
    "set": ("row", "line", "column", "value"),
    "add_row": ("values", "at"),
    "remove_row": ("row", "line"),
    "move_row": ("row", "line", "at"),
    "sort": ("column", "descending"),
    "add_column": ("column", "value", "at", "align"),
    "remove_column": ("column",),
    "move_column": ("column", "at"),
    "rename_column": ("column", "value"),
}
_NEEDED = {"row", "column", "values"}
_EXPECTED = {
    "at": "a whole number",
    "line": "a whole number",
    "descending": "true or false",
    "align": "left, center, right or none",
}


@dataclass(frozen=True, slots=True)
class EditedTable:
    path: str
    changed: bool
    etag: str
    line: int
    """First line of the table, 1-based."""
    columns: list[str]
    rows: int
    diff: str | None = None
    merged: bool | None = None
    warnings: list[str] | None = None


@tool(title="Edit table: cells and rows", writes=True, destructive=True)
def edit_table(
    app: App,
    name: Name,
    operations: Annotated[
        list[dict[str, Any]],
        Argument(
            description="Each {op, …}. set: row, column, value. add_row: values (list or by "
            "header), at. remove_row: row. move_row: row, at. sort: column, descending. "
            "add_column: column, value, at, align. remove_column: column. "
            "move_column: column, at. rename_column: column, value. row: number, first cell or "
            "{header: cell, …}; or line: of the note. Columns: number or header. All as read"
        ),
    ],
    section: TableSection = "",
    table_number: TableNumber = 0,
    dry_run: DryRun = False,
    etag: Etag = "",
    vault: VaultName = "",
) -> EditedTable:
    """Change cells, rows and columns of a Markdown table."""
    opened = app.vaults.get(vault)
    entry = opened.find(name)
    line = _first_line(operations)
    planned: list[LocatedTable] = []

    def change(body: str) -> str:
        located = table.locate(body, table_number, section, line)
        editing = TableEdit(located.table, located.line)
        for number, operation in enumerate(operations, 1):
            checkpoint()
            try:
                _apply(editing, located, operation)
            except (InvalidArguments, AmbiguousName) as error:
                message = f"Operation {number}: {error.message} Nothing was written."
                raise type(error)(message, **{**error.data, "operation": number}) from None
        after = editing.table
        planned[:] = [located._replace(table=after)]
        return table.write_table(body, located, after)

    edited = opened.edit("edit_table", entry, change, etag, dry_run=dry_run)
    before, after = edited.before.text.body, edited.after.text.body
    located = _find_merged(after, planned[0]) if edited.merged else planned[0]
    return EditedTable(
        path=entry.path,
        changed=edited.before.etag != edited.after.etag,
        etag=(edited.before if dry_run else edited.after).etag,
        line=located.line,
        columns=located.table.columns,
        rows=len(located.table.rows),
        diff=shown_diff([diff(entry.path, before, after, context=0)]) if dry_run else None,
        merged=edited.merged or None,
        warnings=table.describe_overlong_rows(located.overlong_rows) or None,
    )


def _first_line(operations: Sequence[Mapping[str, Any]]) -> int:
    """Return the first line of the note that an operation names; 0 where none does."""
    for operation in operations:
        with suppress(ValueError):  # `_check_operation` says what is wrong with it
            if operation.get("line") is not None:
                return arguments.read_integer(operation["line"])
    return 0


def _find_merged(body: str, planned: LocatedTable) -> LocatedTable:
    """Return the table in a note that others have changed too, which may have moved it."""

    def difference(located: LocatedTable) -> tuple[bool, int]:
        has_other_columns = located.table.columns != planned.table.columns
        return has_other_columns, abs(located.line - planned.line)

    return min(table.read_tables(parse(body)), key=difference, default=planned)


def _apply(editing: TableEdit, located: LocatedTable, operation: Mapping[str, Any]) -> None:
    """Make one operation. Raises: InvalidArguments, AmbiguousName."""
    values = _check_operation(operation)
    if "line" in values:
        values["row"] = located.number_at(values["line"])
    match values.pop("op"):
        case "set":
            _require(operation, "value")  # null empties the cell
            editing.set_cell(values["row"], values["column"], values.get("value", ""))
        case "add_row":
            editing.add_row(values["values"], values.get("at"))
        case "remove_row":
            editing.remove_row(values["row"])
        case "move_row":
            editing.move_row(values["row"], _require(values, "at"))
        case "sort":
            editing.sort(values["column"], descending=values.get("descending", False))
        case "add_column":
            align = values.get("align", "none")
            value = values.get("value", "")
            editing.add_column(str(values["column"]), value, values.get("at"), align)
        case "remove_column":
            editing.remove_column(values["column"])
        case "move_column":
            editing.move_column(values["column"], _require(values, "at"))
        case "rename_column":
            editing.rename_column(values["column"], _require(values, "value"))


def _require(values: Mapping[str, Any], key: str) -> Any:
    if key not in values:
        raise InvalidArguments(f"It needs {key}.", argument=key)
    return values[key]


def _check_operation(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an operation, each of its type. Raises: InvalidArguments."""
    values = {key: value for key, value in given.items() if value is not None}
    op = str(values.get("op"))
    if op not in _KEYS:
        raise InvalidArguments(f"op must be one of {', '.join(_KEYS)}, not {op!r}.", argument="op")
    for key in _KEYS[op]:
        if key in _NEEDED and not (key == "row" and "line" in values):
            _require(values, key)
    for key, value in values.items():
        if key != "op" and key not in _KEYS[op]:
            message = f"{op} takes no {key!r}; it takes {', '.join(_KEYS[op])}."
            raise InvalidArguments(message, argument=key)
        values[key] = _read(key, value)
    return values


def _read(key: str, value: Any) -> Any:
    try:
        match key:
            case "at" | "line":
                return arguments.read_integer(value)
            case "descending":
                return arguments.read_boolean(value)
            case "align":
                if value not in get_args(Align):
                    raise ValueError(value)
            case "values" | "row" if isinstance(found := arguments.read_json(value), dict):
                return {str(name): _cell(item) for name, item in found.items()}
            case "values":
                return (
                    [_cell(item) for item in found] if isinstance(found, list) else [_cell(value)]
                )
            case "value":
                return _cell(value)
            case "row" | "column":
                return (
                    value if isinstance(value, int) and not isinstance(value, bool) else str(value)
                )
    except ValueError:
        raise InvalidArguments(
            f"{key} must be {_EXPECTED[key]}, not {value!r}.", argument=key
        ) from None
    return value


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
