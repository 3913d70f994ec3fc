"""Run queries: Bases, Dataview, Tasks."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core.expressions.answer import Page
from obsidian_mcp.core.tasks.answer import TaskPage, shortened
from obsidian_mcp.core.vault import queries
from obsidian_mcp.errors import InvalidArguments

from .params import Limit, Offset, VaultNames, whole_answers
from .registry import plain, tool

PAGE = 40_000
"""Characters of the rows of one answer (TOOL-07)."""
CELL = 2_000
"""Characters of a cell in a row that alone fills a page."""
SHOWN = {"groups": 200, "warnings": 20}
"""Entries shown of other parts of an answer."""


@tool(title="Query notes")
def query(
    app: App,
    query: Annotated[str, Field(description="Base as YAML, path of a .base file, Dataview DQL, or Tasks lines")] = "",
    language: Annotated[Literal["", "base", "dataview", "tasks"], Field(description="Of the query")] = "",
    view: Annotated[str, Field(description="View of a base; else the first")] = "",
    this: Annotated[str, Field(description="Note the query stands in; alone: all queries of that note")] = "",
    limit: Limit = 50,
    offset: Offset = 0,
    vault: VaultNames = "",
) -> dict[str, Any]:
    """Run an Obsidian Bases or Dataview query, or one of the Tasks plugin (name the language), and get rows, groups
    and summaries as the app shows them.
    """
    place = app.vaults.get(vault)
    note = place.find(this) if this.strip() else None
    page = Page(limit, offset)
    now = place.calendar.now()
    if note is not None and not query.strip():
        blocks = [
            {
                "line": found.block.line,
                "language": found.block.language,
                **({"error": found.error} if found.answer is None else _shown(found.answer, page)),
            }
            for found in queries.run_blocks(place, note, page, now, language)
        ]
        if blocks or language != "tasks":
            return {"path": note.path, "blocks": blocks}
    elif not query.strip() and language != "tasks":  # a query for tasks without a line finds them all
        raise InvalidArguments("Give query, or this: the note whose queries are to be run.", argument="query")
    path = note.path if note is not None else None
    return _shown(queries.run_query(place, queries.Query(query, page, now, language, view, path)), page)


def _shown(found: queries.Found, page: Page) -> dict[str, Any]:
    """The answer as data; for a model as many rows as fit a page, and how to get more."""
    if isinstance(found, TaskPage):
        data: dict[str, Any] = plain(found if whole_answers.get() else shortened(found, page.offset))
        return data
    answer = found.value
    data = answer.data()
    count = len(answer.rows)
    if not whole_answers.get():
        data["rows"] = _fitting(answer.rows)
        count = len(data["rows"])
        if answer.paths is not None:
            data["paths"] = answer.paths[:count]
        for key, most in SHOWN.items():
            if len(data.get(key, ())) > most:
                data[f"{key}_total"] = len(data[key])
                data[key] = data[key][:most]
    if page.offset + count < answer.total:
        data["next_offset"] = page.offset + count
    if found.notice is not None:
        data["note"] = found.notice
    return data


def _fitting(rows: list[list[Any]]) -> list[list[Any]]:
    """The rows that fit a page; the first one in any case, its long cells cut."""
    room = PAGE
    for place, row in enumerate(rows):
        room -= len(json.dumps(row, ensure_ascii=False))
        if room < 0:
            return rows[:place] if place else [[_cut(cell) for cell in row]]
    return rows


def _cut(cell: Any) -> Any:
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False)
    return cell if len(text) <= CELL else f"{text[:CELL]}… ({len(text):,} characters)"
