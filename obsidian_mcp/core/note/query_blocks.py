"""The queries that stand in a note: fenced blocks, inline expressions, embedded bases (NOTE-90).

Also the language in which a text is meant (NOTE-91, QUERIES-03, DV-01).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from obsidian_mcp import TYPE_CHECKING

if TYPE_CHECKING:
    from .parser import Note

LANGUAGES = ("base", "dataview", "dataviewjs", "query", "tasks")
"""Words after the fence; `query` is the app's own search."""

BASE_EXTENSION = ".base"
BASE_KEYS = ("filters", "formulas", "properties", "summaries", "views")
_BASE = re.compile(
    rf"^(?:{'|'.join(BASE_KEYS)})\s*:|^\{{\s*[\"']?(?:{'|'.join(BASE_KEYS)})[\"']?\s*:",
    re.MULTILINE,
)
JAVASCRIPT_REFUSED = (
    "DataviewJS runs JavaScript inside Obsidian and cannot run here; ask for the same in DQL "
    "(TABLE, LIST, TASK, CALENDAR) or with the search tools."
)
"""The answer to `dataviewjs` blocks, `$=` and texts that use `dv.`."""
INLINE_PREFIX = "="
"""Begins an inline expression of Dataview, unless the plugin's settings have another prefix."""
_DQL = re.compile(r"(?:\s|//[^\n]*\n)*(?:TABLE|LIST|TASK|CALENDAR)(?![\w-])", re.IGNORECASE)
_JAVASCRIPT = re.compile(
    r"\A\s*(?:(?:`{3,}|~{3,})\s*dataviewjs\b|`?\$=)|\bdv\s*\.\s*\w", re.IGNORECASE
)
_QUOTED = re.compile(r"[ \t]*(?:>[ \t]?)+")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*(\w*)[^\n]*")


class QueryBlock(NamedTuple):
    """One query of a note. `language` is one of LANGUAGES."""

    language: str
    text: str
    """The query without fence, quote marks and indentation; the path of an embedded base."""
    line: int
    """Line of the note, from 1, in which it begins."""
    view: str = ""
    """View of an embedded base, where one is named."""
    fenced: bool = False
    """Whether the text begins in the line below."""


def query_blocks(note: Note, inline_prefix: str = INLINE_PREFIX) -> list[QueryBlock]:
    """Return every query of a note, in the order of the text (NOTE-90).

    `inline_prefix` begins inline Dataview.
    """
    queries = []
    for area in note.areas:
        if area.kind != "code":
            continue
        line = note.lines.line(area.span.start) + 1
        if area.block:
            if (language := area.info.partition(" ")[0].lower()) in LANGUAGES:
                start = note.body.rfind("\n", 0, area.span.start) + 1
                queries.append(
                    QueryBlock(
                        language,
                        remove_fence(note.body[start : area.span.end])[1],
                        line,
                        fenced=True,
                    )
                )
            continue
        text = area.span.slice(note.body).strip("`").strip()
        if text.startswith("$="):
            queries.append(QueryBlock("dataviewjs", text, line))
        elif text.startswith(inline_prefix) and len(text) > len(inline_prefix):
            queries.append(QueryBlock("dataview", text, line))
    for link in note.links:
        if link.embed and link.path.lower().endswith(BASE_EXTENSION):
            line = note.lines.line(link.span.start) + 1
            queries.append(QueryBlock("base", link.path, line, link.subpath.removeprefix("#")))
    return sorted(queries, key=lambda block: block.line)


def remove_fence(text: str) -> tuple[str | None, str]:
    """Return the opening fence's word and the text between the fences, also of a callout (NOTE-91).

    Each line loses the quote marks and as much indentation as the first fence has. Without a fence,
    return None and the text, of a callout without its marks.
    """
    lines = text.strip("\n").split("\n")
    if is_quoted := all(line.lstrip().startswith(">") for line in lines):
        quoted = _QUOTED.match(lines[0])
        depth = quoted[0].count(">") if quoted else 0
        lines = [re.sub(rf"^(?:[ \t]*>[ \t]?){{0,{depth}}}", "", line) for line in lines]
    opening = _FENCE.fullmatch(lines[0])
    if opening is None:
        return None, "\n".join(lines) if is_quoted else text
    prefix = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    inside = lines[1:]
    if inside and re.fullmatch(rf"[ \t]*{re.escape(opening[1])}{opening[1][0]}*[ \t]*", inside[-1]):
        inside.pop()
    return opening[2].lower(), "\n".join(line.removeprefix(prefix) for line in inside)


def is_base(text: str) -> bool:
    """Return whether a text is meant as a base: YAML with one of its keys, sound or not."""
    return _BASE.search(text) is not None


def is_dataview(text: str) -> bool:
    """Return whether a text without its fence is meant for Dataview.

    It is a query, an inline expression, or JavaScript.
    """
    return is_dql(text) or is_javascript(text) or inline_expression(text) is not None


def is_dql(text: str) -> bool:
    """Return whether a text begins as a query of Dataview."""
    return _DQL.match(text) is not None


def is_javascript(text: str) -> bool:
    return not is_dql(text) and _JAVASCRIPT.search(text) is not None


def inline_expression(text: str, prefix: str = INLINE_PREFIX) -> str | None:
    """Return the expression of an inline query, maybe in backticks; None for any other text."""
    bare = text.strip().strip("`").strip()
    return bare.removeprefix(prefix).strip() if bare.startswith(prefix) else None
