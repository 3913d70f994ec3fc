"""What a query answers, for people: a table, CSV, JSON or Markdown (QUERIES-08)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from obsidian_mcp.core.text.text import write_count

from .answers import tasks_text
from .cells import align, cell_text, fit_columns, markdown, mask_controls, separate

WIDEST: Final = 60
"""Columns of a cell in a table; longer ones are cut."""

TableRows = Sequence[Sequence[Any]]


def render(data: Mapping[str, Any], form: str, offset: int = 0) -> str:
    """Return an answer of `obsidian_query` in a format, whose rows begin at `offset` of the result;
    the answers of a note's queries one after another."""
    if form == "json":
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    if "blocks" not in data:
        return _format(data, form, offset)
    mark = "## " if form == "markdown" else "== "
    parts = []
    for block in data["blocks"]:
        title = f"{mark}line {block['line']} ({block['language']})"
        parts.append(
            f"{title}\n"
            + (f"{block['error']}\n" if "error" in block else _format(block, form, offset))
        )
    return "\n".join(parts)


def _format(data: Mapping[str, Any], form: str, offset: int) -> str:
    if "tasks" in data:  # tasks are lines of notes in every format: they have no columns
        return tasks_text(data)
    return {"table": _table, "csv": _csv, "markdown": _markdown}[form](data, offset)


def remarks(data: Mapping[str, Any]) -> str:
    """Return how many rows there are, and every warning; one a line."""
    lines = []
    for answer in data.get("blocks", [data]):
        if "total" in answer:
            lines.append(write_count(answer["total"], "task" if "tasks" in answer else "row"))
        if "next_offset" in answer:
            count = len(answer["tasks" if "tasks" in answer else "rows"])
            lines[-1] += f", {count} shown; more with --offset {answer['next_offset']}"
        lines += [f"Warning: {warning}" for warning in answer.get("warnings", ())]
        lines += [answer["incomplete"]] if "incomplete" in answer else []
    if not data.get("blocks", [data]):
        lines.append("The note holds no queries.")
    return "".join(f"{mask_controls(line)}\n" for line in lines)


def _split_groups(
    data: Mapping[str, Any], offset: int
) -> Iterator[tuple[Mapping[str, Any], TableRows]]:
    """Yield each group that has rows on the page, with these; the whole answer, without a key,
    where there are none."""
    if not data.get("groups") or not data["rows"]:
        yield data, data["rows"]
        return
    rows, end, start = iter(data["rows"]), offset + len(data["rows"]), 0
    for group in data["groups"]:
        count = min(end, start + group["count"]) - max(offset, start)
        if count > 0:
            yield group, list(islice(rows, count))
        start += group["count"]


def _title(group: Mapping[str, Any]) -> str:
    return f"{cell_text(group['key']) or 'None'} ({group['count']})"


def _table(data: Mapping[str, Any], offset: int) -> str:
    """Return a table whose columns are as wide as their widest cell, with numbers to the right.

    Groups and summaries have lines of their own between the rows.
    """
    titles = [mask_controls(column["name"]) for column in data["columns"]]
    cells = [
        [fit_columns(mask_controls(cell_text(cell)), (), WIDEST)[0] for cell in row]
        for row in data["rows"]
    ]
    numeric = [
        all(isinstance(cell, int | float) or cell is None for cell in column)
        for column in zip(*data["rows"], strict=True)
    ] or [False] * len(titles)
    lines = align([titles, *cells], numeric)
    parts = [f"{next(lines)}\n"]
    for group, rows in _split_groups(data, offset):
        parts += [f"== {mask_controls(_title(group))}\n"] if "key" in group else []
        parts += [f"{line}\n" for line in islice(lines, len(rows))]
        parts += [f"{mask_controls(text)}\n" for text in _summaries(group, data)]
    return "".join(parts)


def _summaries(group: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[str]:
    names = {column["id"]: column["name"] for column in data["columns"]}
    for column, values in (group.get("summaries") or {}).items():
        for name, cell in values.items():
            yield f"{name} of {names.get(column, column)}: {cell_text(cell)}"


def _csv(data: Mapping[str, Any], offset: int) -> str:
    titles = [column["name"] for column in data["columns"]]
    rows = [["group", *titles] if data.get("groups") else titles]
    for group, group_rows in _split_groups(data, offset):
        first = [group["key"]] if "key" in group else []
        rows += [[*first, *row] for row in group_rows]
    return separate(rows, "csv") + "\n"


def _markdown(data: Mapping[str, Any], offset: int) -> str:
    titles = [column["name"] for column in data["columns"]]
    parts = []
    for group, rows in _split_groups(data, offset):
        title = f"### {_title(group)}\n\n" if "key" in group else ""
        summaries = list(_summaries(group, data))
        parts.append(
            title
            + "\n".join([markdown(titles, rows), *(["", *summaries] if summaries else [])])
            + "\n"
        )
    return "\n".join(parts)
