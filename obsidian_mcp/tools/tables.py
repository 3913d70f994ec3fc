"""Tables in notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from obsidian_mcp.app import App
from obsidian_mcp.core.note import table
from obsidian_mcp.core.note.table import LocatedTable, Table
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


@tool(title="Edit table: cells and rows", writes=True, destructive=True)
def edit_table(
    app: App,
    name: Name,
    operations: Annotated[
        list[dict[str, Any]],
        Argument(
            description="Each {op, …}. set: row, column, value. add_row: values (list or by "
            "header), at. remove_row: row. move_row: row, at. sort: column, descending. add_column: column, value, at, "
            "align. remove_column: column. move_column: column, at. rename_column: column, value. row: number, first "
            "cell, or {header: cell, …} of one row; or line: of the note. Columns by number or header"
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

    line = next((at for given in operations if isinstance(at := given.get("line"), int)), 0)

    def change(body: str) -> str:
        located = table.locate(body, table_number, section, line)
        after = located.table
        for number, given in enumerate(operations, 1):
            try:
                after = _apply(located._replace(table=after), given)
            except (InvalidArguments, AmbiguousName) as error:
                message = f"Operation {number}: {error.message} Nothing was written."
                raise type(error)(message, **{**error.data, "operation": number}) from None
        return table.written(body, located, after)

    edited = opened.edit("edit_table", entry, change, etag, dry_run=dry_run)
    before, after = edited.before.text.body, edited.after.text.body
    located = table.locate(after, table_number, section, line)
    changed = edited.before.etag != edited.after.etag
    etag = (edited.before if dry_run else edited.after).etag
    shown = shown_diff([diff(entry.path, before, after, context=0)]) if dry_run else None
    columns, rows = located.table.columns, len(located.table.rows)
    return EditedTable(entry.path, changed, etag, located.line, columns, rows, shown, edited.merged or None)


def _apply(located: LocatedTable, given: Mapping[str, Any]) -> Table:
    """A table after one operation. Raises: InvalidArguments, AmbiguousName."""
    values, now = _check_operation(given), located.table
    if "line" in values:
        values["row"] = located.number_at(values["line"])
    match values.pop("op"):
        case "set":
            _require(given, "value")  # null empties the cell
            return now.set_cell(values["row"], values["column"], values.get("value", ""))
        case "add_row":
            return now.add_row(values["values"], values.get("at"))
        case "remove_row":
            return now.remove_row(values["row"])
        case "move_row":
            return now.move_row(values["row"], _require(values, "at"))
        case "sort":
            return now.sort(values["column"], descending=values.get("descending", False))
        case "add_column":
            name = str(values["column"])
            return now.add_column(name, values.get("value", ""), values.get("at"), values.get("align", "none"))
        case "remove_column":
            return now.remove_column(values["column"])
        case "move_column":
            return now.move_column(values["column"], _require(values, "at"))
    return now.rename_column(values["column"], _require(values, "value"))


def _require(values: Mapping[str, Any], key: str) -> Any:
    if key not in values:
        raise InvalidArguments(f"It needs {key}.", argument=key)
    return values[key]


def _check_operation(given: Mapping[str, Any]) -> dict[str, Any]:
    """The members of an operation, each of its type. Raises: InvalidArguments."""
    values = {key: value for key, value in given.items() if value is not None}
    op = str(values.get("op"))
    if op not in _KEYS:
        raise InvalidArguments(f"op must be one of {', '.join(_KEYS)}, not {op!r}.", argument="op")
    for key in _KEYS[op]:
        if key in _NEEDED and not (key == "row" and "line" in values):
            _require(values, key)
    for key, value in values.items():
        if key != "op" and key not in _KEYS[op]:
            raise InvalidArguments(f"{op} takes no {key!r}; it takes {', '.join(_KEYS[op])}.", argument=key)
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
                if value not in get_args(table.Align):
                    raise ValueError(value)
            case "values" | "row" if isinstance(found := arguments.read_json(value), dict):
                return {str(name): _cell(item) for name, item in found.items()}
            case "values":
                return [_cell(item) for item in found] if isinstance(found, list) else [_cell(value)]
            case "value":
                return _cell(value)
            case "row" | "column":
                return value if isinstance(value, int) and not isinstance(value, bool) else str(value)
    except ValueError:
        raise InvalidArguments(f"{key} must be {_EXPECTED[key]}, not {value!r}.", argument=key) from None
    return value


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
