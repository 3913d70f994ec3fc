"""Find notes."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from math import inf
from typing import Annotated, Literal

from obsidian_mcp.app import App
from obsidian_mcp.core.calendar import clock
from obsidian_mcp.core.operations import app_answers
from obsidian_mcp.core.query import parser
from obsidian_mcp.core.search.groups import parse_facet
from obsidian_mcp.core.search.hits import (
    ANSWER_CHARACTERS,
    SNIPPETS,
    Grouped,
    Hits,
    MatchMode,
    Request,
)
from obsidian_mcp.core.search.sort import order
from obsidian_mcp.core.text.call import current_call
from obsidian_mcp.core.text.vault_path import name_key
from obsidian_mcp.core.vault.vault import Vault
from obsidian_mcp.errors import InvalidArguments

from .arguments import Argument, Limit, Offset, VaultNames
from .registry import tool

EVERYTHING = '""'
"""The query that every note matches."""
LATEST_FIRST = "modified desc"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"?')
_names_operator_or_property = re.compile(r"[:\[]").search
_names_other_operator = re.compile(
    r"(?:^|[\s(-])(?:is|has|type|[a-z]*link[a-z]*|created|modified"
    r"|updated|before|after|since|sort|alias):\S",
    re.IGNORECASE,
).search
"""Finds operators of other programs, whose words may be found as text."""
_OTHERS_OPERATOR = re.compile(r"(?<!\S)(?:AND|NOT)(?=\s+\S)")
WORDS_HERE = (
    "AND and NOT are words in a query, no operators: -term excludes a term, and all others are "
    "wanted anyway."
)


@tool(title="Find and search notes")
def search(
    app: App,
    query: Annotated[
        str | None,
        Argument(
            description='1 to 3 distinctive words; if weak, retry with synonyms. "phrase", '
            "/regex/, OR, -not, (group), file: path: content: tag: line:() section:() task-todo: "
            '[property:"exact value"] [due:<next month]'
        ),
    ] = None,
    match: Annotated[
        MatchMode, Argument(description="smart: also word forms, typos, synonyms")
    ] = "smart",
    folder: Annotated[str, Argument(description="Below this folder")] = "",
    modified_after: Annotated[str, Argument(description="2024-05, last 7 days")] = "",
    modified_before: Annotated[str, Argument(description="Likewise")] = "",
    sort: Annotated[
        str, Argument(description="modified, name, path, tag, a property; asc or desc")
    ] = "",
    group: Annotated[str, Argument(description="folder, tag, modified or a property")] = "",
    limit: Limit = 20,
    offset: Offset = 0,
    snippets: Annotated[int, Argument(description="Lines per note", ge=0, le=10)] = SNIPPETS,
    show: Annotated[
        Literal["lines", "passages", "paths"], Argument(description="passages: paragraphs to quote")
    ] = "lines",
    name: Annotated[str, Argument(description="In this note: all lines")] = "",
    current: Annotated[bool, Argument(description="Skip outdated")] = False,
    vault: VaultNames = "",
) -> Hits | Grouped:
    """Find notes and files that mention something, in Obsidian's search syntax, best first."""
    opened = app.vaults.get(vault, listed=False)
    query = query or ""
    if name and (folder or group or sort):
        raise InvalidArguments(
            "`name` is one note: `folder`, `sort` and `group` are for many.", argument="name"
        )
    is_narrowed = any((folder, modified_after, modified_before, sort, group))
    everything = (is_narrowed and not query.strip()) or (match == "smart" and query.strip() == "*")
    is_about_times = everything and bool(modified_after or modified_before) and not group.strip()
    sort_by = sort.strip() or (LATEST_FIRST if is_about_times else "")
    remark = WORDS_HERE if _OTHERS_OPERATOR.search(_QUOTED.sub("", query)) else ""
    request = Request(
        EVERYTHING if everything else parser.with_days(query, lambda: opened.calendar.today),
        match,
        opened.folders.find_folder(folder) if folder else None,
        limit,
        offset,
        0 if show == "paths" else snippets,
        _time("modified_after", modified_after),
        _time("modified_before", modified_before),
        order(sort_by) if sort_by else None,
        opened.find(name).path if name else None,
        show == "passages",
        current,
        sys.maxsize if current_call.get().wants_all else ANSWER_CHARACTERS - len(remark),
    )
    by = parse_facet(group) if group.strip() else None
    named = None
    if opened.app is not None and not everything:
        opened.wait_for_files(inf)
        named = app_answers.find_in_app(opened, request)
    hits = opened.search.find(request, named, by)
    if not hits.total and request.folder is not None:
        opened.folders.describe_folder(request.folder)
    is_weak = not hits.total or hits.widened is not None
    is_odd = _names_operator_or_property(query) if is_weak else _names_other_operator(query)
    if is_odd and opened.is_listed:  # advice is about all notes
        from obsidian_mcp.core.operations.query_advice import advise  # needed where little is found

        advice = advise(opened, request.query, finds_nothing=is_weak)
        hits.note = hits.note or advice or None
    if not hits.total:
        hits.note = hits.note or _explain_exclusion(opened, request.folder)
    if remark:
        hits.note = " ".join(filter(None, (hits.note, remark)))
    return hits


def _explain_exclusion(vault: Vault, folder: str | None) -> str | None:
    """Say where nothing is found that files are not searched because the user excludes them
    (SEARCH-19)."""
    hidden, prefix = vault.hides(), name_key(folder) + "/" if folder else ""
    if vault.settings.ignore_filters and any(
        name_key(entry.path).startswith(prefix) and hidden(entry.path) for entry in vault.entries()
    ):
        return (
            "Files that the user excludes in the app are not searched; obsidian_list_files names "
            "them too."
        )
    return None


def _time(argument: str, text: str) -> int | None:
    """Return a moment in nanoseconds since the epoch; None for an empty text. Raises:
    InvalidArguments."""
    if not text.strip():
        return None
    from obsidian_mcp.core.calendar.days import (
        read_moment,
    )  # with all expressions of words: few searches need them

    when = read_moment(text, datetime.now())  # noqa: DTZ005 - what a person writes is local time
    if when is None:
        raise InvalidArguments(
            f"`{argument}` must be a date (2024-05-31), a month (2024-05), a time "
            "(2024-05-31T18:00), an age such as 12h, 7d, 3m (months) or 1y, or words such as last "
            f"monday or last 7 days, but {text!r} came.",
            argument=argument,
        )
    return clock.nanoseconds(when)
