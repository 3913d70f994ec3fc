"""The commands `search` and `search:context` (HEADLESS-14)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import chain
from typing import Any

from obsidian_mcp.cli.cells import compact_json
from obsidian_mcp.core.files.spellings import normal_form
from obsidian_mcp.core.search.hits import Facet, Hits, Order, Request
from obsidian_mcp.core.text.text import Lines
from obsidian_mcp.core.text.vault_path import is_note

from .call import DropInCall, sort_texts

NOTHING = "No matches found."
LONG_LINE = 10_000
"""Characters of a line, such as the data of a drawing, that is not printed again for each match in
it."""
BY_PATH = Order(Facet("path"), descending=False)


def search(call: DropInCall) -> str:
    paths = _find(call)
    as_json = call.words.format == "json"
    if call.has("total"):
        return compact_json({"total": len(paths)}) if as_json else str(len(paths))
    paths = _limit(call, paths)
    if not paths:
        return NOTHING
    return compact_json(paths) if as_json else "\n".join(paths)


def search_context(call: DropInCall) -> str:
    paths = _limit(call, _find(call))
    if not paths:
        return NOTHING
    table = _matches(call, paths)
    if call.words.format == "json":
        return compact_json([{"file": path, "matches": matches} for path, matches in table.items()])
    lines = (
        [f"{path}:{match['line']}: {match['text']}" for match in table[path]] or [path]
        for path in table
    )
    return "\n".join(chain.from_iterable(lines))


def _query(call: DropInCall) -> str:
    query = call.text("query")
    return f"match-case:({query})" if call.has("case") else query


def _find(call: DropInCall) -> list[str]:
    result = call.vault.search.find(
        Request(
            _query(call),
            "exact",
            limit=sys.maxsize >> 1,
            snippets=0,
            order=BY_PATH,
            characters=sys.maxsize,
        )
    )
    assert isinstance(result, Hits)  # noqa: S101  an ungrouped search answers with Hits
    folder = call.text("path").strip("/")
    start = f"{folder}/" if folder else ""
    return sort_texts(
        str(hit.path) for hit in result.hits if is_note(hit.path) and hit.path.startswith(start)
    )


def _limit(call: DropInCall, paths: list[str]) -> list[str]:
    limit = call.words.number("limit")
    return paths[:limit] if limit > 0 else paths


def _matches(call: DropInCall, paths: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the line of every match in the texts of notes, counted from 1; a very long line once
    for all its matches."""
    from obsidian_mcp.core.query.document import Document
    from obsidian_mcp.core.query.evaluate import Matcher
    from obsidian_mcp.core.query.parser import parse

    matcher = Matcher(parse(_query(call)))
    table = {}
    for path in paths:
        body = call.body(call.file_at(path))
        numbers, written = Lines(body), body.split("\n")
        matching_lines: list[int] = []
        for span in matcher.find(Document(normal_form(path), body)) or ():
            line = numbers.line(span.start)
            if len(written[line]) <= LONG_LINE or matching_lines[-1:] != [line]:
                matching_lines.append(line)
        table[path] = [{"line": line + 1, "text": written[line].strip()} for line in matching_lines]
    return table
