"""Find notes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from obsidian_mcp.app import App
from obsidian_mcp.core import app_answers
from obsidian_mcp.core.hits import SNIPPETS, Hits, Match, Request
from obsidian_mcp.core.paths import parse_folder

from .params import Limit, Offset, VaultName
from .registry import tool


@tool("search", title="Search notes")
def search(
    app: App,
    query: Annotated[
        str,
        Field(
            description='Words, "phrase", /regex/, OR, -not, (group), file: path: content: tag: line:() section:() '
            "task-todo: [property:value]",
            min_length=1,
        ),
    ],
    match: Annotated[Match, Field(description="smart: word forms, accents, typos; exact: Obsidian's own")] = "smart",
    folder: Annotated[str, Field(description="Only below this folder")] = "",
    limit: Limit = 20,
    offset: Offset = 0,
    snippets: Annotated[int, Field(description="Matching lines shown per note", ge=0, le=10)] = SNIPPETS,
    paths_only: Annotated[bool, Field(description="Paths without snippets")] = False,
    vault: VaultName = "",
) -> Hits:
    """Find notes with Obsidian's search syntax, best first."""
    place = app.vaults.get(vault)
    request = Request(query, match, parse_folder(folder), limit, offset, 0 if paths_only else snippets)
    return app_answers.search(place, request) or place.search.find(request)
