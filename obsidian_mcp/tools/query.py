"""Run queries: Bases, Dataview, Tasks.

The three languages are evaluated on the files alone, without the app and its plugins. An answer is
rows; what of rows, groups and summaries fits into it is decided here (QUERIES-06).
"""

from __future__ import annotations

import json
from bisect import bisect_right
from itertools import accumulate
from typing import Annotated, Any, Literal

from obsidian_mcp import json_codec
from obsidian_mcp.app import App
from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.operations import queries
from obsidian_mcp.core.tasks.answer import TaskPage, shorten_page
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.fit import cut_and_count
from obsidian_mcp.core.text.page_order import page_start
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, Limit, Offset, TableNumber, TableSection, VaultNames
from .outcome import to_plain_json
from .paging import PAGE, next_offset, take_fitting_items
from .registry import tool

CELL = 2_000
"""Characters of a cell in a row or group that alone fills a page, and of a summary."""
GROUPS = 200
"""Groups of one answer."""
WARNINGS = 20
"""Entries shown of other parts of an answer."""


@tool(title="Query notes")
def query(
    app: App,
    query: Annotated[
        str,
        Argument(
            description="Base as YAML or its path, Dataview DQL, or Tasks lines; of a table also a "
            "filter: cost > 30"
        ),
    ] = "",
    language: Annotated[
        Literal["", "base", "dataview", "tasks", "table"], Argument(description="Of the query")
    ] = "",
    view: Annotated[str, Argument(description="Of a base; else the first")] = "",
    this: Annotated[str, Argument(description="Note of the query; alone: all its queries")] = "",
    section: TableSection = "",
    table_number: TableNumber = 0,
    limit: Limit = 50,
    offset: Offset = 0,
    vault: VaultNames = "",
) -> dict[str, Any]:
    """Run a Bases, Dataview or Tasks query. language=table: a base over a Markdown
    table in the note `this`."""
    opened = app.vaults.get(vault, listed=False)
    note = opened.find(this) if this.strip() else None
    page = Page(limit, offset)
    now = opened.calendar.now()
    if note is not None and not query.strip() and language != "table":
        blocks = [
            {
                "line": block_result.block.line,
                "language": block_result.block.language,
                **(
                    {"error": block_result.error}
                    if block_result.answer is None
                    else _render_answer(block_result.answer, page)
                ),
            }
            for block_result in queries.run_blocks(opened, note, page, now, language)
        ]
        if blocks or language != "tasks":
            return {"path": note.path, "blocks": blocks}
    elif not query.strip() and language not in (
        "tasks",
        "table",
    ):  # a query for tasks without a line finds them all
        raise InvalidArguments(
            "Give `query`, or `this`: the note whose queries are to be run.", argument="query"
        )
    path = note.path if note is not None else None
    request = queries.QueryRequest(query, page, now, language, view, path, section, table_number)
    return _render_answer(queries.run_query(opened, request), page)


def _render_answer(result: queries.LanguageAnswer, page: Page) -> dict[str, Any]:
    """Return the answer as data; for a model as many rows as fit a page, and how to get more."""
    if isinstance(result, TaskPage):
        data: dict[str, Any] = to_plain_json(
            result if current_call.get().wants_all else shorten_page(result, page.offset)
        )
        return data
    answer = result.value
    data = answer.data()
    count = len(answer.rows)
    if not current_call.get().wants_all:
        data = _bound(data, page.offset)
        data["rows"] = rows = take_fitting_items(answer.rows, PAGE, least=1)
        count = len(rows)
        if count == 1 and len(json_codec.write_compact(rows[0])) > PAGE:
            data["rows"] = [[_shorten(cell) for cell in rows[0]]]
        if answer.paths is not None:
            data["paths"] = answer.paths[:count]
        if answer.lines is not None:
            data["lines"] = answer.lines[:count]
        warnings = data.get("warnings", ())
        if len(warnings) > WARNINGS:
            data |= {"warnings": warnings[:WARNINGS], "warnings_total": len(warnings)}
    if (following := next_offset(page_start(page.offset), count, answer.total)) is not None:
        data["next_offset"] = following
    if result.notice is not None:
        data["incomplete"] = result.notice
    return data


def _bound(data: dict[str, Any], offset: int) -> dict[str, Any]:
    """Return an answer, or a group of one, with summaries and groups that fit a page; where some
    groups do not, they begin with the one that row `offset` is in (QUERIES-06)."""
    data, summaries, groups = dict(data), data.get("summaries", {}), data.get("groups", [])
    if is_group := "key" in data:
        data["key"] = _shorten(data["key"])
    if len(json_codec.write_compact(summaries)) > (CELL if is_group else PAGE):
        data["summaries"] = {
            of: {name: _shorten(cell) for name, cell in cells.items()}
            for of, cells in summaries.items()
        }
    if len(groups) > GROUPS or len(json_codec.write_compact(groups)) > PAGE:
        begins = list(accumulate((group["count"] for group in groups), initial=0))
        first = min(bisect_right(begins, offset), len(groups)) - 1
        some = zip(groups[first : first + GROUPS], begins[first:], strict=False)
        data["groups"] = take_fitting_items(
            (_bound(group, max(offset - begin, 0)) for group, begin in some), PAGE, least=1
        )
        data |= {"groups_total": len(groups), "groups_offset": begins[first]}
    return data


def _shorten(cell: Any) -> Any:
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return cell if len(text) <= CELL else cut_and_count(text, CELL)
