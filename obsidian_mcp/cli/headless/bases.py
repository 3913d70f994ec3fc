"""Commands about bases (HEADLESS-16)."""

from __future__ import annotations

import sys

from obsidian_mcp.core.files.catalog import FileEntry
from obsidian_mcp.core.text.vault_path import extension
from obsidian_mcp.errors import QueryInvalid

from .call import Answer, Call
from .output import as_json, in_order, lines, rows
from .words import Refused

EXTENSION = ".base"


def bases(call: Call) -> str:
    found = [entry.path for entry in call.vault.entries() if extension(entry.path) == EXTENSION]
    return lines(in_order(found), "No base files found in vault")


def _base(call: Call) -> FileEntry:
    """The base that the words mean. Raises: Refused."""
    named = call.text("path") or call.text("file")
    if not named:
        entry = call.active()
        if extension(entry.path) != EXTENSION:
            raise Refused(f"Active file is not a base file: {entry.path}")
        return entry
    if not call.text("path") and not named.endswith(EXTENSION):  # a note may have the same name
        call.words.keys["file"] = f"{named}{EXTENSION}"
    try:
        entry = call.file()
    except Refused:
        raise Refused(f"Base file not found: {named}") from None
    if extension(entry.path) != EXTENSION:
        raise Refused(f"Base file not found: {named}")
    return entry


def views(call: Call) -> str:
    from obsidian_mcp.core.bases.base_file import read

    return lines(f"{view.name}\t{view.type}" for view in read(call.body(_base(call))).views)


def query(call: Call) -> str:
    from obsidian_mcp.cli.query_output import cell_text
    from obsidian_mcp.core.bases.base_file import read
    from obsidian_mcp.core.expressions.answer import Answer as QueryAnswer
    from obsidian_mcp.core.expressions.answer import Page
    from obsidian_mcp.core.index.freshness import Answer as IndexAnswer
    from obsidian_mcp.core.vault.queries import Query, run_query

    entry = _base(call)
    body, view = call.body(entry), call.text("view")
    if view:
        try:
            read(body).view(view)
        except QueryInvalid as error:
            if "candidates" in error.data:
                raise Refused(f"View not found: {view}") from None
            raise
    now = call.vault.calendar.now()
    found = run_query(call.vault, Query(body, Page(sys.maxsize >> 1), now, "base", view, entry.path))
    assert isinstance(found, IndexAnswer)  # noqa: S101  a base answers with rows
    answer: QueryAnswer = found.value
    keys = [_key(column.id) for column in answer.columns]
    table = [
        {"path": path or "", **dict(zip(keys, map(cell_text, cells), strict=True))}
        for path, cells in zip(answer.paths or (), answer.rows, strict=True)
    ]
    form = call.words.format
    if form == "paths":
        return lines(row["path"] for row in table)
    if form == "md":
        return markdown(["path", *keys], table)
    if form in ("csv", "tsv"):
        return rows(table, form)
    return as_json(table)


def _key(id_: str) -> str:
    kind, _, name = id_.partition(".")
    return f"file {name}" if kind == "file" else name


def markdown(keys: list[str], table: list[dict[str, str]]) -> str:
    def row(cells: list[str]) -> str:
        escaped = (cell.replace("|", "\\|").replace("\n", "<br>") for cell in cells)
        return f"| {' | '.join(escaped)} |"

    return lines([row(keys), row(["---"] * len(keys)), *(row([each[key] for key in keys]) for each in table)])


ANSWERS: dict[str, Answer] = {"base:query": query, "base:views": views, "bases": bases}
