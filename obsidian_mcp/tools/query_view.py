"""Show the result of a query as a table, cards, a list or a board (specs/views.md VIEW-30 to
VIEW-34).

A cell is sent with its type, `["date", "2026-11-28"]`, because a page shows a link, a date or a
ticked box in another way than a text.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from obsidian_mcp import json_codec
from obsidian_mcp.app import App
from obsidian_mcp.core.calendar import iso
from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.links.resolve import resolve
from obsidian_mcp.core.operations import queries
from obsidian_mcp.core.tasks.answer import TaskPage
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import cut_text_within
from obsidian_mcp.core.text.vault_path import VaultPath, basename
from obsidian_mcp.core.text.wikilink import read_whole_wikilink
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, Offset, VaultName
from .paging import VIEW_BYTES, json_size, take_fitting_items
from .registry import VIEW_TOOLS, tool

PAGE_ROWS = 50
"""Rows of one page; the page asks for the next one as a person scrolls."""
SORTED_ROWS = 10_000
"""Rows that are sorted or grouped; of a longer result the first ones."""
CELL_CHARACTERS = 200
CELL_ITEMS = 20
"""Of a cell that is a list."""
FRAME_BYTES = 500
"""Of JSON in an answer beside its rows, columns and views."""
MOST_TABS = 20
"""Views of a base that a page offers."""
TASK_COLUMNS = ("description", "status", "due", "priority", "tags", "note")
Layout = Literal["", "table", "cards", "list", "board"]


@tool(title="Show query", among=VIEW_TOOLS, view="query")
def show_query(
    app: App,
    query: Annotated[str, Argument(description="As obsidian_query")] = "",
    language: Annotated[
        Literal["", "base", "dataview", "tasks"], Argument(description="Of query")
    ] = "",
    view: Annotated[str, Argument(description="Of a base")] = "",
    layout: Annotated[Layout, Argument(description="Shape")] = "",
    sort: Annotated[str, Argument(description="Column id, -id")] = "",
    group: Annotated[str, Argument(description="Column id")] = "",
    offset: Offset = 0,
    vault: VaultName = "",
) -> dict[str, Any]:
    """Opens a query's result for the user; tasks can be ticked."""
    opened = app.vaults.get(vault, listed=False)
    if not query.strip() and language != "tasks":
        raise InvalidArguments("Give `query`.", argument="query")
    rows_of_page = SORTED_ROWS if current_call.get().wants_all else PAGE_ROWS
    page = Page(SORTED_ROWS, 0) if sort or group else Page(rows_of_page, offset)
    request = queries.QueryRequest(query, page, opened.calendar.now(), language, view)
    result = queries.run_query(opened, request)
    if isinstance(result, TaskPage):
        columns = [{"id": name, "label": name.capitalize()} for name in TASK_COLUMNS]
        rows, total, notice = _task_rows(result), result.total, result.incomplete
        kind, given_groups, views = "list", [], queries.BaseViews()
    else:
        answer, notice = result.value, result.notice
        columns = [{"id": column.id, "label": column.name} for column in answer.columns]
        paths = answer.paths or [None] * len(answer.rows)
        rows = [
            _row(opened, columns, cells, path)
            for cells, path in zip(answer.rows, paths, strict=True)
        ]
        total = answer.total
        views = queries.base_views(opened, request)
        kind = "list" if answer.kind == "list" else views.type
        given_groups = [
            (_label(_cell(opened, group.key)), group.count) for group in answer.groups or ()
        ]
    if sort or group:
        rows = _sort_rows(columns, rows, sort, group)[offset : offset + rows_of_page]
    rows = take_fitting_items(
        rows, VIEW_BYTES - json_size(columns) - json_size(views.names) - FRAME_BYTES, least=1
    )
    data: dict[str, Any] = {
        "view": "query",
        "vault": opened.name,
        "layout": layout or ("board" if group else kind if kind in ("cards", "list") else "table"),
        "columns": columns,
        "rows": rows,
        "total": total,
        "offset": offset,
        "tasks": isinstance(result, TaskPage),
        "query": {"query": query, "language": language, "view": view, "sort": sort, "group": group},
    }
    if len(views.names) > 1:
        data |= {"views": list(views.names[:MOST_TABS]), "shown_view": views.name}
    if group:
        data["groups"] = _groups(columns, data["rows"], group)
    elif given_groups and not sort:
        data["groups"] = _groups_of_page(given_groups, offset, len(data["rows"]))
    if offset + len(data["rows"]) < min(total, SORTED_ROWS if sort or group else total):
        data["next_offset"] = offset + len(data["rows"])
    return data | ({"note": notice} if notice else {})


def _task_rows(page: TaskPage) -> list[dict[str, Any]]:
    return [
        {
            "path": task.path,
            "line": task.line,
            "text": task.text,
            "done": task.status_type in ("DONE", "CANCELLED"),
            "cells": [
                ["text", _shorten(task.description or "")],
                ["text", (task.status_type or "").replace("_", " ").lower()],
                ["date", task.due] if task.due else None,
                ["text", task.priority] if task.priority else None,
                ["list", [["text", _shorten(tag)] for tag in (task.tags or ())[:CELL_ITEMS]]]
                if task.tags
                else None,
                ["link", basename(VaultPath(task.path)), task.path],
            ],
        }
        for task in page.tasks
    ]


def _row(
    vault: Vault, columns: list[dict[str, str]], cells: list[Any], path: str | None
) -> dict[str, Any]:
    cells_of_row = [_cell(vault, cell) for cell in cells]
    for number, column in enumerate(columns):
        if (
            path
            and column["id"] in ("file.name", "file.basename", "file.file")
            and cells_of_row[number]
        ):
            cells_of_row[number] = ["link", _label(cells_of_row[number]), path]
    return {"cells": cells_of_row} | ({"path": path} if path else {})


def _cell(vault: Vault, value: Any) -> list[Any] | None:
    """Return a value with its type: text, number, bool, date, link, list or error; None for an
    empty one."""
    match value:
        case None | "" | [] | {}:
            return None
        case bool():
            return ["bool", value]
        case int() | float():
            return ["number", value]
        case str() if link := read_whole_wikilink(value):
            target = resolve(vault.catalog, "", link.path) if link.path else None
            return ["link", _shorten(link.display or link.path + link.subpath), target]
        case str():
            return ["date" if iso.read_iso(value) else "text", _shorten(value)]
        case list():
            return ["list", [cell for item in value[:CELL_ITEMS] if (cell := _cell(vault, item))]]
        case {"error": str(problem)}:
            return ["error", _shorten(problem)]
    return ["text", _shorten(json_codec.encode(value, asdict).decode())]


def _shorten(text: str) -> str:
    return cut_text_within(text, CELL_CHARACTERS)


def _label(cell: list[Any] | None) -> str:
    """Return a cell as words."""
    match cell:
        case ["list", items]:
            return ", ".join(map(_label, items))
        case ["bool", value]:
            return "yes" if value else "no"
        case [_, value, *_]:
            return str(value)
    return ""


def _position(columns: list[dict[str, str]], column: str) -> int:
    """Return the number of a column, from 0. Raises: InvalidArguments for an unknown one."""
    ids = [entry["id"] for entry in columns]
    if column not in ids:
        raise InvalidArguments(
            f"There is no column {column!r}; there are {', '.join(ids)}.", argument="sort"
        )
    return ids.index(column)


_ORDERS = {
    "priority": ("highest", "high", "medium", "", "low", "lowest"),
    "status": ("todo", "in progress", "on hold", "done", "cancelled", "non task"),
}
"""Of tasks: by urgency, and as work goes on."""


def _sort_rows(
    columns: list[dict[str, str]], rows: list[dict[str, Any]], sort: str, group: str
) -> list[dict[str, Any]]:
    """Return the rows by the group's column first, and in a group by the column of `sort`; empty
    cells last."""

    def key(position: int, row: dict[str, Any]) -> tuple[int, float, str]:
        cell = row["cells"][position]
        if cell and cell[0] == "number":
            return (0, float(cell[1]), "")
        text = _label(cell)
        order = _ORDERS.get(columns[position]["id"], ())
        return (1, order.index(text) if text in order else len(order), text.casefold())

    if sort:
        position = _position(columns, sort.removeprefix("-"))
        filled = [row for row in rows if row["cells"][position]]
        empty = [row for row in rows if not row["cells"][position]]
        rows = (
            sorted(filled, key=lambda row: key(position, row), reverse=sort.startswith("-")) + empty
        )
    if group:
        position = _position(columns, group)
        rows = sorted(rows, key=lambda row: (not row["cells"][position], key(position, row)))
    return rows


def _groups(
    columns: list[dict[str, str]], rows: list[dict[str, Any]], group: str
) -> list[dict[str, Any]]:
    position = _position(columns, group)
    groups: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(_label(row["cells"][position]), []).append(number)
    return [{"label": label, "rows": numbers} for label, numbers in groups.items()]


def _groups_of_page(groups: list[tuple[str, int]], offset: int, count: int) -> list[dict[str, Any]]:
    """Return the groups that a query itself makes, as far as their rows are on a page."""
    page_groups, start = [], 0
    for label, size in groups:
        numbers = [
            row - offset for row in range(start, start + size) if offset <= row < offset + count
        ]
        if numbers:
            page_groups.append({"label": label, "rows": numbers})
        start += size
    return page_groups
